"""Plant seeded faults in a copy of the sources, one at a time, and say which the tests do not see.

    git worktree add /elsewhere/copy                      # never the tree that you work in
    .venv/bin/python scripts/mutants.py cover /elsewhere/copy
    .venv/bin/python scripts/mutants.py run /elsewhere/copy --room analysis --count 30 --seed 1

`cover` notes which test of `make test` reaches which line; it needs `pip install coverage pytest-cov`. `run`
draws faults among the lines that a test reaches, and runs the tests of each line, fastest first. A line of
JSON each: file, line, before, after, and the test that failed, or null. What survives is a test that is
missing, or a fault without an effect. Of `--room simulator` all of the crate's own tests are run.
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
import os
import random
import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

ROOMS = {
    "keeping": [
        *("drives/guard/*", "drives/file/*", "drives/opening.py"),
        *("runs/consent_record.py", "runs/resume_checks.py", "runs/session.py"),
        *("results/journal.py", "results/lines.py", "results/lease.py", "results/seal*.py"),
        *("results/unwritten_tables.py", "fleet/fleet_consent.py", "fleet/private.py"),
    ],
    "analysis": [
        *("analysis/*", "methods/results/*", "library/*", "pts/*"),
        *("results/doubt.py", "results/io_faults.py"),
    ],
    "simulator": ["crates/sim/src/*"],
}
QUICK = "not (long or outside or machine or guest or wheel or slow)"
MOST_TESTS, LIMIT_S = 40, 240
COMPARED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
COUNTED = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
RUST = [
    *((" < ", " <= "), (" > ", " >= "), (" == ", " != "), (" && ", " || "), (" || ", " && ")),
    *((" + ", " - "), (" - ", " + "), (" * ", " + "), (" += ", " -= ")),
    *((".min(", ".max("), (".max(", ".min(")),
]


class Fault(NamedTuple):
    """A change of one place: the text of the file with it."""

    line: int
    before: str
    after: str
    text: str


def _python_faults(text: str) -> Iterator[Fault]:
    tree = ast.parse(text)
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for at, node in enumerate(ast.walk(tree)):
        other = copy.deepcopy(tree)
        changed = list(ast.walk(other))[at]
        before = ""
        match changed:
            case ast.Compare(ops=[op]) if type(op) in COMPARED:
                before, changed.ops = ast.unparse(changed), [COMPARED[type(op)]()]
            case ast.BinOp(op=op) if type(op) in COUNTED and not _is_text(changed):
                before, changed.op = ast.unparse(changed), COUNTED[type(op)]()
            case ast.BoolOp(op=op):
                before, changed.op = ast.unparse(changed), ast.Or() if isinstance(op, ast.And) else ast.And()
            case ast.Constant(value=bool(value)):
                before, changed.value = ast.unparse(changed), not value
            case ast.Constant(value=int(value)) if id(node) not in docs:
                before, changed.value = ast.unparse(changed), value + 1
        if before:
            yield Fault(changed.lineno, before, ast.unparse(changed), ast.unparse(other))


def _is_text(node: ast.BinOp) -> bool:
    parts = (node.left, node.right)
    return any(
        isinstance(each, ast.JoinedStr) or isinstance(getattr(each, "value", 0), str) for each in parts
    )


def _rust_faults(text: str) -> Iterator[Fault]:
    lines = text.partition("#[cfg(test)]")[0].splitlines()
    for at, line in enumerate(lines):
        if line.strip().startswith("//") or "assert" in line:
            continue
        for before, after in RUST:
            for found in re.finditer(re.escape(before), line):
                new = line[: found.start()] + after + line[found.end() :]
                whole = text.splitlines(keepends=True)
                whole[at] = f"{new}\n"
                yield Fault(at + 1, line.strip(), new.strip(), "".join(whole))


def cover(tree: Path) -> int:
    """Run what `make test` runs of Python, and keep which test reaches which line."""
    words = ["-m", QUICK, "--cov=ssdlab", "--cov-context=test", "--cov-report=", "--junitxml=.quick.xml"]
    return subprocess.run(
        [*_pytest(tree), "-n", str(os.cpu_count()), *words], cwd=tree, check=False, env=_environment(tree)
    ).returncode


def _environment(tree: Path) -> dict[str, str]:
    """Let the copy's own package be imported, wherever the environment is that its `.venv` leads to."""
    known = os.environ.get("PYTHONPATH")
    path = os.pathsep.join([str(tree / "python"), *([known] if known else [])])
    return {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}


