#!/usr/bin/env python3
"""Compare the results of two checkouts of ssdlab: the same figures, tables and keys, to the bit or not.

    scripts/compare_results.py BEFORE AFTER [--only NAME ...] [--keep FOLDER]

BEFORE and AFTER are checkouts that are built (`make setup`). Each runs every method with `--quick` on a small
simulated drive with one seed, and the demo; then the results in the manifests, the tables and the data of the
pages are held against each other. BEFORE runs everything twice: what it does not repeat itself (times of day,
ids, what a simulation cost) is no property of a version, and is left out and counted.

A text with a space in it is a sentence: where it differs that is listed, and is no difference. Keys that only
AFTER has are listed too. Everything else that differs makes the exit status 1.

AFTER also opens the run folders that BEFORE left (`show`, `report`), and resumes a run that BEFORE was
stopped in; the result must equal the run that nobody stopped.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

DRIVE = "sim:tiny-test"
SEED = 7
STOPPED = "pts-iops"
"""Long enough to be stopped in the middle."""
DEMO = "demo"
_SEEDED = (
    f"import secrets, sys; secrets.randbits = lambda bits: {SEED}; from ssdlab.cli import main; "
    "sys.exit(main(sys.argv[1:]))"
)
"""The command, with the seeds that it would draw by chance: the demo takes none."""
SHORTER = {"trace": ["--set", "seconds=2"]}
PARTS = (
    "method",
    "params",
    "quick",
    "engine",
    "seed",
    "status",
    "result",
    "departures",
    "warnings",
    "ratings",
)
"""Of a manifest, beside `drive`: the run and its outcome. `environment` and `tool` are the host's."""
_STAMPS = re.compile(r"\.page\[\d+\]\.(schema|environment|tool|sealed)\b")
"""Of the manifests that a page holds: which version it is, on which host; no result."""
_INDEX = re.compile(r"\[\d+\]")


@dataclass
class Checkout:
    """One version, and where it keeps its runs."""

    root: Path
    home: Path
    name: str

    def run(self, *words: str, check: bool = True) -> str:
        """Run a command of this version and return what it prints."""
        done = subprocess.run(self.words(*words), env=self.environment(), capture_output=True, text=True)
        if check and done.returncode:
            raise SystemExit(
                f"{self.name}: ssdlab {' '.join(words)} ended with {done.returncode}\n{done.stderr}"
            )
        return done.stdout

    def words(self, *words: str) -> list[str]:
        """Return a command line of this version."""
        return [str(self.root / ".venv/bin/python"), "-c", _SEEDED, *words]

    def environment(self) -> dict[str, str]:
        """Return an environment with state and data folders of this version's own."""
        own = {f"XDG_{kind}_HOME": str(self.home / kind.lower()) for kind in ("STATE", "DATA", "CONFIG")}
        return {**os.environ, **own, "PYTHONPATH": str(self.root / "python"), "NO_COLOR": "1"}

    def library(self, name: str) -> Path:
        """Return the library that the runs of one name go to."""
        return self.home / "runs" / name


@dataclass
class Differences:
    """What was found, by the place with its numbers left out."""

    wrong: list[str] = field(default_factory=list)
    sentences: dict[tuple[str, str], str] = field(default_factory=dict)
    added: Counter[str] = field(default_factory=Counter)
    unrepeated: Counter[str] = field(default_factory=Counter)
    compared: int = 0


def methods(checkout: Checkout) -> list[str]:
    """Return the names of all methods."""
    listing = json.loads(checkout.run("methods", "--json"))
    return [each["name"] for each in listing["methods"]]


def measure(checkout: Checkout, name: str) -> dict[str, Any]:
    """Run a method, or the demo, and return everything that is compared of it."""
    library, page = checkout.library(name), checkout.home / f"{name}.html"
    if name == DEMO:
        checkout.run("demo", "--library", str(library), "-o", str(page))
    else:
        words = ["run", name, DRIVE, "--quick", "--seed", str(SEED), *SHORTER.get(name, [])]
        checkout.run(*words, "--library", str(library))
    return collect(checkout, name, page if name == DEMO else None)


def collect(checkout: Checkout, name: str, page: Path | None = None) -> dict[str, Any]:
    """Return what a library of runs holds: results, tables, and the data of its page."""
    folders = sorted(checkout.library(name).glob("2*"), key=lambda folder: (method_of(folder), folder.name))
    if page is None:
        page = checkout.home / f"{name}.html"
        checkout.run("report", *map(str, folders), "-o", str(page))
    return {"runs": [of_run(checkout, folder) for folder in folders], "page": of_page(page)}


def method_of(folder: Path) -> str:
    """Return the method of a run."""
    return str(json.loads((folder / "manifest.json").read_text())["method"]["name"])


def of_run(checkout: Checkout, folder: Path) -> dict[str, Any]:
    """Return the parts of a run that are its own, and its tables as columns."""
    manifest = json.loads((folder / "manifest.json").read_text())
    tables = {path.stem: columns(checkout, path) for path in sorted(folder.glob("*.parquet"))}
    return {**{part: manifest.get(part) for part in PARTS}, "drive": manifest["drive"], "tables": tables}


