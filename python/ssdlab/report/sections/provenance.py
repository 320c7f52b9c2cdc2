"""The end of the page: what the runs did, so that readers can check or repeat them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError

from ssdlab.formats import fio
from ssdlab.lab.verbs.verb import describe_step
from ssdlab.model.errors import LabError
from ssdlab.model.options import MEASURE, option_text
from ssdlab.model.units import block_text, capacity_text, counted, ends_text, significant, span_text
from ssdlab.model.workload import Mix, Ratio, RecordedOps, Workload, flush_words
from ssdlab.report.sections.specifications import flat, text
from ssdlab.results.cells import NOTHING, Cell, Table, count, seconds, words
from ssdlab.results.claim import as_sentence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ssdlab.model.workload import Stream
    from ssdlab.report.runs import Shown
    from ssdlab.results.run_folder import Step
    from ssdlab.results.schema import Manifest, ParameterInfo

# What a run did, from its finished steps: never what the method intends.
#
# Consecutive steps of one kind are described together, with the ranges of their depths, sizes, mixes and
# times. Skipped steps are mentioned.

N = TypeVar("N", int, float)

_SILENT = frozenset(
    {
        "back",
        "conditions",
        "find",
        "fork",
        "health",
        "import",
        "limit",
        "note",
        "power-features",
        "stretch",
        "trace",
    }
)
"""Verbs that neither do I/O on the drive nor change its data; only the table of steps lists them."""
_MAX_CYCLE, _MIN_CYCLES = 6, 3
"""Kinds of work in a cycle at most; cycles that are described together at least."""
_RUNS = {"fill": "Filled", "precondition": "Prepared", "one-pass": "Prepared", "run": "Measured"}


def what_was_done(steps: Iterable[Step], capacity_bytes: int) -> tuple[str, ...]:
    """Return sentences on what the finished steps of a run did, in order."""
    shown = sorted((step for step in steps if step.verb not in _SILENT), key=lambda step: step.place)
    groups = [(key, list(group)) for key, group in groupby(_without_rests(shown), key=_kind)]
    return tuple(
        sentence
        for verb, group, cycles in _folded(groups)
        for sentence in _describe(verb, group, capacity_bytes, cycles)
    )


def _folded(groups: Sequence[tuple[tuple[str, ...], list[Step]]]) -> Iterator[tuple[str, list[Step], int]]:
    """Yield verb, steps and number of cycles. Kinds of work that alternate, as in rounds, are joined."""
    kinds = [key for key, _ in groups]
    at = 0
    while at < len(groups):
        period, cycles = next(
            (
                (each, many)
                for each in range(2, _MAX_CYCLE + 1)
                if (many := _cycles(kinds[at:], each)) >= _MIN_CYCLES
            ),
            (1, 1),
        )
        for first in range(at, at + period):
            joined = [step for _, group in groups[first : at + period * cycles : period] for step in group]
            yield kinds[first][0], joined, cycles
        at += period * cycles


def _cycles(kinds: Sequence[tuple[str, ...]], period: int) -> int:
    """Return how often the first kinds occur one after another."""
    cycle, many = kinds[:period], 1
    while kinds[many * period : (many + 1) * period] == cycle:
        many += 1
    return many


def _without_rests(steps: Sequence[Step]) -> Iterator[Step]:
    """Leave out pauses between two steps of one kind, as one text describes both steps."""
    for at, step in enumerate(steps):
        between = 0 < at < len(steps) - 1 and _kind(steps[at - 1]) == _kind(steps[at + 1])
        if step.verb != "idle" or not between:
            yield step


def _kind(step: Step) -> tuple[str, ...]:
    if step.verb not in _RUNS or step.workload is None:
        return (step.verb, str(step.ordinal))
    return (step.verb, *(_doing(stream) for stream in step.ran.streams))


def _describe(verb: str, steps: Sequence[Step], capacity_bytes: int, cycles: int) -> Iterator[str]:
    if verb == "idle":
        yield f"Idle for {span_text(sum(step.result.seconds for step in steps))}."
        return
    if verb not in _RUNS or steps[0].workload is None:
        for step in steps:
            outcome = describe_step(step)
            yield as_sentence(f"{step.label}: {outcome}" if outcome else f"done: “{step.label}”")
        return
    left_out = [step for step in steps if step.result.measurement is None]
    for step in left_out:
        yield as_sentence(f"{step.label}: skipped, as all blocks were already written")
    done = [step for step in steps if step.result.measurement is not None]
    if done:
        yield _worked(verb, done, capacity_bytes, cycles)


def _worked(verb: str, steps: Sequence[Step], capacity_bytes: int, cycles: int) -> str:
    first, last = steps[0].label, steps[-1].label
    in_cycles = f" in {cycles} cycles" if cycles > 1 else ""
    labels = f"“{first}”" if len(steps) == 1 else f"{len(steps)} steps{in_cycles}, “{first}” to “{last}”"
    if again := sum(step.attempt > 1 and not step.result.segments for step in steps):
        labels += f", {'' if again == len(steps) else f'{again} of them '}repeated after an interruption"
    parts = [
        f"{_RUNS[verb]} ({labels}): {_together(steps[0].ran.streams)}",
        _range([block.bytes for each in _streams(steps) for block in each.blocks], block_text),
        f"{_range([each.in_flight for each in _streams(steps)], str)} in flight",
        _range([round(float(step.measured.elapsed_s), 9) for step in steps], span_text)
        + (" each" if len(steps) > 1 else ""),
    ]
    mixes = sorted({each.ops.read_pct for each in _streams(steps) if isinstance(each.ops, Mix)}, reverse=True)
    if any(0 < mix < 100 for mix in mixes):
        parts.insert(1, f"{_range(mixes, str)} % reads")
    written = sum(step.written_bytes for step in steps)
    if written:
        share = significant(written / capacity_bytes)
        parts.append(f"{capacity_text(written)} written ({share} drive writes)")
    return f"{', '.join(parts)}."


def _together(streams: Sequence[Stream]) -> str:
    """Return what a step's streams do; streams that do the same are counted, and follow the others."""
    counts = Counter(_doing(each) for each in streams)
    phrases = [each if many == 1 else f"{many} streams of {each}" for each, many in counts.items()]
    return " with ".join(sorted(phrases, key=lambda each: each not in counts))


