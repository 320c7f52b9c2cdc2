"""Chooses the meter of a run, and starts metering."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ssdlab.model.errors import LabError, Refused, UsageError
from ssdlab.model.meter_text import MeterText
from ssdlab.runs.metering import LiveMetering, MeterGone, Metering, ModelMetering, NoMetering, OwnAccount

if TYPE_CHECKING:
    from pathlib import Path

    from ssdlab.drives.base import Drive
    from ssdlab.drives.simulated.drive import SimulatedDrive
    from ssdlab.results.schema import Manifest


def chosen_meter(
    given: MeterText | None, rig: Path | None, *, simulated: bool, in_suite: bool = False
) -> MeterText | None:
    """Return the meter of a run: the given meter, else the default.

    `none` turns metering off. It is returned only for a simulated drive, whose own meter it turns off.

    Raises
    ------
    Refused
        A live meter is given for a simulated drive, or a recording for several runs.
    UsageError, HostError
        The rig file or `config.toml` is wrong.
    """
    if given is None and not simulated:
        given = usual_meter(rig)
    if given is not None and given.kind == "none":
        return given if simulated else None
    if given is not None:
        from ssdlab.host.documents import user_path
        from ssdlab.power.kinds import RECORDED, check_kind

        check_kind(given)
        if simulated and given.kind not in RECORDED:
            raise Refused(
                f"{given.use} cannot measure a simulated drive",
                "leave --meter out: it has its own meter",
                meter=str(given),
            )
        if in_suite and given.kind in RECORDED:
            raise Refused(
                f"{given.use} is a recording of one run, but this is a suite of several",
                "run its methods one by one, each with its recording, or use a live meter",
                meter=str(given),
            )
        if given.kind in RECORDED:
            # `resume` may be called from another working directory.
            path = user_path(given.place).absolute()
            given = given.model_copy(update={"use": f"{given.kind}:{path}"})
    return given


def usual_meter(rig: Path | None) -> MeterText | None:
    """Return the default meter, from the rig file or else from `config.toml`; None if neither names one.

    Raises
    ------
    UsageError, HostError
        Either file is wrong.
    """
    from ssdlab.host.defaults import config_path, read_defaults
    from ssdlab.host.platform import read_rig
    from ssdlab.power.kinds import RECORDED

    if (noted := read_rig(rig).meter) is not None:
        return noted
    found = read_defaults().meter
    if found is not None and found.kind in RECORDED:
        raise UsageError(
            f"{config_path()}: meter is {found.use}, and a recording is of one run",
            "remove it there, and give it with its run: --meter",
            meter=str(found),
        )
    return found


def kept_meter(manifest: Manifest) -> MeterText | None:
    kept = manifest.open_options.get("meter")
    return None if kept is None else MeterText.parse(str(kept))


def reopened_metering(text: MeterText | None, drive: Drive) -> Metering:
    """Start metering a resumed run; if the meter is missing, the run continues with a warning."""
    try:
        return open_metering(text, drive)
    except LabError as error:
        assert text is not None
        return MeterGone(text, error)


def open_metering(text: MeterText | None, drive: Drive) -> Metering:
    """Start metering a drive.

    Raises
    ------
    UsageError, Refused, HostError
        The meter is missing, does not answer, or cannot measure this drive.
    """
    if text is not None and text.kind == "none":
        return NoMetering()
    if drive.capabilities.virtual_time and text is None:
        simulated = cast("SimulatedDrive", drive)
        return Metering() if simulated.power(0, 1) is None else ModelMetering(simulated)
    if text is None:
        return Metering()
    from ssdlab.power.collecting import Collector
    from ssdlab.power.kinds import OF_THE_DRIVE, RECORDED, open_meter

    if text.kind in RECORDED:
        from ssdlab.runs.recorded_power import RecordedMetering

        return RecordedMetering(text, virtual=drive.capabilities.virtual_time)
    if text.kind in OF_THE_DRIVE:
        return OwnAccount(text, drive)
    return LiveMetering(Collector(open_meter(text)))
