#!/usr/bin/env python3
"""Write docs/profiles.md: what each shipped drive is rated for, beside what its simulated drive does.

Run by `make profiles`. Every rating of every drive stands there, the missed ones too.
"""

from __future__ import annotations

import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from ssdlab.drives.ratings import METRICS, Judged
from ssdlab.drives.simulated.profiles import OperationEnergy, check_profile, profiles, shipped_ratings
from ssdlab.runs.rating_check import FULL, QUICK, Checked, check, ratings_of
from ssdlab.runs.rating_limits import limit_text
from ssdlab.runs.write_cliff import Cliff, write_cliff

PAGE = Path(__file__).parents[1] / "docs" / "profiles.md"
INTRODUCTION = """\
# Simulated drives beside their ratings

Made by `make profiles`; do not edit. [`sim check`](sim-check.md) says how each figure is measured, and what
*met*, *surplus* and the other verdicts mean.

*Error* is that of the simulated figure against the printed one. *Limited by* is the part whose closed form is
the lowest, and how much of it is reached; that of collection is a bound from above, as dies do in order what
is for later too. Stops of the firmware are in no closed form. Latency and power are sums of parts. *Use*: a
profile was *fitted* to a few ratings, and other ratings are *given* as figures in the profile. The rest are
*predicted*, and only these show whether the model is right. Misses stay where they are.
"""
SOURCES = {"data-sheet": "data sheet"}


def main() -> int:
    """Measure every drive and write the page."""
    effort = QUICK if "--quick" in sys.argv[1:] else FULL
    names = list(shipped_ratings())
    with ProcessPoolExecutor(2) as pool:
        found = list(pool.map(_checked, names, [effort] * len(names)))
        of_flash = [name for name in profiles() if check_profile(name)["profile"].get("flash")]
        cliffs = dict(zip(of_flash, pool.map(write_cliff, of_flash), strict=True))
    PAGE.write_text(_page(found, effort.seconds, cliffs), encoding="utf-8")
    return 0


def _checked(name: str, effort: object) -> Checked:
    return check(name, ratings_of(name), effort)  # type: ignore[arg-type]


def _page(found: list[Checked], seconds: float, cliffs: dict[str, Cliff]) -> str:
    everything = [judged for checked in found for judged in checked.ratings]
    lines = [INTRODUCTION, *_summary(everything), ""]
    lines.append(f"Each figure was measured for {seconds:g} s of the drive's own time.")
    lines += ["", *_cliffs(cliffs)]
    for checked in found:
        lines += ["", f"## {checked.profile}", "", f"At 1/{checked.scale} of its size."]
        if (generation := check_profile(checked.profile)["generation"]) is not None:
            lines[-1] += f" NAND: `{generation['name']}`, {generation['about']}."
        if (energy := OperationEnergy.of(check_profile(checked.profile)["profile"])) is not None:
            power = [f"{name} {text.split(' µJ')[0]} µJ" for name, text in list(energy.lines())[1:]]
            lines += [
                "",
                f"Power: {energy.idle_w:.3g} W idle, {energy.working_w:.3g} W at work; {', '.join(power)}.",
            ]
        lines += [
            "",
            "| rating | state | printed | simulated | error | limited by | use | source | verdict |",
        ]
        lines.append("|---|---|--:|--:|--:|---|---|---|---|")
        lines += [_row(checked, judged) for judged in checked.ratings]
        lines += [f"\n{_title(judged)}: {judged.reason}." for judged in checked.ratings if judged.reason]
    return "\n".join(lines) + "\n"


def _cliffs(cliffs: dict[str, Cliff]) -> list[str]:
    """Return where random writes from the fresh drive on fall, and what limits them behind that."""
    lines = [
        "## The write cliff",
        "",
        "Random writes of 4 KiB, 32 in flight, on a fresh drive until three times its physical capacity was",
        "written. The cliff begins where the speed falls by 15 % for good. The parts are those that bound",
        "the writes before it and in steady state. *After three* is not steady state yet: a few per cent",
        "of the blocks were never written by then, and count as spare. *Theory* is the mean field of such",
        "writes from an erased drive on: the cliff begins where their amplification has made the slowest",
        "part slower than what was slowest before, once the flash was written, or later behind a slower",
        "link or core.",
        "",
        "| drive | begins after | theory | before | by | after three | theory | limited by |",
        "|---|--:|--:|--:|---|--:|--:|---|",
    ]
    for name, cliff in cliffs.items():
        begins = "no cliff" if cliff.begins is None else f"{cliff.begins:.2f} physical capacities"
        theory = "no cliff" if cliff.predicted is None else f"{cliff.predicted:.2f}"
        before = f"{_number(cliff.before_iops)} IOPS | {cliff.before.part}"
        after = f"{_number(cliff.after_iops)} IOPS | {_number(cliff.predicted_after)} | {cliff.limit.part}"
        lines.append(f"| {name} | {begins} | {theory} | {before} | {after} |")
    return lines


def _summary(judged: list[Judged]) -> list[str]:
    uses = Counter(each.rating.use for each in judged)
    lines = ["| use | ratings | met | not met |", "|---|--:|--:|--:|"]
    for use in ("predicted", "fitted", "given"):
        met = sum(each.verdict == "met" for each in judged if each.rating.use == use)
        lines.append(f"| {use} | {uses[use]} | {met} | {uses[use] - met} |")
    return lines


def _row(checked: Checked, judged: Judged) -> str:
    rating = judged.rating
    unit = METRICS[rating.metric].unit
    sense = "at least " if rating.is_floor else "at most " if rating.is_bound else ""
    error = "" if judged.ratio is None else f"{100 * (judged.ratio - 1):+.0f} %"
    cells = (
        _title(judged),
        rating.state,
        f"{sense}{_number(rating.value)} {unit}",
        "-" if judged.model is None else f"{_number(judged.model)} {unit}",
        error,
        limit_text(checked.made, judged),
        rating.use,
        SOURCES.get(rating.source, rating.source),
        judged.verdict if not judged.failed else f"**{judged.verdict}**",
    )
    return "| " + " | ".join(cells) + " |"


def _title(judged: Judged) -> str:
    title = METRICS[judged.rating.metric].title
    depth = judged.rating.depth
    return title if depth is None else f"{title}, depth {depth}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


if __name__ == "__main__":
    sys.exit(main())
