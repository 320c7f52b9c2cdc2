"""The profiles that ssdlab brings along: each says what it stands for, and where its figures come from."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from ssdlab import _core
from ssdlab.drives.ratings import Ratings
from ssdlab.drives.simulated.drive import SimulatedDrive, SimulatedText, profiles
from ssdlab.drives.simulated.profiles import shipped_ratings
from ssdlab.model.workload import Mix, Span, Stop, Stream, Workload
from ssdlab.runs.rating_check import scale_for

PROFILES = profiles()
RATINGS = shipped_ratings()
GENERIC = {
    "dramless-client",
    "nvme-qlc-client",
    "nvme-tlc-client",
    "nvme-tlc-enterprise",
    "sata-tlc-enterprise",
    "tiny-test",
    "xpoint",
}
SOURCES = {"data-sheet", "measurement", "physics", "recalled", "assumed", "fitted", "chosen"}
REVIEWS = re.compile(r"review of (2014|2016|2019)|TheSSDReview|PC Perspective", re.IGNORECASE)
"""Figures measured in the reviews whose methods ssdlab repeats: the profiles are judged by them."""
CAPACITY = re.compile(r"-(\d+(?:\.\d+)?)(gb|tb)$")


def figures(table: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every figure of a profile with its place in it."""
    for name, value in table.items():
        place = f"{path}.{name}" if path else name
        if isinstance(value, dict) and "value" in value:
            yield place, value
        elif isinstance(value, dict):
            yield from figures(value, place)
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            for number, each in enumerate(value):
                yield from figures(each, f"{place}[{number}]")


def vendor_bytes(gigabytes: Fraction) -> int:
    """Bytes of a capacity as vendors count it (IDEMA LBA1-03, for 512-byte sectors, from 50 GB on)."""
    sectors = 97_696_368 + 1_953_504 * (gigabytes - 50)
    assert sectors.denominator == 1
    return 512 * int(sectors)


@pytest.mark.parametrize("name", PROFILES)
def test_its_file_is_called_as_readers_call_the_drive(name: str) -> None:
    made = _core.check_profile(PROFILES[name])
    if name not in GENERIC:
        words = re.findall(
            r"[a-z0-9.]+", made["profile"]["name"].lower().replace(" gb", "gb").replace(" tb", "tb")
        )
        assert set(name.split("-")) <= set(words)
    assert made["capacity_bytes"] < made["raw_bytes"]


@pytest.mark.parametrize("name", PROFILES)
def test_each_figure_has_a_source(name: str) -> None:
    found = list(figures(tomllib.loads(PROFILES[name])))
    assert len(found) > 15
    for place, figure in found:
        assert figure["source"] in SOURCES, place
        assert figure["source"] != "chosen" or name in GENERIC, f"{place}: a drive that exists has no choice"
        assert (figure["source"] == "fitted") == bool(figure.get("fitted_to")), place


@pytest.mark.parametrize("name", PROFILES)
def test_its_flash_is_of_a_generation(name: str) -> None:
    made = _core.check_profile(PROFILES[name])
    if "flash" not in made["profile"] or made["profile"]["flash"] is None:
        assert made["generation"] is None
        return
    named = made["generation"] is not None
    # tiny-test is what one likes it to be: tests and users make other drives of it.
    assert named == (name != "tiny-test")
    if named:
        flash, table = made["profile"]["flash"], made["generation"]
        assert 0.7 <= flash["program_us"]["value"] / (table["passes"] * table["pass_us"]) <= 1.3
        assert 0.7 <= flash["bus_mt_s"]["value"] / table["bus_mt_s"] <= 1.3
        assert (flash["planes"]["value"], flash["page_kib"]["value"]) == (table["planes"], table["page_kib"])


@pytest.mark.parametrize("name", PROFILES)
def test_its_power_follows_from_the_currents_of_its_nand(name: str) -> None:
    made = _core.check_profile(PROFILES[name])
    power, table = made["profile"].get("power"), made["generation"]
    if power is None or table is None:
        return
    for work in ("read", "program", "erase"):
        milliwatts = table["vcc_v"] * table[f"{work}_ma"]
        assert power[f"die_{work}_mw"]["value"] == pytest.approx(milliwatts, abs=0.6), work


@pytest.mark.parametrize("name", PROFILES)
def test_nothing_comes_from_the_reviews_that_it_is_judged_by(name: str) -> None:
    found = REVIEWS.search(PROFILES[name] + RATINGS.get(name, ""))
    assert found is None, found


