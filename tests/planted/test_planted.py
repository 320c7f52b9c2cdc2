"""The library that an earlier version left has each kind of result and each state, and all of it opens."""

from __future__ import annotations

import json
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ssdlab.cli import main
from ssdlab.lab.folders import REGISTRY
from ssdlab.lab.kinds import KINDS, SuiteResult
from ssdlab.lab.outcome import parse_result
from ssdlab.results.earlier import as_of_now, manifest_as_of_now
from ssdlab.results.metric import Metric
from ssdlab.results.run_folder import MANIFEST

ARCHIVE = Path(__file__).parent / "library.tar.xz"
FLEET = "simulated tiny-test, 1/4 of its size"
LEFT_OUT = {"pts-iops", "pts-composite"}
"""Their tables would be two fifths of the archive; `pts-throughput` has their kind of result."""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("planted")
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    return folder / "library"


@pytest.fixture(scope="module")
def manifests(library: Path) -> dict[str, dict[str, Any]]:
    return {path.parent.name: json.loads(path.read_text()) for path in library.glob(f"2*/{MANIFEST}")}


@pytest.fixture
def told(library: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Any]:
    def command(*words: str, status: int = 0) -> Any:
        capsys.readouterr()
        assert main([*words, "--json", "--library", str(library)]) == status
        return json.loads(capsys.readouterr().out)

    yield command


def run_of(manifests: dict[str, dict[str, Any]], scene: str) -> str:
    (found,) = [run for run in manifests if re.fullmatch(rf"\d{{8}}-\d{{4}}-{scene}-0\d{{5}}", run)]
    return found


def test_each_method_and_each_kind_is_in_it(manifests: dict[str, dict[str, Any]]) -> None:
    assert set(REGISTRY) - {each["method"]["name"] for each in manifests.values()} == LEFT_OUT
    kinds = {each["result"]["kind"] for each in manifests.values() if each["result"]}
    assert set(KINDS) - kinds <= {"points", "imported"} or set(KINDS) <= kinds
    assert kinds - set(KINDS) == {"after-writes-told"}, "that of a package that is not installed"


@pytest.mark.parametrize(
    ("state", "code"),
    [
        ("throttled by heat", "throttled"),
        ("limited by the host", "host-limited"),
        ("state not shown", "state-unproven"),
        ("steady state NOT ACHIEVED", "state-unproven"),
        ("not judged", "not-judged"),
        ("not shown beyond a cache", "within-cache"),
        ("at least: none failed", "search-ceiling"),
    ],
)
def test_each_state_is_in_it_and_is_read_as_a_qualifier(
    manifests: dict[str, dict[str, Any]], state: str, code: str
) -> None:
    stored = [run["result"] for run in manifests.values() if (run["result"] or {}).get("scalars")]
    pairs = [pair for result in stored for pair in zip(result["scalars"], figures_of(result), strict=True)]
    read = [figure for old, figure in pairs if old.get("unshown") == state]
    assert read and all(code in {each.code for each in figure.unfit("ranking")} for figure in read)


def figures_of(result: dict[str, Any]) -> list[Metric]:
    """The headline figures of a stored result as they are read today."""
    return [Metric.model_validate(each) for each in (as_of_now(result) or {})["scalars"]]


def test_figures_of_which_nothing_was_said_are_fit_for_a_rank(manifests: dict[str, dict[str, Any]]) -> None:
    stored = [run["result"] for run in manifests.values() if (run["result"] or {}).get("scalars")]
    for result in stored:
        for old, figure in zip(result["scalars"], figures_of(result), strict=True):
            assert (figure.name, figure.value) == (old["name"], old["value"])
            assert bool(figure.unfit("ranking")) is bool(old.get("unshown")) or figure.value is None
            assert old.get("taken_at") == (None if figure.load is None else figure.load.words)


@pytest.mark.parametrize(
    ("state", "qualified", "words"),
    [
        ("", {}, ""),
        ("throttled by heat", {"throttled": 6}, "throttled"),
        ("state placed elsewhere", {"state-unproven": 6}, "state unproven"),
        ("state prepared, not written", {"placed": 6}, "prepared, not written"),
        (
            "state prepared by one random pass in 1 of 6 runs",
            {"one-pass": 1},
            "one random pass in 1 of 6 runs",
        ),
        (
            "limited by the host; throttled by heat in 2 of 6 runs",
            {"host-limited": 6, "throttled": 2},
            "throttled in 2 of 6 runs, host-limited",
        ),
        (
            "state not shown in 1 of 6 runs; steady state NOT ACHIEVED in 2 of 6 runs",
            {"state-unproven": 3},
            "state unproven in 3 of 6 runs",
        ),
    ],
)
def test_medians_say_in_how_many_runs_each_qualifier_stands(
    manifests: dict[str, dict[str, Any]], state: str, qualified: dict[str, int], words: str
) -> None:
    manifest = manifests[run_of(manifests, "base")]
    stored = manifest["result"]
    repeated = [each | {"state": state} for each in stored["repeated"]]
    assert {each["state"] for each in stored["repeated"]} == {""}
    read = manifest_as_of_now(manifest | {"result": stored | {"repeated": repeated}})
    found = parse_result(read["result"])
    assert isinstance(found, SuiteResult) and len(found.repeated) == len(repeated) > 1
    assert all((each.qualified, each.state) == (qualified, words) for each in found.repeated)
    assert as_of_now(found.model_dump(mode="json")) == found.model_dump(mode="json")


