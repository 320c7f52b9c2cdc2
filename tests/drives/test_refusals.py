"""Every situation in which a drive must be refused, on real devices: refused, not a byte written, own words.

They are set up in `machine.device_situations` and `machine.file_situations`; those of the guest are in
`tests/guest/test_refusals.py`. The messages of all are in `machine.situations`.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import machine.device_situations
import machine.file_situations  # noqa: F401 - both fill SITUATIONS
from machine.situations import MESSAGES, Situation
from machine.staging import SITUATIONS, Stage
from ssdlab.drives import open_drive
from ssdlab.model.errors import LabError


@pytest.fixture
def stage(scratch: Path, need_tool: Callable[[str], str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    if os.geteuid() != 0:
        pytest.skip("needs root")
    made = Stage(scratch, need_tool, monkeypatch)
    with made.ended:
        yield made


@pytest.mark.parametrize("name", SITUATIONS)
def test_refused_and_not_a_byte_written(stage: Stage, name: str) -> None:
    set_up = SITUATIONS[name](stage)
    before = [state_of(one) for one in set_up.watched]
    said = in_a_namespace(stage, set_up) if stage.namespace else refusal_of(set_up)
    assert said == MESSAGES[name].format(**{"target": set_up.target, **set_up.names})
    assert [state_of(one) for one in set_up.watched] == before


def test_each_situation_has_words_of_its_own() -> None:
    assert len(set(MESSAGES.values())) == len(MESSAGES)
    assert set(SITUATIONS) <= set(MESSAGES)
    assert len(SITUATIONS) >= 40


def refusal_of(set_up: Situation) -> str:
    with pytest.raises(LabError) as caught:
        open_drive(set_up.target, writing=True, **set_up.options)  # type: ignore[arg-type]
    assert caught.value.exit_status == 2
    assert caught.value.advice
    return caught.value.what


def in_a_namespace(stage: Stage, set_up: Situation) -> str:
    """Run the command where the device is mounted over a place of the system, for itself alone."""
    assert stage.namespace is not None
    device, point = stage.namespace
    command = (
        f"mount -o ro,noload {device} {point} && exec {sys.executable} -m ssdlab measure {set_up.target} "
    )
    command += f"--rw write --bytes 1MiB --destroy {set_up.options['destroy']} --json"
    done = subprocess.run(
        [stage.need_tool("unshare"), "--mount", "sh", "-c", command],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done
    said = json.loads(done.stdout or done.stderr)
    assert said["facts"]["reason"] == "root"
    return str(said["what"])


def state_of(path: Path) -> tuple[str, int]:
    """Hash of what a device or file holds, past the page cache, and the sectors written to the device."""
    with path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    counts = Path(f"/sys/class/block/{path.name}/stat")
    return digest, int(counts.read_text().split()[6]) if counts.exists() else 0
