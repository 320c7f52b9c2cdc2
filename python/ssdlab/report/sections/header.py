"""The head of the page: the measured drives and how they were measured.

A drive in several states counts once. A state makes a drive a separate entry: a variant (spare, power, write
cache), or the size of a simulated drive. The state's words follow the drive's name after commas.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from itertools import zip_longest
from typing import TYPE_CHECKING

from ssdlab.model.capabilities import SIMULATED_PREFIX
from ssdlab.model.errors import LabError
from ssdlab.model.units import and_listed, block_text, capacity_text, ends_text
from ssdlab.report.runs import engine_words, entries
from ssdlab.report.sections.banners import Banner, banners, test_notes
from ssdlab.report.sections.specifications import day_text, fact, interface
from ssdlab.report.source import is_unended
from ssdlab.results.catalogue_row import size_of
from ssdlab.results.cells import NOTHING, Table, words
from ssdlab.results.metered import energy_words, limit_words, meter_of, meter_words
from ssdlab.results.remarks import is_shortened
from ssdlab.results.schema import Manifest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ssdlab.drives.simulated.text import SimulatedText
    from ssdlab.report.runs import Entry, Shown
    from ssdlab.results.schema import DriveInfo

    _State = tuple[tuple[str, str], ...]

_SEALS = {
    "sealed": "sealed; verified when this page was made",
    "unfinished": "sealed up to where it stopped; verified when this page was made",
    "not sealed": "not sealed: made before seals existed, so damage would not show",
}


def file_system(manifest: Manifest) -> str | None:
    """Return the file system of a file under test; None for a drive."""
    if not manifest.drive.capabilities.on_file_system:
        return None
    kind = fact(manifest.environment, "fstype")
    source = fact(manifest.environment, "source") or fact(manifest.drive.identity, "backing")
    return " on ".join(filter(None, (kind or "not recorded", source)))


def _cpu(manifest: Manifest) -> str | None:
    model, cores = fact(manifest.environment, "model_name", "model"), fact(manifest.environment, "cores")
    cpus = fact(manifest.environment, "cpus")
    count = f"{cores} cores" + (f", {cpus} CPUs" if cpus and cpus != cores else "") if cores else None
    return ", ".join(filter(None, (model, count))) or None


def _capacity(size_bytes: int) -> str | None:
    return f"{capacity_text(size_bytes)} ({size_bytes} B)" if size_bytes else None


def _tool(manifest: Manifest) -> str:
    version, profile = manifest.tool.get("version", "unknown"), manifest.tool.get("profile", "unknown")
    tool = f"ssdlab {version}, {profile} build"
    program = manifest.tool.get("imported_from")
    return f"{program}, imported by {tool}" if program else tool


_FACTS: tuple[tuple[str, Callable[[Manifest], str | None]], ...] = (
    ("Drive", lambda m: m.drive.name),
    ("Kind", lambda m: m.drive.words),
    ("Path", lambda m: m.drive.text),
    ("Identity", lambda m: m.drive.id if m.drive.id != m.drive.text else None),
    ("Capacity", lambda m: _capacity(m.drive.capacity_bytes)),
    ("Logical block", lambda m: block_text(size) if (size := m.drive.logical_block_bytes) else None),
    ("Firmware", lambda m: fact(m.drive.identity, "firmware")),
    ("Interface", interface),
    ("File system", file_system),
    ("Date", lambda m: m.created.replace("T", " ").replace("Z", " UTC")),
    ("Host", lambda m: fact(m.environment, "hostname", "host", "node")),
    ("Kernel", lambda m: fact(m.environment, "release", "kernel")),
    ("CPU", _cpu),
    ("Governor", lambda m: fact(m.environment, "governor", "governors")),
    ("Scheduler", lambda m: fact(m.environment, "scheduler")),
    ("Write cache", lambda m: fact(m.environment, "write_cache")),
    ("Engine", lambda m: f"{engine_words(m.engine)} ({m.engine})"),
    ("Power meter", lambda m: None if meter_of(m) is None else meter_words(m)),
    ("Energy", energy_words),
    ("Power limit", limit_words),
    ("Method", lambda m: f"{m.method.name}, version {m.method.version}" + (", quick" if m.quick else "")),
    ("Tool", _tool),
    ("Seed", lambda m: None if m.tool.get("imported_from") else str(m.seed)),
    ("Run", lambda m: m.run_id),
    ("Seal", lambda m: _SEALS[m.seal_state]),
)
"""Facts about the origin of the page's numbers, each with a function that returns it from a manifest."""
_OF_EACH_RUN = frozenset({"Date", "Method", "Seed", "Run"})
"""Facts that are in a separate table if a drive has several runs."""


