"""The machine itself: what the other tests of this folder rely on."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from guest.machine import Guest


def test_the_drives_are_there(guest) -> None:
    sizes = " ".join(f"nvme0n{nsid}/queue/logical_block_size" for nsid in (1, 2))
    listed = guest.must(f"cd /sys/block && ls -d nvme* sd* vd* && cat {sizes}")
    assert listed.split() == ["nvme0n1", "nvme0n2", "sda", "vda", "512", "4096"]


def test_output_and_status_come_back(guest) -> None:
    done = guest.run("echo out; echo err >&2; exit 3")
    assert (done.status, done.out, done.err) == (3, "out\n", "err\n")


def test_commands_run_beside_each_other(guest) -> None:
    waiting = guest.start("until [ -e /tmp/go ]; do sleep 0.05; done; echo gone")
    guest.must("touch /tmp/go")
    assert waiting.wait().out == "gone\n"


def test_the_host_is_not_written(guest, tmp_path) -> None:
    guest.must(f"mkdir -p {tmp_path} && echo x >{tmp_path}/written && cat {tmp_path}/written")
    assert not (tmp_path / "written").exists()


def test_a_digest_tells_one_byte_and_not_where_the_file_has_holes(guest) -> None:
    guest.must("blkdiscard -f /dev/vda && sync")
    empty = guest.digest("virtio")
    write = "dd of=/dev/vda bs=512 seek=400000 count=1 oflag=direct"
    guest.must(f"printf x | {write} conv=sync")
    assert guest.digest("virtio") != empty
    guest.must(f"{write} if=/dev/zero")
    assert guest.digest("virtio") == empty


def test_the_second_processor_comes_and_goes(guest) -> None:
    with guest.both_processors():
        assert guest.must("nproc") == "2\n"
    assert guest.must("nproc") == "1\n"


def test_ssdlab_runs(guest) -> None:
    listed = guest.ssdlab("drives", "--json", limit_s=90)
    assert listed.status == 0, listed
    assert "GUEST-NVME-1/1" in listed.out


def test_a_machine_ends_with_the_tests_that_booted_it(boot, tmp_path, monkeypatch) -> None:
    """By kill -9 too: a machine that is left running keeps its memory and a processor."""
    folder = tmp_path / "guest"
    folder.mkdir()
    tests = os.fork()
    if tests == 0:

        def booting(guest: Guest) -> float:
            (tmp_path / "draft").write_text(str(guest._process.pid))
            (tmp_path / "draft").rename(tmp_path / "pid")
            signal.pause()
            return 0.0

        monkeypatch.setattr(Guest, "_booted", booting)
        try:
            Guest(folder)
        finally:
            os._exit(1)
    while not (tmp_path / "pid").exists():
        assert os.waitpid(tests, os.WNOHANG) == (0, 0)
        time.sleep(0.05)
    machine = int((tmp_path / "pid").read_text())
    assert alive(machine)
    os.kill(tests, signal.SIGKILL)
    os.waitpid(tests, 0)
    deadline = time.monotonic() + 30
    while alive(machine):
        assert time.monotonic() < deadline, "the machine has outlived its tests"
        time.sleep(0.05)


def alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
