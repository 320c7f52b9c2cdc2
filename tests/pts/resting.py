"""A simulated drive that is taken for a real one: nobody keeps its state while its run is interrupted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from ssdlab.drives.simulated.drive import SimulatedDrive
from ssdlab.drives.simulated.text import SimulatedText
from ssdlab.lab.found import find_method
from ssdlab.model.capabilities import Capabilities
from ssdlab.model.errors import Interrupted
from ssdlab.runs.order import Order
from ssdlab.runs.session import RunEnvironment, resume, start

TEXT = "sim:tiny-test,scale=4"
BRIEF = {"seconds": "0.02", "overwrites": "0.05"}
"""Of the parameters of tests of rounds: what matters here is their order, and not their figures."""


class RestingDrive(SimulatedDrive):
    """It outlives the sessions of a run, as a real drive does; `before_run` may stop one."""

    def __init__(self, before_run: Callable[[], None] = lambda: None) -> None:
        self.before_run: Callable[[], None] = lambda: None
        super().__init__(SimulatedText.parse(TEXT), writing=True, allow_unwritten=True)
        self.before_run = before_run

    @property
    def state(self) -> None:  # type: ignore[override]
        return None

    @property
    def capabilities(self) -> Capabilities:
        return replace(super().capabilities, forks=False)

    def run(self, workload: Any, **options: Any) -> Any:
        self.before_run()
        return super().run(workload, **options)

    def close(self) -> None:
        """Stay: the next session finds it as this one left it."""


class StopAt:
    """Ends a session at each of these runs of the drive, counted over all sessions from 1."""

    def __init__(self, *runs: int) -> None:
        self.left, self.done = list(runs), 0

    def __call__(self) -> None:
        self.done += 1
        if self.left and self.done == self.left[0]:
            self.left.pop(0)
            raise Interrupted("stopped by a test", "go on")


def interrupted_run(library: Path, name: str, stops: StopAt, **settings: str) -> Path:
    """Run a method, and resume it as often as it is stopped; return the run folder."""
    drive = RestingDrive(stops)
    environment = RunEnvironment(lambda text, **opened: drive)
    method = find_method(name)
    params = method.params.build(settings)
    try:
        return start(Order(method, params, TEXT, destroy=TEXT, seed=3), library, environment=environment)
    except Interrupted as error:
        folder = Path(str(error.facts["folder"]))
    while True:
        try:
            return resume(folder, environment=environment)
        except Interrupted:
            continue
