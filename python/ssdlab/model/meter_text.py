"""The power meter to use: the text of ``--meter``, or the table `[meter]` of a rig file."""

from __future__ import annotations

import datetime
import re
from fractions import Fraction
from typing import Annotated, ClassVar, Self

from pydantic import BeforeValidator, Field

from ssdlab.model import units
from ssdlab.model.errors import UsageError, excerpt
from ssdlab.model.frozen import Frozen, Metavar, NamedOptions

_WATTS = re.compile(r"(\d+(?:\.\d+)?)\s*(W|mW|uW|µW)")
_SCALE = {"W": 1.0, "mW": 1e-3, "uW": 1e-6, "µW": 1e-6}


def parse_watts(text: str) -> float:
    """Return the watts of a text with a unit.

    >>> parse_watts("5 mW")
    0.005

    Raises
    ------
    UsageError
        The text is not a power with a unit.
    """
    found = _WATTS.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"{excerpt(text)!r} is not a power in watts", "write it with its unit, such as 5mW")
    return float(found[1]) * _SCALE[found[2]]


def _share(value: object) -> object:
    return float(units.parse_percent(value, noun="accuracy")) if isinstance(value, str) else value


def _watts(value: object) -> object:
    return parse_watts(value) if isinstance(value, str) else value


def _rate(value: object) -> object:
    if isinstance(value, str) and re.fullmatch(r"\d{1,4}(\.\d{1,6})?", value) is None:
        raise UsageError(
            f"{excerpt(value)!r} is not a meter's sample rate", "give readings a second, such as rate=10"
        )
    return float(value) if isinstance(value, str) else value


def _rails(value: object) -> object:
    return tuple(value.split("+")) if isinstance(value, str) else value


def _volts(value: object) -> object:
    if not isinstance(value, str):
        return value
    found = [re.fullmatch(r"(\d{1,3}(?:\.\d{1,6})?)\s*V?", each.strip()) for each in value.split("+")]
    if not all(found):
        raise UsageError(
            f"{excerpt(value)!r} is not a supply voltage", "give volts, such as volts=5V, or volts=12V+5V"
        )
    return tuple(float(each[1]) for each in found if each is not None)


class MeterText(Frozen):
    """A power meter, and what its owner states about it."""

    noun: ClassVar[str] = "setting of a meter"

    use: str = Field(pattern=r"^[a-z0-9]+:", description="kind and place: hwmon:ina226, csv:FILE")
    accuracy: Annotated[float, BeforeValidator(_share)] | None = Field(
        None, ge=0, lt=1, description="error as a percentage of the reading: 0.5%"
    )
    offset: Annotated[float, BeforeValidator(_watts), Metavar("WATTS")] | None = Field(
        None, ge=0, description="constant error: 5mW"
    )
    calibrated: datetime.date | None = Field(None, description="day of the last calibration: 2026-03-01")
    rails: Annotated[tuple[str, ...], BeforeValidator(_rails)] = Field(
        (), description="rails of the meter that feed the drive: 12V+3V3 [default: all]"
    )
    volts: Annotated[tuple[float, ...], BeforeValidator(_volts)] = Field(
        (), description="supply voltage, if a recording has only amperes: 5V, or of several 12V+5V"
    )
    rate: Annotated[float, BeforeValidator(_rate)] | None = Field(
        None, gt=0, le=1000, description="readings a second, if the meter is polled"
    )

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse the text ``KIND:PLACE,name=value,...``; ``none`` means no meter.

        Raises
        ------
        UsageError
            The text does not name a meter, or a setting is not valid.
        """
        use, *settings = text.split(",")
        use = "none:" if use == "none" else use
        if not re.match(r"[a-z0-9]+:", use):
            raise UsageError(
                f"{excerpt(text)!r} does not name a meter",
                "write kind and place, such as hwmon:ina226 or csv:FILE",
            )
        given: dict[str, object] = {}
        for setting in settings:
            name, equals, value = setting.partition("=")
            if not equals or name in given or name == "use":
                raise UsageError(
                    f"{excerpt(setting)!r} in --meter is not one name=value",
                    "write it so: --meter hwmon:ina226,accuracy=0.5%",
                )
            given[name] = value
        return cls.model_validate({"use": use, **given})

    @property
    def kind(self) -> str:
        return self.use.partition(":")[0]

    @property
    def place(self) -> str:
        """Where the meter is, depending on its kind: an address, a file or a device."""
        return self.use.partition(":")[2]

    def __str__(self) -> str:
        set_here = {
            "accuracy": None if self.accuracy is None else units.percent_text(Fraction(str(self.accuracy))),
            "offset": None if self.offset is None else f"{self.offset:g}W",
            "calibrated": self.calibrated,
            "rails": "+".join(self.rails) or None,
            "volts": "+".join(f"{each:g}V" for each in self.volts) or None,
            "rate": None if self.rate is None else f"{self.rate:g}",
        }
        return ",".join([self.use, *(f"{k}={v}" for k, v in set_here.items() if v is not None)])


def _meter(value: object) -> object:
    return MeterText.parse(value) if isinstance(value, str) else value


AnyMeter = Annotated[MeterText, BeforeValidator(_meter), Metavar("METER")]
"""A meter, as text or as a table."""


class MeterOptions(NamedOptions):
    """The option that names a meter, which every command that measures has."""

    noun: ClassVar[str] = "option of a meter"

    meter: AnyMeter | None = Field(
        None,
        description="power meter on the drive: hwmon:ina226 (see ssdlab meters), or none [default: from "
        "the rig file or config.toml]",
    )
