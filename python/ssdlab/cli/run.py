"""`ssdlab run`, `job` and `resume`: run methods, suites, reviews and your own steps on one or more drives."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ssdlab.cli.compare import Beside, FailIf, check_beside, run_beside
from ssdlab.cli.completion import DriveText, MethodName, RunName
from ssdlab.cli.flags import Identifier, Library, Rig, Share, chosen, takes
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
    ordered_with,
    preconditioned,
    print_run,
    target_of,
)
from ssdlab.cli.output import say, warn
from ssdlab.cli.plan import dry_run, dry_run_of_suite, show_several_effects
from ssdlab.cli.plan_lines import say_what_cannot_be_shown
from ssdlab.cli.progress import RunProgress
from ssdlab.model.errors import UsageError
from ssdlab.model.options import DriveOptions
from ssdlab.runs.conditions.variant import Variant

if TYPE_CHECKING:
    from ssdlab.lab.job import JobParams

_OF_FIO = (".fio", ".job")
_GLOBAL = re.compile(r"^[ \t]*\[global\]", re.MULTILINE)


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

    After Ctrl-C, a kill or a crash, `ssdlab resume` continues the run; finished work is not repeated. Several
    drives run one after the other, and share one report.

    Parameters
    ----------
    name
        The method, suite or review (see `ssdlab methods`), or the path of a declaration.
    drives
        Block devices such as /dev/nvme0n1, a file (with --size to create it), or simulated drives: sim:NAME,
        or scaled down: sim:NAME,scale=64 (see `ssdlab sim list`). With the identifier of an attached drive
        that is in the library, only its missing runs are made. Append options for a variant of a drive:
        /dev/nvme1n1,spare=25%.
    require_steady
        Exit with status 1 if steady state was requested but not shown; by default this is only reported.
    json
        Print the result as JSON, schema ssdlab.show/1.
    """
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
    """Run a suite on several drives, or on one drive with parts already in the library."""
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


@takes(DriveOptions, OrderOptions, Variant)
def job(
    file: Path,
    drive: str,
    /,
    *,
    rig: Rig = None,
    library: Library = None,
    json: bool = False,
    **options: Any,  # noqa: ANN401 - those models check them
) -> None:
    """Run the steps of a TOML file, or the jobs of a fio job file, on a drive.

    Each [[step]] table has `do` and its options: `do = "run"` takes the options of `ssdlab measure`. Other
    steps fill, precondition, idle, trim, flush or set conditions. The whole file is checked before the drive
    is touched.

    Parameters
    ----------
    file
        A TOML file, or a fio job file: one ending in .fio or .job or with a [global] section. fio's
        `filename` is ignored: DRIVE is used.
    drive
        A block device such as /dev/nvme0n1, a file (with --size to create it), or a simulated drive:
        sim:NAME, or scaled down: sim:NAME,scale=64 (see `ssdlab sim list`).
    json
        Print the result as JSON, schema ssdlab.show/1.
    """
    from ssdlab.host.documents import read_document, user_path
    from ssdlab.lab.found import find_method
    from ssdlab.lab.job import read_job
    from ssdlab.runs.session import start

    advice = "give a TOML file with a [[step]] table for each step, or a fio job file"
    path = user_path(file)
    text = read_document(path, "job", advice)
    if path.suffix in _OF_FIO or _GLOBAL.search(text):
        if given := next((name for name in ("usable", "spare") if options.get(name) is not None), None):
            raise UsageError(
                f"a fio job file covers the whole drive, but --{given} uses only part of it",
                "give size= in the job, or write the job as TOML",
            )
        params = _of_fio(text, path, drive, options.get("size"))
    else:
        params = read_job(text, file.name)
    asked = chosen(OrderOptions, options)
    ordered = ordered_with(find_method("job"), params, drive, **of_order(options, rig))
    if asked.dry_run:
        dry_run(ordered, json=json)
        return
    with RunProgress() as progress:
        folder = start(ordered, library_of(library), [progress])
    print_run(folder, json=json)


