"""`ssdlab doctor`: what this host can measure, with a no-op self-calibration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from ssdlab.cli.flags import Rig
from ssdlab.cli.leftovers import left_set
from ssdlab.cli.output import paint, print_fields, print_json, print_line
from ssdlab.cli.parser_errors import in_own_words
from ssdlab.model.printable import advice_text
from ssdlab.model.units import latency_text

if TYPE_CHECKING:
    from ssdlab.host.platform import Platform
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
    # A faulty rig file is reported as one of the checks.
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
