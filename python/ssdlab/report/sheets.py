"""The tables of an export: figures by drive, runs, steps, interval rows, histograms, power.

Values are as stored, in base units. The unit is in a column of its own, or at the end of the heading.
"""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np

from ssdlab.model.printable import styled
from ssdlab.model.summary import PERCENTILES
from ssdlab.report.body import placed_of
from ssdlab.report.runs import review_of
from ssdlab.report.source import is_unended
from ssdlab.results import tables
from ssdlab.results.qualifiers import CATALOGUE, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import numpy.typing as npt

    from ssdlab.report.runs import Shown
    from ssdlab.report.source import Reported, Run
    from ssdlab.results.metric import Metric

    _Maker = Callable[[Sequence[Shown]], Iterator["Column"]]

SheetName = Literal["figures", "runs", "qualifiers", "steps", "series", "histograms", "power", "telemetry"]
NAMES: tuple[SheetName, ...] = get_args(SheetName)
_RUN = {"run": "VARCHAR", "drive": "VARCHAR", "step": "INTEGER", "step_label": "VARCHAR"}
_TIMES = ("start_ns", "end_ns", "at_ns")
_QUANTILES = ("min", "mean", *PERCENTILES, "max")
_SERIES = {name: kind for name, kind in tables.SERIES_COLUMNS.items() if name != "ordinal"}
_HISTOGRAMS = {name: kind for name, kind in tables.HIST_COLUMNS.items() if name not in ("ordinal", "row")}
_POWER = {name: tables.POWER_COLUMNS[name] for name in ("attempt", "end_ns", "mean_w")}
_TELEMETRY = {name: kind for name, kind in tables.TELEMETRY_COLUMNS.items() if name != "ordinal"}


def _in_seconds(columns: Mapping[str, str]) -> dict[str, str]:
    return {
        name.replace("_ns", "_s") if name in _TIMES else name: "DOUBLE" if name in _TIMES else kind
        for name, kind in columns.items()
    }


FIRST: dict[SheetName, dict[str, str]] = {
    "figures": dict.fromkeys(("method", "name", "label", "unit", "better"), "VARCHAR"),
    "runs": {
        **dict.fromkeys(("run", "review", "part", "method"), "VARCHAR"),
        "version": "INTEGER",
        **dict.fromkeys(("drive", "drive_name", "drive_id", "firmware", "serial"), "VARCHAR"),
        "capacity_bytes": "BIGINT",
        **dict.fromkeys(("begun", "status"), "VARCHAR"),
        "quick": "BOOLEAN",
        **dict.fromkeys(("engine", "ssdlab", "parameters"), "VARCHAR"),
    },
    "qualifiers": dict.fromkeys(("label", "sentence", "advice", "forbids", "why"), "VARCHAR"),
    "steps": {
        **_RUN,
        "direction": "VARCHAR",
        "seconds": "DOUBLE",
        **dict.fromkeys(("ios", "failed", "bytes"), "BIGINT"),
        **dict.fromkeys(("iops", "mb_s"), "DOUBLE"),
        **{f"{clock}_{name}_ns": "DOUBLE" for clock in ("service", "response") for name in _QUANTILES},
        "mean_w": "DOUBLE",
    },
    "series": _RUN | _in_seconds(_SERIES),
    "histograms": _RUN | _HISTOGRAMS,
    "power": _RUN | _in_seconds(_POWER),
    "telemetry": _RUN | _in_seconds(_TELEMETRY),
}
"""Headings of each table with their SQL types; in `figures`, columns for the drives follow."""


class Column(NamedTuple):
    """A column of a table: its heading, SQL type and values. In a DOUBLE column NaN is an empty cell."""

    heading: str
    kind: str
    values: npt.NDArray[Any]

    def cells(self) -> list[Any]:
        """Return the values as Python objects; None is an empty cell."""
        found: list[Any] = self.values.tolist()
        if self.kind != "DOUBLE":
            return found
        return [
            value if finite else None for value, finite in zip(found, np.isfinite(self.values), strict=True)
        ]


class Sheet(NamedTuple):
    name: SheetName
    columns: tuple[Column, ...]

    @property
    def length(self) -> int:
        return len(self.columns[0].values)

    def rows(self) -> Iterator[tuple[Any, ...]]:
        return zip(*(column.cells() for column in self.columns), strict=True)


def sheets_of(runs: Sequence[Reported], names: Sequence[SheetName] = NAMES) -> tuple[Sheet, ...]:
    """Return the tables of these runs; a suite or comparison includes all its runs.

    Raises
    ------
    UsageError
        There is no run, or a run is given twice.
    """
    placed = placed_of(runs)
    return tuple(Sheet(name, tuple(_MAKERS[name](placed))) for name in names)


def _figures(placed: Sequence[Shown]) -> Iterator[Column]:
    """Yield the headline figures, with a column for each drive and another one for its qualifiers."""
    methods: dict[str, dict[tuple[str, ...], dict[str, Metric]]] = defaultdict(dict)
    for one in placed:
        for each in one.run.result.scalars:
            row = (each.name, each.label, each.unit, each.better)
            methods[one.run.manifest.method.name].setdefault(row, {})[one.label] = each
    rows = [((method, *row), own) for method, found in methods.items() for row, own in found.items()]
    yield from _columns("figures", [row for row, _ in rows])
    for label in dict.fromkeys(one.label for one in placed):
        own = [found.get(label) for _, found in rows]
        values = [np.nan if each is None or each.value is None else each.value for each in own]
        yield Column(styled(label), "DOUBLE", np.array(values, dtype=np.float64))
        yield _words(f"{label}: qualifiers", ("" if each is None else _beside(each) for each in own))


