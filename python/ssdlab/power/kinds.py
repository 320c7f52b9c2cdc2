"""The kinds of power meters: how each is opened, and which meters this host has."""

from __future__ import annotations

import re
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING

from ssdlab.host.sysfs import HostFiles
from ssdlab.model.errors import Refused, UsageError, unknown

if TYPE_CHECKING:
    from ssdlab.model.meter_text import MeterText
    from ssdlab.power.meter import Meter

KINDS = {
    "hwmon": (
        "ssdlab.power.hwmon:HwmonMeter",
        "a chip behind the kernel's hwmon: hwmon:ina226, hwmon:hwmon3",
    ),
    "scpi": ("ssdlab.power.scpi:ScpiMeter", "an instrument that speaks SCPI over TCP: scpi:10.0.0.7:5025"),
    "ppk2": (
        "ssdlab.power.ppk2:Ppk2Meter",
        "a Nordic PPK2 as an ammeter at a known supply voltage: ppk2:/dev/ttyACM0@5V",
    ),
    "quarch": (
        "ssdlab.power.quarch:QuarchMeter",
        "a Quarch module, through its server QIS: quarch:10.0.0.8:9722",
    ),
}
"""Kinds that are read during a run: the class that opens the meter, and its description in lists."""
RECORDED = {"csv": "a recording by any other meter, given after the steps: csv:FILE"}
"""Kinds that another program records, and that are read after the run."""
OF_THE_DRIVE = {"nvme": "the drive's own power reading, once a second, if its SMART log has one: nvme:smart"}
"""Kinds that use the drive's own telemetry."""
NOT_TRIED = {"joulescope": "not tested: its driver needs the instrument; give its recording as csv:FILE"}
"""Known meters without support, because no instrument was available for tests."""
OF_THE_HOST = {
    "rapl": "RAPL measures the processor",
    "ipmi": "a BMC measures the whole host",
    "bmc": "a BMC measures the whole host",
    "shelly": "a plug measures the whole host",
    "tasmota": "a plug measures the whole host",
}
"""Meters of the whole host or of its processor, which are refused."""
GROUP = "ssdlab.meters"
"""Entry point group for meters of other packages: the name is the kind, the object opens the meter."""
_KIND = re.compile(r"[a-z0-9]{1,40}")


def kinds_of_others() -> dict[str, EntryPoint]:
    """Return the meter kinds of other installed packages, without importing the packages.

    A package cannot replace a kind of ssdlab. If two packages have the same kind, the first by name counts.
    """
    ours = {*KINDS, *RECORDED, *OF_THE_DRIVE, *NOT_TRIED, *OF_THE_HOST, "none"}
    found = sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, package_of(entry)), reverse=True)
    return {entry.name: entry for entry in found if entry.name not in ours and _KIND.fullmatch(entry.name)}


def package_of(entry: EntryPoint) -> str:
    return "unknown" if entry.dist is None else f"{entry.dist.name} {entry.dist.version}"


def described_kinds() -> dict[str, str]:
    """Return the description of every kind, ssdlab's own kinds first.

    A package's kind that cannot be used is listed with the reason.
    """
    found = {kind: words for kind, (_, words) in KINDS.items()} | OF_THE_DRIVE | RECORDED | NOT_TRIED
    used = {kind: package_of(entry) for kind, entry in kinds_of_others().items()}
    for kind, package in sorted((entry.name, package_of(entry)) for entry in entry_points(group=GROUP)):
        if used.get(kind) == package:
            found[kind] = f"of package {package}"
            continue
        why = "a kind has only lower-case letters and digits"
        if _KIND.fullmatch(kind):
            why = f"the kind is taken by {f'package {used[kind]}' if kind in used else 'ssdlab'}"
        found[f"{kind} ({package})"] = f"cannot be used: {why}"
    return found


def check_kind(text: MeterText) -> None:
    """Check that ssdlab can measure a drive's power with this kind of meter.

    Raises
    ------
    UsageError
        The kind is unknown, or an option does not suit it.
    Refused
        The meter measures the host, or this version does not support it.
    """
    if text.kind in OF_THE_HOST:
        raise Refused(
            f"{OF_THE_HOST[text.kind]}, never a drive",
            "use a meter in the drive's supply; ssdlab meters lists the kinds",
            meter=str(text),
        )
    if text.kind in NOT_TRIED:
        raise Refused(
            f"this version does not read meters of the kind {text.kind}: {NOT_TRIED[text.kind]}",
            "record with its own program, and give the file: --meter csv:FILE",
            meter=str(text),
        )
    if text.kind in OF_THE_DRIVE and text.place != "smart":
        raise unknown("power reading of a drive", text.place, ("smart",))
    if text.volts and text.kind not in RECORDED:
        raise UsageError(
            f"{text.kind} reports its own volts: volts= is for recordings of amperes only", "leave volts out"
        )
    if text.kind not in (known := (*KINDS, *OF_THE_DRIVE, *RECORDED, *kinds_of_others())):
        raise unknown("kind of meter", text.kind, known)


def open_meter(text: MeterText) -> Meter:
    """Open a meter that is read during the run.

    Raises
    ------
    UsageError, Refused
        There is no meter of that kind and name, or it does not measure a drive.
    HostError
        The meter does not answer, or its package failed.
    """
    check_kind(text)
    if text.kind in kinds_of_others():
        from ssdlab.power.meter import MeterOfAPackage

        entry = kinds_of_others()[text.kind]
        return MeterOfAPackage(entry, package_of(entry), text)
    module, _, name = KINDS[text.kind][0].partition(":")
    opened: Meter = getattr(import_module(module), name)(text)
    return opened


def found_here(files: HostFiles | None = None) -> tuple[str, ...]:
    """Return ``hwmon:FOLDER`` for each suitable chip of this host; networks are not searched for meters."""
    from ssdlab.power.hwmon import chips

    return tuple(f"hwmon:{chip.folder.name}" for chip in chips(files or HostFiles()) if chip.in_a_cable)
