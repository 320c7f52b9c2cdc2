"""The drives that a review declares and that a run of it is not of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.drives.prefix import SIMULATED_PREFIX
from ssdlab.model.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ssdlab.model.document import Document


def absent_drives(review: Document, texts: Iterable[str]) -> tuple[str, ...]:
    """Name each declared drive that was not run, with the reason where the review gives one.

    A real drive is not known by its declared name: beside one, only what stands in is told, a profile.

    Parameters
    ----------
    review
        What a declaration says of the page; empty: it declares no drives.
    texts
        Of the drives that were run, as the user named them.
    """
    had = list(texts)
    profiles = set(_profiles(had))
    simulated = all(text.startswith(SIMULATED_PREFIX) for text in had)
    not_run = "not run" if simulated else "not run as its profile"
    return tuple(
        f"{each['name']}, {each.get('absent', not_run)}"
        for each in review.get("drives", ())
        if each.get("profile") not in profiles
    )


def _profiles(texts: Iterable[str]) -> Iterator[str]:
    from ssdlab.drives.simulated.text import SimulatedText

    for text in texts:
        if text.startswith(SIMULATED_PREFIX):
            try:
                yield SimulatedText.parse(text).profile
            except LabError:  # of an ssdlab whose drives say something else
                continue
