"""`sim show`: figures under the names of their tables, and a profile's own text, to begin another with."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ssdlab.cli import main
from ssdlab.drives.simulated.profiles import check_profile, profile_id, profiles


@pytest.mark.parametrize("name", ["tiny-test", "840pro", "xpoint"])
def test_the_text_of_a_profile_is_one_to_begin_with(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sim", "show", name, "--toml"]) == 0
    printed = capsys.readouterr().out
    assert printed == profiles()[profile_id(name)]
    mine = tmp_path / "mine.toml"
    mine.write_text(printed)
    assert main(["sim", "show", str(mine), "--toml"]) == 0
    assert capsys.readouterr().out == printed
    assert check_profile(str(mine)) == check_profile(name)


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (["tiny-test", "--toml", "--json"], "--toml and --json"),
        (["tiny-test,spare=25%", "--toml"], "which drive options do not change"),
        (["tiny-test,seed=7", "--toml"], "use: ssdlab sim show tiny-test --toml"),
        (["nosuch", "--toml"], "nosuch"),
    ],
)
def test_the_text_is_refused_beside_what_it_cannot_show(
    asked: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sim", "show", *asked]) == 2
    captured = capsys.readouterr()
    assert why in captured.err + captured.out
    assert profiles()["tiny-test"] not in captured.out


def test_idle_states_are_called_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sim", "show", "nvme-tlc-client"]) == 0
    tables = dict(table.split("\n", 1) for table in capsys.readouterr().out.split("\n\n"))
    assert [title for title in tables if "idle_states" in title] == [
        "power.idle_states ps1",
        "power.idle_states ps2",
    ]
    assert re.match(r"  mw +25 mW ", tables["power.idle_states ps1"])
    assert re.match(r"  mw +5 mW ", tables["power.idle_states ps2"])
