"""Departures from the specification: each is listed when it is one, and only then."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lab.fake_drive import FakeDrive, knee, resume_on, run_on
from methods.on_simulated import findings_of
from pts.scripted import Scripted
from ssdlab.cli import main
from ssdlab.lab.found import find_method
from ssdlab.lab.method import RunFacts
from ssdlab.lab.outcome import read_result
from ssdlab.methods.pts import specification
from ssdlab.methods.pts.result import PtsResult
from ssdlab.model.errors import Interrupted, Unsupported
from ssdlab.results import compaction
from ssdlab.results.run_folder import RunFolder
from ssdlab.results.schema import Manifest
from ssdlab.runs.conditions.variant import Variant
from ssdlab.runs.order import Order
from ssdlab.runs.session import start


@dataclass
class Switch:
    """The write cache of a drive that may confirm a setting and not take it."""

    value: str = "on"
    lies: bool = False
    name: str = "write_cache"
    lasting: bool = True
    destroys: bool = False

    def read(self) -> str:
        return self.value

    def meant(self, wanted: str) -> str:
        return wanted

    def write(self, value: str) -> None:
        if not self.lies:
            self.value = value

    def remark(self) -> str | None:
        return None


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def drive_of(**changes: Any) -> FakeDrive:
    controls = changes.pop("controls", {"write_cache": Switch()})
    identity = {"kind": "block", **changes.pop("identity_changes", {})}
    return FakeDrive(controls=controls, identity_changes=identity, **changes)


def run(drive: FakeDrive, library: Path, name: str = "pts-throughput", **settings: str) -> RunFolder:
    method = find_method(name)
    return RunFolder(run_on(drive, method, method.params.build(settings), library))


def codes(found: RunFolder) -> set[str]:
    return {each.code for each in found.manifest.departures}


def test_a_drive_that_does_as_the_specification_says_departs_in_nothing(tmp_path: Path) -> None:
    for setting in ("enterprise", "client"):
        found = run(drive_of(), tmp_path / setting, setting=setting)
        assert found.manifest.departures == (), setting
        result = read_result(found)
        assert isinstance(result, PtsResult) and result.steady


def of_iops(manifest: Manifest, sectors: int = 512, **settings: str) -> tuple[dict[str, str], PtsResult]:
    """Departures, by code, and result of the IOPS test on a scripted drive that is steady from the start."""
    method = find_method("pts-iops")
    params = method.params.build(settings)
    scripted = Scripted(lambda label: 1000.0)
    method.procedure(scripted.lab(sectors), params)
    data = scripted.data(sectors)
    result = method.conclude(data, params)
    assert isinstance(result, PtsResult)
    remarks = method.remarks(RunFacts(manifest, data, (), result), params)
    return {each.code: f"{each.what}: {each.why}" for each in remarks.departures}, result


@pytest.mark.parametrize("setting", ["enterprise", "client"])
def test_a_drive_that_ignores_the_write_cache_setting_departs(tmp_path: Path, setting: str) -> None:
    wrong = {"enterprise": "on", "client": "off"}[setting]
    drive = drive_of(controls={"write_cache": Switch(wrong, lies=True)})
    found = run(drive, tmp_path, setting=setting)
    (only,) = found.manifest.departures
    assert only.code == "condition-write_cache"
    assert f"write cache is {wrong}" in only.what and "requested: " in only.what
    right = drive_of(controls={"write_cache": Switch(wrong)})
    assert codes(run(right, tmp_path / "right", setting=setting)) == set()


def test_a_drive_whose_write_cache_nobody_knows_departs(tmp_path: Path) -> None:
    found = run(drive_of(controls={}), tmp_path)
    (only,) = found.manifest.departures
    assert only.code == "condition-write_cache" and "not known" in only.what


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"purgeable": False}, {"not-purged"}),
        ({"purge_method": "discard"}, {"purge-substitute"}),
        ({"purge_method": "nvme-format-user-data"}, set()),
        ({"purge_method": "ata-security-erase"}, set()),
        ({"identity_changes": {"kind": "partition"}}, {"partition"}),
        ({"identity_changes": {"kind": "file"}}, {"file"}),
        ({"logical_block_bytes": 4096}, {"sector-size"}),
    ],
)
@pytest.mark.long
def test_what_the_drive_is_and_how_it_is_purged(
    tmp_path: Path, changes: dict[str, Any], expected: set[str]
) -> None:
    assert codes(run(drive_of(**changes), tmp_path)) == expected


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"active_range": "50"}, {"active-range"}),
        ({"active_range": "100"}, set()),
        ({"active_range_amount": "512MiB"}, {"active-range-amount"}),
        ({"active_range_amount": "64GiB"}, set()),
        ({"active_range_segments": "1"}, set()),
        ({"setting": "client", "active_range": "75"}, set()),
        ({"setting": "client", "active_range": "100"}, {"active-range"}),
        ({"threads": "2"}, {"shape"}),
        ({"threads": "32", "depth": "1"}, {"shape", "engine"}),
        ({"seconds": "30"}, {"parameter-seconds"}),
        ({"overwrites": "1"}, {"parameter-overwrites"}),
        ({"overwrites_of": "active-range"}, {"parameter-overwrites_of"}),
        ({"fixed_rounds": "true", "most_rounds": "6"}, {"parameter-fixed_rounds", "parameter-most_rounds"}),
        ({"reported": "four-after"}, {"parameter-reported"}),
    ],
)
@pytest.mark.long
def test_what_the_operator_sets(tmp_path: Path, settings: dict[str, str], expected: set[str]) -> None:
    assert codes(run(drive_of(), tmp_path, **settings)) == expected


def test_a_time_that_shrank_with_the_drive_says_so() -> None:
    params = find_method("pts-throughput").params.build({"seconds": "1.875", "overwrites": "1"})
    for scale, told in ((32, True), (16, False), (1, False)):
        found = {each.code: each for each in specification._of_parameters(params, scale)}  # type: ignore[arg-type]
        assert ("1/32 of its size" in found["parameter-seconds"].what) is told
    (other,) = (
        each
        for each in specification._of_parameters(params, 2)
        if each.code == "parameter-overwrites"  # type: ignore[arg-type]
    )
    assert "of its size" not in other.what, "only times shrink"


@pytest.mark.parametrize(
    ("seconds", "expected"), [(21_600, []), (86_400, []), (43_200, ["parameter-most_seconds"])]
)
def test_a_write_saturation_of_24_hours_is_as_the_specification_has_it(
    seconds: int, expected: list[str]
) -> None:
    params = find_method("pts-write-saturation").params.build({"most_seconds": str(seconds)})
    assert [each.code for each in specification._of_parameters(params, 1)] == expected  # type: ignore[arg-type]


def test_what_the_text_leaves_open_is_printed_as_open(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "check_logs", lambda run: None)  # a fake drive writes none
    found = run(drive_of(), tmp_path, setting="client")
    assert main(["show", str(found.path), "--all"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    for point in ("the tracked variable", "the order of the block sizes", "twice the active range"):
        assert point in printed.partition("Open in the text")[2]
    assert find_method("pts-throughput").params.build({}).open_points[0].startswith("the tracked variable")  # type: ignore[attr-defined]
    assert find_method("pts-iops").params.build({}).open_points == ()  # type: ignore[attr-defined]


def test_of_the_iops_test(tmp_path: Path) -> None:
    """The rule of one variable, the reviews' practices, and sectors that leave cells out."""
    manifest = run(drive_of(), tmp_path).manifest
    assert of_iops(manifest)[0] == {}
    assert set(of_iops(manifest, rule="1.1")[0]) == {"parameter-rule"}
    for name, shape in (("review-uring", (1, 32)), ("review-threads", (32, 1))):
        found, result = of_iops(manifest, practice=name)
        assert found == {}
        assert "TheSSDReview" in result.specification
        assert any("not SNIA's" in each for each in findings_of(result))
        (group,) = result.groups
        assert (group.rounds, group.first, group.last, group.reported) == (25, 1, 5, (6, 9))
        assert (result.threads, result.depth) == shape
        apart = {"fixed_rounds": "false", "depth": "8", "seconds": "30"}
        found, _ = of_iops(manifest, practice=name, **apart)
        assert set(found) == {"parameter-fixed_rounds", "shape", "parameter-seconds"}
        assert "fixed rounds: no, not yes" in found["parameter-fixed_rounds"]
    found, _ = of_iops(manifest, 4096)
    assert set(found) == {"sector-size", "skipped-cells"}
    assert found["skipped-cells"] == "not measured: 512 B: the drive's sectors are of 4 KiB"


