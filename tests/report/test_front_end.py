"""Both sides agree: numbers print alike, columns unpack to what was packed, ticks stand at 1-2-5 steps."""

from __future__ import annotations

import csv
import json
import math
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssdlab.model import units
from ssdlab.report.charts import pack, unpack

WEB = Path(__file__).parents[2] / "web"


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory):
    """Evaluates an expression with the front end's modules at hand: `node("web.numbers.number(1, 'ns')")`."""
    program, bundler = shutil.which("node"), WEB / "node_modules" / ".bin" / "esbuild"
    if program is None or not bundler.exists():
        pytest.skip("the front end's tools are not installed: make setup")
    names = ("numbers", "axes", "cloud", "unpack", "columns", "theme", "downloads")
    modules = "".join(f"import * as {name} from './{name}';" for name in names)
    modules += f"globalThis.web = {{ {', '.join(names)} }};"
    line = [bundler, "--bundle", "--format=esm", "--loader=ts", f"--sourcefile={WEB}/src/all.ts"]
    bundle = subprocess.run(
        line, input=modules, capture_output=True, text=True, check=True, cwd=WEB / "src"
    ).stdout

    def run(expression: str):
        script = f"{bundle}\nconsole.log(JSON.stringify(await ({expression})));"
        file = tmp_path_factory.mktemp("node") / "line.mjs"
        file.write_text(script)
        done = subprocess.run([program, file], capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    return run


def test_a_cell_of_csv_is_no_formula_and_a_number_stays_one(node) -> None:
    formulas = ["=1+1", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", '=HYPERLINK("http://x","y")', "-", "-a"]
    others = ["-5", "+3.21 %", "-1e-05", "+1\u2009048\u2009576", "-0.5", "a=1", "", "Model, of '=1'", "5-2"]
    written = node(f"{json.dumps([*formulas, *others])}.map(web.downloads.quoted).join(',')")
    assert next(csv.reader([written], strict=True)) == ["'" + each for each in formulas] + others


VALUES = [
    0,
    1,
    9.994,
    9.996,
    99.96,
    388,
    999.4,
    999.6,
    1000,
    1234,
    64_321,
    999_499,
    999_501,
    1_049_999,
    1.2e9,
    0.0512,
]


def test_numbers_are_printed_alike_on_both_sides(node) -> None:
    texts = {"iops": units.count_text, "ns": units.latency_text, "mb_s": units.throughput_text}
    texts["capacity"] = units.capacity_text
    for quantity, text in texts.items():
        found = node(f"{json.dumps(VALUES)}.map((value) => web.numbers.number(value, '{quantity}'))")
        assert dict(zip(VALUES, found, strict=True)) == {value: text(value) for value in VALUES}


def test_seconds_are_printed_alike_on_both_sides(node) -> None:
    """A bar said 0.00453 s of what text and card call 4.53 ms; from two minutes on the text has minutes."""
    values = [4.53e-3, 0.0999, 0.1, 1, 59.97, 119]
    found = node(f"{json.dumps(values)}.map((value) => web.numbers.number(value, 's'))")
    assert found == [units.span_text(value) for value in values]


def test_block_sizes_are_printed_alike_on_both_sides(node) -> None:
    sizes = [512, 1024, 4096, 131072, 1 << 20]
    found = node(f"{json.dumps(sizes)}.map((value) => web.numbers.number(value, 'bytes'))")
    assert found == [units.block_text(size) for size in sizes]


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ([110, 900], ["100", "200", "500", "1k"]),
        ([30, 1900], ["20", "50", "100", "200", "500", "1k", "2k"]),
        ([12, 90_000_000], ["10", "100", "1k", "10k", "100k", "1M", "10M", "100M"]),
    ],
)
def test_a_logarithmic_axis_has_ticks_at_1_2_5_steps(node, values: list[float], ticks: list[str]) -> None:
    option = node(
        "(() => { const axis = { title: '', quantity: 'iops', scale: 'log' };"
        f"const made = web.axes.axisOption(axis,"
        f" {{ theme: {{}}, side: 'y', values: {values}, length: 400 }});"
        "return { at: made.axisLabel.customValues, lines: made.axisTick.customValues,"
        "low: made.min, high: made.max,"
        "text: made.axisLabel.customValues.map(made.axisLabel.formatter) }; })()"
    )
    assert option["text"] == ticks
    assert option["at"] == option["lines"]
    assert option["low"] <= math.log10(min(values))
    assert option["high"] >= math.log10(max(values))


@pytest.mark.parametrize(("values", "last"), [([211_900], 250_000), ([40], 40), ([1.2, 9.99], 10)])
def test_a_linear_axis_ends_at_the_first_round_step_above_every_value(
    node, values: list[float], last: float
) -> None:
    assert node(f"web.axes.linearRange({values}, 5)")["max"] == pytest.approx(last)


def test_an_axis_takes_more_values_than_a_call_takes_arguments(node) -> None:
    assert node("web.axes.extent(Array.from({ length: 1e6 }, (_, index) => index))") == [0, 999_999]


@pytest.mark.parametrize("unit", [1.0, 0.5])
def test_columns_unpack_to_what_was_packed(node, unit: float) -> None:
    values = unit * np.array([0, 1, 255, 256, 65_535, 1 << 24, 1 << 31, 4_294_967_295])
    packed, found = pack(values, unit)
    assert found == unit
    assert node(f"web.unpack.unpack({json.dumps(packed)}, {unit}).then((got) => [...got])") == values.tolist()


