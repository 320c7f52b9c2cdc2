"""What a page says of several runs says of which of them; no two buttons of a group bear one name."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from ssdlab.report.sections.drive import _names
from ssdlab.report.together import texts_of
from ssdlab.report.view import Buttons


def shown(label: str, title: str) -> Any:
    manifest = SimpleNamespace(method=SimpleNamespace(title=title))
    return SimpleNamespace(
        label=label, style=SimpleNamespace(short=label), run=SimpleNamespace(manifest=manifest)
    )


def test_runs_of_one_drive_are_told_apart_on_the_time_line() -> None:
    runs = [shown("A", "Queue depth 1"), shown("A", "Fill"), shown("B", "Fill")]
    assert _names(runs) == ["A, Queue depth 1", "A, Fill", "B"]


def test_equal_buttons_are_numbered() -> None:
    assert Buttons("view", "Point", ("a", "b", "a", "a")).names == ("a", "b", "a (2)", "a (3)")


def test_a_text_names_the_drive_unless_it_is_of_all() -> None:
    one, other = shown("A", ""), shown("B", "")
    assert texts_of([(one, "quick"), (other, "quick")]) == ("quick",)
    assert texts_of([(one, "hot"), (other, "")]) == ("A: hot",)
