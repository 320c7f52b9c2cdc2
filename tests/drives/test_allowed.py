"""Scenes in which a target must be taken, so that the guard is no nuisance; and what lies beside it stays."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from machine.forked import DAC_READ_SEARCH, NOBODY, SYS_PTRACE
from machine.scenes import make_stage, ran, state_of
from machine.situations import READING, WRITING, Situation
from machine.staging import Stage, consent
from ssdlab.drives import open_drive

stage = pytest.fixture(make_stage)

_CONTENT = os.urandom(1 << 20)
_PART_OF_IT = (*READING, "--span", "64KiB")
_MADE: dict[str, Callable[[Stage], Situation]] = {}


def scene(make: Callable[[Stage], Situation]) -> Callable[[Stage], Situation]:
    _MADE[make.__name__.replace("_", "-")] = make
    return make


def written(device: Path, *beside: Path, **more: object) -> Situation:
    """The device is written with consent."""
    return Situation(str(device), {}, {**consent(device), **more}, beside)


def read(target: Path, *beside: Path, **more: object) -> Situation:
    """The target is read and stays the same, as what lies beside it does."""
    return Situation(str(target), {}, {}, (target, *beside), words=_PART_OF_IT, **more)  # type: ignore[arg-type]


@scene
def device_with_consent(stage: Stage) -> Situation:
    device, other = stage.loop(), stage.loop()
    return written(device, other)


@scene
def memory_disk_with_consent(stage: Stage) -> Situation:
    return written(stage.btrfs(), stage.loop())


@scene
def device_by_a_link(stage: Stage) -> Situation:
    device, other = stage.loop(), stage.loop()
    link = stage.folder / other.name
    link.symlink_to(device)
    return Situation(str(link), {}, consent(device), (other,))


@scene
def device_by_another_node(stage: Stage) -> Situation:
    device, other = stage.loop(), stage.loop()
    return Situation(str(stage.node(device, other.name)), {}, consent(device), (other,))


@scene
def partition_with_consent(stage: Stage) -> Situation:
    part, beside = stage.partitions(stage.loop())
    stage.ext4(beside)
    return written(part, beside)


@scene
def file_system_with_consent_to_that_too(stage: Stage) -> Situation:
    return written(stage.ext4(stage.loop()), stage.loop(), wipe_signatures=True)


@scene
def volume_on_a_disk(stage: Stage) -> Situation:
    """The upper of two loop devices: its disk is what it stands on, and holds nothing else."""
    return written(stage.loop(on=stage.loop()), stage.loop())


@scene
def after_it_was_unmounted(stage: Stage) -> Situation:
    device = stage.ext4(stage.loop())
    stage.run("umount", stage.mount(device))
    stage.ended.pop_all()  # nothing is left to be unmounted; the loop device is detached below
    stage.ended.callback(lambda: stage.run("losetup", "--detach", device))
    return written(device, wipe_signatures=True)


@scene
def file_system_read(stage: Stage) -> Situation:
    return read(stage.ext4(stage.loop()))


@scene
def read_only_device_read(stage: Stage) -> Situation:
    return read(stage.loop("--read-only"))


@scene
def device_without_consent_read(stage: Stage) -> Situation:
    return read(stage.loop())


@scene
def device_beside_one_in_use(stage: Stage) -> Situation:
    device, other = stage.loop(), stage.ext4(stage.loop())
    stage.mount(other, "-o", "noload")
    return written(device, other)


@scene
def file_made(stage: Stage) -> Situation:
    beside = stage.file()
    return Situation(str(stage.folder / "new"), {}, {"size": 1 << 20}, (beside,))


@scene
def file_of_ours_again(stage: Stage) -> Situation:
    made, beside = stage.folder / "scratch.img", stage.file()
    open_drive(made, size=1 << 20).close()
    return Situation(str(made), {}, {}, (beside,))


@scene
def file_with_consent(stage: Stage) -> Situation:
    made, beside = stage.file(_CONTENT), stage.file(name="letters")
    return Situation(str(made), {}, {"destroy": made.name}, (beside,))


@scene
def file_of_somebody_read(stage: Stage) -> Situation:
    return read(stage.file(_CONTENT))


@scene
def file_with_two_names_read(stage: Stage) -> Situation:
    made = stage.file(_CONTENT)
    other = stage.folder / "other-name"
    other.hardlink_to(made)
    return read(made)


@scene
def file_beside_one_with_a_blank_behind_a_loop_device(stage: Stage) -> Situation:
    """Their names differ in what a reader of sysfs might strip."""
    made, other = stage.file(_CONTENT, "disk.img"), stage.file(_CONTENT, "disk.img ")
    stage.loop(on=other)
    return Situation(str(made), {}, {"destroy": made.name}, (other,))


@scene
def file_in_place_of_one_behind_a_loop_device(stage: Stage) -> Situation:
    """The loop device still stands on the file that had this name before."""
    made = stage.file(_CONTENT)
    stage.loop(on=made)
    moved = made.rename(stage.folder / "moved.img")
    new = stage.file(_CONTENT)
    return Situation(str(new), {}, {"destroy": new.name}, (moved,))


@scene
def file_read_by_another(stage: Stage) -> Situation:
    made, beside = stage.file(_CONTENT), stage.file(name="letters")
    stage.holder(made, "O_RDONLY")
    return Situation(str(made), {}, {"destroy": made.name}, (beside,))


@scene
def file_mapped_privately_by_another(stage: Stage) -> Situation:
    made, beside = stage.file(_CONTENT), stage.file(name="letters")
    stage.holder(made, "O_RDONLY", "read-privately")
    return Situation(str(made), {}, {"destroy": made.name}, (beside,))


@scene
def file_beside_a_swap_file(stage: Stage) -> Situation:
    area = stage.file(_CONTENT, "area")
    area.chmod(0o600)
    stage.swap(area)
    made = stage.file(_CONTENT)
    return Situation(str(made), {}, {"destroy": made.name}, (area,))


@scene
def gaps_read_to_time_the_tool(stage: Stage) -> Situation:
    made = stage.folder / "sparse.img"
    with made.open("wb") as file:
        file.truncate(1 << 20)
    return Situation(str(made), {}, {"allow_unwritten": True}, (made,), words=READING)


@scene
def plain_user_makes_a_file(stage: Stage) -> Situation:
    stage.in_public()
    beside = stage.file()
    stage.folder.chmod(0o777)
    return Situation(str(stage.folder / "new"), {}, {"size": 1 << 20}, (beside,), capabilities=())


@scene
def plain_user_writes_a_file_of_its_own(stage: Stage) -> Situation:
    stage.in_public()
    made, beside = stage.file(_CONTENT), stage.file(name="letters")
    os.chown(made, NOBODY, NOBODY)
    return Situation(str(made), {}, {"destroy": made.name}, (beside,), capabilities=())


@scene
def plain_user_reads_a_file_that_is_read_elsewhere(stage: Stage) -> Situation:
    stage.in_public()
    made = stage.file(_CONTENT)
    os.chown(made, NOBODY, NOBODY)
    stage.holder(made, "O_RDONLY")
    return read(made, capabilities=())


@scene
def plain_user_reads_a_file_of_somebody_else(stage: Stage) -> Situation:
    stage.in_public()
    return read(stage.file(_CONTENT), capabilities=())


@scene
def user_with_the_named_capabilities_writes_a_device(stage: Stage) -> Situation:
    stage.in_public()
    device, other = stage.loop(), stage.loop()
    node = stage.node(device)
    os.chown(node, NOBODY, NOBODY)
    granted = (SYS_PTRACE, DAC_READ_SEARCH)
    return Situation(str(node), {}, consent(device), (other,), capabilities=granted)


@scene
def user_with_the_named_capabilities_reads_a_device(stage: Stage) -> Situation:
    return read(stage.loop(), capabilities=(SYS_PTRACE, DAC_READ_SEARCH))


@pytest.mark.parametrize("name", _MADE)
def test_taken_and_nothing_else_is_touched(stage: Stage, name: str) -> None:
    set_up = _MADE[name](stage)
    target = Path(set_up.target)
    writing = set_up.words == WRITING
    before = [state_of(one) for one in set_up.watched]
    then = state_of(target)[0] if target.exists() else None
    done = ran(stage, set_up)
    assert done.status == 0, done
    assert [state_of(one) for one in set_up.watched] == before
    assert (state_of(target)[0] != then) == writing, "written if and only if it was meant"
    codes = {warning["code"] for warning in json.loads(done.out)["warnings"]}
    assert ("unseen" in codes) == (set_up.capabilities == () and then is not None)
