"""A run's row in the library's catalogue: the columns, and how a manifest becomes a row."""

from __future__ import annotations

import re
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from ssdlab.model.capabilities import SIMULATED_PREFIX
from ssdlab.model.errors import Refused, UsageError, excerpt
from ssdlab.model.frozen import Stored, absent
from ssdlab.model.options import MEASURE, load_options
from ssdlab.results.kin import MARKS, OF_FIGURES, VARIES, unfit_of
from ssdlab.results.lines import RESTORE
from ssdlab.results.metered import meter_of, of_watts
from ssdlab.results.metric import varies_by
from ssdlab.results.remarks import FIRST_BYTES, span_of
from ssdlab.results.run_folder import MANIFEST, read_manifest
from ssdlab.results.schema import Metric, SealState
from ssdlab.results.tags import read_tags

if TYPE_CHECKING:
    from ssdlab.host.documents import Document
    from ssdlab.results.metered import MeterRecord
    from ssdlab.results.run_folder import RunFolder
    from ssdlab.results.schema import Manifest

# Queries use these tables of columns and types, not the model `Row`, which checks what is written: building
# a model takes longer than a query.

ROW_SCHEMA = "ssdlab.row/10"
"""2 adds what is not proven of a figure, 3 the meter of a power figure, 4 the depth of a latency if each run
chooses it. 5 seals rows as documents. 6 has the workload of a saved measurement as its settings. 7 has codes
of qualifiers. 8 adds the variation of figures, and the part of the drive that a run was limited to. 9 adds
the simulator's version, the software, and whether a run was replaced; independent points are no longer
settings. 10 adds host, rack, firmware and a user's profile."""
ROW_SEALED_SINCE = 5
REPLACED, WAITING = "replaced", "waiting"
"""Status of a finished run that its suite has repeated, or is repeating: it no longer counts."""
FIGURE_COLUMNS = {
    "name": "VARCHAR",
    "label": "VARCHAR",
    "value": "DOUBLE",
    "unit": "VARCHAR",
    "better": "VARCHAR",
    "unfit": "VARCHAR",
    "meter": "VARCHAR",
    "load": "VARCHAR",
    "marks": "VARCHAR",
    "varies": "DOUBLE",
}
COLUMNS = {
    "folder": "VARCHAR",
    "entered": "BIGINT",
    "gone": "BOOLEAN",
    "run_id": "VARCHAR",
    "status": "VARCHAR",
    "method": "VARCHAR",
    "version": "INTEGER",
    "settings": "VARCHAR",
    "quick": "BOOLEAN",
    "engine": "VARCHAR",
    "scale": "INTEGER",
    "spare": "DOUBLE",
    "span": "BIGINT",
    "variant": "VARCHAR",
    "departures": "VARCHAR",
    "warnings": "INTEGER",
    "drive_id": "VARCHAR",
    "drive_name": "VARCHAR",
    "drive_kind": "VARCHAR",
    "simulator": "VARCHAR",
    "profile": "VARCHAR",
    "software": "VARCHAR",
    "capacity_bytes": "BIGINT",
    "host": "VARCHAR",
    "rack": "VARCHAR",
    "firmware": "VARCHAR",
    "seed": "VARCHAR",
    "tool": "VARCHAR",
    "created": "VARCHAR",
    "suite": "VARCHAR",
    "seal": "VARCHAR",
    "tags": "VARCHAR[]",
    **{f"figure_{name}": f"{kind}[]" for name, kind in FIGURE_COLUMNS.items()},
}
"""The fields of `Row` as SQL types. Each figure column is a list: with a list of records, a query would read
all fields to find one."""
_KINDS: dict[str, type | tuple[type, ...]] = {
    "VARCHAR": str,
    "BIGINT": int,
    "INTEGER": int,
    "BOOLEAN": bool,
    "DOUBLE": (int, float, type(None)),
}


def is_row(stored: Document) -> bool:
    """Whether a stored row has all columns, with values of the right types."""
    plain = all(
        isinstance(stored.get(name, ...), _KINDS[kind])
        for name, kind in COLUMNS.items()
        if kind in _KINDS and not (name == "span" and stored.get(name, ...) is None)
    )
    tags, figures = stored.get("tags"), stored.get("figures")
    return (
        plain
        and isinstance(tags, list)
        and all(isinstance(tag, str) for tag in tags)
        and isinstance(figures, list)
        and all(_is_figure(figure) for figure in figures)
    )


def _is_figure(stored: object) -> bool:
    return isinstance(stored, dict) and all(
        isinstance(stored.get(name, ...), _KINDS[kind])
        for name, kind in FIGURE_COLUMNS.items()
        if name not in (*OF_FIGURES, MARKS, VARIES) or stored.get(name) is not None
    )


