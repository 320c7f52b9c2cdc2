"""A gate as JUnit XML, which CI systems read: a test suite with a test case for each rule or rating.

Elements, attributes and their order follow the schema by which Jenkins' xUnit plug-in reads JUnit. It is the
common denominator of JUnit's readers. No case has a time, because a gate judges earlier measurements.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal
from xml.etree import ElementTree

from ssdlab.host.output_files import OutputFile
from ssdlab.model.printable import printable

if TYPE_CHECKING:
    from pathlib import Path

Outcome = Literal["passed", "failed", "skipped"]
_MADE_BY = "ssdlab"
_ELEMENTS: dict[Outcome, str] = {"failed": "failure", "skipped": "skipped"}


@dataclass(frozen=True)
class Case:
    """One rule or rating that was judged.

    Attributes
    ----------
    of
        Group of the case, as a class groups tests: a method or a part.
    name
        What is judged; the same from build to build.
    why
        The reason, in one line.
    figures
        Measured figures, one per line.
    """

    of: str
    name: str
    outcome: Outcome
    why: str = ""
    figures: Sequence[str] = ()


def place(path: Path) -> OutputFile:
    """Reserve the file name of a report, and remove an older report, which could pass for the new one.

    Raises
    ------
    UsageError, Refused
        See `OutputFile`.
    """
    file = OutputFile(path, ours=_is_report, noun="JUnit report")
    file.remove()
    return file


def _is_report(head: bytes) -> bool:
    return f'<testsuites name="{_MADE_BY}"'.encode() in head


def report(gate: str, cases: Sequence[Case], properties: Mapping[str, str]) -> bytes:
    """Return the report of a gate, UTF-8.

    Parameters
    ----------
    gate
        Name of the gate: the command.
    cases
        Judged cases; those that could not be decided are skipped.
    properties
        Further facts: runs, drives, firmware. Those without a value are left out.
    """
    counts = Counter(each.outcome for each in cases)
    sums = {"tests": len(cases), "failures": counts["failed"], "errors": 0}
    whole = _element(None, "testsuites", name=_MADE_BY, **sums)
    suite = _element(whole, "testsuite", name=gate, **sums, skipped=counts["skipped"])
    known = {name: value for name, value in properties.items() if value}
    if known:
        listed = _element(suite, "properties")
        for name, value in known.items():
            _element(listed, "property", name=name, value=value)
    for each in cases:
        case = _element(suite, "testcase", name=each.name, classname=f"{gate.replace(' ', '.')}.{each.of}")
        figures = "\n".join(map(printable, each.figures))
        if each.outcome == "passed":
            _element(case, "system-out").text = "\n".join(filter(None, (printable(each.why), figures)))
        else:
            kind = {"type": "gate"} if each.outcome == "failed" else {}
            _element(case, _ELEMENTS[each.outcome], message=each.why, **kind).text = figures
    ElementTree.indent(whole)
    return b'<?xml version="1.0" encoding="UTF-8"?>\n%s\n' % ElementTree.tostring(whole, encoding="utf-8")


def _element(parent: ElementTree.Element | None, tag: str, **attributes: object) -> ElementTree.Element:
    """Make an element; its attributes are cleaned of characters that XML cannot hold."""
    plain = {name: printable(str(value)) for name, value in attributes.items()}
    return ElementTree.Element(tag, plain) if parent is None else ElementTree.SubElement(parent, tag, plain)
