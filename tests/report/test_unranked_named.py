"""No place is told of a drive without the better ones beside it that have none, and why they have none."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from report.conftest import invented
from report.reading import concluded, not_ranked
from ssdlab.report import source
from ssdlab.report.runs import Shown, shown
from ssdlab.report.sections import conclusion
from ssdlab.report.sections.top import top
from ssdlab.report.source import Run
from ssdlab.report.standings import Standing, standings
from ssdlab.results.cells import NOTHING
from ssdlab.results.metric import Metric, Qualifier
from ssdlab.results.qualifiers import CATALOGUE

pytestmark = pytest.mark.long

FIGURE = "peak_random_read_iops"
PLACE = re.compile(r"\b(leads|first|last|tied|\d+(st|nd|rd|th))\b", re.IGNORECASE)
LAST = re.compile(r"\blast (in|of)\b", re.IGNORECASE)


@dataclass(frozen=True)
class One:
    """A drive of a page: its figure, why that is not ranked (empty: it is), and that of another review."""

    value: float
    unfit: str = ""
    again: float | None = None

    @property
    def fit(self) -> bool:
        """Whether a run of it can stand for it: those of the other review are fit."""
        return not self.unfit or self.again is not None


Make = Callable[[list[One], str], tuple[Shown, ...]]


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory) -> Make:
    """Return pages of one run, as that of each drive."""
    run = source.read_run(invented(tmp_path_factory.mktemp("run")))

    def of(at: int, figure: Metric, review: str) -> Run:
        drive = run.manifest.drive.model_copy(update={"id": str(at), "name": f"N{at}x", "kind": "block"})
        return replace(
            run,
            manifest=run.manifest.model_copy(update={"drive": drive}),
            result=run.result.model_copy(update={"scalars": (figure,)}),
            review=review,
        )

    def page(drives: list[One], better: str) -> tuple[Shown, ...]:
        figure = Metric.more if better == "higher" else Metric.less
        several = any(one.again is not None for one in drives)
        first, second = ("20261125-2321-one-aaaaaa", "20261125-2321-other-aaaaaa") if several else ("", "")
        runs = []
        for at, one in enumerate(drives):
            own = figure(FIGURE, "figure", one.value, "IOPS")
            runs.append(of(at, own.qualified([Qualifier(code=one.unfit)] if one.unfit else ()), first))
        for at, one in enumerate(drives):
            if one.again is not None:
                runs.append(of(at, figure(FIGURE, "figure", one.again, "IOPS"), second))
        return shown(runs)

    return page


def sentences(page: tuple[Shown, ...]) -> list[str]:
    return list(top(page, standings(page), [FIGURE]).sentences)


def names_in(text: str, standing: Standing) -> set[str]:
    """Return the columns that a sentence names; one is not named where another that begins so is."""
    every = sorted((each.shown.style.short for each in (*standing.places, *standing.further)), key=len)
    found = set()
    for name in reversed(every):
        if name in text:
            found.add(name)
            text = text.replace(name, "")
    return found


DRIVES = st.lists(
    st.builds(
        One,
        value=st.one_of(st.integers(1, 12).map(lambda n: n * 10_000.0), st.floats(1e4, 1.1e4)),
        unfit=st.sampled_from(("", "", "host-limited", "throttled", "state-unproven")),
        again=st.one_of(st.none(), st.none(), st.floats(1e4, 1e5)),
    ),
    min_size=2,
    max_size=7,
)


@settings(max_examples=60)
@given(drives=DRIVES, better=st.sampled_from(("higher", "lower")))
@example(drives=[One(60.2e3), One(50e3), One(71.1e3, "host-limited")], better="higher")
@example(drives=[One(60.2e3), One(71.1e3, "host-limited")], better="higher")
@example(drives=[One(2e4), One(3e4), One(1e4, "host-limited")], better="lower")
@example(drives=[One(6e4), One(6e4), One(6e4), One(7e4, "throttled")], better="higher")
@example(drives=[One(6e4), One(5e4, again=9e4), One(4e4)], better="higher")
@example(drives=[One(1e4), One(1e4), One(2e4), One(1e4, again=20_001.0)], better="higher")
@example(drives=[One(1e4), One(2e4), One(1e4, again=20_001.0)], better="lower")
@example(
    drives=[One(9e4), *(One(n * 1e4) for n in range(2, 6)), One(3.5e4, "paused"), One(1e4, "paused")],
    better="higher",
)
def test_who_has_a_place_has_it_beside_the_better_ones_without(
    make: Make, drives: list[One], better: str
) -> None:
    page = make(drives, better)
    standing = standings(page)[FIGURE]
    unranked = [each for each in (*standing.places, *standing.further) if each.rank is None]
    assert {each.shown.style.short for each in standing.ranked} == {
        each.shown.style.short for each in standing.places if drives[int(each.shown.drive.id)].fit
    }
    behind = [each.shown.index for each in standing.places if each.rank is None]
    assert behind == sorted(behind), "without a rank drives stand as they were given"
    for sentence in sentences(page):
        if not PLACE.search(sentence):
            continue
        named = names_in(sentence, standing)
        of_places = names_in(sentence.partition("not ranked: ")[0], standing)
        placed = [each for each in standing.ranked if each.shown.style.short in of_places]
        placed = placed or list(standing.sharing(standing.ranked[0]))  # "all three are tied" names none
        last = LAST.search(sentence) is not None
        assert not last or len(placed) == 1
        sign = (1 if better == "higher" else -1) * (-1 if last else 1)
        bound = min(sign * each.value for each in placed)
        has_place = {each.shown.drive.id for each in standing.ranked if sign * each.value >= bound}
        for each in unranked:
            beyond = sign * each.value > bound and not (each.instead and each.shown.drive.id in has_place)
            assert not beyond or each.shown.style.short in named, (sentence, each.shown.style.short)
            assert not (
                beyond and sign * each.value > sign * standing.ranked[0].value and "leads" in sentence
            )


@settings(max_examples=60)
@given(drives=DRIVES, better=st.sampled_from(("higher", "lower")))
def test_the_conclusion_names_best_and_last_and_whom_it_does_not_rank(
    make: Make, drives: list[One], better: str
) -> None:
    page = make(drives, better)
    standing = standings(page)[FIGURE]
    section = conclusion.section(page, [FIGURE])
    rows = list(concluded(section).values())
    assert bool(rows) is (len(standing.ranked) > 1)
    unranked = [each for each in (*standing.places, *standing.further) if each.rank is None]
    for row in rows:
        sign = 1 if better == "higher" else -1
        first, last = standing.ranked[0], standing.ranked[-1]
        for cell, end, worse in (("Best", first, 1), ("Last", last, -1)):
            if cell in row and row[cell] != NOTHING:
                own = standing.sharing(end)
                assert names_in(row[cell], standing) == {each.shown.style.short for each in own}
                beyond = any(
                    worse * sign * each.value > worse * sign * own[-1].value
                    for each in unranked
                    if not each.instead
                )
                assert not beyond or "among those ranked" in row[cell]
        assert names_in(row.get("Not ranked", ""), standing) >= {each.shown.style.short for each in unranked}
    if not rows and len(standing.places) > 1:
        (found, *others) = not_ranked(section)
        assert all(
            CATALOGUE[drives[int(each.shown.drive.id)].unfit].label in " ".join((found, *others))
            for each in standing.places
            if each.rank is None
        )


@settings(max_examples=60)
@given(drives=DRIVES, better=st.sampled_from(("higher", "lower")))
def test_every_drive_that_has_no_place_says_why(make: Make, drives: list[One], better: str) -> None:
    page = make(drives, better)
    standing = standings(page)[FIGURE]
    (chart,) = top(page, {FIGURE: standing}, [FIGURE]).charts
    notes = {bar.shown.index: bar.note for bar in chart.bars}
    if chart.foot.startswith("Not ranked"):
        placed = [bar.shown.index for bar in chart.bars]
        assert placed == sorted(placed), "no order but the page's"
    for each in standing.places:
        if each.rank is None and standing.ranked:
            assert CATALOGUE[drives[int(each.shown.drive.id)].unfit].label in notes[each.shown.index]
