"""Root works on names in a stranger's folder, who swaps them meanwhile: nothing but the target is written.

Each try is a whole command: `measure` with its layout, `run`, `resume`, `purge`. The stranger swaps the file
for a link to a file that only root may write and to a block device, its folder for a link to one of root's,
and a link to the device that is meant for one to another. What must not change is compared by checksum.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from machine.forked import run_forked
from machine.racing import NOBODY, Swapper
from ssdlab.drives import open_drive
from ssdlab.lab.found import find_method
from ssdlab.lab.job import read_job
from ssdlab.model.errors import LabError
from ssdlab.results.run_folder import RunFolder
from ssdlab.runs.runner import Paused
from ssdlab.runs.session import Order, RunEnvironment, resume, start

MIB = 1 << 20
SIZE = 2 * MIB
FEW, MANY = 20, 1000
JOB = """
[[step]]
do = "run"
rw = "write"
bytes = "64KiB"

[[step]]
do = "run"
rw = "write"
bytes = "64KiB"
"""
Outcomes = Counter


class Scene:
    """The stranger's folder, what lies in it, and what must not change."""

    def __init__(self, root: Path, target: Path, victim: Path) -> None:
        self.device, self.victim_device = target, victim
        self.root = root
        self.secret = root / "secret"
        self.secret.mkdir(mode=0o700)
        self.private = self.secret / "scratch"
        # Of ours, so that no consent would be asked for: the way to it alone is what protects it.
        open_drive(self.private, size=SIZE).close()
        self.private.chmod(0o600)
        self.plain = self.secret / "plain"
        self.plain.write_bytes(os.urandom(SIZE))
        self.plain.chmod(0o600)
        self.theirs = root / "theirs"
        (self.theirs / "folder").mkdir(parents=True)
        links = {
            "folder/to-file": self.plain,
            "folder/to-ours": self.private,
            "folder/to-device": victim,
            "elsewhere": self.secret,
            "device": target,
            "other-device": victim,
        }
        for name, leads_to in links.items():
            (self.theirs / name).symlink_to(leads_to)
        for path in (self.theirs, *self.theirs.rglob("*")):
            os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
        self.scratch = self.theirs / "folder" / "scratch"
        self.before = self.state()

    def swapper(self, *, device: bool = False) -> Swapper:
        """Who swaps the file and its folder; or the link to the device."""
        pairs = [("folder/scratch", f"folder/{name}") for name in ("to-file", "to-ours", "to-device")]
        pairs = [("device", "other-device")] if device else [*pairs, ("folder", "elsewhere")]
        return Swapper(self.theirs, pairs, seed=10)

    def state(self) -> dict[str, str]:
        """What must not change: the files of root's folder with name, content and times, and a device."""
        found = {}
        for path in (*sorted(self.secret.iterdir()), self.victim_device):
            with path.open("rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
                found[str(path)] = hashlib.file_digest(file, "sha256").hexdigest()
            if path.parent == self.secret:
                status = path.stat()
                found[str(path)] += f" {status.st_mtime_ns} {status.st_ino} {status.st_size}"
        counts = Path(f"/sys/class/block/{self.victim_device.name}/stat").read_text().split()
        found["sectors written, discards"] = f"{counts[6]} {counts[11]}"
        return found

    def check(self, outcomes: Outcomes[str], swapper: Swapper) -> None:
        print(dict(outcomes), "swaps:", swapper.swaps)
        assert self.state() == self.before, "something else than the target was written"
        assert swapper.swaps > outcomes.total(), "the stranger was too slow to be in the way"
        assert set(outcomes) <= {0, 2, 3}, outcomes
        if outcomes.total() == MANY:
            assert outcomes[0] and outcomes[2], "it was never in time, or always"


@pytest.fixture
def scene(make_zram: Callable[..., Path]) -> Iterator[Scene]:
    target, victim = make_zram(16 * MIB), make_zram(16 * MIB)
    for device in (target, victim):
        Path(f"/sys/block/{device.name}/queue/iostats").write_text("1")
    with tempfile.TemporaryDirectory(prefix="ssdlab-race-", dir="/var/tmp") as root:
        Path(root).chmod(0o755)
        yield Scene(Path(root), target, victim)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"XDG_STATE_HOME": str(tmp_path / "state"), "XDG_DATA_HOME": str(tmp_path / "data")}


