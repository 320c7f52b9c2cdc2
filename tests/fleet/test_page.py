"""The fleet's page: which drives it names and why, by rack and host, over repeats; of known drives."""

from __future__ import annotations

import json
import math
import random
import re
from pathlib import Path
from typing import Any

import pytest

from fleet.unlike_drives import FEW_SPARE, HOT, MODEL, OLD, WORK, make_drives
from library.made import run
from ssdlab.cli import dispatch
from ssdlab.fleet.drawing import DOTS_MAX, Strip, labelled, strips, ticks
from ssdlab.fleet.facts import Facts, likely_reasons
from ssdlab.fleet.inventory import take
from ssdlab.fleet.page import FleetPage, fleet_page
from ssdlab.library.choosing import Choice
from ssdlab.library.index import Index
from ssdlab.model.errors import UsageError
from ssdlab.model.units import figure_text
from ssdlab.results import catalogue
from ssdlab.results.schema import DriveInfo

PLANTED = {HOT: "temperature", FEW_SPARE: "spare", OLD: "firmware"}


def drive(serial: str, model: str = "M1") -> DriveInfo:
    return DriveInfo(
        text=f"/dev/{serial}",
        kind="block",
        id=serial,
        name=model,
        capacity_bytes=10**12,
        logical_block_bytes=512,
        identity={"serial": serial, "firmware": "F1"},
    )


def page_of(library: Path, *words: Any, **choice: Any) -> FleetPage:
    catalogue.rebuild(library)
    with Index(library) as index:
        return fleet_page(index, Choice(status="finished", **choice), *words)


def make(library: Path, values: dict[str, list[float]], model: str = "M1", first: int = 0) -> None:
    """Enter runs of drives: of each serial one for each value, oldest first."""
    number = first
    for serial, each in values.items():
        for repeat, value in enumerate(each):
            number += 1
            run(
                library,
                number,
                {"qd1_iops": value, "qd1_mean_ns": 1e9 / value},
                drive=drive(serial, model),
                at=f"2026-11-{repeat + 1:02}T09:00:00.000Z",
            )


def spread(count: int, share: float = 0.03, seed: int = 3) -> dict[str, list[float]]:
    chance = random.Random(seed)
    return {f"D{number:03}": [10_000 * math.exp(chance.gauss(0, share))] for number in range(count)}


def test_a_drive_far_from_the_others_is_named_and_no_other(library: Path) -> None:
    make(library, {**spread(40), "SLOW": [7_000.0]})
    page = page_of(library)
    assert [each.name for each in page.named] == ["SLOW"]
    (slow,) = page.named
    assert slow.unlike[0].startswith("qd1 iops 7.00k IOPS, \u2212")
    assert slow.reasons == ()
    html = page.html()
    assert "1 of 41 drives is an outlier: SLOW." in html
    assert "no reason found" in html


def test_drives_are_grouped_by_their_firmware(library: Path) -> None:
    for number, firmware in enumerate(["F1"] * 5 + ["F2"] * 4, start=1):
        own = drive(f"D{number}")
        own = own.model_copy(update={"identity": {**own.identity, "firmware": firmware}})
        run(library, number, {"qd1_iops": 10_000.0 + number}, drive=own)
    html = page_of(library).html()
    assert "firmware F1 (5)" in html and "firmware F2 (4)" in html


def test_drives_that_vary_by_chance_name_nobody(library: Path) -> None:
    make(library, spread(60))
    assert page_of(library).named == ()
    assert "No outliers among 60 drives." in page_of(library).html()


@pytest.mark.parametrize("count", [1, 2])
def test_few_drives_are_drawn_as_well(library: Path, count: int) -> None:
    make(library, spread(count))
    html = page_of(library).html()
    assert f">all drives ({count})</text>" in html
    assert html.count('class="dot"') == 2 * count, "of two figures each"


