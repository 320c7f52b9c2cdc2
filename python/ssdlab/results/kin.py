"""Defines which figures are comparable, for rankings, comparisons, pages, fleets and claims.

A figure has the properties of its run (`OF_RUNS`) and its own (`OF_FIGURES`), as in the catalogue's columns.
Figures that differ in one of them are not ranked together; `apart` returns the differences. `OF_AN_ENTRY` is
an exception: these properties make a drive another entry, which is ranked with the others. Different spare
area or software (`software_apart`) gets a remark. Of a figure's qualifiers, only those that forbid ranking
affect whether it is comparable.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ssdlab.model.printable import advice_text
from ssdlab.model.units import and_listed, capacity_text, fixed_share_text
from ssdlab.results.qualifiers import CATALOGUE, ORDER, UNKNOWN, kind_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

OF_RUNS = (
    *("method", "version", "settings", "quick", "engine", "drive_kind", "simulator"),
    *("scale", "spare", "span", "variant", "departures", "profile"),
)
"""Properties that runs must share. `span` is the number of first bytes used; None: all."""
UNFIT, METER, LOAD = OF_FIGURES = ("unfit", "meter", "load")
"""Properties that figures must share as well; None: not applicable."""
MARKS = "marks"
"""Column of qualifiers that do not forbid ranking. They are shown, but do not affect comparability."""
VARIES = "varies"
"""Column of a figure's variation by its own evidence, in its unit. Figures that differ by less are tied."""
OF_AN_ENTRY = ("spare", "variant", "profile")
"""Properties that make a drive another entry. Entries are ranked together, so these may differ."""
ALIKE = tuple(name for name in (*OF_RUNS, *OF_FIGURES) if name not in OF_AN_ENTRY)
"""Properties that all figures of one ranking share."""
CHOSEN_UNIT = "I/Os"
"""Unit of a queue depth that a run chose itself, which is not a measured quantity."""
_WORDS = {
    "method": "method",
    "version": "method version",
    "settings": "parameters",
    "engine": "engine",
    "drive_kind": "kind of drive",
    "simulator": "simulator version",
    "scale": "scale",
    "spare": "spare",
    "span": "over",
    "variant": "variant",
    "departures": "departures",
    "profile": "profile",
    "meter": "meter",
}
_DEPTH = "depth "
_OPTION = re.compile(r"^\w+=")
"""Matches the load of an imported job, which begins with an option; see `metric.Load.options`."""
_UNTOLD = "an unknown load"
_UNTOLD_SOFTWARE = "unknown software"


@dataclass(frozen=True)
class Incomparable:
    """A difference between two figures; `code` is a name from `OF_RUNS` or `OF_FIGURES`."""

    code: str
    theirs: Any
    ours: Any

    @property
    def words(self) -> str:
        """The difference in words: ``scale 4, not 1``."""
        if self.code == "quick":
            return "quick" if self.theirs else "not quick"
        if self.code == LOAD:
            return taken_apart((str(self.theirs or ""), str(self.ours or "")))
        if self.code == UNFIT:
            return labels_of(self.theirs) if self.theirs else f"valid, not {labels_of(self.ours)}"
        theirs, ours = (_shown(self.code, each) for each in (self.theirs, self.ours))
        return f"{_WORDS[self.code]} {theirs}, not {ours}"


def apart(
    one: Mapping[str, Any], other: Mapping[str, Any], *, but: Collection[str] = ()
) -> tuple[Incomparable, ...]:
    """Return how two figures differ; empty: they are comparable.

    Parameters
    ----------
    one, other
        Properties by name: all of `OF_RUNS`, and `OF_FIGURES` unless only runs are compared.
    but
        Properties to ignore.
    """
    names = [name for name in (*OF_RUNS, *OF_FIGURES) if name in one and name in other and name not in but]
    return tuple(Incomparable(name, one[name], other[name]) for name in names if one[name] != other[name])


def set_apart(found: Sequence[Mapping[str, Any]], *, but: Collection[str] = ()) -> str:
    """Return in words how the figures of a set differ from the first; empty: all are comparable.

    Parameters
    ----------
    found
        Properties of each figure and its run, as for `apart`.
    but
        Properties to ignore.
    """
    if not found:
        return ""
    first = found[0]
    unlike = [each for other in found for each in apart(other, first, but=but)]
    loads = taken_apart(str(each[LOAD] or "") for each in found) if LOAD in first else ""
    return "; ".join(dict.fromkeys(loads if each.code == LOAD else each.words for each in unlike))


def taken_apart(loads: Iterable[str]) -> str:
    """Return in words the different loads at which figures were taken; empty: one load.

    Figures at different loads are not ranked together.

    >>> taken_apart(["depth 16", "depth 4", "depth 4"])
    'taken at depths 4 and 16'
    >>> taken_apart(["rw=read bs=4k", "rw=read bs=8k direct=1"])
    'taken with bs=4k and bs=8k direct=1'
    """
    taken = list(dict.fromkeys(loads))
    if len(taken) < 2:
        return ""
    if all(_OPTION.search(each) for each in taken):
        words = [each.split() for each in taken]
        own = [" ".join(word for word in each if not all(word in other for other in words)) for each in words]
        return f"taken with {and_listed([each or 'none of these options' for each in own])}"
    if all(each.startswith(_DEPTH) for each in taken):
        return f"taken at depths {and_listed(sorted((each.removeprefix(_DEPTH) for each in taken), key=int))}"
    return f"taken at {and_listed([each or _UNTOLD for each in taken])}"


