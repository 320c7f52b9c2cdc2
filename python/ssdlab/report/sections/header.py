"""The head of the page: whose numbers these are, what must be known before reading them, and the verdict in figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ssdlab.report.numbers import Table, of_unit, words
from ssdlab.report.runs import drive_name, engine_words
from ssdlab.report.tree import fact
from ssdlab.results.schema import PeakResult
from ssdlab.units import block_text, capacity_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ssdlab.report.runs import Shown
    from ssdlab.results.schema import Manifest

_BADGES = {
    "block": "Real drive",
    "file": "File on a file system",
    "fake": "Fake drive of a test",
}
_WHEN_LIKE = ("method", "parameters", "--quick", "engine", "tool")


@dataclass(frozen=True)
class Banner:
    """A warning across the page: what, what it means, and which runs."""

    kind: str
    """`warning` or `departure`."""
    what: str
    advice: str
    runs: tuple[int, ...]


@dataclass(frozen=True)
class Card:
    """A headline figure, one line for each run."""

    label: str
    better: str
    figures: tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class Header:
    """The head of the page."""

    title: str
    subtitle: str
    badges: tuple[str, ...]
    facts: Table
    banners: tuple[Banner, ...]
    cards: tuple[Card, ...]


def header(runs: Sequence[Shown]) -> Header:
    """Make the head of the page of these runs."""
    manifests = [shown.run.manifest for shown in runs]
    drives = list(dict.fromkeys(drive_name(manifest.drive) for manifest in manifests))
    titles = list(dict.fromkeys(manifest.method.title for manifest in manifests))
    badges = list(dict.fromkeys(_BADGES[manifest.drive.kind] for manifest in manifests))
    if any(manifest.quick for manifest in manifests):
        badges.append("Quick run")
    return Header(
        title=" and ".join(drives) if len(drives) < 3 else f"{len(drives)} drives compared",
        subtitle=", ".join(titles),
        badges=tuple(badges),
        facts=_facts(runs),
        banners=_banners(runs),
        cards=_cards(runs),
    )


def _facts(runs: Sequence[Shown]) -> Table:
    """Provenance, one column for each run; a line that nobody knows anything about is left out."""
    lines: tuple[tuple[str, Callable[[Manifest], str | None]], ...] = (
        ("Drive", lambda m: drive_name(m.drive)),
        ("Kind", lambda m: _BADGES[m.drive.kind]),
        ("Path", lambda m: m.drive.text),
        ("Identity", lambda m: m.drive.id),
        ("Capacity", lambda m: f"{capacity_text(m.drive.capacity_bytes)} ({m.drive.capacity_bytes} B)"),
        ("Logical block", lambda m: block_text(m.drive.logical_block_bytes)),
        ("Firmware", lambda m: fact(m.drive.identity, "firmware")),
        ("Interface", lambda m: fact(m.drive.identity, "transport", "interface")),
        ("File system", _file_system),
        ("Date", lambda m: m.created.replace("T", " ").replace("Z", " UTC")),
        ("Host", lambda m: fact(m.environment, "hostname", "host", "node")),
        ("Kernel", lambda m: fact(m.environment, "kernel", "release", "kernel_release")),
        ("CPU", lambda m: fact(m.environment, "cpu_model", "model_name", "model")),
        ("Engine", lambda m: f"{engine_words(m.engine)} ({m.engine})"),
        ("Method", lambda m: f"{m.method.name}, version {m.method.version}" + (", quick" if m.quick else "")),
        ("Tool", lambda m: "ssdlab " + ", ".join(str(value) for value in m.tool.values())),
        ("Seed", lambda m: str(m.seed)),
        ("Run", lambda m: m.run_id),
    )
    rows = []
    for name, tell in lines:
        told = [tell(shown.run.manifest) for shown in runs]
        if any(told):
            rows.append((words(name), *(words(text or "–") for text in told)))
    return Table("Where these numbers come from", ("", *(shown.label for shown in runs)), tuple(rows))


def _file_system(manifest: Manifest) -> str | None:
    if manifest.drive.kind != "file":
        return None
    return (
        fact(manifest.environment, "file_system", "filesystem", "fstype", "file_system_type")
        or "not recorded"
    )


def _banners(runs: Sequence[Shown]) -> tuple[Banner, ...]:
    """Warnings and departures, each once, naming its runs; and what makes the runs of one method unlike."""
    found: dict[tuple[str, str, str], list[int]] = {}
    for shown in runs:
        manifest = shown.run.manifest
        for departure in manifest.departures:
            found.setdefault(("departure", departure.what, departure.why), []).append(shown.index)
        for warning in manifest.warnings:
            found.setdefault(("warning", warning.what, warning.advice), []).append(shown.index)
        for note in shown.run.notes:
            found.setdefault(("note", note.text, note.at), []).append(shown.index)
    banners = [
        Banner(kind, what, advice, tuple(dict.fromkeys(at))) for (kind, what, advice), at in found.items()
    ]
    order = {"departure": 0, "warning": 1, "note": 2}
    return (*_unlike(runs), *sorted(banners, key=lambda banner: order[banner.kind]))


def _unlike(runs: Sequence[Shown]) -> list[Banner]:
    groups: dict[str, list[Shown]] = {}
    for shown in runs:
        groups.setdefault(shown.run.manifest.method.name, []).append(shown)
    banners = []
    for method, group in groups.items():
        keys = [_likeness(shown.run.manifest) for shown in group]
        differing = [name for name, *values in zip(_WHEN_LIKE, *keys, strict=True) if len(set(values)) > 1]
        if differing:
            what = f"The runs of {method} are not alike: they differ in {', '.join(differing)}"
            advice = "Compare them with care; the table above and the end of the page say how they differ."
            banners.append(Banner("departure", what, advice, tuple(shown.index for shown in group)))
    return banners


def _likeness(manifest: Manifest) -> tuple[Any, ...]:
    params = tuple(sorted((name, str(value)) for name, value in manifest.params.items() if name != "engine"))
    tool = tuple(sorted((name, str(value)) for name, value in manifest.tool.items()))
    return (manifest.method.version, params, manifest.quick, manifest.engine, tool)


def _cards(runs: Sequence[Shown]) -> tuple[Card, ...]:
    """The headline figures of the Results, then who set the limit."""
    cards: dict[tuple[str, str, str], list[tuple[int, str]]] = {}
    several = len({shown.run.manifest.method.name for shown in runs}) > 1
    for shown in runs:
        manifest, result = shown.run.manifest, shown.run.result
        of = manifest.method.title if several else ""
        for scalar in result.scalars:
            text = of_unit(scalar.value, scalar.unit)
            cards.setdefault((of, scalar.label, f"{scalar.better} is better"), []).append((shown.index, text))
        if isinstance(result, PeakResult):
            chosen = result.points[result.chosen]
            limit = chosen.attribution.limit if chosen.attribution else "unknown"
            cards.setdefault((of, "limit at the reported depth", ""), []).append((shown.index, limit))
    return tuple(
        Card(": ".join(filter(None, (of, label))), better, tuple(figures))
        for (of, label, better), figures in cards.items()
    )
