"""Consent on a real device: given to `fleet run`, it reaches the drive that it is for, and no other."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fleet.forged_scene import Scene, a_device
from ssdlab.fleet.fleet_consent import FleetConsent
from ssdlab.fleet.fleet_folder import FleetFolder
from ssdlab.results.run_folder import read_manifest

pytestmark = pytest.mark.machine


@pytest.fixture
def device() -> Iterator[tuple[Path, str]]:
    with a_device() as made:
        yield made


def test_with_consent_the_drive_is_written_and_resume_needs_no_more(device: tuple[Path, str]) -> None:
    scene = Scene(device[0], "root", device[1])
    plan = scene.plans["fills"]
    path = scene.home / "fills.json"
    done = scene.run("fleet", "run", path, "--backend", "local", "--destroy-all", "1")
    assert done.status == 0, done
    assert "1 job: 1 finished" in done.out
    written = scene.checksum()
    assert written != scene.before
    run = scene.library / plan.jobs[0].run_id
    manifest = read_manifest(run)
    assert manifest.open_options["destroy"] == plan.jobs[0].consent_id
    assert manifest.open_options["wipe_signatures"] is False
    shutil.rmtree(run)
    again = scene.run("fleet", "resume", plan.plan_id, "--library", scene.library)
    assert again.status == 0, again
    assert "1 job: 1 finished" in again.out
    assert scene.checksum() != written


def test_a_plan_of_reads_opens_the_drive_for_reading(device: tuple[Path, str]) -> None:
    scene = Scene(device[0], "root", device[1])
    done = scene.run("fleet", "run", scene.home / "reads.json", "--backend", "local")
    assert done.status == 0, done
    assert "destroy: no drive is written" in done.out
    assert scene.checksum() == scene.before
    manifest = read_manifest(scene.library / scene.plans["reads"].jobs[0].run_id)
    assert manifest.open_options["destroy"] is None


def test_signatures_take_a_consent_of_their_own(device: tuple[Path, str]) -> None:
    subprocess.run(["mkswap", device[1]], check=True, capture_output=True)
    scene = Scene(device[0], "root", device[1], leave="wipe-signatures = true\n")
    assert scene.plans["fills"].jobs[0].signatures == ("swap",)
    words = ("fleet", "run", scene.home / "fills.json", "--backend", "local", "--destroy-all", "1")
    done = scene.run(*words)
    scene.check_refused(done, f"{scene.plans['fills'].jobs[0].serial}: swap")
    assert "--destroy-all 1 --wipe-signatures" in done.err
    assert scene.run(*words, "--wipe-signatures").status == 0
    assert scene.checksum() != scene.before


def test_of_a_device_that_can_be_reset_unseen_consent_is_asked_again(
    make_zram: Callable[..., Path], tmp_path: Path
) -> None:
    zram = make_zram(4 << 20)
    with zram.open("r+b") as filled:
        filled.write(b"PRECIOUS" * (4 << 17))
    scene = Scene(tmp_path, "root", str(zram))
    plan, path = scene.plans["fills"], scene.home / "fills.json"
    consent = ("--destroy-all", "1")
    assert scene.run("fleet", "run", path, "--backend", "local", *consent).status == 0
    shutil.rmtree(scene.library / plan.jobs[0].run_id)
    written = scene.checksum()
    resume = ("fleet", "resume", plan.plan_id, "--library", scene.library)
    refused = scene.run(*resume)
    assert (refused.status, scene.checksum()) == (2, written)
    assert plan.jobs[0].serial in refused.err and "--destroy-all 1" in refused.err
    assert scene.run(*resume, *consent).status == 0
    assert scene.checksum() != written


def test_consent_to_signatures_that_no_drive_carries_is_refused(device: tuple[Path, str]) -> None:
    scene = Scene(device[0], "root", device[1])
    words = ("fleet", "run", scene.home / "fills.json", "--backend", "local", "--destroy-all", "1")
    scene.check_refused(scene.run(*words, "--wipe-signatures"), "--wipe-signatures out")


def test_a_job_wipes_signatures_only_where_its_plan_names_them(device: tuple[Path, str]) -> None:
    commands = []
    for signed in (False, True):
        if signed:
            subprocess.run(["mkswap", device[1]], check=True, capture_output=True)
        (place := device[0] / str(signed)).mkdir()
        scene = Scene(place, "root", device[1], leave="wipe-signatures = true\n")
        plan = scene.plans["fills"]
        folder = FleetFolder(scene.folder(plan))
        given = {"destroyed": plan.destroyed, "wipe_signatures": True}
        folder.consent = FleetConsent.model_construct(**given)
        commands.append(folder.job_command(plan.jobs[0]))
    assert ["--wipe-signatures" in command for command in commands] == [False, True]
    assert all(f"--destroy={plan.jobs[0].serial}" in command for command in commands)


def test_a_run_that_others_can_change_is_not_resumed_with_its_consent(device: tuple[Path, str]) -> None:
    scene = Scene(device[0], "root", device[1])
    plan = scene.plans["fills"]
    run = scene.library / plan.jobs[0].run_id
    words = ("fleet", "run", scene.home / "fills.json", "--backend", "local", "--destroy-all", "1")
    assert scene.run(*words).status == 0
    assert run.stat().st_mode & 0o022 == 0
    written = scene.checksum()
    run.chmod(0o777)
    done = scene.job(plan, f"--destroy={plan.jobs[0].serial}")
    assert (done.status, scene.checksum()) == (2, written)
    assert plan.jobs[0].run_id in done.err and "can be changed by everybody" in done.err
