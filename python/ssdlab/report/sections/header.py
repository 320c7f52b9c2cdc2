"""The head of the page: whose numbers these are, and what must be known of them.

What must be known of the numbers: departures, warnings, notes, and what makes runs unlike.

Each is told once, with the methods and the drives that it is of; what each step says stands with its run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from ssdlab.model.units import and_listed, block_text, capacity_text, counted
from ssdlab.report.runs import drive_name, engine_words, entries
from ssdlab.report.sections.cards import of_same_steps
from ssdlab.report.sections.specifications import fact, interface
from ssdlab.report.source import is_unended
from ssdlab.report.standings import compared
from ssdlab.report.together import alike, with_numbers, words_of
from ssdlab.results.catalogue_row import kinship, size_of
from ssdlab.results.cells import NOTHING, Table, words
from ssdlab.results.claim import as_sentence
from ssdlab.results.kin import OF_AN_ENTRY, apart
from ssdlab.results.metered import energy_words, limit_words, meter_of, meter_words
from ssdlab.results.points import united
from ssdlab.results.remarks import gathered_departures, is_shortened, warned_steps
from ssdlab.results.schema import Manifest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ssdlab.report.charts import RunStyle
    from ssdlab.report.runs import Entry, Shown
    from ssdlab.results.points import Metric
    from ssdlab.results.remarks import WarnedSteps

Kind = Literal["mark", "departure", "warning", "note"]
_TITLES: dict[Kind, str] = {
    "mark": "What stands with figures",
    "departure": "Departures from the method",
    "warning": "Warnings",
    "note": "Notes",
}

_SHORTER = (
    "shorter than the method or its quick preset asks for",
    "the parameters of each run say by how much",
)


@dataclass(frozen=True)
class Point:
    """Where a thing holds, and why there, if not everywhere for one reason."""

    text: str
    """Methods, in brackets their figures, and the reason; empty: all of the page."""
    runs: tuple[int, ...]
    """One run for each drive that it holds of; empty: of all."""


@dataclass(frozen=True)
class Notice:
    """One thing to know: what it is, what it means or what to do, and where it holds."""

    what: str
    advice: str
    points: tuple[Point, ...] = ()
    where: str = ""
    """In how many steps it holds, and in which."""


@dataclass(frozen=True)
class Banner:
    """All notices of a kind, across the page."""

    kind: Kind
    title: str
    notices: tuple[Notice, ...]


def banners(runs: Sequence[Shown]) -> tuple[Banner, ...]:
    """Return what marks mean, departures (first what makes runs unlike), warnings and notes."""
    found: dict[Kind, Iterable[Notice]] = {
        "mark": _marks(runs),
        "departure": (*_unlike(runs), *_departures(runs)),
        "warning": _warnings(runs),
        "note": _notes(runs),
    }
    kept = ((kind, tuple(notices)) for kind, notices in found.items())
    return tuple(Banner(kind, _TITLES[kind], notices) for kind, notices in kept if notices)


def _marks(runs: Sequence[Shown]) -> Iterator[Notice]:
    """Yield each qualifier of the page's figures once, by its reasons, with the figures it stands with."""
    figures = [(shown, figure) for shown in runs for figure in shown.run.result.scalars]
    for each in united(own for _, figure in figures for own in figure.qualifiers):
        having: dict[tuple[int, str], list[Metric]] = {}
        for shown, figure in figures:
            for own in figure.qualifiers:
                if own.code == each.code:
                    having.setdefault((shown.index, own.why), []).append(figure)
        points = _points(runs, [(runs[at], _which(runs[at], own), why) for (at, why), own in having.items()])
        what = f"{each.label}: {each.kind.sentence.removesuffix('.')}"
        yield Notice(what, as_sentence(each.kind.advice), points)


def _which(shown: Shown, having: Sequence[Metric]) -> str:
    """Name figures of a run, those of the same steps by the first of them; empty: they are all of it."""
    if len(having) == len(shown.run.result.scalars):
        return ""
    groups = of_same_steps(shown.run.result.scalars)
    whole = [own for own in groups if all(each in having for each in own)]
    labels = (
        own[0].label if own in whole else each.label for own in groups for each in own if each in having
    )
    return ", ".join(dict.fromkeys(labels))


