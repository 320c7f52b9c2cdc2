"""What a reader sees of ACT: both rules by name, ACT's table, every try, and a file that repeats it."""

from __future__ import annotations

from pathlib import Path

import pytest

from methods.on_simulated import run
from report.reading import Page
from ssdlab.act.config import StorageConfig
from ssdlab.act.config_file import read_config
from ssdlab.cli import main
from ssdlab.report import page, source
from ssdlab.results.run_folder import RunFolder

POWERED = "sim:c916,scale=128"


def test_a_test_in_the_terminal_on_the_page_and_as_a_file_for_the_original(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = run("act", tmp_path, POWERED, test_duration_sec="4", slice_sec="2", prepare="no", load="3")
    shown = told(folder, capsys)
    assert "3x passed by the rule of 2019, a read from when it was due" in shown
    assert "3x passed by the rule of 6.x, a read from when a thread issued it" in shown
    assert shown.count("slice        1      2      4      8     16     32     64       rate") == 2
    assert "6000.00 service, 70.59 large-block-reads, 70.59 large-block-writes" in shown

    read = Page.of(page.render([source.read_run(folder.path)]))
    for rule in ("by the rule of 2019", "by the rule of 6.x"):
        assert rule in read.text
    assert {"large-block-writes-per-sec", "70.59", "worst", "passed"} <= read.cells

    file = tmp_path / "again.conf"
    words = ["act", "config", "--run", str(folder.path), "--device", "/dev/sdx", "--output", str(file)]
    assert main(words) == 0
    config = read_config(file.read_text(), "file", StorageConfig)
    assert config.device_names == ("/dev/sdx",) and config.test_duration_sec == 4
    assert (config.read_reqs_per_sec, config.service_threads) == (6000, 80)


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
    assert "asked for were done" not in shown and "never issued" not in shown, "it overloads on purpose"
    read = Page.of(page.render([source.read_run(folder.path)]))
    assert {"Resolution", "Drive before", "Written before", "as it was found"} <= read.cells
    assert "Score, by the rule of 2019" in read.text and "Efficiency and power" in read.text


def told(folder: RunFolder, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert main(["show", str(folder.path)]) == 0
    return capsys.readouterr().out
