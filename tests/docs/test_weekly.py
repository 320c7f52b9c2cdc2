"""The weekly tasks of docs/howto/weekly.md are done as they stand there, and do what their headings say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import openpyxl
import pytest

from report.reading import Page

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "weekly.md"
BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMMANDS = 2
"""At most, of a task."""
DRIVES = ("Kingston DC500R 3.84 TB", "Samsung 883 DCT 960 GB")
pytestmark = pytest.mark.long


def tasks() -> dict[str, list[list[str]]]:
    """The commands of each block, by the heading that it stands under; those of the beginning under none."""
    first, *sections = re.split(r"^## ", PAGE.read_text(), flags=re.MULTILINE)
    named = [("", first), *((text.partition("\n")[0], text) for text in sections)]
    return {
        title: [re.findall(r"^\$ (.*)", block, re.MULTILINE) for block in BLOCK.findall(text)]
        for title, text in named
    }


def labels(page: Path) -> set[str]:
    return {each["label"] for each in Page.of(page.read_text()).data["runs"]}


def test_ten_tasks_of_two_commands_each(scratch: Path) -> None:
    library = scratch / "data" / "ssdlab" / "runs"
    environment = os.environ | {
        "XDG_DATA_HOME": str(scratch / "data"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }

    def do(block: list[str]) -> str:
        assert 1 <= len(block) <= COMMANDS, block
        script = "\n".join((*block, 'echo "article=$article"'))
        done = subprocess.run(
            ["bash", "-euc", script],
            cwd=scratch,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{script}\n{done.stderr}"
        told, _, article = done.stdout.rpartition("article=")
        environment["article"] = article.strip()
        return told

    (begun, *found), titles = tasks().values(), list(tasks())[1:]
    assert len(found) == 10
    do(begun[0])
    before = Page.of("")
    for title, blocks in zip(titles, found, strict=True):
        told = [do(block) for block in blocks][-1]
        page = scratch / "article.html"
        match title:
            case "Add a drive to an article":
                assert labels(page) == {*DRIVES, "Samsung 983 DCT 960 GB"}
            case "Run one test again":
                replaced = Page.of(page.read_text()).text
                assert labels(page) == set(DRIVES) and "qd1" in replaced
                before = Page.of(page.read_text())
            case "Rename a drive":
                assert labels(page) == {DRIVES[0], "Samsung 883"}
            case "Charts in your colours and size":
                (picture,) = (scratch / "charts").iterdir()
                assert picture.read_bytes()[16:24] == bytes.fromhex("00000640 00000384")
            case "Numbers for a spreadsheet":
                book = openpyxl.load_workbook(scratch / "numbers.xlsx")
                heads, *rows = book["figures"].iter_rows(values_only=True)
                assert {*DRIVES, "unit", *(f"{drive}: qualifiers" for drive in DRIVES)} <= set(heads)
                assert len(rows) > 20
            case "Firmware A against B":
                assert re.search(r"firmware.*A.*B", told)
            case "Your own text":
                text = page.read_text()
                assert "<h1>Two drives for servers</h1>" in text and "<strong>until the queue is deep" in text
            case "Give the data to a friend":
                status = subprocess.run(
                    [
                        *("ssdlab", "report", Path(environment["article"]).name, "--library", "friend"),
                        "-o",
                        "x.html",
                    ],
                    cwd=scratch,
                    env=environment,
                    check=False,
                )
                assert status.returncode == 0
                friend = Page.of((scratch / "x.html").read_text())
                assert friend.data == before.data
                # Once, though each of its runs says so.
                assert friend.text.count("were redacted") == 1
            case "Only some of a review":
                charts = Page.of((scratch / "two-parts.html").read_text()).data["charts"]
                assert any(name.startswith("qd1") for name in charts)
                assert not any(name.startswith("mixed") for name in charts)
            case "Throw away junk":
                assert [*(library / ".trash").iterdir()]
            case _:
                raise AssertionError(title)