def columns(checkout: Checkout, path: Path) -> dict[str, Any]:
    """Return a table of a run as columns, each a list."""
    code = (
        "import duckdb, json, sys; found = duckdb.sql(f\"select * from '{sys.argv[1]}'\").fetchnumpy(); "
        "print(json.dumps({name: [str(each) for each in column.tolist()] for name, column in found.items()}))"
    )
    words = [str(checkout.root / ".venv/bin/python"), "-c", code, str(path)]
    return dict(json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout))


def of_page(page: Path) -> list[Any]:
    """Return everything that a page holds as data."""
    found = re.findall(
        r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', page.read_text(), re.DOTALL
    )
    if not found:
        raise SystemExit(f"{page} holds no data that this script can read")
    return [json.loads(text) for text in found]


def leaves(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - JSON
    """Yield every plain value of JSON with its place; of an empty container itself."""
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from leaves(inner, f"{place}.{name}")
    elif isinstance(value, list) and value:
        for at, inner in enumerate(value):
            yield from leaves(inner, f"{place}[{at}]")
    else:
        yield place, value


def compare(name: str, first: Any, again: Any, after: Any, found: Differences) -> None:  # noqa: ANN401 - JSON
    """Hold the results of AFTER against both of BEFORE."""
    one, two, other = (
        {place: value for place, value in leaves(each) if not _STAMPS.match(place)}
        for each in (first, again, after)
    )
    for place in other.keys() - one.keys():
        found.added[f"{name}: {_INDEX.sub('[]', place)}"] += 1
    for place, value in one.items():
        if place not in two or repr(two[place]) != repr(value):
            found.unrepeated[_INDEX.sub("[]", place)] += 1
            continue
        found.compared += 1
        if place not in other:
            found.wrong.append(f"{name}{place} is gone; it was {value!r}")
        elif repr(other[place]) == repr(value):
            continue
        elif isinstance(value, str) and isinstance(other[place], str) and " " in value:
            found.sentences[value, other[place]] = f"{name}{place}"
        else:
            found.wrong.append(f"{name}{place}: {value!r} became {other[place]!r}")


def stop_in_the_middle(checkout: Checkout) -> Path:
    """Run a method, stop it between its steps, and return its folder."""
    library = checkout.library("stopped")
    words = ["run", STOPPED, DRIVE, "--quick", "--seed", str(SEED), "--library", str(library)]
    process = subprocess.Popen(
        checkout.words(*words),
        env=checkout.environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while process.poll() is None:
        journals = list(library.glob("2*/journal.jsonl"))
        if journals and journals[0].read_text().count('"end"') >= 5:
            process.send_signal(signal.SIGINT)
            process.wait()
            break
        time.sleep(0.01)
    if process.returncode != 130:
        raise SystemExit(f"{checkout.name}: {STOPPED} was to be stopped, and ended with {process.returncode}")
    (folder,) = library.glob("2*")
    return folder


def across(before: Checkout, after: Checkout, first: dict[str, Any], again: dict[str, Any]) -> Differences:
    """Let AFTER open what BEFORE left, and resume what BEFORE was stopped in."""
    found = Differences()
    for library in sorted(before.home.glob("runs/*")):
        folders = [str(folder) for folder in sorted(library.glob("2*"))]
        for folder in folders:
            after.run("show", folder)
        after.run("report", *folders, "-o", str(after.home / "old.html"))
    folder = stop_in_the_middle(before)
    after.run("show", str(folder))
    after.run("resume", str(folder))
    compare("resumed", first, again, collect(after_of(before, after), "stopped"), found)
    # That it was stopped is not the run's result; nor do steps of two processes cost what those of one do.
    found.wrong = [line for line in found.wrong if ".result" in line or ".tables" in line]
    return found


def after_of(before: Checkout, after: Checkout) -> Checkout:
    """Return AFTER, looking at the runs of BEFORE."""
    return Checkout(after.root, before.home, "after, on runs of before")


def report(title: str, found: Differences) -> bool:
    """Print what was found; say whether all is the same."""
    print(f"\n== {title}: {found.compared} values compared, {len(found.wrong)} differ")
    for line in found.wrong[:50]:
        print(f"  {line}")
    print(f"-- {len(found.sentences)} sentences differ")
    for (old, new), place in found.sentences.items():
        print(f"  {place}\n    - {old}\n    + {new}")
    print(f"-- {len(found.added)} places only afterwards")
    for place, times in sorted(found.added.items()):
        print(f"  {place} ({times})")
    print(f"-- {sum(found.unrepeated.values())} values are not the same in two runs of before, at")
    for place, times in sorted(found.unrepeated.items()):
        print(f"  {place} ({times})")
    return not found.wrong


def main() -> int:
    """Run both versions and compare."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--only", nargs="+", help="names of methods, or 'demo'")
    parser.add_argument("--keep", type=Path, help="folder for runs and pages; by default a temporary one")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ssdlab-compare-") as temporary:
        home = chosen.keep or Path(temporary)
        before, once_more = (
            Checkout(chosen.before.resolve(), home / n, "before") for n in ("before", "again")
        )
        after = Checkout(chosen.after.resolve(), home / "after", "after")
        found, results = Differences(), {}
        for name in chosen.only or [*methods(before), DEMO]:
            print(f"{name} ...", flush=True)
            first, again, later = (measure(checkout, name) for checkout in (before, once_more, after))
            results[name] = first, again
            compare(name, first, again, later, found)
        same = report("results, tables, pages", found)
        if STOPPED in results:
            same = report("runs of before, in after", across(before, after, *results[STOPPED])) and same
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
