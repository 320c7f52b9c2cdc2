"""What `run`, `plan`, `job` and `demo` share: from words to an `Order`, and from a run to its output."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssdlab.cli.output import print_json, say
from ssdlab.model import units
from ssdlab.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ssdlab.results.run_folder import RunFolder
    from ssdlab.runs.conditions.variant import Variant
    from ssdlab.runs.order import Order


def settings(words: Sequence[str]) -> dict[str, str]:
    """Split the words of `--set`, each `name=value`.

    Raises
    ------
    UsageError
        A word without `=`, or a name that is set twice.
    """
    found: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise UsageError(f"--set {word} does not say name=value", "write it so: --set seconds=30")
        if name in found:
            raise UsageError(f"--set {name} is given twice", "give it once")
        found[name.replace("-", "_")] = value
    return found


def order(
    name: str,
    drive: str,
    words: Sequence[str],
    *,
    quick: bool,
    size: str | None,
    destroy: str | None,
    wipe_signatures: bool = False,
    endurance_cap: str | None = None,
    seed: int | None = None,
    rig: Path | None = None,
    variant: Variant | None = None,
) -> Order:
    """Return what is to be run, checked as far as it can be without the drive."""
    from ssdlab.methods import find_method
    from ssdlab.runs.conditions.variant import AS_IT_IS, on_text
    from ssdlab.runs.order import Order

    method = find_method(name)
    params = method.params.build(settings(words), quick=quick)
    variant = variant or AS_IT_IS
    return Order(
        method,
        params,
        on_text(drive, variant),
        quick,
        size_of(size),
        destroy,
        seed,
        wipe_signatures=wipe_signatures,
        endurance_cap=cap_share(endurance_cap),
        rig=rig,
        variant=variant,
    )


def variant_of(given: Mapping[str, Any]) -> Variant:
    """Return what the variant options of a command line say."""
    from ssdlab.runs.conditions.variant import Variant

    return Variant(**{name: value for name, value in given.items() if value is not None})


def cap_share(text: str | None) -> float | None:
    """Return the share of a drive's rated endurance that `--endurance-cap` means.

    Raises
    ------
    UsageError
        It is no percentage above 0.
    """
    if text is None:
        return None
    share = float(units.parse_percent(text, noun="endurance cap", beyond=True))
    if share <= 0:
        raise UsageError(f"an endurance cap of {text} leaves nothing to write", "give one such as 20%")
    return share


def size_of(text: str | None) -> int | None:
    """Return the bytes that `--size` means."""
    return None if text is None else units.parse_bytes(text)


def library_of(library: Path | None) -> Path:
    """Return the library in use."""
    from ssdlab.host.documents import user_path
    from ssdlab.results.store import default_library

    return default_library() if library is None else user_path(library).absolute()


def print_run(folder: Path, *, json: bool, require_steady: bool = False) -> int:
    """Print the result of a run, as `ssdlab show` does; returns the exit status that its verdict makes.

    With `require_steady` steady state that was judged and not achieved is a failed verdict too.
    """
    from ssdlab.cli.showing import as_json, print_result
    from ssdlab.methods.results.outcome import read_result
    from ssdlab.results.doubt import doubting
    from ssdlab.results.run_folder import RunFolder

    run = RunFolder(folder)
    run.verify()
    with doubting([folder]):
        if json:
            shown: dict[str, Any] = as_json(run)
            print_json(shown)
        else:
            print_result(run)
    result = read_result(run)
    failed = result is not None and result.passed is False
    if require_steady:
        for where in unsteady(run):
            say(f"steady state was not achieved, and --require-steady asks for it: {where}")
            failed = True
    return 1 if failed else 0


def unsteady(run: RunFolder) -> list[str]:
    """Name what a run, or the runs of a suite, judged and did not find steady."""
    from ssdlab.methods.results.outcome import read_result
    from ssdlab.runs.suites.outcome import finished_children

    runs = finished_children(run.path.parent, run.manifest.children) if run.manifest.children else [run]
    return [
        f"{each.manifest.method.name}, {what}"
        for each in runs
        if (result := read_result(each)) is not None
        for what in result.unsteady
    ]
