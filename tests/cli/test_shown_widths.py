"""No line of `show` is wider than asked for, and every mark and every qualifier of a figure is explained."""

from __future__ import annotations

import random
import re
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from cli.resolved import legend_of
from library.made import manifest, run
from ssdlab.cli import main
from ssdlab.cli.fitting import wrapped
from ssdlab.lab.outcome import read_result
from ssdlab.lab.presented.points import figure_words
from ssdlab.results.qualifiers import CATALOGUE
from ssdlab.results.run_folder import RunFolder
from ssdlab.results.schema import Child, DriveInfo, Member, Metric
from ssdlab.results.store import find_run

CODES = (*CATALOGUE, "haunted")
NAMES = (
    "simulated samsung-883-dct-960gb, 1/64 of its size",
    "Model",
    "国产固态硬盘 企业级 3.84TB",
    "An " + "extraordinarily " * 12 + "long name",
    "x" * 150,
)
LABELS = ("random read", "random read, mean latency", "p99.99", "70/30 mix at QD 32, efficiency", "速度")
UNITS = ("IOPS", "ns", "kIOPS/W", "MB/s", "W")
NONE = ("—", list[str]())
WIDTHS = (60, 61, 72, 80, 99, 100, 132, 200)


def columns(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in text)


def child(part: str, run_id: str, *, suite: bool = False, title: str = "") -> dict[str, Any]:
    common = {"version": 1, "params": {}, "quick": True, "seed": 1, "preparation_seed": 1, "state": ""}
    return {"part": part, "run_id": run_id, "method": "qd1", "title": title, "suite": suite} | common


class Maker:
    """Makes up suites, of any number of drives, with all codes among their figures."""

    def __init__(self, library: Path, seed: int) -> None:
        self.library, self.draw, self.number = library, random.Random(seed), 0
        self.codes = list(CODES)

    def figures(self) -> list[dict[str, Any]]:
        return [
            Metric.more(
                f"a_{at}",
                label,
                None if self.draw.random() < 0.3 else 10 ** self.draw.uniform(-1, 7),
                unit,
                qualifiers=[
                    {"code": code, "why": self.draw.choice(["", "it was " + "so " * 60 + "seen", "短い理由"])}
                    for code in self.draw.sample(self.codes, self.draw.choice([0, 0, 1, 2, 4]))
                ],
            ).model_dump(mode="json")
            for at, (label, unit) in enumerate(zip(LABELS, UNITS, strict=True))
            if self.draw.random() < 0.8
        ]

    def made(self, name: str, result: dict[str, Any], **changes: Any) -> Path:
        self.number += 1
        drive = manifest(self.number, {}).drive.model_dump() | {"name": name, "text": f"/dev/{name[:90]}"}
        made = {"drive": DriveInfo(**drive), "quick": True, "result": result, **changes}
        return run(self.library, self.number, {}, **made)

    def suite(self, name: str, parts: int) -> Path:
        children, outcomes = [], []
        for at in range(parts):
            member = Member(suite="20261121-0900-qd1-000100", part=f"part-{at}", preparation_seed=1)
            result = {"kind": "of-another", "quick": True, "scalars": self.figures()}
            folder = self.made(name, result, member=member)
            children.append(Child(**child(f"part-{at}", folder.name), drive=name))
            outcomes.append(
                {"part": f"part-{at}", "run_id": folder.name, "method": "m", "title": "", "state": ""}
            )
        result = {"kind": "suite", "quick": True, "outcomes": outcomes}
        return self.made(name, result, children=tuple(children))

    def drives(self, count: int, parts: int, **changes: Any) -> Path:
        names = [self.draw.choice(NAMES) for _ in range(count)]
        suites = [self.suite(name, parts) for name in names]
        children, outcomes = [], []
        for at, (name, folder) in enumerate(zip(names, suites, strict=True), start=1):
            own = child(f"drive {at}", folder.name, suite=True, title=name)
            children.append(Child(**own, drive=f"/dev/{name[:90]}"))
            outcomes.append(
                {"part": f"drive {at}", "run_id": folder.name, "method": "m", "title": "", "state": ""}
            )
        result = {"kind": "suite", "quick": True, "outcomes": outcomes}
        return self.made("several", result, children=tuple(children), **changes)


