"""What is the matter with a figure, on every surface by one label, and what no surface does with it for that.

Scenes stand in `planted_scenes`: each is run once, and each test here is a surface that is held against all.
"""

from __future__ import annotations

import os
import re
import shutil
import tarfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from cli.resolved import legend_of, resolved
from methods.quick_runs import METHODS, QuickRun
from report import planted_scenes as stage
from report.planted_scenes import (
    IOPS,
    RATED,
    READ,
    SCENES,
    SLOWER,
    Read,
    Scene,
    Shelf,
    figure_of,
    killed,
    planted,
    ssdlab,
)
from report.reading import not_ranked
from ssdlab.fleet.population import model_of, populations
from ssdlab.lab.outcome import read_result
from ssdlab.library.choosing import Choice
from ssdlab.library.index import Index
from ssdlab.report import page, source
from ssdlab.report.charts import BarsChart, HeadNote, MarksChart
from ssdlab.report.heads import heads_of
from ssdlab.report.overview import _view, overview_html
from ssdlab.report.runs import shown
from ssdlab.report.sections import conclusion, points
from ssdlab.report.standings import UNLIKE, unranked_beyond
from ssdlab.report.together import words_of
from ssdlab.results import evidence, kin
from ssdlab.results.catalogue_files import FOLDER
from ssdlab.results.metric import Metric, Qualifier
from ssdlab.results.qualifiers import ALL_USES, CATALOGUE, Kind, Use
from ssdlab.results.records import StepResult
from ssdlab.results.remarks import gathered_departures
from ssdlab.results.run_folder import RunFolder

pytestmark = pytest.mark.long
LOOSE, MADE_UP = "at least 0", "made-up"
SCENES_BY_NAME = {each.name: each for each in SCENES}
each_scene = pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
with_value = pytest.mark.parametrize(
    "scene", [each for each in SCENES if not each.withheld], ids=lambda scene: scene.name
)


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    return Shelf(tmp_path_factory.mktemp("scenes"))


@pytest.fixture(scope="module")
def pages(shelf: Shelf) -> Callable[[Scene], Read]:
    """The page of a scene beside runs in which nothing is the matter, made once."""
    made: dict[str, Read] = {}

    def of(scene: Scene) -> Read:
        if scene.name not in made:
            made[scene.name] = Read((shelf.of(scene), *shelf.good(scene)))
        return made[scene.name]

    return of


def leads(name: str, told: str) -> bool:
    return re.search(rf"{re.escape(name)}( \(\w+\))? (leads )?in ", told) is not None


def forbids(scene: Scene, use: Use) -> bool:
    return use in scene.kind.forbids


def test_every_qualifier_has_a_scene() -> None:
    # What no method's run can have has tests of its own: tests/imports, tests/lab/test_flushes.py.
    assert {each.code for each in SCENES} == set(CATALOGUE) - {"imported", "buffered"}


@each_scene
def test_the_figure_has_it(scene: Scene, shelf: Shelf) -> None:
    figure = figure_of(shelf.of(scene), scene.figure)
    assert scene.code in figure.codes
    assert (figure.value is None) is scene.withheld
    for good in shelf.good(scene) if scene.kind.forbids and not scene.withheld else ():
        assert not figure_of(good, scene.figure).codes, "nothing else is the matter"


@each_scene
def test_show_has_the_label_and_explains_it_once(scene: Scene, shelf: Shelf) -> None:
    shown = ssdlab("show", shelf.of(scene).path, "--all").out
    (entry,) = [each for each in legend_of(shown).values() if each.startswith(f"{scene.kind.label}: ")]
    assert entry.startswith(f"{scene.kind.label}: {scene.kind.sentence.removesuffix('.')}")
    assert has_label(shown, scene.kind.label)


def has_label(shown: str, label: str) -> bool:
    """Whether a figure in the terminal is marked with what the legend has under a label."""
    return re.search(rf"\([^()]*\b{label}\b[^()]*\)", resolved(shown)) is not None


@each_scene
def test_json_has_it_with_the_figure_and_explained(scene: Scene, shelf: Shelf) -> None:
    found = ssdlab("show", shelf.of(scene).path, "--json").json
    (figure,) = [each for each in found["result"]["scalars"] if each["name"] == scene.figure]
    assert scene.code in [each["code"] for each in figure["qualifiers"]]
    entry = found["qualifiers"][scene.code]
    assert entry["label"] == scene.kind.label
    assert entry["forbids"] == sorted(scene.kind.forbids)
    assert scene.figure in entry["figures"]


