"""The sentences at the top: how the reviewed drive compares, which drives lead, what is unranked."""

from __future__ import annotations

from itertools import islice
from math import log
from typing import TYPE_CHECKING

from ssdlab.lab.presented.points import figure_words
from ssdlab.model.units import and_listed
from ssdlab.report.runs import entries
from ssdlab.report.sections.conclusion import NAMED, against, margin, title_of, verdict_text, verdicts
from ssdlab.report.sections.header import drive_of
from ssdlab.report.standings import (
    EXAMPLE,
    all_of,
    among,
    no_order,
    of_interface,
    unranked_beyond,
    withheld,
)
from ssdlab.results.metric import labelled, labels

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ssdlab.report.charts import RunStyle
    from ssdlab.report.runs import Shown
    from ssdlab.report.standings import Place, Standing
    from ssdlab.results.metric import Metric

_SENTENCES = 3
_OF_REVIEWED = 2
"""Maximum number of figures in which the place of the reviewed drive is stated."""


def sentences(
    names: Sequence[str],
    standings: Mapping[str, Standing],
    runs: Sequence[Shown],
    reviewed: Shown | None = None,
) -> tuple[str, ...]:
    """Return up to three sentences: how the reviewed drive compares, which drives lead, what is unranked.

    Parameters
    ----------
    names
        Names of the top figures. Figures of a made-up example come last.
    standings
        Standings of the page's figures, by name.
    runs
        Runs of the page.
    reviewed
        A run of the drive under review; None: no drive is.
    """
    found = [standings[name] for name in names if name in standings]
    found.sort(key=lambda standing: standing.example)
    passed = _passed({each.method for each in found}, runs)
    if len(entries(runs)) == 1:
        return tuple(filter(None, (passed, *_of_one(found, runs))))[:_SENTENCES]
    ranked, common = [each for each in found if len(each.ranked) > 1], _common(runs, reviewed)
    own = () if reviewed is None else (_of_reviewed(ranked, reviewed), _of_variants(ranked, runs, reviewed))
    before, end = [each for each in (passed, *own) if each], _without_order(found, names, runs, common)
    room = max(0, _SENTENCES - len(before) - bool(end))
    others = [each for each in _of_all_drives(ranked, runs, common, reviewed) if each][:room]
    return tuple(filter(None, (*before, *others, end)))[:_SENTENCES]


def _words(standing: Standing) -> str:
    return _in_words(standing.method, standing.places[0].figure, example=standing.example)


def _in_words(method: str, figure: Metric, *, example: bool = False) -> str:
    label = "" if title_of(method, figure) == method else figure.label
    return labelled(method, ", ".join(filter(None, (label, EXAMPLE if example else ""))))


def _of_reviewed(found: Sequence[Standing], reviewed: Shown) -> str:
    """Return the place of the reviewed drive in the figures in which the drives differ most."""
    several = len({place.shown.style.interface for each in found for place in each.places}) > 1
    places = []
    for each in found:
        standing = _compared_with(reviewed, each)
        place = _place_of(reviewed.style, standing)
        if place is not None and standing.ranked[1:] and not unranked_beyond(standing, place):
            text = f"{figure_words(place.figure)} in {_words(standing)}"
            places.append(
                (each.example, -_width(standing), text, _place_text(standing, place, several=several))
            )
    of_place: dict[str, list[str]] = {}
    for *_, text, where in sorted(places)[:_OF_REVIEWED]:
        of_place.setdefault(where, []).append(text)
    texts = [f"{and_listed(own)}, {where}" for where, own in of_place.items()]
    return f"{reviewed.style.short}: {'; '.join(texts)}." if texts else ""


def _compared_with(reviewed: Shown, standing: Standing) -> Standing:
    """Return the standing without the reviewed drive's variants.

    If the reviewed drive is not the best of all, only drives of its interface count, if there are others.
    """
    drive, own = drive_of(reviewed.drive), reviewed.style
    others = among(standing, lambda shown: shown.style == own or drive_of(shown.drive) != drive)
    place, narrowed = _place_of(own, others), of_interface(others, own.interface or "")
    first = place is not None and place.rank == others.ranked[0].rank
    best = first and place is not None and not unranked_beyond(others, place)
    return others if best or not narrowed.ranked[1:] else narrowed


def _place_of(style: RunStyle, standing: Standing) -> Place | None:
    return next((place for place in standing.ranked if place.shown.style == style), None)


