"""Files that must not be touched, as a table and on a real file system."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import need_root
from ssdlab.drives import look, open_drive
from ssdlab.drives.guard.file_guard import FileFacts, file_facts, judge_file
from ssdlab.drives.guard.judge import Intent
from ssdlab.host.openers import Opener
from ssdlab.host.sysfs import HostFiles
from ssdlab.model.errors import LabError, Refused, UsageError

MIB = 1 << 20
FOREIGN = FileFacts(path="/data/movie.mkv", name="movie.mkv", size_bytes=MIB)
OURS = replace(FOREIGN, ownership="ours")
MISSING = FileFacts(path="/data/new", name="new", kind="missing", free_bytes=MIB)
READ, WRITE, CONSENT = Intent(), Intent(writing=True), Intent(writing=True, destroy="movie.mkv")


@pytest.mark.parametrize(
    ("facts", "intent", "size", "reason"),
    [
        (FOREIGN, READ, None, None),
        (FOREIGN, WRITE, None, "no-consent"),
        (FOREIGN, CONSENT, None, None),
        (FOREIGN, Intent(writing=True, destroy="/data/movie.mkv"), None, "wrong-consent"),
        (FOREIGN, Intent(destroy="other"), None, "wrong-consent"),
        (OURS, WRITE, None, None),
        (OURS, Intent(writing=True, destroy="other"), None, "wrong-consent"),
        (replace(OURS, ownership="changed"), WRITE, None, "no-consent"),
        (replace(OURS, ownership="changed"), READ, None, None),
        (OURS, READ, MIB, None),
        (OURS, READ, 2 * MIB, "size"),
        (replace(OURS, size_bytes=0), READ, None, "empty"),
        (replace(OURS, links=2), READ, None, None),
        (replace(OURS, links=2), WRITE, None, "hard-linked"),
        (replace(FOREIGN, links=2), CONSENT, None, "hard-linked"),
        (replace(OURS, readable=False), READ, None, "permission"),
        (replace(OURS, writable=False), WRITE, None, "permission"),
        (replace(OURS, swap=True), READ, None, "swap"),
        (replace(OURS, loops=("loop3",)), READ, None, "held"),
        (replace(OURS, openers=(Opener(7, "qemu", True),)), READ, None, "open"),
        (replace(FOREIGN, kind="directory"), READ, None, "no-file"),
        (replace(FOREIGN, kind="pipe"), READ, None, "no-file"),
        (replace(FOREIGN, kind="symbolic link", leads_to="/etc/passwd"), CONSENT, None, "no-file"),
        (MISSING, READ, None, "no-size"),
        (MISSING, READ, MIB, None),
        (MISSING, WRITE, MIB, None),
        (MISSING, READ, MIB + 1, "no-space"),
        (replace(MISSING, writable=False), READ, MIB, "permission"),
        (replace(MISSING, folder=False), READ, MIB, "no-folder"),
    ],
)
def test_judgement(facts: FileFacts, intent: Intent, size: int | None, reason: str | None) -> None:
    refusal = judge_file(facts, intent, size)
    assert (refusal and refusal.reason) == reason


@pytest.fixture
def foreign(scratch: Path) -> Path:
    """A file of somebody else's, really written."""
    path = scratch / "precious.bin"
    path.write_bytes(os.urandom(MIB))
    os.sync()
    return path


def refusal_of(target: Path, **options: object) -> LabError:
    with pytest.raises((Refused, UsageError)) as caught:
        open_drive(target, **options)  # type: ignore[arg-type]
    assert caught.value.exit_status == 2
    return caught.value


def test_a_foreign_file_is_not_written(foreign: Path) -> None:
    content = foreign.read_bytes()
    error = refusal_of(foreign, writing=True)
    assert error.facts["reason"] == "no-consent"
    assert "--destroy 'precious.bin'" in error.advice
    assert refusal_of(foreign, writing=True, destroy=str(foreign)).facts["reason"] == "wrong-consent"
    assert refusal_of(foreign, writing=True, size=2 * MIB).facts["reason"] == "size"
    assert foreign.read_bytes() == content


def test_a_hard_linked_file(foreign: Path) -> None:
    content = foreign.read_bytes()
    other = foreign.with_name("scratch.bin")
    other.hardlink_to(foreign)
    assert refusal_of(other, writing=True, destroy="scratch.bin").facts["reason"] == "hard-linked"
    assert foreign.read_bytes() == content


