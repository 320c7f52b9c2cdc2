"""The drive that a suite and its parts run on: a simulated one is made so large, and so set, as they ask."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ssdlab.drives.prefix import SIMULATED_PREFIX
from ssdlab.model.errors import UsageError
from ssdlab.model.units import capacity_text
from ssdlab.runs.conditions.variant import AS_IT_IS, Variant, on_text

if TYPE_CHECKING:
    from ssdlab.lab.suites.suite import Part


def scale_of(drive: str) -> int:
    """Return how many times smaller than the drive it stands for a simulated one is; 1 of any other."""
    if not drive.startswith(SIMULATED_PREFIX):
        return 1
    from ssdlab.drives.simulated.text import SimulatedText

    return SimulatedText.parse(drive).scale


def has_whole(part: Part, *, quick: bool) -> bool:
    """Say whether a part has a simulated drive in its full size: quick presets are small enough for any."""
    return part.absolute and not quick


def in_full_size(drive: str) -> str:
    """Return a simulated drive in its full size; one that a file keeps has the size that it was made with."""
    if not drive.startswith(SIMULATED_PREFIX):
        return drive
    from ssdlab.drives.simulated.text import SimulatedText

    own = SimulatedText.parse(drive)
    return drive if own.scale == 1 or own.state is not None else str(replace(own, scale=1))


def with_write_cache(drive: str, asked: str | None) -> str:
    """Return a simulated drive with its write cache so, unless its text says how, or a file keeps it."""
    if asked is None or not drive.startswith(SIMULATED_PREFIX):
        return drive
    from ssdlab.drives.simulated.profiles import check_profile
    from ssdlab.drives.simulated.text import SimulatedText

    own, cached = SimulatedText.parse(drive), asked == "on"
    if own.write_cache is not None or own.state is not None:
        return drive
    made = check_profile(own.profile, **own.settings())
    return drive if made["write_cache"] is cached else str(replace(own, write_cache=cached))


def drive_of_part(text: str, part: Part, *, quick: bool) -> str:
    """Return the drive that a part runs on: a simulated one in its full size, where sizes are absolute."""
    if not text.startswith(SIMULATED_PREFIX) or not (part.absolute or part.variant):
        return text
    from ssdlab.drives.simulated.text import SimulatedText

    own = SimulatedText.parse(in_full_size(text) if has_whole(part, quick=quick) else text)
    if own.scale > 1 and has_whole(part, quick=quick):
        raise UsageError(
            "its stimuli have a size of their own, and the state file holds a scaled-down drive",
            "leave state= or scale= out",
        )
    asked = Variant.model_validate(dict(part.variant))
    if own.state is not None and asked != AS_IT_IS:
        raise UsageError("the state file holds another drive than the variant", "leave state= out")
    if asked.usable_bytes is not None:  # of the drive in its full size
        asked = asked.model_copy(update={"usable_bytes": asked.usable_bytes // own.scale})
    return on_text(str(own), asked)


def check_span(asked: Variant, span_bytes: int | None) -> None:
    """Refuse a variant that leaves more of a drive than is used of it anyway: it would be the same drive."""
    if span_bytes is not None and (asked.usable_bytes or 0) > span_bytes:
        raise UsageError(
            f"only the first {capacity_text(span_bytes)} of the drive are used, less than the variant leaves",
            "run it without --quick, or set quick_span to more",
        )
