"""Drives that are not as planned when their job begins: a sentence, nothing written, the node stays."""

from __future__ import annotations

import errno
import json
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fleet.test_slurm import until
from ssdlab.results.seal import seal_document

pytestmark = pytest.mark.machine
MIB = 1 << 20
SELECTION = """
[[drives]]
serials = [{serials}]
[[work]]
run = "steady-random-write"
quick = true
set = {{ seconds = "200ms" }}
"""


def sectors_written(device: Path) -> int:
    return int((Path("/sys/block") / device.name / "stat").read_text().split()[6])


@dataclass(frozen=True)
class Lab:
    """Four devices of node n1, and a simulated drive that has nothing to fear."""

    mounted: Path
    missing: Path
    swapped: tuple[Path, Path]
    scripts: list[str]

    @property
    def devices(self) -> tuple[Path, ...]:
        return (self.mounted, self.missing, *self.swapped)

    @property
    def serials(self) -> list[str]:
        return [*(f"n1-{device.name}" for device in self.devices), "A1"]


@pytest.fixture
def lab(
    make_zram: Callable[..., Path], ssdlab: Callable[..., Any], library: Path, tmp_path: Path
) -> Iterator[Lab]:
    devices = [make_zram(64 * MIB) for _ in range(4)]
    words = ["--simulated", "sim:tiny-test,scale=4,serial=A1"]
    done = ssdlab("fleet", "inventory", "--host", "n1", "--library", str(library), *words)
    assert done.returncode == 0, done.stderr
    done = ssdlab("fleet", "scripts", str(tmp_path / "scripts"), "--library", str(library))
    assert done.returncode == 0, done.stderr
    yield Lab(devices[0], devices[1], (devices[2], devices[3]), done.stdout.splitlines())
    if (tmp_path / "mount").is_mount():
        subprocess.run(["umount", tmp_path / "mount"], check=True)


def plan(lab: Lab, ssdlab: Callable[..., Any], library: Path, tmp_path: Path) -> Path:
    """Plan them all, as they hang now; of two the inventory has the slots the other way round."""
    path = library / ".fleet" / "inventory" / "n1.json"
    stored = json.loads(path.read_text())
    stored.pop("seal")
    drives = {drive["serial"]: drive for drive in stored["drives"]}
    one, other = (drives[f"n1-{device.name}"] for device in lab.swapped)
    one["slot"], other["slot"] = other["slot"], one["slot"]
    path.write_text(seal_document(json.dumps(stored)))
    serials = ", ".join(f'"{serial}"' for serial in lab.serials)
    (tmp_path / "selection.toml").write_text(SELECTION.format(serials=serials))
    made = tmp_path / "plan.json"
    done = ssdlab("fleet", "plan", "selection.toml", "--library", str(library), "-o", str(made))
    assert done.returncode == 0, done.stderr
    return made


def disturb(lab: Lab, tmp_path: Path) -> None:
    """Mount one, and take one away."""
    (tmp_path / "mount").mkdir()
    subprocess.run(["mkfs.ext4", "-q", lab.mounted], check=True)
    subprocess.run(["mount", "-o", "ro,noload", lab.mounted, tmp_path / "mount"], check=True)
    until(lambda: taken_away(lab.missing))


def taken_away(device: Path) -> bool:
    """Take a device's medium away; False while somebody looks at it."""
    try:
        (Path("/sys/block") / device.name / "reset").write_text("1")
    except OSError as error:
        assert error.errno == errno.EBUSY
        return False
    return True


@pytest.mark.parametrize("scripts", [True, False], ids=["by the prolog", "by the job itself"])
def test_a_drive_that_is_not_as_planned_ends_its_job_and_keeps_the_node(
    scripts: bool,
    lab: Lab,
    make_slurm: Callable[..., Any],
    ssdlab: Callable[..., Any],
    states: Callable[..., dict[str, dict[str, Any]]],
    library: Path,
    tmp_path: Path,
) -> None:
    cluster = make_slurm({"n1": lab.serials}, more=lab.scripts if scripts else ())
    path = plan(lab, ssdlab, library, tmp_path)
    disturb(lab, tmp_path)
    before = {device: sectors_written(device) for device in lab.devices}
    done = ssdlab("fleet", "run", str(path), "--destroy-all", "5", environment=cluster.environment)
    assert done.returncode == 0, done.stderr
    ended = {"finished", "refused", "failed"}

    def told() -> Any:
        found = states(cluster.environment)
        return found if {job["state"] for job in found.values()} <= ended else None

    found = until(told, 200)
    mounted, missing, one, other, simulated = (found[serial] for serial in lab.serials)
    assert simulated["state"] == "finished"
    assert {job["state"] for job in (mounted, missing, one, other)} == {"refused"}
    assert f"is mounted at {tmp_path}/mount" in mounted["reason"]
    assert missing["reason"].startswith(f"drive n1-{lab.missing.name}: {lab.missing} has no size")
    for this, that, job in zip(lab.swapped, reversed(lab.swapped), (one, other), strict=True):
        words = f"drive n1-{this.name} has moved, and n1-{that.name} is in its slot"
        assert job["reason"] == words
    for device in lab.devices:
        assert sectors_written(device) in {before[device], 0}, "something was written"
    assert {serial: job["attempts"] for serial, job in found.items() if job["attempts"]} == {"A1": 1}
    logs = {log.stem: log.read_text() for log in library.glob(".fleet/*/logs/*.log")}
    if scripts:  # Slurm may begin a script before it hears that the prolog has ended its job
        assert [job for job, text in logs.items() if "ssdlab run" in text] == [simulated["job"]]
    else:
        assert logs.keys() == {job["job"] for job in found.values()}
    until(lambda: not cluster.ask("squeue", "--noheader").stdout.strip())
    assert not cluster.out_of_service("n1")


