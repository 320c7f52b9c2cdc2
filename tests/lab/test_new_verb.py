"""A verb that ssdlab does not have, in one class: planned, dry-run, journalled, resumed."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from lab.fake_drive import FakeDrive, resume_on, run_on
from methods.foreign import fenced
from ssdlab import plugin
from ssdlab.cli import plan
from ssdlab.drives import open_drive
from ssdlab.lab.lab import Lab
from ssdlab.lab.method import Method, Params, RunData
from ssdlab.lab.parts.workloads import closed_loop
from ssdlab.lab.verbs import verb as verbs
from ssdlab.lab.verbs.verb import Bounds, Facts, Planned, Planning, Verb
from ssdlab.model.errors import Interrupted, Refused
from ssdlab.results.records import StepResult
from ssdlab.results.run_folder import RunFolder, Step
from ssdlab.results.schema import JobResult
from ssdlab.runs.order import Order, plan_on, plan_order

if TYPE_CHECKING:
    from ssdlab.lab.verbs.verb import StepContext

PAUSE_MAX_S = 3600.0


class PauseFacts(Facts):
    """How warm the drive was, and how often that was read."""

    celsius: float
    readings: int


class PauseForTemperature(Verb):
    """Leaves the drive alone until it has cooled down."""

    verb: ClassVar[str] = "pause-for-temperature"

    below_celsius: float
    every_s: float = 0.01

    def plan(self, planning: Planning) -> Planned:
        return Planned(Bounds(0.0, PAUSE_MAX_S))

    def effects(self) -> tuple[str, ...]:
        return (f"reads the drive's temperature until it is below {self.below_celsius:g} C",)

    def do(self, at: StepContext) -> StepResult:
        found = [self._celsius(at)]
        while found[-1] >= self.below_celsius:
            at.drive.idle(self.every_s, on_look=at.look)
            found.append(self._celsius(at))
        return StepResult(seconds=0.0, facts={"celsius": found[-1], "readings": len(found)})

    def _celsius(self, at: StepContext) -> float:
        return PauseFacts.model_validate({**at.drive.health(), "readings": 0}).celsius

    @classmethod
    def describe(cls, step: Step) -> str:
        return f"cooled down to {step.found(PauseFacts).celsius:g} C"


class NoParams(Params):
    """None."""


class Warm(FakeDrive):
    """A drive that cools down by 5 degrees with each reading."""

    celsius = 50.0

    def health(self) -> dict[str, Any]:
        self.celsius -= 5
        return {"celsius": self.celsius}


def procedure(lab: Lab, p: NoParams) -> None:
    lab.do(PauseForTemperature(below_celsius=40), label="cool down")
    lab.run(closed_loop("random", "read", block_bytes=4096, in_flight=1, seconds=1), label="read")


def conclude(data: RunData, p: NoParams) -> JobResult:
    assert data.steps[0].found(PauseFacts).celsius < 40
    return JobResult(quick=False, points=())


METHOD = Method("cool", 1, "Cool", NoParams, procedure, conclude)


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one registration."""
    monkeypatch.setitem(verbs.VERBS, "pause-for-temperature", f"{__name__}:PauseForTemperature")
    monkeypatch.setattr("ssdlab.runs.resume_checks.find_method", lambda name: METHOD)


def test_it_is_planned() -> None:
    first, _ = plan_on(METHOD, NoParams(), Warm()).steps
    assert first.verb == "pause-for-temperature" and first.seconds == Bounds(0.0, PAUSE_MAX_S)


def test_a_dry_run_says_what_reaches_the_drive(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    order = Order(METHOD, NoParams(), str(tmp_path / "new.img"), size_bytes=8 << 20)
    plan.dry_run(order, json=False)
    assert "   1 reads the drive's temperature until it is below 40 C\n" in capsys.readouterr().out
    plan.dry_run(order, json=True)
    shown = json.loads(capsys.readouterr().out)["steps"][0]
    assert (shown["verb"], shown["label"]) == ("pause-for-temperature", "cool down")
    assert plan_order(order).steps[0].hash


def test_it_is_done_journalled_and_described(known: None, tmp_path: Path) -> None:
    drive = Warm()
    run = RunFolder(run_on(drive, METHOD, NoParams(), tmp_path / "library"))
    paused = run.steps()[0]
    assert paused.args == {"below_celsius": 40.0, "every_s": 0.01}
    assert paused.asked(PauseForTemperature).below_celsius == 40
    assert paused.result.facts == {"celsius": 35.0, "readings": 3}
    assert [name for name, _ in drive.done] == ["idle", "idle", "run"]
    assert verbs.describe_step(paused) == "cooled down to 35 C"


def test_it_is_read_back_and_not_done_twice(known: None, tmp_path: Path) -> None:
    def stop(count: int) -> None:
        raise Interrupted("stopped by a signal", "resume")

    with pytest.raises(Interrupted):
        run_on(Warm(before_run=stop), METHOD, NoParams(), tmp_path / "library")
    (folder,) = (tmp_path / "library").glob("2*")
    again = Warm()
    steps = RunFolder(resume_on(again, folder)).steps()
    assert again.celsius == 50, "the pause was made again"
    assert steps[0].result.facts["readings"] == 3 and [step.attempt for step in steps] == [1, 2]


def test_with_other_arguments_it_is_another_step(known: None, tmp_path: Path, monkeypatch: Any) -> None:
    def stop(count: int) -> None:
        raise Interrupted("stopped by a signal", "resume")

    with pytest.raises(Interrupted):
        run_on(Warm(before_run=stop), METHOD, NoParams(), tmp_path / "library")
    (folder,) = (tmp_path / "library").glob("2*")

    def warmer(lab: Lab, p: NoParams) -> None:
        lab.do(PauseForTemperature(below_celsius=45), label="cool down")

    other = Method("cool", 1, "Cool", NoParams, warmer, conclude)
    monkeypatch.setattr("ssdlab.runs.resume_checks.find_method", lambda name: other)
    with pytest.raises(Refused, match="with other arguments"):
        resume_on(Warm(), folder)


def test_a_verb_that_nobody_knows_is_read_without_it(tmp_path: Path) -> None:
    run = RunFolder(run_on(Warm(), METHOD, NoParams(), tmp_path / "library"))
    assert run.steps()[0].args["below_celsius"] == 40
    assert verbs.describe_step(run.steps()[0]) is None


def test_the_verb_of_the_document_works() -> None:
    code = fenced("py", "A verb of its own")
    names: dict[str, Any] = {name: getattr(plugin, name) for name in plugin.__all__} | {"ClassVar": ClassVar}
    exec(code, names)
    settle = names["Settle"](every_s=1)
    assert settle.stored() == {"every_s": 1.0} and settle.effects() and settle.plan(Planning()).seconds.upper
    with open_drive("sim:tiny-test", writing=True) as drive:
        result = settle.do(SimpleNamespace(drive=drive, look=lambda: None))
    assert result.facts == {"waits": 1, "erases": 0}


def test_every_verb_of_ours_is_in_the_table_once() -> None:
    ours = {
        f"ssdlab.lab.verbs.{path.stem}:{node.name}"
        for path in Path(verbs.__file__).parent.glob("*.py")
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.ClassDef)
        and any(
            ast.unparse(each).startswith("verb:") and each.value
            for each in node.body
            if isinstance(each, ast.AnnAssign)
        )
    }
    assert sorted(ours) == sorted(verbs.VERBS.values())
    for name in verbs.VERBS:
        kind = verbs.verb_named(name)
        assert kind is not None and kind.verb == name
