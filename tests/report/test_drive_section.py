"""The section on what the drive went through: one time line of four panels, shaded where heat slowed it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from report.browser import Browser
from ssdlab.cli import main
from ssdlab.report import page, source
from ssdlab.report.charts import Spell, TimelineView, unpack
from ssdlab.report.sections import drive as drive_section
from ssdlab.results.claim import sentence
from ssdlab.results.metric import Metric, Qualifier
from ssdlab.results.time_line import drive_findings
from telemetry.test_simulated import ABOVE_C, CAP_W, hot_text  # noqa: F401 - a fixture

JOB = """
[[step]]
do = "run"
label = "heats up"
rw = "write"
bs = "128k"
threads = 8
seconds = "20s"

[[step]]
do = "idle"
seconds = "30s"

[[step]]
do = "run"
label = "cooler"
rw = "randread"
seconds = "5s"
"""


@pytest.fixture(scope="module")
def run(hot_text: str, tmp_path_factory: pytest.TempPathFactory) -> Path:  # noqa: F811
    """A run that heats its drive up, lets it rest, and reads."""
    library = tmp_path_factory.mktemp("library")
    (library / "job.toml").write_text(JOB)
    words = ["job", str(library / "job.toml"), hot_text, "--seed", "7", "--library", str(library / "runs")]
    assert main([*words, "--json"]) == 0
    (folder,) = (library / "runs").glob("2*")
    return folder


def columns(run: Path) -> dict[str, list[tuple[str, list[float], list[float]]]]:
    """By figure: step, ends in seconds, values."""
    (shown,) = page.shown([source.read_run(run)])
    section = drive_section.section([shown])
    assert section is not None
    found: dict[str, list[tuple[str, list[float], list[float]]]] = {}
    for track in section.figures[0].chart.views[0].tracks:
        ends, values = track.columns
        unpacked = [unpack(each.packed, each.unit).tolist() for each in (ends, values)]
        begins = [part.row for part in track.parts or ()]
        for part, until in zip(track.parts or (), [*begins[1:], len(unpacked[0])], strict=True):
            own = (each[part.row : until] for each in unpacked)
            found.setdefault(values.key, []).append((part.name, *own))
    return found


@pytest.mark.long
def test_the_pause_lies_between_the_steps_and_the_drive_cools_in_it(run: Path) -> None:
    found = columns(run)
    (hot, hot_ends, heat), (cool, cool_ends, cooled) = found["temperature_c"]
    assert (hot, cool) == ("heats up", "cooler")
    # The step ends with its last completion, some ms after its 20 s; the rest then takes 30 s.
    assert hot_ends[-1] == pytest.approx(20, abs=0.5)
    assert cool_ends[0] == pytest.approx(hot_ends[-1] + 30 + 1, abs=0.5)
    assert cooled[0] < heat[-1] - 10
    assert set(found) == {"iops", "p99_ns", "watts", "temperature_c"}
    # Under the limit it draws no more than that; the profile's window holds it to the millisecond.
    assert min(value for _, _, watts in found["watts"][:1] for value in watts[-3:]) <= CAP_W


def test_where_heat_slowed_it_is_shaded_and_said(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (shown,) = page.shown([source.read_run(run)])
    section = drive_section.section([shown])
    (spell,) = section.figures[0].chart.views[0].spells
    (_, ends, heat), _ = columns(run)["temperature_c"]
    first_hot = next(end for end, value in zip(ends, heat, strict=True) if value >= ABOVE_C)
    assert abs(spell.from_s - first_hot) <= 2, "a sample is a second from the next"
    assert spell.from_s < spell.until_s <= 21
    assert section.lead[0].startswith("Throttled from minute 0 at 6")
    assert main(["show", str(run), "--all"]) == 0
    shown_text = capsys.readouterr().out
    assert section.lead[0] in " ".join(shown_text.split())
    assert main(["show", str(run), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["telemetry"]
    assert told["findings"][0] == {"says": section.lead[0], "steps": [1]}


def test_heat_is_told_with_its_steps_and_with_the_figures_that_it_affects(run: Path) -> None:
    (shown,) = page.shown([source.read_run(run)])
    cold = Metric.less("cold", "cold", 1.0, "s")
    hot = cold.qualified([Qualifier(code="throttled")])

    def said(*figures: Metric) -> list[str]:
        return [sentence(claim) for claim in drive_findings(shown.run.steps, figures)]

    throttled = said()[0]
    assert "(heats up)" in throttled and "cooler" not in throttled
    assert said(cold)[0] == throttled and "no figure" in said(cold)[1]
    assert said(cold, hot)[0] == throttled and "1 of 2 figures" in said(cold, hot)[1]
    withheld = Metric.less("none", "none", None, "s").qualified([Qualifier(code="throttled")])
    assert "1 of 2 figures" in said(cold, withheld)[1]
    assert not any("affects" in each for each in said())


def test_a_drive_that_throttled_has_its_temperature_and_whole_counts_in_the_table(run: Path) -> None:
    (shown,) = page.shown([source.read_run(run)])
    ((table,),) = [each.tables for each in drive_section.section([shown]).exhibits]
    cells = dict(zip(table.head, table.rows[0], strict=True))
    hottest = max(max(values) for _, _, values in columns(run)["temperature_c"])
    assert float(cells["Highest °C"].value) == pytest.approx(hottest, abs=0.01)
    assert cells["Times throttled"].text == "1"


def test_the_time_line_opens_on_a_run_with_events() -> None:
    quiet, eventful = (
        TimelineView(name, (), spells) for name, spells in (("quiet", ()), ("hot", (Spell(1, "hot", 2),)))
    )
    assert [each.pressed for each in drive_section._buttons([quiet, eventful])] == [1]
    assert [each.pressed for each in drive_section._buttons([quiet, quiet])] == [0]
    assert drive_section._buttons([eventful]) == ()


@pytest.mark.long
def test_the_time_line_is_drawn(run: Path, tmp_path: Path, web_browser: Browser) -> None:
    page.write([source.read_run(run)], tmp_path / "page.html")
    web_browser.open(tmp_path / "page.html")
    web_browser.drawn()
    assert web_browser.complaints == []
    pixels = """(() => { const canvas = document.querySelector('#drive-time-line canvas');
      const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
      return [canvas.height, new Set(new Uint32Array(data.buffer)).size]; })()"""
    height, colours = web_browser.run(pixels)
    assert height > 500
    assert colours > 8


def test_a_drive_that_tells_nothing_of_heat_or_watts_has_no_such_section(tmp_path: Path) -> None:
    words = ["measure", "sim:tiny-test,scale=4", "--seconds", "1", "--save", "--library", str(tmp_path)]
    assert main([*words, "--json"]) == 0
    (folder,) = tmp_path.glob("2*")
    assert drive_section.section(page.shown([source.read_run(folder)])) is None


@given(
    st.lists(st.tuples(st.floats(0.01, 3), st.floats(0, 1e6)), min_size=1, max_size=60),
    st.floats(0.02, 20),
)
def test_joined_rows_keep_the_mean_over_time_and_the_highest(
    rows: list[tuple[float, float]], width_s: float
) -> None:
    lasted_s, values = map(np.array, zip(*rows, strict=True))
    times_s = np.cumsum(lasted_s)
    ends_s, iops = drive_section._joined_rows("iops", times_s, values, width_s)
    assert ends_s[-1] == times_s[-1] and len(ends_s) <= times_s[-1] / width_s + 2
    assert np.diff(ends_s, prepend=0.0) @ iops == pytest.approx(lasted_s @ values)
    assert drive_section._joined_rows("p99_ns", times_s, values, width_s)[1].max() == values.max()