def _streams(steps: Sequence[Step]) -> list[Stream]:
    return [stream for step in steps for stream in step.ran.streams]


def _doing(stream: Stream) -> str:
    order = "sequential" if stream.pattern.kind == "sequential" else "random"
    cached = "" if stream.direct else "buffered "
    every = stream.flush_every
    flushed = "" if every is None else f" with {flush_words(stream.flush, every)}"
    match stream.ops:
        case RecordedOps():
            return "recorded I/O"
        case "trim":
            return f"{order} trims"
        case Ratio():
            return f"{order} reads and writes{flushed}"
        case Mix(read_pct=100):
            return f"{order} reads"
        case Mix(read_pct=0):
            return f"{cached}{order} writes{flushed}"
    return f"{order} reads and writes{flushed}"


def _range(values: Sequence[N], text: Callable[[N], str]) -> str:
    return ends_text(text(min(values)), text(max(values)))


_FACTS = ("Drive", "Test platform", "Host and environment", "Tool")
"""Tables whose rows the runs of a page mostly share."""


@dataclass(frozen=True)
class StepsText:
    """Steps that differ in a few values: the first step as JSON, and all steps as fio jobs."""

    title: str
    workload: str
    fio: str
    """fio jobs; empty if the steps did no I/O."""
    differing: Table | None
    """The values that differ, with a row for each step; None for a single step."""


@dataclass(frozen=True)
class PanelTable(Table):
    """A table of a panel; paper keeps only some tables."""

    name: str = ""
    """Name of the table in a list of omitted tables."""
    kept: bool = False
    """Whether paper keeps the table even for many runs."""


@dataclass(frozen=True)
class AsBefore:
    """A line that replaces an omitted part, for example one that an earlier panel has too."""

    line: str
    kept: bool
    """Whether paper keeps the line even for many runs."""


@dataclass(frozen=True)
class Panel:
    run: int
    label: str
    method: str
    done: tuple[str, ...]
    prose: str
    tables: tuple[PanelTable, ...]
    steps: tuple[StepsText, ...]
    voided: tuple[str, ...]
    as_before: tuple[AsBefore, ...] = ()


def panels(runs: Sequence[Shown]) -> tuple[Panel, ...]:
    return tuple(_panel(shown) for shown in runs)


