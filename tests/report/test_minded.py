"""A picture that leaves its page says what the page says beside its figures, and whom it leaves out."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from ssdlab.report.charts import (
    Axis,
    Bar,
    BarGroup,
    BarsChart,
    BarsView,
    Head,
    HeadNote,
    Mark,
    MarksChart,
    MarksRow,
    MarksView,
    RunStyle,
)
from ssdlab.report.heads import _named, notes_of
from ssdlab.report.pictures import Painter, Pressed
from ssdlab.results.drive_states import StateCheck
from ssdlab.results.metric import Metric, Qualifier
from ssdlab.results.schema import ResultBase

NAMES = ("Elm", "Oak", "Yew")
FIGURES = (Metric.more("a", "70/30 mix", 405.0, "MB/s"), Metric.more("b", "50/50 mix", 300.0, "MB/s"))
MOVED = StateCheck(
    kind="window",
    what="the fill",
    then="the mix",
    before=400.0,
    after=100.0,
    unit="MB/s",
    held=False,
    ordinals=(1,),
)


class Checked(ResultBase):
    checks: tuple[StateCheck, ...] = (MOVED,)


def with_figures(*codes: str, result: type[ResultBase] = ResultBase) -> ResultBase:
    """A result of figures that have a qualifier each; of none where its code is empty."""
    found = (
        each.qualified([Qualifier(code=code, steps=(1,))] if code else ())
        for each, code in zip(FIGURES, codes, strict=True)
    )
    return result(kind="x", quick=True, scalars=tuple(found))


def shown(index: int, result: ResultBase) -> Any:
    run = SimpleNamespace(result=result, warnings=(), steps=())
    return SimpleNamespace(index=index, label=NAMES[index], run=run)


def bars(*runs: int) -> BarsChart:
    groups = (BarGroup("mix", tuple(Bar(run, 405.0 - run, "") for run in runs)),)
    return BarsChart((BarsView("QD 32", Axis("MB/s", "mb_s"), "higher", groups),))


def texts(head: Head, chart: Any = None, view: int = 0) -> list[str]:
    styles = [RunStyle(name, name, at, "circle", False) for at, name in enumerate(NAMES)]
    svg = Painter(styles).svg(chart or bars(0, 1), head, Pressed(view))
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)


def test_the_state_of_what_is_drawn_and_who_is_left_out() -> None:
    runs = [
        shown(0, with_figures("state-unproven", "state-unproven")),
        shown(1, with_figures("throttled", "state-unproven")),
        shown(2, with_figures("state-moved", "state-moved", result=Checked)),
    ]
    first, second, left = notes_of(bars(0, 1), runs, all_drawn=True)
    assert first == HeadNote((0,), "state unproven")
    assert second == HeadNote((1,), "state unproven (50/50 mix); throttled (70/30 mix)")
    assert left.runs == ()
    assert left.text.startswith("Not shown: Yew: state moved: The fill ended at 400 MB/s")
    assert notes_of(bars(0, 1), runs, all_drawn=False) == (first, second)
    plain = [shown(0, ResultBase(kind="x", quick=True, scalars=FIGURES))]
    assert notes_of(bars(0), plain, all_drawn=True) == ()


def test_a_run_that_has_no_figures_tells_what_moved_all_the_same() -> None:
    """So earlier versions stored it."""
    (left,) = notes_of(bars(0), [shown(1, Checked(kind="x", quick=True))], all_drawn=True)
    assert left.text.startswith("Not shown: Oak: state moved: The fill ended at 400 MB/s")


def test_notes_stand_above_the_footer_and_their_marks_at_names() -> None:
    notes = (HeadNote((0,), "state unproven"), HeadNote((), "Not shown: Yew: state moved"))
    found = texts(Head("Mix", (), "ssdlab; 2 runs", notes))
    assert found.count("Elm [1]") == 2, "in the legend and at the bar"
    assert found.count("Oak") == 2
    assert found[-3:] == ["[1] Elm: state unproven", "Not shown: Yew: state moved", "ssdlab; 2 runs"]


def test_a_view_has_the_notes_of_what_it_draws() -> None:
    chart = BarsChart((*bars(0).views, *bars(1).views))
    head = Head("Mix", (), "", (HeadNote((0,), "state unproven"), HeadNote((1,), "throttled")))
    assert texts(head, chart)[-1] == "[1] Elm: state unproven"
    assert texts(head, chart, 1)[-1] == "[1] Oak: throttled"


def test_rows_named_after_their_runs_have_the_mark_too() -> None:
    rows = tuple(MarksRow(run, NAMES[run], "", (Mark("mean", 1e5),)) for run in (0, 1))
    chart = MarksChart(Axis("response time, log", "ns", "log"), (MarksView("", rows),))
    head = Head("Mix", (), "", (HeadNote((1,), "state unproven"),))
    assert texts(head, chart).count("Oak [1]") == 2


def test_a_picture_without_notes_is_as_it_was() -> None:
    head = Head("Mix", (), "ssdlab")
    assert texts(head) == texts(replace(head, notes=(HeadNote((2,), "of a run that is not drawn"),)))


def test_runs_are_named_as_far_as_they_fit() -> None:
    runs = [f"20261125-1434-qd1-{at:06}" for at in range(19)]
    assert _named(runs[:2]) == "run 20261125-1434-qd1-000000, 20261125-1434-qd1-000001"
    assert _named(runs[:4]) == "4 runs: 000000, 000001, 000002, 000003"
    assert _named(runs).endswith("000015, +3 more")
