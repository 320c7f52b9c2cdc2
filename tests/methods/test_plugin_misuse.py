"""Plug-ins that give what does not fit: told with package, file and line, never as an internal error."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from methods.foreign import install
from ssdlab.cli import main
from ssdlab.lab.found import find_method, methods_of_others
from ssdlab.model.errors import Unsupported
from ssdlab.plugin import INTERFACE
from ssdlab.report.view import section_fault

TEMPLATE = '''"""A method that a test makes.

Source
    Ours.
"""
from collections.abc import Iterator
from typing import ClassVar, Literal

from ssdlab.plugin import *


class P(Params):
    seconds: Seconds = param(1.0, "of reads", unit="s", quick=0.05, gt=0)


class R(ResultBase):
    kind: Literal["odd-one"] = "odd-one"
    mean_ns: float


class V(Verb):
    verb: ClassVar[str] = "odd-verb"
    n: int = 1

    def do(self, at):
        return StepResult(seconds=0.0)


def procedure(lab, p):
    lab.do(V())
    lab.fill(unless_written=True)


def conclude(data, p):
    return R(quick=data.quick, mean_ns=5.0, scalars=(Metric.less("odd_mean", "mean", 5.0, "ns", steps=(0,)),))


def findings(r):
    yield Claim("mean is {figure}", figure=Amount(r.mean_ns, "ns"))


def tables(r):
    return (Table("means", ("mean",), ((cells.latency(r.mean_ns),),)),)


def section(runs):
    lines = (Line(runs[0].index, "n", False, (Dot(1.0, 2.0),)),)
    view = XyView("view", Axis("x", "s"), Axis("y", "ns"), lines)
    figure = Figure("odd-figure", "t", "l", "d", XyChart((view,)), (), ())
    return Section("odd", "Odd", ("x",), tuple(one.index for one in runs), (figure,))


REMARKS = {}
#CHANGE
KIND = dict(findings=findings, tables=tables, section=section)
#OF KIND
METHOD = Method(
    name="odd-one", version=1, title="Odd", params=P, procedure=procedure, conclude=conclude,
    result=ResultKind("odd-one", R, **KIND) if KIND is not None else None, writes=lambda p: True, **REMARKS
)
'''


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    return folder


def lay(site: Path, change: str = "", **changes: str) -> str:
    """Install the method with a change; returns the name of its module, of which there is one for each."""
    text = TEMPLATE.replace("#OF KIND" if change.startswith("KIND") else "#CHANGE", change)
    for old, new in changes.items():
        text = text.replace(old, new)
    name = f"odd_{abs(hash((site, text)))}"
    install(site, "odd-one", {"odd-one": f"{name}:METHOD"}, **{name: text})
    return name


def told(
    site: Path, capsys: pytest.CaptureFixture[str], change: str, *words: str, status: int = 3
) -> tuple[str, str]:
    """Run the method, then the words on its run: what the failing one of them said, and the module's name."""
    name = lay(site, change)
    library = site.parent / "runs"
    found = main(["run", "odd-one", "sim:tiny-test", "--quick", "--library", str(library)])
    if words and found == 0:
        (run,) = library.glob("2*")
        found = main([each.replace("RUN", str(run)) for each in words])
    error = capsys.readouterr().err
    assert found == status, error
    return error, name


