"""The suite of SNIA's tests: its times on drives made smaller, and its one report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ssdlab.cli import main
from ssdlab.lab.outcome import read_result
from ssdlab.lab.suites import find_suite
from ssdlab.methods.pts.result import PtsBase
from ssdlab.report import page, source
from ssdlab.results.run_folder import RunFolder
from ssdlab.runs.suites.ordering import suite_params

DRIVE = "sim:tiny-test,scale=4,write-cache=off"
SUITE = find_suite("snia")
assert SUITE is not None
TESTS = [part.method for part in SUITE.parts]


def times_of(drive: str, settings: dict[str, str] | None = None, **options: Any) -> dict[str, dict[str, Any]]:
    made = suite_params(SUITE, settings or {}, drive=drive, **{"quick": False, **options})
    return {label: params.model_dump() for label, params in made.items()}


def test_a_drive_made_smaller_gets_times_as_much_shorter() -> None:
    whole = times_of("/dev/nvme0n1")
    small = times_of("sim:sata-tlc-enterprise,scale=16")
    checked = 0
    for part in SUITE.parts:
        params = SUITE.method(part).params
        for info in params.table():
            scale = 16 if info.unit == "s" and info.name not in params.absolute else 1
            was, now = whole[part.label][info.name], small[part.label][info.name]
            assert now == (was / scale if scale > 1 else was), (part.label, info.name)
            checked += scale > 1
    assert checked >= len(SUITE.parts)
    assert whole == times_of("sim:sata-tlc-enterprise")
    assert times_of("sim:sata-tlc-enterprise,scale=16", quick=True) == times_of("/dev/nvme0n1", quick=True)
    assert small["pts-host-idle-recovery"]["burst_seconds"] == 5.0, "and so the rests, which go with it"
    set_to = times_of("sim:sata-tlc-enterprise,scale=16", {"pts-iops.seconds": "9"})
    assert (set_to["pts-iops"]["seconds"], set_to["pts-throughput"]["seconds"]) == (9.0, 3.75)


@pytest.mark.parametrize("verb", ["plan", "run"])
def test_a_parameter_that_is_wrong_is_no_drive_that_does_not_fit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], verb: str
) -> None:
    words = [verb, "snia", DRIVE, "--quick", "--set", "active_range_segments=7"]
    assert main(words + (["--library", str(tmp_path)] if verb == "run" else [])) == 2
    said = capsys.readouterr()
    assert "active_range_amount" in said.err
    assert "left out" not in said.out and not list(tmp_path.iterdir())


@pytest.mark.slow
def test_all_eight_come_to_a_verdict_in_one_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["run", "snia", DRIVE, "--destroy", DRIVE, "--quick", "--library", str(tmp_path)]
    assert main(words) == 0
    (folder,) = tmp_path.glob("*-snia-*")
    capsys.readouterr()
    assert main(["show", str(folder), "--all"]) == 0
    assert "the drive is simulated" in capsys.readouterr().out
    suite = RunFolder(folder)
    runs = [RunFolder(tmp_path / child.run_id) for child in suite.manifest.children]
    assert [run.manifest.method.name for run in runs] == TESTS
    for run in runs:
        result = read_result(run)
        assert isinstance(result, PtsBase) and result.purged
        assert "condition-write_cache" not in {each.code for each in run.manifest.departures}
    html = page.render([source.read(folder)])
    for run in runs:
        assert f"{run.manifest.method.title}, page 1 of " in html
    headers = html.count("<summary>Page header</summary>")
    assert headers == html.count('class="sheet"') and headers >= 30
