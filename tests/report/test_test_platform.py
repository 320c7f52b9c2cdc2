"""The component table on the page: unknown is printed, prices where there are any, safe links only."""

from __future__ import annotations

from dataclasses import replace

from ssdlab.host.platform import Component, Platform
from ssdlab.report.sections.provenance import _platform as table_of

COOLER = Component("cooler", "Cooler", None)
SUPPLY = Component(
    "power_supply", "Power supply", "Seasonic PX", link="https://example.org/px", price="130 EUR"
)


def table(*components: Component, name: str | None = None):
    return table_of(Platform(name, components).as_dict())


def test_unknown_is_printed_and_prices_are_a_column_of_their_own() -> None:
    shown = table(COOLER, SUPPLY, name="Rig A")
    assert shown.caption == "Test platform (Rig A)"
    assert shown.head == ("Component", "What it is", "Price")
    assert [[cell.text for cell in row] for row in shown.rows] == [
        ["Cooler", "unknown", "—"],
        ["Power supply", "Seasonic PX", "130 EUR"],
    ]
    assert [row[1].link for row in shown.rows] == [None, "https://example.org/px"]


def test_without_prices_there_is_no_column_for_them() -> None:
    shown = table(COOLER, replace(SUPPLY, price=None))
    assert (shown.caption, shown.head) == ("Test platform", ("Component", "What it is"))


def test_a_link_that_is_no_web_page_is_none() -> None:
    (row,) = table(replace(SUPPLY, link="javascript:alert(1)")).rows
    assert row[1].link is None


def test_a_run_that_recorded_none_has_no_table() -> None:
    assert table_of(None).rows == ()
