"""Methods that other packages bring along: the one of the document, and broken ones."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

from methods.foreign import DOCUMENT, fenced, install, whole_method, with_own_result
from report.reading import Page
from ssdlab import plugin
from ssdlab.cli import main
from ssdlab.lab.found import SUITES, find_method, methods_of_others
from ssdlab.lab.lab import Lab
from ssdlab.model.errors import Unsupported, UsageError
from ssdlab.model.units import figure_text, latency_text

READS = ("at rest", "after writes", "after the pause")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    return folder


@pytest.mark.long
def test_the_method_of_the_document_works_as_it_says(site: Path, scratch: Path) -> None:
    text = whole_method()
    code = text.partition('"""\n\n')[2]
    assert len([line for line in code.splitlines() if line]) <= 40
    package = fenced("toml", "The package")
    entry = re.search(r"^(after-writes) = \"(.*)\"$", package, re.MULTILINE)
    assert entry is not None
    install(site, "after-writes", {entry[1]: entry[2]}, after_writes=text)
    environment = {**os.environ, "PYTHONPATH": str(site), "XDG_DATA_HOME": str(scratch / "data")}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    commands = [line[2:] for line in fenced("console", "The package").splitlines()]
    assert len(commands) == 6
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
    for words in (["show", str(runs[0]), "--all"], ["report", *map(str, runs), "-o", "page.html"]):
        subprocess.run(["ssdlab", *words], cwd=scratch, env=without, check=True, capture_output=True)
    return (scratch / "page.html").read_text()


PRIVATE = """from ssdlab.lab.method import Method, Params, RunData, Seconds, param
from ssdlab.lab.parts.points import point_of
from ssdlab.lab.parts.workloads import closed_loop
from ssdlab.lab.kinds import PointsResult
from ssdlab.results.schema import Metric
"""
"""The same from where it is, which no path promises."""


def test_a_method_with_private_imports_works_and_is_warned_of(site: Path) -> None:
    new = re.search(r"^(from ssdlab\.plugin import .*\n)+", whole_method(), re.MULTILINE)
    assert new is not None
    text = whole_method().replace(new[0], PRIVATE).replace("lab: Lab", "lab")
    install(site, "old", {"after-writes": "written_before:METHOD"}, written_before=text)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        method = find_method("after-writes")
    assert method.title == "Reads after writes" and method.params().seconds == 10.0
    where = {
        (each.filename, each.lineno): str(each.message) for each in told if "ssdlab" in str(each.message)
    }
    lines = [number for number, line in enumerate(text.splitlines(), start=1) if line in PRIVATE.splitlines()]
    assert len(lines) == 5 and set(where) == {(str(site / "written_before.py"), line) for line in lines}
    assert all(
        issubclass(each.category, DeprecationWarning) and "from ssdlab.plugin" in str(each.message)
        for each in told
    )


def test_the_method_of_the_document_is_not_warned(site: Path) -> None:
    install(site, "new", {"after-writes": "written_now:METHOD"}, written_now=whole_method())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert find_method("after-writes").name == "after-writes"


def test_the_reference_lists_what_is_public() -> None:
    pages = [DOCUMENT.parent / "reference" / f"{name}.md" for name in ("plugin", "plugin-page")]
    named = [
        name for page in pages for name in re.findall(r"^\| `(\w+)` \| \S", page.read_text(), re.MULTILINE)
    ]
    assert sorted(named) == sorted(plugin.__all__)


@pytest.fixture(scope="module")
def brought(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, str], Path, dict[str, Any]]:
    """A package that brings its own result: the environment with it, a run of it, and its JSON."""
    folder = tmp_path_factory.mktemp("brought")
    install(
        folder / "site",
        "after-writes",
        {"after-writes": "after_writes:METHOD"},
        after_writes=with_own_result(),
    )
    environment = {**os.environ, "PYTHONPATH": str(folder / "site"), "XDG_DATA_HOME": str(folder / "data")}
    ran = json.loads(
        tell(environment, "run", "after-writes", "sim:tiny-test", "--quick", "--seed", "1", "--json")
    )
    (run,) = (folder / "data/ssdlab/runs").glob("2*")
    return environment, run, ran