@pytest.mark.parametrize("name", sorted(set(PROFILES) - GENERIC))
def test_the_capacity_in_its_name_is_its_own(name: str) -> None:
    match = CAPACITY.search(name)
    assert match, "the name of a real drive ends with its capacity"
    gigabytes = Fraction(match[1]) * (1000 if match[2] == "tb" else 1)
    assert tomllib.loads(PROFILES[name])["capacity_bytes"]["value"] == vendor_bytes(gigabytes)


def test_a_name_or_alias_means_one_profile() -> None:
    names = [name for name in PROFILES]
    for text in PROFILES.values():
        names += tomllib.loads(text).get("aliases", [])
    assert [name for name, times in Counter(names).items() if times > 1] == []


def test_every_real_drive_has_an_alias_and_ratings_and_no_other_has() -> None:
    drives = set(PROFILES) - GENERIC
    assert {name for name in PROFILES if tomllib.loads(PROFILES[name]).get("aliases")} == drives
    assert set(RATINGS) == drives
    for name, text in RATINGS.items():
        assert Ratings.parse(text).profile == name


def test_no_profile_states_a_result() -> None:
    words = ("iops", "latency", "sequential", "random", "rated")
    for name, text in PROFILES.items():
        for place, _ in figures(tomllib.loads(text)):
            assert not any(word in place for word in words), f"{name}: {place}"


FIXES = {
    "sequential_read_mb_s": ("link.bandwidth_mb_s",),
    "sequential_write_mb_s": ("controller.data_mb_s", "xpoint.write_us"),
    "random_read_iops": ("controller.read_us",),
    "depth_1_write_us": ("controller.write_us",),
    "depth_1_read_us": ("xpoint.read_us",),
}
"""What a rating may fix; everything else is predicted."""


@pytest.mark.parametrize("name", RATINGS)
def test_a_rating_that_fixed_a_figure_says_so_and_so_does_the_figure(name: str) -> None:
    fitted = {
        place
        for place, figure in figures(tomllib.loads(PROFILES[name]))
        if figure["source"] == "fitted" and "endurance" not in figure["fitted_to"]
    }
    said = {each.metric for each in Ratings.parse(RATINGS[name]).rating if each.fitted_to}
    assert said == {metric for metric, places in FIXES.items() if fitted & set(places)}
    assert fitted <= {place for metric in said for place in FIXES[metric]}


def test_most_ratings_are_predicted() -> None:
    uses = Counter(each.use for text in RATINGS.values() for each in Ratings.parse(text).rating)
    assert uses["predicted"] > uses["fitted"] + uses["given"]


def test_the_older_memblaze_has_more_spare_than_its_successor() -> None:
    spare = {}
    for name in ("memblaze-pblaze5-c900-4tb", "memblaze-pblaze5-c916-6.4tb"):
        made = _core.check_profile(PROFILES[name])
        spare[name] = 1 - made["capacity_bytes"] / made["raw_bytes"]
    assert spare["memblaze-pblaze5-c900-4tb"] > spare["memblaze-pblaze5-c916-6.4tb"] > 0.2


@pytest.mark.parametrize("name", PROFILES)
@pytest.mark.long
def test_it_works(name: str) -> None:
    text = SimulatedText(name, scale=scale_for(name, 2 << 30))
    drive = SimulatedDrive(text, writing=True, allow_unwritten=True)
    stream = Stream(
        ops=Mix(read_pct=50), span=Span(start=0, length=16 << 20), workers=8, stop=Stop(bytes=64 << 20)
    )
    summary = drive.run(Workload.of(stream)).summary()
    assert summary["read"]["ios"] + summary["write"]["ios"] == 16384
    assert summary["read"]["failed"] == summary["write"]["failed"] == 0
    # The drive's own parts take their time, and no more than a drive's would.
    assert 1e3 < summary["write"]["service_ns"]["mean"] < 1e7


def test_keys_whose_names_do_not_tell_all_are_explained() -> None:
    """What a million or a per cent is of no key says."""
    text = (Path(__file__).parents[2] / "docs" / "simulated.md").read_text(encoding="utf-8")
    names = {
        place.rpartition(".")[2]
        for profile in PROFILES.values()
        for place, _ in figures(tomllib.loads(profile))
        if place.endswith("_pct") or place.startswith("spread.retry")
    }
    own = {"deferral_limit_ms", "command_uj", *names} - {"free_pct"}
    assert not [name for name in own if f"`{name}`" not in text and f" {name}" not in text]
