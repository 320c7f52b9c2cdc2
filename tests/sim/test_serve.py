"""`ssdlab sim serve` under real clients, and under one that breaks the rules."""

from __future__ import annotations

import errno
import json
import os
import signal
import stat
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from machine import nbd
from machine.nbd import NbdClient
from machine.nbd_server import DRIVE, Server

DRIVE_BYTES = 4 << 30
KIB = 1 << 10
MIB = 1 << 20
LARGEST_PAYLOAD = 32 * MIB


def run(*words: str) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


def fio_over(fio: str, uri: str, *options: str) -> dict[str, Any]:
    words = ("--name=job", "--ioengine=nbd", f"--uri={uri}", "--output-format=json", *options)
    # Its nbd engine says on stdout that it is connected.
    job: dict[str, Any] = json.loads("{" + run(fio, *words).partition("{")[2])["jobs"][0]
    assert job["error"] == 0
    return job


def test_fio_finds_what_it_wrote(serve: Callable[..., Server], fio: str) -> None:
    server = serve()
    job = fio_over(
        fio,
        server.uri,
        "--rw=randwrite",
        "--bs=4k",
        "--iodepth=8",
        "--size=8m",
        "--verify=crc32c",
        "--verify_state_save=0",
    )
    record = server.end()
    assert job["write"]["total_ios"] == 2048 == record["writes"]
    assert job["read"]["total_ios"] == 2048 == record["reads"]
    assert record["written_bytes"] == record["read_bytes"] == 8 * MIB
    assert record["flash"]["host_bytes_written"] == 8 * MIB
    assert record["refused"] == record["violations"] == record["broken"] == 0


@pytest.mark.long
def test_copies_come_back_the_same(
    serve: Callable[..., Server], need_tool: Callable[[str], str], scratch: Path
) -> None:
    nbdinfo, nbdcopy = need_tool("nbdinfo"), need_tool("nbdcopy")
    server = serve()
    told = json.loads(run(nbdinfo, "--json", server.uri))["exports"][0]
    assert told["export-size"] == DRIVE_BYTES
    assert told["can_fua"] and told["can_flush"] and told["can_trim"] and told["can_zero"]
    assert told["can_multi_conn"] and not told["is_read_only"]
    assert "tiny-test" in run(nbdinfo, "--list", server.uri)
    written = {0: os.urandom(3 * MIB), 100 * MIB: os.urandom(MIB)}
    image, back = scratch / "image", scratch / "back"
    with image.open("wb") as file:
        for offset, data in written.items():
            file.seek(offset)
            file.write(data)
        file.truncate(DRIVE_BYTES)
    run(nbdcopy, str(image), server.uri)
    run(nbdcopy, server.uri, str(back))
    with back.open("rb") as file:
        for offset, data in written.items():
            file.seek(offset)
            assert file.read(len(data)) == data
    # nbdcopy leaves holes where it reads zeroes: nothing else came back.
    assert back.stat().st_size == DRIVE_BYTES
    assert back.stat().st_blocks * 512 <= sum(map(len, written.values())) + MIB
    record = server.end()
    # nbdcopy opens several connections where a server allows them.
    assert record["connections"] > 4
    assert record["refused"] == 0


def test_qemu_writes_discards_and_reads(
    serve: Callable[..., Server], need_tool: Callable[[str], str]
) -> None:
    qemu_io = need_tool("qemu-io")
    server = serve()
    steps = (
        "write -P 0x5a 1M 64k",
        "write -f -P 0x77 2M 4k",
        "read -P 0x5a 1M 64k",
        "write -z -u 1M 8k",
        "read -P 0 1M 8k",
        "read -P 0x5a 1032k 56k",
        "discard 2M 4k",
        "read -P 0 2M 4k",
        "flush",
    )
    said = run(
        qemu_io, "-f", "raw", "-d", "unmap", *(word for step in steps for word in ("-c", step)), server.uri
    )
    assert "failed" not in said
    record = server.end()
    assert record["trims"] >= 2
    assert record["flushes"] >= 1