def _departures(runs: Sequence[Shown]) -> Iterator[Notice]:
    """Yield each departure once; lengths that are shorter stand among the parameters of their run."""
    raised_by: dict[tuple[str, str], list[Shown]] = {}
    for shown in runs:
        for each in gathered_departures(shown.run.manifest):
            if each.code not in ("quick", "shorter"):
                raised_by.setdefault((each.what, each.why), []).append(shown)
            elif is_shortened(shown.run.manifest):
                raised_by.setdefault(_SHORTER, []).append(shown)
    for (what, why), own in raised_by.items():
        yield Notice(what, as_sentence(why), _points(runs, [(each, "", "") for each in own]))


def _warnings(runs: Sequence[Shown]) -> Iterator[Notice]:
    """Yield warnings by their code, for a sweep may raise one at every depth; those of whole runs first.

    Wordings that differ by their numbers alone are one, and all of a code have one advice.
    """
    raised_by: dict[str, list[tuple[Shown, WarnedSteps]]] = {}
    for shown in runs:
        for each in warned_steps(shown.run.warnings, shown.run.steps):
            raised_by.setdefault(each.code, []).append((shown, each))
    for raised in sorted(raised_by.values(), key=lambda raised: any(each.steps for _, each in raised)):
        advice = as_sentence(raised[0][1].worded[0].advice)
        for worded, numbers in alike(one.what for _, each in raised for one in each.worded).items():
            own = [
                (shown, replace(each, worded=kept))
                for shown, each in raised
                if (kept := tuple(one for one in each.worded if words_of(one.what) == worded))
            ]
            points = _points(runs, [(shown, "", "") for shown, _ in own])
            yield Notice(with_numbers(worded, numbers), advice, points, _where(own))
            advice = ""


def _where(raised: Sequence[tuple[Shown, WarnedSteps]]) -> str:
    """Say in how many steps a warning holds: of one run which they are, of several of how many runs."""
    steps = sum(len(each.steps) for _, each in raised)
    if len(raised) == 1 or not steps:
        return raised[0][1].where
    return f"in {counted(steps, 'step')} of {len(raised)} runs"


def _notes(runs: Sequence[Shown]) -> Iterator[Notice]:
    found: dict[tuple[str, str], list[Shown]] = {}
    for shown in runs:
        for note in shown.run.notes:
            found.setdefault((note.text, note.at), []).append(shown)
    for (text, at), own in found.items():
        yield Notice(text, at, _points(runs, [(each, "", "") for each in own]))


def _unlike(runs: Sequence[Shown]) -> Iterator[Notice]:
    """Yield where runs of one method were not taken alike."""
    groups: dict[str, list[Shown]] = {}
    for shown in runs:
        groups.setdefault(shown.run.manifest.method.name, []).append(shown)
    found: dict[str, list[Shown]] = {}
    for group in groups.values():
        first, *others = (kinship(shown.run.manifest) for shown in group)
        unlike = [each.words for other in others for each in apart(other, first, but=OF_AN_ENTRY)]
        if unlike:
            found.setdefault("; ".join(dict.fromkeys(unlike)), []).extend(group)
    for why, own in found.items():
        what = f"Runs of one method are not alike: {why}"
        advice = "Compare them with care; the table below and the end of the page say how they differ."
        yield Notice(what, advice, _points(runs, [(each, "", "") for each in own]))


