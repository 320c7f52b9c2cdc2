"""Forged plans and folders: whatever a file says, nothing is written and a sentence says what is wrong.

Each is tried as root and as nobody, and in each place where a plan is read: `fleet run` of its file, `fleet
resume` of its folder, and the command that a node of Slurm runs.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from fleet.forged_scene import Fields, Scene, a_device
from machine.forked import Done
from ssdlab.fleet.fleet_folder import FleetFolder
from ssdlab.model.errors import Refused
from ssdlab.results.seal import seal_document

pytestmark = pytest.mark.machine


@pytest.fixture(scope="module")
def scenes() -> Iterator[dict[str, Scene]]:
    with a_device() as (root, device):
        yield {user: Scene(root, user, device) for user in ("root", "nobody")}


@pytest.fixture(params=["root", "nobody"])
def scene(request: pytest.FixtureRequest, scenes: dict[str, Scene]) -> Scene:
    found = scenes[request.param]
    found.restore()
    return found


def filled_in(plan: Fields, fields: Fields) -> Fields:
    """Name the scene's own device and a place of its own: a forgery that works harms nothing else."""
    device, elsewhere = plan["jobs"][0]["drive"], Path(plan["library"]).parent / "elsewhere"

    def of(value: object) -> object:
        if isinstance(value, dict):
            return {name: of(each) for name, each in value.items()}
        if isinstance(value, list):
            return [of(each) for each in value]
        if isinstance(value, str):
            return value.replace("DEVICE", device).replace("ELSEWHERE", str(elsewhere))
        return value

    return {name: of(value) for name, value in fields.items()}


def of_job(**fields: object) -> Callable[[Fields], object]:
    return lambda plan: plan["jobs"][0].update(filled_in(plan, fields))


def of_task(**fields: object) -> Callable[[Fields], object]:
    return lambda plan: plan["jobs"][0]["task"].update(filled_in(plan, fields))


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
    "as-it-was": (as_it_was, "the field schema is"),
    "words": (of_job(words=["whole-drive-fill", "--destroy", "DEVICE", "--wipe-signatures"]), "jobs.0.words"),
    "destroys": (of_job(destroys=False), "jobs.0.destroys"),
    "consent": (of_job(consent=None), "jobs.0.consent"),
    "state": (of_job(drive="sim:tiny-test,serial=A1,state=ELSEWHERE"), "jobs.0.drive"),
    "drive-option": (of_job(drive="--destroy=DEVICE"), "jobs.0.drive"),
    "drive-dots": (of_job(drive="/dev/../etc/passwd"), "jobs.0.drive"),
    "drive-file": (of_job(drive="ELSEWHERE"), "jobs.0.drive"),
    "drive-line": (of_job(drive="DEVICE\n"), "jobs.0.drive"),
    "profile": (of_job(drive="sim:../x.toml,serial=A1"), "jobs.0.drive"),
    "slot-line": (of_job(slot="x\ny"), "jobs.0.slot"),
    "run-path": (of_task(run="ELSEWHERE/mine.toml"), "jobs.0.task.run"),
    "run-option": (of_task(run="--help"), "jobs.0.task.run"),
    "run-words": (of_task(run="qd1 --destroy DEVICE"), "jobs.0.task.run"),
    "setting-name": (of_task(settings={"--destroy": "DEVICE"}), "settings"),
    "setting-equals": (of_task(settings={"a=b": "1"}), "settings"),
    "setting-path": (of_task(settings={"file": "/etc/shadow"}), "settings.file"),
    "setting-line": (of_task(settings={"seconds": "1\n--destroy"}), "settings.seconds"),
    "purge": (of_task(purge=True), "jobs.0.task.purge"),
    "library-of-task": (of_task(library="ELSEWHERE"), "jobs.0.task.library"),
    "wipe": (of_task(wipe_signatures=True), "jobs.0.task.wipe_signatures"),
    "rig": (of_task(rig="ELSEWHERE/rig.toml"), "jobs.0.task.rig"),
    "variant-purge": (of_task(variant={"purge": "yes"}), "purge"),
    "variant-words": (of_task(variant={"write_cache": "on --destroy DEVICE"}), "write_cache"),
    "variant-dash": (of_task(variant={"spare": "-1"}), "spare"),
    "cap": (of_task(endurance_cap=-5), "jobs.0.task.endurance_cap"),
    "meter-file": (of_task(meter="csv:/etc/shadow"), "jobs.0.task.meter"),
    "meter-device": (of_task(meter="ppk2:DEVICE@5V"), "jobs.0.task.meter"),
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
    "another-drive": of_job(drive="/dev/nvme9n1"),
    "a-variant-that-formats": of_task(variant={"lba_format": 4096}),
}
"""Fields that a plan may have, of a plan that its user did not seal."""


