"""Runs the command line in a scene that was set up, and tells what a device or file holds."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from conftest import need_root
from machine.forked import Done, run_forked
from machine.situations import Situation
from machine.staging import Stage


def make_stage(scratch: Path, need_tool: Callable[[str], str]) -> Iterator[Stage]:
    """Yield a stage that clears itself away; to be made a fixture."""
    need_root()
    made = Stage(scratch, need_tool)
    with made.ended:
        yield made


def ran(stage: Stage, scene: Situation, *, as_json: bool = True) -> Done:
    """Run the scene's command to its end."""
    words = [word.format(target=scene.target) for word in scene.words]
    for name, value in scene.options.items():
        words += [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
    words += ["--json"] if as_json else []
    home = str(stage.home())
    environment = {
        "XDG_STATE_HOME": home,
        "XDG_DATA_HOME": home,
        "XDG_CONFIG_HOME": home,
    }
    if not scene.namespace:
        return run_forked(words, environment, scene.capabilities)
    script = f'{scene.namespace} && exec "$@"'
    command = [stage.need_tool("unshare"), "--mount", "sh", "-c", script, "sh"]
    command += [sys.executable, "-P", "-m", "ssdlab", *words]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd="/", env={**os.environ, **environment}
    )
    return Done(done.returncode, done.stdout, done.stderr)


def refusal_of(stage: Stage, scene: Situation) -> dict[str, Any]:
    """Run the scene's command, which must be refused, and return what it says."""
    done = ran(stage, scene)
    assert done.status == 2, done
    said: dict[str, Any] = json.loads(done.out or done.err)
    return said


SWAP_HEADER_BYTES = 4096


def state_of(path: Path) -> tuple[str, int]:
    """Hash of what a device or file holds, past the page cache, and the sectors written to the device.

    Of swap space in use, its header: the rest is the kernel's to write at any time.
    """
    areas = [line.split()[0] for line in Path("/proc/swaps").read_text().splitlines()[1:]]
    if str(path.resolve()) in areas:
        with path.open("rb") as file:
            return hashlib.sha256(file.read(SWAP_HEADER_BYTES)).hexdigest(), 0
    with path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    counts = Path(f"/sys/class/block/{path.name}/stat")
    return digest, int(counts.read_text().split()[6]) if counts.exists() else 0