def columns_of(row: Document) -> Document:
    """Return a row with its figures as one list for each column."""
    figures = row["figures"]
    return dict(row) | {f"figure_{name}": [each.get(name) for each in figures] for name in FIGURE_COLUMNS}


class RowFigure(Stored):
    """A headline figure in a row, with the properties that ranked figures must share."""

    name: str
    label: str
    value: float | None
    unit: str
    better: Literal["higher", "lower"]
    unfit: str | None = Field(
        None, exclude_if=absent, description="codes of qualifiers that forbid ranking, sorted"
    )
    meter: str | None = Field(
        None, exclude_if=absent, description="for power figures: see `MeterRecord.identity`"
    )
    load: str | None = Field(None, exclude_if=absent, description="see `Metric.load`")
    marks: str | None = Field(None, exclude_if=absent, description="codes of the other qualifiers, sorted")
    varies: float | None = Field(
        None, exclude_if=absent, description="see `metric.varies_by`, in the unit; absent: unknown"
    )


class Row(Stored):
    """The catalogue's row for a run folder; `gone` marks a folder that was removed."""

    schema_version: str = Field(default=ROW_SCHEMA, alias="schema")
    folder: str = Field(description="name of the run folder in the library")
    entered: int = Field(description="time of entry, ns since 1970: the newest row of a folder counts")
    gone: bool = False
    run_id: str = ""
    status: str = ""
    method: str = ""
    version: int = 0
    settings: str = Field(
        default="", description="parameters that differ from the method's defaults, name=value"
    )
    quick: bool = False
    engine: str = ""
    scale: int = 1
    spare: float | None = Field(default=None, description="requested share, 0 to 1; None: the drive's own")
    span: int | None = Field(
        default=None, description="the drive's first bytes that the run was limited to; None: all"
    )
    variant: str = ""
    departures: str = Field(default="", description="their codes, sorted, without the one for `span`")
    warnings: int = 0
    drive_id: str = ""
    drive_name: str = ""
    drive_kind: str = ""
    simulator: str = Field(default="", description="see `simulator_of`; empty: a real drive, or not recorded")
    profile: str = Field(default="", description="digest of a user's profile of a simulated drive")
    software: str = Field(default="", description="see `software_of`")
    capacity_bytes: int = 0
    host: str = Field(default="", description="host that it ran on first; empty: not kept")
    rack: str = Field(default="", description="rack of that host; empty: not named")
    firmware: str = Field(default="", description="the drive's; empty: not known, or of several drives")
    seed: str = ""
    tool: str = ""
    created: str = ""
    suite: str = Field(default="", description="run id of its suite")
    seal: SealState = "sealed"
    tags: tuple[str, ...] = ()
    figures: tuple[RowFigure, ...] = ()


def row_of(run: RunFolder, seal: SealState) -> Row:
    """Return a run's row for the catalogue.

    Raises
    ------
    Refused
        The manifest matches its seal, but its result is invalid.
    """
    try:
        return _row_of(run, seal)
    except (ValueError, TypeError, AttributeError, KeyError, OverflowError) as error:
        path = run.path / MANIFEST
        what = f"{path} is damaged: its result cannot be read ({excerpt(str(error).partition(chr(10))[0])})"
        raise Refused(what, RESTORE, path=str(path)) from error


def _row_of(run: RunFolder, seal: SealState) -> Row:
    manifest = run.manifest
    figures: Any = (manifest.result or {}).get("scalars") or []
    meter = meter_of(manifest)
    return Row(
        folder=run.path.name,
        entered=time.time_ns(),
        run_id=manifest.run_id,
        status=_status(run),
        **kinship(manifest),
        warnings=len(manifest.warnings),
        software=software_of(manifest),
        drive_id="" if manifest.several_drives else manifest.drive.id,
        drive_name=manifest.drive_names,
        capacity_bytes=manifest.drive.capacity_bytes,
        host=_place(manifest, "hostname"),
        rack=_place(manifest, "rack"),
        firmware="" if manifest.several_drives else str(manifest.drive.identity.get("firmware") or ""),
        seed=str(manifest.seed),
        tool=str(manifest.tool.get("version", "")),
        created=manifest.created,
        suite="" if manifest.member is None else manifest.member.suite,
        seal=seal,
        tags=read_tags(run.path),
        figures=tuple(figure_of(Metric.model_validate(each), meter) for each in figures),
    )


def _place(manifest: Manifest, name: str) -> str:
    place = manifest.environment.get("place")
    found = place.get(name) if isinstance(place, dict) else None
    return found if isinstance(found, str) else ""


