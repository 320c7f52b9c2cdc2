"""A loop device, a library with its inventory, and two plans that a user made: what forgers begin with."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from conftest import need_root
from machine.forked import NOBODY, Done, run_forked
from ssdlab.drives import look
from ssdlab.fleet.fleet_plan import FleetPlan, parse_plan
from ssdlab.fleet.inventory import Inventory, drive_found, own_version
from ssdlab.results.seal import seal_document

HOST = "n1"
MIB = 1 << 20
WORKS = {"reads": "peak-random-read", "fills": "whole-drive-fill"}
Fields = dict[str, Any]


@contextmanager
def a_device() -> Iterator[tuple[Path, str]]:
    """Attach a loop device to a file full of data; gives a folder that all may enter, and the device."""
    need_root()
    with tempfile.TemporaryDirectory(prefix="forged-") as name:
        root = Path(name)
        root.chmod(0o755)
        image = root / "device.img"
        image.write_bytes(b"PRECIOUS" * (4 * MIB // 8))
        done = subprocess.run(
            ["losetup", "--find", "--show", image], check=True, capture_output=True, text=True
        )
        device = done.stdout.strip()
        try:
            yield root, device
        finally:
            subprocess.run(["losetup", "--detach", device], check=True)


class Scene:
    """The files of one user, put back as they were before each forgery."""

    def __init__(self, root: Path, user: str, device: str, leave: str = "") -> None:
        """Make them; `leave` is added to the work of the selection."""
        self.user, self.device, self._leave = user, device, leave
        self.id = NOBODY if user == "nobody" else 0
        self.home, self._kept = root / user, root / f"{user}-kept"
        self.library = self.home / "library"
        self.state = root / f"{user}-state"
        self.elsewhere = self.home / "elsewhere"
        self.home.mkdir()
        self.state.mkdir(mode=0o700)
        os.chown(self.state, self.id, self.id)
        self._fill()
        self.plans = {name: self._planned(name) for name in WORKS}
        for plan in self.plans.values():
            for part in ("attempts", "logs"):
                (self.folder(plan) / part).mkdir(parents=True, mode=0o755)
            self.write(self.folder(plan) / "plan.json", plan.as_text())
        self._own()
        subprocess.run(["cp", "-a", self.home, self._kept], check=True)
        self.before = self.checksum()

    def restore(self) -> None:
        shutil.rmtree(self.home)
        subprocess.run(["cp", "-a", self._kept, self.home], check=True)

    def folder(self, plan: FleetPlan | None = None) -> Path:
        return self.library / ".fleet" / (plan or self.plans["reads"]).plan_id

    def write(self, path: Path, text: str) -> Path:
        path.unlink(missing_ok=True)
        path.write_text(text)
        path.chmod(0o644)
        os.chown(path, self.id, self.id)
        return path

    def forged(self, change: Callable[[Fields], object], of: str = "reads") -> str:
        """A plan with other fields, sealed again by what everybody has."""
        fields = json.loads(self.plans[of].as_text())
        del fields["seal"]
        change(fields)
        return seal_document(json.dumps(fields, indent=1))

    def run(self, *words: object) -> Done:
        environment = {"XDG_STATE_HOME": str(self.state), "HOME": str(self.home), "SLURMD_NODENAME": HOST}
        capabilities = () if self.user == "nobody" else None
        return run_forked([str(word) for word in words], environment, capabilities)

    def job(self, plan: FleetPlan, *words: str, digest: str | None = None) -> Done:
        """What a node of Slurm runs."""
        return self.run("fleet", "job", self.folder(plan), "0001", f"--plan={digest or plan.digest}", *words)

    def checksum(self) -> str:
        return hashlib.sha256(Path(self.device).read_bytes()).hexdigest()

    def check_refused(self, done: Done, words: str) -> None:
        """Nothing was written anywhere, and one sentence says what is wrong."""
        assert done.status == 2, done
        assert "Traceback" not in done.err
        assert words in done.err, done.err
        assert self.checksum() == self.before
        assert not self.elsewhere.exists()
        assert not list(self.library.glob("2*")), "a run was begun"

    def _fill(self) -> None:
        drive = drive_found(look(self.device), HOST)
        inventory = Inventory(
            host=HOST,
            version=own_version(),
            taken=time.time(),
            library_token="0" * 32,
            clock_ahead_s=0.0,
            cpus=1,
            drives=(drive,),
        )
        place = self.library / ".fleet" / "inventory"
        place.mkdir(parents=True)
        self.write(place / f"{HOST}.json", seal_document(inventory.model_dump_json(by_alias=True, indent=1)))
        self.write(place.parent / "token", "0" * 32)
        for name, work in WORKS.items():
            self.write(
                self.home / f"{name}.toml",
                f'name = "{name}"\n[[drives]]\nserials = ["{drive.serial}"]\n'
                f'[[work]]\nrun = "{work}"\nquick = true\n{self._leave}',
            )
        self._own()

    def _own(self) -> None:
        subprocess.run(["chown", "-R", f"{self.id}:{self.id}", self.home], check=True)

    def _planned(self, name: str) -> FleetPlan:
        path = self.home / f"{name}.json"
        selection = self.home / f"{name}.toml"
        done = self.run("fleet", "plan", selection, "--library", self.library, "-o", path)
        assert done.status == 0, done
        return parse_plan(path.read_bytes(), path)
