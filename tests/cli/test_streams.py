"""Whatever stdout, stderr, the terminal and the environment are: work goes on, and its end is told."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import struct
import subprocess
import termios
from pathlib import Path

import pytest

from machine import forked

pytestmark = pytest.mark.long

SIM = "sim:tiny-test"
RUN = ("run", "peak-random-read", SIM, "--quick", "--set", "depths=1", "--set", "seconds=10ms",
       "--set", "ramp_seconds=0")  # fmt: skip


@pytest.fixture
def shell(command: str, tmp_path: Path):
    """Runs a line of shell in which ``$SSDLAB`` is the command: ``shell("$SSDLAB drives", COLUMNS="1")``."""

    def run(line: str, **more: str) -> subprocess.CompletedProcess[str]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        environment |= {
            f"XDG_{name}_HOME": str(tmp_path / name.lower()) for name in ("DATA", "STATE", "CONFIG")
        }
        return subprocess.run(
            ["bash", "-c", line],
            env={**environment, "SSDLAB": command, **more},
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
            timeout=300,
        )

    return run


@pytest.mark.parametrize("full", ["2>/dev/full", "2>&-"])
def test_a_stderr_that_takes_nothing_ends_no_run(shell, tmp_path: Path, full: str) -> None:
    done = shell(f"$SSDLAB {' '.join(RUN)} --json {full}")
    assert done.returncode == 0 and json.loads(done.stdout)["manifest"]["status"] == "finished"
    assert shell(f"$SSDLAB nosuch {full}").returncode == 2


def test_a_reader_of_stderr_that_goes_away_ends_no_run(shell, tmp_path: Path) -> None:
    done = shell(f"$SSDLAB {' '.join(RUN)} 2> >(head -n 1 >&2) | tail -n 1; exit ${{PIPESTATUS[0]}}")
    assert done.returncode == 0, done
    (manifest,) = (tmp_path / "data").glob("ssdlab/runs/2*/manifest.json")
    assert json.loads(manifest.read_text())["status"] == "finished"


@pytest.mark.parametrize(
    "words",
    ["--help", "run --help", "--version", "methods", "methods --json", "nosuch --json", "completion zsh"],
)
def test_a_stdout_that_takes_nothing_is_told(shell, words: str) -> None:
    done = shell(f"$SSDLAB {words} >/dev/full")
    if words.startswith("nosuch"):
        assert done.returncode == 2 and "there is no command 'nosuch'" in done.stderr
    else:
        assert done.returncode == 3
        assert done.stderr.startswith("ssdlab: the output could not be written: No space left on device\n")
    assert len(done.stderr.splitlines()) == 2
    done = shell(f"$SSDLAB {words} | head -c 1; exit ${{PIPESTATUS[0]}}")
    assert done.returncode in (0, 2) and "Traceback" not in done.stderr


@pytest.mark.parametrize("columns", ["0", "1", "-5", "x", "²", "٤", "9" * 20, "9" * 5000, "100000000", ""])
def test_any_width_in_the_environment(tmp_path: Path, columns: str) -> None:
    for name in ("COLUMNS", "LINES"):
        done = forked.run(["run", "--help"], cwd=tmp_path, env={**os.environ, name: columns})
        assert done.returncode == 0 and "METHOD" in done.stdout.upper(), done.stderr
        assert len(done.stdout) < 200_000


@pytest.mark.parametrize("columns", [1, 2, 65_535])
def test_any_width_of_the_terminal(command: str, columns: int) -> None:
    """A rig's serial console says anything; the text is laid out all the same."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 1, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    process = subprocess.Popen([command, "run", "--help"], stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    size = 0
    try:
        while part := os.read(ours, 65_536):
            size += len(part)
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    assert process.wait(timeout=60) == 0 and 1000 < size < 500_000


@pytest.mark.parametrize(
    "locale",
    [
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "latin-1"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"LC_ALL": "nowhere"},
    ],
    ids=str,
)
def test_an_encoding_that_lacks_letters(shell, tmp_path: Path, locale: dict[str, str]) -> None:
    assert shell(f"$SSDLAB {' '.join(RUN)}").returncode == 0
    (folder,) = (tmp_path / "data").glob("ssdlab/runs/2*")
    shell(f"$SSDLAB note {folder} 'Grüße, µs'")
    done = shell(
        f"$SSDLAB show {folder}; $SSDLAB run --help; $SSDLAB show {folder} --json >shown.json", **locale
    )
    assert done.returncode == 0 and "ssdlab:" not in done.stderr, done
    encoding = "latin-1" if "latin" in str(locale) else "utf-8"
    assert json.loads((tmp_path / "shown.json").read_text(encoding))["notes"][0]["text"] == "Grüße, µs"
