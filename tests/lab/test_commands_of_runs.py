"""The commands around runs, tried as a user would: run, plan, resume, watch, show, note, job, methods."""

from __future__ import annotations

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lab.synthetic import edited
from machine import forked
from ssdlab.lab.folders import REGISTRY
from ssdlab.lab.found import SUITES
from ssdlab.results.run_folder import RunFolder
from ssdlab.results.store import run_folders

pytestmark = pytest.mark.long

TINY = ["--set", "depths=1,4", "--set", "seconds=100ms", "--set", "ramp_seconds=0"]


class Shell:
    """Runs `ssdlab` with a library of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.library = folder / "data" / "ssdlab" / "runs"
        self.environment = {**os.environ, "XDG_DATA_HOME": str(folder / "data"), "COLUMNS": "120"}

    def start(self, *words: str) -> forked.Started:
        return forked.Started(words, cwd=self.folder, env=self.environment)

    def __call__(self, *words: str, status: int = 0) -> tuple[str, str]:
        process = self.start(*words)
        out, err = process.communicate(timeout=100)
        assert process.returncode == status, f"{words}: {process.returncode}\n{out}\n{err}"
        return out, err

    def json(self, *words: str, status: int = 0) -> dict:
        return json.loads(self(*words, "--json", status=status)[0])


@pytest.fixture
def ssdlab(scratch: Path) -> Shell:
    return Shell(scratch)


@pytest.fixture
def finished(ssdlab: Shell) -> str:
    """Short id of a finished tiny sweep."""
    ssdlab("run", "peak-random-read", "s.img", "--size", "8MiB", *TINY)
    return run_folders(ssdlab.library)[0].name[-6:]


def error_lines(err: str) -> list[str]:
    """The error itself: one line what, one line what to do."""
    lines = err.splitlines()
    first = next(index for index, line in enumerate(lines) if line.startswith("ssdlab: "))
    return lines[first:]


def test_run_prints_its_result_and_keeps_it(ssdlab: Shell) -> None:
    out, err = ssdlab("run", "peak-random-read", "s.img", "--size", "8MiB", *TINY)
    assert "the lowest depth with at least 95 % of the best" in out or "the best of the sweep" in out
    assert "depth 4" in ssdlab("show", "2", "--all")[0] and "depth 4" not in out
    assert "[3/3] depth 4:" in err and "\x1b" not in err
    (folder,) = run_folders(ssdlab.library)
    assert RunFolder(folder).manifest.params["depths"] == [1, 4]


def test_show_in_words_and_as_json(ssdlab: Shell, finished: str) -> None:
    out, _ = ssdlab("show", finished, "--all")
    assert finished in out and "threads of one synchronous I/O" in out
    shown = ssdlab.json("show", finished)
    assert shown["schema"] == "ssdlab.show/1" and shown["status"] == "finished"
    assert shown["result"]["kind"] == "peak" and len(shown["result"]["points"]) == 2
    assert [step["label"] for step in shown["steps"]] == ["conditions", "depth 1", "depth 4"]
    assert shown["steps"][1]["result"]["measurement"]["schema"] == "ssdlab.measurement/1"
    assert ssdlab.json("show", shown["folder"]) == shown


def test_a_note_is_shown_with_its_run(ssdlab: Shell, finished: str) -> None:
    noted = ssdlab.json("note", finished, "taken on a warm day")
    assert noted["text"] == "taken on a warm day" and noted["schema"] == "ssdlab.note/1"
    assert "note: " in ssdlab("show", finished, "--all")[0]
    assert ssdlab.json("show", finished)["notes"][0]["text"] == "taken on a warm day"


def test_the_library_is_rebuilt(ssdlab: Shell, finished: str) -> None:
    assert finished
    shutil.rmtree(ssdlab.library / ".catalogue")
    done = ssdlab.json("library", "rebuild")
    assert done["runs"] == 1 and done["figures"] >= 3 and done["unreadable"] == []
    assert ssdlab.json("runs")["runs"][0]["folder"].endswith(finished)


def test_plan_in_words_and_as_json_touches_nothing(ssdlab: Shell) -> None:
    words = ("plan", "qd1", "s.img", "--size", "1GiB", "--quick")
    out, _ = ssdlab(*words)
    assert "layout" in out and "random write 4 KiB" in out
    planned = ssdlab.json(*words)
    assert planned["schema"] == "ssdlab.plan/1" and planned["objection"] is None
    assert planned["seconds"][0] < planned["seconds"][1] and planned["layout"]["bytes"] == 1 << 30
    assert planned["endurance_share"] is None and len(planned["steps"]) == 54
    assert list(ssdlab.folder.iterdir()) == []


def test_methods_listed_and_explained(ssdlab: Shell) -> None:
    out, _ = ssdlab("methods")
    assert [line.split()[0] for line in out.splitlines()] == [*REGISTRY, *SUITES]
    one, _ = ssdlab("methods", "qd1")
    assert "What it cannot show" in one and "seconds = 60 s; quick: 2 s" in one
    told = ssdlab.json("methods")
    assert told["schema"] == "ssdlab.methods/1" and len(told["methods"]) == len(REGISTRY)
    assert len(told["suites"]) == len(SUITES)
    # What is listed without loading a method is what the methods themselves say.
    said = [
        (each["name"], each["destructive"], each["prose"].partition("\n")[0])
        for each in (*told["methods"], *told["suites"])
    ]
    listed = {**REGISTRY, **SUITES}
    assert said == [(name, each.writes, each.line) for name, each in listed.items()]
    parameter = next(each for each in told["methods"][0]["parameters"] if each["name"] == "seconds")
    assert parameter["unit"] == "s" and parameter["reason"]


def test_a_job_from_a_file(ssdlab: Shell) -> None:
    (ssdlab.folder / "job.toml").write_text(
        '[[step]]\ndo = "run"\nlabel = "reads"\nbs = "4k"\nthreads = 2\nseconds = "200ms"\n'
        '[[step]]\ndo = "idle"\nseconds = "50ms"\n'
        '[[step]]\ndo = "run"\nlabel = "writes"\nrw = "randwrite"\nseconds = "200ms"\n'
        '[[step]]\ndo = "flush"\n'
    )
    out, _ = ssdlab("job", "job.toml", "s.img", "--size", "8MiB")
    assert "reads" in out and "writes" in out
    shown = ssdlab.json("show", "2")
    assert [point["direction"] for point in shown["result"]["points"]] == ["read", "write"]
    (ssdlab.folder / "job.toml").write_text('[[step]]\ndo = "purge"\n')
    _, err = ssdlab("job", "job.toml", "s.img", status=3)
    assert "purge" in error_lines(err)[0]


def wait_for(condition, seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_is_watched_and_resumed(ssdlab: Shell, number: signal.Signals) -> None:
    words = ["run", "peak-random-read", "s.img", "--size", "8MiB", "--set", "depths=1,2,4"]
    process = ssdlab.start(*words, "--set", "seconds=4", "--set", "ramp_seconds=0")
    wait_for(lambda: list(ssdlab.library.glob("*/live.json")))
    (folder,) = run_folders(ssdlab.library)
    watched = ssdlab.json("watch", folder.name)
    assert watched["status"] == "running" and watched["live"]["steps"] == 4
    _, err = ssdlab("resume", folder.name, status=2)
    assert "another process" in error_lines(err)[0]
    wait_for(lambda: len(RunFolder(folder).steps()) >= 2)
    process.send_signal(number)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    what, advice = error_lines(err)
    assert "stopped by a signal" in what and f"ssdlab resume {folder.name[-6:]}" in advice
    assert "is interrupted: ssdlab resume" in ssdlab("watch", folder.name)[0]
    shown = ssdlab.json("show", folder.name)
    assert shown["status"] == "interrupted" and shown["result"] is None
    assert "no result yet" in ssdlab("show", folder.name)[0]
    before = len(shown["steps"])
    out, err = ssdlab("resume", folder.name[-6:])
    assert err.count("finished before") == before and "IOPS" in out
    _, err = ssdlab("resume", folder.name, status=2)
    assert "finished" in error_lines(err)[0]
    assert "is finished" in ssdlab("watch", folder.name)[0]


def test_watch_shows_a_run_until_its_end(ssdlab: Shell) -> None:
    run = ssdlab.start(
        "run", "peak-random-read", "s.img", "--size", "8MiB", "--set", "depths=1,2", "--set", "seconds=1"
    )
    wait_for(lambda: list(ssdlab.library.glob("*/live.json")))
    out, _ = ssdlab("watch", "2")
    run.communicate(timeout=30)
    assert run.returncode == 0
    assert out.splitlines()[-1].endswith(f"ssdlab show {run_folders(ssdlab.library)[0].name[-6:]}")


@pytest.mark.parametrize(
    ("words", "what", "advice"),
    [
        (("run", "peak-random-reed", "s.img"), "peak-random-reed", "peak-random-read"),
        (("run", "qd1", "s.img", "--set", "secs=3"), "secs", "seconds"),
        (("run", "qd1", "s.img", "--set", "seconds"), "name=value", "--set seconds=30"),
        (("run", "qd1", "s.img", "--set", "seconds=1", "--set", "seconds=2"), "twice", "once"),
        (("run", "qd1", "s.img", "--set", "seconds=3 fortnights"), "fortnights", "s"),
        (("run", "qd1", "s.img"), "s.img", "--size"),
        (("run", "qd1", "."), "directory", "--size"),
        (("run", "qd1", "s.img", "--size", "many"), "many", "1GiB"),
        (("plan", "qd2", "s.img"), "qd2", "qd1"),
        (("methods", "qd2"), "qd2", "qd1"),
        (("show", "nothing"), "nothing", "library"),
        (("note", "nothing", "x"), "nothing", "library"),
        (("job", "none.toml", "s.img"), "none.toml", "TOML"),
    ],
)
def test_bad_input_gets_two_lines_and_exit_2(ssdlab: Shell, words: tuple, what: str, advice: str) -> None:
    out, err = ssdlab(*words, status=2)
    lines = error_lines(err)
    assert len(lines) == 2 and what in lines[0] and advice in lines[1]
    assert out == "" and run_folders(ssdlab.library) == [] and not (ssdlab.folder / "s.img").exists()
    told = ssdlab.json(*words, status=2)
    assert told["exit_status"] == 2 and what in told["what"]


def test_a_foreign_file_is_not_written_without_consent(ssdlab: Shell) -> None:
    foreign = ssdlab.folder / "foreign.img"
    foreign.write_bytes(os.urandom(1 << 20))
    before = foreign.read_bytes()
    _, err = ssdlab("run", "qd1", "foreign.img", "--quick", status=2)
    assert "--destroy" in error_lines(err)[1]
    _, err = ssdlab("run", "qd1", "foreign.img", "--quick", "--destroy", "wrong", status=2)
    assert foreign.read_bytes() == before and run_folders(ssdlab.library) == []


def test_a_run_of_a_newer_version_is_refused(ssdlab: Shell, finished: str) -> None:
    (folder,) = run_folders(ssdlab.library)
    (folder / "manifest.json").chmod(0o644)
    edited(folder, schema="ssdlab.run/9")
    for words in (("show", finished), ("resume", finished), ("watch", finished)):
        _, err = ssdlab(*words, status=2)
        assert "newer" in error_lines(err)[0]


def test_on_a_terminal_lines_are_redrawn(ssdlab: Shell) -> None:
    controller, terminal = pty.openpty()
    environment = {**ssdlab.environment, "TERM": "xterm", "NO_COLOR": "1"}
    words = [sys.executable, "-m", "ssdlab", "run", "peak-random-read", "s.img", "--size", "8MiB", *TINY]
    process = subprocess.Popen(
        words, cwd=ssdlab.folder, env=environment, stderr=terminal, stdout=subprocess.DEVNULL
    )
    os.close(terminal)
    seen = b""
    while True:
        try:
            part = os.read(controller, 65536)
        except OSError:
            break
        if not part:
            break
        seen += part
    os.close(controller)
    assert process.wait(timeout=30) == 0
    text = seen.decode()
    assert "\x1b[2K" in text and "depth 4" in text and "left in total" in text
    assert "\x1b[3" not in text.replace("\x1b[?25", ""), "colours in spite of NO_COLOR"
