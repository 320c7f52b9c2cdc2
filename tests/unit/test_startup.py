"""What a command loads: modules are counted, not seconds, so that a busy host changes nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lab.synthetic import make_finished_run
from ssdlab.lab.kinds import KINDS
from ssdlab.lab.verbs import verb as verbs
from ssdlab.lab.verbs.verb import Verb

HEAVY = ("numpy", "duckdb", "pydantic", "jinja2", "asyncio", "multiprocessing", "unittest")
_LOADED = """
import contextlib, io, json, sys
from ssdlab.cli import main
with contextlib.redirect_stdout(io.StringIO()):
    status = main(sys.argv[1:])
print(json.dumps([status, sorted(sys.modules)]))
"""
_KINDS = f"""
import json, sys
from ssdlab.lab.kinds import KINDS
from ssdlab.results.kind import loaded
told = {{}}
for name, kind in KINDS.items():
    for place in (kind.model, kind.findings, kind.tables, kind.terminal):
        loaded(place)
    told[name] = [each for each in {HEAVY!r} if each != "pydantic" and each in sys.modules]
print(json.dumps(told))
"""


def loaded(*words: str) -> list[str]:
    """Modules that a command has loaded when it ends well."""
    done = subprocess.run(
        [sys.executable, "-c", _LOADED, *words], capture_output=True, text=True, check=True, cwd="/"
    )
    status, modules = json.loads(done.stdout.splitlines()[-1])
    assert status == 0
    return list(modules)


def packages(modules: list[str]) -> set[str]:
    return {name.partition(".")[0] for name in modules}


def ours(modules: list[str]) -> list[str]:
    return [name for name in modules if name.partition(".")[0] == "ssdlab"]


@pytest.mark.parametrize(("words", "most"), [("--help", 20), ("--version", 21), ("methods", 47)])
def test_what_lists_loads_nothing_heavy(words: str, most: int) -> None:
    modules = loaded(words)
    assert not packages(modules) & set(HEAVY)
    assert len(ours(modules)) <= most, ours(modules)
    assert not [name for name in modules if name.startswith("ssdlab.drives")]


@pytest.mark.parametrize("method", ["qd1", "peak-random-read"])
def test_show_loads_neither_tables_nor_drives_nor_other_results(method: str, tmp_path: Path) -> None:
    modules = loaded("show", str(make_finished_run(tmp_path, method)))
    assert not packages(modules) & (set(HEAVY) - {"pydantic"})
    assert "ssdlab.drives.opening" not in modules
    assert "ssdlab.lab.job" not in modules
    assert not [name for name in modules if name.startswith("ssdlab.methods.pts.result")]
    assert len(ours(modules)) <= 106, ours(modules)


def test_a_stored_result_of_any_kind_is_read_and_told_without_what_made_it() -> None:
    """Arithmetic on rows is done once, when a run ends: `show` of no kind loads numpy or duckdb for it."""
    done = subprocess.run([sys.executable, "-c", _KINDS], capture_output=True, text=True, check=True, cwd="/")
    told = json.loads(done.stdout)
    assert len(told) == len(KINDS) > 15
    assert not {name: found for name, found in told.items() if found}


@pytest.mark.parametrize("name", sorted(verbs._MEASURING))
def test_a_verb_that_is_not_loaded_has_nothing_to_say(name: str) -> None:
    verb = verbs.verb_named(name)
    assert verb is not None
    assert verb.describe.__func__ is vars(Verb)["describe"].__func__  # type: ignore[attr-defined]
