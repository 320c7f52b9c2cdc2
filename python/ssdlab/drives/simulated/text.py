"""The text that names a simulated drive: ``sim:PROFILE[,scale=S][,spare=SHARE][,power=LIMIT]...``.

PROFILE is the name of a built-in profile, or the path of a profile (see `profiles`). ``scale`` makes the
drive S times smaller, and keeps everything that decides its steady state. ``spare`` is the share of its
medium that the user cannot address. ``power`` limits its power, as ``10W`` or as one of its power states,
``ps1``. With ``trim=ignored`` the drive or the host ignores trims. With ``write-cache=off`` a write completes
when it is in flash. The drive reports ``serial`` and ``firmware``, so that many drives of one profile can be
told apart. ``seed`` decides its random behaviour. ``state`` names a file that keeps the drive between
commands.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Self

from ssdlab.drives.simulated.profiles import is_path, profile_id, profile_text
from ssdlab.host.documents import parse_toml, user_path
from ssdlab.model.capabilities import SIMULATED_PREFIX as PREFIX
from ssdlab.model.errors import LabError, UsageError, unknown
from ssdlab.model.units import fixed_share_text, parse_percent

PROFILE_NAME = "name of the profile"
"""Key of the profile's name in an identity, besides the digest of its text; earlier states lack it."""