def _points(runs: Sequence[Shown], found: Sequence[tuple[Shown, str, str]]) -> tuple[Point, ...]:
    """Return where a thing holds: runs, each with figures (empty: it is of all of the run) and a reason."""
    holds: dict[tuple[str, str, str], set[RunStyle]] = {}
    for shown, figures, why in found:
        holds.setdefault((why, shown.run.manifest.method.title, figures), set()).add(shown.style)
    gathered: dict[tuple[str, tuple[int, ...]], list[tuple[str, str]]] = {}
    for (why, title, figures), styles in holds.items():
        gathered.setdefault((why, _looks(runs, styles)), []).append((title, figures))
    titles = {shown.run.manifest.method.title for shown in runs}
    points = []
    for (why, at), own in gathered.items():
        if len(titles) == 1:
            names = [figures for _, figures in own]
        elif {title for title, figures in own if not figures} == titles:
            names = []
        else:
            names = [f"{title} ({figures})" if figures else title for title, figures in own]
        points.append(Point(": ".join(filter(None, (", ".join(filter(None, names)), why))), at))
    return tuple(each for each in points if each.text or each.runs)


def _looks(runs: Sequence[Shown], styles: set[RunStyle]) -> tuple[int, ...]:
    """Return the first run of each of these drives; empty: they are all of the page."""
    first = {shown.style: shown.index for shown in reversed(runs)}
    return () if styles == set(first) else tuple(sorted(first[each] for each in styles))


_SEALS = {
    "sealed": "sealed; verified when this page was made",
    "unfinished": "sealed as far as it came; verified when this page was made",
    "not sealed": "not sealed: made before there were seals, so damage would not show",
}


def file_system(manifest: Manifest) -> str | None:
    """Return the file system that a file under test lies on; None of a drive, which is under none."""
    if not manifest.drive.capabilities.on_file_system:
        return None
    kind = fact(manifest.environment, "fstype")
    source = fact(manifest.environment, "source") or fact(manifest.drive.identity, "backing")
    return " on ".join(filter(None, (kind or "not recorded", source)))


def _cpu(manifest: Manifest) -> str | None:
    model, cores = fact(manifest.environment, "model_name", "model"), fact(manifest.environment, "cores")
    cpus = fact(manifest.environment, "cpus")
    count = f"{cores} cores" + (f", {cpus} CPUs" if cpus and cpus != cores else "") if cores else None
    return ", ".join(filter(None, (model, count))) or None


def _tool(manifest: Manifest) -> str:
    version, profile = manifest.tool.get("version", "unknown"), manifest.tool.get("profile", "unknown")
    return f"ssdlab {version}, {profile} build"


_FACTS: tuple[tuple[str, Callable[[Manifest], str | None]], ...] = (
    ("Drive", lambda m: drive_name(m.drive)),
    ("Kind", lambda m: m.drive.words),
    ("Path", lambda m: m.drive.text),
    ("Identity", lambda m: m.drive.id),
    ("Capacity", lambda m: f"{capacity_text(m.drive.capacity_bytes)} ({m.drive.capacity_bytes} B)"),
    ("Logical block", lambda m: block_text(m.drive.logical_block_bytes)),
    ("Firmware", lambda m: fact(m.drive.identity, "firmware")),
    ("Interface", interface),
    ("File system", file_system),
    ("Date", lambda m: m.created.replace("T", " ").replace("Z", " UTC")),
    ("Host", lambda m: fact(m.environment, "hostname", "host", "node")),
    ("Kernel", lambda m: fact(m.environment, "release", "kernel")),
    ("CPU", _cpu),
    ("Governor", lambda m: fact(m.environment, "governor", "governors")),
    ("Scheduler", lambda m: fact(m.environment, "scheduler")),
    ("Write cache", lambda m: fact(m.environment, "write_cache")),
    ("Engine", lambda m: f"{engine_words(m.engine)} ({m.engine})"),
    ("Power meter", lambda m: None if meter_of(m) is None else meter_words(m)),
    ("Energy", energy_words),
    ("Power limit", limit_words),
    ("Method", lambda m: f"{m.method.name}, version {m.method.version}" + (", quick" if m.quick else "")),
    ("Tool", _tool),
    ("Seed", lambda m: str(m.seed)),
    ("Run", lambda m: m.run_id),
    ("Seal", lambda m: _SEALS[m.seal_state]),
)
"""What the page states about the origin of its numbers, and how it is found."""
_OF_EACH_RUN = frozenset({"Date", "Method", "Seed", "Run"})
"""What stands in a table of its own where a drive has several runs."""


