"""Meters that other packages bring: the one of the document, and broken ones."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest

from methods.foreign import fenced, install
from ssdlab.cli import main
from ssdlab.model.errors import HostError, UsageError
from ssdlab.model.meter_text import MeterText
from ssdlab.power.kinds import KINDS, described_kinds, open_meter

HEADING = "A power meter of its own"
BROKEN = """import threading
import time

import numpy as np
from ssdlab.plugin import MeterInfo, Samples


class Meter:
    drift_ppm = 0.0

    def __init__(self, text):
        self.info = MeterInfo(text.use, "broken", {rails}, {rate})

    def read(self, timeout_s):
        return {sample}

    def close(self):
        {close}
"""
GOOD = {
    "rails": "('a', 'b')",
    "rate": "10.0",
    "sample": "Samples(np.array([time.monotonic_ns()]), np.array([[1.0, 2.0]]))",
    "close": "pass",
}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    return folder


def brought(site: Path, name: str, code: str) -> MeterText:
    """A package whose meter has this code."""
    install(site, name, {name: f"{name}:Meter"}, group="ssdlab.meters", **{name: code})
    return MeterText.parse(f"{name}:here")


@pytest.mark.long
def test_the_meter_of_the_document_works_as_it_says(site: Path, scratch: Path) -> None:
    (entry,) = re.findall(r'^(mwfile) = "(.*)"$', fenced("toml", HEADING), re.MULTILINE)
    install(site, "mwfile", {entry[0]: entry[1]}, group="ssdlab.meters", mwfile=fenced("python", HEADING))
    environment = {**os.environ, "PYTHONPATH": str(site), "XDG_DATA_HOME": str(scratch / "data")}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    commands = [line[2:] for line in fenced("console", HEADING).splitlines()]
    assert len(commands) == 3
    read_back = "ssdlab measure scratch.img --seconds 1 --meter mwfile:milliwatts --json > json"
    for command in (*commands, read_back):
        done = subprocess.run(
            command, shell=True, cwd=scratch, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        assert ("2.50 W" in done.stdout) == command.startswith("ssdlab") * ("--json" not in command)
    power = json.loads((scratch / "json").read_text())["power"]
    assert power["mean_w"] == 2.5


def test_a_kind_of_a_package_is_listed_and_tried(
    site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    watts = tmp_path / "milliwatts"
    watts.write_text("2500")
    brought(site, "mwfile", fenced("python", HEADING).replace("MilliwattFile", "Meter"))
    assert described_kinds()["mwfile"] == "of package mwfile 0.1"
    assert main(["meters", f"mwfile:{watts},accuracy=1%", "--json"]) == 0
    (shown, *_) = json.loads(capsys.readouterr().out)["meters"]
    assert (shown["watts"], shown["rails"], shown["accuracy"]) == ([2.5], ["supply"], 0.01)
    watts.unlink()
    assert main(["meters", f"mwfile:{watts}"]) == 3


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"rails": "()"}, "rails"),
        ({"rails": "('a', 'a')"}, "rails"),
        ({"rails": "'ab'"}, "rails"),
        ({"rate": "0.0"}, "rate_hz"),
        ({"rate": "float('nan')"}, "rate_hz"),
        ({"sample": "None"}, "NoneType"),
        ({"sample": "Samples(np.array([1.0]), np.array([[1.0, 2.0]]))"}, "time_ns"),
        ({"sample": "Samples(np.array([1]), np.array([[1.0]]))"}, "watts"),
        ({"sample": "Samples(np.array([1]), np.array([[1.0, np.nan]]))"}, "watts"),
        ({"sample": "1 / 0"}, "ZeroDivisionError"),
        ({"sample": "exit(5)"}, "SystemExit"),
        ({"sample": "Samples(np.array([10**18]), np.array([[1.0, 2.0]]))"}, "CLOCK_MONOTONIC"),
        ({"close": "1 / 0"}, "ZeroDivisionError"),
    ],
)
def test_what_a_package_gives_wrongly_is_told_as_its_own(
    site: Path, changed: dict[str, str], told: str
) -> None:
    name = f"broken{zlib.crc32(repr(changed).encode())}"
    text = brought(site, name, BROKEN.format(**GOOD | changed))
    with pytest.raises(HostError) as found, open_meter(text) as meter:  # type: ignore[attr-defined]
        meter.read(0.1)
    assert f"meter {name} of package {name} 0.1" in found.value.what and told in found.value.what
    assert found.value.facts["package"] == f"{name} 0.1"


def test_a_package_that_cannot_be_imported_takes_no_other_meter_down(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = brought(site, "cracked", "import nothing_of_that_name")
    with pytest.raises(HostError, match=r"cracked\.py:1.*ModuleNotFoundError"):
        open_meter(text)
    recorded = site / "power.csv"
    recorded.write_text("time [s],12V [V],12V [A]\n0.0,12.0,0.25\n0.1,12.0,0.25\n")
    assert main(["meters", "cracked:here", f"csv:{recorded}", "--json"]) == 3
    told: dict[str, Any] = {each["use"]: each for each in json.loads(capsys.readouterr().out)["meters"]}
    assert told["cracked:here"]["error"] and told[f"csv:{recorded}"]["watts"] == [3.0]


def test_a_kind_of_ours_stays_ours(site: Path) -> None:
    brought(site, "scpi", "raise SystemExit")
    assert described_kinds()["scpi"] == KINDS["scpi"][1]
    with pytest.raises(HostError, match="does not answer"):
        open_meter(MeterText.parse("scpi:127.0.0.1:1"))


def test_an_unknown_kind_names_those_of_packages_too(site: Path) -> None:
    brought(site, "wattmeter", BROKEN.format(**GOOD))
    with pytest.raises(UsageError) as found:
        open_meter(MeterText.parse("wattmetre:here"))
    assert "wattmeter" in f"{found.value.what} {found.value.advice}"


@pytest.mark.parametrize("of", ["read", "close"])
def test_a_meter_that_fails_in_mid_run_costs_no_measurement(
    site: Path, scratch: Path, of: str, capsys: pytest.CaptureFixture[str]
) -> None:
    sample = "Samples(np.array([time.monotonic_ns()]), np.array([[1.0, 2.0]])) if self.works() else 1 / 0"
    close = "1 / 0" if of == "close" else "pass"
    works = "self.reads < 3" if of == "read" else "True"
    code = f"""{BROKEN.format(**GOOD | {"sample": sample, "close": close})}
    reads = 0

    def works(self):
        self.reads += 1
        return {works}
