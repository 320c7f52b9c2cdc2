"""Plant seeded faults in a copy of the sources, one at a time, and say which the tests do not see.

    git clone . /elsewhere/copy                      # and make setup there: never the tree that you work in
    .venv/bin/python scripts/mutants.py /elsewhere/copy --room analysis --count 30 --seed 1

A fault is looked for by those of the tests of `make test` that import its module (where none does: of its
folder); with --whole by all. A line of JSON each: file, line, before, after, and the test that failed, or
null. What survives is a test that is missing, or a fault without an effect. Of the simulator all of the
crate's own tests are run. A crash of pytest, or a call that it does not understand, ends this too.
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
import os
import random
import re
import shlex
import subprocess
import time
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

ROOMS = {
    "keeping": [
        *("drives/guard/*", "drives/file/*", "drives/opening.py"),
        *("runs/consent_record.py", "runs/resume_checks.py", "runs/session.py"),
        *("results/journal.py", "results/lines.py", "results/lease.py", "results/seal*.py"),
        *("results/unwritten_tables.py", "fleet/fleet_consent.py", "fleet/private.py"),
    ],
    "analysis": [
        *("analysis/*", "methods/*/result.py", "library/*"),
        *("results/verifying.py", "results/evidence.py", "results/kin.py"),
    ],
    "simulator": ["crates/sim/src/*"],
}
LIMIT_S = 1800
NO_END = 124
"""What `timeout` ends with after that."""
PASSED, NO_TEST = 0, 5
FAILED = (1, 2)
"""What pytest ends with at the first failure: 2 where workers run it, which other stops are too."""
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
        if not isinstance(node, ast.Compare | ast.BinOp | ast.BoolOp | ast.Constant):
            continue
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


def _environment(tree: Path) -> dict[str, str]:
    """Let the copy's own package be imported, wherever the environment is that its `.venv` leads to."""
    known = os.environ.get("PYTHONPATH")
    path = os.pathsep.join([str(tree / "python"), *([known] if known else [])])
    return {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}


def _importing(tree: Path, path: Path) -> list[str]:
    """Return the files of tests that import a module or something of it; where none does, of its folder."""
    folder, name = ".".join(path.relative_to(tree / "python").parts[:-1]), path.stem
    module = rf"from {folder}\.{name} import|from {folder} import [^#]*?\b{name}\b|import {folder}\.{name}\b"
    tests = {each: each.read_text() for each in sorted((tree / "tests").rglob("test_*.py"))}
    for wanted in (module, rf"(?:from|import) {folder}\b"):
        if found := [str(each.relative_to(tree)) for each, text in tests.items() if re.search(wanted, text)]:
            return found
    return []


def _killed_by(tree: Path, tests: list[str]) -> str | None:
    """Return the first test that fails, or that they did not end; None: all passed."""
    words = ["timeout", str(LIMIT_S), "scripts/test", "quick", "-x", "-q", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(
        words, cwd=tree, check=False, capture_output=True, text=True, env=_environment(tree)
    )
    if done.returncode == NO_END:
        return "no end"
    if done.returncode in (PASSED, NO_TEST):
        return None
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    if done.returncode not in FAILED or failed is None:
        raise SystemExit(f"{shlex.join(words)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return failed[1]


def _of_python(tree: Path, path: Path, *, whole: bool) -> str | None:
    near = _importing(tree, path)
    killer = _killed_by(tree, near) if near else None
    return killer or (_killed_by(tree, []) if whole or not near else None)


def _of_rust(tree: Path) -> str | None:
    words = ["timeout", str(LIMIT_S), "cargo", "test", "--locked", "--quiet", "-p", "ssdlab-sim"]
    done = subprocess.run(words, cwd=tree, check=False, capture_output=True, text=True)
    if done.returncode in (PASSED, NO_END):
        return None if done.returncode == PASSED else "no end"
    failed = re.search(r"^test (\S+) \.\.\. FAILED|^---- (\S+) stdout", done.stdout, re.MULTILINE)
    if failed:
        return failed[1] or failed[2]
    ended = re.search(r"could not compile|\(signal: .*\)", done.stderr)
    if ended is None:
        raise SystemExit(f"{shlex.join(words)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return ended[0]


def run(tree: Path, room: str, count: int, seed: int, *, whole: bool) -> None:
    """Plant faults of a room, one after the other, and print what became of each."""
    draw, rust = random.Random(seed), room == "simulator"
    place = tree if rust else tree / "python/ssdlab"
    files = sorted(
        path for path in place.rglob("*.rs" if rust else "*.py")
        if any(fnmatchcase(str(path.relative_to(place)), pattern) for pattern in ROOMS[room])
    )  # fmt: skip
    drawn: set[tuple[Path, str]] = set()
    while len(drawn) < count:
        path = draw.choice(files)
        text = path.read_text()
        faults = list((_rust_faults if rust else _python_faults)(text))
        fault = draw.choice(faults) if faults else None
        if fault is None or (path, fault.text) in drawn:
            continue
        drawn.add((path, fault.text))
        began = time.monotonic()
        try:
            path.write_text(fault.text)
            killer = _of_rust(tree) if rust else _of_python(tree, path, whole=whole)
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


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tree", type=Path)
    parser.add_argument("--room", choices=ROOMS, default="analysis")
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--whole", action="store_true", help="try what survives with all of `make test` too")
    given = parser.parse_args()
    if given.tree.resolve() == Path(__file__).resolve().parents[1]:
        parser.error("that is the tree of this script: make a copy")
    run(given.tree.resolve(), given.room, given.count, given.seed, whole=given.whole)
