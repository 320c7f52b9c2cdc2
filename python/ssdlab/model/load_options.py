"""The options of a single measurement that say what was measured, each as it could be typed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

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
_ALWAYS: dict[str, Any] = {"rw": "randread", "bs": [{"bytes": 4096, "weight": 1}]}
"""What is told even where it is the default: without it nobody would know what was measured."""


def load_options(params: Mapping[str, JsonValue]) -> dict[str, str]:
    """Return what was asked for, by name, without what would have been so anyway.

    Parameters
    ----------
    params
        The fields of `MeasureOptions` that were given, as a manifest holds them.
    """
    usual: dict[str, Any] = MeasureOptions().model_dump(mode="json", by_alias=True, exclude=set(_ALWAYS))
    if "bytes" not in params:
        usual["seconds"] = duration_text(DEFAULT_TIME_NS)
    return {
        name: option_text(name, value)
        for name, value in sorted({**_ALWAYS, **params}.items())
        if name in _ALWAYS or (name not in _NOT_THE_LOAD and value is not None and value != usual.get(name))
    }


def option_text(name: str, value: Any) -> str:  # noqa: ANN401 - JSON of a field of `MeasureOptions`
    """Return the value of an option as it could be typed; as JSON where it was stored otherwise."""
    try:
        return _typed(name, value)
    except (LabError, LookupError, TypeError, ValueError):
        return json.dumps(value, sort_keys=True)


def _typed(name: str, value: Any) -> str:  # noqa: ANN401 - as of `option_text`
    if name == "bs":
        weighted = len(value) > 1
        return ",".join(
            size_text(each["bytes"]) + (f":{each['weight']}" if weighted else "") for each in value
        )
    if name in ("bytes", "size"):
        return size_text(value)
    if name == "span":
        return Span.model_validate(value).text
    if name == "pattern":
        return _pattern(value)
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _pattern(value: dict[str, Any]) -> str:
    """Return a pattern; its kind was not given and is not stored."""
    if "theta_milli" in value:
        return pattern_text(Zipf.model_validate(value))
    if "bands" in value:
        return pattern_text(Bands.model_validate(value))
    return str(value["kind"])