"""
    brought(site, f"mid{of}", code)
    words = ["measure", str(scratch / "file"), "--size", "1MiB", "--seconds", "0.6", "--meter", f"mid{of}:x"]
    status = main([*words, "--json"])
    out = capsys.readouterr()
    assert json.loads(out.out)["read"]["ios"] > 0, out.err
    assert status == 0


def test_a_meter_that_hangs_is_given_up(
    site: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("ssdlab.power.collecting.SILENT_S", 0.5)
    brought(site, "hangs", BROKEN.format(**GOOD | {"sample": "threading.Event().wait()"}))
    assert main(["meters", "hangs:here", "--json"]) == 3
    (shown, *_) = json.loads(capsys.readouterr().out)["meters"]
    assert "within 0.5 s" in shown["error"]["what"]
    words = ["measure", str(scratch / "file"), "--size", "1MiB", "--seconds", "0.5", "--meter", "hangs:here"]
    assert main(words) == 0


def test_a_kind_that_cannot_be_used_is_listed_with_the_reason(site: Path) -> None:
    for name, kind in (("upper", "Upper"), ("ours", "csv"), ("twin", "mine"), ("zwin", "mine")):
        install(site, name, {kind: "nowhere:Meter"}, group="ssdlab.meters")
    told = described_kinds()
    assert told["mine"] == "of package twin 0.1"
    for kind in ("Upper (upper 0.1)", "csv (ours 0.1)", "mine (zwin 0.1)"):
        assert told[kind].startswith("cannot be used")
