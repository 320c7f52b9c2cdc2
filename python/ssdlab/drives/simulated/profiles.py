"""Profiles of simulated drives: built-in, by name or alias, or any TOML file; their energies."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from ssdlab.host.documents import parse_toml, read_document, user_path, with_name
from ssdlab.model.errors import UsageError, unknown
from ssdlab.model.units import share_text

if TYPE_CHECKING:
    from ssdlab.host.documents import Document


def profiles() -> dict[str, str]:
    """Return the TOML of the built-in profiles by name, sorted by name."""
    return dict(_shipped())


@cache
def _shipped() -> dict[str, str]:
    folder = resources.files("ssdlab") / "profiles"
    found = {
        entry.name.removesuffix(".toml"): entry.read_text(encoding="utf-8")
        for entry in folder.iterdir()
        if entry.name.endswith(".toml")
    }
    return dict(sorted(found.items()))


def shipped_ratings() -> dict[str, str]:
    """Return the TOML of the built-in ratings, by profile name."""
    folder = resources.files("ssdlab") / "profiles" / "ratings"
    return {
        entry.name.removesuffix(".toml"): entry.read_text(encoding="utf-8")
        for entry in sorted(folder.iterdir(), key=lambda entry: entry.name)
        if entry.name.endswith(".toml")
    }


def profile_text(name: str) -> str:
    """Return the TOML of a profile, given by name, by alias or by path.

    Raises
    ------
    UsageError
        There is no such profile, or it cannot be read.
    """
    if is_path(name):
        text = read_document(user_path(name), "profile", "name a TOML file, or see `ssdlab sim list`")
        parse_toml(text, name)
        return text
    return profiles()[profile_id(name)]


def profile_id(name: str) -> str:
    """Return the name of a profile, which may be given by alias or by path.

    A file has the name of the built-in profile whose drive it names, else the stem of its own name.

    Raises
    ------
    UsageError
        There is no such profile, or it cannot be read.
    """
    known = profiles()
    if is_path(name):
        own = _drive_name(profile_text(name))
        return next((each for each, text in known.items() if _drive_name(text) == own), Path(name).stem)
    if name in known:
        return name
    by_alias = _aliases(known)
    if name not in by_alias:
        raise unknown("profile", name, known, elsewhere="see `ssdlab sim list`")
    return by_alias[name]


def is_shipped(name: str) -> bool:
    """Return whether a built-in profile has that name or alias."""
    known = profiles()
    return name in known or name in _aliases(known)


def check_profile(name: str, **settings: Any) -> dict[str, Any]:  # noqa: ANN401 - those of the native side
    """Return the content of a profile, with a drive's settings applied.

    Raises
    ------
    UsageError
        There is no such profile, or it is invalid; the error names the file, if it is one.
    """
    import ssdlab._core as _core

    with naming(name, settings):
        return _core.check_profile(profile_text(name), **settings)


_OF_DRIVE = {
    "scale": "choose another scale, or none",
    "spare": "choose another spare area, or leave it out",
}
"""Advice for options of the drive's text: nothing in the profile needs to be corrected."""


@contextmanager
def naming(name: str, settings: Mapping[str, Any]) -> Iterator[None]:
    """Add to errors about a profile the user's file, or the setting of the drive that causes them."""
    try:
        yield
    except UsageError as error:
        field = str(error.facts.get("field"))
        if field == "capacity_bytes" and settings.get("spare") is not None:
            check_profile(name)  # raises if the profile's own capacity is wrong, whatever the spare
            why = error.what.partition(": ")[2]
            raise UsageError(
                f"spare is {share_text(settings['spare'])}: {why}", _OF_DRIVE["spare"], **error.facts
            ) from error
        if field == "power":
            raise UsageError(error.what, _of_power(name, settings), **error.facts) from error
        if field in _OF_DRIVE:
            raise UsageError(error.what, _OF_DRIVE[field], **error.facts) from error
        if is_path(name) and name not in error.what:
            with_name(error, Path(name))
        raise


