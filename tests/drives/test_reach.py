"""A name is followed once; what it led to then is what is opened, whatever becomes of the name."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import need_root
from machine.racing import NOBODY
from ssdlab.drives import open_drive
from ssdlab.drives.admin.port import KernelPort
from ssdlab.host.reach import diskseq_of, find, pin_device, reopen
from ssdlab.host.sysfs import HostFiles
from ssdlab.model.errors import DriveError, HostError, LabError, Refused
from ssdlab.model.workload import Mix, Stop, Stream, Workload

MIB = 1 << 20


def writes(**options: object) -> Workload:
    return Workload.of(Stream(ops=Mix(read_pct=0), stop=Stop(ios=64), **options))  # type: ignore[arg-type]


@pytest.fixture
def node_of() -> Callable[[Path], Path]:
    def node(device: Path) -> Path:
        found = HostFiles().node_named(device.name)
        assert found is not None
        return found

    return node


# --- finding ---


def test_a_link_to_a_device_is_followed_and_the_device_stays_pinned(zram: Path, tmp_path: Path) -> None:
    (tmp_path / "inner").symlink_to(zram)
    link = tmp_path / "by-id"
    link.symlink_to("inner")
    with find(link) as place:
        link.unlink()
        assert place.path == zram and place.device is not None
        descriptor = place.device.open(os.O_RDONLY)
        assert os.fstat(descriptor).st_rdev == zram.stat().st_rdev
        assert diskseq_of(descriptor) == int(Path(f"/sys/block/{zram.name}/diskseq").read_text())
        os.close(descriptor)


def test_the_last_part_of_a_file_s_name_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to("file")
    with find(tmp_path / "link") as place:
        assert place.folder is not None
        pin = place.folder.inside("link")
        assert pin is not None and stat.S_ISLNK(pin.status.st_mode)
        pin.close()
        assert place.folder.inside("nothing") is None


def test_the_folder_is_the_one_that_was_walked_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    (tmp_path / "absolute").symlink_to(deep)
    (tmp_path / "a" / "up").symlink_to("../absolute/../b")
    monkeypatch.chdir(tmp_path / "a")
    monkeypatch.setenv("HOME", str(deep))
    real = Path(os.path.realpath(deep))
    for text in ("b/x", "up/x", "../absolute/x", "./b/../up/./x", str(tmp_path / "absolute" / "x")):
        with find(Path(text)) as place:
            assert place.path == real / "x", text
            assert place.folder is not None
            assert os.path.samestat(place.folder.status, deep.stat())
            assert place.folder.leads_to("x", deep.stat()) is False


@pytest.mark.parametrize("text", ["nowhere/x", "file/x", "round/x"])
def test_no_such_folder(tmp_path: Path, text: str) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "round").symlink_to("round")
    with find(tmp_path / text) as place:
        assert place.folder is None
    with pytest.raises(LabError) as caught:
        open_drive(tmp_path / text, size=MIB)
    assert caught.value.exit_status == 2


def strangers_link(folder: Path, leads_to: Path) -> Path:
    link = folder / "strange"
    link.symlink_to(leads_to)
    os.chown(link, NOBODY, NOBODY, follow_symlinks=False)
    return link


@pytest.mark.outside
def test_a_stranger_s_link_leads_into_no_folder_but_their_own(tmp_path: Path) -> None:
    need_root()
    private, theirs = tmp_path / "private", tmp_path / "theirs"
    private.mkdir()
    theirs.mkdir()
    os.chown(theirs, NOBODY, NOBODY)
    strangers_link(theirs, private)
    with pytest.raises(Refused, match="of user 65534") as caught:
        open_drive(theirs / "strange" / "x", size=MIB)
    assert caught.value.facts["reason"] == "foreign-link"
    assert str(private) in caught.value.advice
    assert not list(private.iterdir())
    (theirs / "strange").unlink()
    (theirs / "own").mkdir()
    os.chown(theirs / "own", NOBODY, NOBODY)
    strangers_link(theirs, theirs / "own")
    with find(theirs / "strange" / "x") as place:
        assert place.path.parent == Path(os.path.realpath(theirs / "own"))
    with find(tmp_path / "private" / "x") as place:
        assert place.folder is not None


@pytest.mark.parametrize("kind", ["pipe", "link", "device", "folder"])
def test_what_takes_the_place_of_a_file_is_neither_opened_nor_waited_for(
    scratch: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Put there between the look and the opening: seen by the pin."""
    from ssdlab.drives.file import holding

    path = scratch / "file"
    open_drive(path, size=MIB).close()
    victim = scratch / "victim"
    victim.write_bytes(bytes(MIB))
    looked = holding.file_facts

    def swapped(*arguments: object, **options: object) -> object:
        path.unlink()
        {
            "pipe": lambda: os.mkfifo(path),
            "link": lambda: path.symlink_to(victim),
            "device": lambda: path.symlink_to("/dev/full"),
            "folder": path.mkdir,
        }[kind]()
        monkeypatch.setattr(holding, "file_facts", looked)
        return looked(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(holding, "file_facts", swapped)
    with pytest.raises(LabError) as caught:
        open_drive(path, writing=True)
    assert caught.value.exit_status == 2
    assert victim.read_bytes() == bytes(MIB)


def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for options in ({}, {"writing": True, "destroy": "pipe"}, {"size": MIB}):
        with pytest.raises(LabError, match="is a pipe"):
            open_drive(tmp_path / "pipe", **options)  # type: ignore[arg-type]


# --- opening again ---


def test_what_proc_shows_is_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A /proc that is not this process's own, or none at all."""
    from ssdlab.host import reach

    one, other = tmp_path / "one", tmp_path / "other"
    for path in (one, other):
        path.write_text(path.name)
    descriptor = os.open(one, os.O_RDONLY)
    try:
        for wrong in (other, tmp_path / "nothing", other / "fd"):
            monkeypatch.setattr(reach, "through", lambda _, at=wrong: str(at))
            with pytest.raises(HostError, match="/proc/self/fd does not lead to it") as caught:
                reopen(descriptor, os.O_RDONLY, one)
            assert caught.value.facts["reason"] == "no-proc"
    finally:
        os.close(descriptor)


def test_a_node_of_another_device_is_not_pinned(make_zram: Callable[..., Path]) -> None:
    one, other = make_zram(MIB), make_zram(MIB)
    number = Path(f"/sys/block/{one.name}/dev").read_text().strip()
    pin_device(one, number).close()
    for path in (other, Path("/dev/null"), Path("/dev/nothing")):
        with pytest.raises(DriveError) as caught:
            pin_device(path, number)
        assert caught.value.facts["reason"] == "replaced"


def test_a_port_sends_nothing_to_a_later_drive_of_the_same_name(
    zram: Path, node_of: Callable[[Path], Path]
) -> None:
    port = KernelPort.of(zram, node_of(zram))
    words = ("wipefs", "--json", str(zram))
    assert port.tool(*words, limit_s=10).status == 0
    for changed in ({"diskseq": (port.diskseq or 0) - 1}, {"device": "253:99"}):
        fields = {"device": port.device, "diskseq": port.diskseq} | changed
        later = KernelPort(zram, None, **fields)  # type: ignore[arg-type]
        for send in (
            lambda at=later: at.tool(*words, limit_s=10),
            lambda at=later: at.nvme(0x06),
            lambda at=later: at.scsi(bytes(6)),
        ):
            with pytest.raises(DriveError) as caught:
                send()
            assert caught.value.facts["reason"] == "replaced"


def test_a_program_gets_the_descriptor_in_place_of_the_path(
    zram: Path, need_tool: Callable[[str], str]
) -> None:
    subprocess.run([need_tool("mkfs.ext4"), "-q", str(zram)], check=True)
    descriptor = os.open(zram, os.O_RDONLY)
    try:
        port = KernelPort(Path("/no/such/name"), held=lambda: descriptor)
        reply = port.tool("wipefs", "--json", "/no/such/name", limit_s=10)
    finally:
        os.close(descriptor)
    assert reply.status == 0 and "ext4" in reply.output
    assert reply.arguments[-1] == "/no/such/name", "what is told is what people know it by"


# --- no other way in ---


def opened_by_name(words: list[str], environment: dict[str, str], target: Path, folder: Path) -> list[str]:
    """Run a command under strace; return the calls that opened the target by its name to read or write it."""
    log = folder / "strace"
    calls = "trace=open,openat,openat2,creat,truncate,unlink,unlinkat,rename,renameat,renameat2"
    done = subprocess.run(
        ["strace", "-f", "-qq", "-e", calls, "-o", log, *words],
        env={**os.environ, **environment},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done
    lines = log.read_text(errors="replace").splitlines()
    named = [line for line in lines if f'{target.name}"' in line and " = -1 " not in line]
    return [line for line in named if "O_PATH" not in line and "/sys/" not in line and "/proc/" not in line]


@pytest.mark.parametrize(
    ("work", "kind"),
    [("measure", "file"), ("job", "file"), ("measure", "device"), ("job", "device"), ("purge", "device")],
)
def test_nothing_opens_the_target_by_its_name_to_write_it(
    make_zram: Callable[..., Path],
    scratch: Path,
    need_tool: Callable[[str], str],
    command: str,
    work: str,
    kind: str,
) -> None:
    need_tool("strace")
    target = make_zram(64 * MIB) if kind == "device" else scratch / "scratch.img"
    if kind == "device":
        subprocess.run([need_tool("mkfs.ext4"), "-q", str(target)], check=True)
    else:
        open_drive(target, size=8 * MIB).close()
    job = scratch / "job.toml"
    steps = ('do = "run"\nrw = "randwrite"\nbytes = "1MiB"', 'do = "trim"', 'do = "fill"', 'do = "flush"')
    job.write_text("".join(f"[[step]]\n{step}\n" for step in steps))
    environment = {"XDG_STATE_HOME": str(scratch / "state"), "XDG_DATA_HOME": str(scratch / "data")}
    consent = ["--destroy", target.name, *(["--wipe-signatures"] if kind == "device" else [])]
    words = {
        "measure": ["measure", str(target), "--rw", "write", "--bytes", "1MiB"],
        "job": ["job", str(job), str(target)],
        "purge": ["purge", str(target), "--method", "discard"],
    }[work]
    found = opened_by_name([command, *words, *consent], environment, target, scratch)
    # The guard asks a device for a claim, and what lies on it, before it is held; both read.
    assert all("O_RDONLY" in line for line in found), found
    if kind == "file":
        assert not found, found


def test_a_device_comes_back_from_a_format_as_itself(zram: Path) -> None:
    """What an LBA format does to a held drive, but for the format: let go, opened again, compared."""
    from dataclasses import replace

    with open_drive(zram, writing=True, destroy=zram.name) as drive:
        drive._take_anew()  # type: ignore[attr-defined]
        drive.run(writes())
        drive._identity = replace(drive.identity, diskseq=1)  # type: ignore[attr-defined]
        with pytest.raises(Refused) as caught:
            drive._take_anew()  # type: ignore[attr-defined]
        assert caught.value.facts["reason"] == "replaced"
