"""A folder is all that a method of our own needs, and it works as a package of its own as well."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from methods.foreign import fenced, install

FILES = {
    "__init__": """\
from __future__ import annotations

from typing import Any

from ssdlab.plugin import Declared, ResultKind

READ_TWICE: ResultKind[Any] = ResultKind(
    "read-twice",
    f"{__name__}.result:ReadTwiceResult",
    section=f"{__name__}.page:section",
    findings=f"{__name__}.result:findings",
    tables=f"{__name__}.result:tables",
)
DECLARED = (Declared("read-twice", "procedure", False, "Whether reads are as fast again.", ("read_twice",)),)
KINDS = (READ_TWICE,)
ORDER = 99
""",
    "result": """\
from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from ssdlab.plugin import Amount, Claim, Evidence, ResultBase, Table, cells


class ReadTwiceResult(ResultBase):
    kind: Literal["read-twice"] = "read-twice"
    iops: tuple[float, ...]
    ordinals: tuple[int, ...]


def findings(result: ReadTwiceResult) -> Iterator[Claim]:
    first, second = result.iops
    others = {"first": Amount(first, "IOPS")}
    shown = Evidence(result.ordinals)
    yield Claim("{first} first, {figure} again", figure=Amount(second, "IOPS"), evidence=shown, others=others)


def tables(result: ReadTwiceResult) -> tuple[Table, ...]:
    rows = tuple((cells.count(at), cells.iops(each)) for at, each in enumerate(result.iops, 1))
    return (Table("Reads", ("Time", "IOPS"), rows),)
""",
    "procedure": '''\
"""Whether reads are as fast again.

Question
    Whether the second reading of a span is as fast as the first.
"""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

from ssdlab.plugin import Method, Metric, Params, RunData, Seconds, closed_loop, param

from . import READ_TWICE
from .result import ReadTwiceResult

if TYPE_CHECKING:
    from ssdlab.plugin import Lab


class ReadTwiceParams(Params):
    seconds: Seconds = param(1.0, "of each", unit="s", quick=0.2, gt=0)


def procedure(lab: Lab, p: ReadTwiceParams) -> None:
    for label in ("first", "again"):
        load = closed_loop("random", "read", block_bytes=4096, in_flight=1, seconds=p.seconds)
        step = lab.run(load, label=label)
        if step.summary is not None and os.environ.get("DIES") == label:  # a plan measures nothing
            os.kill(os.getpid(), signal.SIGKILL)


def conclude(data: RunData, p: ReadTwiceParams) -> ReadTwiceResult:
    iops = tuple(float(each.measured.iops) for each in data.steps)
    steps = tuple(each.ordinal for each in data.steps)
    ratio = Metric.more("read_twice", "again / first", iops[1] / iops[0], "x", steps=steps)
    return ReadTwiceResult(quick=data.quick, iops=iops, ordinals=steps, scalars=(ratio,))


METHOD = Method(
    name="read-twice",
    version=1,
    title="Read twice",
    params=ReadTwiceParams,
    procedure=procedure,
    conclude=conclude,
    result=READ_TWICE,
    reads_unwritten=True,
)
''',
    "page": """\
from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.plugin import Axis, Dot, Figure, Line, Section, XyChart, XyView, leads, together, with_result

from . import result as own

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.plugin import Shown


def section(runs: Sequence[Shown]) -> Section:
    kept = with_result(runs, own.ReadTwiceResult)
    lines = tuple(
        Line(shown.index, "reads", False, tuple(Dot(float(at), each) for at, each in enumerate(result.iops)))
        for shown, result in kept
    )
    view = XyView("Reads", Axis("time", "count"), Axis("IOPS", "iops"), lines)
    figure = Figure(
        id="read-twice-chart",
        title="Reads, twice",
        lead="Both in their order.",
        described="Both in their order.",
        chart=XyChart((view,)),
        tables=(together(kept, lambda result: own.tables(result)[0]),),
        measured=("One thread.",),
    )
    return Section(
        id="read-twice",
        title="Read twice",
        lead=leads(kept, own.findings),
        runs=tuple(shown.index for shown, _ in kept),
        figures=(figure,),
    )