@pytest.mark.long
def test_a_drive_is_taken_up_as_its_file_keeps_it_and_kept_again(
    serve: Callable[..., Server], command: str, tmp_path: Path
) -> None:
    file = tmp_path / "drive.sim"
    drive = f"{DRIVE},state={file}"
    measure = (command, "measure", f"sim:{drive}", "--rw", "randwrite", "--bytes", "64MiB", "--json")
    run(*measure)
    before = file.read_bytes()
    server = serve(drive=drive)
    # The server holds it meanwhile.
    assert subprocess.run(measure, capture_output=True, check=False).returncode == 2
    with NbdClient(server.socket) as client:
        assert client.write(0, b"y" * MIB) == 0
        client.goodbye()
    record = server.end()
    # Neither filled again nor forgotten: what came since is what the client wrote.
    assert record["flash"]["host_bytes_written"] == MIB
    assert file.read_bytes() != before
    run(*measure)


def test_nothing_is_claimed_beyond_half_of_what_a_null_drive_reaches(serve: Callable[..., Server]) -> None:
    server = serve()
    assert any("half of what this host serves" in line for line in server.said)
    costs = server.end()["calibration"]["cost_after_pauses"]
    assert [cost["pause_ns"] for cost in costs] == sorted({cost["pause_ns"] for cost in costs})
    assert [cost["cost_ns"] for cost in costs] == sorted(cost["cost_ns"] for cost in costs)


def test_a_reply_is_not_sent_before_its_time(serve: Callable[..., Server], fio: str, command: str) -> None:
    server = serve("--early", "0s")
    options = ("--rw=randread", "--bs=4k", "--iodepth=1", "--number_ios=1000", "--size=200m")
    served = fio_over(fio, server.uri, *options)
    record = server.end()
    words = (f"sim:{DRIVE}", "--rw", "randread", "--threads", "1", "--seconds", "1", "--json")
    virtual = json.loads(run(command, "measure", *words))
    expected = virtual["read"]["service_ns"]
    # fio counts in buckets of 1/64, and its own time comes on top.
    assert served["read"]["clat_ns"]["percentile"]["50.000000"] >= expected["p50"] * 63 / 64
    assert record["drive_time_ns"] > 1000 * expected["min"]
    assert record["calibration"]["cost_ns"] == 0


def test_what_is_wrong_is_refused_and_the_next_request_is_served(serve: Callable[..., Server]) -> None:
    server = serve()
    with NbdClient(server.socket) as client:
        end = client.size_bytes
        assert end == DRIVE_BYTES
        wrong = [
            (nbd.READ, end, 4 * KIB, errno.EINVAL),
            (nbd.READ, end - 4 * KIB, 8 * KIB, errno.EINVAL),
            (nbd.READ, 2**64 - 4 * KIB, 8 * KIB, errno.EINVAL),
            (nbd.READ, 0, LARGEST_PAYLOAD + 4 * KIB, errno.EINVAL),
            (nbd.READ, 1, 4 * KIB, errno.EINVAL),
            (nbd.READ, 0, 0, errno.EINVAL),
            (nbd.TRIM, end, 4 * KIB, errno.EINVAL),
            (nbd.WRITE_ZEROES, end, 4 * KIB, errno.ENOSPC),
            (nbd.FLUSH, 4 * KIB, 0, errno.EINVAL),
            (99, 0, 4 * KIB, errno.EINVAL),
        ]
        for kind, offset, length, error in wrong:
            assert client.ask(kind, offset, length) == error, (kind, offset, length)
        assert client.ask(nbd.READ, 0, 4 * KIB, flags=1 << 9) == errno.EINVAL
        # Their data has to be taken from the connection all the same.
        assert client.write(end, b"x" * 4 * KIB) == errno.ENOSPC
        assert client.write(0, b"x" * (LARGEST_PAYLOAD + 4 * KIB)) == errno.EINVAL
        assert client.read(0, 4 * KIB) == bytes(4 * KIB)
        assert client.write(0, b"y" * 512 * KIB, flags=nbd.FUA) == 0
        assert client.read(0, 512 * KIB) == b"y" * 512 * KIB
        client.goodbye()
    record = server.end()
    assert record["refused"] == len(wrong) + 3
    assert (record["reads"], record["writes"]) == (2, 1)
    assert record["violations"] == record["broken"] == 0


