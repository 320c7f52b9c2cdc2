"""`ssdlab measure`: one workload now, like a fio line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ssdlab.cli.flags import chosen, takes
from ssdlab.cli.live import TerminalWatcher, watcher
from ssdlab.cli.output import print_json, say
from ssdlab.model.errors import LabError
from ssdlab.model.measurement import Measurement
from ssdlab.model.options import MeasureOptions
from ssdlab.model.workload import Workload
from ssdlab.runs.measure import perform

if TYPE_CHECKING:
    from ssdlab.model.summary import Summary


@takes(MeasureOptions)
def measure(
    drive: str,
    /,
    *,
    json: bool = False,
    **options: Any,  # noqa: ANN401 - MeasureOptions checks them
) -> None:
    """Run one workload now and print what was measured.

    Sizes are those of fio (4k is 4096 bytes; GB and GiB are honoured), times carry a unit or are seconds.

    Parameters
    ----------
    drive
        A block device such as /dev/nvme0n1, a file (with --size when it must be made), or a simulated
        drive: sim:NAME, or made smaller sim:NAME,scale=64 (see `ssdlab sim list`).
    json
        Print the result as JSON, schema ssdlab.measurement/1.
    """
    asked = chosen(MeasureOptions, options)
    looker = watcher(quiet=json)
    try:
        measurement = perform(drive, asked, looker)
    except LabError as error:
        if isinstance(error.measurement, Measurement) and not json:
            _print(error.measurement.summary())
        raise
    finally:
        if isinstance(looker, TerminalWatcher):
            looker.close()
    if json:
        print_json(measurement.report())
        return
    summary = measurement.summary()
    _print(summary)
    if summary.run:
        say(f"saved: {summary.run}")


def _print(summary: Summary) -> None:
    from ssdlab.cli.figures import print_measurement

    print_measurement(summary, Workload.model_validate(summary.workload))
