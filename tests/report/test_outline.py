"""Verdict, tiles, claims and tables of a page, walked and held equal to the manifests that it was made of."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from report.browser import Browser
from report.reading import Page, untied
from ssdlab.analysis.places import LEVEL
from ssdlab.cli import main
from ssdlab.model.errors import UsageError
from ssdlab.model.units import figure_text
from ssdlab.report import outline, page, source
from ssdlab.report.charts import BarsChart
from ssdlab.report.claims import UserClaim, parse_bound, read_claims
from ssdlab.report.outline import Chapter, Outline, _leading
from ssdlab.report.runs import shown
from ssdlab.report.sections.claims import Judged, judged
from ssdlab.report.sections.provenance import _of_one_kind
from ssdlab.report.standings import standings
from ssdlab.report.view import Figure, Section, Sheet
from ssdlab.results.metric import Qualifier
from ssdlab.results.records import StepResult
from ssdlab.results.run_folder import RunFolder, Step
from ssdlab.results.store import find_run
from suites.made import reads_part

IOPS = "peak_random_read_iops"
DRIVES = ("sim:nvme-tlc-enterprise,scale=64", "sim:nvme-tlc-client,scale=64")
REVIEW = f"""
schema = "ssdlab.review/1"
name = "two"
title = "Two & <drives>"
tiles = ["peak_random_read_iops", "peak_random_read_w"]

[[chapter]]
title = "Second <b>"

[[chapter]]
title = "First"
text = "A sentence."
{reads_part("First")}
[[part]]
method = "peak-sequential-read"
begins = "written"
chapter = "Second <b>"
inferred = ["depths"]
set = {{ fill = true, depths = [1, 2], seconds = 0.2, ramp_seconds = 0 }}

[[drive]]
name = "Z <script>"
absent = "nobody made one"
"""
CLAIMS = """
[[claim]]
sentence = "It reads at random. <i>"
figure = "peak_random_read_iops"
bound = "at least 1"

[[claim]]
sentence = "It reads a billion times."
figure = "peak_random_read_iops"
bound = "over 1000M"

[[claim]]
sentence = "It writes."
figure = "steady_random_write_iops"
bound = "at least 1"
"""


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A comparison of two drives."""
    folder = tmp_path_factory.mktemp("outline")
    (folder / "two.toml").write_text(REVIEW)
    assert main(["run", str(folder / "two.toml"), *DRIVES, "--library", str(folder / "library")]) == 0
    return find_run("last", folder / "library")


