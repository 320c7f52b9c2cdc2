"""Files that must be refused."""

from __future__ import annotations

import os
import shutil
import socket
from pathlib import Path

from machine.forked import NOBODY
from machine.situations import READING, Situation
from machine.staging import Stage, situation
from ssdlab.drives import open_drive
from ssdlab.model.units import bytes_text


@situation
def foreign_file(stage: Stage) -> Situation:
    made = stage.file()
    return Situation(str(made), {}, {}, (made,))


@situation
def changed_since(stage: Stage) -> Situation:
    made = stage.folder / "scratch.img"
    open_drive(made, size=1 << 20).close()
    with made.open("r+b") as file:
        file.write(b"now somebody keeps their letters here")
    later = made.stat().st_mtime + 3600
    os.utime(made, (later, later))
    return Situation(str(made), {}, {}, (made,))


@situation
def hard_link(stage: Stage) -> Situation:
    made = stage.file()
    other = stage.folder / "other-name"
    other.hardlink_to(made)
    return Situation(str(other), {}, {"destroy": other.name}, (made,))


@situation
def symbolic_link(stage: Stage) -> Situation:
    made = stage.file()
    link = stage.folder / "link"
    link.symlink_to(made)
    return Situation(str(link), {}, {"destroy": link.name}, (made,))


@situation
def folder(stage: Stage) -> Situation:
    return Situation(str(stage.folder), {}, {"destroy": stage.folder.name})


@situation
def character_device(_: Stage) -> Situation:
    return Situation("/dev/zero", {}, {"destroy": "zero"})


@situation
def swap_file(stage: Stage) -> Situation:
    made = stage.file(os.urandom(1 << 20))
    made.chmod(0o600)
    stage.swap(made)
    return Situation(str(made), {}, {"destroy": made.name}, (made,))


@situation
def behind_a_loop_device(stage: Stage) -> Situation:
    made = stage.file(os.urandom(1 << 20))
    return Situation(str(made), {"volume": str(stage.loop(on=made))}, {"destroy": made.name}, (made,))


@situation
def open_for_writing(stage: Stage) -> Situation:
    made = stage.file()
    names = stage.holder(made, "O_WRONLY")
    return Situation(str(made), names, {"destroy": made.name}, (made,))


@situation
def other_size(stage: Stage) -> Situation:
    made = stage.file(b"x" * 4096)
    return Situation(str(made), {"bytes": "4 KiB"}, {"destroy": made.name, "size": 8192}, (made,))


@situation
def empty_file(stage: Stage) -> Situation:
    made = stage.file(b"")
    return Situation(str(made), {}, {"destroy": made.name}, (made,))


@situation
def wrong_name(stage: Stage) -> Situation:
    made = stage.file()
    return Situation(str(made), {"given": str(made)}, {"destroy": str(made)}, (made,))


@situation
def pipe(stage: Stage) -> Situation:
    made = stage.folder / "pipe"
    os.mkfifo(made)
    return Situation(str(made), {}, {"destroy": made.name}, message="no-file-pipe")


@situation
def listening_socket(stage: Stage) -> Situation:
    made = stage.folder / "socket"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(made))
    return Situation(str(made), {}, {"destroy": made.name}, message="no-file-socket")


@situation
def loop_of_links(stage: Stage) -> Situation:
    link = stage.folder / "link"
    link.symlink_to(link)
    return Situation(str(link), {}, {"destroy": link.name}, message="symbolic-link")


@situation
def link_to_a_file_of_ours(stage: Stage) -> Situation:
    made = stage.folder / "scratch.img"
    open_drive(made, size=1 << 20).close()
    link = stage.folder / "link"
    link.symlink_to(made)
    return Situation(str(link), {}, {}, (made,), message="symbolic-link")


@situation
def missing_without_a_size(stage: Stage) -> Situation:
    return Situation(str(stage.folder / "new"), message="no-file")


@situation
def missing_with_its_folder(stage: Stage) -> Situation:
    target = stage.folder / "gone" / "new"
    return Situation(str(target), {}, {"size": 1 << 20}, message="no-folder")


@situation
def larger_than_its_file_system(stage: Stage) -> Situation:
    device = stage.ext4(stage.loop())
    point = Path(stage.mount(device, writable=True))
    beside = point / "neighbour"
    beside.write_bytes(b"precious")
    free = shutil.disk_usage(point).free
    names = {"bytes": "64 MiB", "free": bytes_text(free)}
    return Situation(str(point / "new"), names, {"size": 64 << 20}, (beside,), message="no-space")


@situation
def never_written(stage: Stage) -> Situation:
    made = stage.folder / "sparse.img"
    with made.open("wb") as file:
        file.truncate(1 << 20)
    return Situation(str(made), {}, {}, (made,), message="unwritten", words=(*READING, "--span", "64KiB"))


@situation
def not_readable(stage: Stage) -> Situation:
    stage.in_public()
    made = stage.file()
    made.chmod(0o600)
    return Situation(
        str(made), {}, {}, (made,), message="file-not-ours-to-read", words=READING, capabilities=()
    )


@situation
def not_writable(stage: Stage) -> Situation:
    stage.in_public()
    stage.loop()
    made = stage.file()
    made.chmod(0o644)
    options: dict[str, object] = {"destroy": made.name}
    return Situation(str(made), {}, options, (made,), "file-of-somebody-else", capabilities=())


@situation
def own_file_without_the_right_to_write(stage: Stage) -> Situation:
    stage.in_public()
    made = stage.file()
    os.chown(made, NOBODY, NOBODY)
    made.chmod(0o444)
    return Situation(
        str(made), {}, {"destroy": made.name}, (made,), "file-not-ours-to-write", capabilities=()
    )


@situation
def folder_of_somebody_else(stage: Stage) -> Situation:
    stage.in_public()
    target = stage.folder / "new"
    return Situation(str(target), {}, {"size": 1 << 20}, (), "folder-not-ours", capabilities=())


@situation
def name_with_a_line_end(stage: Stage) -> Situation:
    """Which would otherwise forge a line of its own."""
    made = stage.file(name="report\nssdlab: all is well\x1b[2J")
    return Situation(str(made), {}, {}, (made,), message="foreign-file")


@situation
def swap_file_read(stage: Stage) -> Situation:
    made = stage.file(os.urandom(1 << 20))
    made.chmod(0o600)
    stage.swap(made)
    return Situation(str(made), {}, {}, (made,), message="swap-file", words=READING)


@situation
def behind_a_loop_device_read(stage: Stage) -> Situation:
    made = stage.file(os.urandom(1 << 20))
    names = {"volume": str(stage.loop(on=made))}
    return Situation(str(made), names, {}, (made,), message="behind-a-loop-device", words=READING)
