"""`ssdlab sim`: the profiles of simulated drives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ssdlab.cli.output import print_fields, print_json, print_line, print_table
from ssdlab.units import capacity_text


def list_profiles(*, json: bool = False) -> None:
    """List the profiles that ssdlab brings along; each is a drive: sim:NAME.

    Parameters
    ----------
    json
        Print JSON, schema ssdlab.profiles/1.
    """
    from ssdlab import _core
    from ssdlab.drives.simulated import profiles

    known = [_core.check_profile(text)["profile"] for text in profiles().values()]
    if json:
        print_json({"schema": "ssdlab.profiles/1", "profiles": known})
        return
    rows = [
        (profile["name"], capacity_text(profile["capacity_bytes"]["value"]), profile["about"])
        for profile in known
    ]
    print_table(rows, ("profile", "capacity", "what it stands for"), right=(1,))


def show(profile: str, /, *, json: bool = False) -> None:
    """Print a profile: every figure with its unit and where it comes from.

    Parameters
    ----------
    profile
        Name of a profile, or the path of one.
    json
        Print JSON, schema ssdlab.profile/1.
    """
    from ssdlab import _core
    from ssdlab.drives.base import SIMULATED_PREFIX as PREFIX
    from ssdlab.drives.simulated import profile_text

    known = _core.check_profile(profile_text(profile.removeprefix(PREFIX)))["profile"]
    if json:
        print_json({"schema": "ssdlab.profile/1", **known})
        return
    print_line(known["name"], "bold")
    print_line(known["about"])
    if known.get("aliases"):
        print_line("also called " + ", ".join(known["aliases"]))
    for title, figures in _tables(known):
        print_line()
        print_line(title, "dim")
        print_fields(((name, _figure(figure)) for name, figure in figures.items()), indent=2)


def _tables(profile: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the tables of a profile with their figures, those outside any table first."""
    yield "drive", {name: value for name, value in profile.items() if _is_figure(value)}
    yield from _nested(profile)


def _nested(table: Mapping[str, Any], place: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    for name, value in table.items():
        if _is_figure(value):
            continue
        for inner in value if isinstance(value, list) else [value]:
            if isinstance(inner, dict):
                yield place + name, {each: figure for each, figure in inner.items() if _is_figure(figure)}
                yield from _nested(inner, f"{place}{name}.")


def _is_figure(value: object) -> bool:
    return isinstance(value, dict) and "source" in value


def _figure(figure: Mapping[str, Any]) -> str:
    value = figure["value"]
    shown = ", ".join(f"{each:g}" for each in value) if isinstance(value, list) else value
    note = f": {figure['note']}" if figure.get("note") else ""
    return f"{shown}  ({figure['source']}{note})"
