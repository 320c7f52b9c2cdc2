"""`ssdlab run`: run a method or a suite on a drive."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ssdlab.cli.dry_run import dry_run as show_effects
from ssdlab.cli.flags import takes
from ssdlab.cli.kinds import Count, Identifier, Seed, Settings, Share, Size
from ssdlab.cli.ordering import library_of, order, print_run, variant_of
from ssdlab.cli.progress import RunProgress
from ssdlab.runs.conditions.variant import Variant


@takes(Variant)
def run(
    name: str,
    drive: str,
    /,
    *,
    set: Settings = (),
    quick: bool = False,
    size: Size = None,
    destroy: Identifier = None,
    wipe_signatures: bool = False,
    endurance_cap: Share = None,
    dry_run: bool = False,
    rig: Path | None = None,
    seed: Seed = None,
    repeat: Count = 1,
    require_steady: bool = False,
    library: Path | None = None,
    json: bool = False,
    **variant: Any,  # noqa: ANN401 - Variant checks them
) -> int:
    """Run a method or a suite on a drive, and keep it in the library.

    Stopped by Ctrl-C, a kill or a crash, it continues with `ssdlab resume`; nothing finished is done twice.

    Parameters
    ----------
    name
        The method or suite: see `ssdlab methods`.
    drive
        A block device such as /dev/nvme0n1, or a file (with --size when it must be made).
    set
        Set a parameter of the method: --set seconds=30; of a suite, of every part that has it, or of one:
        --set qd1.seconds=30. May be given several times.
    quick
        Take the method's quick presets: minutes instead of hours, and a result that says so.
    size
        Make the file with this size if it is missing: 4GiB.
    destroy
        Identifier of the drive whose data may be lost (see `ssdlab drives`).
    wipe_signatures
        Let --destroy cover a file system, partition table or array member on the drive.
    endurance_cap
        Share of the drive's rated endurance that may be written, by its record; by default 10%.
    dry_run
        Show every command and write that would reach the drive, and do nothing.
    rig
        File that describes the test platform; by default ssdlab/rig.toml in the XDG config folder.
    seed
        Seed of all random draws; by default one is drawn and recorded.
    repeat
        Run it so often; medians with their confidence intervals are shown. Six runs or more give 95 %.
    require_steady
        Exit with status 1 where steady state is judged and was not achieved; by default that is a result.
    library
        Folder of runs; by default ssdlab/runs in the XDG data folder.
    json
        Print the result as JSON, schema ssdlab.show/1.
    """
    from ssdlab.cli.suites import SuiteProgress, show_suite_effects, suite_order
    from ssdlab.runs.session import start
    from ssdlab.runs.suites.session import start_suite

    options: dict[str, Any] = {
        "quick": quick,
        "size": size,
        "destroy": destroy,
        "wipe_signatures": wipe_signatures,
        "endurance_cap": endurance_cap,
        "seed": seed,
        "rig": rig,
        "variant": variant_of(variant),
    }
    several = suite_order(name, drive, set, repeat=repeat, **options)
    if several is not None:
        if dry_run:
            show_suite_effects(several, json=json)
            return 0
        with SuiteProgress() as shown:
            folder = start_suite(several, library_of(library), shown)
        return print_run(folder, json=json, require_steady=require_steady)
    ordered = order(name, drive, set, **options)
    if dry_run:
        show_effects(ordered, json=json)
        return 0
    with RunProgress() as progress:
        folder = start(ordered, library_of(library), [progress])
    return print_run(folder, json=json, require_steady=require_steady)