def _status(run: RunFolder) -> str:
    """Return a run's status; `REPLACED` or `WAITING` if its suite has another run for that part."""
    manifest = run.manifest
    if manifest.status == "finished" and manifest.member is not None:
        folder = run.path.parent / manifest.member.suite
        with suppress(Refused):  # no suite, or a damaged one, replaces nothing
            suite = read_manifest(folder) if (folder / MANIFEST).is_file() else None
            replaced = () if suite is None else suite.replaced
            if any(each.old.run_id == run.path.name for each in replaced if not each.old.standing):
                return REPLACED
            if suite is not None and any(each.run_id == run.path.name for each in suite.redoing):
                return WAITING
    return manifest.status


def figure_of(figure: Metric, meter: MeterRecord | None) -> RowFigure:
    varies = varies_by(figure)
    return RowFigure(
        name=figure.name,
        label=figure.label,
        value=figure.value,
        unit=figure.unit,
        better=figure.better,
        unfit=unfit_of(each.code for each in figure.unfit("ranking")),
        meter=None if meter is None or not of_watts(figure) else meter.identity,
        load=None if figure.load is None else figure.load.words,
        marks=unfit_of(each.code for each in figure.qualifiers if "ranking" not in each.kind.forbids),
        varies=None if varies is None else varies.amount,
    )


def kinship(manifest: Manifest) -> dict[str, Any]:
    """Return the properties that runs must share to be ranked together, by column; see `kin`."""
    scale, spare = size_of(manifest)
    variant = manifest.drive.variant
    simulator, _, profile = simulator_of(manifest).partition(", profile ")
    return {
        "method": manifest.method.name,
        "version": manifest.method.version,
        "settings": _settings(manifest),
        "quick": manifest.quick,
        "engine": manifest.engine,
        "drive_kind": manifest.drive.kind,
        "simulator": simulator,
        "profile": profile,
        "scale": scale,
        "spare": spare,
        "span": span_of(manifest),
        "variant": "" if variant is None else ", ".join(variant.words),
        "departures": ", ".join(sorted({each.code for each in manifest.departures} - {FIRST_BYTES})),
    }


def _settings(manifest: Manifest) -> str:
    """Return the parameters that differ from the preset; for a measurement, the options of its load."""
    if manifest.method.name == MEASURE:
        return " ".join(f"{name}={text}" for name, text in load_options(manifest.params).items())
    presets = {p.name: p.quick if manifest.quick else p.default for p in manifest.method.parameters}
    apart = {p.name for p in manifest.method.parameters if p.points == "each"}
    own = {
        name: value
        for name, value in manifest.params.items()
        if name not in apart and presets.get(name, value) != value
    }
    return " ".join(f"{name}={value}" for name, value in sorted(own.items()))


def simulator_of(manifest: Manifest) -> str:
    """Return the simulator's version, with a user's profile; empty: a real drive, or not recorded."""
    return str(manifest.tool.get("simulator") or "")


def software_of(manifest: Manifest) -> str:
    """Return the software of a run: ``ssdlab 0.2.0, Python 3.11, Linux 6.18, Debian GNU/Linux 12``.

    Runs with different software stay comparable, with a remark.
    """
    if program := manifest.tool.get("imported_from"):
        return str(program).replace(",", "")
    tool, kernel = dict(manifest.tool), _table(manifest.environment.get("kernel"))
    parts = _table(manifest.environment.get("platform")).get("components")
    system = next(
        (
            each.get("name")
            for each in map(_table, parts if isinstance(parts, list) else ())
            if each.get("part") == "operating_system"
        ),
        None,
    )
    found = (
        ("ssdlab ", str(tool.get("version") or "")),
        ("Python ", _series(tool.get("python"))),
        ("Linux ", _series(kernel.get("release"))),
        ("", str(system or "").replace(",", "")),
    )
    return ", ".join(f"{of}{value}" for of, value in found if value)


def _table(found: object) -> dict[str, Any]:
    return found if isinstance(found, dict) else {}


def _series(version: object) -> str:
    return ".".join(re.findall(r"\d+", str(version or ""))[:2])


def size_of(manifest: Manifest) -> tuple[int, float | None]:
    """Return the scale of a simulated drive, else 1, and the requested spare share; None: the drive's own."""
    drive = manifest.drive
    if drive.text.startswith(SIMULATED_PREFIX):
        from ssdlab.drives.simulated.text import SimulatedText

        try:
            text = SimulatedText.parse(drive.text)
        except UsageError:  # another version of ssdlab wrote the text
            return 1, None
        return text.scale, text.spare
    usable = None if drive.variant is None else drive.variant.usable
    return 1, None if usable is None else usable.spare
