"""What stands on a picture that leaves its page: a title of its own, how it was measured, whose it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from ssdlab.model.units import block_text, ends_text
from ssdlab.report.charts import Head, HeadNote, HeadPart
from ssdlab.report.minded import notes_of, runs_of_views
from ssdlab.report.source import is_unended

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ssdlab.report.runs import Shown
    from ssdlab.report.view import Figure, Section

_NAMED_RUNS = 3
"""So many runs are named in full in a footer; more by the end of their names, which finds them too."""
_FOOTER_RUNS = 16
"""So many are named at all."""
_NAMED_SIZES = 3


def heads_of(sections: Sequence[Section], placed: Sequence[Shown]) -> dict[str, Head]:
    """Return the head of each figure, by its id."""
    found: dict[str, Head] = {}
    for section in sections:
        chosen = [placed[at] for at in section.runs] or list(placed)
        found |= {each.id: _head(section, each, chosen) for each in section.figures}
    return found


def _head(section: Section, figure: Figure, chosen: Sequence[Shown]) -> Head:
    """Return what a picture of a figure says, of the runs that it draws; of none, of those of its section."""
    views = runs_of_views(figure.chart)
    drawn = set().union(*views)
    runs = [one for one in chosen if one.index in drawn] or chosen
    fewer = {tuple(sorted(each)) for each in views if each and each != drawn}
    of = {each: [one for one in runs if one.index in each] for each in sorted(fewer)}
    return Head(
        _title(section, figure),
        _facts(runs),
        _footer(runs),
        (
            *(HeadNote((), text) for text in figure.beside),
            *notes_of(figure.chart, chosen, all_drawn=bool(section.runs), steps=figure.steps),
        ),
        tuple(HeadPart(each, _facts(some), _footer(some)) for each, some in of.items() if some),
    )


def _title(section: Section, figure: Figure) -> str:
    """Return the name of the method and of the figure, of which what both say is said once."""
    above, title = section.title, figure.title
    if above.lower() in title.lower():
        return title
    repeated = f"{above.rpartition(': ')[2]}: "
    if title.lower().startswith(repeated.lower()):
        title = title[len(repeated) :]
    lowered = title[:1].lower() + title[1:] if title[1:2].islower() else title
    return f"{above}: {lowered}"


def _facts(runs: Sequence[Shown]) -> tuple[str, ...]:
    manifests = [one.run.manifest for one in runs]
    methods = dict.fromkeys(f"{each.method.name} v{each.method.version}" for each in manifests)
    quick = {each.quick for each in manifests}
    words = ["quick run" if len(quick) == 1 else "some quick runs"] if any(quick) else []
    ended = {is_unended(each) for each in manifests}
    words += ["unfinished run" if len(ended) == 1 else "some unfinished runs"] if any(ended) else []
    return (
        ", ".join(methods) if len(methods) <= _NAMED_SIZES else f"{len(methods)} methods",
        *_asked(runs),
        *words,
        *dict.fromkeys(each.drive.words for each in manifests),
    )


def _asked(runs: Sequence[Shown]) -> Iterator[str]:
    """Yield block sizes and depths of the measured steps, as far as they are few."""
    sizes: set[int] = set()
    depths: set[int] = set()
    for stream in _streams(runs):
        sizes |= {each["bytes"] for each in stream.get("block") or ()}
        depths.add(stream.get("workers", 1) * stream.get("depth", 1))
    if sizes:
        yield _span([block_text(size) for size in sorted(sizes)])
    if depths:
        yield f"QD {_span([str(depth) for depth in sorted(depths)])}"


def _span(texts: Sequence[str]) -> str:
    return ", ".join(texts) if len(texts) <= _NAMED_SIZES else ends_text(texts[0], texts[-1])


def _streams(runs: Iterable[Shown]) -> Iterator[dict[str, Any]]:
    for one in runs:
        for step in one.run.steps:
            workload = step.args.get("workload")
            if step.verb == "run" and isinstance(workload, dict):
                yield from cast("Any", workload).get("streams") or ()


def _footer(runs: Sequence[Shown]) -> str:
    manifests = [one.run.manifest for one in runs]
    versions = dict.fromkeys(f"ssdlab {each.tool.get('version', 'of unknown version')}" for each in manifests)
    days = sorted({each.created[:10] for each in manifests})
    when = ends_text(days[0], days[-1])
    return f"{', '.join(versions)}; {when}; {_named([each.run_id for each in manifests])}"


def _named(runs: Sequence[str]) -> str:
    if len(runs) <= _NAMED_RUNS:
        return f"run {', '.join(runs)}"
    short = [each.rpartition("-")[2] for each in runs[:_FOOTER_RUNS]]
    more = [f"+{len(runs) - _FOOTER_RUNS} more"] if len(runs) > _FOOTER_RUNS else []
    return f"{len(runs)} runs: {', '.join((*short, *more))}"
