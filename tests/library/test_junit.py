"""The gate's verdicts as JUnit's XML, read by another program's reader."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import junitparser
import pytest
from hypothesis import given
from hypothesis import strategies as st

from library.made import run
from ssdlab.cli import main
from ssdlab.formats.junit import Case, Outcome, report
from ssdlab.model.printable import printable
from ssdlab.results import catalogue
from ssdlab.results.tags import change_tags

READ = {"failed": junitparser.Failure, "skipped": junitparser.Skipped}
INSIDE = {
    "testsuites": (("testsuite",), {"name", "tests", "failures", "errors"}),
    "testsuite": (("properties", "testcase"), {"name", "tests", "failures", "errors", "skipped"}),
    "properties": (("property",), set()),
    "property": ((), {"name", "value"}),
    "testcase": (("failure", "skipped", "system-out"), {"name", "classname"}),
    "failure": ((), {"message", "type"}),
    "skipped": ((), {"message"}),
    "system-out": ((), set()),
}
"""Of the schema that Jenkins reads JUnit by: elements in their order, and attributes."""


def fits(element: ElementTree.Element) -> None:
    children, attributes = INSIDE[element.tag]
    assert set(element.attrib) == attributes, element.tag
    places = [children.index(each.tag) for each in element]
    assert places == sorted(places), element.tag
    for each in element:
        fits(each)


def read(data: bytes) -> junitparser.TestSuite:
    fits(ElementTree.fromstring(data))
    (suite,) = junitparser.JUnitXml.fromstring(data)
    return suite


@pytest.fixture
def library(tmp_path: Path) -> Path:
    for tag, first, factor, repeats in (("base", 0, 1.0, 5), ("slow", 20, 1.2, 5), ("few", 40, 1.0, 4)):
        for number in range(first, first + repeats):
            figures = {"qd1_random_read_p99_ns": (100_000.0 + number) * factor, "qd1_random_read_iops": 9e3}
            folder = run(
                tmp_path, number, figures, drive_id="SERIAL", at=f"2026-11-21T09:{number:02}:00.000Z"
            )
            change_tags(folder, [tag])
            catalogue.add(tmp_path, folder)
    return tmp_path


def gate(library: Path, new: str, *rules: str, to: Path) -> int:
    asked = [word for rule in rules for word in ("--fail-if", rule)]
    return main(["compare", "tag:base", new, *asked, "--library", str(library), "--junit", str(to)])


def test_a_case_for_each_rule_with_what_moved(library: Path, tmp_path: Path) -> None:
    file = tmp_path / "gate.xml"
    assert gate(library, "tag:slow", "p99 > +5%", "iops < -5%", to=file) == 1
    suite = read(file.read_bytes())
    assert (suite.tests, suite.failures, suite.skipped, suite.errors) == (2, 1, 0, 0)
    p99, iops = suite
    assert (p99.name, p99.classname) == ("qd1_random_read_p99_ns > +5.00 %", "ssdlab.compare.qd1")
    (failure,) = p99.result
    assert isinstance(failure, junitparser.Failure) and "120 µs, 5 runs" in failure.text
    assert iops.is_passed and iops.time is None
    known = {each.name: each.value for each in suite.properties()}
    assert known["base.given"] == "tag:base" and len(known["new.runs"].split(", ")) == 5
    assert known["new.drives"] == "Model of SERIAL"


def test_what_cannot_be_decided_is_skipped(library: Path, tmp_path: Path) -> None:
    file = tmp_path / "gate.xml"
    assert gate(library, "tag:few", "p99 > +5%", to=file) == 2
    suite = read(file.read_bytes())
    (case,) = suite
    assert suite.skipped == 1 and case.is_skipped and "one side has 4" in case.result[0].message


def test_only_an_older_report_is_replaced(library: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.xml"
    own.write_text("<testsuites/>")
    assert gate(library, "tag:slow", "p99 > +5%", to=own) == 2
    assert own.read_text() == "<testsuites/>"
    file = tmp_path / "gate.xml"
    for rule, status in (("p99 > +5%", 1), ("p99 > +50%", 0)):
        assert gate(library, "tag:slow", rule, to=file) == status
    assert read(file.read_bytes()).failures == 0


def test_a_report_without_a_gate_is_refused(library: Path, tmp_path: Path) -> None:
    assert gate(library, "tag:slow", to=tmp_path / "gate.xml") == 2
    assert not (tmp_path / "gate.xml").exists()


ANY = st.text(st.characters())
OUTCOMES: st.SearchStrategy[Outcome] = st.sampled_from(["passed", "failed", "skipped"])


@given(st.lists(st.builds(Case, ANY, ANY, OUTCOMES, ANY, st.lists(ANY, max_size=3))), ANY)
def test_whatever_a_drive_calls_itself_is_read_back(cases: list[Case], name: str) -> None:
    suite = read(report("ssdlab compare", cases, {"serial": name}))
    outcomes = ["failed" if each.is_failure else "skipped" if each.is_skipped else "passed" for each in suite]
    assert outcomes == [each.outcome for each in cases]
    assert (suite.tests, suite.failures) == (len(cases), outcomes.count("failed"))
    for kept, case in zip(suite, cases, strict=True):
        if case.name.isprintable():
            assert kept.name == case.name
    assert [each.value for each in suite.properties()] == ([printable(name)] if name else [])


@pytest.mark.long
def test_a_profile_is_checked_into_a_report(tmp_path: Path) -> None:
    file = tmp_path / "check.xml"
    status = main(["sim", "check", "samsung-840-pro-256gb", "--quick", "--junit", str(file)])
    suite = read(file.read_bytes())
    assert suite.tests == 8 and status == bool(suite.failures)