@each_scene
def test_the_bar_of_the_figure_has_the_label(scene: Scene, pages: Callable[[Scene], Read]) -> None:
    read = pages(scene)
    assert scene.kind.label in read.noted(0, scene.figure)
    rows = [cell.text for row in read.arranged[1].top.every.rows for cell in row]
    assert any(scene.kind.label in each for each in rows)
    assert sum(each.startswith(f"{scene.kind.label}: ") for each in read.marks) == 1, "explained once"


@with_value
def test_a_bar_has_no_rank_where_it_is_forbidden(scene: Scene, pages: Callable[[Scene], Read]) -> None:
    read = pages(scene)
    bar = read.bar(0, scene.figure)
    place = read.standings[scene.figure].of(0)
    assert place is not None
    assert bar.unranked is forbids(scene, "ranking")
    assert (place.rank is None) is forbids(scene, "ranking")
    if forbids(scene, "ranking"):
        codes = figure_of(read.folders[0], scene.figure).codes
        assert place.unfit == ", ".join(
            CATALOGUE[each].label for each in codes if "ranking" in CATALOGUE[each].forbids
        )
        assert bar.note.startswith(place.unfit)
    ranked = [each.shown.index for each in read.standings[scene.figure].ranked]
    assert ranked[forbids(scene, "ranking") :] or len(read.folders) == 1
    assert (0 in ranked) is not forbids(scene, "ranking")


@with_value
def test_top_and_conclusion_name_it_no_winner(scene: Scene, pages: Callable[[Scene], Read]) -> None:
    read = pages(scene)
    told, name = read.sentences(scene.figure), read.placed[0].style.short
    if not forbids(scene, "ranking"):
        return
    assert not leads(name, told)
    if {each.code for one in read.placed[0].run.result.scalars for each in one.qualifiers} == {scene.code}:
        assert not read.best_in(0)
    place = read.standings[scene.figure].of(0)
    assert place is not None
    if len(read.folders) == 1 or unranked_beyond(
        read.standings[scene.figure], read.standings[scene.figure].ranked[0]
    ):
        assert scene.kind.label in told


def test_without_it_the_same_drive_wins(shelf: Shelf) -> None:
    """What the tests of ranks see nothing of would be no test."""
    read = Read(tuple(shelf.good(SCENES[0])))
    name = read.placed[0].style.short
    assert leads(name, read.sentences(IOPS))
    assert read.best_in(0)


@with_value
def test_no_share_of_a_rating_where_it_is_forbidden(
    scene: Scene, shelf: Shelf, pages: Callable[[Scene], Read]
) -> None:
    if not scene.rated:
        return
    own = shelf.of(scene)
    rated = [each["figure"] for each in ssdlab("show", own.path, "--json").json["rated"]]
    read = Read((own,))
    note = read.bar(0, scene.figure).note
    on_card = "of the rated" in note or "not compared" in note
    place = read.standings[scene.figure].of(0)
    assert place is not None
    given = place.rated is not None or place.other is not None
    allowed = not forbids(scene, "ratings")
    assert (scene.figure in rated) is on_card is given is allowed
    shown = ssdlab("show", own.path, "--all").text
    assert ("of the rated" in shown) is (place.rated is not None) or scene.name == "used"


@each_scene
def test_a_claim_is_not_measured_where_it_is_forbidden(scene: Scene, pages: Callable[[Scene], Read]) -> None:
    read = pages(scene)
    found = read.claim(scene.figure, LOOSE)
    assert found.mark == ("not measured" if forbids(scene, "claims") else "true")
    assert scene.kind.label in found.found


@each_scene
def test_pictures_have_the_label(scene: Scene, pages: Callable[[Scene], Read]) -> None:
    read = pages(scene)
    assert any(scene.kind.label in each for each in read.notes)


@each_scene
def test_the_overview_has_the_label_with_the_figure(
    scene: Scene, pages: Callable[[Scene], Read], tmp_path: Path
) -> None:
    """It reads no rows of runs, so it can tell no more than what stands with figures."""
    read = pages(scene)
    html = overview_html([each.path for each in read.folders], tmp_path / "drives.html")
    cells = [re.sub(r"[\s\xa0]+", " ", each) for each in re.findall(r"<td[^>]*>([^<]*)</td>", html)]
    own = figure_of(read.folders[0], scene.figure)
    has_column = any(figure_of(each, scene.figure).value is not None for each in read.folders)
    assert any(each.endswith(f"({own.state})") for each in cells) or not has_column


