"""`ssdlab sim`: the profiles of simulated drives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ssdlab.cli.output import print_fields, print_json, print_line, print_table
from ssdlab.model.errors import UsageError
from ssdlab.model.units import capacity_text, share_text

if TYPE_CHECKING:
    from ssdlab.drives.simulated.text import SimulatedText


def list_profiles(*, json: bool = False) -> None:
    """List the built-in profiles; each is a drive: sim:NAME.

    Parameters
    ----------
    json
        Print JSON, schema ssdlab.profiles/1.
    """
    import ssdlab._core as _core
    from ssdlab.drives.simulated.profiles import profiles

    known = [{"id": name} | _core.check_profile(text)["profile"] for name, text in profiles().items()]
    if json:
        print_json({"schema": "ssdlab.profiles/1", "profiles": known})
        return
    rows = [
        (
            profile["id"],
            capacity_text(profile["capacity_bytes"]["value"]),
            f"{profile['name']}: {profile['about']}",
        )
        for profile in known
    ]
    print_table(rows, ("profile", "capacity", "represents"), right=(1,))


def show(profile: str, /, *, json: bool = False, toml: bool = False) -> None:
    """Show a profile: every value with its unit and source, and the drive it makes.

    To write your own profile, copy one: ssdlab sim show tiny-test --toml > mine.toml. Give it another name
    and change its values; the drive is then sim:./mine.toml.

    Parameters
    ----------
    profile
        Name or path of a profile, optionally with drive options, as in tiny-test,spare=25%.
    json
        Print JSON, schema ssdlab.profile/1.
    toml
        Print the profile's TOML text unchanged.
    """
    from ssdlab.drives.simulated.profiles import OperationEnergy, check_profile, profile_text
    from ssdlab.drives.simulated.text import SimulatedText
    from ssdlab.model.capabilities import SIMULATED_PREFIX as PREFIX

    text = SimulatedText.parse(PREFIX + profile.removeprefix(PREFIX))
    if toml:
        _check_toml(text, json=json)
    made = check_profile(text.profile, **text.settings())
    if toml:
        print(profile_text(text.profile), end="")
        return
    known = made.pop("profile")
    if json:
        print_json({"schema": "ssdlab.profile/1", **known, "made": {"scale": text.scale, **made}})
        return
    print_line(known["name"], "bold")
    print_line(known["about"])
    if known.get("aliases"):
        print_line("also called " + ", ".join(known["aliases"]))
    for title, figures in _tables(known):
        print_line()
        print_line(title, "dim")
        print_fields(((name, _figure(name, figure)) for name, figure in figures.items()), indent=2)
    if (energy := OperationEnergy.of(known)) is not None:
        print_line()
        print_line("power and energy, one die's with all its planes", "dim")
        print_fields(energy.lines(), indent=2)
    print_line()
    print_line(f"a drive of it: {text}", "dim")
    print_fields(_made(text.scale, made), indent=2)


def _check_toml(text: SimulatedText, *, json: bool) -> None:
    """Refuse options that a profile's TOML text cannot show.

    Raises
    ------
    UsageError
        JSON or drive options are given too.
    """
    from ssdlab.drives.simulated.text import SimulatedText

    if json:
        raise UsageError("--toml and --json cannot be combined", "give one of them")
    if text != SimulatedText(text.profile):
        raise UsageError(
            "--toml prints the profile's own text, which drive options do not change",
            f"leave out --toml to see that drive, or use: ssdlab sim show {text.profile} --toml",
        )


def _tables(profile: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the tables of a profile with their values: top-level values first, then nested tables.

    Tables of an array have their name, or a number.
    """
    figures = {name: value for name, value in profile.items() if _is_figure(value)}
    if figures:
        yield prefix or "drive", figures
    for name, value in profile.items():
        path = f"{prefix}.{name}" if prefix else name
        if isinstance(value, dict) and not _is_figure(value):
            yield from _tables(value, path)
        elif isinstance(value, list) and all(isinstance(each, dict) for each in value):
            for number, each in enumerate(value, start=1):
                yield from _tables(each, f"{path} {each.get('name', number)}")


def _is_figure(value: object) -> bool:
    return isinstance(value, dict) and "source" in value


_UNITS = {
    "_pj_per_byte": "pJ/B",
    "_k_per_w": "K/W",
    "_mb_s": "MB/s",
    "_mt_s": "MT/s",
    "_bytes": "B",
    "_pct": "%",
    "_mib": "MiB",
    "_kib": "KiB",
    "_gb": "GB",
    "_us": "µs",
    "_ms": "ms",
    "_mw": "mW",
    "_nj": "nJ",
    "_uj": "µJ",
    "_w": "W",
    "_s": "s",
    "_c": "°C",
}
"""Unit of a value by the suffix of its key, longer suffixes first."""


def _figure(name: str, figure: Mapping[str, Any]) -> str:
    unit = next((unit for end, unit in _UNITS.items() if f"_{name}".endswith(end)), "")
    shown = _value(figure["value"]) + (f" {unit}" if unit else "")
    source = f"fitted to {figure['fitted_to']}" if figure.get("fitted_to") else figure["source"]
    note = f": {figure['note']}" if figure.get("note") else ""
    return f"{shown}  ({source}{note})"


def _value(value: object) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:g}"
        case list():
            return ", ".join(_value(each) for each in value)
        case dict():
            return ", ".join(f"{name} {_value(each)}" for name, each in value.items())
        case _:
            return str(value)


def _made(scale: int, made: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """Yield the properties of a drive of a profile, for readers."""
    yield "scale", f"1/{scale}" if scale > 1 else "1 (full size)"
    yield "capacity", capacity_text(made["capacity_bytes"])
    yield "medium", capacity_text(made["raw_bytes"])
    yield "superblocks", _superblocks(made)
    if generation := made["generation"]:
        yield "NAND", _generation(generation)
    yield "spare", share_text(made["spare"])
    yield "effective spare", f"{share_text(made['effective_spare'])} when full, in its steady state"
    yield "power limit", f"{made['power_cap_w']:g} W" if made["power_cap_w"] is not None else None
    yield "trims", "honoured" if made["honours_trim"] else "ignored"
    yield "write cache", "on" if made["write_cache"] else "off"
    if scale > 1:
        yield "not scaled", ", ".join(made["unscaled"])


def _superblocks(made: Mapping[str, Any]) -> int | str | None:
    """Return the number of blocks, and whether blocks are cut."""
    count: int | None = made["superblocks"]
    if count is None or made["blocks_cut"] == 1:
        return count
    return f"{count}, each block cut into {made['blocks_cut']} to have enough"


def _generation(generation: Mapping[str, Any]) -> str:
    passes = f"{generation['passes']} x " if generation["passes"] > 1 else ""
    return (
        f"{generation['name']} ({generation['about']}): read {generation['read_us']:g} µs, "
        f"program {passes}{generation['pass_us']:g} µs, erase {generation['erase_ms']:g} ms, "
        f"bus {generation['bus_mt_s']:g} MT/s"
    )
