"""Several runs on one page: looks, labels, and what makes them unlike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from report.reading import Page
from ssdlab.model.errors import UsageError
from ssdlab.report import page, source
from ssdlab.report.runs import entries, shown
from ssdlab.report.sections import drive as drive_section
from ssdlab.report.sections.header import header
from ssdlab.report.source import Run
from ssdlab.results.claim import Claim
from ssdlab.results.schema import Departure, ParameterInfo

ELM = {"id": "S4", "name": "Elm E8", "kind": "block"}
HAZEL = {"id": "S9", "name": "Hazel H2", "kind": "block"}


def placed(*folders: Path):
    return shown([source.read_run(folder) for folder in folders])


def test_a_drive_keeps_its_colour_whatever_stands_beside_it(make_run: Callable[..., Path]) -> None:
    elm, hazel = make_run(drive=ELM), make_run(drive=HAZEL)
    alone = placed(elm)[0].style.colour
    assert placed(elm, hazel)[0].style.colour == alone
    assert placed(hazel, elm)[1].style.colour == alone
    assert placed(hazel, elm)[0].style.colour != alone


@pytest.mark.long
def test_eight_drives_have_eight_colours_and_a_ninth_is_still_drawn(make_run: Callable[..., Path]) -> None:
    folders = [make_run(drive={"id": f"S{n}", "name": f"Drive {n}"}, seconds=2) for n in range(9)]
    colours = [one.style.colour for one in placed(*folders)]
    assert len(set(colours[:])) == 8


def test_engines_are_told_apart_by_label_and_marker(make_run: Callable[..., Path]) -> None:
    sync, uring = placed(make_run(drive=ELM), make_run(drive=ELM, engine="uring"))
    assert (sync.label, uring.label) == ("Elm E8 · threads", "Elm E8 · io_uring")
    assert sync.style.colour == uring.style.colour
    assert (sync.style.hollow, uring.style.hollow) == (False, True)


def test_two_drives_of_one_name_are_told_apart_by_identity(make_run: Callable[..., Path]) -> None:
    labels = [one.label for one in placed(make_run(drive=ELM), make_run(drive=ELM | {"id": "S5"}))]
    assert labels == ["Elm E8 · S4", "Elm E8 · S5"]


def test_two_runs_of_one_drive_are_told_apart_by_their_ids_at_last(make_run: Callable[..., Path]) -> None:
    first, second = placed(make_run(drive=ELM), make_run(drive=ELM, seed=8))
    assert (first.label, second.label) == ("Elm E8 · runs0", "Elm E8 · runs1")


def test_runs_of_several_methods_of_one_drive_are_one_entry(make_run: Callable[..., Path]) -> None:
    found = placed(make_run("qd1", drive=ELM), make_run("peak-random-read", drive=ELM))
    assert len(entries(found)) == 1
    assert found[0].label == found[1].label == "Elm E8"


SCALES = ((ELM, 4), (HAZEL, 8))


def test_what_makes_runs_unlike_is_said_first(
    make_run: Callable[..., Path], html: Callable[..., str]
) -> None:
    text = Page.of(html(make_run(drive=ELM), make_run(drive=HAZEL, engine="uring", quick=True))).text
    unlike = "Runs of one method differ: parameters seconds=60, not the preset's; quick; "
    assert unlike in text
    assert text.index(unlike) < text.index("more threads than cores")
    assert "quick runs: 1 of 2" in text


def test_simulated_drives_of_unlike_scale_are_unlike(
    make_run: Callable[..., Path], html: Callable[..., str]
) -> None:
    drives = [
        each | {"kind": "sim", "text": f"sim:tiny-test,scale={scale},seed={scale}"} for each, scale in SCALES
    ]
    folders = [make_run(drive=each) for each in drives]
    text = Page.of(html(*folders)).text
    assert "differ: scale 8, not 4" in text
    assert " wins with " not in text, "the page itself says that they are not alike"
    assert "the runs are not comparable" in text.partition("without a best drive")[2]
    assert "1st of" not in text and "First in" not in text


def test_like_runs_get_no_such_banner(make_run: Callable[..., Path], html: Callable[..., str]) -> None:
    assert "of one method differ" not in Page.of(html(make_run(drive=ELM), make_run(drive=HAZEL))).text


def test_the_same_run_twice_and_no_run_are_refused(make_run: Callable[..., Path]) -> None:
    run = source.read_run(make_run())
    with pytest.raises(UsageError, match="named twice"):
        page.render([run, run])
    with pytest.raises(UsageError, match="no run"):
        page.render([])


def of_suite(text: str, name: str, suite: str) -> dict[str, object]:
    """Changes that make a run a part of a suite, on a simulated drive of this text."""
    member = {"suite": suite, "part": "one", "preparation_seed": 1}
    drive = {"id": text, "text": text, "name": name, "kind": "sim", "identity": {"kind": "sim"}}
    return {"drive": drive, "member": member}


@pytest.mark.parametrize(("suites", "looks"), [(("one", "one"), 1), (("one", "other"), 2)])
def test_parts_of_a_suite_at_another_size_are_of_one_drive(
    make_run: Callable[..., Path], suites: tuple[str, str], looks: int
) -> None:
    small = of_suite("sim:tiny-test,scale=4", "simulated tiny-test, 1/4 of its size", suites[0])
    whole = of_suite("sim:tiny-test", "simulated tiny-test", suites[1])
    folders = (make_run("peak-random-read", **small), make_run("qd1", **whole))
    runs = placed(*folders)
    assert len({each.style for each in runs}) == looks
    head = header(runs)
    if looks == 1:
        assert head.title == "tiny-test"
        (row,) = (row for row in head.facts.rows if row[0].text == "Path")
        assert row[1].text == "sim:tiny-test,scale=4; sim:tiny-test", "both sizes stay told"
    else:
        assert head.title == "tiny-test (also in full size)"


QD1, PEAK = "qd1", "peak-random-read"


def of_review(make_run: Callable[..., Path], method: str, review: str, minute: int, **changes: object) -> Run:
    """A part of a review, or of a method run several times (`part="qd1 #2"`), begun at its own minute."""
    part = str(changes.pop("part", method))
    member = {"suite": review, "part": part, "preparation_seed": 1}
    created = f"2026-11-25T23:{minute:02}:00+00:00"
    return source.read_run(make_run(method, drive=ELM, member=member, created=created, **changes))


@pytest.mark.long
def test_parts_of_a_review_are_one_column_whenever_each_began(make_run: Callable[..., Path]) -> None:
    first, second = "20261125-2321-round-aaaaaa", "20261125-2326-round-bbbbbb"
    runs = [
        of_review(make_run, QD1, first, 21),
        of_review(make_run, PEAK, first, 22),
        of_review(make_run, QD1, second, 26),
        of_review(make_run, PEAK, second, 27),
    ]
    found = shown(runs)
    assert [one.label for one in found] == ["Elm E8 · 23:21"] * 2 + ["Elm E8 · 23:26"] * 2
    assert [one.style.hollow for one in found] == [False, False, True, True]
    assert [len(entry.runs) for entry in entries(found)] == [2, 2]
    # What the second has and the first has not looks as the rest of the second does.
    lacking = shown([runs[0], *runs[2:]])
    assert [one.style.hollow for one in lacking] == [False, True, True]
    assert len(entries(lacking)) == 2


@pytest.mark.parametrize(
    ("others", "labels"),
    [
        ({"review": "20261125-2326-round-long-bbbbbb"}, ["round", "round-long"]),
        ({"review": "20261125-2321-round-bbbbbb", "quick": True}, ["", "quick"]),
        ({"review": "20261126-2321-round-bbbbbb"}, ["2026-11-25", "2026-11-26"]),
        ({"review": "20261125-2321-round-bbbbbb"}, ["aaaaaa", "bbbbbb"]),
        ({"review": "20261125-2321-round-aaaaaa", "part": "qd1 #2"}, ["repeat 1", "repeat 2"]),
    ],
)
@pytest.mark.long
def test_columns_of_one_drive_are_named_by_review_or_repeat(
    make_run: Callable[..., Path], others: dict[str, str], labels: list[str]
) -> None:
    part = "qd1 #1" if "part" in others else "qd1"
    first = of_review(make_run, QD1, "20261125-2321-round-aaaaaa", 21, part=part)
    second = of_review(make_run, QD1, minute=30, **others)
    found = [one.label for one in shown([first, second])]
    assert found == [" · ".join(filter(None, ("Elm E8", label))) for label in labels]


def test_a_review_over_several_drives_is_named_by_itself(make_run: Callable[..., Path]) -> None:
    """Each drive has a suite of its own: the page was asked for the review, and calls it so."""
    runs = [
        replace(of_review(make_run, QD1, f"20261125-23{at}-round-aaaaa{at}", at), review=review)
        for at, review in ((21, "20261125-2321-round-zzzzzz"), (26, "20261125-2326-round-long-yyyyyy"))
    ]
    assert [one.label for one in shown(runs)] == ["Elm E8 · round", "Elm E8 · round-long"]


@pytest.mark.parametrize(
    ("scales", "quick", "line"),
    [
        ((4, 4), 2, ["simulated at 1/4 of their size", "quick run: indicative only"]),
        ((1, 64), 1, ["simulated at 1/64 and full size", "quick runs: 1 of 2"]),
        ((4, 64), 0, ["simulated at 1/4 and 1/64 of their size"]),
        ((1, 1), 0, ["simulated drives"]),
    ],
)
@pytest.mark.long
def test_what_is_smaller_or_shorter_is_said_at_the_top(
    make_run: Callable[..., Path], scales: tuple[int, int], quick: int, line: list[str]
) -> None:
    folders = [
        make_run(**of_suite(f"sim:tiny-test,scale={scale},seed={at + 1}", f"T{at}", "one"), quick=at < quick)
        for at, scale in enumerate(scales)
    ]
    assert [text for text, _ in header(placed(*folders)).line[:-1]] == line


def test_a_run_set_shorter_than_its_method_asks_says_so_at_the_top(make_run: Callable[..., Path]) -> None:
    run = source.read_run(make_run())
    seconds = ParameterInfo(name="seconds", unit="s", reason="", default=60.0, quick=2.0)
    method = run.manifest.method.model_copy(update={"parameters": (seconds,)})

    def line(value: float, *departed: str) -> list[str]:
        departures = tuple(Departure(code=code, what="") for code in departed)
        changes = {"method": method, "params": {"seconds": value}, "departures": departures}
        set_so = replace(run, manifest=run.manifest.model_copy(update=changes))
        return [text for text, _ in header(shown([set_so])).line]

    said = "shorter than the method requires"
    assert said in line(1.0)
    assert said not in line(60.0) and said not in line(1.0, "parameter-seconds")


def test_what_drives_went_through_is_said_once_for_methods_where_it_is_the_same(
    make_run: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    said = {QD1: 1.0, PEAK: 1.0, "peak-sequential-read": 1.25}
    runs = shown([source.read_run(make_run(method, drive=ELM)) for method in said])
    claims = {
        id(one.run.steps): (Claim(f"the medium was written {said[one.run.manifest.method.name]} times"),)
        for one in runs
    }
    monkeypatch.setattr(drive_section, "drive_findings", lambda steps, _, beside: claims[id(steps)])
    monkeypatch.setattr(drive_section, "_worth_showing", lambda one: True)
    found = drive_section.section(runs)
    assert found is not None
    titles = [one.run.manifest.method.title for one in runs]
    assert [getattr(each, "sentences", "") for each in found.lead] == [
        f"{titles[0]}, {titles[1]} and {titles[2]}: The medium was written 1.0, 1.0 and 1.25 times.",
    ]