GIVEN = {
    "a row too short": (
        "def tables(r): return (Table('t', ('a', 'b'), ((cells.words('1'),),)),)",
        r"tables: table 't': row 0 has 1 columns, its head has 2",
    ),
    "a cell that is a number": (
        "def tables(r): return (Table('t', ('a',), ((1,),)),)",
        r"tables: rows\[0\]\[0\] is a int, not a Cell",
    ),
    "a link that is a script": (
        "def tables(r): return (Table('t', ('a',), ((Cell('x', link='javascript:alert(3)'),),)),)",
        "tables: table 't': the link 'javascript:alert",
    ),
    "a column that is none": (
        "def tables(r): return (Table('t', ('a',), ((cells.words('x'),),), brief=('zz',)),)",
        "brief names 'zz', which is not a column",
    ),
    "an infinite cell": (
        "def tables(r): return (Table('t', ('a',), ((cells.seconds(float('inf')),),)),)",
        "OverflowError: ",
    ),
    "an infinite figure": (
        "def findings(r): yield Claim('x {figure}', figure=Amount(float('inf'), 'bytes'))",
        "findings: figure.value is inf, not a finite number",
    ),
    "a figure that is none": (
        "def findings(r): yield Claim('x {o}', others={'o': Amount(float('nan'), 'ns')})",
        r"findings: others\['o'\].value is nan, not a finite number",
    ),
    "findings without an end": (
        "def findings(r):\n    while True: yield Claim('again')",
        "findings returned more than 10000 items, perhaps endlessly",
    ),
    "no remarks": (
        "REMARKS = {'remarks': lambda facts, p: None}",
        "remarks returned a NoneType, not a Remarks",
    ),
    "a verdict that fails": (
        "class R(R):\n    @property\n    def passed(self): return 1 / 0",
        "ZeroDivisionError: division by zero",
    ),
    "a verdict that is none": (
        "class R(R):\n    @property\n    def passed(self): return 'yes'",
        "passed is a str, not a bool or None",
    ),
    "parameters that are none": (
        "class P(P):\n    @classmethod\n    def build(cls, settings=None, *, quick=False): return 5",
        "its checks turned P into a int",
    ),
    "a plan that is a word": ("V.plan = lambda self, planning: 'soon'", "V.plan: it is a str, not a Planned"),
    "a plan that never ends": (
        "V.plan = lambda self, planning: Planned(Bounds(0.0, float('inf')))",
        "V.plan: seconds.upper is inf, not a finite number",
    ),
    "a plan upside down": ("V.plan = lambda self, planning: Planned(Bounds(2.0, 1.0))", "from low to high"),
    "effects that are a word": ("V.effects = lambda self: 'abc'", "V.effects is a str, not a tuple"),
    "nothing done": ("V.do = lambda self, at: None", "V.do returned a NoneType, not a StepResult"),
    "departures that are none": (
        "V.do = lambda self, at: StepResult(seconds=0.0, facts={'departures': 'oops'})",
        "the facts of V.do: departures: ",
    ),
    "a fact that is no number": (
        "V.do = lambda self, at: StepResult(seconds=0.0, facts={'a': float('nan')})",
        "the facts of V.do cannot be kept as JSON",
    ),
    "a fact that is no JSON": (
        "V.do = lambda self, at: StepResult(seconds=0.0, facts={'a': object()})",
        r"StepResult: facts\.a[^\n]*: [^\n]*\n",
    ),
    "a verb that is ssdlab's": ("V.verb = 'run'", "V calls its verb run, which is one of ssdlab's own"),
    "a verb with a strange name": ("V.verb = 'a\\x1b[31m'", "a name is lower-case words"),
    "no verb": ("def procedure(lab, p): lab.do('nap')", "lab.do was given a str, not a Verb"),
    "a result of no kind": ("KIND = None", "the method names none: Method"),
    "a result of another class": (
        "S = R\nclass R(R): pass\nconclude = lambda data, p: S(quick=data.quick, mean_ns=1.0)",
        "results of the kind odd-one are R",
    ),
    "a result that is no number": (
        "conclude = lambda data, p: R(quick=data.quick, mean_ns=float('nan'))",
        "conclude returned a result that cannot be stored: mean_ns",
    ),
    "an infinite headline": (
        "conclude = lambda data, p: R(quick=True, mean_ns=1.0, "
        "scalars=(Metric.less('a', 'a', float('inf'), 'ns', steps=(0,)),))",
        r"cannot be stored: scalars\[0\].value is not a finite number",
    ),
    "two headlines of one name": (
        "conclude = lambda data, p: R(quick=True, mean_ns=1.0, "
        "scalars=tuple(Metric.less('a', each, 1.0, 'ns', steps=(0,)) for each in 'ab'))",
        "two figures are called a",
    ),
    "a headline without steps": (
        "conclude = lambda data, p: R(quick=True, mean_ns=1.0, scalars=(Metric.less('a', 'a', 1.0, 'ns'),))",
        "the Metric a has no steps",
    ),
    "a step that the run does not have": (
        "conclude = lambda data, p: R(quick=True, mean_ns=1.0, "
        "scalars=(Metric.less('a', 'a', 1.0, 'ns', steps=(999,)),))",
        "the Metric a names step 999",
    ),
    "a finding of a step that the run does not have": (
        "def findings(r): yield Claim('mean is {figure}', figure=Amount(r.mean_ns, 'ns'), "
        "evidence=Evidence((0, 999)))",
        "findings: a Claim names step 999, which the run does not have",
    ),
    "a step that measured nothing": (
        "def procedure(lab, p):\n    lab.idle(0.01)\n    lab.fill(unless_written=True)\n"
        "conclude = lambda data, p: R(quick=True, mean_ns=1.0, "
        "scalars=(Metric.less('a', 'a', 1.0, 'ns', steps=(0,)),))",
        "the Metric a names steps that measured nothing",
    ),
    "a figure of ours": (
        "conclude = lambda data, p: R(quick=True, mean_ns=1.0, "
        "scalars=(Metric.more('peak_random_read_iops', 'a', 1.0, 'IOPS', steps=(1,)),))",
        "has the name of a figure of peak-random-read",
    ),
    "a bound that no search gave": (
        "conclude = lambda data, p: R(quick=True, mean_ns=1.0, "
        "scalars=(Metric.less('a', 'a', 1.0, 'ns', steps=(0,), bound='at least'),))",
        "a bound without the qualifier search-ceiling",
    ),
    "a subclass that says what results of interface 1 said": (
        "class S(R):\n    def unshown(self, figure): return ''\n"
        "conclude = lambda data, p: S(quick=True, mean_ns=1.0)",
        "S: unshown was removed in interface 2",
    ),
    "a qualifier of no catalogue": (
        "from ssdlab.plugin import Qualifier\n"
        "conclude = lambda data, p: R(quick=True, mean_ns=1.0, scalars=(Metric.less('a', 'a', 1.0, 'ns', "
        "steps=(0,), qualifiers=(Qualifier(code='odd'),)),))",
        "has an unknown qualifier: odd",
    ),
    "a headline with a strange name": (
        "conclude = lambda data, p: R(quick=True, mean_ns=1.0, "
        "scalars=(Metric.less('<img src=x>', 'a', 1.0, 'ns', steps=(0,)),))",
        "of a Metric may have only",
    ),
    "a result that reads back as another": (
        "from pydantic import field_serializer\n"
        "class R(R):\n    @field_serializer('mean_ns')\n    def one_more(self, value): return value + 1",
        "read back, mean_ns is another",
    ),
}


