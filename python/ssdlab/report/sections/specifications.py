"""The drives' specifications from maker and drive record, with a column per drive; nested facts as rows."""

from __future__ import annotations

import re
from calendar import month_name
from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, Literal

from ssdlab.drives.ratings import METRICS
from ssdlab.host.documents import Document
from ssdlab.model.units import and_listed, capacity_text, ends_text, figure_text, share_text, significant
from ssdlab.report.links import link_of, profile_of
from ssdlab.report.runs import entries, record_of
from ssdlab.report.view import Exhibit, Section
from ssdlab.results.catalogue_row import size_of
from ssdlab.results.cells import NOTHING, Table, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import date

    from ssdlab.drives.drive_record import DriveRecord
    from ssdlab.drives.ratings import Fact, MetricName
    from ssdlab.report.runs import Shown
    from ssdlab.results.cells import Cell
    from ssdlab.results.schema import Manifest

_MANY = 12
"""Maximum length of a list that is printed in full. Longer lists, such as the seconds of a step, are
summarised."""
_FIRST = 4


def day_text(day: date) -> str:
    return f"{day.day} {month_name[day.month]} {day.year}"


def flat(tree: Mapping[str, Any], above: str = "") -> list[tuple[str, Any]]:
    """Return the leaves of nested JSON by path, such as `cpu.user_s`; a list without objects is one leaf."""
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
    """Return the first leaf with one of these names at any depth, as text; None if there is none."""
    leaves = flat(tree)
    for name in names:
        for path, value in leaves:
            if path.rpartition(".")[2] == name and value not in (None, "", [], {}):
                return text(value)
    return None


def text(value: Any) -> str:  # noqa: ANN401 - whatever JSON holds
    """Return a leaf as text for a reader."""
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
"""Cell type by bits per cell, if a profile names no NAND."""
_WORD = 5
"""Minimum letters of a NAND maker written as a name; shorter ones are acronyms, in capitals."""
_NUMBER = re.compile(r"\d+(?:[.,]\d+)?")


@dataclass(frozen=True)
class Known:
    """The known facts about a drive besides its figures.

    Attributes
    ----------
    manifest
        Manifest of the drive's first run.
    record
        The user's current record; for a simulated drive, the record of its profile.
    sources
        Sources of the record's entries, by name. Entries of the user have none.
    """

    manifest: Manifest
    record: DriveRecord
    sources: Mapping[str, str]

    @property
    def profile(self) -> Document:
        return profile_of(self.manifest.drive)

    @property
    def scale(self) -> int:
        return size_of(self.manifest)[0]

    @property
    def capacity_bytes(self) -> int:
        """Capacity of the drive in full size."""
        own = value_of(self.profile.get("capacity_bytes"))
        return int(own) if own is not None else self.manifest.drive.capacity_bytes * self.scale

    @property
    def usable_bytes(self) -> int:
        """The part of the capacity that the variant leaves to the user."""
        variant = self.manifest.drive.variant
        if variant is not None and variant.usable is not None and not variant.made:
            return variant.usable.length
        made = size_of(self.manifest)[1] is not None  # a simulated drive is made smaller by this spare area
        return self.manifest.drive.capacity_bytes * self.scale if made else self.capacity_bytes

    @property
    def raw_bytes(self) -> int | None:
        return self.record.raw_bytes or _raw_of(self.profile.get("flash"))

    def marked(self, text: str, *names: str) -> str:
        """Return a text with a mark for its source, unless the source is a data sheet or the user."""
        source = next((each for name in names if (each := self.sources.get(name))), "")
        return f"{text}{_MARKS.get(source, '')}"


Tell = Callable[[Known], str | None]

_MARKS = {"recalled": "*", "review": "†", "assumed": " (assumed)"}
_FOOTNOTES = {
    "*": "* From memory: not checked against a data sheet.",
    "†": "† From published reviews.",
}
_FLASH = ("channels", "dies_per_channel", "planes", "blocks_per_plane", "pages_per_block", "page_kib")


def _raw_of(flash: object) -> int | None:
    """Return the raw bytes of a profile's flash; None if not all dimensions are given."""
    if not isinstance(flash, dict):
        return None
    found = [value_of(flash.get(name)) for name in _FLASH]
    return prod(map(int, filter(None, found))) * 1024 if all(found) else None


def value_of(figure: object) -> Any:  # noqa: ANN401 - whatever a profile states
    return figure.get("value") if isinstance(figure, dict) else figure


def known_of(shown: Shown) -> Known:
    from ssdlab.drives.drive_record import DriveRecord

    manifest = shown.run.manifest
    facts = _facts(manifest)
    noted = {name: value for name, value in _record(manifest).items() if name in DriveRecord.model_fields}
    now = record_of(manifest.drive)
    own = noted if now is None else now.model_dump(exclude_none=True)
    values = {"model": "", **{name: each.value for name, each in facts.items()}, **own}
    sources = {name: each.source for name, each in facts.items() if name not in own}
    return Known(manifest, DriveRecord.model_validate(values), sources)