def _width(standing: Standing) -> float:
    """Return the largest ranked value over the smallest."""
    values = [abs(place.value) for place in standing.ranked]
    return max(values) / min(values) if min(values) else 1.0


def _place_text(standing: Standing, place: Place, *, several: bool) -> str:
    ranked = standing.ranked
    best, level = standing.sharing(ranked[0]), [each for each in standing.sharing(place) if each != place]
    parts = []
    if place not in best:
        before = next(at for at, each in enumerate(ranked) if each.rank == place.rank)
        kinds = {each.shown.style.interface for each in ranked}
        kind = next(iter(kinds)) if several and len(kinds) == 1 else None
        drives = " ".join(filter(None, (str(len(ranked)), kind, "drives")))
        behind = f"behind {_named(best)}"
        parts.append(f"place {before + 1} of {drives} {behind}" if ranked[2:] else behind)
    elif not level:
        parts.append(f"{_ahead(place, ranked[1])} {_named(standing.sharing(ranked[1]))}")
    if level:
        parts.append(f"{standing.how_level(place)} with {_named(level)}")
    return ", ".join(parts)


def _named(places: Sequence[Place]) -> str:
    return _some(list(dict.fromkeys(place.shown.style.short for place in places)))


def _ahead(place: Place, other: Place) -> str:
    """Return how two figures compare: `44.8 % more than`."""
    if not other.value:
        return "ahead of"
    text = margin(place.value / other.value)
    return f"{text} {'as' if text.endswith('as much') else 'than'}"


def _of_variants(standings: Sequence[Standing], runs: Sequence[Shown], reviewed: Shown) -> str:
    """Return for each variant of the reviewed drive the figure in which it differs most from the drive."""
    drive, found = drive_of(reviewed.drive), []
    for entry in entries(runs):
        if entry.style == reviewed.style or drive_of(entry.runs[0].drive) != drive:
            continue
        pairs = [(each, _place_of(entry.style, each), _place_of(reviewed.style, each)) for each in standings]
        apart = [
            (each, own, plain)
            for each, own, plain in pairs
            if own is not None and plain is not None and own.rank != plain.rank and own.value and plain.value
        ]
        if apart:
            each, own, plain = max(apart, key=lambda one: abs(log(abs(one[1].value / one[2].value))))
            found.append(
                f"{entry.style.short}: {figure_words(own.figure)} instead of {figure_words(plain.figure)} "
                f"in {_words(each)}, {margin(own.value / plain.value)}"
            )
    return f"{'; '.join(found[:NAMED])}." if found else ""


def _common(runs: Sequence[Shown], reviewed: Shown | None) -> str:
    """Return the interface whose drives are compared among themselves; empty: none.

    It is that of the reviewed drive, or else that of most drives; if several are, the first on the page.
    """
    interfaces = [each.style.interface or "" for each in entries(runs)]
    kinds = list(dict.fromkeys(filter(None, interfaces)))
    if len(kinds) < 2:
        return ""
    if reviewed is None:
        return max(kinds, key=interfaces.count)
    own = reviewed.style.interface or ""
    return own if interfaces.count(own) > 1 else ""


def _of_all_drives(
    found: Sequence[Standing], runs: Sequence[Shown], common: str, reviewed: Shown | None
) -> Iterator[str]:
    """Yield which drives lead and which are tied: also of one interface, if that is a class on this page."""
    if reviewed is not None:
        yield _led(found, common, but=reviewed)
        yield _tied(found, runs, common)
        return
    # Of one interface, skip figures in which one of its drives leads all drives, as that is said of all.
    of_others = [
        each
        for each in found
        if common and (no_order(each) or common not in _interfaces_of(each.sharing(each.ranked[0])))
    ]
    yield _led(found)
    yield _led(of_others, common)
    yield _tied(found, runs)
    yield _tied(of_others, runs, common)


def _interfaces_of(places: Sequence[Place]) -> set[str | None]:
    return {place.shown.style.interface for place in places}


def _narrowed(standings: Sequence[Standing], interface: str) -> list[Standing]:
    """Return the standings of one interface's drives, where an unranked one is not ahead of the first."""
    found = (of_interface(each, interface) for each in standings)
    return [each for each in found if each.ranked[1:] and not no_order(each)]


