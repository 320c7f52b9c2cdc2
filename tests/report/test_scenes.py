"""What is the matter with a figure, on every surface by one label, and what no surface does with it for that.

Scenes stand in `planted_scenes`: each is run once, and each test here is a surface that is held against all.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from report.planted_scenes import IOPS, SCENES, Read, Scene, Shelf, figure_of, ssdlab
from ssdlab.fleet.population import model_of, populations
from ssdlab.library.choosing import Choice
from ssdlab.library.index import Index
from ssdlab.report import page, source
from ssdlab.results import evidence
from ssdlab.results.catalogue_files import FOLDER
from ssdlab.results.metric import Metric, Qualifier
from ssdlab.results.qualifiers import ALL_USES, CATALOGUE, Kind, Use
from ssdlab.results.run_folder import RunFolder

pytestmark = pytest.mark.long
LOOSE, MADE_UP = "at least 0", "made-up"
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


def forbids(scene: Scene, use: Use) -> bool:
    return use in scene.kind.forbids


def test_every_qualifier_has_a_scene() -> None:
    assert {each.code for each in SCENES} == set(CATALOGUE)


def test_what_is_not_ranked_is_not_compared_either() -> None:
    """The library's catalogue holds of a figure the codes that forbid a rank, and compares by these."""
    for code, kind in CATALOGUE.items():
        assert ("ranking" in kind.forbids) is ("comparison" in kind.forbids), code


@each_scene
def test_the_figure_has_it(scene: Scene, shelf: Shelf) -> None:
    figure = figure_of(shelf.of(scene), scene.figure)
    assert scene.code in figure.codes
    assert (figure.value is None) is scene.withheld
    for good in shelf.good(scene) if scene.kind.forbids and not scene.withheld else ():
        assert not figure_of(good, scene.figure).codes, "nothing else is the matter"


@each_scene
def test_show_has_the_label_and_explains_it_once(scene: Scene, shelf: Shelf) -> None:
    done = ssdlab("show", shelf.of(scene).path)
    meaning = scene.kind.sentence.removesuffix(".")
    assert done.text.count(meaning) == 1
    before, _, after = done.text.partition(meaning)
    assert re.search(rf"{scene.kind.label}(, of [^:]*)?: $", before)
    beside = f"{before.removesuffix(f'{scene.kind.label}: ')} {after}"
    if not scene.withheld:
        assert re.search(rf"\([^()]*\b{scene.kind.label}\b[^()]*\)", beside)


@each_scene
def test_json_has_it_with_the_figure_and_explained(scene: Scene, shelf: Shelf) -> None:
    found = ssdlab("show", shelf.of(scene).path, "--json").json
    (figure,) = [each for each in found["result"]["scalars"] if each["name"] == scene.figure]
    assert scene.code in [each["code"] for each in figure["qualifiers"]]
    told = found["qualifiers"][scene.code]
    assert told["label"] == scene.kind.label
    assert told["forbids"] == sorted(scene.kind.forbids)
    assert scene.figure in told["figures"]


@each_scene
def test_the_card_of_the_figure_has_the_label(scene: Scene, pages: Callable[[Scene], Read]) -> None:
    read = pages(scene)
    cards = read.cards(0, "" if scene.withheld else scene.figure)
    having = [one for one in cards if scene.kind.label in (one.figure, *one.beside)]
    assert having if scene.on_card else not having
    assert sum(each.startswith(f"{scene.kind.label}: ") for each in read.marks) == 1, "explained once"


@with_value
def test_a_tile_has_no_rank_where_it_is_forbidden(scene: Scene, pages: Callable[[Scene], Read]) -> None:
    read = pages(scene)
    (tile,) = read.tiles(0, scene.figure)
    place = read.standings[scene.figure].of(0)
    assert place is not None
    assert tile.stands is not forbids(scene, "ranking")
    assert (place.rank is None) is forbids(scene, "ranking")
    if forbids(scene, "ranking"):
        assert place.unfit == figure_of(read.folders[0], scene.figure).state
        assert not re.search(r"\d(st|nd|rd|th) of", tile.place)
        assert scene.kind.label in (tile.place.rpartition("not ranked: ")[2], *tile.beside)
    ranked = [each.shown.index for each in read.standings[scene.figure].ranked]
    assert ranked[forbids(scene, "ranking") :] or len(read.folders) == 1
    assert (0 in ranked) is not forbids(scene, "ranking")


