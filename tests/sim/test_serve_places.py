"""A place where nobody can listen is told before a drive is laid out."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from ssdlab.cli import main, sim_serve


@pytest.fixture(autouse=True)
def nothing_is_laid_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def laid_out(*_: object, **__: object) -> None:
        raise AssertionError("the drive is laid out before the place is looked at")

    monkeypatch.setattr(sim_serve, "_laid_out", laid_out)


def told(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    assert main(["sim", "serve", "tiny-test", *map(str, words)]) == 2
    return capsys.readouterr().err


@pytest.mark.parametrize("port", ["-1", "65536", "99999", "1.5"])
def test_a_port_that_is_none(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "give 0 to 65535" in told(capsys, "--tcp", port).lower()


def test_a_port_that_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert f"127.0.0.1:{port} cannot be listened on" in told(capsys, "--tcp", port)


def test_a_socket_that_cannot_be_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    taken = tmp_path / "taken"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(taken))
        assert "already exists" in told(capsys, "--socket", taken)
    assert taken.exists()
    assert main(["sim", "serve", "tiny-test", "--socket", str(taken)]) == 70
    assert "the drive is laid out" in capsys.readouterr().err, "nobody listens there any more"
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    for name in ("file", "folder"):
        assert "already exists" in told(capsys, "--socket", tmp_path / name)
        assert (tmp_path / name).exists()
    assert "does not exist" in told(capsys, "--socket", tmp_path / "no" / "socket")
    assert "too long for a socket" in told(capsys, "--socket", tmp_path / ("s" * 120))


def test_a_file_that_is_not_this_drive_s(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "other").write_text("years of work")
    words = ("--socket", tmp_path / "socket", "--data")
    assert "is not a file of" in told(capsys, *words, tmp_path / "other")
    assert "is not a file of" in told(capsys, *words, tmp_path)
    assert "does not exist" in told(capsys, *words, tmp_path / "no" / "file")
    assert (tmp_path / "other").read_text() == "years of work"
    if os.geteuid() == 0:
        (tmp_path / "theirs").symlink_to(tmp_path / "new")
        os.chown(tmp_path / "theirs", 65534, 65534, follow_symlinks=False)
        assert "link that belongs to user 65534" in told(capsys, *words, tmp_path / "theirs")
