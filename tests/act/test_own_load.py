"""What is not ACT's own of a load stands wherever the load is named; a part of 1x is that part."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.on_simulated import run
from ssdlab.cli import main
from ssdlab.formats.act import IndexConfig, StorageConfig, changed_options, times_of
from ssdlab.lab.outcome import read_result
from ssdlab.methods.act.findings import findings, search_findings
from ssdlab.methods.act.index import ActIndexParams
from ssdlab.methods.act.params import LoadParams
from ssdlab.methods.act.result import ActResult, ActSearchResult
from ssdlab.methods.act.search import ActSearchParams
from ssdlab.methods.act.storage import ActParams
from ssdlab.model.errors import UsageError
from ssdlab.report import source
from ssdlab.report.runs import shown
from ssdlab.report.standings import UNLIKE, standings
from ssdlab.results.catalogue_row import row_of
from ssdlab.results.claim import sentence
from ssdlab.results.kin import OF_RUNS
from ssdlab.results.run_folder import RunFolder

FLAT = "sim:xpoint,scale=64"
SHORT = {"test_duration_sec": "2", "slice_sec": "2", "prepare": "no"}
SAME_LOAD = {"device_names", "file_size_mbytes", "test_duration_sec", "report_interval_sec"} | {
    "microsecond_histograms",
    "service_threads",
    "read_reqs_per_sec",
    "write_reqs_per_sec",
}
OTHER = {
    "record_bytes": "128",
    "record_bytes_range_max": "4096",
    "large_block_op_kbytes": "256",
    "replication_factor": "2",
    "update_pct": "10",
    "defrag_lwm_pct": "0",
    "no_defrag_reads": "yes",
    "compress_pct": "50",
    "disable_odsync": "yes",
    "commit_to_device": "yes",
    "tomb_raider": "yes",
    "max_lag_sec": "0",
    "cache_threads": "1",
}
"""Of each option a value that is not ACT's own."""


def act(folder: RunFolder) -> ActResult:
    result = read_result(folder)
    assert isinstance(result, ActResult)
    return result


@pytest.mark.parametrize(("method", "program"), [(ActParams, StorageConfig), (ActIndexParams, IndexConfig)])
def test_every_option_that_makes_another_load_is_told_and_no_other(
    method: type[LoadParams], program: type[Any]
) -> None:
    options = {each.name for each in dataclasses.fields(program)} - SAME_LOAD - {"tomb_raider_sleep_usec"}
    assert options <= set(OTHER), "an option that is new makes another load, or is one of SAME_LOAD"
    assert method.build({}).changed() == {}
    for name in sorted(options):
        assert list(method.build({name: OTHER[name]}).changed()) == [name]
    for name in ("load", "test_duration_sec", "slice_sec"):
        assert method.build({name: "7200"}).changed() == {}
    for arrivals, told in (("act6", []), ("act2019", []), ("even", ["arrivals"]), ("poisson", ["arrivals"])):
        assert list(method.build({"arrivals": arrivals}).changed()) == told
    assert list(method.build({"service_threads": "8"}).changed()) == ["service_threads"]
    assert method.build({"service_threads": "8", "arrivals": "act2019"}).changed() == {}, (
        "it has 64 of its own"
    )
    assert list(method.build({"read_reqs_per_sec": "0"}).changed()) == [
        "read_reqs_per_sec",
        "write_reqs_per_sec",
    ]


def test_the_pause_of_a_tomb_raider_is_none_without_one() -> None:
    assert changed_options(StorageConfig(tomb_raider_sleep_usec=5)) == {}
    assert set(changed_options(StorageConfig(tomb_raider_sleep_usec=5, tomb_raider=True))) == {
        "tomb_raider",
        "tomb_raider_sleep_usec",
    }


def test_a_changed_load_is_told_in_sentence_label_caveat_and_bundle(tmp_path: Path) -> None:
    own = {"record_bytes": "128", "defrag_lwm_pct": "0", "disable_odsync": "yes"}
    folder = run("act", tmp_path, FLAT, load="8", **own, **SHORT)
    result = act(folder)
    words = "record-bytes 128, defrag-lwm-pct 0 and disable-odsync yes"
    told = [sentence(each) for each in findings(result)]
    assert all(f"8x with {words} kept" in each for each in told[:2])
    assert words in result.scalars[0].label
    (departed,) = (each for each in folder.manifest.departures if each.code == "act-load")
    assert "record-bytes 128 instead of 1536" in departed.what
    stored = (folder.manifest.result or {})["changed"]
    assert stored == {"record_bytes": 128, "defrag_lwm_pct": 0, "disable_odsync": True}
    assert main(["act", "bundle", str(folder.path), "--output", str(tmp_path / "b")]) == 0
    verdicts = json.loads((tmp_path / "b" / "verdicts.json").read_text())
    assert verdicts["changed"] == stored and verdicts["load_words"] == f"8x with {words}"
    assert words in (tmp_path / "b" / "summary.txt").read_text()


