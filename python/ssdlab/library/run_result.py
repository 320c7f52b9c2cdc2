"""The result of a finished run, for Python: headline figures with their evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ssdlab.model.units import share_text
from ssdlab.results.kin import meanings
from ssdlab.results.metric import Metric, united, varies_by
from ssdlab.results.run_folder import MANIFEST, RunFolder
from ssdlab.results.store import find_run, require_finished
from ssdlab.results.verifying import check_run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass(frozen=True)
class RunResult:
    """The headline figures of a run.

    Attributes
    ----------
    run, title, drive
        Its folder, its method's title, and its drive.
    figures
        Each with its part of a review; empty for a single run.
    """

    run: str
    title: str
    drive: str
    figures: tuple[tuple[str, Metric], ...]

    def _repr_html_(self) -> str:
        from ssdlab.model.notebook import table_html

        head = ("part", "figure", "value", "load", "varies", "qualifiers")
        rows = [
            (part, each.label, each.words, each.load.words if each.load else "", _varies(each), each.state)
            for part, each in self.figures
        ]
        kept = [at for at in range(len(head)) if at in (1, 2) or any(row[at] for row in rows)]
        found = united(each for _, figure in self.figures for each in figure.qualifiers)
        below = meanings([each.code for each in found], {each.code: each.why for each in found})
        return table_html(
            f"{self.title}: {self.drive}",
            [self.run],
            [head[at] for at in kept],
            [[row[at] for at in kept] for row in rows],
            below,
            words=[place for place, at in enumerate(kept) if head[at] != "value"],
        )


def result_of(text: str, library: Path) -> RunResult:
    """Return the result of a finished run, checked against its seal; for a review, its parts' results.

    Raises
    ------
    UsageError, Refused
        There is no such run, it is damaged, or not finished.
    """
    folder = find_run(text, library)
    run = require_finished(folder)
    title, drive = run.manifest.method.title, run.manifest.drive_names
    return RunResult(run.path.name, title, drive, tuple(_figures("", run)))


def _figures(part: str, run: RunFolder) -> Iterator[tuple[str, Metric]]:
    check_run(run)
    for child in run.manifest.children:
        folder = run.path.parent / child.run_id
        if child.left_out is None and (folder / MANIFEST).is_file():
            found = RunFolder(folder)
            if found.manifest.status == "finished":
                yield from _figures(", ".join(filter(None, (part, child.part))), found)
    if not run.manifest.children:
        scalars = (run.manifest.result or {}).get("scalars")
        for each in scalars if isinstance(scalars, list) else ():
            figure = Metric.model_validate(each)
            if figure.value is not None or figure.qualifiers:
                yield part, figure


def _varies(figure: Metric) -> str:
    """Return how far a figure varies by its evidence, as a share of it; empty: nothing shows it."""
    varies = varies_by(figure)
    if varies is None or not figure.value:
        return ""
    return varies.words(share_text(varies.amount / abs(figure.value)))