def _of_fio(text: str, path: Path, drive: str, size: str | None) -> JobParams:
    """Return the steps of a fio job file for this drive, and print what differs from fio."""
    from ssdlab.formats.fio.sections import read_sections
    from ssdlab.formats.fio.stages import read_stages
    from ssdlab.lab.job import steps_of_fio

    sections = read_sections(text, path.name, path.parent)
    stages, remarks = read_stages(sections, target_of(drive, size))
    for sentence in remarks:
        say(sentence)
    return steps_of_fio(stages, remarks)


Redo = Annotated[tuple[str, ...], Parameter(metavar="PART")]


def resume(
    run: RunName,
    /,
    *,
    redo: Redo = (),
    destroy: Identifier = None,
    wipe_signatures: bool = False,
    endurance_cap: Share = None,
    require_steady: bool = False,
    library: Library = None,
    json: bool = False,
) -> int:
    """Resume an interrupted run where it stopped, or repeat parts of a finished review.

    The drive must be the one that the run started on. Consent given on this host for that drive still holds.
    Otherwise consent is needed again, for example for a copied folder.

    Parameters
    ----------
    run
        The run: its folder, its id, a prefix of the id or of its last letters, or `last`.
    redo
        A part of a finished suite or review to repeat with its parameters and seed, on each drive that has
        it. The new run replaces the old one, and both are kept. Writes need --destroy as in a new run. May be
        given several times.
    destroy
        Renewed consent: identifier of the drive whose data may all be lost (see `ssdlab drives`).
    wipe_signatures
        Consent to losing a file system, partition table or array member on the drive as well.
    endurance_cap
        Share of the rated endurance, or bytes, that the run may write: 50%. Needs renewed consent.
    require_steady
        Exit with status 1 if steady state was requested but not shown; by default this is only reported.
    json
        Print the result as JSON, schema ssdlab.show/1.
    """
    from ssdlab.cli.suites import SuiteProgress
    from ssdlab.model.options import endurance_cap as cap_in
    from ssdlab.results.run_folder import RunFolder
    from ssdlab.results.store import find_run
    from ssdlab.runs.consent_record import Renewal
    from ssdlab.runs.session import resume as go_on
    from ssdlab.runs.suites.redo import ask_again, is_asked_again
    from ssdlab.runs.suites.redo import go_on as go_on_again
    from ssdlab.runs.suites.session import resume_suite

    if destroy is None and (wipe_signatures or endurance_cap is not None):
        raise UsageError(
            "--wipe-signatures and --endurance-cap need renewed consent",
            "add --destroy and the drive's identifier (see ssdlab drives), or leave them out",
        )
    cap = None if endurance_cap is None else cap_in(endurance_cap)
    renewal = None if destroy is None else Renewal(destroy, wipe_signatures, cap)
    folder = find_run(run, library_of(library))
    kept = RunFolder(folder)
    if torn := kept.read_journal().torn_bytes:
        warn(f"the last {torn} bytes of the journal are incomplete (a kill or power cut) and are removed")
    if redo:
        ask_again(folder, redo, renewal=renewal, on_wait=warn)
        renewal = None  # `ask_again` has recorded it
    if kept.manifest.children and is_asked_again(folder):
        with SuiteProgress() as shown:
            go_on_again(folder, shown, renewal=renewal, on_wait=warn)
    elif kept.manifest.several_drives:
        from ssdlab.runs.suites.several import resume_several

        with SuiteProgress() as shown:
            resume_several(folder, shown, renewal=renewal)
    elif kept.manifest.children:
        with SuiteProgress() as shown:
            resume_suite(folder, shown, renewal=renewal, on_wait=warn)
    else:
        with RunProgress() as progress:
            go_on(folder, [progress], renewal=renewal, on_wait=warn)
    return print_run(folder, json=json, require_steady=require_steady)