@dataclass(frozen=True, slots=True)
class SimulatedText:
    """The parsed text of a simulated drive.

    Attributes
    ----------
    profile
        Name of a profile, or the path of one.
    scale
        How many times smaller it is than the profile's drive.
    spare
        Share of the medium that the user cannot address; None for the profile's own.
    power
        Power limit in W, or the name of a power state such as ``ps1``; None for the profile's own.
    trim
        ``honoured`` or ``ignored``; None for the profile's own.
    write_cache
        Whether a write is complete when it is in the buffer; None for the profile's own.
    serial, firmware
        Serial number and firmware that it reports; None for none. They do not change its behaviour.
    seed
        Seed of its random behaviour.
    state
        File that keeps the drive between commands; None keeps it only while it is open.
    """

    profile: str
    scale: int = 1
    spare: float | None = None
    power: float | str | None = None
    trim: str | None = None
    write_cache: bool | None = None
    serial: str | None = None
    firmware: str | None = None
    seed: int = 1
    state: str | None = None

    @property
    def profile_names(self) -> frozenset[str]:
        """The profile as the text names it, and its own name if the text has an alias or a file."""
        try:
            return frozenset((self.profile, profile_id(self.profile)))
        except LabError:  # a file that is gone
            return frozenset((self.profile,))

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse the text of a simulated drive.

        >>> SimulatedText.parse("sim:tiny-test,spare=25%,seed=7").spare
        0.25
        >>> str(SimulatedText.parse("sim:tiny-test,write-cache=off,power=10W"))
        'sim:tiny-test,power=10W,write-cache=off'

        Raises
        ------
        UsageError
            The text is invalid.
        """
        profile, *words = text.removeprefix(PREFIX).split(",")
        if not profile:
            raise UsageError(
                f"{text} does not name a profile", "see `ssdlab sim list`, and give sim:NAME", target=text
            )
        given: dict[str, Any] = {}
        for word in words:
            name, equals, value = word.partition("=")
            if name in _READERS and not equals:
                raise UsageError(
                    f"{text} has no value for {name}", f"give it as {name}={EXAMPLES[name]}", target=text
                )
            if name not in _READERS:
                raise unknown("option of a simulated drive", name, _READERS)
            attribute = name.replace("-", "_")
            if attribute in given:
                raise UsageError(f"{text} has {name} twice", "give it once", target=text)
            given[attribute] = _READERS[name](name, value)
        return cls(profile, **given)

    def anchored(self) -> Self:
        """Return the same drive with absolute paths, which do not depend on the working directory."""
        profile = _absolute(self.profile) if is_path(self.profile) else self.profile
        return replace(self, profile=profile, state=None if self.state is None else _absolute(self.state))

    @property
    def drive(self) -> str:
        """Text of the drive itself: with absolute paths, and without the file of its state."""
        return str(replace(self.anchored(), state=None))

    def identity(self) -> dict[str, str]:
        """Return what decides which drive it is; a saved state fits only the drive with an equal identity."""
        text = profile_text(self.profile)
        profile = hashlib.sha256(text.encode()).hexdigest()[:32]
        name = str(parse_toml(text, self.profile).get("name", ""))
        own = SimulatedText(self.profile)
        settings = {
            field.name: "the profile's own" if (value := getattr(self, field.name)) is None else str(value)
            for field in fields(own)
            if field.name not in ("profile", "state")
        }
        return {PROFILE_NAME: name, "profile": profile, **settings}

    def __str__(self) -> str:
        own = SimulatedText(self.profile)
        words = [PREFIX + self.profile]
        for name in _READERS:
            value = getattr(self, name.replace("-", "_"))
            if value != getattr(own, name.replace("-", "_")):
                words.append(f"{name}={_written(name, value)}")
        return ",".join(words)

    def settings(self) -> dict[str, Any]:
        """Return the options passed to the native side besides the profile, without the seed."""
        state = int(self.power[2:]) if isinstance(self.power, str) else None
        return {
            "scale": self.scale,
            "spare": self.spare,
            "power_w": None if isinstance(self.power, str) else self.power,
            "power_state": state,
            "honours_trim": None if self.trim is None else self.trim == "honoured",
            "write_cache": self.write_cache,
        }

    def states(self) -> tuple[str, ...]:
        """Return the options that make it another variant than its profile, in the order of `variant`."""
        given = {"scale": self.scale > 1} | {
            name: getattr(self, name) is not None for name in ("spare", "power", "trim", "write_cache")
        }
        return tuple(name for name, is_given in given.items() if is_given)

    def variant(self, made: Mapping[str, Any]) -> Iterator[str]:
        """Yield the differences from the profile's drive, in words; `made` has the drive's properties."""
        if self.scale > 1:
            yield f"1/{self.scale} of its size"
        if self.spare is not None:
            # Rounded to a hundredth of a per cent, as requested: whole units give a little less or more.
            yield f"{fixed_share_text(round(made['spare'], 4))} spare"
        if self.power is not None:
            yield f"{made['power_cap_w']:g} W"
        if self.trim is not None:
            yield f"trims {self.trim}"
        if self.write_cache is not None:
            yield f"write cache {'on' if self.write_cache else 'off'}"


def _written(name: str, value: object) -> str:
    if name == "write-cache":
        return "on" if value else "off"
    return f"{value:.12g}W" if name == "power" and isinstance(value, float) else str(value)


def setting_as_written(setting: str, value: str) -> tuple[str, str]:
    """Return the option and value, as in a text, for a setting of `SimulatedText.identity`.

    >>> setting_as_written("write_cache", "False"), setting_as_written("power", "5.0")
    (('write-cache', 'off'), ('power', '5W'))
    >>> setting_as_written("power", "ps1"), setting_as_written("trim", "the profile's own")
    (('power', 'ps1'), ('trim', "the profile's own"))
    """
    name = setting.replace("_", "-")
    if name == "write-cache":
        return name, {"True": "on", "False": "off"}.get(value, value)
    if name == "power" and re.fullmatch(r"[0-9.e+-]+", value):
        return name, _written(name, float(value))
    return name, value


def _absolute(path: str) -> str:
    return str(user_path(path).absolute())


def _file(name: str, value: str) -> str:
    if not value:
        raise UsageError("state needs a file name", f"give it as {name}=drive.sim")
    return value


_NAME_CHARACTERS = {"serial": 20, "firmware": 8}
"""Maximum lengths in NVMe (NVM Express Base Specification 2.0, Identify Controller, SN and FR)."""


def _named(name: str, value: str) -> str:
    longest = _NAME_CHARACTERS[name]
    if not re.fullmatch(rf"[A-Za-z0-9._-]{{1,{longest}}}", value):
        raise UsageError(
            f"{name}={value} is not a valid {name}",
            f"give 1 to {longest} letters, digits, dots, hyphens or underscores",
        )
    return value


EXAMPLES = {
    "scale": "16",
    "spare": "25%",
    "power": "10W",
    "trim": "ignored",
    "write-cache": "off",
    "serial": "S1",
    "firmware": "F1",
    "seed": "7",
    "state": "drive.sim",
}
_WHOLE_BITS = {"scale": 32, "seed": 64}
_LOWER = {"scale": 1}


def _whole(name: str, value: str) -> int:
    if not value.isascii() or not value.isdecimal():
        lower = _LOWER.get(name, 0)
        raise UsageError(f"{name}={value} is not a whole number of at least {lower}", f"give it as {name}=16")
    maximum = 2 ** _WHOLE_BITS[name] - 1
    if len(value) > 20 or int(value) > maximum:
        raise UsageError(f"{name}={value} is too large", f"choose one up to {maximum}")
    return int(value)


def _share(name: str, value: str) -> float:
    try:
        return float(parse_percent(value)) if value.endswith("%") else float(value)
    except ValueError as error:
        raise UsageError(f"{name}={value} is not a share", f"give it as {name}=25% or {name}=0.25") from error


def _power(name: str, value: str) -> float | str:
    if re.fullmatch(r"ps\d{1,2}", value, re.ASCII):
        return f"ps{int(value[2:])}"
    number, watts = (value[:-1], True) if value[-1:] in {"W", "w"} else (value, False)
    try:
        limit = float(number)
    except ValueError:
        limit = math.nan
    if not watts or not math.isfinite(limit) or limit <= 0:
        raise UsageError(
            f"{name}={value} is not a power limit",
            f"give it as {name}=10W, or {name}=ps1 for a power state of the profile",
        )
    return limit


def _choice(choices: Mapping[str, Any]) -> Callable[[str, str], Any]:
    def read(name: str, value: str) -> Any:  # noqa: ANN401 - what the choice stands for
        if value not in choices:
            raise unknown(f"choice of {name}", value, choices)
        return choices[value]

    return read


_READERS: dict[str, Callable[[str, str], Any]] = {
    "scale": _whole,
    "spare": _share,
    "power": _power,
    "trim": _choice({"honoured": "honoured", "ignored": "ignored"}),
    "write-cache": _choice({"on": True, "off": False}),
    "serial": _named,
    "firmware": _named,
    "seed": _whole,
    "state": _file,
}
"""Parsers of the options besides the profile, in the order in which a text is written."""