@with_value
def test_verdict_and_conclusion_name_it_no_winner(scene: Scene, pages: Callable[[Scene], Read]) -> None:
    read = pages(scene)
    verdict, name = read.verdict(scene.figure), read.placed[0].style.short
    wins = re.search(rf"{re.escape(name)} (wins|is first|alone)", verdict)
    first = re.search(r"^First (?!of those ranked)|; first (?!of those ranked)", read.conclusion(0))
    if not forbids(scene, "ranking"):
        return
    assert not wins
    if {each.code for one in read.placed[0].run.result.scalars for each in one.qualifiers} == {scene.code}:
        assert not first
    if len(read.folders) > 1:
        assert f"{name} with" in verdict and scene.kind.label in verdict


def test_without_it_the_same_drive_wins(shelf: Shelf) -> None:
    """What the tests of ranks see nothing of would be no test."""
    read = Read(tuple(shelf.good(SCENES[0])))
    name = read.placed[0].style.short
    assert f"{name} wins" in read.verdict(IOPS)
    assert "irst in" in read.conclusion(0)
    (tile,) = read.tiles(0, IOPS)
    assert tile.place.startswith("1st of 2")


@with_value
def test_no_share_of_a_rating_where_it_is_forbidden(
    scene: Scene, shelf: Shelf, pages: Callable[[Scene], Read]
) -> None:
    if not scene.rated:
        return
    own = shelf.of(scene)
    rated = [each["figure"] for each in ssdlab("show", own.path, "--json").json["rated"]]
    read = Read((own,))
    (card,) = read.cards(0, scene.figure)
    on_card = any("of the rated" in each or "not compared" in each for each in card.beside)
    place = read.standings[scene.figure].of(0)
    assert place is not None
    given = place.rated is not None or place.other is not None
    allowed = not forbids(scene, "ratings")
    assert (scene.figure in rated) is on_card is given is allowed
    shown = ssdlab("show", own.path).text
    assert ("of the rated" in shown) is (place.rated is not None) or scene.name == "used"
    if not allowed:
        assert scene.kind.label in read.conclusion(0)


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


@with_value
def test_rank_lists_no_run_with_it(scene: Scene, shelf: Shelf) -> None:
    own, good = shelf.of(scene), shelf.good(scene)
    among = ssdlab("rank", scene.figure, "--library", shelf.library, "--drive", scene.name.upper(), "--json")
    if not forbids(scene, "ranking"):
        assert among.status == 0
        assert own.manifest.drive.id in [each["drive_id"] for each in among.json["lines"]]
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
    assert (scene.kind.label in judged["why"]) is forbids(scene, "comparison")
    (figure,) = [each for each in done.json["figures"] if each["figure"] == scene.figure]
    assert (figure["shift"] is None) is forbids(scene, "comparison")
    text = ssdlab("compare", base, own, *rule).text
    assert (scene.kind.label in text) is forbids(scene, "comparison")


@with_value
def test_repeats_count_it(scene: Scene, shelf: Shelf) -> None:
    suite = shelf.repeated(scene)
    found = ssdlab("show", suite.path, "--json").json
    (figure,) = [each for each in found["result"]["repeated"] if each["name"] == scene.figure]
    assert figure["qualified"][scene.code] == 2
    assert found["qualifiers"][scene.code]["label"] == scene.kind.label
    shown = ssdlab("show", suite.path).text
    assert re.search(rf"\([^()]*\b{scene.kind.label}\b[^()]*\)", shown)
    assert shown.count(scene.kind.sentence.removesuffix(".")) == 1
    html = page.render([source.read(suite.path)])
    assert scene.kind.label in re.sub(r"[\s\xa0]+", " ", html)


@with_value
def test_a_fleet_prefers_runs_without_it(scene: Scene, shelf: Shelf) -> None:
    own, good = shelf.of(scene), shelf.good(scene)
    with Index(shelf.library) as index:
        alone = Choice(drive=scene.name.upper(), method=scene.method, status="finished")
        found = populations(index, model_of(index, alone, None), alone)
        units = {each.name: each.unfit for each in found}
        if scene.figure in units:  # not what a method chooses
            assert (scene.kind.label in units[scene.figure]) is forbids(scene, "ranking")
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
    params=[ALL_USES, *(frozenset({use}) for use in sorted(ALL_USES)), frozenset()],
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
    test_the_card_of_the_figure_has_the_label,
    test_a_tile_has_no_rank_where_it_is_forbidden,
    test_verdict_and_conclusion_name_it_no_winner,
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