""",
}
AS_OURS = """
import sys
import ssdlab.methods
ssdlab.methods.__path__.append(sys.argv.pop(1))
from ssdlab.cli import main
raise SystemExit(main(sys.argv[1:]))
"""


def laid_out(folder: Path, **files: str) -> Path:
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def called(
    words: list[str], site: Path, *, ours: bool, check: bool = True, **more: str
) -> subprocess.CompletedProcess[str]:
    """A command of ssdlab, with the folder among its own methods or with the package beside it."""
    start = ["-c", AS_OURS, str(site)] if ours else ["-m", "ssdlab"]
    environment = {**os.environ, "PYTHONPATH": "" if ours else str(site), **more}
    return subprocess.run(
        [sys.executable, *start, *words], env=environment, capture_output=True, text=True, check=check
    )


@pytest.mark.long
@pytest.mark.parametrize("ours", [True, False])
def test_a_folder_is_a_method_among_ours_and_in_a_package(tmp_path: Path, ours: bool) -> None:
    site, library = tmp_path / "site", str(tmp_path / "library")
    laid_out(site / "read_twice", **FILES)
    if not ours:
        install(site, "twice", {"read-twice": "read_twice.procedure:METHOD"})
    drive = ["read-twice", "sim:tiny-test,scale=4", "--quick"]

    def told(*words: str, **more: str) -> str:
        return called(list(words), site, ours=ours, **more).stdout

    assert "Whether reads are as fast again." in told("methods")
    assert "again" in told("plan", *drive)
    killed = called(["run", *drive, "--library", library], site, ours=ours, check=False, DIES="first")
    assert killed.returncode != 0
    (run,) = Path(library).glob("*read-twice*")
    told("resume", str(run))
    shown = json.loads(told("show", str(run), "--json"))
    (figure,) = shown["result"]["scalars"]
    assert figure["name"] == "read_twice" and figure["steps"] == [0, 1]
    assert " again" in told("show", str(run), "--all")
    page = tmp_path / "page.html"
    told("report", str(run), "-o", str(page))
    assert "eads, twice" in page.read_text() and "read-twice-chart" in page.read_text()
    assert "read_twice" in told("rank", "read_twice", "--library", library)


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        ({"__init__": "raise RuntimeError('no such thing')\n"}, "RuntimeError: no such thing"),
        ({"__init__": "DECLARED = (\n"}, "SyntaxError"),
        ({"__init__": "KINDS = ()\n"}, "AttributeError"),
    ],
)
def test_a_folder_that_cannot_be_read_is_named_and_the_others_work(
    tmp_path: Path, broken: dict[str, str], why: str
) -> None:
    laid_out(tmp_path / "site" / "read_twice", **{**FILES, **broken})
    listed = called(["methods"], tmp_path / "site", ours=True)
    assert "peak-random-read" in listed.stdout
    assert "read-twice" in listed.stderr and why in listed.stderr
    asked = called(["plan", "read-twice", "sim:tiny-test"], tmp_path / "site", ours=True, check=False)
    assert asked.returncode == 2 and why in asked.stderr and "Traceback" not in asked.stderr
    assert called(["plan", "qd1", "sim:tiny-test"], tmp_path / "site", ours=True).returncode == 0


def test_a_method_that_cannot_be_imported_is_named_and_the_others_work(tmp_path: Path) -> None:
    laid_out(tmp_path / "site" / "read_twice", **{**FILES, "procedure": "import nowhere_at_all\n"})
    asked = called(["plan", "read-twice", "sim:tiny-test"], tmp_path / "site", ours=True, check=False)
    assert asked.returncode == 2 and "nowhere_at_all" in asked.stderr
    told = json.loads(called(["methods", "--json"], tmp_path / "site", ours=True).stdout)
    assert [each["name"] for each in told["broken"]] == ["read-twice"]
    assert "qd1" in [each["name"] for each in told["methods"]]


def test_a_declaration_that_its_method_contradicts_is_named(tmp_path: Path) -> None:
    writes = FILES["__init__"].replace('"procedure", False', '"procedure", True')
    laid_out(tmp_path / "site" / "read_twice", **{**FILES, "__init__": writes})
    asked = called(["plan", "read-twice", "sim:tiny-test"], tmp_path / "site", ours=True, check=False)
    assert asked.returncode == 2 and "declares that it writes" in asked.stderr


@pytest.mark.parametrize("part", ["findings", "tables", "section"])
def test_a_method_of_ours_that_fails_is_named_with_its_line(tmp_path: Path, part: str) -> None:
    site, library = tmp_path / "site", str(tmp_path / "library")
    folder = laid_out(site / "read_twice", **FILES)
    run = ["run", "read-twice", "sim:tiny-test,scale=4", "--quick", "--library", library]
    called(run, site, ours=True)
    file = folder / ("page.py" if part == "section" else "result.py")
    lines = file.read_text().splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith(f"def {part}("))
    lines.insert(at + 1, "    raise ZeroDivisionError('as planted')")
    file.write_text("\n".join(lines))
    words = ["show", "--all"] if part != "section" else ["report", "-o", str(tmp_path / "page.html")]
    (folder_of_run,) = Path(library).glob("*read-twice*")
    asked = called([*words, str(folder_of_run)], site, ours=True, check=False)
    assert asked.returncode == 70 and "as planted" in asked.stderr
    assert f"{file.name}:{at + 2}" in asked.stderr.replace("\n", "").replace(" ", "")


def test_the_declaration_of_the_document_is_one(tmp_path: Path) -> None:
    code = fenced("py", "A method inside the repository")
    names: dict[str, Any] = {"__name__": "ssdlab.methods.after_writes"}
    exec(code, names)
    (declared,) = names["DECLARED"]
    assert (declared.name, declared.place, declared.writes) == ("after-writes", "procedure", True)
    assert names["KINDS"][0].model == "ssdlab.methods.after_writes.result:AfterWritesResult"
