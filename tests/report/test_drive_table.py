"""What a page tells of the drives: from records as they are now, and from facts of profiles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from ssdlab.drives.ratings import Ratings
from ssdlab.drives.simulated.profiles import profiles, shipped_ratings
from ssdlab.model.units import capacity_text
from ssdlab.report import source
from ssdlab.report.runs import shown
from ssdlab.report.sections import specifications
from ssdlab.report.source import Run
from ssdlab.report.view import Section

Make = Callable[..., Path]
MODEL = "Synthetic S1"


def rows_of(section: Section | None) -> dict[str, list[str]]:
    tables = [] if section is None else [table for each in section.exhibits for table in each.tables]
    return {row[0].text: [cell.text for cell in row[1:]] for table in tables for row in table.rows}


def table(*runs: Run) -> dict[str, list[str]]:
    return rows_of(specifications.section(shown(runs)))


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Writes the user's record of the invented drive."""
    folder = tmp_path / "config" / "ssdlab" / "drives"
    folder.mkdir(parents=True)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return lambda text: (folder / "one.toml").write_text(f'model = "{MODEL}"\n{text}') and None


def test_a_record_is_read_when_the_page_is_made(make_run: Make, record: Callable[[str], None]) -> None:
    """By hand: 1/2 x 1880 uF x (35 V)^2 is 1.1515 J; a quarter of the flash is spare; 100 EUR / usable GB."""
    run = source.read_run(make_run())
    usable = run.manifest.drive.capacity_bytes
    assert table(run) == {}, "what every drive has is no table"
    record(
        'drive_class = "enterprise"\nlink = "PCIe 4.0 x4"\npower_loss_protection = true\n'
        f"raw_bytes = {usable * 4 // 3}\n"
        'hold_up_capacitance_uf = 1880\nhold_up_voltage_v = 35\ndwpd = 0.8\ntbw = 1366\nprice = "100 EUR"\n'
        "price_on = 2026-05-03\n"
    )
    now = table(run)
    assert {name: text for name, (text,) in now.items()} == {
        "Capacity": capacity_text(usable),
        "Firmware": "1.0",
        "Interface": "PCIe 4.0 x4",
        "Class": "enterprise",
        "Raw capacity": capacity_text(usable * 4 // 3),
        "Spare, of the raw capacity": "25.0 %",
        "Power-loss protection": "yes",
        "Hold-up energy, at most": "1.15 J (1880 µF at 35 V)",
        "Drive writes per day": "0.8",
        "Endurance": "1366 TB",
        "Price": "100 EUR, 3 May 2026",
        "Price per usable GB": now["Price per usable GB"][0],
    }
    assert float(now["Price per usable GB"][0].removesuffix(" EUR")) == pytest.approx(1e11 / usable, rel=0.01)
    record("dwpd = 3\n")
    assert table(run)["Drive writes per day"] == ["3"] and "Price" not in table(run)


def simulated(run: Run, text: str, capacity_bytes: int) -> Run:
    profile = text.removeprefix("sim:").partition(",")[0]
    drive = run.manifest.drive.model_copy(
        update={
            "text": text,
            "id": text,
            "kind": "sim",
            "identity": {"kind": "sim", "name": profile},
            "capacity_bytes": capacity_bytes,
        }
    )
    return replace(run, manifest=run.manifest.model_copy(update={"drive": drive}))


def test_a_drive_made_smaller_has_its_own_capacity_and_the_scale_stands_once(make_run: Make) -> None:
    """64 dies of 128 Gbit are a TiB: 960 197 124 096 B leave 12.67 % of it."""
    run = source.read_run(make_run())
    small = simulated(run, "sim:kingston-dc400-960gb,scale=32", 30_006_157_312)
    less = simulated(run, "sim:kingston-dc400-960gb,scale=32,spare=0.272404", 25_000_000_000)
    section = specifications.section(shown([small, less]))
    assert section is not None
    rows = rows_of(section)
    assert rows["Capacity"] == ["960 GB", "960 GB"]
    assert [each.removesuffix("*") for each in rows["Spare, of the raw capacity"]] == ["12.7 %", "27.2 %"]
    assert rows["Interface"] == ["SATA 6 Gbit/s"] * 2
    assert " ".join(each.lead for each in section.exhibits).count("1/32") == 1
    assert not any("1/32" in text for texts in rows.values() for text in texts)


def test_what_is_not_from_a_document_is_marked_and_the_mark_explained(make_run: Make) -> None:
    run = source.read_run(make_run())
    section = specifications.section(
        shown([simulated(run, "sim:memblaze-pblaze5-c916-6.4tb,scale=64", 100_019_574_144)])
    )
    assert section is not None
    rows = rows_of(section)
    assert rows["Drive writes per day"] == ["3*"] and "* From memory" in section.exhibits[0].lead
    assert rows["Hold-up energy, at most"] == ["1.10 J (1800 µF at 35 V)*"]


@pytest.mark.parametrize("name", shipped_ratings())
def test_facts_of_a_profile_are_those_of_a_record_and_name_the_link_of_the_profile(name: str) -> None:
    record = Ratings.parse(shipped_ratings()[name]).record()
    if record.link is not None:
        assert record.link.removesuffix(" 6 Gbit/s") in profiles()[name]


def test_a_fact_that_no_record_can_have_is_refused() -> None:
    text = shipped_ratings()["kingston-dc400-960gb"]
    with pytest.raises(Exception, match="drive_class"):
        Ratings.parse(text.replace('value = "enterprise"', 'value = "splendid"'))
