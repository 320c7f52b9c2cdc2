"""`ssdlab sim check`: a profile's simulated drive against its ratings."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ssdlab.cli.output import print_json, print_line, print_table, say
from ssdlab.model.errors import UsageError
from ssdlab.model.units import counted

if TYPE_CHECKING:
    from ssdlab.drives.ratings import Judged, Rating
    from ssdlab.runs.rating_check import Checked


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

    Throughput, latency and power must match within 10 %; random-write ratings are minima, and rated power
    maxima are upper bounds. Ratings used to fit the profile check the fit; predicted ones test the model.
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
        file = None if junit is None else held.enter_context(reports.place(junit))  # before it is measured
        known = ratings_of(profile, ratings)
        checked = check_ratings(profile, known, effort, on_rating=None if json else _say)
        if file is not None:
            file.replace(_as_junit(checked))
    if json:
        print_json(_as_dict(checked, effort.seconds, ratings))
    else:
        _print(checked, shared=ratings is None and is_path(profile))
    return 0 if checked.passed else 1


def _say(rating: Rating) -> None:
    from ssdlab.drives.ratings import METRICS

    say(f"measuring {METRICS[rating.metric].title}, {rating.state}")


def _print(checked: Checked, *, shared: bool) -> None:
    """Print a check; `shared`: a user's profile is checked against the built-in ratings of its name."""
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


def _as_dict(checked: Checked, seconds: float, ratings: Path | None) -> dict[str, Any]:
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
