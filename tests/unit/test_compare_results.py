"""The script that holds two versions against each other finds what differs, and nothing else."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ssdlab.report.charts import packed

SCRIPT = Path(__file__).parents[2] / "scripts" / "compare_results.py"

RESULT: dict[str, Any] = {
    "status": 0,
    "figures": [
        {"name": "a_iops", "label": "reads", "value": 1.5, "unit": "IOPS", "unshown": "state moved"},
        {"name": "b_ns", "label": "time", "value": None, "unit": "ns"},
    ],
    "warnings": [{"code": "failed", "what": "3 failed"}, {"code": "failed", "what": "4 failed"}],
    "caveats": ["it was quick", "it was small"],
    "rows": [1, 2],
    "none": {},
    "run_id": "a",
}


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("compare_results", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look themselves up there
    spec.loader.exec_module(module)
    return module


def with_figure(number: int, **changes: Any) -> dict[str, Any]:
    figures = [dict(each) for each in RESULT["figures"]]
    figures[number] |= changes
    return {"figures": figures}


def found(script: ModuleType, after: dict[str, Any], *, allow: str = "", again: Any = None) -> Any:
    differences = script.Differences(script.rules(allow))
    script.compare({"x": RESULT}, {"x": again or RESULT}, {"x": after}, differences)
    return differences


def test_the_same_is_the_same_and_what_before_does_not_repeat_is_left_out(script: ModuleType) -> None:
    same = found(script, {**RESULT, "run_id": "c"}, again={**RESULT, "run_id": "b"})
    assert same.same and not same.excused
    assert dict(same.unrepeated) == {"x.run_id": 1}
    assert same.compared == 19


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"status": 1}, "x.status"),
        (with_figure(0, value=1.5000000000000002), "x.figures[a_iops].value"),
        (with_figure(0, value="1.5"), "x.figures[a_iops].value"),
        (with_figure(0, unshown="state not shown"), "x.figures[a_iops].unshown"),
        (with_figure(1, value=0.0), "x.figures[b_ns].value"),
        ({"figures": RESULT["figures"][::-1]}, "x.figures[order]"),
        ({"warnings": RESULT["warnings"][:1]}, "x.warnings[order]"),
        ({"rows": [1]}, "x.rows"),
        ({"rows": [2, 1]}, "x.rows"),
        ({"none": []}, "x.none"),
    ],
)
def test_values_codes_and_orders_must_not_differ(
    script: ModuleType, change: dict[str, Any], place: str
) -> None:
    differences = found(script, {**RESULT, **change})
    assert place in [where for _, where, _ in differences.wrong]
    assert not differences.sentences


def test_a_figure_more_shifts_no_other(script: ModuleType) -> None:
    more = {"name": "0_more", "label": "more", "value": 1, "unit": "x"}
    differences = found(script, {**RESULT, "figures": [more, *RESULT["figures"]]})
    assert {verb for verb, _, _ in differences.wrong} == {"added", "changed"}
    assert {where for verb, where, _ in differences.wrong if verb == "changed"} == {"x.figures[order]"}


def test_texts_are_told_by_their_keys_and_listed_apart(script: ModuleType) -> None:
    differences = found(script, {**RESULT, **with_figure(0, label="Reads"), "caveats": ["it was small"]})
    assert not differences.wrong and not differences.same
    assert set(differences.sentences) == {
        ("reads", "Reads", "x.figures[].label"),
        ("it was quick", "", "x.caveats"),
    }


@pytest.mark.parametrize(
    ("place", "text"),
    [("x.a[7.5 GB].label", True), ("x.caveats", True), ("x.lines[order]", False), ("x.label.code", False)],
)
def test_an_order_is_no_text_whatever_is_ordered(script: ModuleType, place: str, text: bool) -> None:
    assert script.is_text(place) is text


def test_of_many_lines_only_those_that_before_does_not_repeat_are_left_out(script: ModuleType) -> None:
    def held(after: list[str]) -> Any:
        differences = script.Differences()
        script.compare(
            *({"lines": each} for each in (["a", "at 9", "b"], ["a", "at 10", "b"], after)), differences
        )
        return differences

    assert held(["a", "at 11", "b"]).same
    assert held(["a", "at 9", "b"]).same
    assert [(old, new) for old, new, _ in held(["a", "at 11", "c"]).sentences] == [("b", "c")]
    assert not held(["a", "at 11", "more", "b"]).same


def test_the_allow_list_excuses_what_it_names_and_tells_what_nothing_needed(script: ModuleType) -> None:
    gone = {name: value for name, value in RESULT.items() if name != "caveats"}
    after = {**gone, **with_figure(1, label="mean"), "extra": 1}
    allow = """
    removed x.caveats  # they are findings
    changed *.label  # a word
    added x.*  # new
    removed y.*  # never
    """
    differences = found(script, after, allow=allow)
    assert differences.same
    assert [differences.excused[rule] for rule in differences.allowed] == [1, 1, 1, 0]
    assert not found(script, {**after, "status": 1}, allow=allow).same


def test_a_renamed_key_is_compared_under_its_new_name(script: ModuleType) -> None:
    figures = [
        {("qualifier" if name == "unshown" else name): value for name, value in each.items()}
        for each in RESULT["figures"]
    ]
    allow = "renamed unshown -> qualifier  # one word"
    assert found(script, {**RESULT, "figures": figures}, allow=allow).same
    figures[0]["qualifier"] = "throttled"
    assert not found(script, {**RESULT, "figures": figures}, allow=allow).same
    assert not found(script, {**RESULT, "figures": figures}).same


@pytest.mark.parametrize("line", ["removed x", "removed  # why", "forget x # why", "renamed a # why"])
def test_a_line_without_reason_or_sense_is_refused(script: ModuleType, line: str) -> None:
    with pytest.raises(SystemExit) as refused:
        script.rules(line)
    assert refused.value.code == 2


DATA = {
    "run-0": {"run_id": "first"},
    "run-1": {"run_id": "second"},
    "page-data": {
        "charts": {"chart": {"views": [{"label": "IOPS", "lines": [{"run": 1, "points": [[1, 2]]}]}]}},
        "heads": {"chart": {"notes": [{"runs": [0, 1], "text": "state not shown"}]}},
    },
}
PAGE = """
<main><h1>Title</h1><section id="reads"><p class="value unshown" data-run="1">5 IOPS</p>
<figure id="chart"><figcaption>Reads</figcaption><br></figure><p>after</p></section></main>
<script>let code = "ignored"</script>
""" + "".join(
    f'<script type="application/gzip" id="{name}">{packed(json.dumps(held).encode())}</script>'
    for name, held in DATA.items()
)


def test_a_page_is_its_sections_and_charts_with_runs_by_name(script: ModuleType) -> None:
    page = script.of_page(PAGE)
    assert page["runs"] == ["first", "second"]
    assert page["parts"]["reads"]["texts"] == ["5 IOPS", "after"]
    assert page["parts"]["chart"]["texts"] == ["Reads"]
    assert "p class=value unshown data-run=1" in page["parts"]["reads"]["marks"]
    data = page["data"]["page-data"]
    assert data["charts"]["chart"]["views"][0]["lines"][0]["run"] == "second"
    assert data["heads"]["chart"]["notes"][0]["runs"] == ["first", "second"]
    assert "ignored" not in str(page)


def test_runs_are_named_by_scene_or_by_what_they_are_among_their_kind(script: ModuleType) -> None:
    def run(run_id: str, created: str, suite: str = "") -> dict[str, str]:
        kind = {"method": "qd1", "drive_id": "d", "variant": ""}
        return {"run_id": run_id, "created": created, "suite": suite, **kind}

    suite = "20260101-0900-base-000007"
    runs = [run("20261128-0400-qd1-aaaaa2", "3", suite), run("20261128-0400-qd1-aaaaa1", "2", suite)]
    names = script.named([*runs, run(suite, "1")])
    assert names[suite] == "base"
    assert [names[each["run_id"]] for each in runs] == ["base/qd1/d//2", "base/qd1/d//1"]
    told = {"text": "see 20261128-0400-qd1-aaaaa1, or aaaaa1; xaaaaa1 is none"}
    assert script.renamed(told, names) == {"text": "see base/qd1/d//1, or base/qd1/d//1; xaaaaa1 is none"}


def figure(**fields: Any) -> dict[str, Any]:
    return {"scalars": [{"name": "a_iops", "value": 1.5, **fields}]}


@pytest.mark.parametrize("allow", ["changed *  # all", "changed *.scalars*  # all"])
def test_no_line_allows_that_a_figure_is_another(script: ModuleType, allow: str) -> None:
    differences = script.Differences(script.rules(allow))
    script.compare({"x": figure()}, {"x": figure()}, {"x": figure(value=1.6, kind="b")}, differences)
    assert [place for verb, place, _ in differences.wrong if verb == "changed"] == ["x.scalars[a_iops].value"]


@pytest.mark.parametrize(("value", "wrong"), [(None, False), (2.0, True)])
def test_a_figure_that_comes_new_has_no_value(script: ModuleType, value: object, wrong: bool) -> None:
    differences = script.Differences(script.rules("added *  # new\nchanged *[order]  # new"))
    after = figure()
    after["scalars"].append({"name": "b_iops", "value": value})
    script.compare({"x": figure()}, {"x": figure()}, {"x": after}, differences)
    assert bool(differences.wrong) is wrong


def test_amounts_in_texts_may_neither_come_nor_go_where_words_may_change(script: ModuleType) -> None:
    def held(after: str, allow: str = "changed *.lines  # words") -> list[str]:
        differences = script.Differences(script.rules(allow))
        before = {"x": {"lines": ["reads 201k IOPS in 20 s"]}}
        script.compare(before, before, {"x": {"lines": [after]}}, differences)
        return [place for _, place, _ in differences.wrong]

    assert held("201k IOPS are read in 21 s") == []
    assert held("it reads") == ["x.told[201k IOPS]"]
    assert held("201k IOPS, 76.3 %") == ["x.told[76.3 %]"]


@pytest.mark.parametrize(("whole", "same"), [(True, False), (False, True)])
def test_a_line_that_nothing_needed_fails_where_all_was_compared(
    script: ModuleType, whole: bool, same: bool
) -> None:
    differences = script.Differences(script.rules("added y  # never"), whole=whole)
    script.compare({"x": RESULT}, {"x": RESULT}, {"x": RESULT}, differences)
    assert differences.same is same and len(differences.needless) == 1


def test_a_checkout_with_the_package_of_another_is_refused(script: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "python").mkdir()
    (tmp_path / ".venv").symlink_to(SCRIPT.parents[1] / ".venv")
    script.check(SCRIPT.parents[1])
    with pytest.raises(SystemExit):
        script.check(tmp_path)


def test_the_list_in_the_script_is_one(script: ModuleType) -> None:
    assert len(script.rules(script.ALLOWED)) > 0
