"""Looks of drives: any two differ by colour, to readers who do not see all colours, or by marker."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest

from lab.synthetic import make_finished_run
from ssdlab.drives.simulated.drive import SimulatedText, identity_of
from ssdlab.report import runs as report_runs
from ssdlab.report import source
from ssdlab.report.looks import COLOURS, NEAR, SHAPES, apart, contrast, difference, looks_of
from ssdlab.report.sections.header import compared
from ssdlab.results.schema import DriveInfo, Member, VariantInfo

CSS = Path(__file__).parents[2] / "web" / "src" / "page.css"
APART = 10.0
CONTRAST = 3.0
LOOKS = 32


def themes() -> dict[str, dict[str, str]]:
    """Colours of both themes, by their names."""
    light, dark = CSS.read_text().split("prefers-color-scheme: dark", 1)
    found = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", light))
    return {
        "light": found,
        "dark": found | dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", dark.split("\n}", 1)[0])),
    }


@pytest.mark.parametrize(
    ("one", "other", "by"),
    [  # of Sharma, Wu and Dalal's table 1: rows 1, 7, 17, 25 and 34
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, 0, 0), (50, -1, 2), 2.3669),
        ((50, 2.5, 0), (73, 25, -18), 27.1492),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
        ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
    ],
)
def test_the_measure_is_that_of_its_authors(
    one: tuple[float, float, float], other: tuple[float, float, float], by: float
) -> None:
    assert difference(one, other) == pytest.approx(by, abs=1e-4)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_any_two_colours_are_told_apart(theme: str) -> None:
    palette = [themes()[theme][f"drive-{at}"] for at in range(COLOURS)]
    assert min(apart(one, other) for one, other in combinations(palette, 2)) >= APART


def drives_apart(one: int, other: int) -> float:
    """The least difference of two colours of the palette, to any reader, in either theme."""
    return min(apart(theme[f"drive-{one}"], theme[f"drive-{other}"]) for theme in themes().values())


def test_the_near_colours_are_those_that_some_reader_hardly_tells_apart() -> None:
    assert {pair for pair in combinations(range(COLOURS), 2) if drives_apart(*pair) < 20.0} == NEAR


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_colour_stands_out_from_the_paper(theme: str) -> None:
    found = themes()[theme]
    assert min(contrast(found[f"drive-{at}"], found["paper"]) for at in range(COLOURS)) >= CONTRAST


def test_contrast_is_that_of_wcag() -> None:
    assert contrast("#000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#fff") == pytest.approx(4.54, abs=0.005), "the lightest grey that passes AA"


def looks(tmp_path: Path, count: int) -> list[tuple[int, str]]:
    """Colours and markers of so many drives on one page."""
    run = source.read_run(make_finished_run(tmp_path / "run", "peak-random-read"))
    drives = [
        run.manifest.drive.model_copy(update={"id": f"S{at}", "name": f"Elm {at}"}) for at in range(count)
    ]
    found = report_runs.shown([_of(run, drive, at) for at, drive in enumerate(drives)])
    return [(each.style.colour, each.style.shape) for each in found]


def _of(run: source.Run, drive: object, at: int) -> source.Run:
    manifest = run.manifest.model_copy(update={"drive": drive, "run_id": f"{run.manifest.run_id}-{at}"})
    return replace(run, manifest=manifest)


def test_32_drives_have_looks_of_their_own(tmp_path: Path) -> None:
    found = looks(tmp_path, LOOKS)
    assert len(set(found)) == LOOKS
    by_colour = {colour: {shape for of, shape in found if of == colour} for colour, _ in found}
    assert all(len(shapes) == 4 for shapes in by_colour.values())


def test_up_to_eight_drives_of_near_colours_have_unlike_markers() -> None:
    """A drive and another at its power limit had one marker in two shades of purple."""
    draw = random.Random(11)
    for _ in range(300):
        found = looks_of(f"S{draw.randrange(10**6)}" for _ in range(draw.randrange(2, 9))).values()
        alike = [(one[0], other[0]) for one, other in combinations(found, 2) if one[1] == other[1]]
        assert all(tuple(sorted(pair)) not in NEAR and pair[0] != pair[1] for pair in alike)


def test_the_drives_of_a_review_and_their_variants_are_told_apart() -> None:
    """The ids of an article with a drive at two power limits, and sixteen looks with two variants each."""
    drives = ["c916", "c900", "p4510", "p4800x", "983-dct"]
    review = [*(f"sim:{each},scale=128" for each in drives), "sim:c916,power=10W,scale=128"]
    for names in (review, [f"S{at}{variant}" for at in range(16) for variant in ("", ", 10 W")]):
        found = list(looks_of(names).values())
        assert len(set(found)) == len(names) and {shape for _, shape in found} <= set(range(len(SHAPES)))
        least = min(
            drives_apart(one[0], other[0]) for one, other in combinations(found, 2) if one[1] == other[1]
        )
        assert least >= (20.0 if len(names) <= COLOURS else APART)


@pytest.mark.long
def test_the_marker_does_not_follow_the_colour(tmp_path: Path) -> None:
    """A reader who sees no colour has another cue, and not the same one again."""
    found = {looks(tmp_path / str(at), 1 + at)[-1] for at in range(12)}
    shapes_of = {colour: {shape for of, shape in found if of == colour} for colour, _ in found}
    assert any(len(shapes) > 1 for shapes in shapes_of.values())


def test_a_drive_in_several_states_has_one_look_for_each_through_the_page(tmp_path: Path) -> None:
    """A variant of a real drive has its drive's id; a method that it alone went through shows it alike."""
    reads, depths = (
        source.read_run(make_finished_run(tmp_path / method, method))
        for method in ("peak-random-read", "qd1")
    )
    asked = VariantInfo(asked={"power_limit": "10W"}, words=("10 W",), made=False)
    drive = reads.manifest.drive.model_copy(update={"id": "S1", "name": "Elm", "text": "/dev/nvme0n1"})
    at_10_w = drive.model_copy(update={"name": "Elm, 10 W", "variant": asked})
    shown = report_runs.shown(
        [_of(reads, drive, 0), _of(reads, at_10_w, 1), _of(depths, at_10_w, 2), _of(reads, drive, 3)]
    )
    seen = [(each.style.colour, each.style.shape, each.style.hollow) for each in shown]
    assert seen[1] == seen[2] and seen[0] != seen[1]
    assert seen[3] == (*seen[0][:2], True)