def test_an_interruption_is_told(tmp_path: Path) -> None:
    def stop_once(count: int) -> None:
        if count == 4 and not stopped:
            stopped.append(count)
            raise Interrupted("stopped by a test", "go on")

    stopped: list[int] = []
    drive = drive_of(before_run=stop_once)
    method = find_method("pts-throughput")
    with pytest.raises(Interrupted) as caught:
        run_on(drive, method, method.params(), tmp_path)
    folder = resume_on(drive, Path(str(caught.value.facts["folder"])))
    (only,) = RunFolder(folder).manifest.departures
    assert only.code == "interrupted" and "1 time; done again: " in only.what and "WIPC, 1 MiB" in only.what


@pytest.mark.long
def test_a_limit_of_the_lbas_and_a_simulated_drive(tmp_path: Path) -> None:
    method = find_method("pts-throughput")
    short = method.params.build({"seconds": "0.02", "overwrites": "1", "most_rounds": "5"})
    text = "sim:tiny-test,scale=4,write-cache=off"
    assert codes(RunFolder(start(Order(method, short, text, destroy=text), tmp_path))) == {
        "simulated-drive",
        "parameter-seconds",
        "parameter-overwrites",
        "parameter-most_rounds",
    }
    scratch = tmp_path / "scratch.bin"
    on_file = Order(method, short, str(scratch), size_bytes=64 << 20, variant=Variant(usable_bytes=48 << 20))
    found = RunFolder(start(on_file, tmp_path))
    assert {"file", "active-range-limited", "not-purged"} <= codes(found)
    limited = next(each for each in found.manifest.departures if each.code == "active-range-limited")
    assert limited.what.startswith("AR(0:75.0)")