def everywhere(scene: Scene, text: str) -> Iterator[Done]:
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
    for done in everywhere(scene, scene.forged(WELL_FORMED[name])):
        on_the_node = "is not the plan that was started: its digest" in done.err
        scene.check_refused(done, "plan.json" if on_the_node else "(key_seal)")


@pytest.mark.parametrize("seal", [None, "0" * 64])
def test_a_plan_without_its_key_seal_is_refused(scene: Scene, seal: str | None) -> None:
    forged = scene.write(scene.home / "forged.json", scene.forged(of_plan(key_seal=seal)))
    scene.check_refused(scene.run("fleet", "run", forged, "--backend", "local"), "(key_seal)")


def test_a_plan_of_another_user_or_host_is_refused(scene: Scene, scenes: dict[str, Scene]) -> None:
    other = scenes["root" if scene.user == "nobody" else "nobody"]
    theirs = scene.write(scene.home / "theirs.json", other.plans["fills"].as_text())
    scene.check_refused(scene.run("fleet", "run", theirs, "--destroy-all", "1"), "(key_seal)")


def test_what_is_destroyed_follows_from_the_work(scene: Scene) -> None:
    done = scene.run("fleet", "run", scene.home / "fills.json", "--backend", "local")
    scene.check_refused(done, "destroys the data of 1 drive, but no consent was given")
    assert scene.plans["fills"].jobs[0].serial in done.out


# --- folders and files that others can change ---


def widen(path: Callable[[Scene], Path], mode: int) -> Callable[[Scene], None]:
    return lambda scene: path(scene).chmod(mode)


def given_away(path: Callable[[Scene], Path]) -> Callable[[Scene], None]:
    return lambda scene: os.chown(path(scene), 4242, 4242)


def linked(path: Callable[[Scene], Path]) -> Callable[[Scene], None]:
    """Put in its place a link, which is somebody else's, to the real thing."""

    def change(scene: Scene) -> None:
        place = path(scene)
        place.rename(real := scene.home / "real")
        place.symlink_to(real)
        os.chown(place, 4242, 4242, follow_symlinks=False)

    return change


def named_twice(path: Callable[[Scene], Path]) -> Callable[[Scene], None]:
    return lambda scene: (scene.home / "another-name").hardlink_to(path(scene))


def a_pipe(path: Callable[[Scene], Path]) -> Callable[[Scene], None]:
    def change(scene: Scene) -> None:
        path(scene).unlink()
        os.mkfifo(path(scene))
        os.chown(path(scene), scene.id, scene.id)

    return change


def plan_file(scene: Scene) -> Path:
    return scene.home / "reads.json"


def begun_file(scene: Scene) -> Path:
    return scene.folder() / "plan.json"


def library(scene: Scene) -> Path:
    return scene.library


def fleet(scene: Scene) -> Path:
    return scene.library / ".fleet"


def folder(scene: Scene) -> Path:
    return scene.folder()


def logs(scene: Scene) -> Path:
    return scene.folder() / "logs"


def attempts(scene: Scene) -> Path:
    return scene.folder() / "attempts"