@with_value
def test_bars_of_the_overview_stand_as_the_drives_do(scene: Scene, pages: Callable[[Scene], Read]) -> None:
    standing = pages(scene).standings[scene.figure]
    ((group,),) = (view.groups for view in (_view(standing),))
    (own,) = [bar for bar in group.bars if bar.run == 0]
    assert scene.kind.label in own.note
    assert bool(own.unranked) is forbids(scene, "ranking")
    assert [bool(bar.unranked) for bar in group.bars] == sorted(bool(bar.unranked) for bar in group.bars)


BLOCKS = re.compile(
    r"<(script|style|svg|template|table|pre)\b.*?</\1>|<div class=\"prose\">.*?</div>", re.DOTALL
)


def prose_of(html: str) -> str:
    """What a page says outside of its tables, its charts, its workloads and the text of its methods."""
    plain = unescape(re.sub(r"<[^>]*>", " ", BLOCKS.sub(" ", html[html.index("<body") :])))
    return " ".join(plain.replace("\xa0", " ").split()).casefold()


def test_a_page_of_several_methods_says_a_fact_once(shelf: Shelf) -> None:
    """What a warning, a departure or a qualifier says, however many steps, figures and runs have it."""
    names = ("hot", "unproven", "once", "cached", "few", "placed")
    runs = [source.read_run(shelf.of(SCENES_BY_NAME[each]).path) for each in names]
    qualifiers = [own for run in runs for each in run.result.scalars for own in each.qualifiers]
    departures = [each for run in runs for each in gathered_departures(run.manifest)]
    quick = [each.what.removeprefix("quick: ") for each in departures if each.code == "quick"]
    shorter = {length for each in quick for length in each.split(", ")}
    facts = {
        *(text for each in qualifiers for text in (each.why, each.kind.sentence, each.kind.advice)),
        *(each.what for each in departures if each.code != "quick"),
        *(each.advice for run in runs for each in run.warnings),
        *("".join(words_of(each.what)[:1]) for run in runs for each in run.warnings),
    }
    text = prose_of(page.render(runs))
    assert len({each.code for each in qualifiers}) > 3 and shorter, "the scene has facts"
    again = {fact for fact in facts if len(fact) > 8 and text.count(fact.strip().rstrip(".").casefold()) > 1}
    assert not again
    missing = {each.kind.sentence for each in qualifiers if each.kind.sentence[:-1].casefold() not in text}
    assert not missing
    assert not {each for each in shorter if each.casefold() in text}, "they stand among the parameters"


def test_exported_pictures_have_the_label(shelf: Shelf, tmp_path: Path) -> None:
    scene = SCENES_BY_NAME["hot"]
    runs = [each.path for each in (shelf.of(scene), *shelf.good(scene))]
    assert ssdlab("figures", *runs, "-o", tmp_path, "--format", "svg").status == 0
    pictures = [each.read_text() for each in tmp_path.glob("*.svg")]
    of_runs = [each for each in pictures if "peak-random-read" in each]
    assert of_runs and all(scene.kind.label in each for each in of_runs)


@with_value
def test_rank_lists_no_run_with_it(scene: Scene, shelf: Shelf) -> None:
    own, good = shelf.of(scene), shelf.good(scene)
    among = ssdlab("rank", scene.figure, "--library", shelf.library, "--drive", scene.name.upper(), "--json")
    if not forbids(scene, "ranking"):
        assert among.status == 0
        assert own.manifest.drive.id in [each["drive_id"] for each in among.json["lines"]]
        words = ("--library", shelf.library, "--drive", scene.name.upper())
        assert scene.kind.label in ssdlab("rank", scene.figure, *words).text
        return
    assert among.status == 2
    assert scene.kind.label in among.json["what"]
    if good:
        words = ("--like", good[0].path.name, "--library", shelf.library)
        found = ssdlab("rank", scene.figure, *words, "--json").json
        ids = [each["drive_id"] for each in found["lines"]]
        assert good[0].manifest.drive.id in ids and own.manifest.drive.id not in ids
        assert any(scene.kind.label in each["why"] for each in found["left_out"])