def _facts(manifest: Manifest) -> Mapping[str, Fact]:
    """Return the sourced facts about the drive that a profile models, including those in the profile."""
    from ssdlab.drives.ratings import Fact, ratings_of

    profile = profile_of(manifest.drive)
    if not profile:
        return {}
    found = ratings_of(str(manifest.drive.identity.get("name")))
    facts = dict(found.drive) if found is not None else {}
    kept = profile.get("buffer", {}).get("power_loss_protection")
    if isinstance(kept, dict):
        facts["power_loss_protection"] = Fact(value=kept["value"], source=_source(kept))
    return facts


def _source(figure: Document) -> Literal["data-sheet", "recalled", "assumed"]:
    source = figure.get("source")
    return "data-sheet" if source == "data-sheet" else "assumed" if source == "assumed" else "recalled"


def section(
    runs: Sequence[Shown], listed: Sequence[Document] = (), absent: Sequence[str] = ()
) -> Section | None:
    """Return the table of the drives; None if nothing is known about them.

    Parameters
    ----------
    runs
        Runs of the page.
    listed
        Drives that a review names, with their notes.
    absent
        Drives of the review that were not run, each with the reason.
    """
    first = [entry.runs[0] for entry in entries(runs)]
    known = [known_of(shown) for shown in first]
    of_drives, of_ratings = (list(_rows(each, known)) for each in (_ROWS, _RATED))
    rows = [*of_drives, *of_ratings]
    notes = [
        *_noted(listed),
        *(f"Absent: {each}" for each in absent),
    ]
    if len(rows) <= _ALWAYS and not notes:
        return None
    heads = tuple(shown.style.short for shown in first)
    scales = {each.scale for each in known}
    if len(scales) > 1 or scales == {1}:
        scaled = []
    else:
        scaled = [f"Simulated at 1/{scales.pop()} of {'its' if len(known) == 1 else 'their'} capacity"]
    marks = [
        text
        for mark, text in _FOOTNOTES.items()
        if any(cell.text.endswith(mark) for row in rows for cell in row)
    ]
    lead = " ".join((*(f"{note}." for note in (*scaled, *notes)), *marks))
    exhibits = [Exhibit("What they are", lead, (Table("Drives", ("", *heads), tuple(of_drives)),))]
    if of_ratings:
        rated = Table("Ratings, each with its drive state", ("", *heads), tuple(of_ratings))
        exhibits.append(Exhibit("What they are rated for", "", (rated,)))
    return Section(
        id="drives",
        title="The drives",
        lead=(),
        runs=(),
        figures=(),
        exhibits=tuple(exhibits),
    )


def _rows(asked: Sequence[tuple[str, Tell]], known: Sequence[Known]) -> Iterator[tuple[Cell, ...]]:
    for name, tell in asked:
        answers = [tell(each) for each in known]
        if any(answers):
            yield words(name), *(words(text or NOTHING) for text in answers)


def _noted(listed: Sequence[Document]) -> Iterator[str]:
    drives: dict[str, list[str]] = {}
    for each in listed:
        if "note" in each:
            drives.setdefault(str(each["note"]), []).append(str(each["name"]))
    for note, names in drives.items():
        yield f"{and_listed(names)}: {note}"


def _record(manifest: Manifest) -> Document:
    found = manifest.environment.get("drive_record")
    return found if isinstance(found, dict) else {}


def _of_record(name: str, unit: str = "") -> Tell:
    def tell(known: Known) -> str | None:
        value = getattr(known.record, name)
        if value is None:
            return None
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return known.marked(f"{value:g} {unit}".strip() if number else text(value), name)

    return tell


def interface(manifest: Manifest) -> str | None:
    """Return the interface of a drive; None if unknown."""
    return link_of(manifest.drive).interface or fact(manifest.drive.identity, "transport", "interface")


def medium(manifest: Manifest, noted: str | None = None) -> str | None:
    """Return the medium of a drive, from its record or profile; None if unknown."""
    profile = profile_of(manifest.drive)
    flash = profile.get("flash") or {}
    named = noted or _record(manifest).get("nand") or nand_text(value_of(flash.get("nand")))
    if named is None and "xpoint" in profile:
        return "3D XPoint"
    return named or _CELLS.get(str(value_of(flash.get("bits_per_cell"))))


def nand_text(name: str | None) -> str | None:
    """Return the NAND that a profile names, in words.

    >>> nand_text("64l-tlc-v-nand"), nand_text("19nm-mlc-toshiba"), nand_text("fast")
    ('64-layer TLC, V-NAND', '19 nm MLC, Toshiba', 'fast')
    """
    found = _NAND.fullmatch(name or "")
    if found is None:
        return name
    size, unit, cell, of = found.groups()
    process = f"{size}-layer" if unit == "l" else f"{size} nm"
    return f"{process} {cell.upper()}, {_NAND_OF.get(of, of.upper() if len(of) < _WORD else of.capitalize())}"