CHANGEABLE: dict[str, tuple[Callable[[Scene], None], str]] = {
    "library-of-a-group": (widen(library, 0o775), "library can be changed by its group"),
    "library-of-all": (widen(library, 0o777), "library can be changed by everybody"),
    "fleet-of-a-group": (widen(fleet, 0o775), ".fleet can be changed by its group"),
    "folder-of-a-group": (widen(folder, 0o775), "reads can be changed by its group"),
    "folder-of-all": (widen(folder, 0o777), "reads can be changed by everybody"),
    "folder-like-tmp": (widen(folder, 0o1777), "reads can be changed by everybody"),
    "logs-of-a-group": (widen(logs, 0o775), "logs can be changed by its group"),
    "attempts-of-all": (widen(attempts, 0o777), "attempts can be changed by everybody"),
    "fleet-of-another": (given_away(fleet), ".fleet belongs to user 4242"),
    "folder-of-another": (given_away(folder), "reads belongs to user 4242"),
    "logs-of-another": (given_away(logs), "logs belongs to user 4242"),
    "plan-of-another": (given_away(begun_file), "plan.json belongs to user 4242"),
    "plan-of-a-group": (widen(begun_file, 0o664), "plan.json can be changed by its group"),
    "plan-of-all": (widen(begun_file, 0o666), "plan.json can be changed by everybody"),
    "library-linked": (linked(library), "library belongs to user 4242"),
    "fleet-linked": (linked(fleet), ".fleet belongs to user 4242"),
    "folder-linked": (linked(folder), "is a link"),
    "logs-linked": (linked(logs), "is a link"),
    "plan-linked": (linked(begun_file), "is a link"),
    "plan-a-pipe": (a_pipe(begun_file), "is a named pipe"),
}


@pytest.mark.parametrize("name", CHANGEABLE)
def test_a_folder_that_others_can_change_is_refused(scene: Scene, name: str) -> None:
    change, words = CHANGEABLE[name]
    change(scene)
    plan = scene.plans["reads"]
    scene.check_refused(scene.job(plan), words)
    scene.check_refused(scene.run("fleet", "resume", plan.plan_id, "--library", scene.library), words)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (widen(plan_file, 0o664), "reads.json can be changed by its group"),
        (widen(plan_file, 0o666), "reads.json can be changed by everybody"),
        (given_away(plan_file), "reads.json belongs to user 4242"),
        (linked(plan_file), "is a link"),
        (named_twice(plan_file), "has 2 names"),
        (a_pipe(plan_file), "is a named pipe"),
        (widen(lambda scene: scene.home, 0o777), "can be changed by everybody"),
        (given_away(lambda scene: scene.home), "belongs to user 4242"),
    ],
)
def test_a_plan_file_that_others_can_change_is_refused(
    scene: Scene, change: Callable[[Scene], None], words: str
) -> None:
    change(scene)
    scene.check_refused(scene.run("fleet", "run", plan_file(scene), "--backend", "local"), words)


def test_an_inventory_that_others_can_change_makes_no_plan(scene: Scene) -> None:
    words = (
        "fleet",
        "plan",
        scene.home / "reads.toml",
        "--library",
        scene.library,
        "-o",
        scene.home / "x.json",
    )
    path = scene.library / ".fleet" / "inventory" / "n1.json"
    path.chmod(0o666)
    scene.check_refused(scene.run(*words), "n1.json can be changed by everybody")
    path.chmod(0o644)
    stored = json.loads(path.read_text())
    del stored["seal"]
    stored["drives"][0]["text"] = f"sim:tiny-test,serial=A1,state={scene.elsewhere}"
    scene.write(path, seal_document(json.dumps(stored)))
    scene.check_refused(scene.run(*words), "drives.0.text")
    assert not (scene.home / "x.json").exists()


# --- consent, replays, and what the host finds ---


def test_resume_of_a_plan_that_nobody_consented_to_is_refused(scene: Scene) -> None:
    plan = scene.plans["fills"]
    words = ("fleet", "resume", plan.plan_id, "--library", scene.library)
    scene.check_refused(scene.run(*words), "consent is missing (consent.json)")
    made_up = {
        "at": "2026-01-01T00:00:00.000Z",
        "plan": plan.digest,
        "folder_inode": scene.folder(plan).stat().st_ino,
        "folder_birth_ns": None,
        "destroyed": plan.destroyed,
        "wipe_signatures": True,
        "seal": "0" * 64,
    }
    scene.write(scene.folder(plan) / "consent.json", json.dumps(made_up))
    scene.check_refused(scene.run(*words), "consent.json was not sealed by this user on this host")
    scene.check_refused(scene.run(*words, "--destroy-all", "2"), "--destroy-all is 2")


