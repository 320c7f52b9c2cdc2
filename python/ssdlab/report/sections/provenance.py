"""The end of the page: how the numbers were made, for a reader who wants to check or repeat them."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pydantic import ValidationError

from ssdlab.formats import fio
from ssdlab.methods.presented.procedure import what_was_done
from ssdlab.model.errors import LabError
from ssdlab.model.load_options import MEASURE, option_text
from ssdlab.model.units import counted
from ssdlab.model.workload import Workload
from ssdlab.report.tree import flat, text
from ssdlab.results.numbers import NOTHING, Cell, Table, count, seconds, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ssdlab.report.runs import Shown
    from ssdlab.results.run_folder import Step
    from ssdlab.results.schema import DriveInfo, Manifest, ParameterInfo


@dataclass(frozen=True)
class StepText:
    """One step: its workload as JSON, and the same as a fio command line where it did I/O."""

    title: str
    workload: str
    fio: str


@dataclass(frozen=True)
class PanelTable(Table):
    """A table of a panel, of which paper keeps some."""

    name: str = ""
    """What it is called in a list of those left out; the caption may say more of it."""
    kept: bool = False
    """Whether it stands on paper of many runs too."""


@dataclass(frozen=True)
class AsBefore:
    """What is not said again, since it is as of an earlier panel."""

    line: str
    kept: bool
    """Likewise."""


@dataclass(frozen=True)
class Panel:
    """How one run was measured."""

    run: int
    label: str
    method: str
    done: tuple[str, ...]
    """What was done, from the steps that count."""
    prose: str
    """What the method is and does in full."""
    tables: tuple[PanelTable, ...]
    steps: tuple[StepText, ...]
    voided: tuple[str, ...]
    as_before: tuple[AsBefore, ...] = ()


def panels(runs: Sequence[Shown]) -> tuple[Panel, ...]:
    """One panel for each run."""
    return tuple(_panel(shown) for shown in runs)


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
            PanelTable(**vars(table), name=table.caption, kept=table is parameters)
            for table in (parameters, *others)
            if table.rows
        ),
        steps=tuple(_step(alike, manifest) for alike in _alike(shown.run.steps)),
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
    """Return a value of a parameter with its unit; what is none has none."""
    shown = text(value)
    return f"{shown} {info.unit_of(value)}".strip() if info and shown != NOTHING else shown


def _facts(caption: str, tree: Mapping[str, object]) -> Table:
    rows = tuple((words(name), words(text(value))) for name, value in flat(tree))
    return Table(caption, ("What", "Found"), rows)


def _without_platform(environment: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in environment.items() if name != "platform"}


def _platform(found: object) -> Table:
    """Return the component table of the test platform; what nobody knows is said to be unknown."""
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


def _fio_target(drive: DriveInfo) -> fio.Target:
    kind = drive.capabilities
    path = None if kind.made_to_order else drive.text
    return fio.Target(path, kind.block_device, drive.capacity_bytes, drive.logical_block_bytes)


def _alike(steps: Iterable[Step]) -> Iterable[Sequence[Step]]:
    """Return steps that differ by their seeds alone together: twenty-five rounds ask for the same cells."""
    found: dict[str, list[Step]] = {}
    for step in steps:
        found.setdefault(json.dumps([step.verb, _seedless(step.args)], sort_keys=True), []).append(step)
    return found.values()


def _seedless(value: object) -> object:
    if isinstance(value, dict):
        return {name: _seedless(inner) for name, inner in value.items() if name != "seed"}
    return value


def _step(alike: Sequence[Step], manifest: Manifest) -> StepText:
    """Return the first of steps that are alike, and how many others there are."""
    step, *others = alike
    title = f"Step {step.ordinal + 1}: {step.label}"
    if others:
        last = others[-1]
        title += (
            f"; {counted(len(others), 'more step')} to {last.ordinal + 1}, {last.label}, with other seeds"
        )
    stored = step.args.get("workload")
    if stored is None:
        return StepText(title, json.dumps(step.args, indent=1, ensure_ascii=False), "")
    drive = manifest.drive
    try:
        workload = Workload.model_validate(stored)
        line = fio.command(workload, _fio_target(drive))
    except (ValidationError, LabError) as error:
        line = f"# no equivalent: {error}"
    return StepText(title, json.dumps(stored, indent=1, ensure_ascii=False), line)
