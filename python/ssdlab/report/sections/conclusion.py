"""The conclusion: the best drive per figure with its margin, figures without a ranking, and ratings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.analysis.places import LEVEL
from ssdlab.lab.folders import top_figures
from ssdlab.lab.rated_shares import has_rating
from ssdlab.model.units import and_listed, counted, ends_text, fixed_share_text, share_text, significant
from ssdlab.report.runs import entries
from ssdlab.report.sections import ratings
from ssdlab.report.standings import (
    EXAMPLE,
    among,
    no_value,
    not_ranked,
    standings,
    unranked_beyond,
    withheld,
)
from ssdlab.report.view import Exhibit, Finding, Section
from ssdlab.results import cells
from ssdlab.results.cells import NOTHING, Table, words
from ssdlab.results.metric import labelled, labels
from ssdlab.results.schema import ResultBase

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ssdlab.lab.rated_shares import RatedShare
    from ssdlab.report.runs import Entry, Shown
    from ssdlab.report.standings import Place, Standing
    from ssdlab.results.metric import Metric

NAMED = 3
"""Maximum number of figures or drives that are named; with more, only some or their number."""
_SAYS_NOTHING = ("IOPS", "throughput")
"""Labels that say no more than the unit."""
_CHOSEN = ("I/Os", "")
"""Units of figures that a run chose or counted; no drive is best in them."""
CIRCULAR = (
    "Charts mark the ratings of simulated drives, but nothing is concluded from them: profiles are made from "
    "ratings."
)


def section(runs: Sequence[Shown], declared: Sequence[str] = ()) -> Section | None:
    """Return the section; None if nothing is compared, judged or rated.

    Parameters
    ----------
    runs
        Runs of the page.
    declared
        Names of the figures at the top of a review; each gets a row.
    """
    real = [shown for shown in runs if not shown.run.manifest.drive.capabilities.made_to_order]
    rated = ratings.section(real)
    model = ratings.of_models([shown for shown in runs if shown not in real])
    lead = (*_verdicts(runs), *_of_ratings(real), *((CIRCULAR,) if model else ()))
    exhibits = (*_compared(runs, declared), *(rated.exhibits if rated is not None else ()), *model)
    if not lead and not exhibits:
        return None
    title = "Conclusion: against the ratings" if rated is not None else "Conclusion"
    return Section("ratings", title, lead, (), (), exhibits)


def title_of(method: str, figure: Metric) -> str:
    return method if figure.label in (*_SAYS_NOTHING, figure.unit) else f"{method}, {figure.label}"


def of_same_steps(figures: Sequence[Metric]) -> list[list[Metric]]:
    found: dict[tuple[int, ...], list[Metric]] = {}
    for each in figures:
        found.setdefault(each.steps, []).append(each)
    return list(found.values())


def verdicts(runs: Sequence[Shown]) -> dict[str, dict[str, list[str]]]:
    """Return which drives passed, failed or were not judged, for each method with a verdict."""
    judged: dict[str, dict[str, list[str]]] = {}
    for shown in runs:
        result, title = shown.run.result, shown.run.manifest.method.title
        if type(result).passed is not ResultBase.passed:
            how = {True: "passed by", False: "failed by", None: "not judged for"}[result.passed]
            judged.setdefault(title, {}).setdefault(how, []).append(shown.style.short)
    return judged


def verdict_text(title: str, own: Mapping[str, Sequence[str]]) -> str:
    parts = [f"{how} {and_listed(list(drives))}" for how, drives in own.items()]
    if len(own) == 1 and len(drives := next(iter(own.values()))) > NAMED:
        (how,) = own
        parts = [f"{how} {'any' if how.startswith('not') else 'all'} of the {len(drives)} drives"]
    return f"{title}: {', '.join(parts)}"


def _verdicts(runs: Sequence[Shown]) -> Iterator[str]:
    yield from (f"{verdict_text(title, own)}." for title, own in verdicts(runs).items())


def _compared(runs: Sequence[Shown], declared: Sequence[str]) -> Iterator[Exhibit]:
    """Yield the best drive per figure, and the figures without a ranking; nothing for a single drive."""
    if len(entries(runs)) < 2:
        return
    ranks, names = standings(runs), _concluded_on(runs, declared)
    rows = [row for name in names if name in ranks and ranks[name].ranked[1:] for row in _rows(ranks[name])]
    if rows:
        lead = f"A lead counts if it exceeds both {fixed_share_text(LEVEL)} and the variation of the figures."
        yield Exhibit("Best drives and their margins", "", (Table(lead, _HEAD, tuple(rows)).filled,))
    lines = _unranked(runs, names)
    if lines:
        table = Table("Figures without a best drive", ("Why", "Drives", "Figures"), lines)
        yield Exhibit("Not ranked", "", (table,))


def _concluded_on(runs: Sequence[Shown], declared: Sequence[str]) -> list[str]:
    """Return the figures to conclude on.

    For each set of steps these are the declared figures, or else the method's own, or else the first.
    """
    found: dict[str, None] = {}
    for shown in runs:
        for own in of_same_steps(shown.run.result.scalars):
            wanted = [each.name for each in own if each.name in declared]
            leading = [each.name for each in own if each.name in top_figures()]
            praised = [each.name for each in own if _praised(each)]
            found |= dict.fromkeys(wanted or leading or praised[:1])
    return list(found)


def _praised(figure: Metric) -> bool:
    """Return whether a drive can be best in a figure: not in power, nor in a depth that the run chose."""
    return figure.unit not in ("W", *_CHOSEN) and not figure.unit.endswith("/W")


_HEAD = ("Figure", "Interface", "Best", "Lead over next", "Last", "Best of all drives", "Not ranked")


def _rows(standing: Standing) -> Iterator[tuple[cells.Cell, ...]]:
    """Yield a row for each interface with a ranked drive; a single row if none has several.

    That a drive of one interface is ahead of those of another says less than the margins within each.
    An interface whose only ranked drive is best of all has no row, as the other rows name that drive.
    """
    interfaces = list(dict.fromkeys(place.shown.style.interface or "" for place in standing.places))
    each_own = {each: _only(standing, each) for each in interfaces}
    if len(interfaces) < 2 or not any(each and own.ranked[1:] for each, own in each_own.items()):
        yield _row(standing, "", "", _others(standing))
        return
    best = standing.sharing(standing.ranked[0])
    leading = {place.shown.style.interface or "" for place in best}
    within = {
        each: own for each, own in each_own.items() if own.ranked[1:] or (own.ranked and leading != {each})
    }
    rest = _others(among(standing, lambda shown: (shown.style.interface or "") not in within))
    for at, (interface, own) in enumerate(within.items()):
        beyond = "" if interface in leading else _ends(standing, best, worse=False)
        yield _row(own, interface, beyond, "; ".join(filter(None, (_others(own), "" if at else rest))))


def _only(standing: Standing, interface: str) -> Standing:
    """Return the standing of the drives of one interface; of those of unknown interface if it is empty."""
    return among(standing, lambda shown: (shown.style.interface or "") == interface)


def _row(standing: Standing, interface: str, of_all: str, others: str) -> tuple[cells.Cell, ...]:
    first, last = standing.ranked[0], standing.ranked[-1]
    best, behind = standing.sharing(first), standing.sharing(last)
    name = title_of(standing.method, first.figure)
    return tuple(
        map(
            words,
            (
                f"{name}, {EXAMPLE}" if standing.example else name,
                interface or NOTHING,
                _ends(standing, best, worse=False),
                _lead(standing, best),
                NOTHING if behind == best else _ends(standing, behind, worse=True),
                of_all or NOTHING,
                others or NOTHING,
            ),
        )
    )


def _ends(standing: Standing, places: Sequence[Place], *, worse: bool) -> str:
    """Return the best or last drives with their figure, and note if an unranked drive is beyond them."""
    of_ranked = " among those ranked" if unranked_beyond(standing, places[-1], worse=worse) else ""
    low, high = (end(places, key=lambda place: place.value).text for end in (min, max))
    _, _, unit = high.partition(" ")
    text = ends_text(low.removesuffix(f" {unit}") if low != high and unit else low, high)
    return f"{and_listed([each.shown.style.short for each in places])}{of_ranked}, {text}"


def _lead(standing: Standing, best: Sequence[Place]) -> str:
    """Return the margin of the best drive over the next, or why there is none."""
    if len(best) > 1:
        why = standing.why_level(best[0])
        return ": ".join(filter(None, (standing.how_level(best[0]), why)))
    if not standing.ranked[1:] or not standing.ranked[1].value:
        return NOTHING
    return margin(standing.ranked[0].value / standing.ranked[1].value)


def margin(ratio: float) -> str:
    """Return a ratio of two figures in words: `2.22 times as much`, `44.8 % more` or `20.1 % less`."""
    if ratio >= 2:
        return f"{significant(ratio)} times as much"
    return f"{share_text(ratio - 1)} more" if ratio > 1 else f"{share_text(1 - ratio)} less"


def _others(standing: Standing) -> str:
    """Return the drives without a rank, with figures and reasons, and the drives without a value."""
    unranked = [each for each in (*standing.places, *standing.further) if each.rank is None]
    found = (not_ranked(standing, unranked).removeprefix("not ranked: "), no_value(standing.withheld))
    return "; ".join(filter(None, found))


def _unranked(runs: Sequence[Shown], names: Sequence[str]) -> tuple[tuple[cells.Cell, ...], ...]:
    """Return a row for each reason why figures have no best drive, with the drives concerned."""
    ranks, held = standings(runs), withheld(runs)
    reasons: dict[tuple[str, str], dict[str, list[str]]] = {}
    for name in names:
        standing = ranks.get(name)
        lacking = held.get(name, ()) if standing is None else standing.withheld
        places = () if standing is None else standing.places
        if (standing is not None and standing.ranked[1:]) or len(places) + len(lacking) < 2:
            continue
        drives: dict[str, list[str]] = {}
        for place in places:
            if standing is not None and place.rank is None:
                drives.setdefault(standing.why_not((place,)), []).append(place.shown.style.short)
        for shown, figure in lacking:
            drives.setdefault(f"no value: {labels(figure.unfit('ranking'))}", []).append(shown.style.short)
        shown, figure = (places[0].shown, places[0].figure) if places else lacking[0]
        for why, own in drives.items():
            whose = "all" if len(own) == len(places) + len(lacking) else and_listed(list(dict.fromkeys(own)))
            of_method = reasons.setdefault((why, whose), {})
            of_method.setdefault(shown.run.manifest.method.title, []).append(figure.label)
    return tuple(
        tuple(map(words, (why, whose, "; ".join(_shortened(own))))) for (why, whose), own in reasons.items()
    )


def _shortened(own: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for method, figures in own.items():
        more = [f"{len(figures) - NAMED} more"] if len(figures) > NAMED else []
        yield labelled(method, and_listed([*figures[:NAMED], *more]))


def _of_ratings(runs: Sequence[Shown]) -> Iterator[str]:
    for entry in entries(runs):
        if parts := list(against(entry)):
            text = "; ".join(parts)
            yield Finding(entry.runs[0].index, entry.style.label, f"{text[:1].upper()}{text[1:]}.")


def _count(entry: Entry) -> int:
    return len(
        {(each.metric, each.value, each.state) for one in entry.runs for each in one.run.manifest.ratings}
    )


def against(entry: Entry) -> Iterator[str]:
    """Yield how many ratings a drive meets within 1 %, which it misses, and which figures have none.

    Nothing for drives without ratings, or for simulated drives, whose profiles are made from ratings.
    """
    if entry.runs[0].run.manifest.drive.capabilities.made_to_order:
        return
    count = _count(entry)
    places = [
        place
        for standing in standings(entry.runs).values()
        for place in (*standing.places, *standing.further)
    ]
    rated = [(place, each) for place in places if (each := place.rated) is not None]
    others = sum(place.other is not None for place in places)
    if rated:
        yield from _kept(rated)
    elif count:
        whole = "its rating is not compared" if count == 1 else f"none of its {count} ratings is compared"
        if others >= count:
            yield f"{whole}: the drive state differs"
        elif others:
            yield f"{whole}: {others} for another drive state, the rest for figures not measured"
        elif unfit := _unfit(places):
            yield f"{whole}: the rated figures do not qualify ({unfit})"
        else:
            yield "no rating applies to these tests"
        return
    if others:
        figures = counted(others, "other figure" if rated else "figure")
        yield f"{figures} without a rating for {'its' if others == 1 else 'their'} drive state"


def _unfit(places: Sequence[Place]) -> str:
    own = (place for place in places if has_rating(place.figure, place.shown.run.manifest.ratings))
    return labels(each for place in own for each in place.figure.unfit("ratings"))


def _kept(rated: Sequence[tuple[Place, RatedShare]]) -> Iterator[str]:
    missed = [(place, each) for place, each in rated if not each.kept(LEVEL)]
    kept = len(rated) - len(missed)
    holds = and_listed(list(dict.fromkeys(each.holds for _, each in rated)))
    if len(rated) == 1:
        whole = f"the one rating compared is {'met' if kept else 'not met'}"
    else:
        whole = f"{kept} of {len(rated)} ratings met"
    yield f"{whole} within {fixed_share_text(LEVEL)} ({holds})"
    for place, each in missed[:NAMED]:
        title, share = place.shown.run.manifest.method.title, cells.share(each.share).text
        yield f"{title} ({each.figure.label}) is {share} of the rating"