def test_of_fewer_drives_than_eight_nothing_is_judged(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make(library, {**spread(6), "SLOW": [500.0]})
    page = page_of(library)
    assert (page.named, page.figures, page.judged) == ((), 2, 0)
    assert page.verdict.startswith("Outliers not assessed among 7 drives: ")
    assert "all 2 figures" in page.verdict and "8 drives" in page.verdict
    html = page.html()
    assert page.verdict in html
    assert html.count("Not assessed: 7 drives of the 8 needed.") == 2
    assert "No outliers" not in html
    assert 'class="limit"' not in html
    output = library.parent / "page.html"
    words = ["fleet", "report", "-o", str(output), "--library", str(library)]
    assert dispatch(words) == 0
    assert "Outliers not assessed" in " ".join(capsys.readouterr().out.split())
    assert dispatch([*words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["drives"], told["figures"], told["judged"], told["unlike"]) == (7, 2, 0, [])


def test_a_figure_that_few_have_is_said_not_to_be_judged(library: Path) -> None:
    make(library, spread(8))
    for number in range(3):
        run(library, 90 + number, {"qd1_p99_ns": 5e5}, drive=drive(f"D{number:03}"))
    page = page_of(library)
    assert (page.figures, page.judged) == (3, 2)
    assert page.verdict.startswith("No outliers among 8 drives. 1 of 3 figures is of fewer than")


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([1000.0] * 3, "spread (robust) 0 %; "),
        ([1000.0] * 8, "spread (robust) 0 % (judged as if it were 0.5 %, the minimum); "),
        ([1000.0 * 1.03**n for n in range(8)], "spread (robust) 9.16 %; "),
        ([1000.0], "Median 1.00k IOPS; "),
    ],
)
def test_the_spread_is_the_measured_one(library: Path, values: list[float], said: str) -> None:
    make(library, {f"D{number}": [value] for number, value in enumerate(values)})
    assert said in page_of(library).html()


def test_a_drive_whose_runs_came_to_no_figure_is_named(library: Path) -> None:
    make(library, spread(30))
    run(library, 99, {}, drive=drive("NONE"))
    (named,) = page_of(library).named
    assert (named.name, named.unlike) == ("NONE", ("qd1 gave no figure in a verified state",))
    for number in range(5):
        run(library, 100 + number, {}, drive=drive(f"NONE{number}"))
    assert page_of(library).named == (), "what many drives do not come to is the method's doing"


def test_models_are_not_put_together(library: Path) -> None:
    make(library, spread(10))
    make(library, {"X1": [500.0]}, model="M2", first=100)
    with pytest.raises(UsageError, match=r"2 models match: M1 \(10\), M2 \(1\)"):
        page_of(library)
    assert page_of(library, "m1").count == 10
    with pytest.raises(UsageError, match="no model 'M9'"):
        page_of(library, "M9")
    with pytest.raises(UsageError, match="no matching finished run"):
        page_of(library, "M1", method="qd2")


def test_runs_that_are_unlike_are_left_out_and_said(library: Path) -> None:
    make(library, spread(10))
    run(library, 99, {"qd1_iops": 10.0}, drive=drive("QUICK"), quick=True)
    page = page_of(library)
    assert page.named == ()
    assert "Left out: 1 drive " in page.html()


def test_a_drive_that_changes_over_its_repeats_is_named(library: Path) -> None:
    chance = random.Random(5)
    steady = {
        serial: [first * math.exp(chance.gauss(0, 0.01)) for _ in range(5)]
        for serial, (first,) in spread(20).items()
    }
    falling = [10_000 * 0.93**n for n in range(5)]
    make(library, {**steady, "FALLS": falling})
    page = page_of(library)
    assert {each.name for each in page.named} == {"FALLS"}
    assert any("changes by \u22127" in each for each in page.named[0].unlike)
    assert "Over repeats" in page.html()


def test_drives_stand_by_rack_and_host(library: Path) -> None:
    for host, rack, serials in (("h1", "r1", ("A1", "A2")), ("h2", "r1", ("B1",)), ("h3", "r2", ("C1",))):
        take(library, [f"sim:tiny-test,scale=4,serial={each}" for each in serials], host, rack)
    for number, serial in enumerate(("A1", "A2", "B1", "C1")):
        text = f"sim:tiny-test,scale=4,serial={serial}"
        info = drive(serial).model_copy(update={"id": text, "text": text})
        run(library, number, {"qd1_iops": 1000.0 + number}, drive=info)
    html = page_of(library).html()
    for row in ("all drives (4)", "r1 (3)", "r2 (1)", "h1 (2)", "h2 (1)", "h3 (1)"):
        assert f">{row}</text>" in html, row


