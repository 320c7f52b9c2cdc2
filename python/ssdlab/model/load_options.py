"""The options of a single measurement that say what was measured, each as it could be typed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ssdlab.model.block_sizes import Block
from ssdlab.model.drive_options import DriveOptions
from ssdlab.model.errors import LabError
from ssdlab.model.meter_text import MeterOptions
from ssdlab.model.options import DEFAULT_TIME_NS, MeasureOptions
from ssdlab.model.pattern import Bands, Zipf, pattern_text
from ssdlab.model.span import Span
from ssdlab.model.units import duration_text, size_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import JsonValue

MEASURE = "measure"
"""The pseudo-method of which a measurement is that was kept."""
_OF_DRIVE_AND_METER = {
    field.alias or name for each in (DriveOptions, MeterOptions) for name, field in each.model_fields.items()
}
_NOT_THE_LOAD = {*_OF_DRIVE_AND_METER, "seed", "log_ios", "save", "library"}
"""How the drive was opened and what was kept; nor do the parameters of a method tell a seed."""
_ALWAYS: dict[str, JsonValue] = {"rw": "randread", "bs": [{"bytes": 4096, "weight": 1}]}
"""What is told even where it is the default: without it nobody would know what was measured."""


def load_options(params: Mapping[str, JsonValue]) -> dict[str, str]:
    """Return what was asked for, by name, without what would have been so anyway.

    Parameters
    ----------
    params
        The fields of `MeasureOptions` that were given, as a manifest holds them.
    """
    usual: dict[str, JsonValue] = MeasureOptions().model_dump(
        mode="json", by_alias=True, exclude=set(_ALWAYS)
    )
    if "bytes" not in params:
        usual["seconds"] = duration_text(DEFAULT_TIME_NS)
    return {
        name: option_text(name, value)
        for name, value in sorted({**_ALWAYS, **params}.items())
        if name in _ALWAYS or (name not in _NOT_THE_LOAD and value is not None and value != usual.get(name))
    }


def option_text(name: str, value: JsonValue) -> str:
    """Return the value of a field of `MeasureOptions` as it could be typed, else as JSON."""
    try:
        text = _typed(name, value)
    except (LabError, LookupError, ValueError):
        text = None
    return json.dumps(value, sort_keys=True) if text is None else text


def _typed(name: str, value: JsonValue) -> str | None:
    match value:
        case list() if name == "bs":
            blocks = [Block.model_validate(each) for each in value]
            weighted = len(blocks) > 1
            return ",".join(
                size_text(each.bytes) + (f":{each.weight}" if weighted else "") for each in blocks
            )
        case dict() if name == "span":
            return Span.model_validate(value).text
        case dict() if name == "pattern":
            return _pattern(value)
        case list() | dict():
            return ",".join(map(str, value)) if name == "cpus" else None
        case int() if name in ("bytes", "size"):
            return size_text(value)
    return str(value)


def _pattern(value: dict[str, JsonValue]) -> str:
    """Return a pattern; its kind was not given and is not stored."""
    if "theta_milli" in value:
        return pattern_text(Zipf.model_validate(value))
    if "bands" in value:
        return pattern_text(Bands.model_validate(value))
    return str(value["kind"])
