"""`ssdlab sim list`, `show` and `check`: list and show profiles of simulated drives, and check ratings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ssdlab.cli.output import print_fields, print_json, print_line, print_table, say
from ssdlab.model.errors import UsageError
from ssdlab.model.units import capacity_text, counted, share_text

if TYPE_CHECKING:
    from ssdlab.drives.ratings import Judged, Rating
    from ssdlab.drives.simulated.text import SimulatedText
    from ssdlab.runs.rating_check import Checked


def list_profiles(*, json: bool = False) -> None:
    """List the built-in profiles; each can be used as a drive: sim:NAME.

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

    Each table of an array is called by its name, or else by its number.
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
    """Yield the properties of the drive that a profile makes."""
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
    """Return the number of superblocks, and whether their blocks are cut."""
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


def check(
    profile: str,
    /,
    *,
    ratings: Path | None = None,
    quick: bool = False,
    junit: Annotated[Path | None, Parameter(metavar="FILE")] = None,
    json: bool = False,
) -> int:
    """Measure each rating of a profile on its simulated drive, in the rating's drive state.

    Throughput, latency and power must match within 10 %. Random-write ratings are minima, and rated power
    maxima are upper bounds. Ratings used to fit the profile check the fit; predicted ratings test the model.
    Exit status 1 if a rating is missed without a stated reason.

    Parameters
    ----------
    profile
        Name or path of a profile. The scale of the drive is chosen automatically.
    ratings
        File with ratings [default: the built-in ratings of that profile].
    quick
        Use a smaller drive and shorter measurements: a few seconds, for a first look.
    junit
        Also write the verdicts to this JUnit XML file, a test case per rating. Only an older report is
        replaced.
    json
        Print JSON, schema ssdlab.sim-check/1.
    """
    from ssdlab.drives.simulated.profiles import is_path
    from ssdlab.formats import junit as reports
    from ssdlab.runs.rating_check import FULL, QUICK, ratings_of
    from ssdlab.runs.rating_check import check as check_ratings

    if "," in profile and not is_path(profile):
        name, _, options = profile.partition(",")
        raise UsageError(
            f"sim check takes a profile, and {options} is an option of a drive",
            f"write {name.removeprefix('sim:')} alone: the check chooses the scale",
            profile=profile,
        )
    effort = QUICK if quick else FULL
    with ExitStack() as held:
        file = None if junit is None else held.enter_context(reports.place(junit))  # fail before measuring
        known = ratings_of(profile, ratings)
        checked = check_ratings(profile, known, effort, on_rating=None if json else _say)
        if file is not None:
            file.replace(_as_junit(checked))
    if json:
        print_json(_checked_as_dict(checked, effort.seconds, ratings))
    else:
        _print_checked(checked, shared=ratings is None and is_path(profile))
    return 0 if checked.passed else 1


def _say(rating: Rating) -> None:
    from ssdlab.drives.ratings import METRICS

    say(f"measuring {METRICS[rating.metric].title}, {rating.state}")


def _print_checked(checked: Checked, *, shared: bool) -> None:
    """Print a check; `shared` means that a user's profile is checked against built-in ratings of its name."""
    print_line(checked.profile, "bold")
    if shared:
        print_line(
            f"your profile is checked against the built-in ratings of {checked.profile}: "
            "if it is another drive, rename it, and give its ratings with --ratings"
        )
    print_line(
        f"simulated at 1/{checked.scale} of its size" if checked.scale > 1 else "simulated at full size"
    )
    print_line()
    headings = ("rating", "state", "rated", "model", "ratio", "", "limited by", "use", "verdict")
    print_table([_row(checked, judged) for judged in checked.ratings], headings, right=(2, 3, 4))
    for judged in checked.ratings:
        if judged.reason:
            print_line()
            print_line(f"{_title(judged)}: {judged.reason}")
    print_line()
    failed = sum(judged.failed for judged in checked.ratings)
    unmeasured = sum(judged.model is None for judged in checked.ratings)
    if unmeasured:
        print_line(f"{counted(unmeasured, 'rating')} not measured", "warn")
    if failed:
        counts = Counter(judged.verdict for judged in checked.ratings if judged.failed)
        verdicts = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
        print_line(f"{failed} of {counted(len(checked.ratings), 'rating')} failed: {verdicts}", "bad")
    elif unmeasured < len(checked.ratings):
        print_line("passed", "good")


def _title(judged: Judged) -> str:
    from ssdlab.drives.ratings import METRICS

    return METRICS[judged.rating.metric].title


def _row(checked: Checked, judged: Judged) -> tuple[str, ...]:
    from ssdlab.drives.ratings import METRICS
    from ssdlab.runs.rating_limits import limit_text

    rating = judged.rating
    return (
        _title(judged),
        rating.state,
        _number(rating.value),
        "-" if judged.model is None else _number(judged.model),
        "-" if judged.ratio is None else f"{judged.ratio:.2f}",
        METRICS[rating.metric].unit,
        limit_text(checked.made, judged),
        {"fitted": "fitted to"}.get(rating.use, rating.use),
        judged.verdict,
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _as_junit(checked: Checked) -> bytes:
    from ssdlab.drives.ratings import METRICS
    from ssdlab.formats.junit import Case, report

    cases = []
    for judged in checked.ratings:
        rating, unit = judged.rating, METRICS[judged.rating.metric].unit
        model = "not measured" if judged.model is None else f"{_number(judged.model)} {unit}"
        cases.append(
            Case(
                of=rating.state,
                name=rating.metric,
                outcome="skipped" if judged.model is None else "failed" if judged.failed else "passed",
                why=": ".join(filter(None, (judged.verdict, judged.reason))),
                figures=(f"rated: {_number(rating.value)} {unit}", f"model: {model}"),
            )
        )
    return report("ssdlab sim check", cases, {"profile": checked.profile, "scale": str(checked.scale)})


def _checked_as_dict(checked: Checked, seconds: float, ratings: Path | None) -> dict[str, Any]:
    from ssdlab.drives.ratings import METRICS, TOLERANCE

    return {
        "schema": "ssdlab.sim-check/1",
        "profile": checked.profile,
        "ratings_from": "ssdlab" if ratings is None else str(ratings),
        "scale": checked.scale,
        "seconds": seconds,
        "tolerance": TOLERANCE,
        "passed": checked.passed,
        "ratings": [
            {
                **judged.rating.model_dump(),
                "unit": METRICS[judged.rating.metric].unit,
                "floor": judged.rating.is_floor,
                "bound": judged.rating.is_bound,
                "use": judged.rating.use,
                "depth": judged.rating.in_flight,
                "model": judged.model,
                "ratio": judged.ratio,
                "verdict": judged.verdict,
                "reason": judged.reason,
            }
            for judged in checked.ratings
        ],
    }