def _pytest(tree: Path) -> list[str]:
    return [str(tree / ".venv/bin/python"), "-m", "pytest", "-q", "-p", "no:cacheprovider"]


def tests_of(tree: Path) -> dict[tuple[str, int], list[str]]:
    """Return the tests that reach each line of each file, fastest first."""
    took = {}
    for case in ElementTree.parse(tree / ".quick.xml").getroot().iter("testcase"):
        if case.find("failure") is None and case.find("error") is None:
            place = case.attrib["classname"].replace(".", "/")
            took[f"{place}.py::{case.attrib['name']}"] = float(case.attrib["time"])
    found: dict[tuple[str, int], list[str]] = {}
    with sqlite3.connect(tree / ".coverage") as kept:
        rows = kept.execute(
            "select path, context, numbits from line_bits"
            " join file on file.id = file_id join context on context.id = context_id"
        )
        for path, context, bits in rows:
            test = context.partition("|")[0]
            if test in took:
                for line in (
                    at * 8 + bit for at, byte in enumerate(bits) for bit in range(8) if byte >> bit & 1
                ):
                    found.setdefault((path, line), []).append(test)
    return {place: sorted(set(tests), key=took.__getitem__) for place, tests in found.items()}


def killed_by(tree: Path, tests: list[str]) -> str | None:
    """Return the first test that fails, or what else ended them; None: all passed."""
    words = [*_pytest(tree), "-x", *tests]
    try:
        done = subprocess.run(
            words,
            cwd=tree,
            check=False,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            env=_environment(tree),
        )
    except subprocess.TimeoutExpired:
        return "no end"
    if done.returncode == 0:
        return None
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    return failed[1] if failed else done.stdout.strip().splitlines()[-1]


def _of_rust(tree: Path) -> str | None:
    words = ["cargo", "test", "--locked", "--quiet", "-p", "ssdlab-sim"]
    try:
        done = subprocess.run(words, cwd=tree, check=False, capture_output=True, text=True, timeout=900)
    except subprocess.TimeoutExpired:
        return "no end"
    if done.returncode == 0:
        return None
    failed = re.search(r"^test (\S+) \.\.\. FAILED|^---- (\S+) stdout", done.stdout, re.MULTILINE)
    return (failed[1] or failed[2]) if failed else "does not compile"


def run(tree: Path, room: str, count: int, seed: int) -> None:
    """Plant faults of a room, one after the other, and print what became of each."""
    draw, rust = random.Random(seed), room == "simulator"
    place = tree if rust else tree / "python/ssdlab"
    files = sorted(
        path for path in place.rglob("*.rs" if rust else "*.py")
        if any(fnmatchcase(str(path.relative_to(place)), pattern) for pattern in ROOMS[room])
    )  # fmt: skip
    reached = {} if rust else tests_of(tree)
    done = 0
    while done < count:
        path = draw.choice(files)
        text = path.read_text()
        faults = list((_rust_faults if rust else _python_faults)(text))
        if not faults:
            continue
        fault = draw.choice(faults)
        tests = reached.get((str(path), fault.line), [])[:MOST_TESTS]
        if not rust and not tests:
            continue
        began = time.monotonic()
        try:
            path.write_text(fault.text)
            killer = _of_rust(tree) if rust else killed_by(tree, tests)
        finally:
            path.write_text(text)
        told = {
            "file": str(path.relative_to(tree)),
            "line": fault.line,
            "before": fault.before,
            "after": fault.after,
        }
        print(
            json.dumps({**told, "killed_by": killer, "seconds": round(time.monotonic() - began)}), flush=True
        )
        done += 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("verb", choices=("cover", "run"))
    parser.add_argument("tree", type=Path)
    parser.add_argument("--room", choices=ROOMS, default="analysis")
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if given.tree.resolve() == Path(__file__).resolve().parents[1]:
        parser.error("that is the tree of this script: make a copy")
    if given.verb == "cover":
        sys.exit(cover(given.tree.resolve()))
    run(given.tree.resolve(), given.room, given.count, given.seed)
