"""What must be known before reading a number: departures, warnings, notes, and what makes runs unlike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.report.runs import Shown
    from ssdlab.results.schema import Manifest

Kind = Literal["departure", "warning", "note"]
_WHEN_LIKE = ("method version", "parameters", "--quick", "engine", "tool")


@dataclass(frozen=True)
class Banner:
    """A warning across the page: what it is, what it means, and whose it is."""

    kind: Kind
    what: str
    advice: str
    runs: tuple[int, ...]
    """One run for each look: a drive with several runs is named once."""
    methods: str
    """Methods of these runs, where the page has several."""


def banners(runs: Sequence[Shown]) -> tuple[Banner, ...]:
    """Return what makes the runs unlike, then departures, warnings and notes, each once."""
    found: dict[tuple[Kind, str, str], list[int]] = {}
    for shown in runs:
        manifest = shown.run.manifest
        for departure in manifest.departures:
            found.setdefault(("departure", departure.what, departure.why), []).append(shown.index)
        for warning in manifest.warnings:
            found.setdefault(("warning", warning.what, warning.advice), []).append(shown.index)
        for note in shown.run.notes:
            found.setdefault(("note", note.text, note.at), []).append(shown.index)
    several = len({shown.run.manifest.method.name for shown in runs}) > 1
    result = _unlike(runs)
    for kind in ("departure", "warning", "note"):
        for (of_kind, what, advice), at in found.items():
            if of_kind == kind:
                titles = ", ".join(dict.fromkeys(runs[index].run.manifest.method.title for index in at))
                result.append(Banner(kind, what, advice, _looks(runs, at), titles if several else ""))
    return tuple(result)


def _looks(runs: Sequence[Shown], at: Sequence[int]) -> tuple[int, ...]:
    first = {runs[index].style: index for index in sorted(at, reverse=True)}
    return tuple(sorted(first.values()))


def _unlike(runs: Sequence[Shown]) -> list[Banner]:
    """Tell where runs of one method were not taken alike."""
    groups: dict[str, list[Shown]] = {}
    for shown in runs:
        groups.setdefault(shown.run.manifest.method.name, []).append(shown)
    found = []
    for method, group in groups.items():
        keys = [_likeness(shown.run.manifest) for shown in group]
        differing = [name for name, *values in zip(_WHEN_LIKE, *keys, strict=True) if len(set(values)) > 1]
        if differing:
            what = f"The runs of {method} are not alike: they differ in {', '.join(differing)}"
            advice = "Compare them with care; the table below and the end of the page say how they differ."
            at = [shown.index for shown in group]
            found.append(Banner("departure", what, advice, _looks(runs, at), ""))
    return found


def _likeness(manifest: Manifest) -> tuple[object, ...]:
    params = tuple(sorted((name, str(value)) for name, value in manifest.params.items() if name != "engine"))
    tool = tuple(sorted((name, str(value)) for name, value in manifest.tool.items()))
    return (manifest.method.version, params, manifest.quick, manifest.engine, tool)
