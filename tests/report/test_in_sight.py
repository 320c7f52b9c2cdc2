"""What is on a page is seen on a wide screen and on a phone: drives, marks, and that a table goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from report.browser import Browser
from report.conftest import invented
from ssdlab.lab.found import find_method
from ssdlab.report import page, source
from ssdlab.report.claims import UserClaim
from ssdlab.report.edition import Edition
from ssdlab.runs.order import Order
from ssdlab.runs.session import start

pytestmark = pytest.mark.outside

WIDTHS = (390, 1400)
DRIVE = "sim:tiny-test,scale=4"
CLAIMS = (
    UserClaim(
        sentence="It reads, as `ssdlab run` has it.", figure="peak_random_read_iops", bound="at least 1"
    ),
    UserClaim(sentence="It writes. " * 30, figure="steady_random_write_iops", bound="at least 1"),
)


@pytest.fixture(scope="module")
def five(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of five drives and two claims, of which one was not measured."""
    folder = tmp_path_factory.mktemp("five")
    names = ("Elm 4100", "Oak 4200", "Hazel 4300", "Birch 4400", "Willow 4500")
    runs = [
        invented(
            folder / f"{at}-{method}",
            method,
            seed=at + 1,
            latency_ns=60_000 + 9_000 * at,
            drive={"id": f"SN{at}", "name": f"{name} of the Northwind series", "kind": "block"},
        )
        for at, name in enumerate(names)
        for method in ("qd1", "peak-random-read")
    ]
    page.write([source.read_run(run) for run in runs], folder / "page.html", Edition(claims=CLAIMS))
    return folder / "page.html"


@pytest.mark.parametrize("width", WIDTHS)
def test_five_drives_are_in_sight_beside_every_chart(web_browser: Browser, five: Path, width: int) -> None:
    """On a phone one and a half of them were, and nothing told of the others."""
    web_browser.open(five, width=width)
    web_browser.drawn()
    web_browser.run("document.querySelector('#peak-random-read').scrollIntoView()")
    hidden = web_browser.run(
        "(() => { const legend = document.querySelector('.legend.within');"
        " const own = legend.getBoundingClientRect();"
        " return [...legend.querySelectorAll('.run')].map((run) => run.getBoundingClientRect())"
        ".filter((run) => run.left < own.left || run.right > own.right + 1"
        " || run.top < own.top || run.bottom > own.bottom)"
        ".length })()"
    )
    assert hidden == 0
    # What a link leads to is below the names.
    assert (
        web_browser.run(
            "(() => { location.hash = '#peak-random-read-bars';"
            " return document.querySelector('#peak-random-read-bars').getBoundingClientRect().top"
            " - document.querySelector('.legend.within').getBoundingClientRect().bottom })()"
        )
        >= 0
    )


@pytest.mark.parametrize("width", WIDTHS)
def test_the_mark_of_a_claim_stands_in_its_column(web_browser: Browser, five: Path, width: int) -> None:
    web_browser.open(five, width=width)
    apart = web_browser.run(
        "[...document.querySelectorAll('.claims li')].map((claim) => {"
        " const mark = document.createRange(), words = document.createRange();"
        " mark.selectNodeContents(claim.querySelector('b')); words.selectNodeContents(claim.childNodes[1]);"
        " const own = mark.getBoundingClientRect(), next = words.getBoundingClientRect();"
        " return [own.width > 50, own.right <= next.left || own.bottom <= next.top] })"
    )
    assert apart == [[True, True]] * 2


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_link_has_the_colour_of_a_browser(web_browser: Browser, five: Path, scheme: str) -> None:
    web_browser.open(five, scheme=scheme)
    # A link that stands in the middle of words, as in a claim.
    web_browser.run(
        "document.querySelector('.lead').appendChild(document.createElement('a')).href = '#measured'"
    )
    colours = web_browser.run(
        "[...new Set([...document.querySelectorAll('a')].map((link) => getComputedStyle(link).color))]"
    )
    of_page = web_browser.run(
        "(() => { const probe = document.body.appendChild(document.createElement('i'));"
        " return ['--link', '--text', '--muted'].map((name) => { probe.style.color = `var(${name})`;"
        " return getComputedStyle(probe).color }) })()"
    )
    assert colours and set(colours) <= set(of_page)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_table_that_goes_on_has_a_shadow_where_it_does(
    web_browser: Browser, five: Path, width: int
) -> None:
    """Covers of paper move with what is scrolled, shadows do not: a shadow is seen where there is more."""
    web_browser.open(five, width=width)
    web_browser.drawn()
    found = web_browser.run(
        "(() => { document.querySelectorAll('details').forEach((each) => { each.open = true });"
        " const wide = [...document.querySelectorAll('.scroll')]"
        ".filter((each) => each.scrollWidth > each.clientWidth);"
        " return [wide.length, wide.every((each) => each.tabIndex === 0 && each.ariaLabel !== null),"
        " wide.every((each) => { const style = getComputedStyle(each);"
        " return style.backgroundAttachment === 'local, local, scroll, scroll' })] })()"
    )
    assert found[0] > 0 and found[1:] == [True, True]


