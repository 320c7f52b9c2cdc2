"""Of groups of equal size a fleet's page takes that of the newest run, for each figure the same."""

from __future__ import annotations

from itertools import permutations

from ssdlab.fleet.population import _Line, _population


def line(kin: int, value: float, folder: str, unfit: str | None = None) -> _Line:
    return _Line("a_iops", kin, "a", "IOPS", "higher", "qd1", unfit, "D", [value], [folder], [None])


def test_the_newest_group_is_taken_in_whatever_order_they_come() -> None:
    groups = [[line(1, 10.0, "20260101-a")], [line(2, 20.0, "20260103-b")], [line(3, 30.0, "20260102-c")]]
    assert {round(_population(each, 0.05).middle, 9) for each in permutations(groups)} == {20.0}


def test_what_is_unfit_is_never_taken_for_being_newer() -> None:
    groups = [[line(1, 10.0, "20260101-a")], [line(2, 20.0, "20260103-b", "throttled")]]
    assert {round(_population(each, 0.05).middle, 9) for each in permutations(groups)} == {10.0}
