"""The state that a part begins in is what its planned steps bring about, whatever a declaration says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ssdlab.cli import main
from ssdlab.lab.found import find_method
from ssdlab.lab.suites import all_suites
from ssdlab.lab.suites.suite import Suite
from ssdlab.runs.order import Order, plan_order
from ssdlab.runs.suites.ordering import begins_in, states_before

DRIVE = "sim:nvme-tlc-enterprise,scale=64"


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.mark.parametrize("suite", all_suites(), ids=lambda suite: suite.name)
@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.long
def test_each_part_of_our_reviews_brings_about_what_is_declared(suite: Suite, quick: bool) -> None:
    for part in suite.parts:
        method = suite.method(part)
        params = method.params.build(dict(part.settings), quick=quick or suite.quick)
        steps = plan_order(Order(method, params, DRIVE, destroy=DRIVE, quick=quick)).steps
        assert part.state in ("any", *states_before(steps)), part.label


@pytest.mark.parametrize(
    ("name", "settings", "expected"),
    [
        ("whole-drive-fill", {}, ("fresh",)),
        ("peak-random-read", {"fill": "true"}, ("written",)),
        ("peak-random-read", {"fill": "false"}, ()),
        ("steady-random-write", {}, ("written", "random-steady")),
        ("steady-sequential-write", {}, ("written", "sequential-steady")),
        ("pts-throughput", {}, ("fresh",)),
        ("pts-demand-intensity", {}, ("fresh", "random-steady")),
        ("mixed-random", {"precondition": "analytic"}, ("fresh", "random-steady")),
    ],
)
def test_states_are_those_of_the_steps(
    name: str, settings: dict[str, str], expected: tuple[str, ...]
) -> None:
    method = find_method(name)
    steps = plan_order(Order(method, method.params.build(settings), DRIVE, destroy=DRIVE)).steps
    assert states_before(steps) == expected
    last = expected[-1] if expected else "any"
    assert begins_in("any", steps) == "any"
    assert begins_in("sequential-steady", steps) == last


def declared(folder: Path, begins: str) -> Path:
    path = folder / "own.toml"
    path.write_text(
        'schema = "ssdlab.review/1"\nname = "own"\ntitle = "Own"\n'
        f'[[part]]\nmethod = "peak-random-read"\nbegins = "{begins}"\nset = {{ fill = true }}\n'
    )
    return path


def test_a_declaration_of_what_is_not_brought_about_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It stood on the page as the state that the part began in."""
    assert main(["plan", str(declared(tmp_path, "random-steady")), DRIVE, "--json"]) == 2
    refused = json.loads(capsys.readouterr().out)
    assert refused["what"] == (
        "the part peak-random-read begins 'random-steady', but peak-random-read produces written"
    )
    assert "'written'" in refused["advice"]


def test_what_a_user_sets_otherwise_is_told_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["plan", str(declared(tmp_path, "written")), DRIVE, "--json"]
    assert main(words) == 0
    assert [part["state"] for part in json.loads(capsys.readouterr().out)["parts"]] == ["written"]
    assert main([*words, "--set", "fill=false"]) == 0
    assert [part["state"] for part in json.loads(capsys.readouterr().out)["parts"]] == ["any"]