_NOUN = re.compile(r".*?(?= (?:in|of|on) |$)")
"""What precedes the first preposition of a kind of drive, or the whole kind."""


@dataclass(frozen=True)
class Header:
    title: str
    subtitle: str
    line: tuple[tuple[str, bool], ...]
    """Facts that limit the page's results, in a few words each, and whether the fact is an alarm."""
    facts: Table
    runs: Table | None
    """Run, date and seed of each method, with a column for each entry; None if each entry has one run."""
    banners: tuple[Banner, ...]

    @property
    def test_notes(self) -> str:
        return test_notes(self.banners)


def header(runs: Sequence[Shown]) -> Header:
    manifests = [shown.run.manifest for shown in runs]
    titles = dict.fromkeys(manifest.method.title for manifest in manifests)
    return Header(
        title=compared(shown.drive for shown in runs),
        subtitle=_sentence(", ".join(titles)),
        line=tuple(_line(runs)),
        facts=_facts(runs),
        runs=_runs(runs),
        banners=banners(runs),
    )


def _line(runs: Sequence[Shown]) -> Iterator[tuple[str, bool]]:
    """Yield the facts to know before any figure: kinds or scales of drives, incomplete runs, days."""
    manifests = [shown.run.manifest for shown in runs]
    drives = len({shown.drive.id for shown in runs})
    scales = sorted({scale for manifest in manifests if (scale := size_of(manifest)[0]) > 1})
    kinds: dict[str, set[str]] = {}
    for shown in runs:
        if size_of(shown.run.manifest)[0] == 1:
            kinds.setdefault(shown.run.manifest.drive.words, set()).add(drive_of(shown.drive))
    if scales:
        sizes = and_listed([f"1/{scale}" for scale in scales])
        whole = any(_in_full_size(manifest) for manifest in manifests)
        rest = "and full size" if whole else f"of {'its' if drives == 1 else 'their'} size"
        yield f"simulated at {sizes} {rest}", False
    if kinds and not scales:
        yield (
            ", ".join(each if len(own) == 1 else _plural(each) for each, own in kinds.items()).lower(),
            False,
        )
    yield from ((f"{word} run{some}{more}", True) for word, some, more in _short_of(manifests))
    if any(map(is_shortened, manifests)):
        yield "shorter than the method requires", True
    days = sorted(manifest.created[:10] for manifest in manifests)
    yield ends_text(*(day_text(date.fromisoformat(each)) for each in (days[0], days[-1]))), False


def _plural(kind: str) -> str:
    """Return the plural of a kind of drive: `files on a file system`."""
    return _NOUN.sub(r"\g<0>s", kind, count=1)


def _short_of(manifests: Sequence[Manifest]) -> Iterator[tuple[str, str, str]]:
    """Yield how runs are incomplete, how many are, and the consequence for their figures."""
    ways = (("quick", [m.quick for m in manifests]), ("unfinished", [is_unended(m) for m in manifests]))
    for word, those in ways:
        if count := sum(those):
            some = "" if count == len(those) else f"s: {count} of {len(those)}"
            yield word, some, ": indicative only" if word == "quick" and not some else ""


def _in_full_size(manifest: Manifest) -> bool:
    return manifest.drive.capabilities.made_to_order and size_of(manifest)[0] == 1


def _facts(runs: Sequence[Shown]) -> Table:
    groups = entries(runs)
    rows = []
    several = any(len(entry.runs) > 1 for entry in groups)
    for name, tell in _FACTS:
        if several and name in _OF_EACH_RUN:
            continue
        answers = [_join_answers(tell, entry) for entry in groups]
        if any(answers):
            rows.append((words(name), *(words(text or NOTHING) for text in answers)))
    heads = ("", *(entry.style.label for entry in groups))
    return Table("Where these numbers come from", heads, tuple(rows))


