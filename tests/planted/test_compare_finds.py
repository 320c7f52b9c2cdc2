"""The script that holds two versions against each other finds planted changes, in whole trees."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
MADE = ["hot-reads", "few-samples"]
SEEN = ["qd1", "hot-reads", "base", "new", "fleet-inventory", "fleet-plan", "fleet-run"]
"""Scenes of the library that is made by the changed tree, and of the one that is only read by it."""
OTHERS = "show nonesuch\nmethods nonesuch\nmeasure sim:tiny-test --rw sideways"


class Planted(NamedTuple):
    """A change: in which file, what becomes what, and a part of a place where it must be found."""

    path: str
    old: str
    new: str
    found: str


SWEEP, ERRORS, SHOWING = "methods/sweeps/depth_sweep.py", "model/errors.py", "cli/showing.py"
CHART = "page.data.page-data.charts.peak-random-read-throughput"
RESULTS = {
    "unit": Planted(SWEEP, 'chosen.mb_s, "MB/s"', 'chosen.mb_s, "GB/s"', "[peak_random_read_mb_s].unit"),
    "value": Planted(SWEEP, '(("mean", "mean', '(("min", "mean', ".scalars"),
    "chosen": Planted("analysis/saturation.py", "SHARE_OF_BEST = 0.95", "SHARE_OF_BEST = 0.3", ".chosen"),
    "name": Planted(SWEEP, '{name}_depth"', '{name}_at"', "[peak_random_read_at]"),
    "label": Planted(SWEEP, '"throughput", chosen', '"rate", chosen', "scalars[].label"),
    "state": Planted("results/evidence.py", 'code="throttled"', 'code="paused"', "].qualifiers[order]"),
    "warning": Planted("model/warnings.py", '.of("few-samples"', '.of("undone"', "warnings["),
}
"""Of what a run concludes."""
SHOWN = {
    "order": Planted("library/ranking.py", '"DESC" if', '"ASC" if', ".lines[order]"),
    "place": Planted("analysis/places.py", "return value == best or", "return False and", ".place"),
    "unlike": Planted("results/kin.py", '"quick", "engine", "drive_kind"', '"engine", "drive_kind"', "json"),
    "shift": Planted(
        "analysis/shift.py", "float(np.median(differences))", "float(np.max(differences))", "compare base new"
    ),
    "key": Planted(SHOWING, '"qualifiers": ', '"matter": ', "json.matter"),
    "more": Planted(SHOWING, '"qualifiers": ', '"more": 1, "qualifiers": ', "json.more"),
    "claim": Planted("report/claims.py", '"at least": value >=', '"at least": value <', "claims["),
    "axis": Planted("methods/sweeps/page.py", '"count", "log", ticks', '"count", "linear", ticks', CHART),
    "lead": Planted("methods/sweeps/page.py", "Ring: reported depth. ", "Ring: that depth. ", ".texts"),
    "top": Planted("report/sections/verdict.py", "leads in", "is best in", ".texts"),
    "sections": Planted("lab/kinds.py", "*(QD1, PEAK,", "*(PEAK, QD1,", ".page."),
    "usage": Planted(
        ERRORS, 'kind = "usage"\n    exit_status = 2', 'kind = "usage"\n    exit_status = 4', ".status"
    ),
    "verdict": Planted(
        "cli/report.py", 'int(any(each.mark == "false"', '5 * int(any(each.mark == "false"', "report "
    ),
}
"""Of what is shown of the same runs."""


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("compare_results", ROOT / "scripts" / "compare_results.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


class Trees:
    """This tree's libraries, what it shows of them, and what a changed copy of it shows."""

    def __init__(self, script: ModuleType, folder: Path) -> None:
        self.script, self.folder = script, folder
        self.shown: dict[str, tuple[Any, Any]] = {}
        for name, scenes in (("made", MADE), ("seen", SEEN)):
            once, again = (self.checkout(ROOT, f"{name}-{time}") for time in ("once", "again"))
            for each in (once, again):
                if each is once or name == "made":
                    each.make("fresh", scenes)
                else:
                    shutil.copytree(once.home / "fresh", each.home / "fresh")
            shutil.copytree(once.home / "fresh", folder / name)
            self.shown[name] = (self.show(once), self.show(again))

    def checkout(self, root: Path, name: str) -> Any:
        home = self.folder / "homes" / name
        home.mkdir(parents=True)
        return self.script.Checkout(root, home)

    def show(self, checkout: Any) -> Any:
        return self.script.shown(checkout, "fresh", OTHERS)

    def changed(self, name: str, change: Planted | None, library: str) -> Any:
        """Return the differences of a copy with this change."""
        root = self.folder / "trees" / name
        root.mkdir(parents=True)
        for each in (".venv", "scripts", "docs"):
            (root / each).symlink_to(ROOT / each)
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "python", root / "python", ignore=ignored)
        if change is not None:
            path = root / "python" / "ssdlab" / change.path
            text = path.read_text()
            assert change.old in text, f"{change.path} has no {change.old!r} any more: plant another change"
            path.write_text(text.replace(change.old, change.new))
        checkout = self.checkout(root, name)
        if library == "made":
            checkout.make("fresh", MADE)
        else:
            shutil.copytree(self.folder / library, checkout.home / "fresh")
        differences = self.script.Differences()
        self.script.compare(*self.shown[library], self.show(checkout), differences)
        shutil.rmtree(root)
        return differences


@pytest.fixture(scope="module")
def trees(script: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Trees:
    return Trees(script, tmp_path_factory.mktemp("trees"))


@pytest.mark.parametrize("library", ["made", "seen"])
def test_nothing_is_found_between_equal_trees(trees: Trees, library: str) -> None:
    found = trees.changed(f"equal-{library}", None, library)
    assert found.compared > 2000
    assert found.wrong == [] and not found.sentences


@pytest.mark.parametrize(
    ("name", "library"), [*((name, "made") for name in RESULTS), *((name, "seen") for name in SHOWN)]
)
def test_a_planted_change_is_found(trees: Trees, name: str, library: str) -> None:
    change = {**RESULTS, **SHOWN}[name]
    found = trees.changed(name, change, library)
    places = [*(place for _, place, _ in found.wrong), *(place for _, _, place in found.sentences)]
    assert any(change.found in place for place in places), places[:20]