def test_garbage_and_broken_connections_leave_the_others_alone(serve: Callable[..., Server]) -> None:
    server = serve()
    with NbdClient(server.socket) as good, Going(good) as going:
        for words in (b"GET / HTTP/1.1\r\n\r\n", bytes(64), b"\xff" * 64, os.urandom(64 * KIB)):
            with NbdClient(server.socket, greet=False) as client:
                client.take(18)
                send_to_the_end(client, words)
                assert client.is_closed()
        for words in (b"no option at all", nbd.OPTION_MAGIC + b"\0\0\0\x07" + b"\xff" * 4):
            with NbdClient(server.socket, greet=False) as client:
                client.take(18)
                send_to_the_end(client, b"\0\0\0\x03" + words)
                assert client.is_closed()
        with NbdClient(server.socket) as client:
            client.send(nbd.READ, 0, 4 * KIB, magic=0xDEADBEEF)
            assert client.is_closed()
        with NbdClient(server.socket) as client:
            # Half of the data, and gone.
            client.send(nbd.WRITE, 0, MIB, b"x" * (MIB // 2))
        with NbdClient(server.socket) as client:
            # Gone before the replies.
            for _ in range(200):
                client.send(nbd.READ, 0, MIB)
        with NbdClient(server.socket) as late:
            assert late.read(0, 4 * KIB) == bytes(4 * KIB), "half a write must leave no trace"
        before = going.rounds
        going.wait_for(before + 20)
    record = server.end()
    assert record["violations"] == 7
    assert record["broken"] == 2
    assert record["connections"] == 11


class Going:
    """Writes and reads back until it is told to stop; what goes wrong meanwhile is raised at the end."""

    def __init__(self, client: NbdClient) -> None:
        self.rounds = 0
        self._client = client
        self._moved = threading.Condition()
        self._stop = False
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Going:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop = True
        self._thread.join()
        if self._error:
            raise self._error

    def wait_for(self, rounds: int) -> None:
        with self._moved:
            assert self._moved.wait_for(lambda: self.rounds >= rounds or self._error, nbd.PATIENCE_S)

    def _run(self) -> None:
        try:
            while not self._stop:
                data = self.rounds.to_bytes(8) * 512
                assert self._client.write(64 * MIB, data) == 0
                assert self._client.read(64 * MIB, len(data)) == data
                with self._moved:
                    self.rounds += 1
                    self._moved.notify()
        except BaseException as error:
            self._error = error


def send_to_the_end(client: NbdClient, words: bytes) -> None:
    """Send as much as the server takes before it hangs up."""
    try:
        client.socket.sendall(words)
    except (BrokenPipeError, ConnectionResetError):
        return


def test_connections_see_one_drive_and_answers_keep_their_marks(serve: Callable[..., Server]) -> None:
    server = serve("--tcp", "0")
    with NbdClient(server.port) as one, NbdClient(server.port) as two:
        assert one.write(8 * KIB, b"1" * 4 * KIB) == 0
        assert two.read(8 * KIB, 4 * KIB) == b"1" * 4 * KIB
        for cookie in range(64):
            one.send(nbd.WRITE, cookie * 4 * KIB, 4 * KIB, bytes([cookie]) * 4 * KIB, cookie=cookie)
        assert sorted(one.reply() for _ in range(64)) == [(0, cookie) for cookie in range(64)]
        for page in (0, 17, 63):
            assert two.read(page * 4 * KIB, 4 * KIB) == bytes([page]) * 4 * KIB
    record = server.end()
    assert record["uri"] == server.uri == f"nbd://127.0.0.1:{server.port}/"
    assert record["connections"] == 2
    assert record["late_pct"] == 100 * record["late"] / record["ios"]


def test_figures_of_a_host_that_is_late_are_not_trusted(serve: Callable[..., Server]) -> None:
    # Not a nanosecond early, no reply can be sent at its moment: all are late.
    server = serve("--early", "0s")
    with NbdClient(server.socket) as client:
        for page in range(20):
            client.read(page * 4 * KIB, 4 * KIB)
    record = server.end()
    assert record["late"] >= 19
    assert not record["trusted"]
    assert "of the replies were late" in server.said[-1]


@pytest.mark.long
def test_a_file_keeps_contents_for_the_next_server(
    serve: Callable[..., Server], command: str, tmp_path: Path
) -> None:
    data = tmp_path / "contents"
    server = serve("--data", str(data))
    with NbdClient(server.socket) as client:
        assert client.write(5 * MIB, b"kept" * KIB, flags=nbd.FUA) == 0
    in_use = [command, "sim", "serve", DRIVE, "--data", str(data), "--socket", str(tmp_path / "other")]
    second = subprocess.run(in_use, capture_output=True, text=True, check=False)
    assert second.returncode != 0
    assert "in use by another server" in second.stderr
    server.end()
    assert data.stat().st_size == DRIVE_BYTES
    assert data.stat().st_blocks * 512 < MIB, "the file is sparse"
    server = serve("--data", str(data))
    with NbdClient(server.socket) as client:
        assert client.read(5 * MIB, 4 * KIB) == b"kept" * KIB
        assert client.ask(nbd.TRIM, 5 * MIB, 4 * KIB) == 0
        assert client.read(5 * MIB, 4 * KIB) == bytes(4 * KIB)


@pytest.mark.long
def test_seeded_contents_stay_the_same_and_forget_writes(
    serve: Callable[..., Server],
) -> None:
    found = []
    for seed in (1, 1, 2):
        server = serve("--contents", "seeded", "--allow-unwritten", drive=f"{DRIVE},seed={seed}")
        with NbdClient(server.socket) as client:
            assert client.write(MIB, b"x" * 4 * KIB) == 0
            found.append(client.read(MIB - 4 * KIB, 16 * KIB))
            # Wherever a read begins, the same byte lies at the same place.
            assert client.read(MIB, 4 * KIB) == found[-1][4 * KIB : 8 * KIB]
        server.end()
    assert found[0] == found[1] != found[2]
    assert b"x" * 16 not in found[0]


def test_memory_that_is_full_fails_the_write(serve: Callable[..., Server]) -> None:
    server = serve("--memory", "1MiB", "--null")
    with NbdClient(server.socket) as client:
        assert client.write(0, b"x" * MIB) == 0
        assert client.write(2 * MIB, b"x" * 4 * KIB) == errno.ENOSPC
        assert client.ask(nbd.TRIM, 0, 4 * KIB) == 0
        assert client.write(2 * MIB, b"x" * 4 * KIB) == 0
    record = server.end()
    assert record["null"] and record["late"] == 0 and not record["trusted"]
    assert record["calibration"]["ceiling_iops"] > 0


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.long
def test_a_signal_ends_it_and_the_socket_goes(serve: Callable[..., Server], by: signal.Signals) -> None:
    server = serve("--allow-unwritten")
    assert stat.S_IMODE(server.socket.stat().st_mode) & 0o077 == 0
    with NbdClient(server.socket) as client:
        client.read(0, 4 * KIB)
        record = server.end(by)
        assert client.is_closed()
    assert record["reads"] == 1
    assert not server.socket.exists()


def test_a_socket_that_is_there_is_not_replaced(serve: Callable[..., Server], command: str) -> None:
    server = serve()
    words = [command, "sim", "serve", DRIVE, "--socket", str(server.socket)]
    second = subprocess.run(words, capture_output=True, text=True, check=False)
    assert second.returncode != 0
    assert "already exists" in second.stderr
    with NbdClient(server.socket) as client:
        client.read(0, 4 * KIB)
    assert server.end()["connections"] == 1, "to look whether somebody listens is no connection"


def test_a_socket_that_a_killed_server_left_is_replaced(serve: Callable[..., Server]) -> None:
    dead = serve("--null")
    dead.process.kill()
    dead.process.wait()
    assert dead.socket.is_socket()
    server = serve("--null")
    with NbdClient(server.socket) as client:
        client.read(0, 4 * KIB)
    server.end()
    assert not server.socket.exists()
