"""`ssdlab run`: run a method or a suite on a drive."""

from __future__ import annotations

from typing import Any

from ssdlab.cli.dry_run import dry_run, dry_run_of_suite
from ssdlab.cli.flags import chosen, takes
from ssdlab.cli.order_options import OrderOptions, Precondition, Quick, Repeat, Set
from ssdlab.cli.ordering import library_of, of_order, order, preconditioned, print_run
from ssdlab.cli.progress import RunProgress
from ssdlab.model.drive_options import DriveOptions
from ssdlab.runs.conditions.variant import Variant


@takes(DriveOptions, OrderOptions, Variant)
def run(
    name: str,
    drive: str,
    /,
    *,
    set: Set = (),
    precondition: Precondition = None,
    quick: Quick = False,
    repeat: Repeat = 1,
    require_steady: bool = False,
    json: bool = False,
    **options: Any,  # noqa: ANN401 - those models check them
) -> int:
    """Run a method or a suite on a drive, and keep it in the library.

    Stopped by Ctrl-C, a kill or a crash, it continues with `ssdlab resume`; nothing finished is done twice.

    Parameters
    ----------
    name
        The method or suite: see `ssdlab methods`.
    drive
        A block device such as /dev/nvme0n1, or a file (with --size when it must be made).
    require_steady
        Exit with status 1 where steady state is judged and was not achieved; by default that is a result.
    json
        Print the result as JSON, schema ssdlab.show/1.
    """
    from ssdlab.cli.suites import SuiteProgress, suite_order
    from ssdlab.runs.session import start
    from ssdlab.runs.suites.session import start_suite

    asked = chosen(OrderOptions, options)
    set = preconditioned(set, precondition)
    several = suite_order(name, drive, set, quick=quick, repeat=repeat, **of_order(options))
    if several is not None:
        if asked.dry_run:
            dry_run_of_suite(several, json=json)
            return 0
        with SuiteProgress() as shown:
            folder = start_suite(several, library_of(asked.library), shown)
        return print_run(folder, json=json, require_steady=require_steady)
    ordered = order(name, drive, set, quick=quick, **of_order(options))
    if asked.dry_run:
        dry_run(ordered, json=json)
        return 0
    with RunProgress() as progress:
        folder = start(ordered, library_of(asked.library), [progress])
    return print_run(folder, json=json, require_steady=require_steady)
