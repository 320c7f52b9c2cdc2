"""Helpers of `run`, `plan`, `job` and `demo`: turn options into an `Order`, and print the result of a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from cyclopts import Parameter
from pydantic import Field

from ssdlab.cli.flags import whole_number
from ssdlab.cli.output import print_json, say
from ssdlab.model.errors import UsageError
from ssdlab.model.failed_ios import ErrorOptions
from ssdlab.model.frozen import Metavar
from ssdlab.model.meter_text import MeterOptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ssdlab.formats.fio import Target
    from ssdlab.lab.method import Method, Params
    from ssdlab.results.run_folder import RunFolder
    from ssdlab.results.schema import ResultBase
    from ssdlab.runs.conditions.variant import Variant
    from ssdlab.runs.order import Order


class OrderOptions(MeterOptions, ErrorOptions):
    """Options of `run` and `job`, without those of the drive."""

    noun: ClassVar[str] = "option of run"

    dry_run: bool = Field(
        False, description="show every command and write that would reach the drive, without running anything"
    )
    seed: int | None = Field(
        None, ge=0, lt=2**64, description="seed of all random numbers [default: a random one, recorded]"
    )
    run_id: Annotated[str, Metavar("ID")] | None = Field(
        None,
        description="id of the run, so that a program can find it again "
        "[default: time, method and random letters]",
    )


Set = Annotated[
    tuple[str, ...],
    Parameter(
        name="--set",
        metavar="NAME=VALUE",
        help="Set a parameter: --set seconds=30. In a suite this sets it in every part, or in one: --set "
        "qd1.seconds=30. May be given several times.",
    ),
]
Precondition = Annotated[
    Literal["full", "one-pass", "analytic"] | None,
    Parameter(
        help="Preconditioning before steady random writes: full, one-pass (purge, then one random pass) or "
        "analytic (computed, simulated drives only). Applies to every part of a suite that has it."
    ),
]
Quick = Annotated[
    bool,
    Parameter(
        help="Use the method's quick presets: minutes instead of hours; the result is marked as quick."
    ),
]
Only = Annotated[
    tuple[str, ...],
    Parameter(
        metavar="PART,...",
        help="Run only these parts of a suite or review, each from its own drive state (see `ssdlab methods "
        "NAME`): --only qd1,mixed-random. Parts left out are noted as departures.",
    ),
]
Repeat = Annotated[
    int,
    Parameter(
        metavar="N",
        help="Number of runs, shown as medians with confidence intervals (95 % from six runs).",
        converter=whole_number(0, 1_000_000),
        n_tokens=1,
    ),
]


def settings(words: Sequence[str]) -> dict[str, str]:
    """Split the values of `--set`, each `name=value`.

    Raises
    ------
    UsageError
        A value without `=`, or a name that is set twice.
    """
    found: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise UsageError(f"--set {word} is not of the form name=value", "write it as --set seconds=30")
        part, dot, own = name.rpartition(".")
        # A part's name keeps its hyphens; in a parameter's name they may stand for `_`.
        known = f"{part}{dot}{own.replace('-', '_')}"
        if known in found:
            raise UsageError(f"--set {name} is given twice", "give it once")
        found[known] = value
    return found


def preconditioned(words: Sequence[str], how: str | None) -> tuple[str, ...]:
    """Append the value of `--precondition` to the values of `--set`."""
    return (*words, *(() if how is None else (f"precondition={how}",)))


def order(
    name: str,
    drive: str,
    words: Sequence[str],
    *,
    quick: bool,
    **options: Any,  # noqa: ANN401 - those of `ordered_with`
) -> Order:
    """Return the order to run a method, checked as far as possible without the drive."""
    from ssdlab.lab.found import find_method
    from ssdlab.runs.conditions.variant import parted, with_own

    drive, asked = parted(drive)
    options["variant"] = with_own(options.get("variant"), asked, drive)
    method, own = find_method(name), settings(words)
    _check_preparation(method, own)
    return ordered_with(method, method.params.build(own, quick=quick), drive, quick=quick, **options)


def _check_preparation(method: Method, own: Mapping[str, str]) -> None:
    """Refuse `--precondition` for a method that lacks it; the advice names the methods that have it."""
    if "precondition" not in own or "precondition" in method.params.model_fields:
        return
    from ssdlab.lab.found import all_methods

    having = [each.name for each in all_methods() if "precondition" in each.params.model_fields]
    raise UsageError(
        f"{method.name} has no --precondition: it has its own preconditioning",
        f"leave it out; methods with it: {', '.join(having)}",
        method=method.name,
    )


def ordered_with(
    method: Method,
    params: Params,
    drive: str,
    *,
    variant: Variant | None = None,
    **options: Any,  # noqa: ANN401 - fields of Order
) -> Order:
    """Return the order to run a method. The variant of a simulated drive becomes part of the drive's text."""
    from ssdlab.runs.conditions.variant import AS_IT_IS, on_text
    from ssdlab.runs.order import Order

    variant = variant or AS_IT_IS
    return Order(method, params, on_text(drive, variant), variant=variant, **options)


