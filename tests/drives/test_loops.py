"""What a loop device stands on, by numbers."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from machine.scenes import make_stage
from machine.staging import Stage
from ssdlab.host import chain
from ssdlab.host.chain import Loop, attached_loops
from ssdlab.host.sysfs import HostFiles, device_number

stage = pytest.fixture(make_stage)
FILES = HostFiles()


def loop_at(device: Path) -> Loop:
    return next(one for one in attached_loops(FILES) if one.name == device.name)


def test_a_file_and_a_device(stage: Stage) -> None:
    lower = stage.loop()
    upper = stage.loop(on=lower)
    (backing,) = stage.folder.glob("backing-*")
    status = backing.stat()
    assert loop_at(lower) == Loop(lower.name, file=(status.st_dev, status.st_ino))
    assert loop_at(upper) == Loop(upper.name, device=device_number(lower.stat().st_rdev))


@pytest.mark.parametrize("wrong", ["missing", "of another device", "no device"])
def test_a_node_of_our_own_where_the_usual_one_is_wrong(
    stage: Stage, wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lower, other = stage.loop(), stage.loop()
    opened, usual = chain._opened, Path("/dev") / lower.name
    instead = {"missing": Path("/dev/none"), "of another device": other, "no device": Path("/dev/null")}

    def lead_astray(path: Path, number: str) -> int | None:
        return opened(instead[wrong] if path == usual else path, number)

    monkeypatch.setattr(chain, "_opened", lead_astray)
    before = set(Path("/dev").iterdir())
    status = next(stage.folder.glob("backing-*")).stat()
    assert loop_at(lower).file is not None
    assert loop_at(lower).seen
    assert loop_at(lower).file in {
        (status.st_dev, one.stat().st_ino) for one in stage.folder.glob("backing-*")
    }
    assert not [made for made in set(Path("/dev").iterdir()) - before if made.name.startswith(".ssdlab")]


def test_what_cannot_be_opened_is_said_and_its_text_is_taken_for_a_hint(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    lower = stage.loop()
    upper = stage.loop(on=lower)
    monkeypatch.setattr(chain, "_opened", refuse)
    number = device_number(lower.stat().st_rdev)
    assert loop_at(upper) == Loop(upper.name, device=number, seen=False)


def answer(monkeypatch: pytest.MonkeyPatch, *numbers: int) -> None:
    monkeypatch.setattr(chain.fcntl, "ioctl", lambda *_: struct.pack("=3Q", *numbers) + bytes(208))


def test_older_kernels_give_the_file_system_of_a_file_as_its_device(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    lower = stage.loop()
    status = next(stage.folder.glob("backing-*")).stat()
    answer(monkeypatch, status.st_dev, status.st_ino, status.st_dev)
    assert loop_at(lower) == Loop(lower.name, file=(status.st_dev, status.st_ino))


def test_a_node_that_lies_on_the_disk_itself(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then the two numbers are the same, and the name tells a device from a file."""
    lower = stage.loop()
    upper = stage.loop(on=lower)
    number = lower.stat().st_rdev
    answer(monkeypatch, number, 12, number)
    assert loop_at(upper).device == device_number(number)


def test_a_device_detached_meanwhile_is_none(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*_: object) -> bytes:
        raise OSError(6, "No such device or address")

    lower = stage.loop()
    monkeypatch.setattr(chain.fcntl, "ioctl", gone)
    assert lower.name not in {one.name for one in attached_loops(FILES)}


def test_a_free_loop_device_is_not_opened(
    stage: Stage, need_tool: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    free = Path(stage.run("losetup", "--find")).name
    asked: list[str] = []
    look = chain.backing
    monkeypatch.setattr(
        chain, "backing", lambda files, name, *more: (asked.append(name), look(files, name, *more))[1]
    )
    attached_loops(FILES)
    assert free not in asked