def test_consent_counts_for_its_plan_in_its_folder_alone(scene: Scene) -> None:
    plan = scene.plans["fills"]
    given = scene.run("fleet", "resume", plan.plan_id, "--library", scene.library, "--destroy-all", "1",
                      "--backend", "slurm")  # fmt: skip
    assert given.status in (2, 3), "no Slurm answers, after the consent was put on record"
    consent = scene.folder(plan) / "consent.json"
    kept = consent.read_text()
    assert json.loads(kept)["destroyed"] == list(plan.destroyed)
    away = scene.home / "away"
    scene.folder(plan).rename(away)
    subprocess.run(["cp", "-a", away, scene.folder(plan)], check=True)
    words = ("fleet", "resume", plan.plan_id, "--library", scene.library)
    scene.check_refused(scene.run(*words), "its folder is a copy")
    scene.write(consent, kept.replace(plan.digest, scene.plans["reads"].digest))
    scene.check_refused(scene.run(*words), "consent.json was not sealed by this user")


def test_an_older_plan_in_the_folder_of_another_is_refused(scene: Scene) -> None:
    old = scene.plans["fills"].as_text()
    plan = scene.plans["reads"]
    scene.write(begun_file(scene), old)
    words = ", but its folder belongs to another plan"
    scene.check_refused(scene.job(plan), words)
    scene.check_refused(scene.run("fleet", "resume", plan.plan_id, "--library", scene.library), words)
    scene.check_refused(scene.run("fleet", "run", plan_file(scene), "--backend", "local"), words)


@pytest.mark.parametrize("words", [(), ("--destroy=S9",), ("--wipe-signatures",), ("--destroy=",)])
def test_a_node_takes_consent_from_its_command_alone(scene: Scene, words: tuple[str, ...]) -> None:
    scene.check_refused(scene.job(scene.plans["fills"], *words), "job 0001 destroys the data of drive")


def test_a_drive_attached_anew_is_another(scenes: dict[str, Scene]) -> None:
    scene = scenes["root"]
    scene.restore()
    plan = scene.plans["fills"]
    backing = subprocess.run(
        ["losetup", "--noheadings", "--output", "BACK-FILE", scene.device],
        check=True, capture_output=True, text=True,
    ).stdout.strip()  # fmt: skip
    subprocess.run(["losetup", "--detach", scene.device], check=True)
    subprocess.run(["losetup", scene.device, backing], check=True)
    done = scene.job(plan, f"--destroy={plan.jobs[0].serial}", "--wipe-signatures")
    scene.check_refused(done, "its device was attached after planning")


@pytest.mark.parametrize("number", ["--user=root", "1;id", "../1", "-1"])
def test_what_a_back_end_called_a_job_is_a_number(scene: Scene, number: str) -> None:
    plan = scene.plans["reads"]
    stored = {"backend": "slurm", "jobs": {"0001": number}, "given": {"0001": 1.0}}
    scene.write(scene.folder() / "submitted.json", json.dumps(stored))
    for verb in ("cancel", "status", "resume"):
        done = scene.run("fleet", verb, plan.plan_id, "--library", scene.library)
        scene.check_refused(done, "submitted.json is damaged")


def test_a_plan_is_read_once(scenes: dict[str, Scene]) -> None:
    """Somebody swaps the file all the while: what is refused is never the plan that is done."""
    scene = scenes["root"]
    scene.restore()
    plan, place = scene.plans["reads"], begun_file(scene)
    texts = [plan.as_text(), scene.forged(of_task(run="whole-drive-fill"))]
    ended = threading.Event()

    def swap() -> None:
        for number in itertools.count():
            if ended.is_set():
                return
            new = place.with_name("new")
            new.write_text(texts[number % 2])
            new.rename(place)

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        seen = set()
        for _ in range(300):
            found = FleetFolder(scene.folder())
            with suppress(Refused):
                found.check_plan(plan.digest)
                assert found.plan.jobs[0].task.run == "peak-random-read"
            seen.add(found.plan.jobs[0].task.run)
    finally:
        ended.set()
        swapper.join()
    assert len(seen) == 2, "both were met"