LOADS = """(async () => {{
  const tracks = [{{ columns: [{{ key: 'end_s', packed: {packed}, unit: 1 }}] }}];
  const chart = {{ choices: [{{ tracks }}], measures: [{{ key: 'iops' }}] }};
  const columns = new web.columns.Columns();
  const Real = globalThis.DecompressionStream;
  let begun = 0;
  globalThis.DecompressionStream = class {{
    constructor(format) {{
      begun += 1;
      if ({fails} && begun === 1) throw new Error("no memory");
      return new Real(format);
    }}
  }};
  const press = () => columns.load(chart, 0, 0).then(() => "drawn", (error) => error.message);
  const both = await Promise.all([press(), press()]);
  const third = await press();
  return [both, third, begun, [...columns.of(tracks[0], 'end_s')]];
}})()"""


@pytest.mark.parametrize(
    ("fails", "expected"),
    [
        ("false", [["drawn", "drawn"], "drawn", 1, [1, 2]]),
        ("true", [["no memory", "no memory"], "drawn", 2, [1, 2]]),
    ],
)
def test_buttons_pressed_at_once_unpack_a_column_once(node, fails: str, expected: list[object]) -> None:
    packed, _ = pack(np.array([1.0, 2.0]), 1.0)
    assert node(LOADS.format(packed=json.dumps(packed), fails=fails)) == expected


@given(st.lists(st.integers(0, 2**32 - 1)))
def test_whole_numbers_are_packed_exactly(values: list[int]) -> None:
    packed, unit = pack(np.array(values, dtype=np.float64), 1.0)
    assert unpack(packed, unit).tolist() == values


@given(st.lists(st.floats(0, 1e13), min_size=1))
def test_any_column_comes_back_to_half_a_unit(values: list[float]) -> None:
    column = np.array(values)
    packed, unit = pack(column, 0.001)
    assert unit <= max(0.001, column.max() / 2**32 * 10)
    assert np.abs(unpack(packed, unit) - column).max() <= unit * 0.5001


@pytest.mark.parametrize("bad", [[-1.0], [float("nan")], [float("inf")]])
def test_what_is_no_count_is_refused(bad: list[float]) -> None:
    with pytest.raises(ValueError, match="negative or not numbers"):
        pack(np.array(bad), 1.0)


@pytest.mark.parametrize("quantity", ["s", "iops", "mb_s", "ns", "bytes", "capacity", "plain"])
@pytest.mark.long
def test_neighbouring_ticks_are_told_apart(node, quantity: str) -> None:
    """Neighbours are 1400 and 1402 where a view is enlarged: three digits named both 1400."""
    ticks = [1400 + step for step in range(0, 20, 2)]
    texts = node(f"{ticks}.map((value) => web.numbers.tick(value, '{quantity}'))")
    assert len(set(texts)) == len(ticks), texts
    assert node(f"web.numbers.tick(0.1 + 0.2, '{quantity}')").startswith("0.3"), "no rounding error is shown"


CLOUD = """(() => {{
  const xs = Float64Array.from({{ length: 86400 }}, (_, row) => row);
  const ys = xs.map((row) => (row * 7919) % 1000);
  const [x, y] = [{{ ends: {ends}, pixels: 1200 }}, {{ ends: [0, 1000], pixels: 320 }}];
  return [...web.cloud.inSight({{ xs, ys }}, 2, 8, x, y, {ends})];
}})()"""


def test_dots_of_a_day_are_few_and_a_zoom_shows_them_all(node) -> None:
    """Each dot is a call of the canvas: eight drives had 691,200, and a press of a button took a second."""
    whole = node(CLOUD.format(ends="[0, 86400]"))
    assert 1000 < len(whole) <= 4000
    assert node(CLOUD.format(ends="[5000, 5400]")) == list(range(5000, 5400))


def test_dots_that_stand_for_others_stand_in_no_stripes(node) -> None:
    """The first in time of each square would stand on its left edge."""
    rows = np.array(node(CLOUD.format(ends="[0, 86400]")))
    within = rows / 86400 * 1200 % 8
    share = np.histogram(within, bins=8, range=(0, 8))[0] / rows.size
    assert share.max() < 2 / 8


def test_no_line_of_one_drive_looks_like_another_drive(node) -> None:
    runs = [
        {"label": "", "short": "", "colour": at % 8, "shape": shape, "hollow": False}
        for at, shape in enumerate(
            ["circle", "rect", "triangle", "diamond", "circle", "rect", "triangle", "rect"]
        )
    ]
    of_one = "(run, _, runs) => [0, 1, 2, 3, 4, 5, 6, 7].map((at) => web.theme.tinted(run, at, runs, 8))"
    found = node(f"{json.dumps(runs)}.map({of_one})")
    for own, lines in zip(runs, found, strict=True):
        others = [(each["colour"], each["shape"]) for each in runs if each is not own]
        looks = [(each["colour"], each["shape"]) for each in lines]
        assert not set(looks) & set(others) and len({colour for colour, _ in looks}) == 8


@pytest.mark.parametrize(
    ("scale", "value", "place"),
    [("linear", 7.5, 7.5), ("log", 1000, 3), ("log", 0.01, -2), ("nines", 0.999, 3), ("nines", 0.9, 1)],
)
def test_a_value_has_its_place_on_an_axis(node, scale: str, value: float, place: float) -> None:
    assert node(f"web.axes.place({{ scale: '{scale}' }}, {value})") == pytest.approx(place)
