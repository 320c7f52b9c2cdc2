"""The header that SNIA's specification requires on every page of a test.

A page is a figure. `pages` puts the header above each figure of a section::

    figures = pages(kept, figures)

The header has a line (test, page, setting, specification, times, drive, tester, auditor) and four columns of
facts. Below these are the further facts that section 5 requires, the departures of the runs, and the points
that the text leaves open. Unknown facts are printed as unknown.

This module also builds the section of a test from its findings and pages, and the pages of the demand tests.

Source: SNIA SSS PTS 2.0.2, common reporting requirements (section 5) and the sample header of its tests.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from ssdlab.plugin import (
    Buttons,
    Exhibit,
    Figure,
    HeatChart,
    PurgeFacts,
    Section,
    SettingsFacts,
    Sheet,
    Table,
    XyChart,
    block_text,
    capacity_text,
    commands_held,
    departure_text,
    engine_words,
    fact,
    file_system,
    interface,
    leads,
    link_of,
    medium,
    now,
    profile_of,
    share_text,
    significant,
    text,
    throughput_text,
)

from .demand_findings import findings as demand_findings
from .result import DemandResult, PtsBase

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ssdlab.plugin import Claim, Manifest, Shown, Step

    from .result import Stimulus

    Rows = tuple[tuple[str, str], ...]

    from ssdlab.plugin import Chart


UNKNOWN = "unknown"
NONE = "none"
R = TypeVar("R", bound=PtsBase)


def pages(
    kept: Sequence[tuple[Shown, PtsBase]], figures: Sequence[Figure], groups: Sequence[str] = ()
) -> tuple[Figure, ...]:
    """Return the figures as pages of a test, each under the header of its runs.

    Parameters
    ----------
    figures
        All pages of the test, in order.
    groups
        Group of cells that each figure shows, if the test has several; empty text: all groups.
    """
    about = groups or [""] * len(figures)
    return tuple(
        replace(
            figure,
            wide=True,
            sheets=tuple(sheet(shown, result, at, len(figures), group) for shown, result in kept),
        )
        for at, (figure, group) in enumerate(zip(figures, about, strict=True), start=1)
    )


def sheet(shown: Shown, result: PtsBase, page: int, of: int, group: str = "") -> Sheet:
    """Return the header of one page for one run."""
    manifest = shown.run.manifest
    return Sheet(
        run=shown.index,
        line=_line(manifest, result, page, of),
        columns=(
            ("Test platform", _platform(manifest)),
            ("Device under test", _device(manifest, shown.run.steps)),
            ("Set-up", _setup(manifest, result, group)),
            ("Test", _test(manifest, result, group)),
        ),
        departures=tuple((each.code, departure_text(each)) for each in manifest.departures),
        left_open=result.open_points,
    )


def _line(manifest: Manifest, result: PtsBase, page: int, of: int) -> tuple[str, ...]:
    times = [manifest.sessions[0].started, manifest.sessions[-1].ended]
    start, finish = (UNKNOWN if at is None else f"{at[:10]} {at[11:19]} UTC" for at in times)
    platform = _of(manifest, "platform")
    return (
        f"{manifest.method.title}, page {page} of {of}",
        f"{result.setting}, {result.specification}",
        f"started {start}",
        f"finished {finish}",
        f"vendor: {_maker(manifest)}",
        f"model: {manifest.drive.identity.get('model') or UNKNOWN}",
        f"tested by: {platform.get('tested_by') or UNKNOWN}",
        f"audited by: {platform.get('audited_by') or UNKNOWN}",
        f"reported {now()[:10]}",
    )


def _platform(manifest: Manifest) -> Rows:
    platform = _of(manifest, "platform")
    parts = {one["part"]: one.get("name") for one in platform.get("components") or []}
    system = " ".join(filter(None, (parts.get("operating_system"), parts.get("kernel"))))
    cores = fact(manifest.environment, "cores")
    cpu = parts.get("cpu") or fact(manifest.environment, "model_name")
    return _rows(
        ("Reference platform", f"own: {platform['name']}" if platform.get("name") else "own"),
        ("Motherboard", parts.get("board")),
        ("CPU", None if cpu is None else f"{cpu}, {cores or UNKNOWN} cores"),
        ("Memory", parts.get("memory")),
        ("OS, kernel", system),
        ("Test software", "ssdlab"),
        (
            "Its version",
            f"{manifest.tool.get('version', UNKNOWN)}, {manifest.tool.get('profile', UNKNOWN)} build",
        ),
        ("Test id", manifest.run_id),
        ("HBA, driver", parts.get("host_adapter") or _on_no_bus(manifest)),
        ("Slot, link", parts.get("slot") or _on_no_bus(manifest)),
        ("Boot device", parts.get("os_disk")),
    )


def _on_no_bus(manifest: Manifest) -> str | None:
    return "none, simulated" if manifest.drive.capabilities.made_to_order else None


def optional_features(manifest: Manifest) -> str | None:
    """Return the drive's features beyond its standard, from its record, its profile or the host."""
    noted = _of(manifest, "drive_record").get("optional_features")
    if noted:
        return str(noted)
    found = [*_simulated_features(manifest), *_reported_features(manifest)]
    return ", ".join(found) or None


