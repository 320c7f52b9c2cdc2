"""What a page does once and not again, and that it loads no more than it shows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from report.test_drawn import BARE, lines, run_style
from ssdlab.host.held_folder import HeldFolder
from ssdlab.model.errors import HostError
from ssdlab.report import drawing, page, source, templating
from ssdlab.report.engine import Engine, _made, engine, ready
from ssdlab.report.pictures import Painter
from ssdlab.results import tables
from ssdlab.results.run_folder import RunFolder

STILL = "data:image/svg+xml;charset=utf-8,<svg"
COLUMNS = {"row": "INTEGER", "value": "BIGINT"}
MOST_MODULES = 137
"""Of ssdlab, before pictures are asked for: each takes half a millisecond."""
PAGE = """
import sys
from pathlib import Path
from ssdlab.report import page, source
page.write([source.read(Path(sys.argv[1]))], Path(sys.argv[2]))
print("\\n".join(sys.modules))
"""
CONFINED = f"import resource; resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))\n{PAGE}"
READ = f"""
import sys
from pathlib import Path
from ssdlab.host.held_folder import HeldFolder
from ssdlab.results import tables
with HeldFolder(Path(sys.argv[1])) as held:
    print(len(tables.read(held, "table.parquet", {COLUMNS!r})["value"]))
print("numpy.ma" in sys.modules)
"""
COLLECTED = """
import gc, sys
import ssdlab.cli
collected = []
gc.callbacks.append(lambda phase, info: collected.append(info))
status = ssdlab.cli.main(["report", sys.argv[1], "-o", sys.argv[2]])
gc.callbacks.clear()
assert not status
print(len(collected))
"""


ASKED = """
import json, os, sys
from ssdlab.report.engine import Engine
def draw(engine, asked, title):
    print(json.dumps([*sys.modules]))
    Engine.draw = kept
    return engine.draw(asked, title)
