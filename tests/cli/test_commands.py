"""The commands: each is there, explains itself, and `measure` loads only what it needs."""

from __future__ import annotations

import inspect
import json
import re
import shlex
import subprocess
import sys
import tomllib
from importlib import import_module
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

import ssdlab
from ssdlab.cli import main
from ssdlab.cli.commands import COMMANDS, HEADINGS, build_app
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


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_gives_json_and_has_no_negative_form(name: str) -> None:
    app = whole = build_app()
    for word in name.split():
        app = app[word]
    found = app.assemble_argument_collection(default_parameter=whole.default_parameter, parse_docstring=False)
    names = {word for each in found for word in each.names}
    assert "--json" in names
    assert not {word for word in names if word.startswith(("--no-", "--empty-"))}


def test_texts_that_are_printed_are_told_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["theme"]) == main(["theme", "--json"]) == 0
    text, _, told = capsys.readouterr().out.partition("{\n")
    assert json.loads("{" + told) == tomllib.loads(text)
    assert main(["completion", "fish"]) == 0
    script = capsys.readouterr().out
    assert main(["completion", "fish", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["script"].strip() == script.strip()


def test_each_command_stands_under_one_heading() -> None:
    listed = " ".join(HEADINGS.values()).split()
    shown = {name.split()[0] for name in COMMANDS} | {"--help", "--version"}
    assert sorted(listed) == sorted(shown)


@pytest.mark.parametrize("words", [[], ["run"], ["fleet"], ["fleet", "plan"], ["run", "qd1"], ["help"]])
def test_help_works_as_a_command(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", *words]) == 0
    shown = capsys.readouterr().out
    assert main([*(word for word in words if word != "help"), "--help"]) == 0
    assert capsys.readouterr().out == shown
    assert main(["help", "nosuch"]) == 2


@pytest.mark.parametrize(
    ("typed", "right"),
    [
        ("ls --tag x", "ssdlab runs --tag x"),
        ("list", "ssdlab runs"),
        ("delete last", "ssdlab rm last"),
        ("diff a b", "ssdlab compare a b"),
        ("qd1 /dev/nvme0n1 --quick", "ssdlab run qd1 /dev/nvme0n1 --quick"),
        ("quick-look sim:tiny-test", "ssdlab run quick-look sim:tiny-test"),
        ("trace sim:tiny-test", "ssdlab run trace sim:tiny-test"),
        ("qd1", "ssdlab run qd1 DRIVE"),
        ("qd1", "ssdlab methods qd1"),
    ],
)
def test_words_that_people_type_lead_to_the_right_command(
    typed: str, right: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*typed.split(), "--json"]) == 2
    assert right in json.loads(capsys.readouterr().out)["advice"]


def test_a_proposed_command_is_quoted_as_a_shell_takes_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["qd1", "my drive's; rm", "--json"]) == 2
    advice = json.loads(capsys.readouterr().out)["advice"]
    words = ["ssdlab", "run", "qd1", "my drive's; rm", "--json"]
    assert shlex.split(advice.removeprefix("run it: ")) == words


@pytest.mark.parametrize(
    "verb",
    [
        "run qd1",
        "run qd1 sim:tiny-test",
        "run quick-look",
        "plan qd1",
        "measure",
        "drives",
        "purge",
        "purge --dry-run",
        "conditions show",
        "demo --on",
        "job job.toml",
    ],
)
@pytest.mark.parametrize("drive", ["tiny-test", "tiny-test,scale=4"])
def test_a_profile_without_its_prefix_is_answered_with_it(
    verb: str,
    drive: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("job.toml").write_text('[[step]]\ndo = "flush"\n')
    assert main([*verb.split(), drive, "--json"]) == 2
    assert f"sim:{drive}" in json.loads(capsys.readouterr().out)["advice"]
    assert [each.name for each in tmp_path.iterdir()] == ["job.toml"]


def test_a_file_that_is_called_as_a_profile_is_that_file(
    scratch: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(scratch)
    assert main(["measure", "tiny-test", "--size", "1MiB", "--bytes", "64k"]) == 0
    assert main(["measure", "tiny-test", "--bytes", "64k"]) == 0


@pytest.mark.parametrize("word", ["--version", "version"])
def test_the_version_tells_the_build(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([word]) == 0
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
    assert "the tool's own overhead" in shown


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
