"""What is the matter with the figures of a run, in the terminal and as JSON: each told once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.cli.output import one_line, paint, print_line
from ssdlab.methods.results.outcome import read_result
from ssdlab.model.printable import advice_text
from ssdlab.results.metric import united

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ssdlab.results.metric import Metric, Qualifier
    from ssdlab.results.run_folder import RunFolder

_WHYS = 2
"""So many reasons of one qualifier are told; each figure of the JSON has its own."""


def parts_of(suite: RunFolder) -> dict[str, RunFolder]:
    """Return the finished runs of a suite that are still there, by the names of their parts."""
    from ssdlab.runs.suites.outcome import finished_children

    names = {child.run_id: child.part for child in suite.manifest.children}
    found = finished_children(suite.path.parent, suite.manifest.children)
    return {names[each.path.name]: each for each in found if each.path.exists()}


def figures_of(parts: Mapping[str, RunFolder]) -> Iterator[tuple[str, Metric]]:
    """Yield the headline figures of runs, each after what its run is called; of a suite of its parts."""
    for name, run in parts.items():
        if run.manifest.children:
            yield from figures_of({f"{name}, {part}": each for part, each in parts_of(run).items()})
        elif (result := read_result(run)) is not None:
            yield from ((name, figure) for figure in result.scalars)


def qualifiers_json(run: RunFolder) -> dict[str, dict[str, object]]:
    """Return by code what the qualifiers of a run's figures mean, with the names of those that have it."""
    figures = [figure for _, figure in figures_of({"": run})]
    return {
        code: {
            "label": kind.label,
            "sentence": kind.sentence,
            "advice": kind.advice,
            "forbids": sorted(kind.forbids),
            "figures": list(dict.fromkeys(each.name for each in figures if _of(code, each))),
        }
        for code, kind in ((each.code, each.kind) for each in _all(figures))
    }


def print_qualifiers(figures: Iterable[tuple[str, Metric]]) -> None:
    """Print what each qualifier of some figures means, the gravest first.

    Parameters
    ----------
    figures
        Each after what is named where a qualifier is not of all: its label, or the part of a suite.
    """
    pairs = list(figures)
    names = {name for name, _ in pairs}
    found = _all(figure for _, figure in pairs)
    if found:
        print_line()
    for each in found:
        having = dict.fromkeys(name for name, figure in pairs if _of(each.code, figure))
        of = "" if having.keys() == names else f", of {'; '.join(having)}"
        whys = dict.fromkeys(own.why for _, figure in pairs for own in _of(each.code, figure) if own.why)
        print_line(f"{paint(f'{each.label}{of}:', 'warn')} {one_line(_words(each, list(whys)))}")


def _words(found: Qualifier, whys: Sequence[str]) -> str:
    """Return what it means, why it was found, and what to do."""
    kind = found.kind
    more = f"; and {len(whys) - _WHYS} more" if len(whys) > _WHYS else ""
    why = f" ({'; '.join(whys[:_WHYS])}{more})." if whys else "."
    return f"{kind.sentence.removesuffix('.')}{why} {advice_text(kind.advice)}".rstrip()


def _all(figures: Iterable[Metric]) -> tuple[Qualifier, ...]:
    return united(own for figure in figures for own in figure.qualifiers)


def _of(code: str, figure: Metric) -> list[Qualifier]:
    return [own for own in figure.qualifiers if own.code == code]
