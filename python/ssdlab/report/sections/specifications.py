"""What the drives are: the maker's figures and the drive record in columns; nested facts as flat rows."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ssdlab.drives.ratings import METRICS
from ssdlab.host.documents import Document
from ssdlab.model.capabilities import SIMULATED_PREFIX
from ssdlab.model.errors import LabError
from ssdlab.model.units import and_listed, capacity_text, ends_text, figure_text, significant
from ssdlab.report.links import link_of, profile_of
from ssdlab.report.runs import entries
from ssdlab.report.view import Exhibit, Section
from ssdlab.results.cells import NOTHING, Table, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ssdlab.drives.ratings import MetricName
    from ssdlab.report.runs import Shown
    from ssdlab.results.schema import Manifest

_MANY = 12
"""A list of more is told by how many it has: the seconds of a step are in its table, not in a line."""
_FIRST = 4


def flat(tree: Mapping[str, Any], above: str = "") -> list[tuple[str, Any]]:
    """Name the leaves of nested JSON by path, `cpu.user_s`; a list is one leaf unless it holds objects."""
    leaves: list[tuple[str, Any]] = []
    for name, value in tree.items():
        path = f"{above}.{name}" if above else str(name)
        if isinstance(value, dict) and value:
            leaves += flat(value, path)
        elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
            leaves += flat({str(at): item for at, item in enumerate(value)}, path)
        else:
            leaves.append((path, value))
    return leaves


def fact(tree: Mapping[str, Any], *names: str) -> str | None:
    """Return the first leaf with one of these names, wherever it lies, as text; None if there is none."""
    leaves = flat(tree)
    for name in names:
        for path, value in leaves:
            if path.rpartition(".")[2] == name and value not in (None, "", [], {}):
                return text(value)
    return None


def text(value: Any) -> str:  # noqa: ANN401 - whatever JSON holds
    """Return a leaf as a reader sees it."""
    match value:
        case None | "" | []:
            return "—"
        case dict():
            return ", ".join(f"{name} {text(item)}" for name, item in value.items()) or "—"
        case True:
            return "yes"
        case False:
            return "no"
        case list() if len(value) > _MANY:
            return _summary(value)
        case list():
            return ("; " if any(isinstance(item, dict) for item in value) else ", ").join(
                text(item) for item in value
            )
        case float():
            return f"{value:.6g}"
        case _:
            return str(value)


def _summary(values: Sequence[object]) -> str:
    numbers = [each for each in values if isinstance(each, int | float) and not isinstance(each, bool)]
    if len(numbers) == len(values):
        return f"{len(values)} values, {ends_text(text(min(numbers)), text(max(numbers)))}"
    return f"{', '.join(map(text, values[:_FIRST]))} and {len(values) - _FIRST} more"


_NAND = re.compile(r"(\d+)(l|nm)-(slc|mlc|tlc|qlc)-(.+)")
_NAND_OF = {"v-nand": "V-NAND", "bics": "BiCS"}
_CELLS = {"1": "SLC", "2": "MLC", "3": "TLC", "4": "QLC"}
"""By bits of a cell, where a profile names no NAND."""
_WORD = 5
"""Letters from which on a maker is a name, and no letters of a name."""
_NUMBER = re.compile(r"\d+(?:[.,]\d+)?")


def section(
    runs: Sequence[Shown], listed: Sequence[Document] = (), absent: Sequence[str] = ()
) -> Section | None:
    """Return the table of the drives and their rivals; None where nobody knows anything of them.

    Parameters
    ----------
    runs
        Of the page.
    listed
        Drives that a review names, with their notes.
    absent
        Those of them that were not run, each with the reason.
    """
    first = [entry.runs[0] for entry in entries(runs)]
    rows = []
    for name, tell in _ROWS:
        answers = [tell(shown.run.manifest) for shown in first]
        if any(answers):
            rows.append((words(name), *(words(text or NOTHING) for text in answers)))
    notes = [
        *_noted(listed),
        *(f"Absent: {each}" for each in absent),
    ]
    if len(rows) <= _ALWAYS and not notes:
        return None
    heads = tuple(shown.style.short for shown in first)
    lead = " ".join(f"{note}." for note in notes)
    table = Table("Drives", ("", *heads), tuple(rows))
    return Section(
        id="drives",
        title="The drives",
        lead=(),
        runs=(),
        figures=(),
        exhibits=(Exhibit("What they are and what they are rated for", lead, (table,)),),
    )


def _noted(listed: Sequence[Document]) -> Iterator[str]:
    """Yield the notes of a review, one that several drives have once."""
    drives: dict[str, list[str]] = {}
    for each in listed:
        if "note" in each:
            drives.setdefault(str(each["note"]), []).append(str(each["name"]))
    for note, names in drives.items():
        yield f"{and_listed(names)}: {note}"


def _record(manifest: Manifest) -> Document:
    found = manifest.environment.get("drive_record")
    return found if isinstance(found, dict) else {}


def _of_record(name: str, unit: str = "") -> Callable[[Manifest], str | None]:
    def tell(manifest: Manifest) -> str | None:
        value = _record(manifest).get(name)
        if value is None:
            return None
        return f"{significant(value) if isinstance(value, int | float) else value} {unit}".strip()

    return tell


def _of_profile(table: str, name: str, manifest: Manifest) -> str | None:
    found = profile_of(manifest.drive).get(table)
    value = found.get(name) if isinstance(found, dict) else None
    value = value.get("value") if isinstance(value, dict) else value
    return None if value is None else str(value)


def interface(manifest: Manifest) -> str | None:
    """Return what a drive is reached by; None: not known."""
    return link_of(manifest.drive).interface or fact(manifest.drive.identity, "transport", "interface")


def medium(manifest: Manifest) -> str | None:
    """Return what a drive keeps its data in, by its record or its profile; None: not known."""
    named = _of_record("nand")(manifest) or nand_text(_of_profile("flash", "nand", manifest))
    if named is None and "xpoint" in profile_of(manifest.drive):
        return "3D XPoint"
    return named or _CELLS.get(_of_profile("flash", "bits_per_cell", manifest) or "")


def nand_text(name: str | None) -> str | None:
    """Return a medium of a profile in words.

    >>> nand_text("64l-tlc-v-nand"), nand_text("19nm-mlc-toshiba"), nand_text("fast")
    ('64-layer TLC, V-NAND', '19 nm MLC, Toshiba', 'fast')
    """
    found = _NAND.fullmatch(name or "")
    if found is None:
        return name
    size, unit, cell, of = found.groups()
    process = f"{size}-layer" if unit == "l" else f"{size} nm"
    return f"{process} {cell.upper()}, {_NAND_OF.get(of, of.upper() if len(of) < _WORD else of.capitalize())}"


def _capacity(manifest: Manifest) -> str | None:
    """Return how large a drive is; of a simulated one also by how much it was made smaller."""
    if not manifest.drive.capacity_bytes:
        return None
    size = capacity_text(manifest.drive.capacity_bytes)
    scale = _scale(manifest)
    return size if scale == 1 else f"{size}, simulated at 1/{scale} of its size"


def _scale(manifest: Manifest) -> int:
    if not manifest.drive.text.startswith(SIMULATED_PREFIX):
        return 1
    from ssdlab.drives.simulated.text import SimulatedText

    try:
        return SimulatedText.parse(manifest.drive.text).scale
    except LabError:  # of an ssdlab whose drives say something else
        return 1


def _used(manifest: Manifest) -> str | None:
    variant = manifest.drive.variant
    return None if variant is None else ", ".join(variant.words)


def _raw(manifest: Manifest) -> str | None:
    value = _record(manifest).get("raw_bytes")
    return capacity_text(value) if isinstance(value, int) else None


def _price_per_gb(manifest: Manifest) -> str | None:
    """Return the price of a usable gigabyte, in the words that the record has around its number."""
    price = _record(manifest).get("price")
    found = _NUMBER.search(str(price)) if price is not None else None
    if found is None:
        return None
    variant = manifest.drive.variant
    usable = variant.usable.length if variant is not None and variant.usable is not None else None
    per_gb = float(found[0].replace(",", ".")) / ((usable or manifest.drive.capacity_bytes) / 1e9)
    return f"{str(price)[: found.start()]}{significant(per_gb)}{str(price)[found.end() :]}"


def _rating(metric: MetricName) -> Callable[[Manifest], str | None]:
    def tell(manifest: Manifest) -> str | None:
        alike = [each for each in manifest.ratings if each.metric == metric]
        return "; ".join(
            f"{figure_text(each.value, METRICS[metric].unit)}{f' ({each.state})' if each.state else ''}"
            for each in alike
        )

    return tell


_ROWS: tuple[tuple[str, Callable[[Manifest], str | None]], ...] = (
    ("Capacity", _capacity),
    ("Firmware", lambda m: fact(m.drive.identity, "firmware")),
    ("Interface", interface),
    ("Controller", _of_record("controller")),
    ("NAND", medium),
    ("Raw capacity", _raw),
    ("Variant", _used),
    *((f"Rated {METRICS[metric].title}", _rating(metric)) for metric in METRICS),
    ("Drive writes per day", _of_record("dwpd")),
    ("Endurance", _of_record("tbw", "TB")),
    ("Warranty", _of_record("warranty_years", "years")),
    ("Price", _of_record("price")),
    ("Price per usable GB", _price_per_gb),
    ("Sample from", _of_record("source")),
)
"""What is told of a drive, and how it is found."""
_ALWAYS = 2
"""Rows that every drive has: with no more there is nothing to compare."""