@with_value
def test_the_gate_decides_nothing_by_it(scene: Scene, shelf: Shelf) -> None:
    own = shelf.repeated(scene).path.name
    base = good[0].path.name if (good := shelf.good(scene)) else own
    rule = ("--fail-if", f"{scene.figure} > +1000%", "--library", shelf.library)
    done = ssdlab("compare", base, own, *rule, "--json")
    (judged,) = done.json["rules"]
    assert judged["outcome"] == "undecidable", "of two runs nothing is decided either, but for another reason"
    assert (scene.kind.label in judged["why"]) is forbids(scene, "ranking")
    (figure,) = [each for each in done.json["figures"] if each["figure"] == scene.figure]
    assert (figure["shift"] is None) is forbids(scene, "ranking")
    assert scene.kind.label in ssdlab("compare", base, own, *rule).text


@with_value
def test_repeats_count_it(scene: Scene, shelf: Shelf) -> None:
    suite = shelf.repeated(scene)
    found = ssdlab("show", suite.path, "--json").json
    (figure,) = [each for each in found["result"]["repeated"] if each["name"] == scene.figure]
    assert figure["qualified"][scene.code] == 2
    assert found["qualifiers"][scene.code]["label"] == scene.kind.label
    shown = ssdlab("show", suite.path, "--all").out
    assert has_label(shown, scene.kind.label)
    assert [each for each in legend_of(shown).values() if scene.kind.sentence.removesuffix(".") in each]
    html = page.render([source.read(suite.path)])
    assert scene.kind.label in re.sub(r"[\s\xa0]+", " ", html)


@with_value
def test_a_fleet_prefers_runs_without_it(scene: Scene, shelf: Shelf) -> None:
    own, good = shelf.of(scene), shelf.good(scene)
    with Index(shelf.library) as index:
        alone = Choice(drive=scene.name.upper(), method=scene.method, status="finished")
        found = populations(index, model_of(index, alone, None), alone)
        for each in found:  # among which is nothing that a method chooses
            if each.name == scene.figure:
                assert scene.kind.label in (each.unfit if forbids(scene, "ranking") else each.marks)
        every = Choice(method=scene.method, status="finished")
        if not (good and forbids(scene, "ranking")):
            return
        model = own.manifest.drive.name
        (population,) = [each for each in populations(index, model, every) if each.name == scene.figure]
    assert population.unfit == ""
    assert own.manifest.drive.id not in {each.drive_id for each in population.samples}
    assert good[0].manifest.drive.id in {each.drive_id for each in population.samples}


@pytest.fixture(scope="module")
def made_up(tmp_path_factory: pytest.TempPathFactory) -> tuple[Shelf, Scene]:
    """Runs with a qualifier of a code that no catalogue has, all of their throughput."""
    shelf = Shelf(tmp_path_factory.mktemp("made-up"))
    scene = Scene("odd", MADE_UP)
    shelf.good(SCENES[0])
    own = evidence._qualifiers

    def more(figure: Metric, *steps: Any) -> Iterator[Qualifier]:
        yield from own(figure, *steps)
        if figure.name == IOPS:
            yield Qualifier(code=MADE_UP, steps=figure.steps, why="a moth was in it")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evidence, "_qualifiers", more)
        shelf.repeated(scene)
    return shelf, scene