def status_of(work: Callable[[], object]) -> int:
    try:
        work()
    except LabError as error:
        return error.exit_status
    return 0


def measure(scene: Scene, tries: int, environment: dict[str, str]) -> None:
    outcomes: Outcomes[int] = Counter()
    words = ["measure", str(scene.scratch), "--size", str(SIZE), "--rw", "write", "--bytes", "64KiB"]
    with scene.swapper() as swapper:
        for _ in range(tries):
            with swapper.still():
                scene.scratch.unlink(missing_ok=True)
            outcomes[run_forked(words, environment).status] += 1
    scene.check(outcomes, swapper)


def order(scene: Scene) -> Order:
    return Order(find_method("job"), read_job(JOB, "two writes"), str(scene.scratch), size_bytes=SIZE, seed=1)


def uncompacted(**options: object) -> RunEnvironment:
    return RunEnvironment(finish=lambda folder, manifest, lock: manifest, **options)


def run(scene: Scene, tries: int, library: Path) -> None:
    outcomes: Outcomes[int] = Counter()
    with scene.swapper() as swapper:
        for _ in range(tries):
            if outcomes.total() % 2:  # every other one finds its file there already
                with swapper.still():
                    scene.scratch.unlink(missing_ok=True)
            outcomes[status_of(lambda: start(order(scene), library, environment=uncompacted()))] += 1
            shutil.rmtree(library, ignore_errors=True)
    scene.check(outcomes, swapper)


def go_on(scene: Scene, tries: int, library: Path) -> None:
    outcomes: Outcomes[int] = Counter()
    with scene.swapper() as swapper:
        for _ in range(tries):
            with swapper.still(), pytest.raises(Paused) as paused:
                start(order(scene), library, environment=uncompacted(pause_after=0))
            folder = Path(str(paused.value.facts["folder"]))
            outcomes[status_of(lambda at=folder: resume(at, environment=uncompacted()))] += 1
            shutil.rmtree(library)
    scene.check(outcomes, swapper)


def purge(scene: Scene, tries: int, environment: dict[str, str]) -> None:
    outcomes: Outcomes[int] = Counter()
    words = ["purge", str(scene.theirs / "device"), "--destroy", scene.device.name, "--method", "discard"]
    with scene.swapper(device=True) as swapper:
        for _ in range(tries):
            outcomes[run_forked(words, environment).status] += 1
    scene.check(outcomes, swapper)


def test_measure(scene: Scene, environment: dict[str, str]) -> None:
    measure(scene, FEW, environment)


def test_run(scene: Scene, tmp_path: Path) -> None:
    run(scene, FEW, tmp_path / "library")


def test_resume(scene: Scene, tmp_path: Path) -> None:
    go_on(scene, FEW, tmp_path / "library")


def test_purge(scene: Scene, environment: dict[str, str]) -> None:
    purge(scene, FEW, environment)


def unfinished(library: Path) -> list[Path]:
    """Runs that a swap has stopped."""
    found = (
        [path for path in library.iterdir() if (path / "manifest.json").exists()] if library.exists() else []
    )
    return [path for path in found if RunFolder(path).manifest.status != "finished"]


def test_run_and_resume_as_commands(scene: Scene, environment: dict[str, str], tmp_path: Path) -> None:
    job = tmp_path / "job.toml"
    job.write_text(JOB)
    words = ["job", str(job), str(scene.scratch), "--size", str(SIZE), "--library", str(tmp_path / "library")]
    outcomes: Outcomes[int] = Counter()
    with scene.swapper() as swapper:
        for _ in range(5):
            outcomes[run_forked(words, environment).status] += 1
            if left := unfinished(tmp_path / "library"):
                outcomes[run_forked(["resume", str(left[0])], environment).status] += 1
    scene.check(outcomes, swapper)


@pytest.mark.slow
def test_measure_a_thousand_times(scene: Scene, environment: dict[str, str]) -> None:
    measure(scene, MANY, environment)


@pytest.mark.slow
def test_run_a_thousand_times(scene: Scene, tmp_path: Path) -> None:
    run(scene, MANY, tmp_path / "library")


@pytest.mark.slow
def test_resume_a_thousand_times(scene: Scene, tmp_path: Path) -> None:
    go_on(scene, MANY, tmp_path / "library")


@pytest.mark.slow
def test_purge_a_thousand_times(scene: Scene, environment: dict[str, str]) -> None:
    purge(scene, MANY, environment)