@dataclass(frozen=True)
class Header:
    """The head of the page."""

    title: str
    subtitle: str
    badges: tuple[str, ...]
    facts: Table
    runs: Table | None
    """Run, date and seed of each method, a column for each entry; None where each has one run."""
    banners: tuple[Banner, ...]


def header(runs: Sequence[Shown]) -> Header:
    """Make the head of the page of these runs."""
    manifests = [shown.run.manifest for shown in runs]
    titles = dict.fromkeys(manifest.method.title for manifest in manifests)
    return Header(
        title=_title(compared(shown.drive for shown in runs)),
        subtitle=_sentence(", ".join(titles)),
        badges=tuple(_badges(runs)),
        facts=_facts(runs),
        runs=_runs(runs),
        banners=banners(runs),
    )


def _badges(runs: Sequence[Shown]) -> Iterator[str]:
    """Yield what is to be known before any figure: kinds of drives, scales of simulated ones, short runs."""
    manifests = [shown.run.manifest for shown in runs]
    yield from dict.fromkeys(manifest.drive.words for manifest in manifests)
    scales = sorted({scale for manifest in manifests if (scale := size_of(manifest)[0]) > 1})
    if scales:
        sizes = and_listed([f"1/{scale}" for scale in scales])
        whole = " and full size" if any(_in_full_size(manifest) for manifest in manifests) else " of its size"
        yield f"Simulated at {sizes}{whole}"
    quick = sum(manifest.quick for manifest in manifests)
    if quick:
        some = "" if quick == len(manifests) else f"s: {quick} of {len(manifests)}"
        yield f"Quick run{some}"
    if ended := sum(map(is_unended, manifests)):
        some = "" if ended == len(manifests) else f"s: {ended} of {len(manifests)}"
        yield f"Unfinished run{some}"
    if any(map(is_shortened, manifests)):
        yield "Shorter than the method asks for"


def _in_full_size(manifest: Manifest) -> bool:
    return manifest.drive.capabilities.made_to_order and size_of(manifest)[0] == 1


def _title(text: str) -> str:
    """Return a title: our own word for a drive begins with a capital letter, the name of a drive stays."""
    return _sentence(text) if text.startswith("simulated ") else text


def _facts(runs: Sequence[Shown]) -> Table:
    """Return provenance, a column for each entry; a line that nobody knows anything about is left out."""
    groups = entries(runs)
    rows = []
    several = any(len(entry.runs) > 1 for entry in groups)
    for name, tell in _FACTS:
        if several and name in _OF_EACH_RUN:
            continue
        answers = [_join_answers(tell, entry) for entry in groups]
        if any(answers):
            rows.append((words(name), *(words(text or NOTHING) for text in answers)))
    heads = ("", *(entry.style.label for entry in groups))
    return Table("Where these numbers come from", heads, tuple(rows))


def _runs(runs: Sequence[Shown]) -> Table | None:
    """Return each method's run by entry: id, date and seed."""
    groups = entries(runs)
    if all(len(entry.runs) == 1 for entry in groups):
        return None
    methods = dict.fromkeys(_method(shown.run.manifest) for shown in runs)
    rows = []
    for method in methods:
        cells = []
        for entry in groups:
            own = [shown.run.manifest for shown in entry.runs if _method(shown.run.manifest) == method]
            texts = (f"{m.run_id}, {m.created[:16].replace('T', ' ')} UTC, seed {m.seed}" for m in own)
            cells.append(words("; ".join(texts) or NOTHING))
        rows.append((words(method), *cells))
    return Table("Runs", ("", *(entry.style.label for entry in groups)), tuple(rows))


def _method(manifest: Manifest) -> str:
    return f"{manifest.method.name}, version {manifest.method.version}" + (
        ", quick" if manifest.quick else ""
    )


def _join_answers(tell: Callable[[Manifest], str | None], entry: Entry) -> str:
    """Join what the runs of an entry say, each different answer once."""
    return "; ".join(dict.fromkeys(filter(None, (tell(one.run.manifest) for one in entry.runs))))


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