def _beside(figure: Metric) -> str:
    """Return the labels to show with a value; all labels if there is no value."""
    bound = figure.bound if figure.value is not None else None
    return ", ".join(filter(None, (bound, figure.state)))


def _runs(placed: Sequence[Shown]) -> Iterator[Column]:
    lines = []
    for one in placed:
        manifest = one.run.manifest
        member, drive = manifest.member, manifest.drive
        lines.append(
            (
                manifest.run_id,
                review_of(one.run),
                "" if member is None else member.part,
                manifest.method.name,
                manifest.method.version,
                one.label,
                drive.name,
                drive.id,
                drive.identity.get("firmware") or "",
                drive.identity.get("serial") or "",
                drive.capacity_bytes,
                manifest.created,
                "not finished" if is_unended(manifest) else "finished",
                manifest.quick,
                manifest.engine,
                manifest.tool.get("version") or "",
                json.dumps(manifest.params, ensure_ascii=False),
            )
        )
    return _columns("runs", lines)


def _qualifiers(placed: Sequence[Shown]) -> Iterator[Column]:
    """Yield the meaning of the qualifiers that these figures have, the gravest first."""
    whys: dict[str, dict[str, None]] = {code: {} for code in CATALOGUE}
    having = set()
    for one in placed:
        for each in (own for figure in one.run.result.scalars for own in figure.qualifiers):
            code = each.code if each.code in CATALOGUE else UNKNOWN
            having.add(code)
            whys[code] |= {each.why: None} if each.why else {}
    return _columns(
        "qualifiers",
        [
            (kind.label, kind.sentence, kind.advice, ", ".join(sorted(kind.forbids)), "; ".join(whys[code]))
            for code, kind in CATALOGUE.items()
            if code in having
        ],
    )


def _steps(placed: Sequence[Shown]) -> Iterator[Column]:
    """Yield the results of each step, with a line per direction; power is for both directions together."""
    return _columns(
        "steps",
        [
            (
                one.run.manifest.run_id,
                one.label,
                step.ordinal + 1,
                step.label,
                direction,
                summary.counted_s,
                side.ios,
                side.failed,
                side.bytes,
                summary.iops_of(direction),
                summary.mb_s_of(direction),
                *(
                    _number(times.get(name))
                    for times in (side.service_ns, side.response_ns)
                    for name in _QUANTILES
                ),
                _number(summary.mean_w),
            )
            for one in placed
            for step in one.run.steps
            if (summary := step.summary) is not None
            for direction, side in summary.sides.items()
        ],
    )


def _number(value: float | None) -> float:
    return np.nan if value is None else value


def _table(of: Callable[[Run], tables.Columns], columns: Mapping[str, str]) -> _Maker:
    """Return a function that makes a table of the run folder, with times in seconds."""

    def made(placed: Sequence[Shown]) -> Iterator[Column]:
        found = [of(one.run) for one in placed]
        yield from _of_steps(placed, found)
        for name, kind in columns.items():
            values = np.concatenate([each[name] for each in found])
            if name in _TIMES:
                yield Column(name.replace("_ns", "_s"), "DOUBLE", values / 1e9)
            else:
                yield _plain(name, kind, values)

    return made


_MAKERS: dict[SheetName, _Maker] = {
    "figures": _figures,
    "runs": _runs,
    "qualifiers": _qualifiers,
    "steps": _steps,
    "series": _table(lambda run: run.series, _SERIES),
    "histograms": _table(lambda run: run.hist, _HISTOGRAMS),
    "power": _table(lambda run: run.power, _POWER),
    "telemetry": _table(lambda run: run.telemetry, _TELEMETRY),
}


def _of_steps(placed: Sequence[Shown], found: Sequence[tables.Columns]) -> Iterator[Column]:
    """Yield run, drive, step number (from 1) and step label for each line."""
    lengths = [len(each["ordinal"]) for each in found]
    for name, texts in (
        ("run", [one.run.manifest.run_id for one in placed]),
        ("drive", [one.label for one in placed]),
    ):
        yield Column(name, "VARCHAR", np.repeat(_texts(texts), lengths))
    yield Column("step", "INTEGER", np.concatenate([each["ordinal"] + 1 for each in found]))
    labels = []
    for one, each in zip(placed, found, strict=True):
        known = {step.ordinal: step.label for step in one.run.steps}
        ordinals, place = np.unique(each["ordinal"], return_inverse=True)
        labels.append(_texts(known.get(ordinal, "") for ordinal in ordinals.tolist())[place])
    yield Column("step_label", "VARCHAR", np.concatenate(labels))


def _columns(name: SheetName, lines: Sequence[tuple[Any, ...]]) -> Iterator[Column]:
    """Yield the columns of `FIRST` for a table, from its lines."""
    for at, (heading, kind) in enumerate(FIRST[name].items()):
        values = [line[at] for line in lines]
        yield (
            _words(heading, values)
            if kind == "VARCHAR"
            else Column(heading, kind, np.array(values, dtype=tables.dtype(kind)))
        )


def _plain(name: str, kind: str, values: npt.NDArray[Any]) -> Column:
    return _words(name, values.tolist()) if kind == "VARCHAR" else Column(name, kind, values)


def _words(heading: str, values: Iterable[Any]) -> Column:
    return Column(styled(heading), "VARCHAR", _texts(values))


def _texts(values: Iterable[Any]) -> npt.NDArray[Any]:
    """Return texts as an array, without characters that files cannot hold."""
    return np.array([styled(str(each)) for each in values], dtype=np.object_)
