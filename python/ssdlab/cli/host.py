"""`ssdlab doctor` and `ssdlab meters`: what this host can measure, and with which power meters."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ssdlab.cli.flags import Rig
from ssdlab.cli.leftovers import left_set
from ssdlab.cli.output import paint, print_fields, print_json, print_line, print_table
from ssdlab.cli.parser_errors import in_own_words
from ssdlab.model.errors import LabError
from ssdlab.model.printable import advice_text
from ssdlab.model.units import fixed_share_text, latency_text, significant

if TYPE_CHECKING:
    from ssdlab.host.platform import Platform
    from ssdlab.model.meter_text import MeterText
    from ssdlab.power.meter import MeterInfo
    from ssdlab.runs.doctor import Check

_STYLES = {"ok": "good", "limited": "warn", "missing": "bad"}


def doctor(*, rig: Rig = None, json: bool = False) -> None:
    """Show what this host can measure, and the tool's own overhead. Touches no drive.

    Parameters
    ----------
    json
        Print JSON, schema ssdlab.doctor/1.
    """
    from ssdlab.host.platform import read_platform
    from ssdlab.runs.doctor import examine, gather

    facts = gather()
    # A fault in the rig file is reported as one of the checks.
    platform = None if rig is None and facts.config_fault is not None else read_platform(rig=rig)
    checks = [replace(check, advice=in_own_words(["doctor"], check.advice)) for check in examine(facts)]
    if json:
        print_json(
            {
                "schema": "ssdlab.doctor/1",
                "checks": [asdict(check) for check in checks],
                "calibration": facts.calibration,
                "capabilities": facts.capabilities,
                "environment": facts.environment.as_dict(),
                "platform": None if platform is None else platform.as_dict(),
                "left_set": left_set(),
            }
        )
        return
    for check in checks:
        _print_check(check)
    print_line()
    print_line("the tool's own overhead here (no drive involved)")
    print_fields(_calibration_fields(facts.calibration), indent=2)
    if platform is None:
        return
    print_line()
    print_line(f"test platform{f' ({platform.name})' if platform.name else ''}")
    print_fields(_platform_fields(platform), indent=2)


def _print_check(check: Check) -> None:
    print_line(f"{paint(f'{check.state:<8}', _STYLES[check.state])} {check.name:<14} {check.what}")
    if check.advice:
        print_line(f"{'':24}{advice_text(check.advice)}", "dim")


def _platform_fields(platform: Platform) -> list[tuple[str, object]]:
    fields: list[tuple[str, object]] = []
    for one in platform.components:
        depends = (
            "of the drive: see ssdlab drives DRIVE" if one.part in {"host_adapter", "slot"} else "unknown"
        )
        fields.append((one.title, one.name or depends))
    return fields


def _calibration_fields(calibration: Mapping[str, Any]) -> list[tuple[str, object]]:
    wake = calibration["wake_up_ns"]
    late = ", ".join(f"{name} {latency_text(wake[name])}" for name in ("p50", "p90", "p99") if wake[name])
    return [
        ("clock read", latency_text(calibration["clock_ns"])),
        ("system call", latency_text(calibration["system_call_ns"])),
        ("draw next I/O", latency_text(calibration["generate_ns"])),
        ("record I/O", latency_text(calibration["record_ns"])),
        ("wake-up lateness", late),
    ]


def meters(
    *meter: Annotated[str, Parameter(metavar="METER")],
    rig: Rig = None,
    json: bool = False,
) -> int:
    """List the power meters found here, the default one and the named ones, with their readings.

    The default meter is set in the rig file or config.toml. If a named or default meter cannot be used, the
    exit status is 2 or 3.

    Parameters
    ----------
    meter
        Meters to try, as for --meter: quarch:192.168.1.5:9722, scpi:10.0.0.7:5025.
    json
        Print JSON, schema ssdlab.meters/1.
    """
    from ssdlab.model.meter_text import MeterText
    from ssdlab.power.kinds import described_kinds, found_here
    from ssdlab.runs.meters import usual_meter

    texts = [MeterText.parse(each) for each in meter]
    noted = usual_meter(rig)
    texts = [each for each in (*texts, *([] if noted is None else [noted])) if each.kind != "none"]
    named = {each.use for each in texts}
    texts += [MeterText.parse(each) for each in found_here() if each not in named]
    shown = [_look(text) for text in texts]
    kinds = described_kinds()
    asked = [each.error for each in shown if each.use in named and each.error is not None]
    status = max((error.exit_status for error in asked), default=0)
    if json:
        print_json(
            {"schema": "ssdlab.meters/1", "meters": [each.as_dict() for each in shown], "kinds": kinds}
        )
        return status
    if not shown:
        print_line("no meter found; name one, or add it to the rig file. Kinds:")
        print_table([(kind, what) for kind, what in kinds.items()])
        return status
    print_table([each.row for each in shown], ("meter", "name", "rails", "samples/s", "error", "now"))
    for each in shown:
        if each.error is not None:
            print_line(f"{each.use}: {each.error.what}; {each.error.advice}")
    return status


@dataclass(frozen=True)
class _Shown:
    """A meter and its readings per rail, or why it cannot be used."""

    use: str
    info: MeterInfo | None = None
    watts: tuple[float, ...] | None = None
    recorded_s: float | None = None
    """Length of a recording, in seconds; `watts` is the mean over it."""
    error: LabError | None = None
    note: str = ""
    """Remark that is shown in place of a reading."""

    def as_dict(self) -> dict[str, object]:
        if self.info is None:
            noted = {"note": self.note} if self.note else {}
            return {"use": self.use, "error": None if self.error is None else self.error.as_dict(), **noted}
        recorded = {} if self.recorded_s is None else {"recorded_s": self.recorded_s}
        return {**self.info.as_dict(), "watts": self.watts, **recorded}

    @property
    def row(self) -> tuple[str, ...]:
        info = self.info
        if info is None:
            now = self.note if self.error is None else "not usable, see below"
            return (self.use, "", "", "", "", now)
        share = "" if info.accuracy is None else fixed_share_text(info.accuracy)
        offset = f"{info.offset_w:g} W" if info.offset_w else ""
        now = "nothing" if self.watts is None else f"{significant(sum(self.watts))} W"
        if self.recorded_s is not None:
            now += f", mean of {significant(self.recorded_s)} s"
        error = " + ".join(filter(None, (share, offset))) or "not known"
        return (self.use, info.name, ", ".join(info.rails), significant(info.rate_hz), error, now)


def _look(text: MeterText) -> _Shown:
    from ssdlab.power.collecting import read_once
    from ssdlab.power.kinds import OF_THE_DRIVE, RECORDED, check_kind, open_meter
    from ssdlab.power.recording import read_recording

    try:
        check_kind(text)
        if text.kind in OF_THE_DRIVE:
            return _Shown(text.use, note="reported by the drive under test, during runs only")
        if text.kind in RECORDED:
            recording = read_recording(text)
            trace = recording.trace
            seconds = float(trace.end_ns[-1] - trace.start_ns[0]) / 1e9
            return _Shown(text.use, recording.info, tuple(trace.watts.mean(axis=0).tolist()), seconds)
        with closing(open_meter(text)) as held:
            samples = read_once(held)
            watts = tuple(samples.watts.mean(axis=0).tolist()) if len(samples.time_ns) else None
            return _Shown(text.use, held.info, watts)
    except LabError as error:
        return _Shown(text.use, error=error)
