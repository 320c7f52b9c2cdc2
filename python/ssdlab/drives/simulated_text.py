"""The text that names a simulated drive, and the profiles that it can name.

``sim:PROFILE[,scale=S][,spare=SHARE][,seed=N][,state=FILE]``. PROFILE is the name of a profile that ssdlab
brings along (see `profiles`), or the path of one. ``scale`` makes the drive so many times smaller with
everything that decides its steady state kept; ``spare`` is the share of its flash that the user cannot
address; ``seed`` decides what chance decides in the drive; ``state`` keeps the drive between commands.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields, replace
from importlib import resources
from pathlib import Path
from typing import Self

from ssdlab.drives.base import SIMULATED_PREFIX as PREFIX
from ssdlab.errors import UsageError, unknown

_OPTIONS = ("scale", "spare", "seed", "state")


@dataclass(frozen=True, slots=True)
class SimulatedText:
    """What the text of a simulated drive says.

    Attributes
    ----------
    profile
        Name of a profile, or the path of one.
    scale
        So many times smaller than the drive it stands for.
    spare
        Share of the flash that the user cannot address; None for the profile's own.
    seed
        Seed of what chance decides in the drive.
    state
        File that keeps the drive between commands; None: it lives as long as it is open.
    """

    profile: str
    scale: int = 1
    spare: float | None = None
    seed: int = 1
    state: str | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``sim:PROFILE[,scale=S][,spare=SHARE][,seed=N][,state=FILE]``.

        >>> SimulatedText.parse("sim:tiny-test,spare=25%,seed=7")
        SimulatedText(profile='tiny-test', scale=1, spare=0.25, seed=7, state=None)

        Raises
        ------
        UsageError
            It says something else.
        """
        profile, *words = text.removeprefix(PREFIX).split(",")
        if not profile:
            raise UsageError(
                f"{text} names no profile", "see `ssdlab sim list`, and write sim:NAME", target=text
            )
        given: dict[str, str] = {}
        for word in words:
            name, equals, value = word.partition("=")
            if not equals or name not in _OPTIONS:
                raise unknown("option of a simulated drive", name, _OPTIONS)
            if name in given:
                raise UsageError(f"{text} says {name} twice", "say it once", target=text)
            given[name] = value
        if given.get("state") == "":
            raise UsageError(
                f"{text} names no file for its state", "write it so: state=drive.sim", target=text
            )
        spare = given.get("spare")
        return cls(
            profile,
            scale=_whole("scale", given.get("scale", "1")),
            spare=None if spare is None else _share(spare),
            seed=_whole("seed", given.get("seed", "1")),
            state=given.get("state"),
        )

    def anchored(self) -> Self:
        """Return the same with absolute paths: what it means from any working directory."""
        profile = _absolute(self.profile) if _is_path(self.profile) else self.profile
        return replace(self, profile=profile, state=None if self.state is None else _absolute(self.state))

    @property
    def drive(self) -> str:
        """The text of the drive itself, wherever its state is kept."""
        return str(replace(self.anchored(), state=None))

    def identity(self) -> dict[str, str]:
        """Return what decides which drive it is: a state is good only for the drive with the same."""
        profile = hashlib.sha256(profile_text(self.profile).encode()).hexdigest()[:32]
        own = SimulatedText(self.profile)
        settings = {
            field.name: "the profile's own" if (value := getattr(self, field.name)) is None else str(value)
            for field in fields(own)
            if field.name not in ("profile", "state")
        }
        return {"profile": profile, **settings}

    def __str__(self) -> str:
        own = SimulatedText(self.profile)
        changed = {
            name: getattr(self, name) for name in _OPTIONS if getattr(self, name) != getattr(own, name)
        }
        return ",".join([PREFIX + self.profile, *(f"{name}={value}" for name, value in changed.items())])


def profiles() -> dict[str, str]:
    """Return the profiles that ssdlab brings along: name to TOML, in the order of names."""
    folder = resources.files("ssdlab") / "profiles"
    found = {
        entry.name.removesuffix(".toml"): entry.read_text(encoding="utf-8")
        for entry in folder.iterdir()
        if entry.name.endswith(".toml")
    }
    return dict(sorted(found.items()))


def profile_text(name: str) -> str:
    """Return the TOML of a profile: one of ours by name or alias, or a file.

    Raises
    ------
    UsageError
        There is none of that name, or it cannot be read.
    """
    if _is_path(name):
        try:
            return Path(name).expanduser().read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(
                f"{name} cannot be read as a profile: {error}", "name a TOML file, or see `ssdlab sim list`"
            ) from error
    known = profiles()
    if name not in known:
        by_alias = _aliases(known)
        if name not in by_alias:
            raise unknown("profile", name, known, elsewhere="see `ssdlab sim list`")
        name = by_alias[name]
    return known[name]


def _is_path(profile: str) -> bool:
    return "/" in profile or profile.endswith(".toml")


def _absolute(path: str) -> str:
    return str(Path(path).expanduser().absolute())


def _aliases(known: dict[str, str]) -> dict[str, str]:
    import tomllib

    return {
        str(alias): name for name, text in known.items() for alias in tomllib.loads(text).get("aliases", ())
    }


def _whole(name: str, value: str) -> int:
    if not value.isascii() or not value.isdecimal():
        raise UsageError(f"{name}={value} is no whole number", f"write it so: {name}=16")
    return int(value)


def _share(value: str) -> float:
    from ssdlab.units import parse_percent

    try:
        return float(parse_percent(value)) if value.endswith("%") else float(value)
    except ValueError as error:
        raise UsageError(f"spare={value} is no share", "write it so: spare=25% or spare=0.25") from error