UNUSABLE = {
    "what results of interface 1 said": (
        "class R(R):\n    def shows(self, figure): return True",
        "R: shows was removed in interface 2",
    ),
    "a later interface": (
        f"REMARKS = {{'interface': {INTERFACE + 1}}}",
        f"it is for version {INTERFACE + 1} of ssdlab.plugin",
    ),
}


@pytest.mark.parametrize("fault", UNUSABLE)
def test_what_is_of_another_interface_is_refused_when_it_is_loaded(
    site: Path, capsys: pytest.CaptureFixture[str], fault: str
) -> None:
    change, why = UNUSABLE[fault]
    error, name = told(site, capsys, change, status=2)
    assert f"{name}.py:" in error and why in " ".join(error.split())
    assert main(["methods"]) == 0, "the others are listed"
    listed = capsys.readouterr()
    assert "qd1" in listed.out and why in " ".join((listed.out + listed.err).split())


@pytest.mark.parametrize("fault", GIVEN)
@pytest.mark.long
def test_what_does_not_fit_is_told_with_its_line(
    site: Path, capsys: pytest.CaptureFixture[str], fault: str
) -> None:
    change, why = GIVEN[fault]
    error, name = told(site, capsys, change, "show", "RUN", "--all")
    where = rf"{re.escape(str(site))}/{name}\.py:\d+"
    assert re.search(f"method odd-one of package odd-one 0.1 failed at {where}: [^\n]*{why}", error), error