def unfit_of(codes: Iterable[str]) -> str | None:
    """Return codes of qualifiers as one text for the catalogue, sorted; None: no codes.

    An unknown code becomes the code of an unproven state.

    >>> unfit_of(["", "throttled"])
    'state-unproven, throttled'
    """
    return ", ".join(sorted({code if code in CATALOGUE else UNKNOWN for code in codes})) or None


def counted_codes(found: Iterable[str | None]) -> dict[str, int]:
    """Return the number of figures with each code, the gravest code first.

    `found` has the codes of each figure, as the catalogue's text.
    """
    counts = Counter(code for each in found for code in set(codes_of(each)))
    return {code: counts[code] for code in sorted(counts, key=lambda code: ORDER.get(code, ORDER[UNKNOWN]))}


def counted_words(counts: Mapping[str, int], total: int, what: str = "runs") -> str:
    """Return the labels of counted codes, each with its count unless all have the code.

    >>> counted_words({"not-fresh": 1, "placed": 3}, 3)
    'not fresh in 1 of 3 runs, prepared, not written'
    """
    return ", ".join(
        kind_of(code).label + ("" if count == total else f" in {count} of {total} {what}")
        for code, count in counts.items()
    )


def meanings(codes: Iterable[str], whys: Mapping[str, str] | None = None) -> list[str]:
    """Return label, meaning and advice for each code, the gravest first.

    `whys` are reasons by code, as clauses.
    """
    lines = []
    for code in codes_of(unfit_of(codes)):
        kind, why = kind_of(code), (whys or {}).get(code)
        sentence = f"{kind.sentence.removesuffix('.')} ({why})." if why else kind.sentence
        lines.append(f"{kind.label}: {sentence} {advice_text(kind.advice)}".rstrip())
    return lines


def codes_of(unfit: str | None) -> list[str]:
    """Return the codes in a catalogue's text, the gravest first."""
    found = (unfit or "").split(", ") if unfit else []
    return [
        *(code for code in CATALOGUE if code in found),
        *(code for code in found if code not in CATALOGUE),
    ]


def labels_of(unfit: str | None) -> str:
    """Return the labels of the codes in a catalogue's text."""
    return ", ".join(dict.fromkeys(kind_of(code).label for code in codes_of(unfit)))


def span_text(span_bytes: Any) -> str:  # noqa: ANN401 - of the catalogue
    """Return the part of the drive that a run used: ``the first 512 MB of the drive``.

    >>> span_text(None)
    'the whole drive'
    """
    return "the whole drive" if span_bytes is None else f"the first {capacity_text(span_bytes)} of the drive"


def more_spare(entries: Iterable[tuple[str, float | None]]) -> str:
    """Return a remark on entries with more spare area than the others; empty: none.

    Parameters
    ----------
    entries
        Names, each with the requested spare share; None: the drive's own.

    >>> more_spare([("DC500M", None), ("DC500M, 25 % spare", 0.25)])
    'DC500M, 25 % spare has a different spare area from the other drives'
    """
    found = dict(entries)
    lowest = min((spare or 0.0 for spare in found.values()), default=0.0)
    more = [name for name, spare in found.items() if (spare or 0.0) > lowest]
    if not more:
        return ""
    have = "has" if len(more) == 1 else "have"
    return f"{'; '.join(more)} {have} a different spare area from the other drives"


def software_apart(found: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """Return differing software with the names of the entries it measured; empty: the same for all.

    Parameters
    ----------
    found
        Names of entries, each with its software, separated by commas. Common software is left out.

    >>> software_apart([("A", "ssdlab 0.1.0, Linux 6.18"), ("B", "ssdlab 0.2.0, Linux 6.18")])
    {'ssdlab 0.1.0': ('A',), 'ssdlab 0.2.0': ('B',)}
    """
    pairs = list(dict.fromkeys(found))
    parts = [software.split(", ") for _, software in pairs]
    common = set.intersection(*map(set, parts)) if parts else set()
    by: dict[str, list[str]] = {}
    for (name, _), own in zip(pairs, parts, strict=True):
        words = ", ".join(part for part in own if part and part not in common) or _UNTOLD_SOFTWARE
        by.setdefault(words, []).append(name)
    return {words: tuple(dict.fromkeys(names)) for words, names in by.items()} if len(by) > 1 else {}


def measured_with(found: Iterable[tuple[str, str]]) -> str:
    """Return in words which entries differing software measured; empty: the same for all."""
    apart = software_apart(found)
    return "; ".join(f"{and_listed(list(names))} measured with {words}" for words, names in apart.items())


def _shown(name: str, value: object) -> str:
    if name == "span":
        return span_text(value)
    if name == "simulator" and not value:
        return "unknown"
    if value in ("", None):
        return "the drive's own" if name == "spare" else "none" if name != "settings" else "the preset's"
    if name == "spare" and isinstance(value, float):
        return fixed_share_text(value)
    return str(value)
