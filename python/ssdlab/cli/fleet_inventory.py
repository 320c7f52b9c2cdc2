"""`ssdlab fleet inventory`: what drives this host has, for the fleet and for Slurm."""

from __future__ import annotations

from pathlib import Path

from ssdlab.cli.kinds import DriveTexts, Host, Rack
from ssdlab.cli.ordering import library_of
from ssdlab.cli.output import print_json, print_line, print_table, say
from ssdlab.model.units import capacity_text, counted


def inventory(
    *,
    simulated: DriveTexts = (),
    host: Host = None,
    rack: Rack = "",
    slurm: bool = False,
    scripts: Path | None = None,
    library: Path | None = None,
    json: bool = False,
) -> None:
    """Write what drives this host has into the shared library; run it on each host of a fleet.

    Parameters
    ----------
    simulated
        A simulated drive that counts as one of this host; its text says serial=. May be given several times.
    host
        What the host is called [default: the name of its Slurm node, else its own].
    rack
        Where the host stands, as the fleet's page is to group its drives.
    slurm
        Print the lines for gres.conf and slurm.conf; drives that the guard keeps from writing are left out.
    scripts
        Folder to write Slurm's health check, prolog and epilog to; prints their lines for slurm.conf.
    library
        The library that all hosts share; by default ssdlab/runs in the XDG data folder.
    json
        Print the inventory as JSON, schema ssdlab.inventory/1.
    """
    from ssdlab.fleet.inventory import take
    from ssdlab.fleet.slurm_lines import gres_lines, node_line

    taken = take(library_of(library), simulated, host, rack)
    if json:
        print_json(taken.model_dump(mode="json", by_alias=True))
        return
    if slurm:
        print_line("# gres.conf")
        for line in gres_lines(taken):
            print_line(line)
        print_line("# slurm.conf: GresTypes=drive, and")
        print_line(node_line(taken))
    if scripts is not None:
        from ssdlab.fleet.slurm_scripts import write_scripts

        for line in write_scripts(scripts, library_of(library), taken.host):
            print_line(line)
    if slurm or scripts is not None:
        return
    rows = [(d.serial, d.model, d.text, capacity_text(d.who.capacity_bytes)) for d in taken.drives]
    print_table(rows, ("serial", "model", "drive", "capacity"), right=(3,))
    for why in taken.left_out.values():
        print_line(f"left out: {why}", "dim")
    say(f"{taken.host}: {counted(len(taken.drives), 'drive')} in the fleet's inventory")
