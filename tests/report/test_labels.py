"""Names in charts: whole where they fit, else short, and never two alike; and what is drawn, in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from report.browser import Browser
from report.conftest import invented
from ssdlab.lab.folders import REGISTRY
from ssdlab.lab.found import find_method
from ssdlab.report import page, source
from ssdlab.report.templating import coded, tied

SERIES = "Northwind Enterprise Data Centre Series NX"
METHODS = ("qd1", "peak-random-read")


@pytest.fixture(scope="module")
def eight(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of eight drives whose names share 42 letters, of two interfaces."""
    folder = tmp_path_factory.mktemp("eight")
    runs = [
        invented(
            folder / f"{at}-{method}",
            method,
            seed=at + 1,
            latency_ns=60_000 + 9_000 * at,
            drive={
                "id": f"SN{at}",
                "name": f"{SERIES}{4100 + 17 * at} 3.84 TB",
                "kind": "block",
                "identity": {"kind": "block", "transport": "sata" if at % 3 else "pcie"},
            },
        )
        for at in range(8)
        for method in METHODS
    ]
    page.write([source.read_run(run) for run in runs], folder / "page.html")
    return folder / "page.html"


def told(web_browser: Browser, figure: str) -> list[str]:
    """What a figure says it shows."""
    return web_browser.run(
        f"[...document.querySelectorAll('#{figure} .told li')].map((line) => line.textContent)"
    )


@pytest.mark.outside
@pytest.mark.parametrize("width", [390, 1400])
@pytest.mark.long
def test_no_two_bars_of_a_workload_have_one_label(web_browser: Browser, eight: Path, width: int) -> None:
    web_browser.open(eight, width=width)
    web_browser.drawn()
    for figure in ("qd1-bars", "peak-random-read-bars"):
        lines = [line.partition(": ") for line in told(web_browser, figure)]
        labels: dict[str, list[str]] = {}
        for label, _, rest in lines:
            labels.setdefault(rest.split(",")[0], []).append(label)
        assert labels
        for workload, names in labels.items():
            assert len(names) == len(set(names)) == 8, workload
            assert all(any(str(4100 + 17 * at) in name for at in range(8)) for name in names)


@pytest.mark.outside
def test_bars_are_sorted_over_all_drives_and_say_the_interface(web_browser: Browser, eight: Path) -> None:
    """SN0, SN3 and SN6 are on PCIe; a higher number is a slower drive."""
    web_browser.open(eight, width=1400)
    web_browser.drawn()
    lines = [line for line in told(web_browser, "qd1-bars") if "random read" in line]
    order = [next(at for at in range(8) if str(4100 + 17 * at) in line) for line in lines]
    assert order == list(range(8))
    assert ["NVMe" in line for line in lines] == [at % 3 == 0 for at in range(8)]


def test_no_line_begins_with_what_stands_behind_a_name(eight: Path) -> None:
    """On a narrow screen a name is a box of its own: a colon behind it, or a dot before it, stood alone."""
    html = eight.read_text(encoding="utf-8")
    assert "</span>: " not in html
    assert ":</span> " in html
    assert 'class="whose bare"' not in html


@pytest.mark.outside
def test_a_table_on_a_phone_shows_more_than_the_names_of_its_runs(web_browser: Browser, eight: Path) -> None:
    """The first column leaves at least half of the screen to what the runs did."""
    web_browser.open(eight, width=390)
    web_browser.drawn()
    web_browser.run("document.querySelectorAll('details').forEach((each) => { each.open = true })")
    widths = web_browser.run(
        "[...document.querySelectorAll('.scroll tbody td:first-child:has(.run)')]"
        ".filter((cell) => cell.nextElementSibling && cell.offsetParent)"
        ".map((cell) => cell.getBoundingClientRect().width)"
    )
    assert len(widths) > 20
    assert max(widths) <= 195


BROKEN_WORDS = """(() => {
  const range = document.createRange(), found = [];
  for (const cell of document.querySelectorAll('.scroll tbody td:first-child .run')) {
    const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    for (let text = walker.nextNode(); text; text = walker.nextNode()) {
      for (const word of text.data.matchAll(/[^\\s-]+/g)) {
        range.setStart(text, word.index);
        range.setEnd(text, word.index + word[0].length);
        if (range.getClientRects().length > 1) found.push(word[0]);
      }
    }
  }
  return found;
})()"""


@pytest.mark.outside
def test_a_name_in_a_table_on_a_phone_breaks_between_words(web_browser: Browser, eight: Path) -> None:
    web_browser.open(eight, width=390)
    web_browser.drawn()
    web_browser.run("document.querySelectorAll('details').forEach((each) => { each.open = true })")
    assert web_browser.run(BROKEN_WORDS) == []