@pytest.mark.long
def test_a_search_at_a_changed_load_says_so_and_is_not_merged_with_one_of_acts_own(tmp_path: Path) -> None:
    loads = {"load": "4", "most": "4", "coarse": "4", "fine": "4", "arrivals": "act6"}
    plain, other = (
        run("act-search", tmp_path, FLAT, **loads, **more, **SHORT) for more in ({}, {"record_bytes": "128"})
    )
    own, changed = (read_result(each) for each in (plain, other))
    assert isinstance(own, ActSearchResult) and isinstance(changed, ActSearchResult)
    assert own.score == changed.score == 4
    assert (
        "with" not in sentence(next(search_findings(own)))
        and own.scalars[0].label == "score by the 6.x rule, delivered"
    )
    assert "4x with record-bytes 128 by " in sentence(next(search_findings(changed)))
    assert all("record-bytes 128" in each.label for each in changed.scalars)
    assert "act-load" in {each.code for each in other.manifest.departures}
    assert "act-load" not in {each.code for each in plain.manifest.departures}
    rows = [row_of(each, "sealed") for each in (plain, other)]
    assert any(getattr(rows[0], name) != getattr(rows[1], name) for name in OF_RUNS)
    page = standings(shown([source.read_run(each.path) for each in (plain, other)]))
    assert all(each.unlike == UNLIKE or len(each.places) < 2 for each in page.values())


@given(thousandths=st.integers(1, 100_000_000), more=st.integers(-3, 3))
def test_every_multiple_whose_rates_are_whole_is_that_multiple(thousandths: int, more: int) -> None:
    """ACT's rates are whole numbers: two reads to a write, from a thousandth of 1x on."""
    times = times_of(2 * thousandths, thousandths)
    assert round(1000 * times) == thousandths and isinstance(times, int) is (thousandths % 1000 == 0)
    assert times_of(2 * thousandths + more, thousandths) == (0 if more else times)


@given(thousandths=st.integers(1, 10_000_000))
def test_a_load_makes_the_rates_that_name_it(thousandths: int) -> None:
    config = ActParams.build({"load": str(thousandths / 1000)}).act_config()
    assert (config.read_reqs_per_sec, config.write_reqs_per_sec) == (2 * thousandths, thousandths)


@pytest.mark.parametrize("load", ["0.0005", "0.1234", "1.0001", "nan", "inf", "0", "-1", "x"])
def test_a_load_that_makes_no_whole_rates_is_refused_by_its_name(load: str) -> None:
    with pytest.raises((UsageError, ValueError), match="load"):
        ActParams.build({"load": load})


@pytest.mark.parametrize(
    "asked", [{"load": "0.5"}, {"read_reqs_per_sec": "1000", "write_reqs_per_sec": "500"}]
)
@pytest.mark.long
def test_half_of_1x_is_half_of_1x(tmp_path: Path, asked: dict[str, str]) -> None:
    folder = run("act", tmp_path, FLAT, **asked, **SHORT)
    result = act(folder)
    assert result.load == 0.5 and result.changed == {} and result.asked["service"] == 1000
    assert sentence(next(findings(result))).startswith("0.5x kept")
    assert "act-ratio" not in {each.code for each in folder.manifest.departures}
    assert main(["act", "bundle", str(folder.path), "--output", str(tmp_path / "b")]) == 0
    verdicts = json.loads((tmp_path / "b" / "verdicts.json").read_text())
    assert (verdicts["load"], verdicts["load_words"]) == (0.5, "0.5x")


def test_a_search_whose_step_is_half_of_1x_counts_in_1x(tmp_path: Path) -> None:
    """Its tries said 8x of what ACT calls 4x."""
    loads = {"load": "8", "most": "8", "coarse": "3", "fine": "3", "begin": "below", "arrivals": "act6"}
    rates = {"read_reqs_per_sec": "1000", "write_reqs_per_sec": "500"}
    folder = run("act-search", tmp_path, FLAT, **loads, **rates, **SHORT)
    result = read_result(folder)
    assert isinstance(result, ActSearchResult)
    labels = [step.label for step in folder.steps() if step.verb == "run"]
    assert labels == [f"load {each.load}x" for each in result.tries]
    for step, each in zip((s for s in folder.steps() if s.verb == "run"), result.tries, strict=True):
        service = next(stream for stream in step.ran.streams if stream.name == "service")
        assert float(service.requested_iops or 0) == 2000 * each.load
    assert result.score == max(each.load for each in result.tries) == 4


def test_rates_in_no_ratio_of_acts_have_no_multiple(tmp_path: Path) -> None:
    folder = run("act", tmp_path, FLAT, read_reqs_per_sec="1000", write_reqs_per_sec="501", **SHORT)
    result = act(folder)
    assert result.load == 0 and result.scalars[0].value is None
    assert "read-reqs-per-sec 1000 and write-reqs-per-sec 501" in sentence(next(findings(result)))
    assert main(["act", "bundle", str(folder.path), "--output", str(tmp_path / "b")]) == 0
    assert json.loads((tmp_path / "b" / "verdicts.json").read_text())["load"] is None
    assert ActSearchParams.build({"read_reqs_per_sec": "1"}).unit_load == 1


def test_a_configuration_of_a_part_of_1x_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["act", "config", "--load", "0.5"]) == 0
    assert "read-reqs-per-sec: 1000\nwrite-reqs-per-sec: 500\n" in capsys.readouterr().out
    for wrong in ("0.0005", "0", "nan", "-1", "1e3"):
        assert main(["act", "config", "--load", wrong]) == 2
        assert "load" in capsys.readouterr().err