def test_each_end_of_a_run_is_in_it(manifests: dict[str, dict[str, Any]], told: Any) -> None:
    assert {each["status"] for each in told("runs")["runs"]} == {"finished", "interrupted", "failed"}
    assert told("show", run_of(manifests, "killed"))["result"] is None
    resumed = manifests[run_of(manifests, "resumed")]
    assert resumed["status"] == "finished" and len(resumed["sessions"]) == 2


def test_all_of_it_is_whole_and_is_listed(manifests: dict[str, dict[str, Any]], told: Any) -> None:
    assert {each["run_id"] for each in told("runs")["runs"]} == set(manifests)
    verified = told("library", "verify")
    assert len(verified["runs"]) == len(manifests)
    assert [each for each in verified["runs"] if each["damage"]] == []


@pytest.mark.long
def test_each_run_is_shown(manifests: dict[str, dict[str, Any]], library: Path, told: Any) -> None:
    for run, stored in manifests.items():
        if stored["member"] is None:
            assert told("show", run, status=0 if passed(stored) else 1)["run"] == run
    for scene in ("hot", "killed", "plug-in-kind", "base", "suite"):
        assert main(["show", run_of(manifests, scene), "--library", str(library)]) == 0


def passed(manifest: dict[str, Any]) -> bool:
    """Whether the method's verdict, if it has one, is no fail."""
    return (manifest["result"] or {}).get("passed") is not False


def test_figures_are_ranked_and_those_whose_state_is_not_shown_are_not(
    manifests: dict[str, dict[str, Any]], library: Path, capsys: pytest.CaptureFixture[str], told: Any
) -> None:
    places = {}
    for figure in (name for name in told("rank")["figures"] if name.endswith(("_iops", "_mb_s"))):
        status = main(["rank", figure, "--json", "--library", str(library)])
        ranked = json.loads(capsys.readouterr().out)
        assert status in (0, 2), ranked
        places[figure] = ranked.get("lines", [])
    for figure, lines in places.items():
        for line in lines:
            (ranked,) = (
                each for each in figures_of(manifests[line["newest"]]["result"]) if each.name == figure
            )
            assert ranked.unfit("ranking") == ()
    assert len(places["peak_random_read_iops"]) > 1
    assert sum(map(bool, places.values())) > len(places) / 2


def test_runs_are_compared(manifests: dict[str, dict[str, Any]], told: Any) -> None:
    compared = told("compare", run_of(manifests, "base"), run_of(manifests, "new"))
    assert compared
    changes = told("changes", "peak_random_read_iops", "--drive", "tiny")
    assert changes


def test_its_page_and_that_of_its_fleet_are_written(
    manifests: dict[str, dict[str, Any]], told: Any, tmp_path: Path
) -> None:
    chosen = [
        run_of(manifests, scene) for scene in ("hot", "host-qd1", "moved", "rated", "plug-in-kind", "suite")
    ]
    page = told("report", *chosen, "-o", str(tmp_path / "page.html"))
    assert page["runs"] and (tmp_path / "page.html").stat().st_size
    fleet = told("fleet", "report", "--model", FLEET, "-o", str(tmp_path / "fleet.html"))
    assert fleet and (tmp_path / "fleet.html").stat().st_size


def test_what_was_killed_on_another_model_of_the_drive_is_refused_and_kept(
    manifests: dict[str, dict[str, Any]], library: Path, told: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its steps, simulated again, leave the drive in another state: the rest would be of another drive."""
    run = run_of(manifests, "killed")
    before = told("show", run)
    assert main(["resume", str(library / run)]) == 2
    assert "step 1" in capsys.readouterr().err
    after = told("show", run)
    assert (after["status"], after["steps"]) == (before["status"], before["steps"])


@pytest.mark.parametrize(
    ("run", "place"),
    [("steady-random-write", "steady"), ("consistency", "entries"), ("pts-throughput", "groups")],
)
def test_what_spoiled_a_judgement_is_a_doubt_of_it(
    manifests: dict[str, dict[str, Any]], run: str, place: str
) -> None:
    """A field for each kind of doubt became one list; what is not of a judgement stays as it is."""
    manifest = manifests[run_of(manifests, run)]
    stored = manifest["result"]
    spoiled = {"throttled": True, "by_host": "the CPUs were busy", "failed": "1 of 9 I/Os failed"}
    found = stored[place]
    doubtful = [each | spoiled for each in found] if isinstance(found, list) else found | spoiled
    result = manifest_as_of_now(manifest | {"result": stored | {place: doubtful}})["result"]
    read = result[place]
    for each in read if isinstance(read, list) else [read]:
        assert not each.keys() & spoiled.keys()
        assert {one["code"] for one in each["doubts"]} == {"throttled", "host-limited", "failed-io"}
        assert {one.get("why") for one in each["doubts"]} == {None, spoiled["by_host"], spoiled["failed"]}
    assert parse_result(result) is not None
