#!/usr/bin/env python3
"""Compare two checkouts of ssdlab: the same figures, codes, rankings, pages and exit statuses, or not.

    scripts/compare_results.py BEFORE AFTER [--allow FILE] [--only kept|fresh|demo ...] [--keep FOLDER]

BEFORE and AFTER are checkouts that are built (`make setup`). Three libraries are read by each, through its
own command line: `kept`, the planted one of `tests/planted`, as an earlier version left it; `fresh`, what
each checkout's `plant_library.py` makes (`--scenes` names some); and `demo`. Compared are the JSON of
`runs`, `show`, `rank`, `compare`, `changes`, `report --claims`, `fleet report` and others, the terminal's
lines, pages by section and chart, tables, and exit statuses, those of bad commands included. Each resumes the
killed run.

Parts of lists go by their names, not by their numbers. BEFORE does all of it twice: what it does not repeat
itself (times of day, ids, what a simulation cost) is no property of a version, and is left out and counted.
Texts (`TEXTS`) are listed apart. Words may change and figures in them may not: of each command it is compared
too which amounts it tells anywhere (`told`). Whatever differs makes the exit status 1, unless `ALLOWED`, or
FILE in its place, allows it; so does a line there that nothing needed, where all was compared. No line allows
that a figure, a rank or an exit status is another (`NEVER`).
"""

from __future__ import annotations

import argparse
import base64
import difflib
import gzip
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