def _interface(known: Known) -> str | None:
    """Return a drive's interface with its link: as negotiated, or else from the drive record."""
    name = interface(known.manifest)
    negotiated = fact(known.manifest.environment, "link")
    link = _of_record("link")(known) if negotiated is None else link_text(negotiated)
    if name is None or link is None or link.startswith(name):
        return link or name
    return f"{'AHCI' if 'AHCI' in name else name}, {link}"


_GENERATIONS = {"2.5": "1.0", "5": "2.0", "8": "3.0", "16": "4.0", "32": "5.0", "64": "6.0"}
_SPEED = re.compile(r"(\d+(?:\.\d)?) GT/s x(\d+)")


def link_text(found: str) -> str:
    """Return a PCIe link by its generation; if it runs below its maximum, with the maximum.

    >>> link_text("8.0 GT/s x4 of 16.0 GT/s x4"), link_text("8.0 GT/s x4 of 8.0 GT/s x4")
    ('PCIe 3.0 x4, of 4.0 x4', 'PCIe 3.0 x4')
    """
    ends = [
        f"{_GENERATIONS.get(speed.removesuffix('.0'), f'at {speed} GT/s')} x{lanes}"
        for speed, lanes in _SPEED.findall(found)
    ]
    if not ends:
        return found
    return f"PCIe {ends[0]}" + (f", of {ends[-1]}" if ends[-1] != ends[0] else "")


def _used(known: Known) -> str | None:
    variant = known.manifest.drive.variant
    return None if variant is None else ", ".join(variant.words)


def _raw(known: Known) -> str | None:
    raw = known.raw_bytes
    return None if raw is None else known.marked(capacity_text(raw), "raw_bytes") + _of_flash(known)


def _spare(known: Known) -> str | None:
    """Return the share of the raw flash that the user cannot use."""
    raw = known.raw_bytes
    return None if raw is None else share_text((raw - known.usable_bytes) / raw) + _of_flash(known)


def _of_flash(known: Known) -> str:
    """Return the mark for the source of a profile's flash size."""
    dies = (known.profile.get("flash") or {}).get("dies_per_channel")
    return "" if known.record.raw_bytes or not isinstance(dies, dict) else _MARKS.get(_source(dies), "")


def _hold_up(known: Known) -> str | None:
    energy = known.record.hold_up_j()
    if energy is None:
        return None
    parts = f"{known.record.hold_up_capacitance_uf:g} µF at {known.record.hold_up_voltage_v:g} V"
    return known.marked(f"{significant(energy)} J ({parts})", "hold_up_capacitance_uf", "hold_up_voltage_v")


def _price(known: Known) -> str | None:
    record = known.record
    if record.price is None:
        return None
    day = "" if record.price_on is None else f", {day_text(record.price_on)}"
    return known.marked(f"{record.price}{day}", "price")


def _price_per_gb(known: Known) -> str | None:
    """Return the price of a usable gigabyte, in the record's own words around the number."""
    price = known.record.price
    found = _NUMBER.search(price) if price is not None else None
    if price is None or found is None:
        return None
    per_gb = float(found[0].replace(",", ".")) / (known.usable_bytes / 1e9)
    return known.marked(f"{price[: found.start()]}{significant(per_gb)}{price[found.end() :]}", "price")


def _rating(metric: MetricName) -> Tell:
    def tell(known: Known) -> str:
        alike = [each for each in known.manifest.ratings if each.metric == metric]
        return "; ".join(
            f"{figure_text(each.value, METRICS[metric].unit)}{f' ({each.state})' if each.state else ''}"
            f"{_MARKS.get(each.source, '')}"
            for each in alike
        )

    return tell


_ROWS: tuple[tuple[str, Tell], ...] = (
    ("Class", _of_record("drive_class")),
    ("Capacity", lambda known: capacity_text(size) if (size := known.capacity_bytes) else None),
    ("Firmware", lambda known: fact(known.manifest.drive.identity, "firmware")),
    ("Interface", _interface),
    ("Controller", _of_record("controller")),
    ("NAND", lambda known: medium(known.manifest, known.record.nand)),
    ("Raw capacity", _raw),
    ("Variant", _used),
    ("Spare, of the raw capacity", _spare),
    ("Power-loss protection", _of_record("power_loss_protection")),
    ("Hold-up energy, at most", _hold_up),
    ("Drive writes per day", _of_record("dwpd")),
    ("Endurance", _of_record("tbw", "TB")),
    ("Warranty", _of_record("warranty_years", "years")),
    ("Price", _price),
    ("Price per usable GB", _price_per_gb),
    ("Sample from", _of_record("source")),
)
"""Facts about a drive, each with a function that returns it."""
_RATED = tuple((f"{each.title[:1].upper()}{each.title[1:]}", _rating(name)) for name, each in METRICS.items())
_ALWAYS = 2
"""Number of rows that every drive has; with no more rows, there is nothing to compare."""
