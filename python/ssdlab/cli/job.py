"""`ssdlab job`: a user's own sequence of steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ssdlab.cli.dry_run import dry_run as show_effects
from ssdlab.cli.flags import takes
from ssdlab.cli.kinds import Identifier, Seed, Share, Size
from ssdlab.cli.ordering import cap_share, library_of, print_run, size_of, variant_of
from ssdlab.cli.progress import RunProgress
from ssdlab.runs.conditions.variant import Variant, on_text


@takes(Variant)
def job(
    file: Path,
    drive: str,
    /,
    *,
    size: Size = None,
    destroy: Identifier = None,
    wipe_signatures: bool = False,
    endurance_cap: Share = None,
    dry_run: bool = False,
    rig: Path | None = None,
    seed: Seed = None,
    library: Path | None = None,
    json: bool = False,
    **variant: Any,  # noqa: ANN401 - Variant checks them
) -> None:
    """Run the steps of a TOML file on a drive: fill, run, precondition, idle, trim, flush, conditions ...

    Each step is a [[step]] table with `do = "run"` and its options; those of a run step are the options of
    `ssdlab measure`. The whole file is checked before anything is touched.

    Parameters
    ----------
    file
        The TOML file.
    drive
        A block device such as /dev/nvme0n1, or a file (with --size when it must be made).
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
    library
        Folder of runs; by default ssdlab/runs in the XDG data folder.
    json
        Print the result as JSON, schema ssdlab.show/1.
    """
    from ssdlab.host.documents import read_document, user_path
    from ssdlab.methods import find_method
    from ssdlab.methods.job import read_job
    from ssdlab.runs.order import Order
    from ssdlab.runs.session import start

    advice = "give the path of a TOML file with a [[step]] table for each step"
    text = read_document(user_path(file), "job", advice)
    params = read_job(text, file.name)
    asked = variant_of(variant)
    ordered = Order(
        find_method("job"),
        params,
        on_text(drive, asked),
        False,
        size_of(size),
        destroy,
        seed,
        wipe_signatures=wipe_signatures,
        endurance_cap=cap_share(endurance_cap),
        rig=rig,
        variant=asked,
    )
    if dry_run:
        show_effects(ordered, json=json)
        return
    with RunProgress() as progress:
        folder = start(ordered, library_of(library), [progress])
    print_run(folder, json=json)