def of_order(options: Mapping[str, Any], rig: Path | None = None) -> dict[str, Any]:
    """Return the fields of an `Order` for the options of `run`, `plan` and `job`.

    Raises
    ------
    UsageError
        A value is not valid.
    """
    from ssdlab.cli.flags import chosen, of_option
    from ssdlab.model.options import DriveOptions
    from ssdlab.results.store import check_run_id
    from ssdlab.runs.conditions.variant import Variant

    opened, asked = chosen(DriveOptions, options), chosen(OrderOptions, options)
    of_drive = {name: getattr(opened, name) for name in DriveOptions.model_fields}
    with of_option("--run-id"):
        run_id = None if asked.run_id is None else check_run_id(asked.run_id)
    of_run = {
        "seed": asked.seed,
        "rig": rig,
        "meter": asked.meter,
        "run_id": run_id,
        "on_error": asked.on_error,
    }
    return {**of_drive, **of_run, "variant": chosen(Variant, options)}


def target_of(drive: str, size: str | None) -> Target:
    """Inspect a drive, and return those of its properties that a fio job file depends on.

    Raises
    ------
    UsageError, Refused
        The drive does not exist.
    """
    from ssdlab.cli.flags import chosen
    from ssdlab.drives import look
    from ssdlab.formats.fio import Target
    from ssdlab.model.options import DriveOptions

    found = look(drive, size=chosen(DriveOptions, {"size": size}).size_bytes)
    if (identity := found.identity) is None:
        assert found.reading is not None  # a drive without an identity is refused
        raise found.reading.error(drive)
    return Target.of(
        identity.capabilities, identity.path, identity.capacity_bytes, identity.logical_block_bytes
    )


def library_of(library: Path | None) -> Path:
    """Return the library in use, after completing the changes of commands that were killed."""
    from ssdlab.host.defaults import CHANGES, library_folder

    place = library_folder(library)
    if any((place / CHANGES).glob("*")):
        from ssdlab.results.settling import take_up

        take_up(place)
    return place


def print_run(folder: Path, *, json: bool, require_steady: bool = False, whole: bool = False) -> int:
    """Print the result of a run, as `ssdlab show` does, and return the exit status.

    Parameters
    ----------
    require_steady
        Treat steady state that was not shown or not assessed as a failed verdict too.
    whole
        Print all details; JSON always has them.
    """
    from ssdlab.cli.showing import as_json, print_result
    from ssdlab.lab.outcome import read_result
    from ssdlab.results.run_folder import RunFolder
    from ssdlab.results.verifying import check_run, doubting

    run = RunFolder(folder)
    check_run(run)
    with doubting([folder]):
        if json:
            print_json(as_json(run))
        else:
            print_result(run, whole=whole)
    result = read_result(run)
    failed = result is not None and result.passed is False
    if failed:
        say(f"{run.manifest.method.name} failed its verdict: exit status 1")
    if require_steady:
        for where in unsteady(run):
            say(f"steady state was not shown, but --require-steady demands it: {where}")
            failed = True
    return 1 if failed else 0


def unsteady(run: RunFolder) -> list[str]:
    """Name the figures of a run or suite whose steady state was not shown, and why."""
    from ssdlab.lab.outcome import read_result
    from ssdlab.runs.suites.outcome import finished_children

    if run.manifest.several_drives:
        return [
            f"{suite.manifest.drive.name}: {what}"
            for suite in finished_children(run.path.parent, run.manifest.children)
            for what in unsteady(suite)
        ]
    runs = finished_children(run.path.parent, run.manifest.children) if run.manifest.children else [run]
    return [
        f"{each.manifest.method.name}, {what}"
        for each in runs
        if (result := read_result(each)) is not None
        for what in _unproven(result)
    ]


def _unproven(result: ResultBase) -> list[str]:
    """Return the figures whose steady state was not shown, and why, grouped by reason and steps."""
    found: dict[tuple[str, tuple[int, ...]], list[str]] = {}
    for figure in result.scalars:
        for each in figure.qualifiers:
            if each.code == "state-unproven":
                found.setdefault((each.why or each.label, each.steps), []).append(figure.label)
    return [f"{'; '.join(labels)}: {why}" for (why, _), labels in found.items()]
