"""A file that ssdlab was killed over: ours again only where it holds what we alone can have left in it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ssdlab.drives import open_drive
from ssdlab.drives.guard.fingerprint import only_drawn
from ssdlab.drives.guard.mark import read_mark
from ssdlab.model.errors import Refused
from ssdlab.model.workload import Mix, Stop, Stream, Workload

MIB = 1 << 20
SIZE = 16 * MIB


def writes(**options: object) -> Workload:
    return Workload.of(Stream(ops=Mix(read_pct=0), stop=Stop(ios=500), **options))  # type: ignore[arg-type]


def drawn(path: Path) -> bool:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return only_drawn(descriptor, path.stat().st_size)
    finally:
        os.close(descriptor)


def killed_in(work: Callable[[], object]) -> None:
    """Do work in a process that is killed right after it, as it stands."""
    child = os.fork()
    if child == 0:
        work()
        os.kill(os.getpid(), signal.SIGKILL)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL


def killed_while_it_writes(path: Path, *, then: Callable[[Path], object] | None = None) -> str:
    """Kill a process in the middle of a step that writes; return the token of its run."""

    def work() -> None:
        drive = open_drive(path, size=SIZE, writing=True)
        drive.run(
            Workload.of(Stream(ops=Mix(read_pct=0), stop=Stop(time_ns=60 * 10**9))),
            on_tick=lambda _: os.kill(os.getpid(), signal.SIGKILL),
        )

    killed_in(work)
    with path.open("rb") as file:
        mark = read_mark(file.fileno(), path)
    assert mark is not None and mark.written_ns is None and mark.token
    if then is not None:
        then(path)
    return mark.token


@pytest.fixture
def made(scratch: Path) -> Path:
    path = scratch / "scratch.img"
    open_drive(path, size=SIZE).close()
    return path


@pytest.mark.parametrize("percent", [0, 1, 50, 90, 95])
@pytest.mark.parametrize("block", [4096, 512, 128 << 10])
@pytest.mark.long
def test_all_that_the_engine_writes_is_known_as_drawn(made: Path, percent: int, block: int) -> None:
    with open_drive(made, writing=True) as drive:
        size = max(block, drive.logical_block_bytes)
        drive.run(writes(block=size, compressible_pct=percent))
        drive.trim(MIB, MIB)
        assert drawn(made)


@pytest.mark.parametrize("at", [0, 1024, MIB - 512, SIZE - 512, SIZE - MIB])
@pytest.mark.parametrize("what", [b"\x53\xef", b"precious", bytes(7) + b"\x01"])
def test_what_anything_else_wrote_is_not(made: Path, at: int, what: bytes) -> None:
    assert drawn(made)
    with made.open("r+b") as file:
        file.seek(at + 64)  # behind the first word of a stretch, which may be a stamp
        file.write(what)
    assert not drawn(made)


def test_random_data_of_others_is_not(scratch: Path) -> None:
    other = scratch / "other"
    for content in (np.random.default_rng(1).bytes(SIZE), os.urandom(SIZE), b"\xff" * SIZE):
        other.write_bytes(content)
        assert not drawn(other)
    other.write_bytes(bytes(SIZE))
    assert drawn(other), "nothing was ever there"


def test_after_a_kill_consent_is_asked_for(scratch: Path) -> None:
    path = scratch / "scratch.img"
    killed_while_it_writes(path)
    with pytest.raises(Refused, match="may have been changed since an ssdlab was killed") as caught:
        open_drive(path, writing=True)
    assert caught.value.facts["reason"] == "no-consent"
    assert "--destroy 'scratch.img'" in caught.value.advice
    open_drive(path).close()


def test_consent_once_given_the_file_is_ours_again(scratch: Path) -> None:
    path = scratch / "scratch.img"
    killed_while_it_writes(path)
    with open_drive(path, writing=True, destroy=path.name) as drive:
        drive.run(writes())
    with open_drive(path, writing=True) as drive:
        drive.run(writes())


def test_consent_that_was_not_made_use_of_leaves_it_as_it_was(scratch: Path) -> None:
    path = scratch / "scratch.img"
    killed_while_it_writes(path)
    open_drive(path, writing=True, destroy=path.name).close()
    with pytest.raises(Refused, match="killed"):
        open_drive(path, writing=True)


def test_the_run_itself_goes_on_without(scratch: Path) -> None:
    path = scratch / "scratch.img"
    token = killed_while_it_writes(path)
    with open_drive(path, writing=True, token=token) as drive:
        assert drive.identity.token == token
        drive.run(writes())


def test_another_run_is_not_that_run(scratch: Path) -> None:
    path = scratch / "scratch.img"
    killed_while_it_writes(path)
    with pytest.raises(Refused, match="killed"):
        open_drive(path, writing=True, token="0123456789abcdef")


def letters(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"somebody keeps their letters here" * 100)


def smaller(path: Path) -> None:
    os.truncate(path, SIZE // 2)


def hole(path: Path) -> None:
    subprocess.run(["fallocate", "--punch-hole", "--offset", "8MiB", "--length", "1MiB", path], check=True)


def file_system(path: Path) -> None:
    subprocess.run(["mkfs.ext4", "-qF", path], check=True)


def file_system_without_discard(path: Path) -> None:
    subprocess.run(["mkfs.ext4", "-qF", "-E", "nodiscard", path], check=True)


def swap_space(path: Path) -> None:
    subprocess.run(["mkswap", path], check=True, capture_output=True)


def partition_table(path: Path) -> None:
    subprocess.run(["sfdisk", "-q", path], check=True, input=b"label: gpt\n,,L\n", capture_output=True)


AFTERWARDS = [letters, smaller, hole, file_system, file_system_without_discard, swap_space, partition_table]


@pytest.mark.parametrize("then", AFTERWARDS)
@pytest.mark.long
def test_nor_does_the_run_go_on_over_what_came_after_it(
    scratch: Path, need_tool: Callable[[str], str], then: Callable[[Path], None]
) -> None:
    for tool in ("mkfs.ext4", "mkswap", "sfdisk", "fallocate"):
        need_tool(tool)
    path = scratch / "scratch.img"
    token = killed_while_it_writes(path, then=then)
    before = path.read_bytes()
    with pytest.raises(Refused) as caught:
        open_drive(path, writing=True, token=token)
    assert caught.value.facts["reason"] == "no-consent"
    assert path.read_bytes() == before


def test_killed_in_a_step_that_only_reads_it_stays_ours(made: Path) -> None:
    def work() -> None:
        drive = open_drive(made, writing=True)
        drive.run(writes())
        drive.run(Workload.of(Stream(stop=Stop(ios=10))))

    killed_in(work)
    with open_drive(made, writing=True) as drive:
        drive.run(writes())


@pytest.mark.parametrize("then", [None, letters, hole])
@pytest.mark.long
def test_a_first_layout_that_was_cut_short(
    scratch: Path, need_tool: Callable[[str], str], then: Callable[[Path], None] | None
) -> None:
    """Completed where nothing else wrote; else consent is asked for."""
    need_tool("fallocate")
    path = scratch / "scratch.img"
    script = f"from ssdlab import open_drive; open_drive({str(path)!r}, size={512 * MIB})"
    process = subprocess.Popen([sys.executable, "-c", script])
    deadline = time.monotonic() + 60
    while written_by(process) < 12 * MIB:
        assert time.monotonic() < deadline and process.poll() is None
    process.kill()
    process.wait()
    if then is None:
        with open_drive(path, writing=True) as drive:
            assert drive.written(0, 512 * MIB)
        return
    then(path)
    with pytest.raises(Refused, match="killed"):
        open_drive(path, writing=True)


def written_by(process: subprocess.Popen[bytes]) -> int:
    """Bytes that a process has had written to disks; asked so that the file itself is left alone."""
    fields = Path(f"/proc/{process.pid}/io").read_text().split()
    return int(fields[fields.index("write_bytes:") + 1])


@pytest.mark.long
def test_a_command_that_was_killed_leaves_its_file_to_consent(command: str, scratch: Path) -> None:
    """`measure` has nothing to resume: its next run cannot prove that it is the same."""
    path = scratch / "scratch.img"
    words = [command, "measure", str(path), "--size", "8MiB", "--rw", "write", "--json"]
    process = subprocess.Popen(
        [*words, "--seconds", "60"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 60
    while not writing(path):
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.05)
    process.kill()
    process.wait()
    again = [*words, "--bytes", "1MiB"]
    done = subprocess.run(again, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "--destroy 'scratch.img'" in done.stdout + done.stderr
    assert (
        subprocess.run([*again, "--destroy", "scratch.img"], capture_output=True, check=False).returncode == 0
    )
    assert subprocess.run(again, capture_output=True, check=False).returncode == 0


def writing(path: Path) -> bool:
    """Whether a step that writes has begun: the layout is done, and no time of a last write is known."""
    if not path.exists():
        return False
    with path.open("rb") as file:
        mark = read_mark(file.fileno(), path)
    return mark is not None and mark.complete and mark.written_ns is None
