"""What was asked of a measurement is told whole: as it is made, by `show` when saved, and on its page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ssdlab.cli import main
from ssdlab.cli.measure import stream_text
from ssdlab.model.options import MeasureOptions
from ssdlab.report.runs import shown
from ssdlab.report.sections.provenance import panels
from ssdlab.report.sections.specifications import text
from ssdlab.report.source import read_run

pytestmark = pytest.mark.usefixtures("wide")
MEASURE = ["measure", "sim:tiny-test,scale=4", "--seconds", "1"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"pattern": "hot:80/20"}, "random read, 4 KiB, 1 thread (sync), closed loop, pattern hot:80/20"),
        ({"pattern": "zipf:1.25"}, "random read, 4 KiB, 1 thread (sync), closed loop, pattern zipf:1.25"),
        ({"span": "25%..50%"}, "random read, 4 KiB, 1 thread (sync), closed loop, span 25%..50%"),
        ({"span": "1g..3g"}, "random read, 4 KiB, 1 thread (sync), closed loop, span 1g..3g"),
        ({"cpus": "0-2,8"}, "random read, 4 KiB, 1 thread (sync), closed loop, CPUs 0,1,2,8"),
        (
            {"rw": "write", "dsync": True, "compressible": "50%"},
            "sequential write, 4 KiB, 1 thread (sync), closed loop, compressible 50%, dsync",
        ),
        (
            {"engine": "uring", "depth": 8, "batch": 4},
            "random read, 4 KiB, 1 thread x depth 8 (uring), closed loop, batch 4",
        ),
    ],
)
def test_what_is_asked_for_is_told_as_it_could_be_typed(options: dict[str, Any], told: str) -> None:
    (stream,) = MeasureOptions(**options).workload().streams
    assert stream_text(stream) == told


def test_a_saved_measurement_is_shown_as_it_was_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--rw", "randwrite", "--threads", "32", "--save", "--library", str(tmp_path)]
    assert main([*MEASURE, *words]) == 0
    made = capsys.readouterr().out.rstrip()
    assert "random write, 4 KiB, 32 threads (sync), closed loop, seed 1" in made
    assert " of 32; " in made and made.count("  latency  ") == 1
    (run,) = tmp_path.glob("*-measure-*")
    assert main(["show", str(run)]) == 0
    assert made in capsys.readouterr().out


def test_a_measurement_without_its_workload_is_shown_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from ssdlab.cli.measure import print_result
    from ssdlab.results.run_folder import RunFolder
    from ssdlab.results.schema import MeasureResult

    assert main([*MEASURE, "--save", "--library", str(tmp_path)]) == 0
    (run,) = tmp_path.glob("*-measure-*")
    result = RunFolder(run).manifest.result or {}
    for workload in (None, {"streams": "of another ssdlab"}):
        measured = result["measurement"] | {"workload": workload}
        capsys.readouterr()
        print_result(MeasureResult.model_validate(result | {"measurement": measured}))
        assert "service" in capsys.readouterr().out


def test_its_page_tells_the_options_that_are_no_plain_values(tmp_path: Path) -> None:
    words = ["--bs", "4k:70,128k:30", "--span", "0..25%", "--pattern", "zipf:1.1", "--save"]
    assert main([*MEASURE, *words, "--library", str(tmp_path)]) == 0
    (run,) = tmp_path.glob("*-measure-*")
    (panel,) = panels(shown([read_run(run)]))
    told = {row[0].text: row[1].text for row in panel.tables[0].rows}
    assert panel.tables[0].caption == "Parameters"
    assert {"bs": "4k:70,128k:30", "span": "0..25%", "pattern": "zipf:1.1"}.items() <= told.items()


def test_objects_in_a_list_are_facts_too() -> None:
    steps = json.loads('[{"do": "run", "bs": [4096]}, {"do": "idle", "seconds": 1.5}, {}]')
    assert text(steps) == "do run, bs 4096; do idle, seconds 1.5; —"
    assert text({}) == text([]) == "—"
