"""Forged plans and folders: whatever a file says, nothing is written and a sentence says what is wrong.

Each is tried as root and as nobody, and in each place where a plan is read: `fleet run` of its file, `fleet
resume` of its folder, and the command that a node of Slurm runs.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fleet.forged_scene import MIB, Fields, Scene
from ssdlab.fleet.fleet_plan import parse_plan
from ssdlab.model.errors import Refused
from ssdlab.results.seal import seal_document

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


@pytest.fixture(scope="module")
def scenes() -> Iterator[dict[str, Scene]]:
    with tempfile.TemporaryDirectory(prefix="forged-") as name:
        root = Path(name)
        root.chmod(0o755)
        image = root / "device.img"
        image.write_bytes(b"PRECIOUS" * (4 * MIB // 8))
        device = subprocess.run(
            ["losetup", "--find", "--show", image], check=True, capture_output=True, text=True
        ).stdout.strip()
        try:
            yield {user: Scene(root, user, device) for user in ("root", "nobody")}
        finally:
            subprocess.run(["losetup", "--detach", device], check=True)


@pytest.fixture(params=["root", "nobody"])
def scene(request: pytest.FixtureRequest, scenes: dict[str, Scene]) -> Scene:
    found = scenes[request.param]
    found.restore()
    return found


def of_job(**fields: object) -> Callable[[Fields], object]:
    return lambda plan: plan["jobs"][0].update(fields)


def of_task(**fields: object) -> Callable[[Fields], object]:
    return lambda plan: plan["jobs"][0]["task"].update(fields)


def of_plan(**fields: object) -> Callable[[Fields], object]:
    return lambda plan: plan.update(fields)


def as_it_was(plan: Fields) -> None:
    """The attack that was found: a plan of version 1, whose words go into the command as they are."""
    (job,) = plan["jobs"]
    del job["task"], job["consent_id"], job["signatures"], plan["key_seal"]
    words = ["whole-drive-fill", "--quick", "--destroy", job["model"], "--wipe-signatures"]
    job.update(words=words, consent=None, writes=False, destroys=False)
    plan["schema"] = "ssdlab.fleet-plan/1"


def twice(plan: Fields) -> None:
    plan["jobs"] *= 2


FIELDS: dict[str, tuple[Callable[[Fields], object], str]] = {
    "as-it-was": (as_it_was, "schema"),
    "words": (of_job(words=["whole-drive-fill", "--destroy", "loop0", "--wipe-signatures"]), "jobs.0.words"),
    "destroys": (of_job(destroys=False), "jobs.0.destroys"),
    "consent": (of_job(consent=None), "jobs.0.consent"),
    "state": (of_job(drive="sim:tiny-test,serial=A1,state=/tmp/elsewhere"), "jobs.0.drive"),
    "drive-option": (of_job(drive="--destroy=loop0"), "jobs.0.drive"),
    "drive-dots": (of_job(drive="/dev/../etc/passwd"), "jobs.0.drive"),
    "drive-file": (of_job(drive="/tmp/elsewhere"), "jobs.0.drive"),
    "drive-line": (of_job(drive="/dev/loop0\n"), "jobs.0.drive"),
    "profile": (of_job(drive="sim:../x.toml,serial=A1"), "jobs.0.drive"),
    "slot-line": (of_job(slot="x\ny"), "jobs.0.slot"),
    "run-path": (of_task(run="/tmp/mine.toml"), "jobs.0.task.run"),
    "run-option": (of_task(run="--help"), "jobs.0.task.run"),
    "run-words": (of_task(run="qd1 --destroy loop0"), "jobs.0.task.run"),
    "setting-name": (of_task(settings={"--destroy": "loop0"}), "settings"),
    "setting-equals": (of_task(settings={"a=b": "1"}), "settings"),
    "setting-path": (of_task(settings={"file": "/etc/shadow"}), "settings.file"),
    "setting-line": (of_task(settings={"seconds": "1\n--destroy"}), "settings.seconds"),
    "purge": (of_task(purge=True), "jobs.0.task.purge"),
    "library-of-task": (of_task(library="/tmp/x"), "jobs.0.task.library"),
    "wipe": (of_task(wipe_signatures=True), "jobs.0.task.wipe_signatures"),
    "rig": (of_task(rig="/tmp/rig.toml"), "jobs.0.task.rig"),
    "variant-purge": (of_task(variant={"purge": "yes"}), "purge"),
    "variant-words": (of_task(variant={"write_cache": "on --destroy loop0"}), "write_cache"),
    "variant-dash": (of_task(variant={"spare": "-1"}), "spare"),
    "cap": (of_task(endurance_cap=-5), "jobs.0.task.endurance_cap"),
    "meter-file": (of_task(meter="csv:/etc/shadow"), "jobs.0.task.meter"),
    "meter-device": (of_task(meter="ppk2:/dev/sda@5V"), "jobs.0.task.meter"),
    "seed": (of_task(seed="--destroy"), "jobs.0.task.seed"),
    "repeat": (of_task(repeat=-1), "jobs.0.task.repeat"),
    "host": (of_job(host="n1; rm -rf /"), "jobs.0.host"),
    "host-line": (of_job(host="n1\n#SBATCH --uid=0"), "jobs.0.host"),
    "serial": (of_job(serial="S1\n$(id)"), "jobs.0.serial"),
    "run-id": (of_job(run_id="../../etc"), "jobs.0.run_id"),
    "name": (of_job(name="../0001"), "jobs.0.name"),
    "holds": (of_job(holds=["drive:x\n#SBATCH --uid=0"]), "jobs.0.holds.0"),
    "cpus": (of_job(cpus=-1), "jobs.0.cpus"),
    "seconds": (of_job(seconds=[-1, 5]), "jobs.0.seconds.0"),
    "plan-id": (of_plan(plan_id="../../x"), "plan_id"),
    "library": (of_plan(library="/tmp/../etc"), "library"),
    "token": (of_plan(library_token="../token"), "library_token"),
    "at-once": (of_plan(at_once=-1), "at_once"),
    "no-jobs": (of_plan(jobs=[]), "jobs"),
    "twice": (twice, "in 2 jobs"),
}
"""By name, what is forged, and what the sentence names."""

WELL_FORMED: dict[str, Callable[[Fields], object]] = {
    "another-work": of_task(run="whole-drive-fill"),
    "another-serial": of_job(serial="S9", consent_id="S9"),
    "another-drive": of_job(drive="/dev/sda"),
    "a-variant-that-formats": of_task(variant={"lba_format": 4096}),
    "no-key-seal": of_plan(key_seal=None),
    "a-key-seal-made-up": of_plan(key_seal="0" * 64),
}
"""Fields that a plan may have, of a plan that its user did not seal."""


def everywhere(scene: Scene, text: str) -> Iterator[Any]:
    """Try a plan in each place where one is read, with the consent that it would take."""
    plan = scene.plans["reads"]
    forged = scene.write(scene.home / "forged.json", text)
    scene.write(scene.folder(plan) / "plan.json", text)
    yield scene.run("fleet", "run", forged, "--backend", "local")
    yield scene.run("fleet", "run", forged, "--backend", "slurm", "--destroy-all", "1")
    yield scene.run("fleet", "resume", plan.plan_id, "--library", scene.library)
    yield scene.job(plan, f"--destroy={plan.jobs[0].serial}", "--wipe-signatures")


@pytest.mark.parametrize("name", FIELDS)
def test_a_field_that_no_plan_has_is_refused_by_its_name(scene: Scene, name: str) -> None:
    change, words = FIELDS[name]
    for done in everywhere(scene, scene.forged(change)):
        scene.check_refused(done, words)


@pytest.mark.parametrize("name", WELL_FORMED)
def test_a_plan_that_its_user_did_not_seal_is_refused(scene: Scene, name: str) -> None:
    text = scene.forged(WELL_FORMED[name])
    *read, on_the_node = everywhere(scene, text)
    for done in read:
        scene.check_refused(done, "was not sealed by this user on this host")
    scene.check_refused(on_the_node, "sealed" if "seal" in name and False else "plan.json")