def test_a_check_of_parameters_that_fails_is_told_with_its_line(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change = (
        "from pydantic import model_validator\nclass P(P):\n    @model_validator(mode='after')\n"
        "    def check(self): return self if self.seconds != 0.25 else 1 / 0"
    )
    name = lay(site, change)
    assert main(["run", "odd-one", "sim:tiny-test", "--set", "seconds=0.25"]) == 3
    assert re.search(rf"failed at \S*{name}\.py:\d+: ZeroDivisionError", capsys.readouterr().err)


def test_the_template_itself_is_right(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told(site, capsys, "", "report", "RUN", "-o", str(site / "page.html"), status=0)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (
            'Axis("x", "s")',
            'Axis("x", "parsec")',
            r"chart.views\[0\].x.quantity is 'parsec', not one of 'iops'",
        ),
        ("Dot(1.0, 2.0)", 'Dot(1.0, float("nan"))', r"lines\[0\].points\[0\].y is nan, not a finite number"),
        ("XyChart((view,))", "XyChart(())", "its chart has no view"),
        ("Line(runs[0].index", "Line(7", "a line of run 7, which is not in the section"),
        ("runs), (figure,)", "runs), (figure, figure)", "the id 'odd-figure' is given twice"),
        ("XyChart((view,)), ()", "XyChart((view,)), (Table('t', ('a',), ((),)),)", "row 0 has 0 columns"),
    ],
)
@pytest.mark.long
def test_a_section_that_cannot_be_drawn_is_told(
    site: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, why: str
) -> None:
    name = lay(site, **{old: new})
    library, page = site.parent / "runs", site.parent / "page.html"
    assert main(["run", "odd-one", "sim:tiny-test", "--quick", "--library", str(library)]) == 0
    (run,) = library.glob("2*")
    assert main(["report", str(run), "-o", str(page)]) == 3
    assert re.search(rf"failed at \S*{name}\.py:\d+: section: [^\n]*{why}", capsys.readouterr().err)
    assert not page.exists()


REFUSED = {
    "findings": ("KIND['findings'] = 3", "its findings is 3: neither a function"),
    "tables": ("KIND['tables'] = 'nonsense'", "its tables is 'nonsense': neither a function"),
    "a default": (
        "class P(Params):\n    seconds: Seconds = param('soon', 'x')",
        r"its defaults: [^\n]*duration",
    ),
    "a quick preset": ("class P(Params):\n    seconds: Seconds = param(1.0, 'x', quick=-1, gt=0)", "quick"),
    "no param": ("class P(Params):\n    seconds: float = 1.0", "its parameter seconds is not made by param"),
    "procedure": ("procedure = 4", "its procedure is a int, not a function"),
    "needs": ("REMARKS = {'needs': 'abc'}", "MethodInfo: needs: Input should be a valid tuple"),
    "an error of Python": ("1 / 0", r"ZeroDivisionError: division by zero \(\S*odd_\d+\.py:\d+\)$"),
    "a module that is not there": (
        "import nowhere",
        r"ModuleNotFoundError: No module named 'nowhere' \(\S*odd_\d+\.py:\d+\)$",
    ),
    "a syntax error": ("def (", r"SyntaxError: invalid syntax.* \(\S*odd_\d+\.py:\d+\)$"),
    "an exception of its own": (
        "class Mine(BaseException): pass\nraise Mine('own')",
        r"Mine: own \(\S*odd_\d+\.py:\d+\)$",
    ),
    "what a signal raises": ("raise KeyboardInterrupt", r"KeyboardInterrupt \(\S*odd_\d+\.py:\d+\)$"),
}


@pytest.mark.parametrize("fault", REFUSED)
def test_what_cannot_be_used_is_told_as_it_is_loaded(site: Path, fault: str) -> None:
    change, why = REFUSED[fault]
    lay(site, change)
    (broken,) = methods_of_others().broken
    assert re.search(why, broken.why), broken.why
    assert "\n" not in broken.why and "https://" not in broken.why


def test_a_real_signal_ends_an_import(site: Path, tmp_path: Path) -> None:
    lay(site, "open('begun', 'w').close()\nimport time\ntime.sleep(60)")
    environment = {**os.environ, "PYTHONPATH": str(site)}
    words = [sys.executable, "-m", "ssdlab", "methods"]
    with subprocess.Popen(words, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True) as process:
        while not (tmp_path / "begun").exists():
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130