ALLOWED = """
renamed taken_at -> load  # a load is told by its parts
removed show *.scalars[*].load  # it was a text
added show *.scalars[*].load.*  # it has threads and depth
removed *.unshown  # what is the matter with a figure is its qualifiers
added show *.qualifiers*  # the same
added *.unfit  # the same, by codes
added *.marks  # and what forbids no rank
removed show *.caveats  # each is a qualifier, a departure or a finding now
removed show *.json.states*  # the same of the figures
removed show *.repeated[*].state  # the same of medians
added show *.repeated[*].qualified  # the same of medians
added show *.scalars[*].steps  # the evidence of a figure
added show *.scalars[*].chosen_among  # the same
added show *.scalars[*].varies.*  # the same
added show *.scalars[*].bound  # the same: of a search in which nothing failed
added show *.manifest.warnings[*  # a caveat of an earlier version that nothing of today says
removed show *.manifest.warnings  # there were none beside these
changed show *.manifest.warnings[order]  # there are these besides
changed runs *.runs[*].warnings  # they are counted
changed show *.remarks[*  # caveats of parts are departures now
removed show *.remarks[*  # the same
added show *.remarks*  # the same
changed show *.side_by_side[*].drives.*.state  # words of the catalogue of qualifiers
added compare *.figures[*_p99.99_ns].*  # one that was withheld is compared too
changed compare *.figures[order]  # the same
changed report *.json.bytes  # of a page in other words
changed *.marks  # classes and descriptions follow the words
changed *.texts  # words
changed *.lines  # words
changed *.text  # words
changed *.why  # words
changed *.what  # words
changed *.advice  # words
changed report *.heads.*.notes[*  # words beside a chart
added report *.heads.*.notes[*  # the same
removed report *.heads.*.notes*  # the same
changed fleet *.json.bytes  # of a page in other words
removed show *.told[* %]  # a share that a caveat told
added rank *.lines[*].varies  # how far a drive's figure varies: what is nearer is level
changed rank *.left_out*  # figures that are withheld count as left out
added rank *.left_out*  # the same
removed rank *.left_out*  # the same
added rank *.facts.figure  # a figure that every run withholds is refused with its reason
removed rank *.facts  # the same
added rank *  # the same: it was no figure of the library
added report *.unranked  # a bar of what is not ranked says so
added show *.scalars*  # a figure that is withheld stays, without its value
removed show *.result.scalars  # there was none beside these
changed runs *.runs[*].departures  # a caveat that is a departure now
added show *.departures[*  # the same
removed show *.manifest.departures  # there was none beside these
added show *.doubts[*  # heat, host and failed I/O of a judgement in one list
removed show *.by_host  # the same
removed show *.throttled  # the same
changed show *.outcome  # words
changed show *.lasted  # words
changed rank *.figures  # the same: figures that every run withholds are figures too
changed show *.scalars[order]  # the same
changed report *.note  # words beside a bar
added show *.unwritten_share  # of a judgement: what was not written over
added show *.told[*  # a review shows all figures of its parts
removed show *.told[* IOPS]  # a rate that a caveat told
removed fleet *.told[*  # of groups of equal size the newest is shown, which was any of them
added fleet *.told[*  # the same
added report *.told[*  # a card shows all figures of its run
"""
"""What is meant to differ, a line each: removed, added or changed PLACE, or renamed KEY -> KEY; `# reason`.
`*` stands for anything. Made anew with each change that is held against the version before."""
NEVER = re.compile(
    r".*(\.scalars\[[^]]*\]\.(value|unit|better|error|name)|\.lines\[[^]]*\]\.(value|place|runs|min|max)"
    r"|\.lines\[order\]|\.figures\[[^]]*\]\.(base|new|shift.*)|\.series\[[^]]*\]\..*|\.points.*|\.status"
    r"|\.page\.data\..*\.charts\..*\.(points|values|x|y)(\[.*)?|tables\..*)",
    re.DOTALL,
)
"""Places where a change of what both have is wrong, whatever a list says."""
VALUE = re.compile(r"\.scalars\[[^]]*\]\.value$")
"""Where a figure that BEFORE had not may have no value either."""
HERE = Path(__file__).resolve().parent
KEPT = HERE.parent / "tests" / "planted" / "library.tar.xz"
LIBRARIES = ("kept", "fresh", "demo")
NAMES = (
    "run_id",
    "run",
    "drive_id",
    "id",
    "code",
    "name",
    "key",
    "ordinal",
    "part",
    "figure",
    "label",
    "title",
    "sentence",
)
"""Keys whose values name a part of a list: the first that all parts have."""
TEXTS = {
    *(
        "about",
        "advice",
        "caveats",
        "described",
        "facts",
        "footer",
        "label",
        "lead",
        "lines",
        "note",
        "notes",
    ),
    *("prose", "reason", "reasons", "says", "sentence", "short", "text", "texts", "title", "what", "why"),
}
"""Keys whose values are read by people alone."""
SHOWN = 100
"""So many differences are printed one by one."""
SCENE = re.compile(r"\d{8}-\d{4}-(.+)-0\d{5}")
"""The id of a planted run, which has its name in it."""
COST = re.compile(r"\.(cpu|workers|machine)\.|\.(cpu_per_io_ns|entered)$")
"""What a simulation takes of this machine; two runs may take the same by chance."""
AT = re.compile(r" · \d\d:\d\d(?: · [0-9a-z]{6})?$")
"""What parts the labels of runs that are alike: when they were begun."""
FLEET = "simulated tiny-test, 1/4 of its size"
"""The model of the planted fleet."""
CLAIMS = """
[[claim]]
sentence = "It reads fast."
figure = "peak_random_read_iops"
bound = "at least 10k"
[[claim]]
sentence = "It reads in no time."
figure = "peak_random_read_mean_ns"
bound = "at most 1us"
[[claim]]
sentence = "It writes for ever."
figure = "steady_random_write_iops"
bound = "at least 1k"
"""
OTHERS = """
methods --json
methods qd1 --json
methods nonesuch
plan qd1 sim:tiny-test --json
plan snia sim:tiny-test --quick --json
run qd1 sim:tiny-test --dry-run
run nonesuch sim:tiny-test
run qd1 sim:nonesuch
run qd1 sim:tiny-test --set seconds=-1
run qd1 sim:tiny-test --set nonesuch=1
run qd1 nowhere.img
show nonesuch
show
rank nonesuch
compare nonesuch nonesuch
changes nonesuch
report nonesuch -o none.html
report -o none.html
fleet plan nowhere.toml
fleet status nonesuch
library verify --json
library unpack nowhere.tar.gz
job nowhere.toml sim:tiny-test
measure sim:tiny-test --rw sideways
measure sim:tiny-test,scale=4 --rw randread --seconds 100ms --json
sim show tiny-test
sim show nonesuch
nonesuch
--nonesuch
"""
"""Commands beside those of the runs, bad ones included."""
AMOUNT = re.compile(r"(?<![\w.,])\d[\d.,]*k?\s?(?:(?:M?IOPS|[MG]B/s)(?:/W)?|[nµm]s|[mk]?[WJ]|°C|%)(?![\w/])")
"""What a figure is in a text; seconds and bytes are as a rule what was set."""
_DRIVER = """
import io, json, secrets, sys
secrets.randbits = lambda bits: 7  # seeds that commands would draw by chance
from ssdlab.cli import main
found = []
for words in json.load(sys.stdin):
    kept = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in "oe")
    try:
        status = main(words)
    except SystemExit as error:
        status = error.code
    told = [each.buffer.getvalue().decode() for each in (sys.stdout, sys.stderr)]
    sys.stdout, sys.stderr = kept
    found.append([status, *told])
json.dump(found, sys.stdout)
"""
_TABLES = """
import duckdb, hashlib, json, sys
digest = lambda values: hashlib.sha256(repr(values).encode()).hexdigest()[:16]
read = lambda path: duckdb.sql(f"select * from '{path}'").fetchnumpy()
told = {path: {name: digest(each.tolist()) for name, each in read(path).items()} for path in sys.argv[1:]}
json.dump(told, sys.stdout)
"""