def test_no_backtick_is_left_on_a_page(web_browser: Browser, five: Path) -> None:
    web_browser.open(five)
    assert web_browser.run("document.querySelector('.claims code').textContent") == "ssdlab run"
    assert "`" not in web_browser.run("document.querySelector('main').textContent")


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of one drive and several methods."""
    folder = tmp_path_factory.mktemp("parts")
    methods = ("peak-random-read", "peak-sequential-read", "mixed-random")
    runs = [invented(folder / method, method, quick=True) for method in methods]
    page.write([source.read_run(run) for run in runs], folder / "page.html")
    return folder / "page.html"


@pytest.mark.parametrize("width", WIDTHS)
def test_no_name_of_a_fact_is_drawn_over_its_value(web_browser: Browser, parts: Path, width: int) -> None:
    """`peak-random-read, version 1, quick` lay over the name of its run."""
    web_browser.open(parts, width=width)
    names = web_browser.run(
        "[...document.querySelectorAll('#origin th')].map((name) => { const text = document.createRange();"
        " text.selectNodeContents(name); return [name.textContent, text.getBoundingClientRect().right,"
        " name.nextElementSibling.getBoundingClientRect().left] })"
    )
    assert any(", version " in name for name, _, _ in names)
    assert [name for name, right, left in names if right > left] == []


@pytest.fixture(scope="module")
def reasons(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page that says why each parameter is as it is."""
    folder, method = tmp_path_factory.mktemp("reasons"), find_method("qd1")
    short = {"seconds": "0.01", "size_seconds": "0.01", "steady": "false"}
    order = Order(method, method.params.build(short), DRIVE, destroy=DRIVE)
    page.write([source.read_run(start(order, folder))], folder / "page.html")
    return folder / "page.html"


@pytest.mark.parametrize("width", WIDTHS)
def test_why_a_parameter_is_as_it_is_can_be_read(web_browser: Browser, reasons: Path, width: int) -> None:
    """On a phone its column was 15 letters wide. A default has the unit of its value."""
    web_browser.open(reasons, width=width)
    lines = web_browser.run(
        "[...document.querySelectorAll('#measured details')].flatMap((panel) => { panel.open = true;"
        " return [...panel.querySelectorAll('th')].some((head) => head.textContent === 'Why')"
        " ? [...panel.querySelectorAll('tr td:last-child')] : [] })"
        ".map((cell) => [cell.textContent.trim(), cell.getBoundingClientRect().width])"
    )
    long = [width for text, width in lines if len(text) > 40]
    assert long
    assert min(long) > 200
    cells = "[...document.querySelectorAll('#measured td')].map((cell) => cell.textContent.trim())"
    found = web_browser.run(cells)
    at = found.index("seconds")
    assert found[at + 1 : at + 3] == ["0.01 s", "60 s"]
