"""Slurm's files for a fleet: configuration lines, and scripts around its jobs."""

from __future__ import annotations

import os
import re
import shlex
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from ssdlab.fleet.fleet_folder import Attempt, FleetFolder
from ssdlab.fleet.inventory import FLEET
from ssdlab.fleet.slurm import GRES, ask, gres_type, is_set_up
from ssdlab.fleet.status import REFUSED_STATUS
from ssdlab.host.durable import library_errors
from ssdlab.host.held_folder import HeldFolder
from ssdlab.host.programs import own_module
from ssdlab.model.errors import LabError, Refused

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ssdlab.fleet.inventory import Inventory


def gres_lines(inventory: Inventory) -> list[str]:
    """Return the lines of gres.conf: each writable drive, with its serial as type.

    They name the devices, unless there is a simulated drive.

    Raises
    ------
    Refused
        Two serials give the same type.
    """
    _check_types(inventory)
    # slurmd does not start if some lines of one GRES name a file and others do not.
    devices = all(drive.who.capabilities.block_device for drive in inventory.drives)
    return [
        f"NodeName={inventory.host} Name={GRES} Type={gres_type(drive.serial)} "
        + (f"File={drive.who.path}" if devices else "Count=1")
        for drive in inventory.drives
    ]


def node_line(inventory: Inventory) -> str:
    """Return the host's line of slurm.conf."""
    gres = ",".join(f"{GRES}:{gres_type(drive.serial)}:1" for drive in inventory.drives)
    listed = f" Gres={gres}" if gres else ""
    memory = f" RealMemory={inventory.memory_mib}" if inventory.memory_mib else ""
    return f"NodeName={inventory.host} CPUs={inventory.cpus}{memory}{listed} State=UNKNOWN"


def _check_types(inventory: Inventory) -> None:
    seen: dict[str, str] = {}
    for drive in inventory.drives:
        kind = gres_type(drive.serial).lower()
        if (other := seen.setdefault(kind, drive.serial)) != drive.serial:
            raise Refused(
                f"the serials {other} and {drive.serial} are the same type in Slurm: {kind}",
                "leave one of them out of Slurm",
            )


# Scripts that Slurm runs on a host around its jobs: health check, prolog and epilog.
#
# All three check the host's drives and store the result. The prolog also ends a job whose drive has a fault,
# before the job's script starts. For a job of a fleet it records the fault as a sentence that `ssdlab fleet
# status` shows; any other job gets the sentence as its AdminComment. The scripts always exit with 0, because
# a prolog that fails takes the node out of service and leaves the job held.
# Sources: slurm.conf(5), prolog and epilog guide of Slurm 22.05.

SCRIPTS = {"health-check": "HealthCheckProgram", "prolog": "Prolog", "epilog": "Epilog"}
"""Keys of slurm.conf, by script."""
HEALTH_EVERY_S = 300


def write_scripts(folder: Path, library: Path) -> list[str]:
    """Write the scripts into a folder, and return their lines for slurm.conf.

    The scripts are the same on all hosts.

    Raises
    ------
    HostError
        The folder cannot be written.
    """
    with library_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with HeldFolder(folder, writing=True) as held:
            for name in SCRIPTS:
                held.replace(name, _script(name, library))
                (folder / name).chmod(0o755)
    lines = [f"{key}={folder.absolute() / name}" for name, key in SCRIPTS.items()]
    return [*lines, f"HealthCheckInterval={HEALTH_EVERY_S}"]


def end_job(library: Path, number: str, faults: Mapping[str, str]) -> str:
    """End a Slurm job if one of its drives has a fault; return the reason, empty if it may continue.

    Raises
    ------
    HostError
        Slurm does not answer.
    """
    answer = ask("scontrol", "show", "job", "-d", "-o", number)
    types = {kind.lower() for kind in re.findall(rf"\b{GRES}:([^:,=()\s]+)", answer)}
    sentence = "; ".join(what for serial, what in faults.items() if gres_type(serial).lower() in types)
    if not sentence:
        return ""
    noted = False
    with suppress(LabError):  # the plan may be another user's, or none
        noted = _note_refused(library, answer, number, sentence)
    if not noted:
        with suppress(LabError):
            ask("scontrol", "update", f"JobId={number}", f"AdminComment={sentence}")
    ask("scancel", number)
    return sentence


def _note_refused(library: Path, answer: str, number: str, sentence: str) -> bool:
    """Record the end of a fleet's job as a refused attempt; return False if it is not a fleet's job."""
    comment = re.search(r"\bComment=([^/\s.]+)/(\d+)(?:\s|$)", answer)
    if comment is None or not (library / FLEET / comment[1]).is_dir():
        return False
    fleet, now = FleetFolder(library / FLEET / comment[1]), time.time()
    fleet.check_private()
    attempt = Attempt(
        job=fleet.plan.job(comment[2]).name,
        number=fleet.next_attempt(comment[2]),
        host=os.environ.get("SLURMD_NODENAME", ""),
        pid=os.getpid(),
        backend_job=number,
        began=now,
        ended=now,
        exit_status=REFUSED_STATUS,
        sentence=sentence,
    )
    fleet.write_attempt(attempt)
    return True


def script_faults() -> dict[str, str]:
    """Return a sentence for each script that slurm.conf names but this host lacks, by path.

    Empty if Slurm is not set up or does not answer.
    """
    if not is_set_up():
        return {}
    with suppress(LabError):
        text = ask("scontrol", "show", "config")
        named = re.findall(rf"^({'|'.join(SCRIPTS.values())})\s*= (/\S+)", text, re.MULTILINE)
        return {
            path: f"{path}, {key} in slurm.conf, is no program here: write it with ssdlab fleet scripts"
            for key, path in named
            if not os.access(path, os.X_OK)
        }
    return {}


def _script(name: str, library: Path) -> str:
    # Slurm sets SLURMD_NODENAME for all three; ssdlab takes its host's name from it.
    words = own_module("ssdlab", "fleet", "check", "--library", str(library.absolute()))
    job = ' --job "$SLURM_JOB_ID"' if name == "prolog" else ""
    return (
        f"#!/bin/sh\n# Slurm's {SCRIPTS[name]}: written by `ssdlab fleet scripts`.\n"
        f"{shlex.join(words)}{job} >/dev/null 2>&1\nexit 0  # another status takes the node out of service\n"
    )