# --- what a checkout shows ----------------------------------------------------------------------------------


@dataclass
class Checkout:
    """One version, and the folder that it works in."""

    root: Path
    home: Path

    def python(self, *words: str, given: str = "") -> str:
        """Run the interpreter of this version and return what it prints."""
        own = {f"XDG_{kind}_HOME": str(self.home / kind.lower()) for kind in ("STATE", "DATA", "CONFIG")}
        done = subprocess.run(
            [str(self.root / ".venv/bin/python"), *words],
            check=False,
            input=given,
            capture_output=True,
            text=True,
            cwd=self.home,
            env={
                **os.environ,
                **own,
                "PYTHONPATH": str(self.root / "python"),
                "NO_COLOR": "1",
                "COLUMNS": "100",
            },
        )
        if done.returncode:
            raise SystemExit(
                f"{self.root}: {' '.join(words)[-200:]} ended with {done.returncode}\n{done.stderr}"
            )
        return done.stdout

    def commands(self, lines: Sequence[Sequence[str]]) -> list[tuple[int, str, str]]:
        """Do command lines in one process; return status, output and errors of each."""
        return [tuple(each) for each in json.loads(self.python("-c", _DRIVER, given=json.dumps(lines)))]

    def make(self, name: str, scenes: Sequence[str] = ()) -> None:
        """Put a library in place."""
        if name == "kept":
            with tarfile.open(KEPT) as archive:
                archive.extractall(self.home, filter="data")
            (self.home / "library").rename(self.home / name)
        elif name == "demo":
            self.commands([["demo", "--library", name, "-o", "demo.html"]])
        else:
            script = self.root / "scripts" / "plant_library.py"
            self.python(str(script), name, *(["--only", *scenes] if scenes else []))


def shown(checkout: Checkout, library: str, others: str = "") -> dict[str, Any]:
    """Return everything that a version shows of a library, and of other lines, by command."""
    place = ["--library", library]
    runs = json.loads(checkout.commands([["runs", "--json", *place]])[0][1])["runs"]
    figures = json.loads(checkout.commands([["rank", "--json", *place]])[0][1])["figures"]
    names = named(runs)
    lines: dict[str, list[str]] = {}
    for words in (*of_library(names, figures, place), *map(str.split, others.strip().splitlines())):
        line = " ".join(words)
        lines[f"{line} again" if line in lines else line] = words
    (checkout.home / "claims.toml").write_text(CLAIMS)
    found: dict[str, Any] = {}
    for line, (status, out, err) in zip(lines, checkout.commands(list(lines.values())), strict=True):
        words = lines[line]
        json_out = json.loads(out) if "--json" in words and out.startswith(("{", "[")) else None
        told = {"lines": out.splitlines()} if json_out is None else {"json": json_out}
        found[line] = {"status": status, **told, "texts": err.splitlines()}
        if "-o" in words and (page := checkout.home / words[words.index("-o") + 1]).exists():
            found[line]["page"] = of_page(page.read_text())
            page.unlink()
    tables = sorted(map(str, (checkout.home / library).glob("2*/*.parquet")))
    found["tables"] = json.loads(checkout.python("-c", _TABLES, *tables)) if tables else {}
    return renamed(found, {str(checkout.home): "HOME", **names})