def _simulated_features(manifest: Manifest) -> Iterator[str]:
    profile = profile_of(manifest.drive)
    if not profile:
        return
    if (held := commands_held(profile)) is not None:
        yield _queuing(held)
    if states := profile.get("power", {}).get("idle_states"):
        yield f"power states {', '.join(str(state['name']) for state in states)}"
    if profile.get("buffer", {}).get("power_loss_protection", {}).get("value"):
        yield "power-loss protection"


def _reported_features(manifest: Manifest) -> Iterator[str]:
    found = _of(manifest, "storage").get("conditions")
    if not isinstance(found, dict) or manifest.drive.capabilities.on_file_system:
        return
    if isinstance(held := found.get("queue_depth"), int) and held > 1:
        yield _queuing(held)
    if found.get("fua"):
        yield "forced unit access"
    if found.get("discard_max_bytes"):
        yield "discard (TRIM)"
    if (zoned := found.get("zoned")) not in (None, "none"):
        yield f"zones ({zoned})"


def _queuing(held: int) -> str:
    return f"command queuing (NCQ), {held} commands"


def _device(manifest: Manifest, steps: Sequence[Step]) -> Rows:
    who, record = manifest.drive.identity, _of(manifest, "drive_record")
    link = link_of(manifest.drive)
    carried = None if link.mb_s is None or not profile_of(manifest.drive) else throughput_text(link.mb_s)
    speed = fact(_of(manifest, "storage"), "link") or carried
    return _rows(
        ("Manufacturer", _maker(manifest)),
        ("Model no.", who.get("model")),
        ("Serial no.", who.get("serial")),
        ("Firmware", who.get("firmware")),
        (
            "User capacity",
            f"{capacity_text(manifest.drive.capacity_bytes)} ({manifest.drive.capacity_bytes} B)",
        ),
        ("Interface, speed", f"{interface(manifest) or UNKNOWN}, {speed or UNKNOWN}"),
        ("Form factor", record.get("form_factor")),
        ("Media type", medium(manifest)),
        ("Purge method", _purge(steps)),
        ("Write cache", _write_cache(manifest, steps)),
        ("Optional features", optional_features(manifest)),
    )


def _setup(manifest: Manifest, result: PtsBase, group: str) -> Rows:
    of_group = [each for each in result.preconditioning if each.group in ("", group) or not group]
    independent = [each for each in of_group if not each.dependent]
    dependent = [each for each in of_group if each.dependent]
    sectors = f"sectors of {block_text(manifest.drive.logical_block_bytes)}"
    return _rows(
        ("Data pattern", "random, incompressible"),
        ("Active range", f"AR(0:{result.active_range_pct})"),
        ("AR segments, amount", f"one segment, {_amount(manifest, result)}"),
        ("Pre-condition 1", _joined(independent, lambda each: each.what, NONE)),
        ("TC / QD", _joined(independent, _shape, NONE)),
        ("Amount", _joined(independent, lambda each: each.lasted, NONE)),
        ("Pre-condition 2", _joined(dependent, lambda each: each.what, NONE)),
        ("TC / QD", _joined(dependent, _shape, NONE)),
        ("Rounds", _joined(dependent, lambda each: each.outcome, NONE)),
        ("Notes", f"{sectors}, engine: {engine_words(manifest.engine)}, seed {manifest.seed}"),
    )


def _test(manifest: Manifest, result: PtsBase, group: str) -> Rows:
    stimuli = [each for each in result.stimuli if each.group in ("", group) or not group]
    first, others = stimuli[:1], stimuli[1:]
    return _rows(
        ("Data pattern", "random, incompressible"),
        ("Active range", f"AR(0:{result.active_range_pct}), one segment"),
        ("Stimulus 1", _joined(first, lambda each: each.what, NONE)),
        ("TC / QD", _joined(first, _shape, NONE)),
        ("Duration", _joined(first, lambda each: each.lasted, NONE)),
        ("Steady state", _joined(first, lambda each: each.outcome or "not assessed", NONE)),
        ("Stimulus 2, histogram", _joined(others, lambda each: each.what, NONE)),
        ("TC / QD", _joined(others, _shape, NONE)),
        ("Duration", _joined(others, lambda each: each.lasted, NONE)),
        ("Outcome", _joined(others, lambda each: each.outcome or "done", NONE)),
        ("File system", file_system(manifest) or NONE),
    )


