"""`ssdlab figures`: pictures that are complete in themselves, in files."""

from __future__ import annotations

import json
import re
import struct
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest

from conftest import tool
from report.conftest import invented
from ssdlab.cli import main
from ssdlab.report import gallery, source
from ssdlab.report.charts import Axis, Bar, BarGroup, BarsChart, BarsView, SeriesChart
from ssdlab.report.heads import heads_of
from ssdlab.report.page import contents
from ssdlab.report.pictures import Painter, Pressed
from ssdlab.report.runs import Shown
from ssdlab.report.view import Figure, Section

pytestmark = pytest.mark.long

SERIES = "Northwind Enterprise Data Centre Series NX"
NAMES = [f"{SERIES}{4100 + 17 * at} 3.84 TB" for at in range(8)]


@pytest.fixture(scope="module")
def eight(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Runs of eight drives whose names share 42 letters."""
    folder = tmp_path_factory.mktemp("eight")
    return [
        invented(
            folder / str(at),
            "peak-random-read",
            seed=at + 1,
            drive={"id": f"SN{at}", "name": name, "kind": "block", "identity": {"kind": "block"}},
        )
        for at, name in enumerate(NAMES)
    ]


def ssdlab(*words: object) -> int:
    return main([str(word) for word in words])


def words_of(svg: Path) -> str:
    """All text of a picture, but not its description."""
    return " ".join(
        text.text or "" for text in ElementTree.parse(svg).iter("{http://www.w3.org/2000/svg}text")
    )


def test_a_picture_says_all_that_it_needs(eight: list[Path], tmp_path: Path) -> None:
    assert ssdlab("figures", *eight, "-o", tmp_path / "svg", "--format", "svg") == 0
    files = sorted((tmp_path / "svg").iterdir())
    assert len(files) > 4
    for file in files:
        words = words_of(file)
        for needed in (*NAMES, "peak random read", "peak-random-read v1", "ssdlab 0.1.0", "2026-11-21"):
            assert needed in words, (file.name, needed)


def test_the_same_runs_give_the_same_bytes(eight: list[Path], tmp_path: Path) -> None:
    """In any order of the pictures: what one was drawn before leaves no trace in the next."""
    runs = [source.read_run(run) for run in eight]
    whole = {one.name: one.path for one in gallery.write_pictures(runs, tmp_path / "a", kind="svg")}
    for name, path in reversed(whole.items()):
        (again,) = gallery.write_pictures(runs, tmp_path / "b", kind="svg", names=[name])
        assert again.path.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("size", ["1200x675", "2000x900"])
def test_a_png_has_the_size_asked_for(eight: list[Path], tmp_path: Path, size: str) -> None:
    assert (
        ssdlab("figures", *eight, "-o", tmp_path, "--chart", "peak-random-read-throughput", "--size", size)
        == 0
    )
    (file,) = tmp_path.iterdir()
    content = file.read_bytes()
    assert content.startswith(b"\x89PNG")
    assert "x".join(map(str, struct.unpack(">II", content[16:24]))) == size


def test_eight_alike_names_are_read_off_the_picture(eight: list[Path], tmp_path: Path) -> None:
    """By optical character recognition, at the size of a social network's card."""
    program = tool("tesseract", "tesseract-ocr")
    chart = "peak-random-read-bars"
    assert ssdlab("figures", *eight, "-o", tmp_path, "--chart", chart, "--size", "1200x675") == 0
    line = [program, tmp_path / f"{chart}.png", "-", "--psm", "11"]
    read = subprocess.run(line, capture_output=True, text=True, check=True).stdout
    assert {at for at in range(8) if f"NX{4100 + 17 * at}" in read} == set(range(8))


def test_words_stay_words_in_a_pdf(eight: list[Path], tmp_path: Path) -> None:
    program = tool("pdftotext", "poppler-utils")
    assert ssdlab("figures", *eight, "-o", tmp_path, "--format", "pdf") == 0
    for file in tmp_path.iterdir():
        text = subprocess.run([program, file, "-"], capture_output=True, text=True, check=True).stdout
        assert set(NAMES) <= set(re.findall(rf"{SERIES}\d+ 3\.84 TB", text)), file.name


def test_a_chart_that_there_is_not_is_refused_with_the_list(
    eight: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ssdlab("figures", eight[0], "-o", tmp_path / "new", "--chart", "peak-random-read-bar") == 2
    said = capsys.readouterr().err
    assert "there is no chart 'peak-random-read-bar'" in said
    assert "peak-random-read-bars" in said
    assert "peak-random-read-over-time" in said
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ((), "no run is named"),
        (("--size", "12x3"), "is not a picture size"),
        (("--size", "90000x90000"), "is not a picture size"),
    ],
)
def test_bad_input_says_what_and_what_to_do(
    eight: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], what: str
) -> None:
    assert ssdlab("figures", *(eight[:1] if words else ()), "-o", tmp_path, *words) == 2
    first, second, *more = capsys.readouterr().err.splitlines()
    assert what in first
    assert second.strip()
    assert not more


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_pictures_of_ours_are_replaced_and_nothing_else(eight: list[Path], tmp_path: Path, kind: str) -> None:
    line = ["figures", eight[0], "-o", tmp_path, "--chart", "peak-random-read-bars", "--format", kind]
    file = tmp_path / f"peak-random-read-bars.{kind}"
    assert ssdlab(*line) == 0
    before = file.read_bytes()
    assert ssdlab(*line) == 0
    assert file.read_bytes() == before
    file.write_bytes(b"\x89PNG\r\n\x1a\n a holiday")
    assert ssdlab(*line) == 2
    assert file.read_bytes() == b"\x89PNG\r\n\x1a\n a holiday"


