"""Files that must be refused."""

from __future__ import annotations

import os
from pathlib import Path

from machine.situations import Situation
from machine.staging import Stage, situation
from ssdlab.drives import open_drive


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
    process = stage.holder(made, "O_WRONLY")
    command = Path(f"/proc/{process.pid}/comm").read_text().strip()
    names = {"pid": str(process.pid), "command": command}
    return Situation(str(made), names, {"destroy": made.name}, (made,))


@situation
def other_size(stage: Stage) -> Situation:
    made = stage.file(b"x" * 4096)
    return Situation(str(made), {"bytes": "4096"}, {"destroy": made.name, "size": 8192}, (made,))


@situation
def empty_file(stage: Stage) -> Situation:
    made = stage.file(b"")
    return Situation(str(made), {}, {"destroy": made.name}, (made,))


@situation
def wrong_name(stage: Stage) -> Situation:
    made = stage.file()
    return Situation(str(made), {"given": str(made)}, {"destroy": str(made)}, (made,))
