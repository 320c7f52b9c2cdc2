"""Departures of a run as they are told: what a quick run has shorter in one sentence, behind the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.results.schema import Departure

if TYPE_CHECKING:
    from ssdlab.results.schema import Manifest

_PARAMETER = "parameter-"
"""What the code of a departure begins with that is a parameter's value; its name follows."""


def departure_text(departure: Departure) -> str:
    """Return what and why in one, as caveats and warnings are told: without a capital or a full stop."""
    return f"{departure.what}: {departure.why}" if departure.why else departure.what


def gathered_departures(manifest: Manifest) -> tuple[Departure, ...]:
    """Return the departures to show; the manifest keeps each by itself.

    What `--quick` shortened is one choice of the user, and says in many lines only what "quick" says.
    """
    quick = {each.name: each.quick for each in manifest.method.parameters} if manifest.quick else {}
    kept: list[Departure] = []
    shorter: list[Departure] = []
    for each in manifest.departures:
        name = each.code.removeprefix(_PARAMETER)
        by_quick = name != each.code and name in quick and manifest.params.get(name) == quick[name]
        (shorter if by_quick else kept).append(each)
    if len(shorter) < 2:
        return manifest.departures
    what = f"{len(shorter)} parameters as --quick has them: {'; '.join(each.what for each in shorter)}"
    return (*kept, Departure(code="quick", what=what, why="a quick run is shorter than the method asks for"))