def of_library(names: Mapping[str, str], figures: Sequence[str], place: list[str]) -> Iterator[list[str]]:
    """Yield the commands that a library is looked at by."""
    by_name = {name: run for run, name in names.items()}
    yield ["runs", "--json", *place]
    yield ["rank", "--json", *place]
    measured_here = set() if place[-1] == "kept" else {"real"}  # of this machine, and not of a version
    for run in (run for run, name in names.items() if name not in measured_here):
        yield ["show", run, "--json", *place]
        yield ["show", run, *place]
    for figure in figures:
        yield ["rank", figure, "--json", *place]
    if "base" in by_name and "new" in by_name:
        gate = ["--fail-if", "peak_random_read_iops < -1%"]
        yield ["compare", by_name["base"], by_name["new"], *gate, "--json", *place]
    pairs = [("cool", "capped"), ("peak-random-read", "hot-reads"), ("steady", "moved"), ("qd1", "host-qd1")]
    for one, other in pairs:
        if one in by_name and other in by_name:
            yield ["compare", by_name[one], by_name[other], "--json", *place]
    yield ["changes", "peak_random_read_iops", "--drive", "tiny", "--json", *place]
    without = {"killed", "lost", *measured_here}
    alone = [run for run, name in names.items() if "/" not in name and name not in without]
    yield ["report", *alone, "--claims", "claims.toml", "-o", "page.html", "--json", *place]
    for run in (
        run for run, name in names.items() if name.startswith("/planted/")
    ):  # a review of several drives
        yield ["report", run, "-o", "review.html", "--json", *place]
    yield ["fleet", "report", "--model", FLEET, "-o", "fleet.html", "--json", *place]
    if "killed" in by_name:
        yield ["resume", by_name["killed"], *place]
        yield ["show", by_name["killed"], "--json", *place]
    yield ["library", "verify", "--json", *place]


def named(runs: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return names of runs by their ids: their scene, or what they are among those of their kind."""
    count: Counter[str] = Counter()
    names: dict[str, str] = {}
    # Parts that are done side by side begin in any order.
    for run in sorted(
        runs, key=lambda run: (bool(run["suite"]), run.get("seed", "") * bool(run["suite"]), run["created"])
    ):
        scene = SCENE.fullmatch(run["run_id"])
        kind = f"{names.get(run['suite'], '')}/{run['method']}/{run['drive_id']}/{run['variant']}"
        count[kind] += 1
        names[run["run_id"]] = scene[1] if scene else f"{kind}/{count[kind]}"
    return names


def renamed(found: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return JSON with names in the place of ids, their last letters included."""
    drawn = [run for run in names if re.fullmatch(r"\d{8}-\d{4}-.*-(?!\d+$)\w{6}", run)]
    known = {**names, **{run[-6:]: names[run] for run in drawn}}
    either = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(known, key=len, reverse=True)))})(?!\w)")
    text = json.dumps(found, ensure_ascii=False)
    return dict(
        json.loads(either.sub(lambda match: json.dumps(known[match[0]], ensure_ascii=False)[1:-1], text))
    )


