"""A node of Slurm that does not see the library: its job cannot say so, and status does."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import need_root
from fleet.slurm_cluster import Cluster

pytestmark = pytest.mark.machine
SELECTION = '[[drives]]\nmodel = "tiny-test"\n[[work]]\nrun = "peak-random-read"\nquick = true\n'


class Apart(Cluster):
    """Its node n2 has an empty folder where the others have the library."""

    library: Path

    def start_node(self, node: str) -> None:
        words = ("slurmd", "-D", "-N", node, "-f", str(self.folder / "slurm.conf"))
        if node == "n2":
            hidden = f'mount -t tmpfs none "{self.library}" && exec "$@"'
            words = ("unshare", "--mount", "--propagation", "private", "sh", "-c", hidden, "sh", *words)
        self._start(node, *words)


def test_a_node_that_does_not_see_the_library_is_named(
    make_slurm: Callable[..., Any],
    make_plan: Callable[..., Path],
    ssdlab: Callable[..., Any],
    states: Callable[..., Any],
    library: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    need_root()
    drives = {"n1": ["A1"], "n2": ["A2"]}
    path = make_plan(SELECTION, **drives)
    monkeypatch.setattr(Apart, "library", library, raising=False)
    cluster = make_slurm(drives, kind=Apart)
    begun = ssdlab("fleet", "run", str(path), environment=cluster.environment)
    assert begun.returncode == 0, begun.stderr
    until = time.monotonic() + 200
    while cluster.ask("squeue", "--noheader").stdout.strip():
        assert time.monotonic() < until
        time.sleep(0.5)
    assert states(cluster.environment)["A2"]["state"] == "waiting", "what it wrote may only be late"
    given = next(library.glob(".fleet/*/submitted.json"))
    stored = json.loads(given.read_text())
    stored["given"] = {name: moment - 61 for name, moment in stored["given"].items()}
    given.write_text(json.dumps(stored))
    told = states(cluster.environment)
    assert told["A1"]["state"] == "finished"
    assert told["A2"]["state"] == "failed"
    assert told["A2"]["reason"].endswith(
        f"without a record in the library: check that n2 has {library} mounted"
    ), told["A2"]
    assert not cluster.out_of_service("n2")