@pytest.mark.outside
def test_a_long_choice_leaves_a_phone_its_width(web_browser: Browser, eight: Path) -> None:
    web_browser.open(eight, width=390)
    web_browser.drawn()
    lists = web_browser.run(
        "[...document.querySelectorAll('label.group select')].map((each) =>"
        " each.append(new Option('a drive of a long name, '.repeat(5))))"
    )
    assert lists
    assert web_browser.run("document.documentElement.scrollWidth") <= 390


@pytest.mark.outside
@pytest.mark.long
def test_every_chart_says_in_words_what_it_draws(web_browser: Browser, built: Path) -> None:
    web_browser.open(built)
    web_browser.drawn()
    found = web_browser.run(
        "[...document.querySelectorAll('figure')].map((figure) => [figure.id,"
        " figure.querySelector('.plot').getAttribute('aria-describedby'),"
        " [...figure.querySelectorAll('.told li')].map((line) => line.textContent)])"
    )
    assert len(found) > 12
    for figure, described, lines in found:
        assert described == f"{figure}-told"
        assert lines, figure
    ((_, _, lines),) = [each for each in found if each[0] == "peak-random-read-throughput"]
    assert len(lines) == 3
    assert all("points, from" in line and "reported" in line for line in lines)


@pytest.mark.outside
def test_iops_of_two_block_sizes_never_share_a_chart(web_browser: Browser, built: Path) -> None:
    web_browser.open(built)
    web_browser.drawn()
    count = web_browser.run("document.querySelectorAll('#qd1-bars button[data-group=view]').length")
    sizes = []
    for at in range(count):
        web_browser.run(f"document.querySelectorAll('#qd1-bars button[data-group=view]')[{at}].click()")
        label = web_browser.run(
            f"document.querySelectorAll('#qd1-bars button[data-group=view]')[{at}].textContent"
        )
        # The words follow the picture: at first they are still those of the view before.
        size = label.split(", ")[1]
        web_browser.until(f"document.querySelector('#qd1-bars .told li')?.textContent.endsWith('{size}')")
        sizes.append((label, {" ".join(line.split()[-2:]) for line in told(web_browser, "qd1-bars")}))
    assert sizes == [
        ("IOPS, 4 KiB", {"4 KiB"}),
        ("MB/s, 4 KiB", {"4 KiB"}),
        ("MB/s, 128 KiB", {"128 KiB"}),
        ("IOPS, 128 KiB", {"128 KiB"}),
    ]


def test_a_figure_and_its_unit_stay_in_one_line() -> None:
    told = tied("99.9 % of 12.1k IOPS at 2 to 3 MB/s, p99 153 µs by --depth 32 --bs 4k")
    assert told.replace("\N{NO-BREAK SPACE}", "_") == (
        "99.9_% of 12.1k_IOPS at 2_to 3_MB/s, p99 153_µs by --depth 32 --bs 4k"
    )


@pytest.mark.parametrize(
    ("prose", "html"),
    [
        ("see `--bs 4 KiB` at 4k IOPS", "see <code>--bs 4 KiB</code> at 4k_IOPS"),
        ("``a <b>`` & `c`", "<code>a &lt;b&gt;</code> &amp; <code>c</code>"),
        ("one ` alone, <i>", "one ` alone, &lt;i&gt;"),
        ("", ""),
    ],
)
def test_what_stands_between_backticks_is_code(prose: str, html: str) -> None:
    assert tied(prose).replace("\N{NO-BREAK SPACE}", "_") == html
    assert coded(prose) == html.replace("_", " ")


@pytest.mark.parametrize("name", REGISTRY)
def test_no_backtick_of_a_method_is_left_in_its_prose(name: str) -> None:
    method = find_method(name)
    told = [method.prose, *(field.description or "" for field in method.params.model_fields.values())]
    assert "`" not in "".join(map(coded, told))


ENDS = """(() => {
  let [figures, broken] = [0, []];
  const texts = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    if (!node.parentElement.closest('.findings, .finding, .caveat, .card, .verdict, .lead')) continue;
    for (const { index } of node.data.matchAll(/\\d\\s[%A-Za-z]/g)) {
      const at = document.createRange();
      at.setStart(node, index);
      at.setEnd(node, index + 3);
      const shown = [...at.getClientRects()].filter(({ width }) => width > 0);
      const lines = new Set(shown.map(({ top }) => Math.round(top)));
      figures += lines.size > 0;
      if (lines.size > 1) broken.push(node.data);
    }
  }
  return [figures, broken];
})()"""


@pytest.mark.long
def test_no_line_of_prose_ends_between_a_figure_and_its_unit(web_browser: Browser, built: Path) -> None:
    for width in range(340, 440, 10):
        web_browser.open(built, width=width)
        figures, broken = web_browser.run(ENDS)
        assert figures > 5 and broken == [], width