def test_steady_before_the_drive_was_written_over_twice_is_warned_of(tmp_path: Path) -> None:
    few = run(drive_of(curve=knee(ceiling_iops=100.0)), tmp_path / "few", overwrites="1.2")
    assert [each.code for each in few.manifest.warnings].count("steady-before-full") == 2
    twice = run(drive_of(curve=knee(ceiling_iops=100.0)), tmp_path / "twice")
    assert "steady-before-full" not in {each.code for each in twice.manifest.warnings}


def test_a_setting_that_is_not_there_raises_only_where_it_must(tmp_path: Path) -> None:
    """A drive without a scheduler has nothing that holds its I/Os: no departure."""
    with pytest.raises(Unsupported):
        drive_of().setting("scheduler")
    assert codes(run(drive_of(), tmp_path)) == set()


def test_every_departure_is_in_the_documentation() -> None:
    source = Path(inspect.getsourcefile(specification) or "").read_text(encoding="utf-8")
    used = set(re.findall(r'code=f?"([a-z-]+)', source))
    table = (Path(__file__).parents[2] / "docs" / "pts.md").read_text(encoding="utf-8")
    listed = {
        code.removesuffix("NAME")
        for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
        for code in re.findall(r"`([\w-]+)`", row)
    }
    assert len(used) >= 10 and used <= listed


def test_segments_need_an_amount_random_io_and_whole_pieces(capsys: pytest.CaptureFixture[str]) -> None:
    amount = "active_range_amount=1GiB"
    for name, settings, what in (
        ("pts-latency", ("active_range_segments=4",), "need its amount"),
        ("pts-latency", ("active_range_segments=3", amount), "cannot be spread over 3 segments"),
        ("pts-latency", ("active_range_segments=2049", amount), "2048"),
        ("pts-throughput", ("active_range_segments=4", amount), "only uniform random I/O"),
    ):
        words = [word for each in settings for word in ("--set", each)]
        assert main(["plan", name, "sim:tiny-test", *words]) == 2
        assert what in capsys.readouterr().err


def test_a_dry_run_names_the_segments(capsys: pytest.CaptureFixture[str]) -> None:
    settings = ["active_range_amount=1GiB", "active_range_segments=1024"]
    words = [word for each in settings for word in ("--set", each)]
    assert main(["run", "pts-latency", "sim:tiny-test,scale=4", "--quick", "--dry-run", *words]) == 0
    assert "in 1024 segments of 1 MiB of bytes 0 to " in capsys.readouterr().out


def test_segments_of_the_active_range_are_a_departure_and_in_the_header(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["run", "pts-latency", "sim:tiny-test,scale=4", "--quick", "--library", str(tmp_path)]
    settings = ["--set", "active_range_amount=1GiB", "--set", "active_range_segments=4"]
    assert main([*words, *settings]) == 0
    (folder,) = (path.parent for path in tmp_path.glob("*/manifest.json"))
    (said,) = (
        each.what for each in RunFolder(folder).manifest.departures if each.code == "active-range-amount"
    )
    assert said == "of the active range 1.07 GB are used, in 4 segments"
    page = tmp_path / "page.html"
    assert main(["report", str(folder), "-o", str(page)]) == 0
    assert "1.07 GB in 4 segments" in page.read_text(encoding="utf-8")