def test_only_the_package_that_is_asked_for_is_imported(site: Path, tmp_path: Path) -> None:
    mark = tmp_path / "imported"
    install(site, "other", {"other-one": "other_one:METHOD"}, other_one=f"open({str(mark)!r}, 'w')\n1 / 0\n")
    lay(site)
    assert find_method("odd-one").title == "Odd" and not mark.exists()
    with pytest.raises(Unsupported, match="ZeroDivisionError"):
        find_method("other-one")
    assert mark.exists()


def test_a_name_that_is_taken_says_by_whom(site: Path) -> None:
    lay(site)
    install(site, "second", {"odd-one": "nowhere:METHOD", "qd1": "nowhere:METHOD"})
    why = {each.name: each.why for each in methods_of_others().broken}
    assert why == {
        "odd-one": "the name is taken by package odd-one 0.1",
        "qd1": "the name is taken by ssdlab",
    }


def test_what_a_package_prints_does_not_reach_the_output(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change = "print('HELLO')\ndef tables(r):\n    print('HELLO')\n    return ()\n"
    name = lay(site, change)
    words = ["run", "odd-one", "sim:tiny-test", "--quick", "--library", str(site.parent / "runs"), "--json"]
    assert main(words) == 0
    assert json.loads(capsys.readouterr().out)["result"]["kind"] == "odd-one"
    assert name in sys.modules


CHANGED = {
    "a field more": ("mean_ns: float", "mean_ns: float\n    share: float", "R: share: Field required"),
    "another type": ("mean_ns: float", "mean_ns: tuple[float, ...]", "R: mean_ns: "),
    "a field less": ("    mean_ns: float\n", "", "R: mean_ns: Extra inputs"),
    "a verdict that fails": (
        "    mean_ns: float\n",
        "    mean_ns: float\n    @property\n    def passed(self): return {}['x']\n",
        "KeyError: 'x'",
    ),
}


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("change", CHANGED)
@pytest.mark.long
def test_a_result_that_its_package_no_longer_reads_opens(
    site: Path, capsys: pytest.CaptureFixture[str], change: str
) -> None:
    """By its headline figures, and a sentence that says why; and it does not block a page with another."""
    old, new, why = CHANGED[change]
    lay(site)
    library, page = site.parent / "runs", site.parent / "page.html"
    for _ in range(2):
        assert main(["run", "odd-one", "sim:tiny-test", "--quick", "--library", str(library)]) == 0
    runs = sorted(map(str, library.glob("2*")))
    shutil.rmtree(site)
    site.mkdir()
    lay(site, **{old: new})
    capsys.readouterr()
    assert main(["show", runs[0], "--all"]) == 0
    shown = capsys.readouterr().out
    assert "The result of kind odd-one cannot be read: method odd-one of package odd-one 0.1" in shown
    assert why in shown and "5.00 ns" in shown
    assert main(["show", runs[0], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["result"]["mean_ns"] == 5.0
    assert main(["report", *runs, "-o", str(page)]) == 0
    assert "cannot be read" in page.read_text()


def test_a_failed_verdict_is_said_and_the_package_is_on_record(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change = "class R(R):\n    @property\n    def passed(self): return False"
    lay(site, change)
    library = ["--library", str(site.parent / "runs")]
    assert main(["run", "odd-one", "sim:tiny-test", "--quick", "--json", *library]) == 1
    told = capsys.readouterr()
    assert "odd-one failed its verdict" in told.err
    shown = json.loads(told.out)
    assert shown["manifest"]["tool"]["plugin"] == "odd-one 0.1"


def test_a_resume_without_the_package_names_it(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lay(site, "conclude = lambda data, p: 1 / 0")
    library = site.parent / "runs"
    assert main(["run", "odd-one", "sim:tiny-test", "--quick", "--library", str(library)]) == 3
    (run,) = library.glob("2*")
    shutil.rmtree(site)
    assert main(["resume", str(run)]) == 2
    assert "needs method odd-one of package odd-one 0.1, which is not installed" in capsys.readouterr().err


def test_a_section_is_held_against_what_can_be_drawn() -> None:
    assert section_fault(None) == "it is a NoneType, not a Section"