@pytest.fixture(scope="module")
def written(compared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    (folder / "claims.toml").write_text(CLAIMS)
    path = folder / "two.html"
    assert main(["report", str(compared), "-o", str(path), "--claims", str(folder / "claims.toml")]) == 1
    return path


@pytest.mark.long
def test_the_command_marks_claims_as_the_page_does(
    compared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    claims, page = tmp_path / "claims.toml", tmp_path / "two.html"
    claims.write_text(CLAIMS)
    words = ["report", str(compared), "-o", str(page), "--claims", str(claims)]
    assert main(words) == 1, "one is false"
    told = [line.partition(":")[0] for line in capsys.readouterr().out.splitlines()[1:]]
    assert told == ["true", "false", "not measured"]
    assert main([*words, "--json"]) == 1
    stored = json.loads(capsys.readouterr().out)["claims"]
    assert [each["mark"] for each in stored] == told
    assert all(each["found"] in unescape(page.read_text()) for each in stored)
    claims.write_text(CLAIMS.replace("over 1000M", "over 1"))
    assert main(words) == 0


def manifests(compared: Path) -> list[dict[str, Any]]:
    """Manifests of the runs, in the order of the page."""
    found = []
    for child in RunFolder(compared).manifest.children:
        suite = RunFolder(compared.parent / child.run_id)
        for part in suite.manifest.children:
            found.append(json.loads((compared.parent / part.run_id / "manifest.json").read_text()))
    return found


def scalars(manifest: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in manifest["result"]["scalars"]}


def test_a_declared_review_has_the_title_that_it_was_given(written: Path) -> None:
    html = written.read_text()
    assert "<h1>Two &amp; &lt;drives&gt;</h1>" in html
    (subtitle,) = re.findall(r'<p class="line"><span>(.*?)</span>', html)
    assert "TLC NVMe enterprise" in subtitle and "TLC NVMe client" in subtitle


def test_tiles_are_the_figures_of_the_manifests_best_first(compared: Path, written: Path) -> None:
    html, runs = untied(written.read_text()), manifests(compared)
    tiles = re.findall(r'<span class="value" data-figure="([^"]+)" data-run="(\d+)">([^<]*)</span>', html)
    assert tiles
    for name, run, text in tiles:
        figure = scalars(runs[int(run)])[name]
        assert figure_text(figure["value"], figure["unit"]).startswith(unescape(text)), (name, run)
    first = [(int(run), name) for name, run, _ in tiles if name == "peak_random_read_iops"]
    values = [scalars(runs[run])[name]["value"] for run, name in first]
    assert len(values) == 2 and values == sorted(values, reverse=True)
    assert next(name for name, *_ in tiles) == "peak_random_read_iops", "what the review asks for comes first"


def test_a_tile_that_no_run_has_is_said(compared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = ["peak_random_read_iops", "mixed_random_qd<32>_mb_s"]
    monkeypatch.setattr(outline, "_review", lambda runs: {"tiles": wanted})
    html = page.render([source.read(compared)])
    (said,) = re.findall(r'<p class="lacking lead">([^\n]*)</p>', html)
    assert "mixed_random_qd&lt;32&gt;_mb_s" in said and "peak_random_read" not in said


def test_a_figure_beside_another_is_a_tile_where_the_review_asks_for_it(
    compared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outline, "_review", lambda runs: {"tiles": ["peak_random_read_p99_ns"]})
    html = page.render([source.read(compared)])
    assert 'class="lacking' not in html
    assert html.count('data-figure="peak_random_read_p99_ns" data-run=') == len(DRIVES)


def test_headings_name_the_method_as_pictures_do_and_no_two_are_equal(written: Path) -> None:
    """A chart cut out of the page was one of six called 'Efficiency and power'."""
    html = written.read_text()
    headings = re.findall(r"<figcaption>\s*<h3>(.*?) <a", html)
    assert len(headings) == len(set(headings)) > 1
    heads = Page.of(html).data["heads"]
    assert {unescape(each) for each in headings} == {each["title"] for each in heads.values()}


def test_what_few_readers_need_is_closed_on_a_page_of_several_drives(written: Path) -> None:
    html = written.read_text()
    closed = re.findall(r"<details[^>]*><summary>(.*?)</summary>", html)
    assert "Parts of the review" in closed
    assert "Where these numbers come from, and how they were measured" in closed


def test_what_was_found_stands_beside_each_drive_once(compared: Path, written: Path) -> None:
    html = written.read_text()
    tables = re.findall(r'<div class="common">(.*?)</table>', html, re.S)
    assert len(tables) >= 2
    assert all(table.count('<td><span class="run">') == len(DRIVES) for table in tables)
    for part in re.findall(r'<dl class="findings">(.*?)</dl>', html, re.S):
        names = [
            unescape(re.sub("<[^>]*>", "", each)).strip() for each in re.findall("<dt>(.*?)</dt>", part, re.S)
        ]
        assert len(names) == len(set(names)) <= len(DRIVES)
        assert not any("simulated" in text for text in re.findall("<dd>(.*?)</dd>", part, re.S))


def test_steps_of_one_kind_stand_once_and_those_that_differ_by_their_seeds_alone_too() -> None:
    def step(ordinal: int, seed: int, **stream: object) -> Step:
        args = {"workload": {"seed": seed, "streams": [stream]}}
        return Step(ordinal, 1, "run", f"round {ordinal}", args, StepResult(seconds=1.0))

    steps = [step(0, 7, depth=1), step(1, 8, depth=2), step(2, 9, depth=1), step(3, 9, depth=1, think=2)]
    found = [[[one.ordinal for one in alike] for alike in kind] for kind in _of_one_kind(steps)]
    assert found == [[[0, 2], [1]], [[3]]]


def test_what_is_inferred_stands_with_how_it_was_measured(written: Path) -> None:
    html = written.read_text()
    section = html[html.index('<section id="peak-sequential-read"') :].partition("</section>")[0]
    assert "parameters of peak-sequential-read: depths" in section.partition("How it was measured")[2]
    assert html.count("parameters of peak-sequential-read: depths") == 1


def test_the_top_names_who_leads(compared: Path, written: Path) -> None:
    html, runs = untied(written.read_text()), manifests(compared)
    told = " ".join(re.findall(r'<p class="verdict">(.*?)</p>', html))
    iops = [scalars(run)[IOPS]["value"] for run in runs if IOPS in scalars(run)]
    apart = max(iops) / min(iops) - 1
    assert ("are tied (" if apart < LEVEL else "leads in") in told


def test_claims_are_true_false_or_not_measured(written: Path) -> None:
    html = written.read_text()
    marks = re.findall(r'<li class="[^"]+" data-figure="([^"]+)"><b>([^<]+)</b> ([^\n]*)', html)
    assert [(name, mark) for name, mark, _ in marks] == [
        ("peak_random_read_iops", "true"),
        ("peak_random_read_iops", "false"),
        ("steady_random_write_iops", "not measured"),
    ]
    assert unescape(marks[0][2]) == "It reads at random. <i>" and "<i>" not in marks[0][2]


@pytest.mark.parametrize(
    ("drive", "figure", "says"),
    [
        (
            "elm",
            "peak_random_read_iops",
            "no drive on this page is called 'elm'; the drives are: TLC NVMe enterprise",
        ),
        (None, "steady_random_write_iops", "no run on this page has a value for it"),
        (None, "fill_mb_s", "no run on this page has a value for it"),
    ],
)
def test_a_claim_that_is_not_measured_says_what_the_page_lacks(
    compared: Path, drive: str | None, figure: str, says: str
) -> None:
    claim = UserClaim(sentence="x", figure=figure, bound="over 1", drive=drive)
    ((one,), _) = _claims_of(compared, claim)
    assert one.mark == "not measured" and one.found.startswith(says)


def test_a_claim_is_of_one_drive_and_not_of_its_variants(compared: Path) -> None:
    ours = source.read(compared).runs[:1]  # type: ignore[union-attr]
    (one,) = shown(ours)
    name = one.run.result.scalars[0].name

    def marked(drive: str, *labels: str) -> Judged:
        runs = [
            replace(
                one,
                style=replace(one.style, label=label),
                drive=one.drive.model_copy(update={"id": label}),
            )
            for label in labels
        ]
        claim = UserClaim(sentence="x", figure=name, bound="at least 1", drive=drive)
        (found,) = judged([claim], runs, {})
        return found

    assert marked("OAK", "Oak", "Oak with 25 % spare").found.startswith("Oak: ")
    several = marked("oak", "Red Oak", "White Oak")
    assert several.mark == "not measured"
    assert several.found == "'oak' matches several drives on this page: Red Oak; White Oak"


def test_a_claim_is_judged_of_the_run_of_its_drive_that_has_the_figure(compared: Path) -> None:
    """Of two columns of a drive it was judged of the first alone, or said to fit several drives."""
    (one,) = shown(source.read(compared).runs[:1])  # type: ignore[union-attr]
    first = one.run.result.scalars[0]

    def found(*values: float | None) -> Judged:
        runs = [
            replace(
                one,
                style=replace(one.style, label=f"Oak · {at}"),
                run=replace(
                    one.run,
                    result=one.run.result.model_copy(
                        update={"scalars": (first.model_copy(update={"value": value}),)}
                    ),
                ),
            )
            for at, value in enumerate(values)
        ]
        claim = UserClaim(sentence="x", figure=first.name, bound="at least 10", drive="oak")
        (judged_one,) = judged([claim], runs, {})
        return judged_one

    later = found(None, 20.0)
    assert later.mark == "true" and later.found.startswith("Oak · 1: ")
    alike, unlike = found(20.0, 30.0), found(20.0, 5.0)
    assert alike.mark == unlike.mark == "true"
    assert "Oak · 1" not in alike.found and "; but Oak · 1: " in unlike.found
    assert found(None, None).mark == "not measured"


def test_a_claim_on_a_figure_that_does_not_stand_is_not_measured(compared: Path) -> None:
    """It was true of ACT 20x (not judged), and of writes whose steady state was not shown."""
    ours = source.read(compared).runs[:1]  # type: ignore[union-attr]
    result = ours[0].result
    name, value = result.scalars[0].name, result.scalars[0].value
    claim = UserClaim(sentence="x", figure=name, bound="at least 1")

    def marked(*codes: str) -> Judged:
        figure = result.scalars[0].resting(qualifiers=tuple(Qualifier(code=code) for code in codes))
        run = replace(ours[0], result=result.model_copy(update={"scalars": (figure,)}))
        (one,) = judged([claim], shown([run]), {})
        return one

    assert value is not None and marked("placed").mark == "true", "that forbids nothing"
    doubtful = marked("not-judged")
    assert doubtful.mark == "not measured"
    assert "(not judged)" in doubtful.found


@pytest.mark.parametrize(
    ("bound", "value", "unit", "says", "keeps"),
    [
        ("at least 490", 489.975, "MB/s", "489.98 MB/s", False),
        ("under 285MB/s", 284.849, "MB/s", "284.8 MB/s", True),
        ("under 285MB/s", 300.0, "MB/s", "300 MB/s", False),
        ("over 90k", 90_004.0, "IOPS", "90.004k IOPS", True),
        ("at most 0.5ms", 500_020.0, "ns", "500.02 µs", False),
        ("at most 1", 1.0004, "W", "1.0004 W", False),
        ("under 5", 4.9996, "s", "4.9996 s", True),
        ("at least 0.3ms", 300_000.00000000006, "ns", "300 µs", True),
    ],
)
def test_a_figure_near_its_bound_has_digits_that_tell_them_apart(
    bound: str, value: float, unit: str, says: str, keeps: bool
) -> None:
    found = parse_bound(bound)
    assert (found.beside(value, unit), found.keeps(value, unit)) == (says, keeps)


def test_a_claim_about_a_figure_that_no_method_has_is_refused(compared: Path) -> None:
    claim = UserClaim(sentence="x", figure="peak_randm_read_iops", bound="over 1").at("c.toml, line 3: ")
    with pytest.raises(UsageError) as refused:
        _claims_of(compared, claim)
    assert refused.value.what == "c.toml, line 3: there is no headline figure 'peak_randm_read_iops'"
    assert refused.value.advice.startswith("did you mean peak_random_read_iops? (this page has peak_")


def _claims_of(compared: Path, claim: UserClaim) -> tuple[tuple[Judged, ...], int]:
    runs = shown(source.read(compared).runs)  # type: ignore[union-attr]
    return judged([claim], runs, {}), len(runs)


def test_chapters_contents_and_permalinks_lead_to_what_there_is(written: Path) -> None:
    html = written.read_text()
    ids = set(re.findall(r'\bid="([^"]+)"', html))
    links = re.findall(r'href="#([^"]*)"', html)
    assert links and set(links) <= ids
    assert html.index("Second &lt;b&gt;") < html.index(">First<")
    order = [html.index(f'<section id="{name}"') for name in ("peak-sequential-read", "peak-random-read")]
    assert order == sorted(order), "the order of the review, not that of the kinds"
    assert "Absent: Z &lt;script&gt;, nobody made one" in html
    assert html.count(">What was run ") == 1


@pytest.mark.long
def test_a_run_that_is_unlike_the_others_is_not_ranked(compared: Path, tmp_path: Path) -> None:
    words = ["run", "peak-random-read", "sim:tiny-test,scale=4,seed=9", "--quick", "--library", str(tmp_path)]
    assert main(words) == 0
    runs = [*source.read(compared).runs, source.read_run(find_run("last", tmp_path))]  # type: ignore[union-attr]
    standing = standings(shown(runs))["peak_random_read_iops"]
    (odd,) = [each for each in standing.places if each.rank is None]
    assert odd.shown.run.manifest.drive.text.endswith("seed=9") and odd.unlike
    assert len(standing.ranked) == len(standing.places) - 1 > 1
    assert odd.unlike.rpartition("; ")[2] in untied(page.render(runs))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[[claim]]\nsentence = "x"\nfigure = "y"\nbound = "about 3"', "not understood"),
        ('[[claim]]\nsentence = "x"\nfigure = "y"', "bound"),
        ('[[claim]]\nsentence = "x"\nfigure = "y"\nbound = "over 1"\nmood = 1', "mood"),
        ("", "claim"),
    ],
)
def test_a_file_of_claims_that_cannot_be_is_refused(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "claims.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=says) as refused:
        read_claims(path)
    assert str(path) in refused.value.what


def test_an_error_of_a_claim_names_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "claims.toml"
    path.write_text(
        '# mine\n[[claim]]\nsentence = "x"\nfigure = "y"\nbound = "over 1"\n\n[[claim]]\nmood = 1\n'
    )
    with pytest.raises(UsageError) as refused:
        read_claims(path)
    assert refused.value.what.startswith(f"{path}: line 7: ")
    path.write_text('[[claim]]\nsentence = "x"\nfigure = "y"\nbound = "over 1 MB/s"\n')
    (claim,) = read_claims(path)
    with pytest.raises(UsageError) as refused:
        claim.keeps(5.0, "ns")
    assert refused.value.what.startswith(f"{path}, line 1: y: ")


@pytest.mark.parametrize(
    ("bound", "value", "unit", "kept"),
    [
        ("under 0.5ms", 499_999.0, "ns", True),
        ("under 0.5 ms", 500_000.0, "ns", False),
        ("at most 0.5 ms", 500.0, "us", True),
        ("at most 90 s", 91.0, "s", False),
        ("at most 2 min", 91.0, "s", True),
        ("over 2 GB/s", 2001.0, "MB/s", True),
        ("at least 90k IOPS", 89_999.0, "IOPS", False),
        ("at least 90k", 90_000.0, "IOPS", True),
        ("under 500 mW", 0.4, "W", True),
        ("at least 60 %", 0.59, "share", False),
        ("at least 0.6", 60.0, "%", True),
        ("at least 20x", 20.0, "x", True),
    ],
)
def test_a_bound_is_held_in_the_unit_that_it_has(bound: str, value: float, unit: str, kept: bool) -> None:
    assert parse_bound(bound).keeps(value, unit) is kept


@pytest.mark.long
def test_the_address_keeps_every_pressed_button_and_brings_it_back(
    written: Path, web_browser: Browser
) -> None:
    pressed = (
        "[...document.querySelectorAll('button[data-group][aria-pressed=true], select[data-group]')]"
        ".map(one => [one.closest('figure').id, one.dataset.group, one.dataset.index ?? one.selectedIndex])"
    )
    web_browser.open(written)
    usual = web_browser.run(pressed)
    others = "document.querySelectorAll('button[data-group][aria-pressed=false]')"
    web_browser.run(f"[...{others}].forEach(one => one.click())")
    changed, address = web_browser.run(pressed), web_browser.run("location.hash")
    assert changed != usual and ";" in address
    web_browser.open(written, fragment=address)
    assert web_browser.run(pressed) == changed
    assert web_browser.run("location.hash") == address
    # A link of the contents leads there and keeps what is pressed.
    web_browser.run("document.querySelector('.contents a').click()")
    web_browser.until("location.hash.includes(';')")
    assert web_browser.run(pressed) == changed
    assert web_browser.complaints == [] and web_browser.requests == []


def test_an_address_with_a_state_leads_to_its_heading_and_holds_it_while_charts_are_drawn(
    written: Path, web_browser: Browser
) -> None:
    web_browser.open(written, fragment="#ratings;no-figure.view=1")
    leading = (
        "[...document.querySelectorAll('figure[data-chart]')].filter(one => !one.closest('details.rest'))"
    )
    web_browser.until(f"{leading}.every(one => one.dataset.drawn)")
    web_browser.until("Math.abs(document.getElementById('ratings').getBoundingClientRect().top) < 40")


def test_a_review_leads_with_twelve_charts_by_turns_and_closes_the_others() -> None:
    def figures(name: str, count: int, **more: Any) -> tuple[Figure, ...]:
        return tuple(Figure(f"{name}{at}", "", "", "", BarsChart(()), (), (), **more) for at in range(count))

    def leading(
        *sections: tuple[Figure, ...], behind: tuple[Figure, ...] = (), named: tuple[str, ...] = ()
    ) -> frozenset[str]:
        made = [Section(f"s{at}", "", (), (), own) for at, own in enumerate(sections)]
        return _leading(made, [Section("b", "", (), (), behind)], named)

    found = leading(figures("a", 9), figures("b", 3), figures("c", 2), behind=figures("d", 1))
    assert found == {*(f"a{at}" for at in range(7)), "b0", "b1", "b2", "c0", "c1"}
    named = leading(figures("a", 9), figures("b", 9), named=("b8", "b7", "of no section"))
    assert named == {"b7", "b8", *(f"{name}{at}" for name in "ab" for at in range(5))}
    assert leading(figures("a", 20)) == {f"a{at}" for at in range(20)}, "of one method all"
    assert len(leading(figures("a", 5), figures("b", 5), behind=figures("d", 2))) == 12, "they are few"
    sheets = figures("p", 14, sheets=(Sheet(0, (), (), ()),))
    assert leading(figures("a", 13), sheets) >= {each.id for each in sheets}, "a page of a standard is whole"


@pytest.mark.parametrize(("leading", "ids"), [((), ["origin"]), (("one",), ["origin", "measured"])])
def test_what_is_closed_in_one_has_one_link(leading: tuple[str, ...], ids: list[str]) -> None:
    figure: Any = SimpleNamespace(id="one")
    section = Section("first", "First", (), (), (figure,))
    top: Any = None
    found = Outline(top, (), (Chapter("", "", "", (section,)),), leading=frozenset(leading))
    assert [each.id for each in found.contents] == ["first", *ids]