TYPICAL = [Facts(firmware="2", hottest_c=50.0, link_mb_s=4000.0, spare_pct=100.0)] * 15


@pytest.mark.parametrize(
    ("own", "reasons"),
    [
        (Facts(firmware="2", hottest_c=54.0, link_mb_s=4000.0, spare_pct=95.0), ()),
        (Facts(firmware="1"), ("firmware: 1; typical drives 2",)),
        (Facts(hottest_c=56.0), ("temperature: up to 56 °C; typical drives 50 °C",)),
        (
            Facts(hottest_c=80.0, throttled=True),
            ("temperature: thermal throttling (up to 80 °C; typical drives 50 °C)",),
        ),
        (Facts(link_mb_s=2000.0), ("link: 2000 MB/s; typical drives 4000 MB/s",)),
        (Facts(spare_pct=60.0), ("spare: 60 %; typical drives 100 %",)),
        (Facts(), ()),
    ],
)
def test_a_reason_is_what_typical_drives_have_otherwise(own: Facts, reasons: tuple[str, ...]) -> None:
    assert likely_reasons(own, TYPICAL) == reasons


def test_what_nearly_all_have_is_no_reason() -> None:
    mixed = [Facts(firmware=str(number), throttled=True) for number in range(15)]
    assert likely_reasons(Facts(firmware="9", throttled=True), mixed) == ()


def test_names_are_escaped(library: Path) -> None:
    make(library, {**spread(20), "<b>BAD</b>": [4_000.0]})
    html = page_of(library).html()
    assert "<b>BAD" not in html
    assert "&lt;b&gt;BAD" in html


def test_of_many_drives_the_dots_are_thinned_and_the_named_stay() -> None:
    row = Strip("all", tuple(float(each) for each in range(5000)), ((9_000.0, "FAR"),))
    drawn = strips([row], lambda value, _: str(value), (math.inf, math.inf), "")
    assert drawn.count('class="dot"') == DOTS_MAX
    assert drawn.count('class="named"') == 1
    assert ticks(0.0, 1.0)[0] == 0.0


def test_ticks_of_like_drives_are_told_apart_and_counted_ones_are_whole() -> None:
    """They read "47.9k IOPS" five times."""
    values = ticks(47_911.0, 47_934.0)
    texts = [text for _, text in labelled(values, lambda value, digits: figure_text(value, "IOPS", digits))]
    assert texts == ["47.915k IOPS", "47.920k IOPS", "47.925k IOPS", "47.930k IOPS"]
    assert ticks(1, 2, counted=True) == [1, 2]
    assert ticks(1, 2)[1] < 2


def simulated(library: Path, folder: Path, count: int) -> None:
    """Run the short work on so many simulated drives of one model, three of them planted."""
    texts = make_drives(folder, count)
    take(library, texts, "n1")
    for text in texts:
        words = ["run", WORK["run"], text, "--quick", "--destroy", text, "--precondition", "analytic"]
        settings = [word for name, value in WORK["set"].items() for word in ("--set", f"{name}={value}")]
        assert dispatch([*words, *settings, "--library", str(library)]) == 0


@pytest.mark.timeout(3000)
@pytest.mark.parametrize(
    "count", [pytest.param(20, marks=pytest.mark.long), pytest.param(200, marks=pytest.mark.slow)]
)
def test_the_planted_drives_are_named_with_their_reasons_and_no_other(
    count: int, library: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In 10 s and 75 s of CPU."""
    simulated(library, tmp_path, count)
    capsys.readouterr()
    output = tmp_path / "page.html"
    words = ["fleet", "report", "-o", str(output), "--library", str(library), "--json", "--series", HOT]
    assert not dispatch(words)
    told = json.loads(capsys.readouterr().out)
    assert told["model"] == f"simulated {MODEL}, 1/4 of its size"
    assert told["drives"] == count
    assert {each["name"] for each in told["unlike"]} == set(PLANTED), told
    for each in told["unlike"]:
        (reason,) = each["reasons"]
        assert reason.startswith(PLANTED[each["name"]]), each
    html = output.read_text()
    assert "<script" not in html
    assert re.findall(r"(?:src|href)=\"(?!#|data:,)", html) == []
    assert html.count('class="line alert"') == 1
