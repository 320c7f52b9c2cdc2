"""From the command line to the page, with real I/O on a scratch file."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from report.browser import Browser
from report.reading import Page

pytestmark = pytest.mark.long

JOB = """
[[step]]
do = "run"
label = "mixed"
rw = "randrw"
seconds = 1

[[step]]
do = "idle"
seconds = 0.1

[[step]]
do = "run"
label = "reads"
rw = "randread"
threads = 2
seconds = 1
"""


def ssdlab(command: str, *words: object, status: int = 0) -> str:
    done = subprocess.run([command, *map(str, words)], capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    return done.stdout if status == 0 else done.stderr


def test_a_paced_measurement_and_a_job_become_a_page(
    command: str, web_browser: Browser, scratch: Path
) -> None:
    file, library, page = scratch / "f.bin", scratch / "library", scratch / "page.html"
    words = ("--rw", "randrw", "--threads", 4, "--rate", 500, "--seconds", 2, "--size", "64MiB")
    measured = json.loads(ssdlab(command, "measure", file, *words, "--save", "--library", library, "--json"))
    (scratch / "job.toml").write_text(JOB)
    ssdlab(command, "job", scratch / "job.toml", file, "--library", library)
    runs = sorted(path.parent.name for path in library.glob("*/manifest.json"))
    told = json.loads(ssdlab(command, "report", *runs, "-o", page, "--library", library, "--json"))
    assert told == {
        "schema": "ssdlab.report/1",
        "path": str(page),
        "bytes": page.stat().st_size,
        "runs": runs,
        "unfinished": [],
        "claims": [],
    }
    read = Page.of(page.read_text())
    assert repr(measured["read"]["response_ns"]["mean"]) in read.cells
    assert repr(measured["write"]["service_ns"]["max"]) in read.cells
    assert "File on a file system" in read.text
    assert "rate=256000,256000" in read.text
    web_browser.open(page)
    web_browser.drawn()
    assert web_browser.complaints == []
    assert web_browser.run("document.querySelectorAll('figure').length") == 6


def test_bad_input_says_what_and_what_to_do(command: str, tmp_path: Path) -> None:
    for words, what in (
        (("report", "-o", tmp_path / "x.html"), "no run is named"),
        (("report", "nothing", "-o", tmp_path / "x.html"), "there is no run 'nothing'"),
        (("report", "x", "-o", tmp_path), "is a folder, but must be a file"),
        (("report", "x", "-o", tmp_path / "no" / "x.html"), "there is no folder"),
    ):
        lines = ssdlab(command, *words, "--library", tmp_path / "library", status=2).splitlines()
        assert len(lines) == 2
        assert what in lines[0]
    assert list(tmp_path.iterdir()) == []