def test_every_view_is_a_file_of_its_own(
    make_run: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = make_run("qd1")
    assert ssdlab("figures", run, "-o", tmp_path, "--format", "svg", "--every-view", "--json") == 0
    found = [each["chart"] for each in json.loads(capsys.readouterr().out)["pictures"]]
    _, sections = gallery.contents([source.read_run(run)])
    for figure in (figure for section in sections for figure in section.figures):
        chart = figure.chart
        if isinstance(chart, SeriesChart):
            assert found.count(figure.id) == len(chart.choices) * len(chart.measures)
        else:
            assert found.count(figure.id) == len(chart.views)
        assert isinstance(chart, BarsChart) == figure.id.endswith("bars")


def test_what_is_not_installed_is_said(
    eight: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ssdlab.report.engine.find_spec", lambda name: None)
    assert ssdlab("figures", eight[0], "-o", tmp_path) == 2
    assert "pip install 'ssdlab[figures]'" in capsys.readouterr().err


def test_a_view_names_the_runs_and_methods_that_it_draws(tmp_path: Path) -> None:
    """A time line is of one run; that of a review named all runs, and counted all methods."""
    runs = [
        source.read_run(invented(tmp_path / f"{method}{at}", method, seed=at + 1, drive={"id": f"SN{at}"}))
        for at in range(2)
        for method in ("peak-random-read", "qd1")
    ]
    placed, _ = contents(runs)
    y = Axis("MB/s", "mb_s")
    each = [Bar(one.index, 100.0, "") for one in placed]
    views = [BarsView("", y, "higher", (BarGroup("", bars),)) for bars in [(one,) for one in each]]
    every = BarsView("", y, "higher", (BarGroup("", tuple(each)),))
    for drawn, all_of in (((*views, every), each), (tuple(views[:2]), each[:2])):
        figure = Figure("line", "Line", "", "", BarsChart(drawn), (), ())
        (head,) = heads_of([Section("drive", "Drive", (), (), (figure,))], placed).values()
        painter = Painter([one.style for one in placed])
        for one, view in zip(placed, drawn[: len(all_of)], strict=False):
            at = Pressed(drawn.index(view))
            words = re.findall(r"<text[^>]*>([^<]*)</text>", painter.svg(figure.chart, head, at))
            manifest = one.run.manifest
            assert words[-1].endswith(f"; run {manifest.run_id}")
            assert any(f"{manifest.method.name} v{manifest.method.version} · " in text for text in words)
        named = [end for end in _ends(placed) if end in head.footer]
        assert named == _ends(placed)[: len(all_of)]


def _ends(placed: Sequence[Shown]) -> list[str]:
    return [one.run.manifest.run_id.rpartition("-")[2] for one in placed]
