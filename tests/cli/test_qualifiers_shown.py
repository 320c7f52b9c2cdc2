"""`show` tells once what each qualifier of figures means, and `--require-steady` asks for them by code."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from cli.resolved import legend_of, resolved
from library.made import manifest, run
from ssdlab.cli import main
from ssdlab.cli.ordering import print_run
from ssdlab.results.qualifiers import ALL_USES, CATALOGUE
from ssdlab.results.schema import Child, Member

THROTTLED = {"code": "throttled", "steps": [1]}
PASS = {"code": "one-pass"}


def made(library: Path, number: int, figures: dict[str, list[dict[str, Any]]], **changes: Any) -> Path:
    """A run of a method that nobody has here, with these qualifiers of its figures."""
    stored: Any = manifest(number, dict.fromkeys(figures, 1000.0)).result
    for each in (scalars := stored["scalars"]):
        each |= {"steps": [1], "qualifiers": figures[each["name"]]}
    result = {"kind": "of-another", "quick": False, "scalars": scalars}
    return run(library, number, {}, result=result, **changes)


def shown(folder: Path, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    assert main(["show", folder.name, "--all", "--library", str(folder.parent), *words]) == 0
    return capsys.readouterr().out


def test_each_qualifier_is_told_once_with_what_helps(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unproven = [{"code": "state-unproven", "why": why} for why in ("not steady", "not judged", "not steady")]
    folder = made(
        tmp_path,
        1,
        {
            "a_iops": [THROTTLED, PASS],
            "b_iops": [unproven[0], THROTTLED],
            "c_iops": [unproven[1], THROTTLED],
            "d_iops": [unproven[2], THROTTLED],
        },
    )
    told = shown(folder, capsys)
    assert re.search(r"a iops +1.00k IOPS \(throttled, one random pass\)", resolved(told))
    unproven_entry, heat, one_pass = legend_of(told).values()
    kind = CATALOGUE["state-unproven"]
    assert unproven_entry == (
        f"state unproven: {kind.sentence[:-1]} (not steady; not judged). {kind.advice.capitalize()}"
    )
    heat_kind, pass_kind = CATALOGUE["throttled"], CATALOGUE["one-pass"]
    assert heat == f"throttled: {heat_kind.sentence} {heat_kind.advice.capitalize()}"
    assert one_pass == f"one random pass: {pass_kind.sentence}"


def test_json_has_what_each_code_means(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = made(tmp_path, 1, {"a_iops": [PASS], "b_iops": [THROTTLED, PASS]})
    told = json.loads(shown(folder, capsys, "--json"))
    assert list(told["qualifiers"]) == ["throttled", "one-pass"] and "states" not in told
    kind = CATALOGUE["throttled"]
    assert told["qualifiers"]["throttled"] == {
        "label": "throttled",
        "sentence": kind.sentence,
        "advice": kind.advice,
        "forbids": sorted(ALL_USES),
        "figures": ["b_iops"],
    }
    assert told["qualifiers"]["one-pass"]["forbids"] == []
    assert told["qualifiers"]["one-pass"]["figures"] == ["a_iops", "b_iops"]
    assert [each["code"] for each in told["result"]["scalars"][1]["qualifiers"]] == ["throttled", "one-pass"]


def test_nothing_is_told_where_nothing_is_the_matter(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = made(tmp_path, 1, {"a_iops": []})
    assert json.loads(shown(folder, capsys, "--json"))["qualifiers"] == {}
    assert legend_of(shown(folder, capsys)) == {}


def test_a_code_of_a_later_ssdlab_is_never_read_as_good(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = made(tmp_path, 1, {"a_iops": [{"code": "haunted", "why": "by a ghost"}]})
    assert "(by a ghost)" in " ".join(shown(folder, capsys).split())
    told = json.loads(shown(folder, capsys, "--json"))["qualifiers"]
    assert list(told) == ["haunted"] and told["haunted"]["forbids"] == sorted(ALL_USES)


def suite_of(library: Path, parts: dict[str, dict[str, list[dict[str, Any]]]]) -> Path:
    """A finished suite of such runs."""
    children, outcomes = [], []
    for number, (part, figures) in enumerate(parts.items(), start=1):
        member = Member(suite="20261121-0900-qd1-000100", part=part, preparation_seed=1)
        name = made(library, number, figures, member=member).name
        of_part = {"part": part, "run_id": name, "method": "qd1", "title": "", "state": ""}
        children.append(
            Child(version=2, params={}, quick=False, seed=1, preparation_seed=1, drive="", **of_part)
        )
        outcomes.append(of_part)
    result = {"kind": "suite", "quick": False, "outcomes": outcomes}
    return run(library, 100, {}, result=result, children=tuple(children))


def test_a_suite_marks_the_figures_of_the_parts_that_have_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = suite_of(tmp_path, {"one": {"a_iops": [PASS]}, "two": {"a_iops": [PASS, THROTTLED]}})
    lines = resolved(shown(folder, capsys)).splitlines()
    heads = [at for at, line in enumerate(lines) if line.startswith(("one  ", "two  "))]
    assert [re.sub(" {2,}", "  ", lines[at + 1]) for at in heads] == [
        "  a iops  1.00k IOPS (one random pass)",
        "  a iops  1.00k IOPS (throttled, one random pass)",
    ]
    told = json.loads(shown(folder, capsys, "--json"))["qualifiers"]
    assert {code: each["figures"] for code, each in told.items()} == {
        "throttled": ["a_iops"],
        "one-pass": ["a_iops"],
    }


def test_a_state_that_is_not_shown_fails_where_it_is_required(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unproven = [{"code": "state-unproven", "why": "not steady", "steps": [step]} for step in (1, 2)]
    figures = {"a_iops": unproven[:1], "b_iops": unproven[:1], "c_iops": unproven[1:], "d_iops": [THROTTLED]}
    bad = made(tmp_path, 1, figures)
    good = made(tmp_path, 2, {"a_iops": [THROTTLED, PASS]})
    asked = "steady state was not shown, but --require-steady demands it: qd1, "
    assert print_run(bad, json=False) == 0
    assert print_run(good, json=False, require_steady=True) == 0
    assert asked not in capsys.readouterr().err
    assert print_run(bad, json=False, require_steady=True) == 1
    told = [line for line in capsys.readouterr().err.splitlines() if line.startswith(asked)]
    assert told == [f"{asked}a iops; b iops: not steady", f"{asked}c iops: not steady"]
