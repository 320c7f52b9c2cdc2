"""`ssdlab run`: run a method, a suite or a review on one or more drives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ssdlab.cli.compare import Beside, FailIf, check_beside, run_beside
from ssdlab.cli.completers import DriveText, MethodName
from ssdlab.cli.flags import Library, Rig, chosen, takes
from ssdlab.cli.ordering import (
    Only,
    OrderOptions,
    Precondition,
    Quick,
    Repeat,
    Set,
    library_of,
    of_order,
    order,
    preconditioned,
    print_run,
)
from ssdlab.cli.plan import dry_run, dry_run_of_suite
from ssdlab.cli.progress import RunProgress
from ssdlab.model.options import DriveOptions
from ssdlab.runs.conditions.variant import Variant


@takes(DriveOptions, OrderOptions, Variant, several=("destroy",))
def run(
    name: MethodName,
    /,
    *drives: DriveText,
    set: Set = (),
    only: Only = (),
    precondition: Precondition = None,
    quick: Quick = False,
    repeat: Repeat = 1,
    beside: Beside = None,
    fail_if: FailIf = (),
    require_steady: bool = False,
    rig: Rig = None,
    library: Library = None,
    json: bool = False,
    **options: Any,  # noqa: ANN401 - those models check them
) -> int:
    """Run a method, suite or review on one or more drives, and store the results in the library.

    After Ctrl-C, a kill or a crash, `ssdlab resume` continues it; finished work is not repeated. Several
    drives run one after the other, and share one report.

    Parameters
    ----------
    name
        The method, suite or review (see `ssdlab methods`), or the path of a declaration.
    drives
        Block devices such as /dev/nvme0n1, a file (with --size to create it), or simulated drives: sim:NAME,
        or scaled down: sim:NAME,scale=64 (see `ssdlab sim list`). The identifier of an attached drive in the
        library runs only what is missing. Append options for a variant of a drive: /dev/nvme1n1,spare=25%.
    require_steady
        Exit with status 1 if steady state was asked for but not shown; by default this is only reported.
    json
        Print the result as JSON, schema ssdlab.show/1.
    """
    from ssdlab.cli.plan_lines import say_what_cannot_be_shown
    from ssdlab.cli.suites import SuiteProgress, in_library, one_consent, one_drive, suite_order
    from ssdlab.runs.order import plan_order
    from ssdlab.runs.session import start
    from ssdlab.runs.suites.session import plan_suite, start_suite

    consents = options.pop("destroy", ())
    asked = chosen(OrderOptions, options)
    set = preconditioned(set, precondition)
    library = library_of(library)
    if len(drives) > 1 or (len(drives) == 1 and in_library(drives[0], library, options.get("size"))):
        check_beside(beside, fail_if, dry_run=False, suite=True)
        return _run_several(
            name,
            drives,
            set,
            library,
            {**of_order(options, rig), "quick": quick, "repeat": repeat, "destroy": consents, "only": only},
            dry_run=asked.dry_run,
            json=json,
            require_steady=require_steady,
        )
    drive = one_drive(drives)
    options["destroy"] = one_consent(consents)
    several = suite_order(
        name,
        drive,
        set,
        quick=quick,
        repeat=repeat if beside is None else 1,
        only=only,
        **of_order(options, rig),
    )
    check_beside(beside, fail_if, dry_run=asked.dry_run, suite=several is not None)
    if several is not None:
        if asked.dry_run:
            dry_run_of_suite(several, json=json)
            return 0
        if several.quick:
            say_what_cannot_be_shown(plan_suite(several, library))
        with SuiteProgress() as shown:
            folder = start_suite(several, library, shown)
        return print_run(folder, json=json, require_steady=require_steady)
    ordered = order(name, drive, set, quick=quick, **of_order(options, rig))
    if asked.dry_run:
        dry_run(ordered, json=json)
        return 0
    if beside is not None:
        return run_beside(beside, ordered, repeat, library, fail_if, json=json)
    if quick:
        say_what_cannot_be_shown(plan_order(ordered, library))
    with RunProgress() as progress:
        folder = start(ordered, library, [progress])
    return print_run(folder, json=json, require_steady=require_steady)


def _run_several(
    name: str,
    drives: tuple[str, ...],
    words: tuple[str, ...],
    library: Path,
    options: dict[str, Any],
    *,
    dry_run: bool,
    json: bool,
    require_steady: bool,
) -> int:
    """Run a suite on several drives, or on one with parts already in the library."""
    from ssdlab.cli.plan import show_several_effects
    from ssdlab.cli.plan_lines import say_what_cannot_be_shown
    from ssdlab.cli.suites import SuiteProgress, orders
    from ssdlab.runs.suites.session import plan_suite, start_suite
    from ssdlab.runs.suites.several import start_several

    made = orders(name, drives, words, library, **options)
    if dry_run:
        show_several_effects(made, library, json=json)
        return 0
    for each in made:
        if each.quick and each.known is None:
            say_what_cannot_be_shown(plan_suite(each, library))
    with SuiteProgress() as shown:
        if len(made) == 1:
            folder = start_suite(made[0], library, shown)
        else:
            folder = start_several(made, library, shown)
    return print_run(folder, json=json, require_steady=require_steady)