def runs_of(folder: Path) -> list[list[RunFolder]]:
    """By column of the tables the runs whose figures stand in it."""
    whole = RunFolder(folder)
    children = [RunFolder(folder.parent / each.run_id) for each in whole.manifest.children]
    if not children:
        return [[whole]]
    if not whole.manifest.several_drives:
        return [children]
    return [[RunFolder(folder.parent / own.run_id) for own in each.manifest.children] for each in children]


def cells_of(shown: str) -> list[list[list[str]]]:
    """Tables of figures: rows of cells, headings of parts left out; the first of each is that of titles."""
    tables: list[list[list[str]]] = []
    inside = False
    for line in shown.splitlines():
        if line.startswith("figure "):
            tables.append([])
            inside = True
        inside = inside and bool(line)
        if inside:
            cells = re.split(" {2,}", line.strip())
            if len(cells) > 1 and not cells[0].startswith("part-"):
                tables[-1].append(cells)
    return tables


@pytest.mark.parametrize("seed", range(12))
def test_lines_fit_and_marks_are_explained(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    maker = Maker(tmp_path, seed)
    count = seed % 10
    folder = maker.drives(count, 1 + seed % 3) if count else maker.suite(NAMES[seed % 5], 2)
    if seed == 10:
        folder = RunFolder(folder).path.parent / RunFolder(folder).manifest.children[0].run_id
    for width in WIDTHS:
        monkeypatch.setenv("COLUMNS", str(width))
        assert main(["show", str(folder), "--all"]) == 0
        shown = capsys.readouterr().out
        assert [line for line in shown.splitlines() if columns(line) > width] == []
        legend = legend_of(shown)
        tables = cells_of(shown)
        found = [[row[at] for row in table[1:]] for table in tables for at in range(1, len(table[0]))]
        wanted = runs_of(folder)
        assert len(found) == len(wanted), "a column for each"
        seen: set[str] = set()
        for cells, runs in zip(found, wanted, strict=True):
            figures = [each for own in runs for each in _figures(own)]
            told = []
            for cell in cells:
                text, marks = re.fullmatch(r"(.+?)(?: ([a-r]+))?", cell).groups()  # type: ignore[union-attr]
                told.append((text, sorted(legend[mark].partition(":")[0] for mark in marks or "")))
                seen |= set(marks or "")
            measured = [
                (figure_words(each), sorted({one.label for one in each.qualifiers})) for each in figures
            ]
            assert len(told) >= len(measured)
            assert Counter(map(str, told)) - Counter({str(NONE): len(told)}) == Counter(map(str, measured))
        assert seen == set(legend), "no entry without a mark"


def _figures(own: RunFolder) -> list[Metric]:
    result = read_result(own)
    assert result is not None
    return [each for each in result.scalars if each.value is not None or each.qualifiers]


def test_a_pipe_gets_a_hundred_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    Maker(tmp_path, 1).drives(4, 2)
    assert main(["show", str(find_run("last", tmp_path)), "--all"]) == 0
    assert max(map(columns, capsys.readouterr().out.splitlines())) <= 100


@pytest.mark.parametrize("seed", range(50))
def test_what_is_wrapped_loses_nothing(seed: int) -> None:
    draw = random.Random(seed)
    words = ["".join(draw.choices("ab硬c", k=draw.randint(1, 90))) for _ in range(draw.randint(1, 30))]
    indent = " " * draw.randint(0, 8)
    lines = wrapped(" ".join(words), 60, indent)
    assert max(map(columns, lines)) <= 60
    assert "".join("".join(lines).split()) == "".join(words)