class Body(HTMLParser):
    """Gathers what a page holds beside its data: marks and texts by the part that has an id."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: dict[str, dict[str, list[str]]] = {}
        self.data: dict[str, Any] = {}
        self._open: list[str] = [""]
        self._script: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open a part, and keep what its mark says."""
        own = dict(attrs)
        if tag in ("script", "style"):
            self._script = own.get("id") if own.get("type") == "application/gzip" else ""
            return
        self._part["marks"].append(" ".join([tag, *(f"{name}={value}" for name, value in attrs)]))
        if tag not in ("meta", "link", "br", "img", "input", "hr", "col", "wbr", "source"):
            self._open.append(own.get("id") or self._open[-1])

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep what a mark without content says."""
        self._part["marks"].append(" ".join([tag, *(f"{name}={value}" for name, value in attrs)]))

    def handle_endtag(self, tag: str) -> None:
        """Close a part."""
        if tag in ("script", "style"):
            self._script = None
        elif len(self._open) > 1:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        """Keep a text, or the data of a script."""
        if self._script:
            self.data[self._script] = json.loads(gzip.decompress(base64.b64decode(data)))
        elif self._script is None and data.strip():
            self._part["texts"].append(" ".join(data.split()))

    @property
    def _part(self) -> dict[str, list[str]]:
        return self.parts.setdefault(self._open[-1], {"marks": [], "texts": []})


def of_page(text: str) -> dict[str, Any]:
    """Return a page as its parts by their ids and its data by their names, runs named and not counted."""
    body = Body()
    body.feed(text)
    runs = [str(stored["run_id"]) for name, stored in body.data.items() if name.startswith("run-")]
    data = {name: stored for name, stored in body.data.items() if not name.startswith("run-")}
    listed = data.get("page-data", {}).get("runs", [])
    labels = [each[name] for each in listed for name in ("label", "short") if AT.search(each[name])]
    return untimed({"parts": body.parts, "data": of_runs(data, runs), "runs": runs}, labels)


def untimed(page: dict[str, Any], labels: Sequence[str]) -> dict[str, Any]:
    """Return a page whose labels of runs have no times of day in them."""
    if not labels:
        return page
    told = {json.dumps(each, ensure_ascii=False)[1:-1] for each in labels}
    either = "|".join(map(re.escape, sorted(told, key=len, reverse=True)))
    text = json.dumps(page, ensure_ascii=False)
    return dict(json.loads(re.sub(either, lambda found: AT.sub(" · TIME", found[0]), text)))


def of_runs(value: Any, runs: Sequence[str]) -> Any:  # noqa: ANN401 - JSON
    """Return data of a page with ids of runs in the place of their numbers."""
    if isinstance(value, list):
        return [of_runs(each, runs) for each in value]
    if not isinstance(value, dict):
        return value
    changed = {name: of_runs(inner, runs) for name, inner in value.items()}
    if isinstance(value.get("run"), int):
        changed["run"] = runs[value["run"]]
    if isinstance(listed := value.get("runs"), list) and all(isinstance(each, int) for each in listed):
        changed["runs"] = [runs[each] for each in listed]
    return changed


# --- how two differ -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rule:
    """A line of the list of what is meant."""

    verb: str
    pattern: str
    becomes: str

    def allows(self, verb: str, place: str, told: str) -> bool:
        """Whether it speaks of a difference."""
        if verb == "changed" and NEVER.fullmatch(place):
            return False
        if verb == "added" and VALUE.search(place) and told != "None":
            return False
        return verb == self.verb and bool(
            re.fullmatch(".*".join(map(re.escape, self.pattern.split("*"))), place, re.DOTALL)
        )


@dataclass
class Differences:
    """What was found, and what the allow-list made of it."""

    allowed: Sequence[Rule] = ()
    wrong: list[tuple[str, str, str]] = field(default_factory=list)
    sentences: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    unrepeated: Counter[str] = field(default_factory=Counter)
    excused: Counter[Rule] = field(default_factory=Counter)
    compared: int = 0
    whole: bool = False
    """Whether all there is was compared, so that each line of the list must have been needed."""

    def add(self, verb: str, place: str, told: str, *pairs: tuple[str, str]) -> None:
        """Take in a difference, of a text as pairs of lines."""
        rule = next((each for each in self.allowed if each.allows(verb, place, told)), None)
        if rule:
            self.excused[rule] += 1
        elif pairs:
            self.sentences.update((old, new, general(place)) for old, new in pairs)
        else:
            self.wrong.append((verb, place, told))

    @property
    def same(self) -> bool:
        """Whether nothing differs that is not allowed, and nothing is allowed in vain."""
        return not (self.wrong or self.sentences or (self.whole and self.needless))

    @property
    def needless(self) -> list[Rule]:
        """The lines of the list that nothing needed."""
        return [rule for rule in self.allowed if not self.excused[rule]]


def rules(text: str) -> list[Rule]:
    """Read an allow-list.

    Raises
    ------
    SystemExit
        A line is not as it should be.
    """
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        told, _, reason = line.partition("#")
        verb, _, pattern = told.strip().partition(" ")
        if not told.strip():
            continue
        pattern, arrow, becomes = (part.strip() for part in pattern.partition("->"))
        known = verb in ("removed", "added", "changed", "renamed")
        if not (known and pattern and reason.strip()) or bool(arrow) != (verb == "renamed"):
            print(
                f"line {number}: {line!r} is not: removed, added or changed PLACE, or renamed KEY -> KEY, "
                "each with '# reason'",
                file=sys.stderr,
            )
            raise SystemExit(2)
        found.append(Rule(verb, pattern, becomes))
    return found


def leaves(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - JSON
    """Yield every plain value of JSON with its place; of a list of plain values the whole."""
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from leaves(inner, f"{place}.{name}" if place else name)
    elif isinstance(value, list) and any(isinstance(each, dict | list) for each in value):
        keys = keys_of(value)
        yield f"{place}[order]", keys
        for key, inner in zip(keys, value, strict=True):
            yield from leaves(inner, f"{place}[{key}]")
    else:
        yield place, value


def keys_of(parts: list[Any]) -> list[str]:
    """Return what the parts of a list are called, each once; their numbers where they have no names."""
    named = all(isinstance(each, dict) for each in parts)
    key = next((key for key in NAMES if named and all(usable(each.get(key)) for each in parts)), None)
    count: Counter[str] = Counter()
    keys = []
    for number, each in enumerate(parts):
        name = str(number if key is None else each[key])
        count[name] += 1
        keys.append(name if count[name] == 1 else f"{name}#{count[name]}")
    return keys


def usable(name: object) -> bool:
    """Whether it names something."""
    return isinstance(name, str | int) and name != ""


def general(place: str) -> str:
    """Return a place without the names in it."""
    return re.sub(r"\[[^\]]*\]", "[]", place)


def is_text(place: str) -> bool:
    """Whether people alone read what stands there."""
    return not place.endswith("[order]") and general(place).replace("[]", "").rpartition(".")[2] in TEXTS


def compare(first: Any, again: Any, after: Any, found: Differences) -> None:  # noqa: ANN401 - JSON
    """Hold what AFTER shows against both times that BEFORE showed it."""
    one, two, other = (dict(leaves(each)) for each in (first, again, after))
    for rule in (each for each in found.allowed if each.verb == "renamed"):
        old = re.compile(rf"(?<=[.\]]){re.escape(rule.pattern)}(?=[.\[]|$)")
        changed = {place: old.sub(rule.becomes, place) for place in one}
        found.excused[rule] += sum(new != place for place, new in changed.items())
        one = {changed[place]: value for place, value in one.items()}
        two = {old.sub(rule.becomes, place): value for place, value in two.items()}
    for place, first_value in one.items():
        value = first_value
        if place in two and place in other and is_text(place):
            value, two[place], other[place] = repeated(value, two[place], other[place])
        if place not in two or repr(two[place]) != repr(value) or COST.search(place):
            found.unrepeated[general(place)] += 1
        elif place not in other:
            found.compared += 1
            found.add("removed", place, repr(value))
        else:
            found.compared += 1
            if repr(other[place]) != repr(value):
                pairs = changed_lines(value, other[place]) if is_text(place) else []
                found.add("changed", place, f"{value!r} became {other[place]!r}", *pairs)
    for place in other.keys() - one.keys() - two.keys():
        found.add("added", place, repr(other[place]))
    for command in first.keys() & again.keys() & after.keys():
        old, same, new = (set(amounts(each[command])) for each in (first, again, after))
        if old != same:
            found.unrepeated[f"{command}.told"] += 1
            continue
        for amount in sorted(old - new):
            found.add("removed", f"{command}.told[{amount}]", amount)
        for amount in sorted(new - old):
            found.add("added", f"{command}.told[{amount}]", amount)


def amounts(value: Any) -> Iterator[str]:  # noqa: ANN401 - JSON
    """Yield the amounts in all texts that there are, as they are written: `201k IOPS`, `76.3 %`."""
    if isinstance(value, str):
        yield from (re.sub(r"\s", " ", found) for found in AMOUNT.findall(value))
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from amounts(inner)


def repeated(first: Any, again: Any, after: Any) -> tuple[Any, Any, Any]:  # noqa: ANN401 - JSON
    """Return texts of many lines without those that BEFORE did not repeat, such as one with a date."""
    if not (isinstance(first, list) and isinstance(again, list) and isinstance(after, list)):
        return first, again, after
    if first == again or len(first) != len(again):
        return first, again, after
    kept = [one if one == two else None for one, two in zip(first, again, strict=True)]
    other = list(after)
    for _, a, b, c, d in difflib.SequenceMatcher(None, first, after, autojunk=False).get_opcodes():
        if b - a == d - c:  # else who knows which of them is which
            other[c:d] = [
                None if old is None else new for old, new in zip(kept[a:b], after[c:d], strict=True)
            ]
    return kept, kept, other


def changed_lines(old: Any, new: Any) -> list[tuple[str, str]]:  # noqa: ANN401 - JSON
    """Return the texts that changed, in pairs."""
    one, other = ([str(each) for each in (text if isinstance(text, list) else [text])] for text in (old, new))
    found = []
    for tag, a, b, c, d in difflib.SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        if tag != "equal":
            found.append(("\n".join(one[a:b]), "\n".join(other[c:d])))
    return found


# --- the command --------------------------------------------------------------------------------------------


def report(title: str, found: Differences) -> None:
    """Print what was found."""
    print(f"\n== {title}: {found.compared} values compared, {len(found.wrong)} differ")
    for verb, place, told in found.wrong[:SHOWN]:
        print(f"  {verb} {place}: {told[:300]}")
    if len(found.wrong) > SHOWN:
        print(f"  ... and {len(found.wrong) - SHOWN} more")
    print(f"-- {len(found.sentences)} sentences differ")
    for (old, new, place), times in found.sentences.items():
        print(f"  {place} ({times})\n    - {old}\n    + {new}")
    print(f"-- {sum(found.excused.values())} differences are meant")
    for rule in found.allowed:
        if found.excused[rule]:
            print(f"  {rule.verb} {rule.pattern}: {found.excused[rule]}")
    print(f"-- {sum(found.unrepeated.values())} values are not the same in two runs of before, at")
    for place, times in sorted(found.unrepeated.items()):
        print(f"  {place} ({times})")


def main() -> int:
    """Let both versions show their libraries, and compare."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument(
        "--allow", type=Path, help="file of what is meant to differ, in the place of the list in this script"
    )
    parser.add_argument("--only", nargs="+", choices=LIBRARIES, default=LIBRARIES)
    parser.add_argument("--scenes", nargs="+", default=[], help="of `fresh`, by default all")
    parser.add_argument(
        "--keep", type=Path, help="folder for libraries and pages; by default a temporary one"
    )
    chosen = parser.parse_args()
    allowed = rules(chosen.allow.read_text() if chosen.allow else ALLOWED)
    for root in (chosen.before, chosen.after):
        check(root.resolve())
    whole = set(chosen.only) == set(LIBRARIES) and not chosen.scenes
    same, excused = True, Counter[Rule]()
    with tempfile.TemporaryDirectory(prefix="ssdlab-compare-") as temporary:
        for library in chosen.only:
            shows = []
            for name in ("before", "again", "after"):
                print(f"{library}: {name} ...", flush=True)
                root = chosen.after if name == "after" else chosen.before
                checkout = Checkout(root.resolve(), (chosen.keep or Path(temporary)).resolve() / name)
                checkout.home.mkdir(parents=True, exist_ok=True)
                checkout.make(library, chosen.scenes)
                shows.append(shown(checkout, library, OTHERS if library == "kept" else ""))
            found = Differences(allowed)
            compare(*shows, found)
            report(library, found)
            same = same and found.same
            excused.update(found.excused)
    found = Differences(allowed, excused=excused, whole=whole)
    if whole and found.needless:
        print(f"\n== {len(found.needless)} lines of the list that nothing needed")
        for rule in found.needless:
            print(f"  {rule.verb} {rule.pattern}")
    return 0 if same and found.same else 1


def check(root: Path) -> None:
    """Refuse a checkout whose environment has the package of another: what it begins would run that."""
    python = [str(root / ".venv/bin/python"), "-P", "-c", "import ssdlab; print(ssdlab.__file__)"]
    bare = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(python, check=False, capture_output=True, text=True, cwd="/", env=bare)
    if not Path(done.stdout.strip()).resolve().is_relative_to((root / "python").resolve()):
        raise SystemExit(
            f"{root}/.venv has {done.stdout.strip() or 'no ssdlab'}: make setup there, or a venv"
        )


if __name__ == "__main__":
    sys.exit(main())