def test_a_link_that_is_taken_away_while_it_is_looked_at(
    foreign: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = foreign.with_name("link")
    link.symlink_to(foreign)

    def gone(path: Path) -> Path:
        raise FileNotFoundError(2, "No such file or directory", str(path))

    monkeypatch.setattr(Path, "readlink", gone)
    refusal = judge_file(file_facts(HostFiles(), link), Intent(), None)
    assert refusal is not None
    assert (refusal.reason, refusal.advice) == ("no-file", "name its target")


def test_a_symbolic_link(foreign: Path) -> None:
    link = foreign.with_name("link.bin")
    link.symlink_to(foreign)
    error = refusal_of(link, writing=True, destroy="link.bin")
    assert error.facts["reason"] == "no-file"
    assert str(foreign) in error.advice


def test_what_is_no_file(scratch: Path) -> None:
    pipe, server = scratch / "pipe", scratch / "socket"
    os.mkfifo(pipe)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(server))
        for target in (scratch, pipe, server):
            assert refusal_of(target, writing=True, size=MIB).facts["reason"] == "no-file"
    assert list(scratch.iterdir()) == [pipe, server] or list(scratch.iterdir()) == [server, pipe]


def test_a_missing_file_needs_a_size_and_nothing_is_made(scratch: Path) -> None:
    error = refusal_of(scratch / "new.bin", writing=True)
    assert isinstance(error, UsageError)
    assert "--size" in error.advice
    assert refusal_of(scratch / "gone" / "new.bin", size=MIB).facts["reason"] == "no-folder"
    refusal_of(scratch / "new.bin", size=MIB + 1)
    refusal_of(scratch / "new.bin", size=0)
    assert list(scratch.iterdir()) == []


def test_no_space(scratch: Path) -> None:
    free = shutil.disk_usage(scratch).free
    error = refusal_of(scratch / "huge.bin", size=free // MIB * MIB + 1024 * MIB)
    assert error.facts["reason"] == "no-space"
    assert list(scratch.iterdir()) == []


def test_a_file_open_for_writing_elsewhere(foreign: Path) -> None:
    script = f"import sys; f = open({str(foreign)!r}, 'r+b'); print('open', flush=True); sys.stdin.read()"
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "open\n"
        error = refusal_of(foreign)
        assert error.facts["reason"] == "open"
        assert str(process.pid) in error.what
    finally:
        process.stdin.close()
        process.wait(10)


def test_the_file_behind_a_loop_device(loop: Callable[..., Path]) -> None:
    device = loop()
    backing = Path(Path(f"/sys/block/{device.name}/loop/backing_file").read_text().strip())
    error = refusal_of(backing, writing=True, destroy=backing.name)
    assert error.facts["reason"] == "held"
    assert device.name in error.what


@pytest.mark.machine
def test_a_swap_file(scratch: Path, need_tool: Callable[[str], str]) -> None:
    path = scratch / "swap"
    with path.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, 4 * MIB)
    path.chmod(0o600)
    subprocess.run([need_tool("mkswap"), str(path)], check=True, capture_output=True)
    if subprocess.run([need_tool("swapon"), str(path)], capture_output=True, check=False).returncode:
        pytest.skip("this file system takes no swap file")
    try:
        assert refusal_of(path, writing=True, destroy="swap").facts["reason"] == "swap"
    finally:
        subprocess.run([need_tool("swapoff"), str(path)], check=True)


def test_looking_at_a_file_to_be_made_makes_nothing(scratch: Path) -> None:
    seen = look(scratch / "new.bin", size=MIB)
    assert (seen.exists, seen.reading, seen.writing) == (False, None, None)
    assert seen.identity is not None
    assert (seen.identity.capacity_bytes, seen.identity.consent_id) == (MIB, "new.bin")
    assert list(scratch.iterdir()) == []


UNPRIVILEGED = """
import importlib, os, pkgutil, sys
import ssdlab.drives
for module in pkgutil.iter_modules(ssdlab.drives.__path__, "ssdlab.drives."):
    importlib.import_module(module.name)  # what is imported later may not be readable then
from ssdlab.drives import open_drive
from ssdlab.model.errors import LabError
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
for path in sys.argv[1:]:
    try:
        open_drive(path, size=1 << 20)
    except LabError as error:
        print(error.facts["reason"])
"""


@pytest.mark.outside
def test_a_user_without_privilege() -> None:
    need_root()
    with tempfile.TemporaryDirectory() as folder:
        open_to_all = Path(folder)
        open_to_all.chmod(0o755)
        private, locked = open_to_all / "private", open_to_all / "locked"
        private.write_bytes(bytes(MIB))
        private.chmod(0o600)
        locked.mkdir(mode=0o700)
        deeper = locked / "deeper" / "x"
        targets = [str(private), str(locked / "x"), str(deeper), str(open_to_all / "new")]
        done = subprocess.run(
            [sys.executable, "-c", UNPRIVILEGED, *targets], check=True, capture_output=True, text=True
        )
        assert done.stdout.split() == ["permission"] * 4
        assert sorted(open_to_all.iterdir()) == [locked, private]


def test_a_loop_of_links(scratch: Path) -> None:
    loop = scratch / "loop"
    loop.symlink_to(loop)
    assert refusal_of(loop, size=MIB).facts["reason"] == "no-file"
    assert refusal_of(loop / "x", size=MIB).facts["reason"] == "no-folder"