def _runs(runs: Sequence[Shown]) -> Table | None:
    """Return a table of each method's runs by entry: id, date and seed; None with one run per entry."""
    groups = entries(runs)
    if all(len(entry.runs) == 1 for entry in groups):
        return None
    methods = dict.fromkeys(_method(shown.run.manifest) for shown in runs)
    rows = []
    for method in methods:
        cells = []
        for entry in groups:
            own = [shown.run.manifest for shown in entry.runs if _method(shown.run.manifest) == method]
            texts = (f"{m.run_id}, {m.created[:16].replace('T', ' ')} UTC, seed {m.seed}" for m in own)
            cells.append(words("; ".join(texts) or NOTHING))
        rows.append((words(method), *cells))
    return Table("Runs", ("", *(entry.style.label for entry in groups)), tuple(rows))


def _method(manifest: Manifest) -> str:
    return f"{manifest.method.name}, version {manifest.method.version}" + (
        ", quick" if manifest.quick else ""
    )


def _join_answers(tell: Callable[[Manifest], str | None], entry: Entry) -> str:
    return "; ".join(dict.fromkeys(filter(None, (tell(one.run.manifest) for one in entry.runs))))


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


_PHRASES = dict.fromkeys(("scale", "power_limit", "power"), "at {}")
_OTHERS = "with {}"
_VARIANTS = ("usable", "spare", "power_limit", "write_cache", "lba_format")
"""Kinds of a variant, in the order of the variant's words."""
_IN_TITLE = 2
"""Maximum number of drives that the title names; with more, it gives their number."""


def drive_of(drive: DriveInfo) -> str:
    """Return a key that all entries of one drive share."""
    text = _simulated(drive)
    if text is None:
        return drive.id
    from ssdlab.drives.simulated.text import SimulatedText

    return str(SimulatedText(text.profile, serial=text.serial, firmware=text.firmware, seed=text.seed))


def _simulated(drive: DriveInfo) -> SimulatedText | None:
    """Return the parsed text of a simulated drive; None for other drives, or if it cannot be parsed."""
    if not drive.text.startswith(SIMULATED_PREFIX):
        return None
    from ssdlab.drives.simulated.text import SimulatedText

    try:
        return SimulatedText.parse(drive.text)
    except LabError:
        return None


def _states_of(drive: DriveInfo) -> _State:
    """Return the words for a drive's state, from its name, each with its kind; empty if unknown."""
    if drive.text.startswith(SIMULATED_PREFIX):
        if (text := _simulated(drive)) is None:
            return ()
        words = (*((f"1/{text.scale} of its size",) if text.scale > 1 else ()), *drive.name.split(", ")[1:])
        kinds = text.states()
    elif drive.variant is not None:
        words, kinds = drive.variant.words, tuple(each for each in _VARIANTS if each in drive.variant.asked)
    else:
        return ()
    return tuple(zip_longest(words, kinds[: len(words)], fillvalue=""))


def compared(drives: Iterable[DriveInfo]) -> str:
    """Return the title of a page: the drives' names or their number, and their further states."""
    states = _states(drives)
    if len(states) <= _IN_TITLE:
        return " and ".join(f"{own[0][0]}{_brackets(_further(own))}" for own in states.values())
    several = [own for own in states.values() if len(own) > 1]
    title = f"{len(states)} drives compared"
    if len(several) > 1:
        return f"{title}, {len(several)} of them in several states"
    return f"{title}, one {_further(several[0])}" if several else title


def _states(drives: Iterable[DriveInfo]) -> dict[str, list[tuple[str, _State]]]:
    found: dict[str, list[tuple[str, _State]]] = {}
    for drive in drives:
        own, state = found.setdefault(drive_of(drive), []), (drive.name, _states_of(drive))
        if state not in own:
            own.append(state)
    return found


def _further(states: Sequence[tuple[str, _State]]) -> str:
    """Return the further states in which a drive was measured: ``also at 10 W and with 25 % spare``."""
    (_, first), *others = states
    phrases = dict.fromkeys(_state(state, first) for _, state in others)
    return f"also {' and '.join(phrases)}" if phrases else ""


def _state(state: _State, first: _State) -> str:
    """Return a phrase for what a state has and the first state lacks."""
    own = [(word, kind) for word, kind in state if word not in [other for other, _ in first]]
    if own:
        return ", ".join(_PHRASES.get(kind, _OTHERS).format(word) for word, kind in own)
    return "in full size" if any(kind == "scale" for _, kind in first) else "as it is"


def _brackets(text: str) -> str:
    return f" ({text})" if text else ""
