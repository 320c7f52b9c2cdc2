"""Devices and files in use as a plain look misses it: by other names, in other places, out of sight."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from machine.forked import DAC_READ_SEARCH, NOBODY, SYS_PTRACE
from machine.situations import READING, Situation
from machine.staging import SITUATIONS, Stage, consent, situation

_CONTENT = b"precious" * 4096

# --- loop devices attached by a name that is gone, or is another's ---


@situation
def loop_through_a_removed_node(stage: Stage) -> Situation:
    device = stage.loop()
    node = stage.node(device)
    upper = stage.loop(on=node)
    node.unlink()
    return Situation(
        str(device), {"volume": upper.name}, consent(device), (device,), message="loop-device-on-it"
    )


@situation
def mounted_through_a_removed_node(stage: Stage) -> Situation:
    device = stage.ext4(stage.loop())
    node = stage.node(device)
    upper = stage.loop(on=node)
    node.unlink()
    point = stage.mount(upper, "-o", "noload")
    return Situation(
        str(device),
        {"volume": upper.name, "point": point},
        consent(device),
        (device,),
        message="mounted-volume-on-it",
    )


@situation
def loop_through_a_node_of_another_disk(stage: Stage) -> Situation:
    """The name that it was attached by is now that of an innocent disk."""
    device, other = stage.loop(), stage.loop()
    node = stage.node(device)
    upper = stage.loop(on=node)
    node.unlink()
    stage.node(other)
    return Situation(
        str(device), {"volume": upper.name}, consent(device), (device, other), message="loop-device-on-it"
    )


@situation
def loop_through_a_link(stage: Stage) -> Situation:
    device = stage.loop()
    link = stage.folder / "link "
    link.symlink_to(device)
    return Situation(
        str(device),
        {"volume": stage.loop(on=link).name},
        consent(device),
        (device,),
        message="loop-device-on-it",
    )


@situation
def loop_whose_own_node_is_hidden(stage: Stage) -> Situation:
    """In the command's mount namespace the loop device's node is something else."""
    device = stage.loop()
    upper = stage.loop(on=stage.node(device))
    hidden = f"mount --bind /dev/null {upper}"
    return Situation(
        str(device),
        {"volume": upper.name},
        consent(device),
        (device,),
        message="loop-device-on-it",
        namespace=hidden,
    )


@situation
def mounted_loop_on_a_loop_on_it(stage: Stage) -> Situation:
    device = stage.ext4(stage.loop())
    node = stage.node(device)
    upper = stage.loop(on=stage.loop(on=node))
    node.unlink()
    point = stage.mount(upper, "-o", "noload")
    return Situation(
        str(device),
        {"volume": upper.name, "point": point},
        consent(device),
        (device,),
        message="mounted-volume-on-it",
    )


@situation
def loop_below_is_mounted(stage: Stage) -> Situation:
    """The upper device is named, and its disk was attached by a node since removed."""
    device = stage.ext4(stage.loop())
    node = stage.node(device)
    upper = stage.loop(on=node)
    node.unlink()
    point = stage.mount(device, "-o", "noload")
    return Situation(
        str(upper),
        {"disk": device.name, "point": point},
        consent(upper),
        (device,),
        message="mounted-disk-below",
    )


# --- files behind loop devices ---


def _behind(stage: Stage, target: Path, attached: Path) -> Situation:
    upper = stage.loop(on=attached)
    return Situation(
        str(target),
        {"volume": str(upper)},
        {"destroy": target.name},
        (target,),
        message="behind-a-loop-device",
    )


@situation
def file_attached_through_a_bind_mount(stage: Stage) -> Situation:
    folder = stage.folder / "images"
    folder.mkdir()
    made = stage.file(_CONTENT, "images/disk.img")
    return _behind(stage, made, stage.bound(folder) / made.name)


@situation
def file_named_through_a_bind_mount(stage: Stage) -> Situation:
    folder = stage.folder / "images"
    folder.mkdir()
    made = stage.file(_CONTENT, "images/disk.img")
    return _behind(stage, stage.bound(folder) / made.name, made)


@situation
def file_with_a_trailing_blank(stage: Stage) -> Situation:
    made = stage.file(_CONTENT, "disk.img ")
    return _behind(stage, made, made)


@situation
def file_with_a_line_end(stage: Stage) -> Situation:
    made = stage.file(_CONTENT, "disk\nimg")
    return _behind(stage, made, made)


@situation
def file_renamed_since(stage: Stage) -> Situation:
    made = stage.file(_CONTENT, "before.img")
    upper = stage.loop(on=made)
    target = made.rename(stage.folder / "after.img")
    return Situation(
        str(target),
        {"volume": str(upper)},
        {"destroy": target.name},
        (target,),
        message="behind-a-loop-device",
    )


@situation
def file_removed_and_linked_again(stage: Stage) -> Situation:
    """The kernel calls its name deleted; another name of it is left."""
    made = stage.file(_CONTENT, "before.img")
    target = stage.folder / "other.img"
    target.hardlink_to(made)
    upper = stage.loop(on=made)
    made.unlink()
    return Situation(
        str(target),
        {"volume": str(upper)},
        {"destroy": target.name},
        (target,),
        message="behind-a-loop-device",
    )


@situation
def file_attached_in_another_namespace(stage: Stage) -> Situation:
    """By a mount that nobody else has."""
    made = stage.file(_CONTENT)
    place = stage.folder / "private"
    place.mkdir()
    script = (
        f"mount --bind {stage.folder} {place} && d=$(losetup --find --show {place}/{made.name}) && echo $d "
        f"&& read _; losetup --detach $d"
    )
    process = stage.beside(stage.need_tool("unshare"), "--mount", "sh", "-c", script)
    return Situation(
        str(made), {"volume": process.said}, {"destroy": made.name}, (made,), message="behind-a-loop-device"
    )


# --- devices and files in use out of sight ---

_HIDDEN = ("mapped", "leader-gone", "mapped-leader-gone", "own-table", "ring")


def _device_held(way: str) -> Callable[[Stage], Situation]:
    def set_up(stage: Stage) -> Situation:
        device = stage.loop()
        message = "device-mapped" if "mapped" in way else "open-in-a-process"
        names = stage.holder(device, way=way)
        return Situation(str(device), names, consent(device), (device,), message=message)

    return set_up


def _file_held(way: str) -> Callable[[Stage], Situation]:
    def set_up(stage: Stage) -> Situation:
        made = stage.file(_CONTENT)
        message = {"in-flight": "file-in-flight"}.get(
            way, "file-mapped" if "mapped" in way else "open-for-writing"
        )
        names = stage.holder(made, way=way)
        return Situation(str(made), names, {"destroy": made.name}, (made,), message=message)

    return set_up


for _way in _HIDDEN:
    SITUATIONS[f"device-{_way}"] = _device_held(_way)
    SITUATIONS[f"file-{_way}"] = _file_held(_way)
SITUATIONS["file-in-flight"] = _file_held("in-flight")


@situation
def device_open_by_another_node(stage: Stage) -> Situation:
    device = stage.loop()
    return Situation(
        str(device), stage.holder(stage.node(device)), consent(device), (device,), message="open-in-a-process"
    )


@situation
def device_mapped_by_a_removed_node(stage: Stage) -> Situation:
    device = stage.loop()
    node = stage.node(device)
    names = stage.holder(node, way="mapped")
    node.unlink()
    return Situation(str(device), names, consent(device), (device,), message="device-mapped")


@situation
def partition_open_in_a_process(stage: Stage) -> Situation:
    disk = stage.loop()
    part, _ = stage.partitions(disk)
    return Situation(str(disk), stage.holder(part), consent(disk), (disk,), message="open-in-a-process")


@situation
def beside_a_partition_in_use(stage: Stage) -> Situation:
    disk = stage.loop()
    part, beside = stage.partitions(disk)
    return Situation(str(beside), stage.holder(part), consent(beside), (disk,), message="open-in-a-process")


@situation
def partition_of_a_disk_in_use(stage: Stage) -> Situation:
    disk = stage.loop()
    part, _ = stage.partitions(disk)
    return Situation(
        str(part), stage.holder(disk, way="leader-gone"), consent(part), (disk,), message="open-in-a-process"
    )


@situation
def file_open_by_another_name(stage: Stage) -> Situation:
    made = stage.file(_CONTENT)
    other = stage.folder / "other-name"
    other.hardlink_to(made)
    return Situation(
        str(made), stage.holder(other), {"destroy": made.name}, (made,), message="open-for-writing"
    )


@situation
def file_open_through_a_bind_mount(stage: Stage) -> Situation:
    folder = stage.folder / "images"
    folder.mkdir()
    made = stage.file(_CONTENT, "images/disk.img")
    names = stage.holder(stage.bound(folder) / made.name)
    return Situation(str(made), names, {"destroy": made.name}, (made,), message="open-for-writing")


@situation
def swap_file_through_a_bind_mount(stage: Stage) -> Situation:
    folder = stage.folder / "swaps"
    folder.mkdir()
    made = stage.file(os.urandom(1 << 20), "swaps/area")
    made.chmod(0o600)
    stage.swap(made)
    target = stage.bound(folder) / made.name
    return Situation(str(target), {}, {"destroy": target.name}, (made,), message="swap-file")


@situation
def swap_by_another_node(stage: Stage) -> Situation:
    device = stage.loop()
    stage.swap(stage.node(device))
    return Situation(str(device), {}, consent(device), (device,), message="swap")


# --- somebody without privilege ---


def _as_nobody(stage: Stage, *capabilities: int, message: str = "") -> Situation:
    """A device that its user may read and write, as a member of the group disk may."""
    stage.in_public()
    device = stage.loop()
    node = stage.node(device)
    os.chown(node, NOBODY, NOBODY)
    options = consent(device)
    return Situation(str(node), {}, options, (device,), message, capabilities=capabilities)


@situation
def device_of_a_plain_user(stage: Stage) -> Situation:
    return _as_nobody(stage, message="file-of-somebody-else")


@situation
def device_of_a_user_who_may_trace(stage: Stage) -> Situation:
    return _as_nobody(stage, SYS_PTRACE, message="file-of-somebody-else")


@situation
def device_of_a_user_who_may_read_folders(stage: Stage) -> Situation:
    return _as_nobody(stage, DAC_READ_SEARCH)


def _file_of_nobody(stage: Stage, mode: str, message: str) -> Situation:
    stage.in_public()
    stage.loop()
    made = stage.file(_CONTENT)
    os.chown(made, NOBODY, NOBODY)
    stage.holder(made, mode)
    options: dict[str, object] = {"destroy": made.name}
    return Situation(str(made), {}, options, (made,), message, capabilities=())


@situation
def file_of_a_plain_user_open_elsewhere(stage: Stage) -> Situation:
    return _file_of_nobody(stage, "O_RDWR", "file-in-flight")


@situation
def file_of_a_plain_user_read_elsewhere(stage: Stage) -> Situation:
    """That it is only read is known where nobody writes, so not where we are going to."""
    return _file_of_nobody(stage, "O_RDONLY", "file-in-flight")


@situation
def file_of_somebody_else(stage: Stage) -> Situation:
    """Anybody may write it, and only its owner is told by a lease who has it open."""
    stage.in_public()
    stage.loop()
    made = stage.file(_CONTENT)
    made.chmod(0o666)
    return Situation(str(made), {}, {"destroy": made.name}, (made,), capabilities=())


def _loop_on_a_file(stage: Stage) -> tuple[Path, Path]:
    made = stage.file(os.urandom(4 << 20), "image")
    return stage.loop(on=made), made


@situation
def mounted_by_another_loop_device(stage: Stage) -> Situation:
    device, made = _loop_on_a_file(stage)
    other = stage.ext4(stage.loop(on=made))
    stage.mount(other)
    names = {"volume": other.name, "disk": device.name}
    return Situation(str(device), names, consent(device), (made,), message="another-loop-device-on-its-file")


@situation
def another_loop_device_on_its_file_read(stage: Stage) -> Situation:
    device, made = _loop_on_a_file(stage)
    names = {"volume": stage.loop(on=made).name, "disk": device.name}
    message = "another-loop-device-on-its-file"
    return Situation(str(device), names, {}, (made,), message=message, words=READING)


@situation
def a_partition_of_a_loop_device_whose_file_has_another(stage: Stage) -> Situation:
    disk = stage.loop()
    part, _ = stage.partitions(disk)
    behind = Path(Path(f"/sys/block/{disk.name}/loop/backing_file").read_text().strip())
    names = {"volume": stage.loop(on=behind).name, "disk": disk.name}
    return Situation(str(part), names, consent(part), (behind,), message="another-loop-device-on-its-file")


@situation
def its_file_is_swap(stage: Stage) -> Situation:
    device, made = _loop_on_a_file(stage)
    made.chmod(0o600)
    stage.swap(made)
    return Situation(str(device), {"disk": device.name}, consent(device), (made,))


@situation
def its_file_is_written(stage: Stage) -> Situation:
    device, made = _loop_on_a_file(stage)
    return Situation(str(device), stage.holder(made, "O_RDWR"), consent(device), (made,))


@situation
def its_file_is_mapped(stage: Stage) -> Situation:
    device, made = _loop_on_a_file(stage)
    return Situation(str(device), stage.holder(made, way="mapped"), consent(device), (made,))


@situation
def the_device_below_it_is_written(stage: Stage) -> Situation:
    below = stage.loop()
    device = stage.loop(on=below)
    names = stage.holder(below, "O_RDWR")
    return Situation(str(device), names, consent(device), (below,), message="its-file-is-written")
