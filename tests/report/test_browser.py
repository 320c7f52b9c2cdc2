"""The page in a real browser: what it draws, says, asks for and saves."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from lab.synthetic import edited
from report.browser import Browser
from report.reading import Page
from ssdlab.report import page, source
from ssdlab.report.charts import packed


def open_drawn(browser: Browser, path: Path, **how: object) -> None:
    browser.open(path, **how)
    browser.drawn()


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (1200, "dark"), (390, "light")])
@pytest.mark.long
def test_every_chart_is_drawn_and_nothing_is_said_or_asked(
    web_browser: Browser, built: Path, width: int, scheme: str
) -> None:
    open_drawn(web_browser, built, width=width, scheme=scheme)
    assert (
        web_browser.run("document.querySelectorAll('figure canvas').length") == len(figures(web_browser)) > 12
    )
    assert web_browser.run(BLANK) == []
    assert web_browser.complaints == []
    assert web_browser.requests == []
    assert web_browser.run("document.title") != "taken over"
    # Nothing sticks out sideways: wide tables scroll inside their own boxes.
    assert web_browser.run("document.documentElement.scrollWidth <= window.innerWidth")


def test_a_chart_that_cannot_be_drawn_says_so_and_spoils_no_other(
    web_browser: Browser, built: Path, tmp_path: Path
) -> None:
    before, opening, rest = built.read_text().partition('<script type="application/gzip" id="page-data">')
    _, closing, after = rest.partition("</script>")
    content = Page.of(built.read_text()).data
    spoilt = next(name for name, chart in content["charts"].items() if chart["kind"] in ("xy", "bars"))
    content["charts"][spoilt]["views"] = []
    text = packed(json.dumps(content).encode())
    (tmp_path / "spoilt.html").write_text(before + opening + text + closing + after)
    web_browser.open(tmp_path / "spoilt.html")
    web_browser.run("document.querySelectorAll('details.rest').forEach((each) => { each.open = true })")
    settled = "figure:not([data-drawn]):not([data-failed])"
    web_browser.until(f"document.querySelectorAll('{settled}').length === 0")
    failed = "[...document.querySelectorAll('figure[data-failed]')]"
    assert web_browser.run(f"{failed}.map((figure) => figure.dataset.chart)") == [spoilt]
    said = web_browser.run(f"{failed}[0].querySelector('.plot').textContent")
    assert said == "This chart cannot be drawn: a chart without a view"
    drawn = web_browser.run("document.querySelectorAll('figure canvas').length")
    assert drawn == len(figures(web_browser)) - 1


BLANK = """[...document.querySelectorAll('figure')].filter((figure) => {
  const canvas = figure.querySelector('canvas');
  const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  return new Set(new Uint32Array(pixels.buffer)).size < 8;
}).map((figure) => figure.id)"""
"""Figures whose canvas shows hardly any colours: nothing was drawn."""


def figures(browser: Browser) -> list[str]:
    return browser.run("[...document.querySelectorAll('figure')].map((figure) => figure.id)")


def test_a_request_and_a_foreign_script_would_be_noticed(
    web_browser: Browser, built: Path, tmp_path: Path
) -> None:
    before, end, after = built.read_text().rpartition("</body>")
    foreign = "<script>document.title = 'foreign'</script><img src='http://127.0.0.1:9/x.png'>"
    spoilt = before + foreign + end + after
    (tmp_path / "spoilt.html").write_text(spoilt)
    open_drawn(web_browser, tmp_path / "spoilt.html")
    assert web_browser.run("document.title") != "foreign"
    complaints = " ".join(web_browser.complaints)
    assert "Executing inline script" in complaints
    assert "x.png" in complaints


def test_what_a_page_without_a_policy_asks_for_is_noticed(web_browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "asks.html").write_text("<img src='http://127.0.0.1:9/x.png'>")
    web_browser.open(tmp_path / "asks.html")
    assert web_browser.requests == ["http://127.0.0.1:9/x.png"]


def test_buttons_change_the_chart_and_say_so(web_browser: Browser, built: Path) -> None:
    open_drawn(web_browser, built)
    for group in ("#peak-random-read-throughput", "#peak-random-read-latency", "#qd1-nines", "#qd1-bars"):
        picture = f"document.querySelector('{group} canvas').toDataURL()"
        before = web_browser.run(picture)
        second = f"document.querySelectorAll('{group} button[data-group]')[1]"
        web_browser.run(f"{second}.click()")
        web_browser.until(f"{picture} !== {json.dumps(before)}")
        assert web_browser.run(f"{second}.getAttribute('aria-pressed')") == "true"
        assert web_browser.run(f"document.querySelectorAll('{group} [aria-pressed=true]').length") == 1


def test_time_series_of_another_point_is_unpacked_on_demand(web_browser: Browser, built: Path) -> None:
    open_drawn(web_browser, built)
    figure = "document.querySelector('#peak-random-read-over-time')"
    picture = f"{figure}.querySelector('canvas').toDataURL()"
    before = web_browser.run(picture)
    web_browser.run(f"{figure}.querySelectorAll('button[data-group=view]')[9].click()")
    web_browser.until(f"{picture} !== {json.dumps(before)}")


def test_saved_csv_holds_every_interval_exactly(
    web_browser: Browser, make_run: Callable[..., Path], tmp_path: Path
) -> None:
    run = source.read_run(make_run("peak-random-read", seconds=30))
    page.write([run], tmp_path / "page.html")
    open_drawn(web_browser, tmp_path / "page.html")
    lines = saved(web_browser, "#peak-random-read-over-time button[data-action=csv]").split("\r\n")
    assert lines[0] == "run,point,end_s,iops,p99_ns,max_ns"
    wanted = [int(ios) for point in run.result.points for ios in run.rows(point.ordinal)["ios"]]
    assert [float(line.split(",")[3]) for line in lines[1:-1]] == wanted
    assert len(wanted) == 300


def test_saved_csv_of_a_table_holds_exact_values(
    web_browser: Browser, make_run: Callable[..., Path], tmp_path: Path
) -> None:
    run = source.read_run(make_run("peak-random-read"))
    page.write([run], tmp_path / "page.html")
    open_drawn(web_browser, tmp_path / "page.html")
    lines = saved(web_browser, "#peak-random-read-throughput button[data-action=csv]").split("\r\n")
    column = lines[0].split(",").index("IOPS")
    assert [float(line.split(",")[column]) for line in lines[1:-1]] == [p.iops for p in run.result.points]


def test_saved_json_is_the_manifest_with_its_result(
    web_browser: Browser, make_run: Callable[..., Path], tmp_path: Path
) -> None:
    folder = make_run("qd1")
    page.write([source.read_run(folder)], tmp_path / "page.html")
    open_drawn(web_browser, tmp_path / "page.html")
    found = json.loads(saved(web_browser, "button[data-run-json]"))
    assert found["result"] == json.loads((folder / "manifest.json").read_text())["result"]


def test_saved_picture_is_a_png_of_a_size_to_be_published(
    web_browser: Browser, make_run: Callable[..., Path], tmp_path: Path
) -> None:
    page.write([source.read_run(make_run("peak-random-read"))], tmp_path / "page.html")
    open_drawn(web_browser, tmp_path / "page.html")
    size = "createImageBitmap(blob).then((picture) => `${picture.width}x${picture.height}`)"
    width, height = saved(web_browser, "#peak-random-read-throughput button[data-action=png]", size).split(
        "x"
    )
    assert (int(width), int(height)) == (2400, 1350)


def saved(browser: Browser, button: str, read: str = "blob.text()") -> str:
    """What the page hands over as a file when a button is pressed."""
    return browser.run(
        f"""new Promise((resolve) => {{
          URL.createObjectURL = (blob) => {{ resolve({read}); return "blob:none"; }};
          HTMLAnchorElement.prototype.click = () => {{}};
          document.querySelector({json.dumps(button)}).click();
        }})"""
    )


def test_arrow_keys_walk_over_the_points(web_browser: Browser, built: Path) -> None:
    open_drawn(web_browser, built)
    plot = "document.querySelector('#peak-random-read-throughput .plot')"
    web_browser.run(f"{plot}.focus()")
    texts = []
    for _ in range(2):
        web_browser.run(f"{plot}.dispatchEvent(new KeyboardEvent('keydown', {{ key: 'ArrowRight' }}))")
        texts.append(web_browser.run(f"{plot}.textContent"))
    assert "IOPS" in texts[0]
    assert texts[0] != texts[1]


def test_arrow_keys_walk_over_the_dots_of_a_long_run(
    web_browser: Browser, make_run: Callable[..., Path], tmp_path: Path
) -> None:
    """Dots lie in one flat array, three numbers each: it was walked over number by number."""
    page.write([source.read_run(make_run("peak-random-read", seconds=400))], tmp_path / "page.html")
    open_drawn(web_browser, tmp_path / "page.html")
    plot = "document.querySelector('#peak-random-read-over-time .plot')"
    texts = []
    for _ in range(3):
        web_browser.run(f"{plot}.dispatchEvent(new KeyboardEvent('keydown', {{ key: 'ArrowRight' }}))")
        texts.append(web_browser.run(f"{plot}.textContent"))
    assert [text.count("up to") for text in texts] == [1, 1, 1]
    assert len(set(texts)) == 3


def test_every_control_is_reached_by_the_keyboard(web_browser: Browser, built: Path) -> None:
    open_drawn(web_browser, built)
    controls = "[...document.querySelectorAll('[data-group], [data-action], [data-run-json]')]"
    reached = "['BUTTON', 'SELECT'].includes(element.tagName) && element.tabIndex === 0"
    assert web_browser.run(f"{controls}.length") > 50
    assert web_browser.run(f"{controls}.every((element) => {reached})")
    assert web_browser.run(
        "[...document.querySelectorAll('.plot')].every((plot) => plot.ariaLabel.length > 20)"
    )


def test_printing_uses_the_light_theme_even_in_the_dark(web_browser: Browser, built: Path) -> None:
    open_drawn(web_browser, built, scheme="dark")
    paper = "getComputedStyle(document.documentElement).getPropertyValue('--paper')"
    assert web_browser.run(paper) == "#15181b"
    web_browser.run("window.dispatchEvent(new Event('beforeprint'))")
    assert web_browser.run(paper) in ("#fff", "#ffffff")
    assert (
        web_browser.run("Math.max(...[...document.querySelectorAll('canvas')].map((c) => c.clientWidth))")
        <= 680
    )
    web_browser.run("window.dispatchEvent(new Event('afterprint'))")
    assert web_browser.run(paper) == "#15181b"


def test_a_stall_is_seen(web_browser: Browser, make_run: Callable[..., Path], tmp_path: Path) -> None:
    folder = make_run("peak-random-read", seconds=30)
    stall(folder, rows=range(10, 14))
    page.write([source.read_run(folder)], tmp_path / "page.html")
    open_drawn(web_browser, tmp_path / "page.html")
    assert "40 intervals completed no I/O; marked." in web_browser.run("document.body.textContent")
    lines = saved(web_browser, "#peak-random-read-over-time button[data-action=csv]").split("\r\n")
    assert [float(line.split(",")[3]) for line in lines[11:15]] == [0, 0, 0, 0]


def stall(folder: Path, rows: range) -> None:
    """Take all I/Os out of some interval rows."""
    import duckdb

    table = folder / "series.parquet"
    listed = ", ".join(str(row) for row in rows)
    columns = "0 AS ios, 0 AS bytes, 0 AS service_max_ns, 0 AS response_max_ns, 0 AS response_p99_ns"
    with duckdb.connect() as con:
        con.execute(f"CREATE TABLE found AS SELECT * FROM read_parquet('{table}')")
        stalled = f"SELECT * REPLACE ({columns}) FROM found WHERE row IN ({listed})"
        kept = f"SELECT * FROM found WHERE row NOT IN ({listed})"
        con.execute(f"COPY ({kept} UNION ALL {stalled}) TO '{table}'")
    tables = json.loads((folder / "manifest.json").read_text())["tables"]
    digest = hashlib.sha256(table.read_bytes()).hexdigest()
    edited(
        folder, tables=[each | ({"sha256": digest} if each["name"] == table.name else {}) for each in tables]
    )


def test_dragging_zooms_and_reset_shows_all_again(web_browser: Browser, built: Path) -> None:
    open_drawn(web_browser, built)
    plot = "document.querySelector('#peak-random-read-over-time .plot')"
    picture = f"{plot}.querySelector('canvas').toDataURL()"
    web_browser.run(f"{plot}.scrollIntoView()")
    box = web_browser.run(f"(({{ x, y }}) => ({{ x, y }}))({plot}.getBoundingClientRect())")
    whole = web_browser.run(picture)
    web_browser.mouse.move(box["x"] + 300, box["y"] + 150)
    web_browser.mouse.down()
    web_browser.mouse.move(box["x"] + 600, box["y"] + 150, steps=2)
    web_browser.mouse.up()
    web_browser.until(f"{picture} !== {json.dumps(whole)}")
    web_browser.mouse.move(5, 5)
    zoomed = web_browser.run(picture)
    web_browser.run("document.querySelector('#peak-random-read-over-time [data-action=reset]').click()")
    web_browser.until(f"{picture} !== {json.dumps(zoomed)}")
    web_browser.until(f"{picture} === {json.dumps(whole)}")
