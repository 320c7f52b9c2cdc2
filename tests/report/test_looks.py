"""Looks of drives: any two differ by colour, to readers who do not see all colours, or by marker.

Colour differences are CIEDE2000 (CIE 142-2001; Sharma, Wu and Dalal, 2005), colour vision deficiencies those
of Machado, Oliveira and Fernandes (2009) at full strength, contrast that of WCAG 2.
"""

from __future__ import annotations

import random
import re
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from lab.synthetic import make_finished_run
from ssdlab.drives.simulated.drive import SimulatedText, identity_of
from ssdlab.report import runs as report_runs
from ssdlab.report import source
from ssdlab.report.drive_count import compared
from ssdlab.report.looks import COLOURS, NEAR, SHAPES, looks_of
from ssdlab.results.schema import DriveInfo, Member, VariantInfo

Vector = npt.NDArray[np.float64]
CSS = Path(__file__).parents[2] / "web" / "src" / "page.css"
APART = 10.0
CONTRAST = 3.0
LOOKS = 32
VISIONS = {
    "all colours": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)


def themes() -> dict[str, dict[str, str]]:
    """Colours of both themes, by their names."""
    light, dark = CSS.read_text().split("prefers-color-scheme: dark", 1)
    found = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", light))
    return {
        "light": found,
        "dark": found | dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", dark.split("\n}", 1)[0])),
    }


def linear(colour: str) -> Vector:
    """Linear sRGB of a colour."""
    parts = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(rgb: Vector) -> Vector:
    """CIELAB, D65."""
    share = (XYZ @ np.clip(rgb, 0, 1)) / XYZ.sum(axis=1)
    root = np.where(share > 216 / 24389, np.cbrt(share), (24389 / 27 * share + 16) / 116)
    return np.array([116 * root[1] - 16, 500 * (root[0] - root[1]), 200 * (root[1] - root[2])])


def difference(one: Vector, other: Vector) -> float:
    """CIEDE2000 of two colours in CIELAB."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    chroma = (np.hypot(a1, b1) + np.hypot(a2, b2)) / 2
    stretch = 1 + 0.5 * (1 - np.sqrt(chroma**7 / (chroma**7 + 25.0**7)))
    a1, a2 = stretch * a1, stretch * a2
    c1, c2 = np.hypot(a1, b1), np.hypot(a2, b2)
    h1, h2 = np.degrees(np.arctan2(b1, a1)) % 360, np.degrees(np.arctan2(b2, a2)) % 360
    turn = 0.0 if c1 * c2 == 0 else (h2 - h1 + 180) % 360 - 180
    hue = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn) / 2)
    light, c = (l1 + l2) / 2, (c1 + c2) / 2
    h = h1 + h2 if c1 * c2 == 0 else (h1 + turn / 2) % 360
    t = (
        1
        - 0.17 * np.cos(np.radians(h - 30))
        + 0.24 * np.cos(np.radians(2 * h))
        + 0.32 * np.cos(np.radians(3 * h + 6))
        - 0.20 * np.cos(np.radians(4 * h - 63))
    )
    turned = 30 * np.exp(-(((h - 275) / 25) ** 2))
    crossed = -2 * np.sqrt(c**7 / (c**7 + 25.0**7)) * np.sin(np.radians(2 * turned))
    dl = (l2 - l1) / (1 + 0.015 * (light - 50) ** 2 / np.sqrt(20 + (light - 50) ** 2))
    dc, dh = (c2 - c1) / (1 + 0.045 * c), hue / (1 + 0.015 * c * t)
    return float(np.sqrt(dl**2 + dc**2 + dh**2 + crossed * dc * dh))


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [  # of Sharma, Wu and Dalal's table 1: rows 1, 7, 17, 25 and 34
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, 0, 0), (50, -1, 2), 2.3669),
        ((50, 2.5, 0), (73, 25, -18), 27.1492),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
        ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
    ],
)
def test_the_measure_is_that_of_its_authors(
    one: tuple[float, ...], other: tuple[float, ...], apart: float
) -> None:
    assert difference(np.array(one), np.array(other)) == pytest.approx(apart, abs=1e-4)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("vision", VISIONS)
def test_any_two_colours_are_told_apart(theme: str, vision: str) -> None:
    palette = [linear(themes()[theme][f"drive-{at}"]) for at in range(COLOURS)]
    seen = [lab(VISIONS[vision] @ colour) for colour in palette]
    assert min(difference(one, other) for one, other in combinations(seen, 2)) >= APART


def apart(one: int, other: int) -> float:
    """The least difference of two colours of the palette, to any reader, in either theme."""
    return min(
        difference(*(lab(VISIONS[vision] @ linear(theme[f"drive-{at}"])) for at in (one, other)))
        for theme in themes().values()
        for vision in VISIONS
    )


def test_the_near_colours_are_those_that_some_reader_hardly_tells_apart() -> None:
    assert {pair for pair in combinations(range(COLOURS), 2) if apart(*pair) < 20.0} == NEAR


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_colour_stands_out_from_the_paper(theme: str) -> None:
    def light(colour: str) -> float:
        return float(XYZ[1] @ linear(colour)) + 0.05

    found = themes()[theme]
    paper = light(found["paper"])
    drawn = [light(found[f"drive-{at}"]) for at in range(COLOURS)]
    assert min(max(each, paper) / min(each, paper) for each in drawn) >= CONTRAST


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
        least = min(apart(one[0], other[0]) for one, other in combinations(found, 2) if one[1] == other[1])
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