def _rows(*rows: tuple[str, object]) -> Rows:
    return tuple((name, str(found) if found else UNKNOWN) for name, found in rows)


def _joined(stimuli: Sequence[Stimulus], tell: Any, otherwise: str) -> str:  # noqa: ANN401 - a function of one
    return "; ".join(dict.fromkeys(found for each in stimuli if (found := tell(each)))) or otherwise


def _shape(each: Stimulus) -> str:
    return "as in the loops" if each.threads is None else f"TC {each.threads} / QD {each.depth}"


def _amount(manifest: Manifest, result: PtsBase) -> str:
    variant = manifest.drive.variant
    usable = None if variant is None else variant.usable
    capacity_bytes = manifest.drive.capacity_bytes if usable is None else usable.length
    if usable is None and result.active_range_bytes is not None:
        pieces = manifest.params.get("active_range_segments", 1)
        return capacity_text(result.active_range_bytes) + ("" if pieces == 1 else f" in {pieces} segments")
    share = f"{share_text(capacity_bytes / manifest.drive.capacity_bytes)} of the LBAs"
    amount = capacity_text(capacity_bytes * result.active_range_pct // 100)
    return amount if usable is None else f"{amount} of {share}"


def _of(manifest: Manifest, name: str) -> dict[str, Any]:
    found = manifest.environment.get(name)
    return found if isinstance(found, dict) else {}


def _maker(manifest: Manifest) -> str:
    if manifest.drive.capabilities.made_to_order:
        return "simulated"
    return str(_of(manifest, "drive_record").get("maker") or UNKNOWN)


def _purge(steps: Sequence[Step]) -> str:
    purges = [step for step in steps if step.verb == "purge"]
    if not purges:
        return NONE
    records = [step.found(PurgeFacts).record for step in purges]
    if None in records:
        return "none: the drive could not be purged"
    named = dict.fromkeys(
        f"{one.method}{', a substitute' if one.substitute else ''}" for one in records if one is not None
    )
    return ", ".join(named) + (f", {len(purges)} times" if len(purges) > 1 else "")


def _write_cache(manifest: Manifest, steps: Sequence[Step]) -> str | None:
    """Return the write cache setting that was read back, or why it is unknown."""
    for step in steps:
        for one in step.found(SettingsFacts).set:
            if one.name == "write_cache":
                asked = "" if one.met else f"; requested: {one.wanted}"
                return f"{one.after}, read back{asked}"
    missed = next((each.what for each in manifest.departures if each.code == "condition-write_cache"), None)
    found = _of(manifest, "storage").get("conditions")
    kernel = found.get("write_cache") if isinstance(found, dict) else None
    return missed or (None if kernel is None else text(kernel))


def section_of(
    kept: Sequence[tuple[Shown, R]],
    findings: Callable[[R], Iterable[Claim]],
    figures: Sequence[Figure],
    *,
    groups: Sequence[str] = (),
    exhibits: tuple[Exhibit, ...] = (),
) -> Section:
    """Return a test's section: each run's findings, then the pages under the specification's header.

    Figures get the header if any run is SNIA's own test; a review's practice has none.

    `groups` is the group of cells that each figure shows, if the test has several.
    """
    method = kept[0][0].run.manifest.method
    return Section(
        id=method.name,
        title=method.title,
        lead=leads(kept, findings),
        runs=tuple(shown.index for shown, _ in kept),
        figures=pages(kept, figures, groups) if any(each.standard for _, each in kept) else tuple(figures),
        exhibits=exhibits,
    )


def demand_page(
    kept: Sequence[tuple[Shown, DemandResult]],
    number: int,
    title: str,
    lead: str,
    chart: Chart,
    *,
    tables: tuple[Table, ...] = (),
    measured: tuple[str, ...] = (),
    wide: bool = False,
) -> Figure:
    """Return a page of a demand test under its number in the specification, with a button for each view."""
    result = kept[0][1]
    views = [view.label for view in chart.views] if isinstance(chart, XyChart | HeatChart) else []
    return Figure(
        id=f"pts-{result.test}-p{number}",
        title=f"P{number}: {title}",
        lead=lead,
        described=f"{title}. {' '.join(leads(kept, demand_findings))}",
        chart=chart,
        tables=tables,
        measured=(
            f"{result.specification}, {result.setting}: R/W {result.read_pct}/{100 - result.read_pct}, "
            f"active range {result.active_range_pct} %, {significant(result.seconds)} s a cell.",
            *measured,
        ),
        buttons=(Buttons("view", "Shown", tuple(views)),) if len(views) > 1 else (),
        wide=wide,
    )