def test_parts_that_had_the_drive_in_other_sizes_have_its_look_in_each_variant(tmp_path: Path) -> None:
    run = source.read_run(make_finished_run(tmp_path / "run", "peak-random-read"))
    member = Member(suite="s1", part="p", preparation_seed=0)
    texts = [
        "sim:tiny-test,scale=4",
        "sim:tiny-test",
        "sim:tiny-test,scale=4,spare=0.25",
        "sim:tiny-test,spare=0.25",
    ]
    drives = []
    for text in texts:
        of = identity_of(SimulatedText.parse(text))
        drives.append(
            DriveInfo(
                text=text,
                kind="sim",
                id=of.consent_id,
                name=of.model or "",
                capacity_bytes=of.capacity_bytes,
                logical_block_bytes=of.logical_block_bytes,
            )
        )
    made = []
    for at, each in enumerate(drives):
        one = _of(run, each, at)
        made.append(replace(one, manifest=one.manifest.model_copy(update={"member": member})))
    seen = [(each.style.colour, each.style.shape) for each in report_runs.shown(made)]
    assert seen[0] == seen[1] != seen[2] == seen[3]
    assert compared(each.drive for each in report_runs.shown(made)) == "tiny-test (also with 25 % spare)"


def test_a_fifth_run_of_a_drive_has_no_other_drives_look(tmp_path: Path) -> None:
    run = source.read_run(make_finished_run(tmp_path / "run", "peak-random-read"))
    named = [run.manifest.drive.model_copy(update={"id": f"S{at}", "name": f"Elm {at}"}) for at in range(16)]
    again = [named[0]] * 8
    shown = report_runs.shown([_of(run, drive, at) for at, drive in enumerate([*named, *again])])
    of_others = {(each.style.colour, each.style.shape) for each in shown[1:16]}
    assert not of_others & {(each.style.colour, each.style.shape) for each in (shown[0], *shown[16:])}
