"""A method of another package that fails as its result is shown: told as that package's, with its line."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from methods.foreign import install, with_own_result
from ssdlab.lab.found import find_method
from ssdlab.lab.plugins import naming_failures
from ssdlab.model.errors import LabError
from ssdlab.results.claim import Claim
from ssdlab.results.kind import loaded

MODULE = "after_writes"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A site with the package, and a library with one run of its method."""
    folder = tmp_path_factory.mktemp("showing")
    lay_out(folder / "site", with_own_result())
    done = ssdlab(folder / "site", folder, "run", "after-writes", "sim:tiny-test", "--quick", "--seed", "1")
    assert done.returncode == 0, done.stderr
    (run,) = (folder / "data/ssdlab/runs").glob("2*")
    return folder / "site", run


def lay_out(site: Path, text: str) -> None:
    install(site, "after-writes", {"after-writes": f"{MODULE}:METHOD"}, **{MODULE: text})


def ssdlab(site: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(site), "XDG_DATA_HOME": str(folder / "data")}
    line = [sys.executable, "-m", "ssdlab", *words]
    return subprocess.run(line, env=environment, capture_output=True, text=True, check=False)


def broken(part: str, fault: str) -> str:
    """The document's file with a fault as the first statement of one of its functions."""
    text, changed = re.subn(
        rf"^(def {part}\(.*\n)", rf"\g<1>    {fault}\n", with_own_result(), flags=re.MULTILINE
    )
    assert changed == 1
    return text


FAULTS = [
    ("findings", 'raise ValueError("mine")', "ValueError: mine", ("show", "report")),
    ("findings", 'yield Claim("{nothing}")', "ValueError: '{nothing}' names 'nothing'", ("show", "report")),
    ("findings", 'yield "so"', "findings returned a str, not a Claim", ("show",)),
    ("findings", 'yield "so"', "AttributeError: 'str' object has no attribute", ("report",)),
    ("tables", "return [3]", "tables returned a int, not a Table", ("show",)),
    ("tables", "return None", "tables returned a NoneType, not a sequence", ("show",)),
    ("means", "{}['x']", "KeyError: 'x'", ("show", "report")),
    ("section", "raise SystemExit(5)", "SystemExit: 5", ("report",)),
    ("section", "return None", "section returned a NoneType, not a Section", ("report",)),
]
CASES = [(part, fault, why, command) for part, fault, why, commands in FAULTS for command in commands]


@pytest.mark.parametrize(("part", "fault", "why", "command"), CASES)
@pytest.mark.long
def test_a_failure_in_showing_names_package_and_line(
    made: tuple[Path, Path], tmp_path: Path, part: str, fault: str, why: str, command: str
) -> None:
    """Never an internal error of ssdlab, and no page is left behind."""
    lay_out(tmp_path / "site", broken(part, fault))
    page = tmp_path / "page.html"
    words = {"show": ["show", str(made[1]), "--all"], "report": ["report", str(made[1]), "-o", str(page)]}[
        command
    ]
    done = ssdlab(tmp_path / "site", tmp_path, *words)
    assert done.returncode == 3, done.stderr
    where = rf"{re.escape(str(tmp_path / 'site' / MODULE))}\.py:\d+: {re.escape(why)}"
    assert re.search(f"method after-writes of package after-writes 0.1 failed at {where}", done.stderr)
    assert "SSDLAB_TRACEBACK=1" in done.stderr and "Traceback" not in done.stderr
    assert not page.exists()


def test_what_is_named_by_a_text_and_is_not_there_is_told(made: tuple[Path, Path], tmp_path: Path) -> None:
    text = with_own_result().replace("findings=findings, ", 'findings="nowhere:findings", ')
    lay_out(tmp_path / "site", text)
    done = ssdlab(tmp_path / "site", tmp_path, "show", str(made[1]), "--all")
    assert done.returncode == 3, done.stderr
    assert "findings is nowhere:findings: No module named 'nowhere'" in done.stderr


def test_a_failure_in_the_terminal_leaves_the_json(made: tuple[Path, Path], tmp_path: Path) -> None:
    """The result is stored: `--json` shows nothing of it, and so asks nobody."""
    lay_out(tmp_path / "site", broken("tables", "1 / 0"))
    done = ssdlab(tmp_path / "site", tmp_path, "show", str(made[1]), "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["result"]["kind"] == "after-writes"


def test_a_fault_of_a_piece_is_told_as_such_whatever_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """That one gave no Claim at all is seen by its class, and not by how the fault begins."""
    method = find_method("qd1")
    assert method.result is not None
    kind = replace(method.result, name="of-another", findings=lambda *of: [Claim("so it is")])
    guarded = naming_failures(replace(method, result=kind), "another 0.1", __name__).result
    assert guarded is not None
    monkeypatch.setattr("ssdlab.results.kind.claim_fault", lambda claim: "it is late")
    with pytest.raises(LabError, match="findings: it is late"):
        list(loaded(guarded.findings)(None))