kept, Engine.draw = Engine.draw, draw
import ssdlab.cli
assert "numpy" not in sys.modules
assert not ssdlab.cli.main(["report", sys.argv[1], "-o", sys.argv[2]])
print(json.dumps([*sys.modules]))
print(os.environ["OPENBLAS_NUM_THREADS"])
"""


@pytest.mark.long
def test_pictures_are_asked_for_before_what_is_loaded_to_put_the_page_together(
    make_run: Callable[..., Path], tmp_path: Path
) -> None:
    called = [sys.executable, "-c", ASKED, str(make_run()), str(tmp_path / "page.html")]
    done = subprocess.run(called, capture_output=True, text=True, check=True)
    asking, ended = (set(json.loads(line)) for line in done.stdout.splitlines() if line.startswith("["))
    assert {"ssdlab.report.outline", "jinja2"} <= ended - asking
    assert not ended & {
        "duckdb",  # the Python around its native module
        "numpy.ma",
        "ssdlab.drives.base",
        "ssdlab.report.claims",
        "ssdlab.report.overview",
        "ssdlab.report.paper",
        "ssdlab.results.compaction",
    }
    own = [name for name in asking if name.partition(".")[0] == "ssdlab"]
    assert len(own) <= MOST_MODULES, sorted(own)


@pytest.mark.parametrize(("given", "found"), [(None, "1"), ("3", "3")])
@pytest.mark.long
def test_linear_algebra_has_one_thread_unless_the_user_says_otherwise(
    given: str | None, found: str, make_run: Callable[..., Path], tmp_path: Path
) -> None:
    kept = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    called = [sys.executable, "-c", ASKED, str(make_run()), str(tmp_path / "page.html")]
    own = kept if given is None else kept | {"OPENBLAS_NUM_THREADS": given}
    done = subprocess.run(called, capture_output=True, text=True, check=True, env=own)
    assert done.stdout.splitlines()[-1] == found


def test_a_page_loads_no_kind_of_result_that_it_has_not(
    make_run: Callable[..., Path], tmp_path: Path
) -> None:
    called = [sys.executable, "-c", PAGE, str(make_run()), str(tmp_path / "page.html")]
    done = subprocess.run(called, capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    folders = {name for name in loaded if name.startswith("ssdlab.methods.") and name.count(".") > 2}
    assert len({name.split(".")[2] for name in folders}) <= 1
    assert not done.stderr  # the engine's threads ended before Python did


@pytest.mark.long
def test_where_addresses_are_few_a_page_has_no_pictures_and_is_written(
    make_run: Callable[..., Path], tmp_path: Path
) -> None:
    run, pages = str(make_run()), {}
    for name, code in (("page", PAGE), ("confined", CONFINED)):
        page = tmp_path / name
        subprocess.run([sys.executable, "-c", code, run, str(page)], check=True, capture_output=True)
        pages[name] = page.read_text().count(STILL)
    assert pages["page"] > pages["confined"] == 0


def test_nothing_is_searched_for_garbage_while_a_page_is_made(
    make_run: Callable[..., Path], tmp_path: Path
) -> None:
    called = [sys.executable, "-c", COLLECTED, str(make_run()), str(tmp_path / "page.html")]
    done = subprocess.run(called, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "0"


def test_what_a_step_measured_is_read_back_once(make_run: Callable[..., Path]) -> None:
    step = next(each for each in RunFolder(make_run()).steps() if each.result.measurement is not None)
    assert step.measured is step.measured


def test_engines_are_shared_and_draw_what_they_drew_before() -> None:
    first, second = Painter([run_style()]), Painter([run_style()])
    before = first.svg(lines(1, 3), BARE)
    first.svg(lines(1, 8), BARE)
    assert second.svg(lines(1, 3), BARE) == before
    assert engine() is engine()


def test_charts_that_drew_samples_draw_what_they_drew_before(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    keeping = SimpleNamespace(draw=lambda picture, _: asked.append(picture))
    monkeypatch.setattr("ssdlab.report.pictures.engine", lambda: keeping)
    Painter([run_style()]).begun(lines(1, 3), BARE)
    context = drawing._loaded(str(Path(drawing.__file__).with_name("static") / "pictures.js"))
    before = context.call("drawPicture", asked[0])
    drawn = [bool(context.call("drawSample", at)) for at in range(6)]
    assert drawn == [True] * 4 + [False] * 2  # the last of five, and one that there is not
    assert context.call("drawPicture", asked[0]) == before
    context.close()


@pytest.mark.parametrize(("asked", "samples"), [(b"", 3), (b"1\n{", 0)])
def test_samples_are_drawn_as_long_as_no_picture_is_asked_for(asked: bytes, samples: int) -> None:
    drawn: list[int] = []
    context = SimpleNamespace(call=lambda _, at: drawn.append(at) or at < 2)
    to_read, to_write = os.pipe()
    with os.fdopen(to_read, "rb") as reading, os.fdopen(to_write, "wb", buffering=0) as writing:
        writing.write(asked)
        drawing._warm(context, reading)
    assert drawn == list(range(samples))


def test_what_draws_outlives_ctrl_c_and_its_death_is_told(
    make_run: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    own = Engine()
    monkeypatch.setattr("ssdlab.report.pictures.engine", lambda: own)
    assert os.getpgid(own._process.pid) != os.getpgrp(), "Ctrl-C is not for it"
    painter = Painter([run_style()])
    before = painter.svg(lines(1, 3), BARE)
    with pytest.raises(RuntimeError, match="JSON"):
        own.draw("no JSON").result()
    assert painter.svg(lines(1, 3), BARE) == before, "a fault of one picture is none of the next"
    own._process.kill()
    with pytest.raises(HostError, match="the chart renderer ended"):
        painter.svg(lines(1, 3), BARE)
    assert own.ended
    assert STILL not in page.render([source.read_run(make_run())]), "a page has its tables still"
    own.close()


def test_who_has_lost_its_engine_gets_another() -> None:
    first = engine()
    before = Painter([run_style()]).svg(lines(1, 3), BARE)
    first._process.kill()
    first._process.wait()
    assert engine() is not first
    assert Painter([run_style()]).svg(lines(1, 3), BARE) == before


@pytest.mark.long
def test_nobody_waits_for_pictures_once_a_command_ends() -> None:
    """Ctrl-C: a command that asked for sixty pictures ends without most of them."""
    code = """
