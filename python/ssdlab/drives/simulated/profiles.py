"""Profiles of simulated drives: built-in ones, by name or alias, and any TOML file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from ssdlab.host.documents import parse_toml, read_document, user_path, with_name
from ssdlab.model.errors import UsageError, unknown
from ssdlab.model.units import share_text


def profiles() -> dict[str, str]:
    """Return the built-in profiles: name to TOML, ordered by name."""
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
    """Return the built-in ratings: profile name to TOML."""
    folder = resources.files("ssdlab") / "profiles" / "ratings"
    return {
        entry.name.removesuffix(".toml"): entry.read_text(encoding="utf-8")
        for entry in sorted(folder.iterdir(), key=lambda entry: entry.name)
        if entry.name.endswith(".toml")
    }


def profile_text(name: str) -> str:
    """Return the TOML of a profile: one of ours by name or alias, or a file.

    Raises
    ------
    UsageError
        There is none of that name, or it cannot be read.
    """
    if is_path(name):
        text = read_document(user_path(name), "profile", "name a TOML file, or see `ssdlab sim list`")
        parse_toml(text, name)
        return text
    return profiles()[profile_id(name)]


def profile_id(name: str) -> str:
    """Return by which a profile is asked for, of an alias too; of a file that of the drive it is named as.

    A file with a name of its own is called as the file is.

    Raises
    ------
    UsageError
        There is none of that name, or it cannot be read.
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
    """Whether a built-in profile has that name or alias."""
    known = profiles()
    return name in known or name in _aliases(known)


def check_profile(name: str, **settings: Any) -> dict[str, Any]:  # noqa: ANN401 - those of the native side
    """Return what a profile says, with a drive's settings applied.

    Raises
    ------
    UsageError
        There is none of that name, or it is none; of a file the error says which.
    """
    import ssdlab._core as _core

    with naming(name, settings):
        return _core.check_profile(profile_text(name), **settings)


_OF_DRIVE = {
    "scale": "choose another scale, or none",
    "spare": "choose another spare area, or leave it out",
}
"""By what a drive's text sets beside its profile: there is nothing to correct in the profile."""


@contextmanager
def naming(name: str, settings: Mapping[str, Any]) -> Iterator[None]:
    """Say in the errors about a profile which file of the user's it is, or which setting of the drive."""
    try:
        yield
    except UsageError as error:
        field = str(error.facts.get("field"))
        if field == "capacity_bytes" and settings.get("spare") is not None:
            check_profile(name)  # the profile's own capacity may be the fault, whatever the spare
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
    """Return what to do about a limit of power that a profile does not take, by what it has."""
    power = check_profile(name)["profile"].get("power")
    if power is None:
        return "set no limit, or choose a profile with a power model (`ssdlab sim show`)"
    states = power.get("states_w") is not None
    if settings.get("power_state") is not None:
        return "name another power state, or set no limit" if states else "give it in watts, or set no limit"
    return f"choose more watts{', a power state' if states else ''}, or set no limit"


def is_path(name: str) -> bool:
    """Say whether a profile is named by its path, and not one of ours."""
    return "/" in name or name.endswith(".toml")


def _drive_name(text: str) -> str | None:
    found = re.search(r'^name = "([^"]+)"', text, re.MULTILINE)
    return found and found[1]


def _aliases(known: dict[str, str]) -> dict[str, str]:
    import tomllib

    return {
        str(alias): name for name, text in known.items() for alias in tomllib.loads(text).get("aliases", ())
    }