def of_all(found: Sequence[Panel]) -> tuple[tuple[PanelTable, ...], tuple[Panel, ...]]:
    """Return tables of the facts that several runs share, and the panels without these facts."""
    if len(found) < 2:
        return (), tuple(found)
    tables = []
    for each in found[0].tables:
        own = [next((one for one in panel.tables if one.name == each.name), None) for panel in found]
        rows = [row for row in each.rows if all(one is not None and row in one.rows for one in own)]
        if each.name in _FACTS and rows:
            tables.append(replace(each, rows=tuple(rows)))
    shared = {each.name: each.rows for each in tables}
    return tuple(tables), tuple(
        replace(panel, tables=tuple(left for each in panel.tables if (left := _left(each, shared)).rows))
        for panel in found
    )


def _left(table: PanelTable, shared: Mapping[str, Sequence[Sequence[Cell]]]) -> PanelTable:
    own = shared.get(table.name, ())
    return replace(table, rows=tuple(row for row in table.rows if row not in own))


def _panel(shown: Shown) -> Panel:
    manifest = shown.run.manifest
    parameters = _parameters(manifest)
    others = (
        _facts("Drive", manifest.drive.model_dump(mode="json")),
        _platform(manifest.environment.get("platform")),
        _facts("Host and environment", _without_platform(manifest.environment)),
        _facts("Tool", {**manifest.tool, "engine": manifest.engine, "seed": manifest.seed}),
        _requirements(manifest),
        _steps(shown.run.steps),
        _files(manifest),
    )
    return Panel(
        run=shown.index,
        label=shown.label,
        method=f"{manifest.method.title} ({manifest.method.name}, version {manifest.method.version})",
        done=what_was_done(shown.run.steps, manifest.drive.capacity_bytes),
        prose=manifest.method.prose,
        tables=tuple(
            PanelTable(**vars(table), name=table.caption.partition(" (")[0], kept=table is parameters)
            for table in (parameters, *others)
            if table.rows
        ),
        steps=tuple(_steps_text(alike, manifest) for alike in _of_one_kind(shown.run.steps)),
        voided=shown.run.voided,
    )


def _parameters(manifest: Manifest) -> Table:
    known = {parameter.name: parameter for parameter in manifest.method.parameters}
    measured = manifest.method.name == MEASURE
    rows = []
    for name, value in manifest.params.items():
        info = known.get(name)
        rows.append(
            (
                words(name),
                words(
                    option_text(name, value)
                    if measured and isinstance(value, dict | list)
                    else _amount(value, info)
                ),
                words(_amount(info.default, info) if info else NOTHING),
                words(info.reason if info else ""),
            )
        )
    return Table("Parameters", ("Name", "Value", "Default", "Why"), tuple(rows))


def _amount(value: object, info: ParameterInfo | None) -> str:
    shown = text(value)
    return f"{shown} {info.unit_of(value)}".strip() if info and shown != NOTHING else shown


def _facts(caption: str, tree: Mapping[str, object]) -> Table:
    rows = tuple((words(name), words(text(value))) for name, value in flat(tree))
    return Table(caption, ("What", "Found"), rows)


def _without_platform(environment: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in environment.items() if name != "platform"}


def _platform(found: object) -> Table:
    platform = found if isinstance(found, dict) else {}
    listed = platform.get("components")
    components = [one for one in (listed if isinstance(listed, list) else ()) if isinstance(one, dict)]
    caption = " ".join(["Test platform", *([f"({platform['name']})"] if platform.get("name") else [])])
    priced = any(one.get("price") for one in components)
    rows = []
    for one in components:
        row = [words(str(one.get("title") or NOTHING)), _component(one)]
        rows.append((*row, words(str(one.get("price") or NOTHING))) if priced else tuple(row))
    return Table(caption, ("Component", "What it is", *(("Price",) if priced else ())), tuple(rows))


def _component(one: Mapping[str, object]) -> Cell:
    link = str(one.get("link") or "")
    return replace(
        words(str(one.get("name") or "unknown")),
        link=link if link.startswith(("https://", "http://")) else None,
    )


def _requirements(manifest: Manifest) -> Table:
    rows = [(words("drive state"), words(need)) for need in manifest.method.needs]
    rows += [(words(name), words(value)) for name, value in manifest.method.conditions.items()]
    return Table("What the method requires", ("What", "Required"), tuple(rows))


