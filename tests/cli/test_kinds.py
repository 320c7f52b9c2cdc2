"""Options that take a whole number take nothing else: nothing is rounded, and each tells its range."""

from __future__ import annotations

import pytest

from ssdlab.cli import main

SERVE = ["sim", "serve", "tiny-test", "--tcp"]
RUN = ["run", "qd1", "sim:tiny-test", "--dry-run", "--seed"]
PLAN = ["plan", "qd1", "sim:tiny-test", "--repeat"]


@pytest.mark.parametrize("words", [SERVE, RUN, PLAN], ids=lambda words: words[-1])
@pytest.mark.parametrize("given", ["1.5", "0x10", "1e3", "nan", "", "٣", "9" * 5000])
def test_only_a_whole_number_is_one(words: list[str], given: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*words, given]) == 2
    said = capsys.readouterr().err
    assert f"{words[-1].lstrip('-')} is" in said
    assert "not a whole number" in said


@pytest.mark.parametrize(
    ("words", "given", "bounds"),
    [
        (SERVE, "-1", "0 to 65535"),
        (SERVE, "65536", "0 to 65535"),
    ],
)
def test_a_number_out_of_range_is_told_the_range(
    words: list[str], given: str, bounds: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, given]) == 2
    said = capsys.readouterr().err
    assert f"{words[-1]} is {given}, out of range" in said
    assert f"Give {bounds}" in said
