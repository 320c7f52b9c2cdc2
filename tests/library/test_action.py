"""The GitHub action: its steps as a runner starts them, with the gate's verdict and with hostile inputs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import junitparser
import pytest
import yaml

from ssdlab.cli import main

ROOT = Path(__file__).parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
EXPRESSION = re.compile(r"\$\{\{ *([\w.-]+) *\}\}")
HOSTILE = [
    "$(touch x)",
    "`touch x`",
    "'; touch x; '",
    '"; touch x; "',
    "a\nb=c\n$(touch x)",
    "--help",
    "../x",
]


class Done(NamedTuple):
    status: int
    said: str
    outputs: dict[str, str]
    summary: str


class Runner:
    """What GitHub's runner does of a composite action: inputs into `env`, each `run` as a script of bash."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self.folder, self.programs = folder, programs

    def file(self, name: str) -> Path:
        return self.folder / "runner" / name

    def step(self, name: str, inputs: dict[str, str]) -> Done:
        (step,) = [each for each in STEPS if each["name"] == name]
        given = {each: about.get("default", "") for each, about in ACTION["inputs"].items()} | inputs
        self.file("").mkdir(exist_ok=True)
        files = {each: self.file(each) for each in ("GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STEP_SUMMARY")}
        for file in files.values():
            file.write_text("")
        script = self.file("script.sh")
        script.write_text(step["run"])
        env = {
            key: EXPRESSION.sub(lambda found: given[found[1].removeprefix("inputs.")], value)
            for key, value in step["env"].items()
        }
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", script],
            cwd=self.folder,
            env={
                **os.environ,
                **{each: str(file) for each, file in files.items()},
                "RUNNER_TEMP": str(self.file("")),
                "PATH": f"{self.programs}{os.pathsep}{os.environ['PATH']}",
                **env,
            },
            capture_output=True,
            text=True,
            check=False,
        )
        summary = files["GITHUB_STEP_SUMMARY"].read_text()
        outputs = read_outputs(files["GITHUB_OUTPUT"].read_text())
        return Done(done.returncode, done.stdout + done.stderr, outputs, summary)


def read_outputs(text: str) -> dict[str, str]:
    """Outputs as the runner reads them: `name=value`, or `name<<MARK` with lines up to the mark."""
    found, lines = {}, text.splitlines()
    while lines:
        line = lines.pop(0)
        if several := re.fullmatch(r"(\w+)<<(.+)", line):
            end = lines.index(several[2])
            found[several[1]], lines = "\n".join(lines[:end]), lines[end + 1 :]
        else:
            name, _, value = line.partition("=")
            found[name] = value
    return found


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("programs")
    program(folder / "ssdlab", f'exec "{sys.executable}" -m ssdlab "$@"')
    return folder


def program(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/bash\n{script}\n")
    path.chmod(0o755)


@pytest.fixture
def runner(tmp_path: Path, programs: Path) -> Runner:
    return Runner(tmp_path, programs)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five runs of a simulated drive, and of a faster one."""
    folder = tmp_path_factory.mktemp("runs")
    place = ("--library", str(folder))
    for profile, tag in (("sata-tlc-enterprise", "base"), ("nvme-tlc-client", "new")):
        brief = ("--quick", "--set", "depths=1", "--set", "seconds=50ms", "--repeat", "5")
        assert main(["run", "peak-random-read", f"sim:{profile},scale=128", *brief, *place]) == 0
        assert main(["tag", "last", tag, *place]) == 0
    return folder


def test_no_input_is_in_the_text_of_a_script() -> None:
    assert ACTION["runs"]["using"] == "composite"
    for step in STEPS:
        assert "${{" not in step["run"] and step["shell"] == "bash"
    used = {name for step in STEPS for value in step["env"].values() for name in EXPRESSION.findall(value)}
    assert used == {f"inputs.{name}" for name in ACTION["inputs"]}
    for output, about in ACTION["outputs"].items():
        assert EXPRESSION.findall(about["value"]) == [f"steps.compare.outputs.{output}"]


@pytest.mark.parametrize("given", ["ssdlab==0.2.0", *HOSTILE])
def test_what_is_installed_is_one_word(runner: Runner, given: str) -> None:
    python = runner.folder / "python3"
    record = 'printf "%s\\0" "$@" >>"$RUNNER_TEMP/asked"'
    program(python, f'{record}\n[ "$2" != venv ] || {{ mkdir -p "$3/bin" && cp "$0" "$3/bin/python"; }}')
    assert runner.step("Install ssdlab", {"install": given, "python": str(python)}).status == 0
    place = str(runner.file("ssdlab"))
    asked = runner.file("asked").read_text().split("\0")
    assert asked == ["-m", "venv", place, "-m", "pip", "install", "--quiet", "--", given, ""]
    assert runner.file("GITHUB_PATH").read_text() == f"{place}/bin\n"
    assert not (runner.folder / "x").exists()


def test_where_nothing_is_to_be_installed_nothing_is(runner: Runner) -> None:
    assert runner.step("Install ssdlab", {"python": "no-such-python"}).status == 0


@pytest.mark.long
@pytest.mark.parametrize(
    ("rules", "status"),
    [
        ("random_read_iops < -5%", 0),
        ("random_read_iops < -5%\n\n  random_read_mean_ns > +5%\n", 0),
        ("random_read_iops < -5%\nrandom_read_iops > +5%", 1),
        ("random_read_p99_ns > +5%", 2),
    ],
)
def test_the_action_ends_as_the_gate_does(runner: Runner, library: Path, rules: str, status: int) -> None:
    given = {"baseline": "tag:base", "candidate": "tag:new", "fail-if": rules, "library": str(library)}
    done = runner.step("Compare", given)
    assert (done.status, done.outputs["status"]) == (status, str(status)), done.said
    (suite,) = junitparser.JUnitXml.fromfile(str(runner.folder / done.outputs["junit"]))
    asked = [rule.strip() for rule in rules.splitlines() if rule.strip()]
    assert suite.tests == len(asked) and suite.failures == (status == 1) and suite.skipped == (status == 2)
    lines = done.summary.splitlines()
    table = [line for line in lines if line.startswith("| ")]
    assert len(table) > 5 and all(f"* `{rule}`: **" in done.summary for rule in asked)


@pytest.mark.long
@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("name", ["baseline", "candidate", "fail-if", "library", "junit"])
def test_no_input_is_run(runner: Runner, library: Path, name: str, text: str) -> None:
    given = {
        "baseline": "tag:base",
        "candidate": "tag:new",
        "fail-if": "random_read_iops > +5%",
        "library": str(library),
        name: text,
    }
    done = runner.step("Compare", given)
    assert done.status == (1 if name == "junit" else 2), done.said
    assert done.outputs == {"status": str(done.status), "junit": given.get("junit", "")}, "no report, no path"
    assert not (runner.folder / "x").exists()
    assert bool(done.summary) == (name == "junit")