def test_what_the_health_check_finds_is_told_of_jobs_that_wait(
    lab: Lab,
    make_slurm: Callable[..., Any],
    ssdlab: Callable[..., Any],
    states: Callable[..., dict[str, dict[str, Any]]],
    library: Path,
    tmp_path: Path,
) -> None:
    often = [line for line in lab.scripts if "Interval" not in line]
    cluster = make_slurm({"n1": lab.serials}, more=[*often, "HealthCheckInterval=3"])
    path = plan(lab, ssdlab, library, tmp_path)
    cluster.ask("scontrol", "update", "NodeName=n1", "State=DRAIN", "Reason=fan is loud")
    done = ssdlab("fleet", "run", str(path), "--destroy-all", "5", environment=cluster.environment)
    assert done.returncode == 0, done.stderr
    disturb(lab, tmp_path)
    found = until(
        lambda: (s := states(cluster.environment)) and "mounted" in s[lab.serials[0]]["reason"] and s
    )
    assert found[lab.serials[0]]["reason"].startswith("node n1 is drained: fan is loud; drive n1-")
    assert f"{lab.missing} has no size" in found[lab.serials[1]]["reason"]
    assert found["A1"]["reason"] == "node n1 is drained: fan is loud"
    assert ssdlab("fleet", "check", "--library", str(library)).returncode == 3
    cancelled = ssdlab("fleet", "cancel", "last", "--library", str(library), environment=cluster.environment)
    assert cancelled.returncode == 0


def test_the_prolog_ends_any_job_on_such_a_drive_and_leaves_others(
    lab: Lab, make_slurm: Callable[..., Any], tmp_path: Path
) -> None:
    cluster = make_slurm({"n1": lab.serials}, more=lab.scripts)
    disturb(lab, tmp_path)
    for number, serial in enumerate((lab.serials[1], lab.serials[2])):
        done = cluster.ask(
            "sbatch", f"--gres=drive:{serial}:1", f"--output={tmp_path}/{number}", "--wrap", "echo began"
        )
        assert done.returncode == 0, done.stderr
    until(lambda: not cluster.ask("squeue", "--noheader").stdout.strip())
    time.sleep(0.5)
    assert not (tmp_path / "0").exists()
    assert (tmp_path / "1").read_text() == "began\n"
    told = cluster.ask("scontrol", "show", "job", "--oneliner", "1").stdout
    assert "JobState=CANCELLED" in told
    assert f"AdminComment=drive n1-{lab.missing.name}: {lab.missing} has no size" in told
    assert not cluster.out_of_service("n1")


def test_a_script_that_slurm_names_and_the_host_lacks_is_named_before_a_job_is(
    make_slurm: Callable[..., Any], ssdlab: Callable[..., Any], library: Path, tmp_path: Path
) -> None:
    place = ("--library", str(library))
    ssdlab("fleet", "inventory", *place, "--simulated", "sim:tiny-test,scale=4,serial=A1")
    lines = ssdlab("fleet", "scripts", str(tmp_path / "scripts"), *place).stdout.splitlines()
    scripts = tmp_path / "scripts"
    assert {f"{scripts}/prolog", f"{scripts}/epilog"} < {line.partition("=")[2] for line in lines}
    assert "n1" not in (scripts / "prolog").read_text(), "one file for all hosts"
    cluster = make_slurm({"n1": ["A1"]}, more=lines)
    assert ssdlab("fleet", "check", *place, environment=cluster.environment).returncode == 0
    (scripts / "epilog").unlink()
    done = ssdlab("fleet", "check", *place, environment=cluster.environment)
    assert done.returncode == 3
    assert f"{scripts}/epilog, Epilog in slurm.conf" in done.stdout
