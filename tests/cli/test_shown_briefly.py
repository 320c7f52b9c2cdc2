"""`show` fits a screen: at most six figures with their legend, alarms, and how to see the rest."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cli.resolved import legend_of
from cli.test_shown_widths import NAMES, Maker, columns
from library.made import run
from methods.quick_runs import METHODS, QuickRun
from ssdlab.cli import main
from ssdlab.lab.outcome import read_result
from ssdlab.lab.presented.points import figure_words
from ssdlab.model.printable import plain_drive
from ssdlab.model.warning_texts import CATALOGUE, level_of
from ssdlab.model.warnings import Warning as Told
from ssdlab.results.qualifiers import CATALOGUE as QUALIFIERS
from ssdlab.results.run_folder import RunFolder
from ssdlab.results.schema import Warned

LINES, FIGURES = 40, 6
Captured = pytest.CaptureFixture[str]


def shown(folder: Path, capsys: Captured) -> str:
    capsys.readouterr()
    assert main(["show", str(folder)]) in (0, 1)
    return capsys.readouterr().out


def rows_of(out: str) -> dict[str, list[str]]:
    """By label the cells of figures, of all tables one behind the other."""
    found: dict[str, list[str]] = {}
    inside = False
    for line in out.splitlines():
        label, *cells = re.split(" {2,}", line)
        inside = (inside and bool(line)) or label == "figure"
        if inside and label not in ("figure", "run"):
            found.setdefault(label, []).extend(cells)
    return found


def check_screen(out: str, width: int) -> None:
    """As many lines and figures as are promised; each mark is explained, and nothing else is."""
    lines = out.splitlines()
    assert len(lines) <= LINES and max(map(columns, lines)) <= width
    rows = rows_of(out)
    assert len(rows) <= FIGURES
    marks = {mark for cells in rows.values() for cell in cells for mark in _marks(cell)}
    assert marks == set(legend_on(out))


def legend_on(out: str) -> dict[str, str]:
    """By mark its label: of few marks with a sentence, of many in one paragraph."""
    if few := legend_of(out):
        return {mark: entry.partition(":")[0] for mark, entry in few.items()}
    block = next((each for each in out.split("\n\n") if each.startswith("a  ")), "")
    legend = dict(each.split(" ", 1) for each in " ".join(block.split()).split("; ") if each)
    assert set(legend.values()) <= {kind.label for kind in QUALIFIERS.values()}
    return legend


def _marks(cell: str) -> str:
    found = re.fullmatch(r".+ ([a-p]+)", cell)
    return "" if found is None else found[1]


@pytest.mark.parametrize("width", [80, 100])
@pytest.mark.parametrize("name", METHODS)
def test_every_method_fits_a_screen(
    name: str, width: int, quick_run: QuickRun, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    own = quick_run(name)
    out = shown(own.path, capsys)
    check_screen(out, width)
    result = read_result(own)
    assert result is not None
    words = {figure_words(each) for each in result.scalars}
    for cells in rows_of(out).values():
        assert re.sub(" [a-p]+$", "", cells[0]) in words


@pytest.mark.parametrize("width", [80, 100])
@pytest.mark.parametrize("seed", range(8))
def test_reviews_fit_a_screen_and_name_their_drives(
    seed: int, width: int, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    maker, count = Maker(tmp_path, seed), seed % 5
    folder = maker.drives(count, 4) if count else maker.suite(NAMES[seed % 5], 8)
    out = shown(folder, capsys)
    check_screen(out, width)
    assert "drive 1" not in out
    children = RunFolder(folder).manifest.children if count else ()
    for each in children:
        word = plain_drive(each.title).split()[0].partition("-")[0]
        assert word[:14] in out and each.run_id[-6:] in out


def test_the_figures_of_a_review_are_its_tiles(tmp_path: Path, capsys: Captured) -> None:
    folder = Maker(tmp_path, 4).drives(2, 1, review={"tiles": ["a_3", "a_0"]})
    suites = [RunFolder(tmp_path / each.run_id) for each in RunFolder(folder).manifest.children]
    results = [read_result(RunFolder(tmp_path / own.manifest.children[0].run_id)) for own in suites]
    having = [{each.name: each for each in result.scalars} for result in results if result is not None]
    labels = [
        next(own[name].label for own in having if name in own)
        for name in ("a_3", "a_0")
        if any(name in own and (own[name].value is not None or own[name].qualifiers) for own in having)
    ]
    assert len(labels) == 2
    assert list(rows_of(shown(folder, capsys))) == labels


def test_what_merely_is_so_is_no_alarm(tmp_path: Path, capsys: Captured) -> None:
    notes = {code for code, entry in CATALOGUE.items() if entry.level == "note"}
    assert {"drive-queue", "few-samples"} <= notes and not notes & {"throttled", "failed", "paused"}
    assert level_of("of-a-later-ssdlab") == "alarm"
    told = [
        Told.of("few-samples", count="7 reads"),
        Told.of("governor", governor="powersave"),
        Told.of("drive-queue", in_flight="64 I/Os", limit=32),
    ]
    warned = tuple(Warned(code=each.code, what=each.what) for each in told)
    result = {"kind": "of-another", "quick": False, "scalars": []}
    folder = run(tmp_path, 1, {}, result=result, warnings=warned)
    out = shown(folder, capsys)
    assert out.count("warning:") == 1 and told[1].what in out
    assert told[0].what not in out and "2 notes" in out
    assert main(["show", str(folder), "--all"]) == 0
    lines = [" ".join(part.split()) for part in re.split(r"^(?=\w+: )", capsys.readouterr().out, flags=re.M)]
    for each in told:
        kind = {"alarm": "warning", "note": "note"}[level_of(each.code)]
        assert f"{kind}: {each.what}" in lines