@pytest.fixture(
    params=[ALL_USES, *map(frozenset[Use], (["ranking"], ["ratings"], ["claims"], []))],
    ids=lambda uses: "+".join(sorted(uses)) or "nothing",
)
def entered(
    request: pytest.FixtureRequest,
    made_up: tuple[Shelf, Scene],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> tuple[Shelf, Scene]:
    """Such runs and an entry in the catalogue of qualifiers, by which the library is entered anew."""
    shelf, scene = made_up
    monkeypatch.setitem(CATALOGUE, MADE_UP, Kind("quite odd", "It is odd.", "look again", request.param))
    library = tmp_path / "library"
    shutil.copytree(shelf.library, library, ignore=lambda *_: [FOLDER])
    made = {key: RunFolder(library / run.path.name) for key, run in shelf.made.items()}
    return Shelf(library, made), scene


SURFACES = (
    test_show_has_the_label_and_explains_it_once,
    test_json_has_it_with_the_figure_and_explained,
    test_repeats_count_it,
)
WITH_PAGE = (
    test_the_bar_of_the_figure_has_the_label,
    test_a_bar_has_no_rank_where_it_is_forbidden,
    test_top_and_conclusion_name_it_no_winner,
    test_a_claim_is_not_measured_where_it_is_forbidden,
    test_pictures_have_the_label,
)
OF_LIBRARY = (
    test_rank_lists_no_run_with_it,
    test_the_gate_decides_nothing_by_it,
    test_a_fleet_prefers_runs_without_it,
)


def test_one_entry_of_the_catalogue_is_on_every_surface(entered: tuple[Shelf, Scene]) -> None:
    """A new qualifier asks for an entry and for nothing else: no surface knows codes of its own."""
    shelf, scene = entered
    read = Read((shelf.of(scene), *shelf.good(scene)))

    def page_of(_: Scene) -> Read:
        return read

    for surface in SURFACES:
        surface(scene, shelf)
    for surface in WITH_PAGE:
        surface(scene, page_of)
    test_no_share_of_a_rating_where_it_is_forbidden(scene, shelf, page_of)
    for surface in OF_LIBRARY:
        surface(scene, shelf)


def test_a_run_that_was_killed_keeps_what_its_steps_showed(tmp_path: Path) -> None:
    """The step that failed is of the first attempt; what is resumed fails in nothing."""
    shelf = Shelf(tmp_path)
    scene = replace(SCENES_BY_NAME["failing"], name="killed")
    run = killed(shelf, scene, 3)
    unfinished = Read((run,))
    assert unfinished.standings == {}, "it has no figure before it has its end"
    assert ("unfinished run", True) in unfinished.arranged[0].line
    heads = heads_of(unfinished.arranged[1].sections, unfinished.placed).values()
    assert heads and all("unfinished run" in head.facts for head in heads)
    tables = [
        table
        for section in unfinished.arranged[1].sections
        for exhibit in section.exhibits
        for table in exhibit.tables
    ]
    assert all(table.rows for table in tables)
    assert any(scene.kind.label in each for each in unfinished.notes)
    with planted(None):
        assert ssdlab("resume", run.path).status == 0
    run = RunFolder(run.path)
    (found,) = figure_of(run, IOPS).qualifiers
    assert (found.code, found.steps) == (scene.code, (2,)), "the step of the figure is another"
    shelf.made[scene.method, scene.text, f"{scene.words} --repeat 2", scene.change] = run
    read = Read((run, *shelf.good(scene)))
    assert scene.kind.label in ssdlab("show", run.path, "--all").text
    assert [each.shown.index for each in read.standings[IOPS].ranked] == [1, 2]
    assert read.claim(IOPS, LOOSE).mark == "not measured"
    words = ("--library", tmp_path, "--drive", "KILLED")
    assert scene.kind.label in ssdlab("rank", IOPS, *words, "--json").json["what"]


_BARS = ("IOPS", "MB/s", "W", "kIOPS/W", "MB/s/W")


@each_scene
def test_every_bar_has_the_label_or_is_not_drawn(scene: Scene, pages: Callable[[Scene], Read]) -> None:
    """Of throughput, of efficiency and of power, of all that is drawn of the points of a run."""
    read = pages(scene)
    own = [each for each in read.placed[0].run.result.scalars if each.unit in _BARS]
    if not own or any(scene.code not in each.codes for each in own):
        return
    sections = [each for each in read.arranged[1].sections if each.id != "drives"]
    figures = [each for section in sections for each in section.figures if each.id.endswith(_MARKED)]
    for figure in figures:
        assert isinstance(figure.chart, BarsChart)
        groups = [group for view in figure.chart.views for group in view.groups]
        bars = [bar for group in groups for bar in group.bars if bar.run == 0]
        assert bars, figure.id
        for bar in bars:
            assert bool(bar.withheld) is scene.withheld, figure.id
            assert scene.kind.label in bar.note, (figure.id, bar)
            assert bool(bar.unranked) is forbids(scene, "ranking"), (figure.id, bar)
        for group in groups:
            grey = [bool(bar.unranked) for bar in group.bars]
            assert grey == sorted(grey), figure.id
    for figure in figures:
        if figure.id.endswith("-efficiency") and not scene.withheld:
            (table,) = figure.tables
            rows = [row for row in table.rows if row[0].run == 0]
            assert rows and all(scene.kind.label in row[table.head.index("State")].text for row in rows)


_MARKED = ("-bars", "-efficiency", "-bench", "-burst-throughput")


def test_a_point_of_a_moved_state_is_a_row_with_the_reason_and_no_bar(shelf: Shelf) -> None:
    """Of a method whose points are all of its result too, as of a sweep."""
    run = source.read_run(shelf.of(SCENES_BY_NAME["once"]).path)
    moved = [Qualifier(code="state-moved")]
    scalars = tuple(
        each.withheld(moved) if "random write" in each.label else each for each in run.result.scalars
    )
    run = replace(run, result=run.result.model_copy(update={"scalars": scalars}))
    section = points.section(shown([run]))
    for figure in section.figures:
        match figure.chart:
            case BarsChart(views):
                groups = [group for view in views for group in view.groups]
                names = {group.name for group in groups if not any(bar.withheld for bar in group.bars)}
                held = [bar for group in groups if "random write" in group.name for bar in group.bars]
                assert held and all(bar.value == 0.0 and "state moved" in bar.note for bar in held)
            case MarksChart(views=views):
                names = {row.name for view in views for row in view.rows}
            case _:
                continue
        assert any("random read" in each for each in names), figure.id
        assert not any("random write" in each for each in names), figure.id


def test_a_share_that_nobody_judged_is_not_drawn_as_one(shelf: Shelf) -> None:
    read = Read((shelf.run("trim-validation", stage.TINY, "--quick"),))
    assert read.placed[0].run.result.passed is None
    (chart,) = [
        each.chart
        for section in read.arranged[1].sections
        for each in section.figures
        if each.id == "trim-validation-sustained"
    ]
    assert isinstance(chart, BarsChart)
    shares = [b for view in chart.views for group in view.groups for b in group.bars if "of clean" in b.note]
    assert shares and all("not judged" in bar.note and bar.unranked for bar in shares)


def test_a_picture_minds_what_it_draws(pages: Callable[[Scene], Read]) -> None:
    """Too few I/Os for a percentile are no matter to bars of throughput."""
    few, moved = (pages(SCENES_BY_NAME[each]) for each in ("few", "moved"))
    heads = heads_of(few.arranged[1].sections, few.placed)
    label = CATALOGUE["few-samples"].label
    told = {name: any(label in note.text for note in head.notes) for name, head in heads.items()}
    assert told["peak-random-read-qos"] and told["peak-random-read-latency"]
    assert not any(told[f"peak-random-read-{each}"] for each in ("throughput", "bars", "efficiency"))
    for note in moved.notes:
        assert not re.search(r"\.[;,.]", note)
        assert not re.search(r"state unproven: The preconditioning", note)


def test_figures_that_are_withheld_are_named(shelf: Shelf, tmp_path: Path) -> None:
    scene = SCENES_BY_NAME["moved"]
    text = scene.drive.replace("scale=64", "scale=16")
    runs = (shelf.of(scene), shelf.run(scene.method, f"{text},serial=MOVED2", scene.words))
    read = Read(runs)
    assert scene.figure not in read.standings, "neither has a value"
    (chart,) = [each for each in read.arranged[1].top.charts if not each.names]
    (told,) = not_ranked(conclusion.section(read.placed))
    assert "| all |" in told
    assert {bar.note.partition(",")[0] for bar in chart.bars} == {scene.kind.label}
    assert scene.kind.label in told
    assert "IOPS" in told
    overview = overview_html([each.path for each in runs], tmp_path / "drives.html")
    assert f"no headline figure ({scene.kind.label}" in overview.replace("\xa0", " ")


def test_repeats_of_a_drive_are_no_rank_and_their_median_stands_with_them(shelf: Shelf) -> None:
    words = READ.replace("1,8", "1,4")
    read = Read((shelf.run("peak-random-read", f"{SLOWER},serial=THRICE", f"{words} --repeat 3"),))
    found = read.arranged[1].top
    bars = [bar for chart in found.charts if IOPS in chart.names for bar in chart.bars]
    assert bars and all("median of 3 runs" in bar.note and "confidence" in bar.note for bar in bars)
    assert not any("leads" in each for each in found.sentences)


def test_which_run_of_a_drive_stands_for_it_is_no_matter_of_order(shelf: Shelf) -> None:
    """One of them was hot: the other counts, wherever it stands."""
    hot, (good, *_) = SCENES_BY_NAME["hot"], shelf.good(SCENES[0])
    text = f"{hot.drive},serial=GOOD"
    runs = (shelf.run(hot.method, text, hot.words, hot.change), good)
    for order in (runs, runs[::-1]):
        read = Read(order)
        (place,) = read.standings[IOPS].ranked
        assert place.shown.run.manifest.run_id == good.path.name
        (other,) = read.standings[IOPS].further
        assert other.instead and hot.kind.label in read.bar(other.shown.index, IOPS).note


def test_a_review_ranks_only_the_drive_that_stood_it(shelf: Shelf) -> None:
    """By itself one of these drives slows down for heat, and shows no steady state for that."""
    drives = "sim:nvme-tlc-client,scale=128 sim:nvme-tlc-enterprise,scale=128"
    review = shelf.run("steady-sequential-write", drives, stage.HEATED)
    name, label = "steady_sequential_write_mb_s", CATALOGUE["throttled"].label
    read = Read((review,))
    standing, hot = read.standings[name], read.placed[0].style.short
    assert [each.shown.index for each in standing.ranked] == [1]
    assert read.bar(0, name).unranked and label in read.bar(0, name).note
    assert not leads(hot, read.sentences(name))
    assert label not in read.bar(1, name).note
    assert not read.best_in(0) and not read.best_in(1)
    assert any(label in note.text for note in notes_of_runs(read, 0))
    assert not any(label in note.text for note in notes_of_runs(read, 1))
    (row,) = [
        each for each in ssdlab("show", review.path, "--json").json["side_by_side"] if each["figure"] == name
    ]
    assert [label in each["state"] for each in row["drives"].values()] == [True, False]
    shown = ssdlab("show", review.path, "--all").out
    assert sum(each.startswith(f"{label}: ") for each in legend_of(shown).values()) == 1
    html = page.render(read.reported)
    assert label in html


def notes_of_runs(read: Read, run: int) -> list[HeadNote]:
    """What stands on pictures of one run alone."""
    heads = heads_of(read.arranged[1].sections, read.placed).values()
    return [note for head in heads for note in head.notes if note.runs == (run,)]


@pytest.mark.parametrize(
    ("drive", "words", "codes"),
    [
        (f"{RATED},serial=LONG", READ.removeprefix("--quick "), {"quick"}),
        ("sim:samsung-983-dct-960gb,scale=128,serial=HALF", READ, {"scale"}),
        ("FILE", f"--size 16MiB {READ}", {"engine", "drive_kind", "scale"}),
        (f"{RATED},serial=SPARE", f"--spare 30% {READ}", {"spare"}),
        (f"{RATED},serial=OTHER", READ.replace("1,8", "1,4"), {"settings"}),
    ],
    ids=["quick", "scaled", "real", "spare", "settings"],
)
def test_runs_that_were_not_taken_alike_are_nowhere_held_against_each_other(
    drive: str, words: str, codes: set[str], shelf: Shelf, scratch: Path
) -> None:
    (ours, *_) = shelf.good(SCENES[0])
    if drive == "FILE":
        drive, words = str(scratch / "drive.img"), f"{words} --destroy drive.img"
    theirs = shelf.run("peak-random-read", drive, words)
    read = Read((theirs, ours))
    standing, an_entry = read.standings[IOPS], codes <= set(kin.OF_AN_ENTRY)
    if an_entry:
        assert standing.unlike == "" and len(standing.ranked) == 2
    else:
        assert (standing.unlike, standing.ranked) == (UNLIKE, ())
        (foot,) = [each.foot for each in read.arranged[1].top.charts if IOPS in each.names]
        assert foot.startswith(f"Not ranked: {UNLIKE}")
        assert not re.search("leads|tied", read.sentences(IOPS))
    rule = ("--fail-if", f"{IOPS} > +1000%", "--library", shelf.library)
    done = ssdlab("compare", ours.path.name, theirs.path.name, *rule, "--json").json
    (rule_done,) = done["rules"]
    assert rule_done["outcome"] == "undecidable"
    found = ssdlab("rank", IOPS, "--like", ours.path.name, "--library", shelf.library, "--json").json
    ranked = theirs.manifest.drive.id in [each["drive_id"] for each in found["lines"]]
    assert ranked is an_entry
    if an_entry:
        return
    assert "not comparable" in rule_done["why"]
    assert {each["shift"] for each in done["figures"]} == {None}
    assert any(codes <= set(each["differs"]) for each in found["left_out"])
    with Index(shelf.library) as index:
        every = Choice(method="peak-random-read", status="finished")
        found = populations(index, ours.manifest.drive.name, every)
    (population,) = [each for each in found if each.name == IOPS]
    # Where there are as many runs of either kind, the newest of all says which are meant.
    both = {ours.manifest.drive.id, theirs.manifest.drive.id}
    assert not both <= {each.drive_id for each in population.samples}


def test_latencies_at_unlike_depths_are_no_rank(shelf: Shelf) -> None:
    """Each drive is reported at a depth of its own: its throughput is ranked, its latency is not."""
    words = READ.replace("1,8", "1,8,32,64")
    runs = [shelf.run("peak-random-read", drive, words) for drive in (f"{RATED},serial=DEEP", SLOWER)]
    name = "peak_random_read_mean_ns"
    loads = [figure_of(run, name).load for run in runs]
    assert None not in loads and loads[0] != loads[1]
    read = Read(tuple(runs))
    assert read.standings[name].ranked == () and len(read.standings[IOPS].ranked) == 2
    rule = ("--fail-if", f"{name} > +1000%", "--library", shelf.library, "--json")
    done = ssdlab("compare", runs[0].path.name, runs[1].path.name, *rule).json
    apart = {each["figure"]: each["unlike"] for each in done["figures"]}
    assert apart[IOPS] == "" and apart[name]
    assert done["rules"][0]["why"].endswith(apart[name])
    found = ssdlab("rank", name, "--like", runs[0].path.name, "--library", shelf.library, "--json").json
    assert runs[1].manifest.drive.id not in [each["drive_id"] for each in found["lines"]]
    assert any("load" in each["differs"] for each in found["left_out"])


def test_repeats_tell_in_how_many_it_stands(shelf: Shelf, tmp_path: Path) -> None:
    """One of the runs was disturbed: that stands with the median, and the gate decides nothing."""
    first = tmp_path / "first"

    def first_hot(at: int, result: StepResult) -> StepResult:
        """Each of the runs is a process."""
        with suppress(FileExistsError):
            first.symlink_to(str(os.getpid()))
        return stage.hot(at, result) if first.readlink() == Path(str(os.getpid())) else result

    suite = shelf.run("peak-random-read", f"{RATED},serial=PART", f"{READ} --repeat 2", first_hot)
    (base, *_) = shelf.good(SCENES[0])
    found = ssdlab("show", suite.path, "--json").json["result"]["repeated"]
    (figure,) = [each for each in found if each["name"] == IOPS]
    assert figure["qualified"] == {"throttled": 1}
    label = CATALOGUE["throttled"].label
    assert f"{label} in 1 of 2" in resolved(ssdlab("show", suite.path, "--all").out)
    rule = ("--fail-if", f"{IOPS} > +1000%", "--library", shelf.library, "--json")
    (judged,) = ssdlab("compare", base.path.name, suite.path.name, *rule).json["rules"]
    assert judged["outcome"] == "undecidable" and label in judged["why"]


@pytest.mark.parametrize("name", METHODS)
def test_each_figure_with_a_qualifier_says_so(name: str, quick_run: QuickRun) -> None:
    walk(quick_run(name))


@pytest.fixture(scope="module")
def earlier(tmp_path_factory: pytest.TempPathFactory) -> list[RunFolder]:
    """The finished runs of the planted library, as an earlier version stored them."""
    folder = tmp_path_factory.mktemp("earlier")
    with tarfile.open(Path(__file__).parents[1] / "planted" / "library.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    found = [RunFolder(each.parent) for each in sorted(folder.glob("library/2*/manifest.json"))]
    return [each for each in found if each.manifest.result and not each.manifest.children]


def test_so_do_runs_of_an_earlier_version(earlier: list[RunFolder]) -> None:
    for run in earlier:
        walk(run)


def walk(run: RunFolder) -> None:
    """Hold what is shown of a run against the figures of its result."""
    result = read_result(run)
    assert result is not None
    qualified = [each for each in result.scalars if each.qualifiers]
    if not qualified:
        return
    text, read = ssdlab("show", run.path, "--all").out, Read((run,))
    codes = dict.fromkeys(each for figure in qualified for each in figure.codes)
    for code in codes:
        kind = CATALOGUE[code]
        where = f"{run.path.name}: {code}"
        assert sum(kind.sentence.removesuffix(".") in each for each in legend_of(text).values()) == 1, where
        assert sum(each.startswith(f"{kind.label}: ") for each in read.marks) == 1, where
        assert has_label(text, kind.label), where
    for figure in qualified:
        where = f"{run.path.name}: {figure.name}"
        if figure.value is not None or figure.unfit("ranking"):
            bar = read.bar(0, figure.name)
            assert all(each.label in bar.note for each in figure.qualifiers), where
            assert bar.unranked is bool(figure.unfit("ranking")), where
        place = read.standings[figure.name].of(0) if figure.value is not None else None
        if place is not None:
            assert (place.rank is None) is bool(figure.unfit("ranking")), where
