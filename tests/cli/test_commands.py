"""The commands: each is there, explains itself, and `measure` loads only what it needs."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from importlib import import_module
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

import ssdlab
from ssdlab.cli import main
from ssdlab.cli.commands import COMMANDS
from ssdlab.model.options import MeasureOptions

WHAT = ("rw", "read-pct", "bs", "pattern", "span", "compressible", "dsync", "seed")
HOW = ("threads", "depth", "engine", "batch", "cpus", "numa", "arrival", "rate", "backlog", "think")
WHEN = ("seconds", "bytes", "ramp", "interval", "precondition", "spare")
WHERE = (
    "allow-unwritten",
    "log-ios",
    "size",
    "destroy",
    "wipe-signatures",
    "endurance-cap",
    "save",
    "library",
    "meter",
)
_OF_WRITES = ("fsync", "fdatasync", "buffered", "write-bs", "write-pattern", "poll")
OPTIONS = (*WHAT, *HOW, *WHEN, *WHERE, "on-error", *_OF_WRITES)


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_is_where_the_table_says_and_has_help(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    module, function = COMMANDS[name].place.split(":")
    command = getattr(import_module(module), function)
    assert main([*name.split(), "--help"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"Usage: ssdlab {name}")
    first = command.__doc__.strip().splitlines()[0]
    assert " ".join(first.split()[:4]) in " ".join(shown.split())


def test_the_list_of_commands_has_each_with_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    shown = " ".join(capsys.readouterr().out.replace("│", " ").split())
    for name, command in COMMANDS.items():
        if " " not in name:
            assert f"{name} {command.summary}" in shown


def test_the_version_tells_the_build(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert re.fullmatch(r"\d+\.\d+\.\d+ \((release|debug)\)\n", capsys.readouterr().out)


def test_every_option_of_measure_is_a_flag_and_a_parameter(capsys: pytest.CaptureFixture[str]) -> None:
    names = {field.alias or name for name, field in MeasureOptions.model_fields.items()}
    assert names == {name.replace("-", "_") for name in OPTIONS}
    parameters = inspect.signature(ssdlab.measure).parameters
    assert next(iter(parameters)) == "drive"
    assert names == set(parameters) - {"drive"}
    main(["measure", "--help"])
    shown = capsys.readouterr().out
    for name in OPTIONS:
        assert f"--{name} " in shown
    for field in MeasureOptions.model_fields.values():
        assert field.description


def run(command: list[str], cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=60, check=False)


def test_measure_loads_no_more_than_it_needs(scratch: Path) -> None:
    code = (
        "import sys; from ssdlab.cli import main; status = main(sys.argv[1:]); "
        "print(' '.join(sys.modules), file=sys.stderr); sys.exit(status)"
    )
    words = ["measure", "scratch.bin", "--size", "1MiB", "--bytes", "64k", "--json"]
    done = run([sys.executable, "-c", code, *words], scratch)
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["intervals"]) == 1
    loaded = set(done.stderr.splitlines()[-1].split())
    # Whatever is new here costs time before the first I/O and memory: see benches/startup.py.
    installed = {name.partition(".")[0] for name in loaded} & set(packages_distributions())
    needed = {"ssdlab", "cyclopts", "pydantic", "pydantic_core", "attr", "attrs", "annotated_types"}
    assert installed <= needed | {"typing_extensions", "typing_inspection", "_distutils_hack"}
    elsewhere = "drives.simulated drives.block methods report results runs.session runs.doctor runs.plan"
    assert loaded.isdisjoint({f"ssdlab.{name}" for name in elsewhere.split()})
    assert len(loaded) < 420


def test_a_reader_that_goes_away_is_no_error(scratch: Path) -> None:
    words = f"{sys.executable} -m ssdlab doctor --json | head -c 10"
    done = run(["bash", "-o", "pipefail", "-c", words], scratch)
    assert done.returncode == 0
    assert done.stderr == ""


def test_doctor_tells_what_it_looked_at(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["schema"] == "ssdlab.doctor/1"
    names = {check["name"] for check in told["checks"]}
    assert {"privileges", "sync", "io_uring", "locked memory", "open files", "clock", "scheduler"} <= names
    for check in told["checks"]:
        assert check["state"] in ("ok", "limited", "missing")
        assert check["advice"] or check["state"] == "ok"
    assert 0 < told["calibration"]["record_ns"] < 10_000
    assert main(["doctor"]) == 0
    shown = capsys.readouterr().out
    assert "what the tool itself costs here" in shown


def test_drives_lists_this_hosts_disks(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["drives", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert main(["drives"]) == 0
    shown = capsys.readouterr().out
    for drive in told["drives"]:
        assert drive["identity"]["path"] in shown


def test_drives_tells_of_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "foreign.bin"
    file.write_bytes(bytes(8192))
    assert main(["drives", str(file)]) == 0
    shown = capsys.readouterr().out
    assert "capacity       8.19 kB (8192 bytes)" in shown
    assert "writing: refused" in shown
    assert main(["drives", str(file), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["schema"] == "ssdlab.drive/1"
    assert told["identity"]["capacity_bytes"] == 8192
    assert told["writing"]["reason"] == "no-consent"
