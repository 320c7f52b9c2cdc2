"""What an editor says of a page when its runs are done."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from report.reading import Page
from ssdlab.cli import main
from ssdlab.model.errors import UsageError
from ssdlab.report import page, source
from ssdlab.report.edition import Edition, html_of, names_of, texts_of
from ssdlab.report.runs import shown
from ssdlab.report.source import Run

Make = Callable[..., Path]


@pytest.fixture
def runs(make_run: Make) -> list[Run]:
    drives = ({"id": f"S{at}", "name": f"Elm {at}", "kind": "block"} for at in (1, 2))
    return [source.read_run(make_run(drive=each)) for each in drives]


def test_title_and_names_are_the_editors_and_stay_text(runs: list[Run]) -> None:
    html = page.render(runs, Edition(title="Fast & <b>", names={"S2": "The <i>other</i>"}))
    assert "<h1>Fast &amp; &lt;b&gt;</h1>" in html
    found = Page.of(html)
    assert "The <i>other</i>" in found.text and "Elm 1" in found.text
    assert not re.search(r">\s*Elm 2\s*<", html.partition('id="origin"')[0]), "provenance keeps its own name"
    assert "i" not in found.tags


def test_a_record_names_the_drive_when_the_page_is_made(
    make_run: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    drive = {"id": "S1", "name": "ELM-00A07", "kind": "block", "identity": {"model": "ELM-00A07"}}
    run = source.read_run(make_run(drive=drive))
    assert shown([run])[0].label == "ELM-00A07"
    (tmp_path / "ssdlab" / "drives").mkdir(parents=True)
    (tmp_path / "ssdlab" / "drives" / "elm.toml").write_text('model = "ELM-00A07"\nname = "Elm 7"\n')
    assert shown([run])[0].label == "Elm 7"
    assert shown([run], {"S1": "Mine"})[0].label == "Mine"


def test_a_text_stands_with_its_part_and_fetches_nothing(runs: list[Run]) -> None:
    text = "## Why\n\nIt *is* `4 KiB`. <script>x</script> ![p](http://a/x.png) [l](javascript:x)\n"
    html = page.render(runs, Edition(texts={"peak-random-read-throughput": text}))
    told = html[html.index('<figure id="peak-random-read-throughput"') :].partition("</figcaption>")[0]
    assert "<h4>Why</h4>" in told and "<em>is</em>" in told and "<code>4 KiB</code>" in told
    assert "&lt;script&gt;" in told and "<img" not in told and 'href="javascript' not in told


@pytest.mark.parametrize(
    ("edition", "says"),
    [
        (Edition(names={"S3": "x"}), "no drive 'S3'"),
        (Edition(texts={"peak-randm-read": "x"}), "no part of the page 'peak-randm-read'"),
    ],
)
def test_what_the_page_does_not_have_is_named(runs: list[Run], edition: Edition, says: str) -> None:
    with pytest.raises(UsageError) as refused:
        page.render(runs, edition)
    assert says in refused.value.what and refused.value.advice


def test_a_name_may_have_an_identifier_with_an_equals_sign() -> None:
    assert names_of(["sim:tiny-test,scale=4=Tiny"]) == {"sim:tiny-test,scale=4": "Tiny"}
    for given in (["x"], ["=x"], ["x="], ["a=1", "a=2"], ["a=1", "b=1"]):
        with pytest.raises(UsageError):
            names_of(given)


def test_a_text_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "binary.md").write_bytes(b"\xff\xfe")
    for name in ("none.md", "binary.md"):
        with pytest.raises(UsageError):
            texts_of([f"qd1={tmp_path / name}"])


def test_tags_of_markdown_are_text() -> None:
    assert html_of("<b>x</b>") == "<p>&lt;b&gt;x&lt;/b&gt;</p>\n"


def test_another_declaration_names_the_page_and_its_chapters(
    make_run: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_run()
    text = """schema = "ssdlab.review/1"
name = "mine"
title = "Mine"
tiles = ["peak_random_read_p99_ns"]
[[chapter]]
title = "Reads"
[[part]]
method = "peak-random-read"
begins = "written"
chapter = "Reads"
"""
    (tmp_path / "mine.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    assert main(["report", str(folder), "--declaration", "mine.toml"]) == 0
    html = (tmp_path / f"{folder.name}.html").read_text()
    assert "<h1>Mine</h1>" in html and re.search(r"<h2>Reads\b", html)
    assert re.search(r"lacking[^\n]*: peak_random_read_p99_ns\.", html), "no run of it has that"
    (tmp_path / "mine.toml").write_text(text.replace("tiles", "tlies"))
    capsys.readouterr()
    assert main(["report", str(folder), "--declaration", "mine.toml"]) == 2
    assert "tlies" in (said := capsys.readouterr().err) and "mine.toml" in said
    named = text.replace('title = "Reads"', 'title = "Reads"\ncharts = ["peak-random-read-thrughput", "act"]')
    (tmp_path / "mine.toml").write_text(named)
    assert main(["report", str(folder), "--declaration", "mine.toml"]) == 2
    assert "peak-random-read-throughput" in capsys.readouterr().err, "the nearest; act was not run here"
