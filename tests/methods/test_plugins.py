"""Methods that other packages bring along: the one of the document, and broken ones."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ssdlab.methods import find_method, methods_of_others
from ssdlab.model.errors import Unsupported, UsageError

DOCUMENT = Path(__file__).parents[2] / "docs" / "writing-a-method.md"


def fenced(language: str) -> str:
    found = re.findall(rf"^```{language}\n(.*?)^```", DOCUMENT.read_text(), re.MULTILINE | re.DOTALL)
    return found[0]


def install(site: Path, name: str, entries: dict[str, str], **modules: str) -> None:
    """Lay out what an installer would: modules and the metadata with their entry points."""
    info = site / f"{name.replace('-', '_')}-0.1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1\n")
    listed = "".join(f"{entry} = {value}\n" for entry, value in entries.items())
    (info / "entry_points.txt").write_text(f"[ssdlab.methods]\n{listed}")
    for module, text in modules.items():
        (site / f"{module}.py").write_text(text)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    return folder


def test_the_method_of_the_document_works_as_it_says(site: Path, scratch: Path) -> None:
    text = fenced("python")
    code = text.partition('"""\n\n')[2]
    assert len([line for line in code.splitlines() if line]) <= 40
    package = fenced("toml")
    entry = re.search(r"^(after-writes) = \"(.*)\"$", package, re.MULTILINE)
    assert entry is not None
    install(site, "after-writes", {entry[1]: entry[2]}, after_writes=text)
    environment = {**os.environ, "PYTHONPATH": str(site), "XDG_DATA_HOME": str(scratch / "data")}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    commands = [line[2:] for line in fenced("console").splitlines()]
    assert len(commands) == 4
    for command in commands:
        done = subprocess.run(
            command, shell=True, cwd=scratch, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stderr}"
    assert "after writes / at rest" in report(scratch, environment)


def report(scratch: Path, environment: dict[str, str]) -> str:
    """The page of the runs made, by a process without the package: a result explains itself."""
    without = {name: value for name, value in environment.items() if name != "PYTHONPATH"}
    runs = sorted((scratch / "data").glob("ssdlab/runs/2*"))
    assert len(runs) == 2
    for words in (["show", str(runs[0])], ["report", *map(str, runs), "-o", "page.html"]):
        subprocess.run(["ssdlab", *words], cwd=scratch, env=without, check=True, capture_output=True)
    return (scratch / "page.html").read_text()


BROKEN = {
    "fails": ("fails:METHOD", "RuntimeError: no such thing"),
    "leaves": ("leaves:METHOD", "SystemExit: 1"),
    "missing": ("nowhere:METHOD", "ModuleNotFoundError"),
    "odd": ("odd:METHOD", "it is a int, not a Method"),
    "other-name": ("named:METHOD", "the method calls itself qd1"),
    "qd1": ("named:METHOD", "the name is taken"),
    "enterprise-review": ("named:METHOD", "the name is taken"),
    "Bad_Name": ("named:METHOD", "a name is lower-case words"),
}


def break_all(site: Path) -> None:
    modules = {
        "fails": 'raise RuntimeError("no such thing")\n',
        "leaves": "raise SystemExit(1)\n",
        "odd": "METHOD = 3\n",
        "named": "from ssdlab.methods.qd1 import METHOD\n",
    }
    install(site, "broken", {name: place for name, (place, _) in BROKEN.items()}, **modules)


def test_what_is_broken_is_told_and_takes_nothing_down(site: Path) -> None:
    break_all(site)
    install(site, "good", {"after-writes": "after_writes:METHOD"}, after_writes=fenced("python"))
    others = methods_of_others()
    assert list(others.methods) == ["after-writes"]
    assert {each.name: each.package for each in others.broken} == dict.fromkeys(BROKEN, "broken 0.1")
    for each in others.broken:
        assert each.why.startswith(BROKEN[each.name][1]), each.what
    assert find_method("qd1").name == "qd1"
    assert find_method("after-writes").title == "Reads after writes"
    with pytest.raises(Unsupported, match="no such thing"):
        find_method("fails")
    with pytest.raises(UsageError) as unknown:
        find_method("after-write")
    assert unknown.value.facts["nearest"] == "after-writes"


def test_the_list_of_methods_tells_them(site: Path) -> None:
    break_all(site)
    environment = {**os.environ, "PYTHONPATH": str(site)}
    words = [sys.executable, "-m", "ssdlab", "methods"]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    assert "peak-random-read" in done.stdout
    assert "method fails of package broken 0.1 cannot be used: RuntimeError: no such thing" in done.stderr
    told = json.loads(
        subprocess.run([*words, "--json"], env=environment, capture_output=True, text=True, check=True).stdout
    )
    assert {each["name"] for each in told["broken"]} == set(BROKEN)
    suites = ["enterprise-review", "client-review", "quick-look", "snia"]
    assert [each["name"] for each in told["suites"]] == suites