import atexit, sys
sys.path.insert(0, sys.argv[1])
from report.test_drawn import BARE, lines, run_style
from ssdlab.report.pictures import Painter
begun = []
# Registered before the engine is made, and so called after it was closed.
atexit.register(lambda: print(sum(each.done() and each.exception() is None for each in begun)))
painter = Painter([run_style()])
begun += [painter.begun(lines(8, 64), BARE) for _ in range(60)]
begun[0].result()
raise KeyboardInterrupt
"""
    called = [sys.executable, "-c", code, str(Path(__file__).parents[1])]
    ended = subprocess.run(called, capture_output=True, text=True, timeout=100, check=False)
    assert ended.stderr.splitlines()[-1] == "KeyboardInterrupt"
    assert 1 <= int(ended.stdout) < 60, "what was asked for by then is not drawn to its end"


@pytest.mark.parametrize("program", ["", "/nowhere/python"])
def test_where_no_process_can_be_begun_a_page_has_no_pictures(
    program: str, make_run: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    _made.cache_clear()
    monkeypatch.setattr(sys, "executable", program)
    ready()
    assert STILL not in page.render([source.read_run(make_run())])
    _made.cache_clear()


def write_table(folder: Path) -> None:
    with HeldFolder(folder, writing=True) as held:
        rows = {"row": np.arange(3), "value": np.full(3, ord(folder.name[0]))}
        tables.write(held, "table.parquet", rows, COLUMNS, "row")


def test_a_table_without_nulls_is_read_without_masks(tmp_path: Path) -> None:
    write_table(tmp_path)
    called = [sys.executable, "-c", READ, str(tmp_path)]
    assert subprocess.run(called, capture_output=True, text=True, check=True).stdout.split() == ["3", "False"]


def test_tables_of_one_name_are_read_anew(tmp_path: Path) -> None:
    for folder in (tmp_path / "a", tmp_path / "b"):
        folder.mkdir()
        write_table(folder)
    found = []
    for name in "aba":
        with HeldFolder(tmp_path / name) as held:
            found.append(tables.read(held, "table.parquet", COLUMNS)["value"].tolist())
    assert found == [[ord(name)] * 3 for name in "aba"]


def test_what_tables_are_read_through_is_made_once() -> None:
    tables.ready()
    made = tables._reading()
    tables.ready()
    assert tables._reading() is made


@pytest.fixture
def templates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(templating, "FOLDER", tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    (tmp_path / "page.html.j2").write_text("one {{ word }}")
    return tmp_path


def test_templates_are_compiled_once_and_again_when_they_change(
    templates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert templating.template().render(word="<") == "one &lt;"
    kept = list((templates / "__pycache__").iterdir())
    assert len(kept) == 1
    with monkeypatch.context() as patched:
        patched.setattr("jinja2.Environment.compile", lambda *_, **__: pytest.fail("compiled again"))
        assert templating.template().render(word="two") == "one two"
    (templates / "page.html.j2").write_text("another {{ word }}")
    assert templating.template().render(word="two") == "another two"


def test_all_templates_are_compiled_before_a_page_needs_them(templates: Path) -> None:
    (templates / "parts.html.j2").write_text("two")
    (templates / "README").write_text("no template")
    templating.compile_all()
    assert len(list((templates / "__pycache__").iterdir())) == 2


def test_templates_are_kept_only_where_python_keeps_its_own(
    templates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (templates / "__pycache__").write_text("no folder")
    assert templating.template().render(word="two") == "one two"
    (templates / "__pycache__").unlink()
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert templating.template().render(word="two") == "one two"
    assert not (templates / "__pycache__").exists()