def _steps(steps: Sequence[Step]) -> Table:
    rows = tuple(
        (
            count(step.ordinal),
            words(step.verb),
            words(step.label),
            count(step.attempt),
            seconds(step.result.seconds),
            _facts_of(step),
        )
        for step in steps
    )
    return Table("Steps that count", ("Step", "Verb", "Label", "Attempt", "Took", "Found"), rows)


def _facts_of(step: Step) -> Cell:
    found = [f"{name}: {text(value)}" for name, value in flat(step.result.facts)]
    return words("; ".join([*found, *(warned.what for warned in step.result.warnings)]))


def _files(manifest: Manifest) -> Table:
    rows = tuple((words(table.name), count(table.rows), words(table.sha256)) for table in manifest.tables)
    return Table("Raw data beside this page", ("File", "Rows", "SHA-256"), rows)


def _of_one_kind(steps: Iterable[Step]) -> Iterable[list[list[Step]]]:
    """Group steps whose workloads have the same fields; within a group, join steps that differ only in seeds.

    For example, 25 rounds repeat the same cells, and the points of a sweep differ only in depth.
    """
    found: dict[tuple[str, ...], dict[str, list[Step]]] = {}
    for step in steps:
        leaves = dict(flat(_seedless(_asked(step))))
        kind = (step.verb, *leaves)
        found.setdefault(kind, {}).setdefault(json.dumps(leaves, sort_keys=True), []).append(step)
    return [list(each.values()) for each in found.values()]


def _asked(step: Step) -> Any:  # noqa: ANN401 - whatever JSON holds
    return _given(step.args if step.args.get("workload") is None else step.args["workload"])


def _given(value: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return JSON without null members, which request nothing."""
    if isinstance(value, dict):
        return {name: _given(inner) for name, inner in value.items() if inner is not None}
    return [_given(inner) for inner in value] if isinstance(value, list) else value


def _seedless(value: object) -> Any:  # noqa: ANN401 - whatever JSON holds
    if isinstance(value, dict):
        return {name: _seedless(inner) for name, inner in value.items() if name != "seed"}
    return [_seedless(inner) for inner in value] if isinstance(value, list) else value


def _steps_text(kind: Sequence[Sequence[Step]], manifest: Manifest) -> StepsText:
    first, last = kind[0][0], kind[-1][-1]
    several = len(kind) > 1
    title = f"Step {first.ordinal + 1}: {first.label}" + ("" if several else _others(kind[0]))
    if several:
        title = (
            f"{counted(sum(map(len, kind)), 'step')}, {first.ordinal + 1} to {last.ordinal + 1}: "
            f"{first.label} to {last.label}"
        )
    steps = [step for step, *_ in kind] if first.args.get("workload") is not None else []
    asked = json.dumps(_asked(first), indent=1, ensure_ascii=False)
    return StepsText(title, asked, _fio(steps, manifest), _differing(kind) if several else None)


def _fio(steps: Sequence[Step], manifest: Manifest) -> str:
    if not steps:
        return ""
    try:
        asked = [
            (f"{step.ordinal + 1} {step.label}", Workload.model_validate(step.args["workload"]))
            for step in steps
        ]
        drive = manifest.drive
        facts = (drive.capabilities, drive.text, drive.capacity_bytes, drive.logical_block_bytes)
        return fio.job_file(asked, fio.Target.of(*facts))
    except (ValidationError, LabError) as error:
        return f"# no equivalent: {error}"


def _others(alike: Sequence[Step]) -> str:
    """Return how many more steps differ only in their seeds, and the last of these."""
    _, *others = alike
    if not others:
        return ""
    last = others[-1]
    return f"; {counted(len(others), 'more step')} to {last.ordinal + 1}, {last.label}, with other seeds"


def _differing(kind: Sequence[Sequence[Step]]) -> Table:
    leaves = [dict(flat(_seedless(_asked(step)))) for step, *_ in kind]
    names = [name for name in leaves[0] if len({json.dumps(each.get(name)) for each in leaves}) > 1]
    rows = tuple(
        (
            count(own[0].ordinal),
            words(f"{own[0].label}{_others(own)}"),
            *(words(text(found.get(name))) for name in names),
        )
        for own, found in zip(kind, leaves, strict=True)
    )
    return Table("What differs", ("Step", "Label", *names), rows)