def _led(standings: Sequence[Standing], interface: str = "", but: Shown | None = None) -> str:
    """Return which drives lead in which figures, with their margins.

    Parameters
    ----------
    standings
        The figures.
    interface
        Interface of the drives; empty: all drives.
    but
        A run of a drive that is left out.
    """
    several = len({each.shown.style.interface for standing in standings for each in standing.ranked}) > 1
    leads: dict[str, list[Standing]] = {}
    found = _narrowed(standings, interface)
    for standing in found:
        first, *others = standing.sharing(standing.ranked[0])
        style = first.shown.style
        if not others and (but is None or style != but.style):
            name = labelled(style.short, style.interface or "") if several and not interface else style.short
            leads.setdefault(name, []).append(standing)
    by_count = sorted(leads.items(), key=lambda one: -len(one[1]))
    parts = [
        f"{drive} {'in' if at else 'leads in'} {_led_in(own, len(found))}"
        for at, (drive, own) in enumerate(by_count)
    ]
    return f"{f'Among {interface} drives, ' if interface else ''}{'; '.join(parts)}." if parts else ""


def _led_in(led: Sequence[Standing], of: int) -> str:
    if len(led) > NAMED:
        return f"{len(led)} of {of} figures"
    return and_listed(list(map(_lead, led)))


def _lead(standing: Standing) -> str:
    first, behind = standing.ranked[:2]
    ahead = f" ({_ahead(first, behind)} the next)" if behind.value else ""
    return f"{_words(standing)} with {figure_words(first.figure)}{ahead}"


def _tied(standings: Sequence[Standing], runs: Sequence[Shown], interface: str = "") -> str:
    """Return which drives share the first place in which figures."""
    level: dict[tuple[str, str, str], list[str]] = {}
    for standing in _narrowed(standings, interface):
        first = standing.sharing(standing.ranked[0])
        if first[1:]:
            whose = all_of(first, runs) or _named(first)
            key = (whose, standing.how_level(first[0]), standing.why_level(first[0]))
            level.setdefault(key, []).append(_words(standing))
    parts = [f"{whose} are {labelled(how, why)} in {_some(own)}" for (whose, how, why), own in level.items()]
    return f"{_sentence('; '.join(parts))}." if parts else ""


def _some(named: Sequence[str]) -> str:
    more = [f"{len(named) - NAMED} more"] if len(named) > NAMED else []
    return and_listed([*named[:NAMED], *more])


def _without_order(
    found: Sequence[Standing], names: Sequence[str], runs: Sequence[Shown], interface: str
) -> str:
    """Return which figures have no ranking, and why; `across interfaces` if one interface's drives do."""
    reasons: dict[str, list[str]] = {}
    for standing in found:
        if len(standing.places) > 1 and (why := no_order(standing)):
            only = " across interfaces" if interface and _narrowed([standing], interface) else ""
            reasons.setdefault(why, []).append(f"{_words(standing)}{only}")
    placed = {standing.name for standing in found}
    for name, own in withheld(runs).items():
        if name in names and name not in placed:
            why = labels(each for _, figure in own for each in figure.unfit("ranking"))
            shown, figure = own[0]
            reasons.setdefault(why, []).append(_in_words(shown.run.manifest.method.title, figure))
    parts = [f"{_some(own)} ({why})" for why, own in reasons.items()]
    return f"No ranking yet for {and_listed(parts)}." if parts else ""


def _of_one(found: Sequence[Standing], runs: Sequence[Shown]) -> Iterator[str]:
    own = [(each, each.places[0]) for each in found]
    if values := [f"{_words(each)} {place.marked}" for each, place in own if not place.unfit]:
        yield f"{_sentence(and_listed(values[:NAMED]))}."
    if any(place.rated is not None for _, place in own):
        yield from (f"{_sentence(each)}." for each in islice(against(entries(runs)[0]), 1))
    if unfit := [(each, place) for each, place in own if place.unfit]:
        why = labels(each for _, place in unfit for each in place.figure.unfit("ranking"))
        yield f"{_sentence(_some([_words(each) for each, _ in unfit]))}: {why}."


def _passed(above: set[str], runs: Sequence[Shown]) -> str:
    """Return which drives passed the methods with a verdict that no other sentence covers."""
    whole = "; ".join(verdict_text(title, own) for title, own in verdicts(runs).items() if title not in above)
    return f"{_sentence(whole)}." if whole else ""


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
