"""What a reader sees of ACT: both rules by name, ACT's table, every try, and a file that repeats it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from methods.on_simulated import run
from report.reading import Page
from ssdlab.analysis.act import THRESHOLDS_MS
from ssdlab.cli import main
from ssdlab.formats.act import StorageConfig
from ssdlab.formats.act_files import read_config
from ssdlab.lab.outcome import read_result
from ssdlab.methods.act.result import UNJUDGED, ActResult
from ssdlab.report import page, source
from ssdlab.report.heads import heads_of
from ssdlab.results.run_folder import RunFolder

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("wide")]

POWERED = "sim:c916,scale=128"
SLOW = "sim:tiny-test,scale=4"


def test_a_test_in_the_terminal_on_the_page_and_as_a_file_for_the_original(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = run("act", tmp_path, POWERED, test_duration_sec="4", slice_sec="2", prepare="no", load="3")
    shown = told(folder, capsys)
    for rule, clock in (("2019", "it was due"), ("6.x", "a thread issued it")):
        kept = rf"3x kept the limits of {re.escape(rule)} in [\d.]+ s, a read counts from when {clock}"
        assert re.search(f"{kept}: not judged, since ACT judges slices of an hour[.]", shown), shown
    assert "3x passed" not in shown
    stored = read_result(folder)
    assert isinstance(stored, ActResult) and stored.unjudged == UNJUDGED
    assert shown.count("Slice  ≥ 1 ms  ≥ 2 ms  ≥ 4 ms  ≥ 8 ms  ≥ 16 ms  ≥ 32 ms  ≥ 64 ms  Reads/s") == 2
    assert re.search(r"large-block-reads, requested per second +70\.5882", shown)

    read = Page.of(page.render([source.read_run(folder.path)]))
    for rule in ("by the rule of 2019", "by the rule of 6.x"):
        assert rule in read.text
    assert {"large-block-writes-per-sec", "70.59", "worst", "kept"} <= read.cells

    file = tmp_path / "again.conf"
    words = ["act", "config", "--run", str(folder.path), "--device", "/dev/sdx", "--output", str(file)]
    assert main(words) == 0
    assert "names no drive" not in capsys.readouterr().err
    bare = tmp_path / "bare.conf"
    assert main(["act", "config", "--run", str(folder.path), "--output", str(bare)]) == 0
    assert main(["act", "show", str(bare)]) == 0
    assert main(["act", "bundle", str(folder.path), "--output", str(tmp_path / "bundle")]) == 0
    assert capsys.readouterr().err.count("names no drive") == 3
    config = read_config(file.read_text(), "file", StorageConfig)
    assert config.device_names == ("/dev/sdx",) and config.test_duration_sec == 4
    assert (config.read_reqs_per_sec, config.service_threads) == (6000, 80)


@pytest.mark.parametrize(
    ("name", "clock", "settings"),
    [
        ("act", "response", {"load": "60", "arrivals": "act2019", "record_bytes": "16384"}),
        ("act-index", "service", {"load": "60", "read_reqs_per_sec": "1", "cache_threads": "256"}),
    ],
)
def test_the_log_says_what_the_table_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, clock: str, settings: dict[str, str]
) -> None:
    """Read as act_latency.py reads it: counts since the start, shares that are not in the lower buckets."""
    folder = run(name, tmp_path, SLOW, test_duration_sec="4", slice_sec="2", prepare="no", **settings)
    result = read_result(folder)
    assert isinstance(result, ActResult) and len(result.slices) == 2
    capsys.readouterr()
    assert main(["act", "log", str(folder.path), "--clock", clock]) == 0
    log = capsys.readouterr().out
    assert log.index("ACT version 6.6") < log.index("report-interval-sec: 1") < log.index("HISTOGRAM NAMES")
    reports = dict(re.findall(r"^after (\d+) sec:\n(.*?)\n\n", f"{log}\n\n", re.MULTILINE | re.DOTALL))
    assert list(reports) == ["1", "2", "3", "4"]
    before: dict[int, int] = {}
    for each in result.slices:
        (dump,) = re.findall(
            r"^reads \((\d+) total\)\n((?: .*\n)+)", reports[str(2 * each.number)], re.MULTILINE
        )
        since = {int(at): int(count) for at, count in re.findall(r"\((\d+): (\d{10})\)", dump[1])}
        assert int(dump[0]) == sum(since.values())
        counts = {at: since[at] - before.get(at, 0) for at in since}
        rule = "2019" if clock == "response" else "6.x"
        assert sum(counts.values()) == each.ios[rule]
        for power, ms in enumerate(THRESHOLDS_MS):
            over = 1 - sum(count for at, count in counts.items() if at <= power) / sum(counts.values())
            assert over == pytest.approx(getattr(each, clock)[str(ms)], abs=2 / sum(counts.values()))
        before = since
    assert max(getattr(result.slices[0], clock).values()) > 0, "there is something to compare"


def test_a_search_in_the_terminal_and_on_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = run(
        "act-search",
        tmp_path,
        POWERED,
        load="40",
        coarse="20",
        fine="10",
        most="60",
        test_duration_sec="1",
        slice_sec="1",
        prepare="no",
        read_reqs_per_sec="20000",
        write_reqs_per_sec="10",
    )
    shown = told(folder, capsys)
    assert "x/W" in shown and "by the rule of 2019, arrivals act2019" in shown
    assert "IOPS reached" not in shown and "never issued" not in shown, "it overloads on purpose"
    read = Page.of(page.render([source.read_run(folder.path)]))
    assert {"Resolution", "Drive before", "Written before", "Done", "as it was found"} <= read.cells
    assert "core, by the rule of 2019" in read.text and "fficiency and power" in read.text
    placed, sections = page.contents([source.read_run(folder.path)])
    heads = heads_of(sections, placed)
    for chart in ("act-search-score", "act-search-trail"):
        notes = " ".join(note.text for note in heads[chart].notes)
        assert "was delivered: 99.5 % of what was due of each stream" in notes, (
            "score and trail go by one rule"
        )
        assert (
            "not judged: ACT judges slices of an hour; each load ran for 1.00 s, in slices of 1.00 s" in notes
        )


def told(folder: RunFolder, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert main(["show", str(folder.path), "--all"]) == 0
    return capsys.readouterr().out


def test_what_no_slice_covers_was_held_against_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = run("act", tmp_path, POWERED, test_duration_sec="5", slice_sec="2", prepare="no", load="3")
    shown = told(folder, capsys)
    assert "3x kept the limits of 6.x in 4.00 s" in shown
    assert "the last 1 s do not count" in shown
