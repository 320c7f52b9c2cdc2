"""What not every simulated drive has: asked for by profile or text, seen in results and on the terminal."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ssdlab import measure, open_drive
from ssdlab.cli import main
from ssdlab.drives.simulated.drive import SimulatedDrive, profiles
from ssdlab.model.options import MeasureOptions
from ssdlab.model.summary import Summary
from ssdlab.model.workload import Mix, Stop, Stream, Workload
from ssdlab.results.qualifiers import CATALOGUE
from ssdlab.results.run_folder import RunFolder

HOT = CATALOGUE["throttled"].sentence.removesuffix(".")
POWER = """
[power]
idle_mw = { value = 1500, source = "chosen" }
die_read_mw = { value = 120, source = "recalled" }
die_program_mw = { value = 200, source = "recalled" }
die_erase_mw = { value = 100, source = "recalled" }
transfer_nj = { value = 600.0, source = "recalled" }
command_uj = { value = 1.5, source = "recalled" }
link_pj_per_byte = { value = 120.0, source = "recalled" }
window_ms = { value = 1.0, source = "recalled" }
states_w = { value = [8.0, 3.0], source = "chosen" }
[thermal]
ambient_c = { value = 30.0, source = "chosen" }
resistance_k_per_w = { value = 10.0, source = "chosen" }
time_constant_s = { value = 4.0, source = "chosen" }
[[thermal.throttle]]
above_c = { value = 70.0, source = "chosen", note = "as hot as a drive may get" }
until_c = { value = 66.0, source = "chosen" }
cap_w = { value = 4.0, source = "chosen" }
"""


@pytest.fixture
def powered(tmp_path: Path) -> str:
    """Text of a drive with a power model, a sixteenth of a package."""
    path = tmp_path / "powered.toml"
    path.write_text(profiles()["tiny-test"] + POWER, encoding="utf-8")
    return f"sim:{path},scale=4"


def _drive(text: str) -> SimulatedDrive:
    drive = open_drive(text, writing=True)
    assert isinstance(drive, SimulatedDrive)
    return drive


def _write(drive: SimulatedDrive) -> Summary:
    options = MeasureOptions(rw="write", bs="128k", threads=4, seconds=1)
    return drive.run(options.workload()).summary()


def test_a_summary_has_the_power_of_the_time_that_it_covers(powered: str) -> None:
    summary = measure(powered, rw="randrw", threads=8, seconds=2, ramp=1).summary()
    power = summary["power"]
    assert power["source"] == "model"
    assert power["energy_j"] == pytest.approx(power["mean_w"] * summary["elapsed_s"], rel=1e-6)
    assert 1.6 < power["mean_w"] < 8
    drive = summary["drive"]
    assert drive["power_cap_w"] == 8
    assert drive["temperature_c"] > 45
    assert drive["unscaled"] == [
        "buffer.size_mib",
        "power.window_ms",
        "power.limit_ms",
        "thermal.time_constant_s",
    ]
    assert measure("sim:tiny-test,scale=4", seconds=1).summary()["power"] is None


def test_a_summary_tells_the_parity_among_what_the_flash_wrote(tmp_path: Path) -> None:
    """One of 16 word lines holds the parity of the 15 others; a purged drive has nothing to move."""
    path = tmp_path / "parity.toml"
    mapping = '\n[mapping]\nparity_dies = { value = 16, source = "chosen" }\n'
    path.write_text(profiles()["tiny-test"] + mapping, encoding="utf-8")
    drive = _drive(f"sim:{path},scale=4")
    drive.purge()
    told = _write(drive)["drive"]
    assert told["parity_bytes"] == pytest.approx(told["nand_bytes_written"] / 16, rel=0.01)
    written = told["host_bytes_written"] + told["parity_bytes"]
    assert told["nand_bytes_written"] == pytest.approx(written, rel=0.01)
    assert "parity_bytes" not in _write(_drive("sim:tiny-test,scale=4")).drive.model_dump()


def test_energy_by_class_is_what_the_drive_drew_beyond_idling(powered: str) -> None:
    drive = _drive(powered)
    _write(drive)
    drive.idle(60)
    end_ns = drive.native.now_ns
    drawn = drive.power(0, end_ns)
    state = drive.native.power_state()
    assert drawn is not None
    assert state is not None
    active_j = sum(state["energy_j"].values())
    assert drawn.energy_j == pytest.approx(active_j + 1.5 * end_ns / 1e9, rel=1e-9)
    assert state["highest_w"] <= 8
    rest = drive.power(end_ns - 10**9, end_ns)
    assert rest is not None
    assert rest.mean_w == pytest.approx(1.5)
    assert drive.temperature_c == pytest.approx(45, abs=0.1)


def test_a_limit_costs_writes_and_is_kept(powered: str) -> None:
    seen = {}
    for limit in ("8W", "ps1", "2W"):
        drive = _drive(f"{powered},power={limit}")
        seen[limit] = _write(drive)["mb_s"]
        state = drive.native.power_state()
        assert state is not None
        assert state["highest_w"] <= {"8W": 8, "ps1": 3, "2W": 2}[limit]
    assert seen["8W"] > 1.2 * seen["ps1"] > 1.2 * 1.2 * seen["2W"]
    assert ", 3 W" in (_drive(f"{powered},power=ps1").identity.model or "")


def test_a_trim_that_is_ignored_forgets_nothing() -> None:
    drive = _drive("sim:tiny-test,scale=4,trim=ignored")
    drive.trim(0, drive.capacity_bytes)
    assert drive.written(0, drive.capacity_bytes)


def test_without_its_write_cache_a_write_takes_a_program() -> None:
    options = MeasureOptions(rw="randwrite", seconds=1)
    mean_us = [
        _drive(f"sim:tiny-test,scale=4,write-cache={state}").run(options.workload()).summary()["write"]
        for state in ("on", "off")
    ]
    assert [part["service_ns"]["mean"] > 1_700_000 for part in mean_us] == [False, True]


def test_show_prints_every_table_with_units_and_what_a_drive_is(
    powered: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sim", "show", f"{powered},power=ps1"]) == 0
    shown = capsys.readouterr().out
    for words in (
        "1700 µs",
        "1500 mW",
        "8, 3 W",
        "10 K/W",
        "thermal.throttle 1",
        "as hot as a drive may get",
    ):
        assert words in shown
    lines = {
        line.split("  ")[1]: line.split("  ", 2)[2].strip() for line in shown.splitlines() if "  " in line
    }
    assert lines["power limit"] == "3 W"
    assert lines["scale"] == "1/4"
    assert lines["effective spare"].startswith("12.")
    assert "thermal.time_constant_s" in lines["not scaled"]
    assert main(["sim", "show", f"{powered},power=ps1", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["made"]["power_cap_w"] == 3
    assert told["power"]["idle_mw"] == {"value": 1500, "source": "chosen"}


@pytest.mark.usefixtures("wide")
def test_a_measurement_on_the_terminal_says_scale_spare_and_power(
    powered: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["measure", powered, "--seconds", "1"]) == 0
    shown = capsys.readouterr().out
    for words in ("at 1/4 of its size", "effective spare", " W, ", "°C at the end"):
        assert words in shown


BAD = [
    ("planes = ", 'planes = { value = 0, source = "chosen" }', "flash.planes is 0: must be 1 to 16"),
    ("erase_ms = ", "erase_ms = 5", "invalid type"),
    ("erase_ms = ", 'erase = { value = 5, source = "chosen" }', "unknown field `erase`"),
    ("erase_ms = ", "", "missing field `erase_ms`"),
    ("capacity_bytes = ", 'capacity_bytes = { value = 40960000000, source = "chosen" }', "spare below zero"),
    ("states_w = ", 'states_w = { value = [1.0], source = "chosen" }', "power.states_w is 1 W: below"),
    ("until_c = ", 'until_c = { value = 71, source = "chosen" }', "thermal.throttle.until_c is 71"),
    ("[thermal]", '[thermal]\nmax_iops = { value = 1, source = "chosen" }', "unknown field `max_iops`"),
]


@pytest.mark.parametrize(("start", "other", "words"), BAD)
def test_a_profile_that_cannot_be_is_refused_in_two_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], start: str, other: str, words: str
) -> None:
    lines = (profiles()["tiny-test"] + POWER).splitlines()
    text = "\n".join(other if line.startswith(start) else line for line in lines)
    path = tmp_path / "bad.toml"
    path.write_text(text, encoding="utf-8")
    for line in (["sim", "show", str(path)], ["measure", f"sim:{path}", "--seconds", "1"]):
        assert main(line) == 2
        shown = capsys.readouterr()
        said = shown.err.splitlines()
        assert len(said) == 2, shown.err
        assert words in said[0]
        assert shown.out == ""


def test_a_capacity_that_cannot_be_is_told_whatever_the_spare(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.toml"
    text = re.sub(
        r"(?m)^capacity_bytes = .*$",
        'capacity_bytes = { value = 40960000000, source = "chosen" }',
        profiles()["tiny-test"],
    )
    path.write_text(text, encoding="utf-8")
    assert main(["measure", f"sim:{path},spare=30%", "--seconds", "1"]) == 2
    said = capsys.readouterr().err
    assert "capacity_bytes is 40960000000: spare below zero" in said and "bad.toml" in said
    assert main(["measure", "sim:tiny-test,spare=0%", "--seconds", "1"]) == 2
    assert "spare is 0 %: no spare is left" in capsys.readouterr().err


def test_a_limit_below_idle_is_refused_in_two_lines(powered: str, capsys: pytest.CaptureFixture[str]) -> None:
    for limit, words in (
        ("1W", "power is 1 W: below what the drive draws: 1.5 W idle"),
        ("ps7", "power states 0 to 1"),
    ):
        assert main(["measure", f"{powered},power={limit}", "--seconds", "1"]) == 2
        said = capsys.readouterr().err.splitlines()
        assert len(said) == 2
        assert words in said[0]


@pytest.fixture
def hot(powered: str) -> str:
    """Text of a drive that throttles within a second of writing, and cools in a minute of rest."""
    path = Path(powered.removeprefix("sim:").partition(",")[0])
    text = path.read_text(encoding="utf-8").replace("above_c = { value = 70.0", "above_c = { value = 60.0")
    path.write_text(text.replace("until_c = { value = 66.0", "until_c = { value = 50.0"), encoding="utf-8")
    return powered


def test_a_drive_that_throttles_is_told_with_temperature_and_limit(
    hot: str, capsys: pytest.CaptureFixture[str]
) -> None:
    throttled = measure(hot, rw="write", bs="128k", threads=4, seconds=4)
    drive = throttled.summary()["drive"]
    (told,) = [each for each in throttled.warnings if each.code == "throttled"]
    assert told.facts["limit_w"] == drive["throttled_to_w"] == 4
    assert f"{drive['temperature_c']:.1f} °C at the end, limited to 4 W" in told.what
    assert main(["measure", hot, "--rw", "write", "--bs", "128k", "--threads", "4", "--seconds", "4"]) == 0
    assert told.what in " ".join(capsys.readouterr().out.split())


def test_a_limit_that_was_asked_for_is_no_throttling(hot: str) -> None:
    limited = measure(f"{hot},power=ps1", rw="write", bs="128k", threads=4, seconds=4)
    assert limited.summary()["drive"]["power_cap_w"] == 3
    assert "throttled" not in {each.code for each in limited.warnings}


def test_throttle_events_are_those_of_the_measurement(hot: str) -> None:
    drive = _drive(hot)
    drive.idle(60)
    cool = drive.run(MeasureOptions(seconds=0.01).workload()).summary()["drive"]
    assert (cool["throttle_events"], cool["throttled_to_w"]) == (0, None)
    written = MeasureOptions(rw="write", bs="128k", threads=4, seconds=4).workload()
    assert drive.run(written).summary()["drive"]["throttle_events"] == 1
    after = drive.run(MeasureOptions(seconds=0.01).workload()).summary()["drive"]
    assert (after["throttle_events"], after["throttled_to_w"]) == (0, 4)


def test_show_and_the_cards_of_a_page_tell_of_throttling(
    hot: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["run", "steady-sequential-write", hot, "--quick", "--seed", "1", "--set", "depths=1,4"]
    assert main([*words, "--library", str(tmp_path / "library")]) == 0
    assert "thermal throttling" in capsys.readouterr().out
    (run,) = (path for path in (tmp_path / "library").iterdir() if (path / "manifest.json").exists())
    measured = [each.summary for each in RunFolder(run).steps() if each.summary is not None]
    hot_steps = [each for each in measured if each.drive is not None and each.drive.throttled_to_w]
    share = f"in {len(hot_steps)} of {len(measured)} measured steps"
    assert main(["show", str(run), "--all"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert share in shown and HOT in shown
    page = tmp_path / "page.html"
    assert main(["report", str(run), "-o", str(page)]) == 0
    assert HOT in page.read_text(encoding="utf-8")


def test_a_drive_begins_rested_and_at_ambient_temperature() -> None:
    with open_drive("sim:950pro,scale=64", writing=True) as drive:
        assert drive.temperature_c == 35.0
        state = drive.native.power_state()
        assert state["throttle_events"] == 0
        # Its layout was work, and hot enough to be seen.
        assert state["energy_j"]["programs"] > 10
        stream = Stream(ops=Mix(read_pct=100), stop=Stop(ios=100))
        first = drive.run(Workload.of(stream)).summary()
        assert first["read"]["service_ns"]["max"] < 1e6, "nothing of the layout is in its way"


@pytest.mark.parametrize(("text", "cut"), [("dc500r", 6), ("dc500r,scale=16", 6), ("860dct", 2)])
def test_cut_blocks_are_named(text: str, cut: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sim", "show", text]) == 0
    assert f"each block cut into {cut}" in capsys.readouterr().out


def test_a_result_names_cut_blocks_at_any_scale() -> None:
    for text, cut in (("tiny-test", 64), ("860dct,scale=64", 2)):
        with open_drive(f"sim:{text}", writing=True, allow_unwritten=True) as drive:
            stream = Stream(ops=Mix(read_pct=0), stop=Stop(ios=100))
            assert drive.run(Workload.of(stream)).summary()["drive"]["blocks_cut"] == cut