def _of_power(name: str, settings: Mapping[str, object]) -> str:
    """Return advice on a power limit that a profile does not accept."""
    power = check_profile(name)["profile"].get("power")
    if power is None:
        return "set no limit, or choose a profile with a power model (`ssdlab sim show`)"
    states = power.get("states_w") is not None
    if settings.get("power_state") is not None:
        return "name another power state, or set no limit" if states else "give it in watts, or set no limit"
    return f"choose more watts{', a power state' if states else ''}, or set no limit"


def is_path(name: str) -> bool:
    """Return whether a profile is given by its path."""
    return "/" in name or name.endswith(".toml")


def _drive_name(text: str) -> str | None:
    found = re.search(r'^name = "([^"]+)"', text, re.MULTILINE)
    return found and found[1]


def _aliases(known: dict[str, str]) -> dict[str, str]:
    import tomllib

    return {
        str(alias): name for name, text in known.items() for alias in tomllib.loads(text).get("aliases", ())
    }


_UNIT_KIB = 4


@dataclass(frozen=True)
class OperationEnergy:
    """Power in W, and energy of operations in uJ, of a drive with flash.

    Attributes
    ----------
    idle_w, working_w
        Fixed power: when idle, and while any command is in progress.
    read_uj, program_uj, erase_uj
        Energy of one die over all planes: an array read (mean of the page types), a word line, a block.
    read_4k_uj
        A read of 4 KiB by the host: command, array read, channel and link.
    write_4k_uj
        A write of 4 KiB by the host: command, link, channel, and its share of a word line and of a block,
        without garbage collection.
    """

    idle_w: float
    working_w: float
    read_uj: float
    program_uj: float
    erase_uj: float
    read_4k_uj: float
    write_4k_uj: float

    @classmethod
    def of(cls, profile: Document) -> OperationEnergy | None:
        """Return the energies of a profile as read by `check_profile`; None without flash or power model."""
        flash, power = profile.get("flash"), profile.get("power")
        if not flash or not power:
            return None

        def of(table: Document, key: str) -> float:
            found = table.get(key)
            return 0.0 if found is None else float(found["value"])

        read_uj = of(power, "die_read_mw") * fmean(flash["read_us"]["value"]) / 1e3
        program_uj = of(power, "die_program_mw") * of(flash, "program_us") / 1e3
        erase_uj = of(power, "die_erase_mw") * of(flash, "erase_ms")
        page_units = of(flash, "page_kib") / _UNIT_KIB * of(flash, "planes")
        crossing_uj = of(power, "transfer_nj") / 1e3
        host_uj = of(power, "command_uj") + of(power, "link_pj_per_byte") * _UNIT_KIB * 1024 / 1e6
        in_flash_uj = (
            program_uj / of(flash, "bits_per_cell") + erase_uj / of(flash, "pages_per_block")
        ) / page_units
        return cls(
            idle_w=of(power, "idle_mw") / 1e3,
            working_w=(of(power, "idle_mw") + of(power, "active_mw")) / 1e3,
            read_uj=read_uj,
            program_uj=program_uj,
            erase_uj=erase_uj,
            read_4k_uj=host_uj + read_uj + crossing_uj,
            write_4k_uj=host_uj + crossing_uj + in_flash_uj,
        )

    def lines(self) -> Iterator[tuple[str, str]]:
        """Yield name and value of each line to print."""
        yield "fixed power", f"{self.idle_w:.3g} W idle, {self.working_w:.3g} W at work"
        yield "array read", f"{_short(self.read_uj)} µJ"
        yield "program of a word line", f"{_short(self.program_uj)} µJ"
        yield "erase of a block", f"{_short(self.erase_uj)} µJ"
        yield "read of 4 KiB", f"{self.read_4k_uj:.3g} µJ, including command, channel and link"
        yield "write of 4 KiB", f"{self.write_4k_uj:.3g} µJ, including its share of a program and an erase"


def _short(value: float) -> str:
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"