def tell(environment: dict[str, str], *words: str) -> str:
    """What a command prints."""
    line = [sys.executable, "-m", "ssdlab", *words]
    done = subprocess.run(line, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


Brought = tuple[dict[str, str], Path, dict[str, Any]]


@pytest.mark.long
def test_a_result_of_its_own_is_read_and_shown_everywhere(brought: Brought, tmp_path: Path) -> None:
    environment, run, ran = brought
    assert ran["result"]["kind"] == "after-writes" and list(ran["result"]["means_ns"]) == list(READS)
    means = ran["result"]["means_ns"]
    times = round(means["after writes"] / means["at rest"], 2)
    said = f"After writes a read takes {figure_text(times, 'x')} its time at rest; unhurt is at most 1.1x."
    shown = tell(environment, "show", str(run), "--all")
    assert said in shown
    assert (
        re.search(r"^When +Mean\nat rest ", shown, re.MULTILINE) and "package is not installed" not in shown
    )
    tell(environment, "report", str(run), "-o", str(tmp_path / "page.html"))
    page = Page.of((tmp_path / "page.html").read_text())
    assert said in page.text and {"at rest", "after writes", latency_text(means["at rest"])} <= page.cells
    (view,) = page.data["charts"]["after-writes-means"]["views"]
    assert [group["bars"][0]["value"] for group in view["groups"]] == list(means.values())


def test_without_its_package_the_same_run_opens(brought: Brought) -> None:
    environment, run, ran = brought
    without = {name: value for name, value in environment.items() if name != "PYTHONPATH"}
    shown = tell(without, "show", str(run), "--all")
    assert "result of kind after-writes cannot be read" in shown and "after writes / at rest" in shown
    assert json.loads(tell(without, "show", str(run), "--json"))["result"] == ran["result"]


@pytest.mark.long
def test_the_file_of_the_document_is_typed(tmp_path: Path) -> None:
    file = tmp_path / "after_writes.py"
    file.write_text(with_own_result())
    words = ["--strict", "--config-file", os.devnull, "--cache-dir", str(tmp_path / "cache"), str(file)]
    done = subprocess.run([sys.executable, "-m", "mypy", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


FAILS = {
    "procedure": ("lab.idle(", "lab.idel(", "AttributeError: 'Lab' object has no attribute 'idel'"),
    "conclude": ("    points = ", "    1 / 0\n    points = ", "ZeroDivisionError: division by zero"),
    "nothing": (
        "    return PointsResult(",
        "    PointsResult(",
        "conclude returned a NoneType, not a Result",
    ),
}


@pytest.mark.parametrize("fault", FAILS)
@pytest.mark.long
def test_a_method_that_fails_is_named_with_its_line(fault: str, tmp_path: Path) -> None:
    right, wrong, why = FAILS[fault]
    text = whole_method().replace(right, wrong, 1)
    assert wrong in text
    install(tmp_path, "after-writes", {"after-writes": "after_writes:METHOD"}, after_writes=text)
    place = "def conclude" if fault == "nothing" else wrong.splitlines()[0].strip()
    line = next(number for number, each in enumerate(text.splitlines(), start=1) if place in each)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data")}
    words = [sys.executable, "-m", "ssdlab", "run", "after-writes", "sim:tiny-test", "--quick", "--json"]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 3, done.stderr
    where = f"{tmp_path}/after_writes.py:{line}"
    assert f"method after-writes of package after-writes 0.1 failed at {where}: {why}" in done.stderr
    assert "SSDLAB_TRACEBACK=1" in done.stderr and "Traceback" not in done.stderr
    told = json.loads(done.stdout)
    assert told["error"] == "host" and told["facts"]["line"] == line


NOT_A_KIND = {
    "result=3": "its result is a int, not a ResultKind",
    'result=ResultKind("peak", AfterWritesResult)': "results of the kind peak are ssdlab's own",
    'result=ResultKind("other", AfterWritesResult)': "its results call their kind after-writes",
    'result=ResultKind("after-writes", "nowhere:Model")': "the model of its results: No module named",
    'result=ResultKind("after-writes", AfterWritesParams)': "the model of its results is not a class",
}


@pytest.mark.parametrize("fault", NOT_A_KIND)
def test_a_kind_that_cannot_be_used_is_told(fault: str, site: Path) -> None:
    text = re.sub(r"result=ResultKind\(.*\)(?=,$)", fault, with_own_result(), count=1, flags=re.MULTILINE)
    name = f"faulty_{list(NOT_A_KIND).index(fault)}"
    install(site, "own", {"after-writes": f"{name}:METHOD"}, **{name: text})
    (broken,) = methods_of_others().broken
    assert broken.why.startswith(NOT_A_KIND[fault])


OWN_KIND = """
import ssdlab.plugin
import ssdlab.results.schema
from ssdlab.plugin import Qualifier


class OwnResult(ssdlab.results.schema.ResultBase):
    kind: str = "after-writes"
    times: float


conclude_points = conclude


def conclude(data, p):
    own = [Qualifier(code="not-judged", why="for a reason of its own")]
    scalars = tuple(each.qualified(own) for each in conclude_points(data, p).scalars)
    return OwnResult(quick=data.quick, times=2.0, scalars=scalars)
"""


@pytest.mark.long
def test_a_run_whose_package_is_absent_shows_its_figures_and_says_so(site: Path, scratch: Path) -> None:
    own = "\n\nMETHOD = Method(\n    result=ssdlab.plugin.ResultKind('after-writes', OwnResult),"
    text = whole_method().replace("METHOD = Method(", OWN_KIND + own)
    install(site, "own", {"after-writes": "of_its_own:METHOD"}, of_its_own=text)
    environment = {**os.environ, "PYTHONPATH": str(site), "XDG_DATA_HOME": str(scratch / "data")}
    words = [sys.executable, "-m", "ssdlab"]
    subprocess.run(
        [*words, "run", "after-writes", "sim:tiny-test", "--quick"],
        env=environment,
        check=True,
        capture_output=True,
    )
    (run,) = (scratch / "data/ssdlab/runs").glob("2*")
    del environment["PYTHONPATH"]
    shown = subprocess.run(
        [*words, "show", str(run), "--all"], env=environment, check=True, capture_output=True, text=True
    )
    page = scratch / "page.html"
    subprocess.run(
        [*words, "report", str(run), "-o", str(page)], env=environment, check=True, capture_output=True
    )
    for output in (" ".join(shown.stdout.split()), page.read_text()):
        assert "result of kind after-writes cannot be read: the method" in output
        assert "after writes / at rest" in output and "for a reason of its own" in output


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
        "named": "from ssdlab.methods.qd1.procedure import METHOD\n",
    }
    install(site, "broken", {name: place for name, (place, _) in BROKEN.items()}, **modules)


def test_what_is_broken_is_told_and_takes_nothing_down(site: Path) -> None:
    break_all(site)
    install(site, "good", {"after-writes": "after_writes:METHOD"}, after_writes=whole_method())
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
    assert [each["name"] for each in told["suites"]] == list(SUITES)


def test_a_method_of_another_package_is_marked(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    install(site, "after-writes", {"after-writes": "after_writes:METHOD"}, after_writes=whole_method())
    assert main(["methods"]) == 0
    (line,) = (each for each in capsys.readouterr().out.splitlines() if each.startswith("after-writes "))
    assert line.endswith("(package after-writes 0.1)")
    assert main(["methods", "after-writes"]) == 0
    assert "after-writes, version 1, of package after-writes 0.1: writes" in capsys.readouterr().out
    assert main(["methods", "--json"]) == 0
    packages = {each["name"]: each["package"] for each in json.loads(capsys.readouterr().out)["methods"]}
    assert (packages["after-writes"], packages["qd1"]) == ("after-writes 0.1", None)


@pytest.mark.parametrize(
    ("part", "fault", "said"),
    [
        ("procedure", 'raise ValueError("mine")', "ValueError: mine"),
        ("procedure", "raise SystemExit(4)", "SystemExit: 4"),
        ("procedure", "import json; json.loads('{')", "JSONDecodeError: "),
        ("procedure", "return", "ValueError: not enough values"),  # of its own conclusion
        ("conclude", 'raise ValueError("mine")', "ValueError: mine"),
        ("conclude", "return 5", "conclude returned a int, not a Result"),
        ("conclude", "yield", "conclude returned a generator, not a Result"),
        ("conclude", "{}['x']", "KeyError: 'x'"),
    ],
)
@pytest.mark.long
def test_a_method_that_fails_is_its_packages_fault(
    site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], part: str, fault: str, said: str
) -> None:
    """Never an internal error of ssdlab: status 3, the package, and the line in its file."""
    text = whole_method()
    broken, changed = re.subn(rf"^def {part}\(.*\n", rf"\g<0>    {fault}\n", text, flags=re.MULTILINE)
    assert changed == 1
    name = f"of_{tmp_path.name}"
    install(site, "after-writes", {"after-writes": f"{name}:METHOD"}, **{name: broken})
    assert main(["run", "after-writes", "sim:tiny-test", "--quick", "--library", str(tmp_path / "runs")]) == 3
    error = capsys.readouterr().err
    where = rf"{re.escape(str(site))}/{name}\.py:\d+: {re.escape(said)}"
    assert re.search(f"ssdlab: method after-writes of package after-writes 0.1 failed at {where}", error)
    (folder,) = (tmp_path / "runs").glob("2*") if part == "conclude" or fault == "return" else [None]
    if folder is not None:
        manifest = json.loads((folder / "manifest.json").read_text())
        assert (
            manifest["status"] == "interrupted"
            and "after-writes 0.1 failed at" in manifest["failure"]["what"]
        )


def test_what_ssdlab_raises_beneath_a_method_stays_its_own_fault(site: Path) -> None:
    install(site, "after-writes", {"after-writes": "of_ours:METHOD"}, of_ours=whole_method())
    method = find_method("after-writes")
    unmade = Lab.__new__(Lab)
    with pytest.raises(AttributeError):  # in lab.py, which the method called
        method.procedure(unmade, method.params.build({}))
