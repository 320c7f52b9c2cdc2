"""Root writes in a folder of somebody else, and a link there leads elsewhere: it is not followed.

The link is the library's, the state folder's, or that of the folder for a page, a trace, a drive's state.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import need_root
from machine.forked import NOBODY
from safety import run_folders as made
from ssdlab.cli import main
from ssdlab.drives.guard.mark import mark_of, read_mark, write_mark
from ssdlab.drives.purge.purging import Ledger, Marks
from ssdlab.formats.traces.capture import capture
from ssdlab.host import consent, plain_files
from ssdlab.host.held_folder import HeldFolder
from ssdlab.host.identity import Identity
from ssdlab.host.user_folders import ledger_paths
from ssdlab.model.errors import Refused

MEASURE = ("measure", "sim:tiny-test", "--seconds", "10ms", "--save", "--library", "LINK")
WAYS = {
    "the library of a measurement": MEASURE,
    "a library within": (*MEASURE[:-1], "LINK/deeper/library"),
    "the library of a run": ("run", "qd1", "sim:tiny-test", "--quick", "--library", "LINK"),
    "the library of a suite": ("run", "quick-look", "sim:tiny-test,scale=4", "--library", "LINK"),
    "the library's catalogue": ("library", "rebuild", "--library", "LINK"),
    "a report": ("report", "RUN", "-o", "LINK/page.html"),
    "a simulated drive's state": ("measure", "sim:tiny-test,state=LINK/state", "--seconds", "10ms"),
}


class Place:
    """A folder of nobody's with a link in it, and what that leads to."""

    def __init__(self, folder: Path) -> None:
        self.theirs, self.victim = folder / "theirs", folder / "victim"
        self.theirs.mkdir()
        made.make_victims(self.victim)
        os.chown(self.theirs, NOBODY, NOBODY)
        self.link = self.theirs / "link"

    def lead(self, to: Path) -> None:
        self.link.symlink_to(to)
        os.chown(self.link, NOBODY, NOBODY, follow_symlinks=False)


@pytest.fixture
def place(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    need_root()
    monkeypatch.setenv("XDG_STATE_HOME", str(scratch / "state"))
    return Place(scratch)


def words_of(name: str, place: Place, scratch: Path) -> list[str]:
    words = [word.replace("LINK", str(place.link)) for word in WAYS[name]]
    if "RUN" in words:
        run = made.interrupted(scratch / "runs", str(scratch / "drive.img"), size_bytes=1 << 20)
        words = [str(run) if word == "RUN" else word for word in words]
    return words


@pytest.mark.parametrize("name", WAYS)
@pytest.mark.outside
def test_a_stranger_s_link_into_a_folder_of_another(
    name: str, place: Place, scratch: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = words_of(name, place, scratch)
    place.lead(place.victim)
    before = made.fingerprint(place.victim)
    assert main(words) == 2
    assert f"follows a link of user {NOBODY}" in capsys.readouterr().err
    assert made.fingerprint(place.victim) == before


@pytest.mark.parametrize("name", ["the library of a measurement", "a report", "a simulated drive's state"])
@pytest.mark.parametrize("whose", ["the stranger's own folder", "our own link"])
@pytest.mark.long
def test_a_link_that_gives_nobody_power_is_followed(
    name: str, whose: str, place: Place, scratch: Path
) -> None:
    words = words_of(name, place, scratch)
    to = scratch / "elsewhere"
    to.mkdir()
    if whose == "our own link":
        place.link.symlink_to(to)
    else:
        os.chown(to, NOBODY, NOBODY)
        place.lead(to)
    assert main(words) == 0
    assert list(to.iterdir())


@pytest.mark.outside
def test_the_state_folder(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with `sudo -E`: no key, no record and no ledger where somebody else's link leads."""
    monkeypatch.setenv("XDG_STATE_HOME", str(place.link))
    place.lead(place.victim)
    before = made.fingerprint(place.victim)
    with pytest.raises(Refused, match="follows a link"):
        consent.host_key()
    assert made.fingerprint(place.victim) == before


@pytest.mark.outside
def test_a_file_s_record_in_a_state_folder_of_somebody_else(
    place: Place, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a file system without attributes it lies there: who owns that could say that any file is ours."""
    from ssdlab.drives.guard import mark

    def none(*_: object) -> None:
        raise OSError(95, "no attributes")

    monkeypatch.setattr(mark.os, "getxattr", none)
    monkeypatch.setattr(mark.os, "setxattr", none)
    monkeypatch.setenv("XDG_STATE_HOME", str(place.theirs))
    path = scratch / "file"
    path.write_bytes(bytes(4096))
    with path.open("r+b") as file:
        noted = mark_of(file.fileno(), size_bytes=4096, complete=True, writing=False)
        write_mark(file.fileno(), path, noted)
        assert read_mark(file.fileno(), path) == noted, "the folder was made by us"
        (folder,) = place.theirs.glob("*/made")
        os.chown(folder, NOBODY, NOBODY)
        assert read_mark(file.fileno(), path) is None
        with pytest.raises(Refused, match="belongs to nobody"):
            write_mark(file.fileno(), path, noted)
        os.chown(folder, 0, 0)
        (record,) = folder.iterdir()
        content = record.read_bytes()
        record.unlink()
        (folder / "victim").write_bytes(content)
        record.symlink_to("victim")
        assert read_mark(file.fileno(), path) is None
        with pytest.raises(Refused, match="is a link"):
            write_mark(file.fileno(), path, noted)
        assert (folder / "victim").read_bytes() == content


@pytest.mark.parametrize("planted", ["link to a file", "link to nothing", "hard link", "named pipe"])
def test_what_a_recording_finds_in_its_place(
    planted: str, place: Place, make_zram: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Put there after the look, while the kernel's tracing is set up."""
    from ssdlab.formats.traces import capture as module

    device, output = make_zram(1 << 24), place.theirs / "trace"
    before = made.fingerprint(place.victim)
    looked = module._check_output

    def and_then(*words: object) -> None:
        looked(*words)  # type: ignore[arg-type]
        made.TRICKS[planted](output, place.victim)

    monkeypatch.setattr(module, "_check_output", and_then)
    with pytest.raises(Refused):
        capture(str(device), output, stopped=lambda: True)
    after = made.fingerprint(place.victim)
    assert {name: facts[-1] for name, facts in after.items()} == {n: f[-1] for n, f in before.items()}


@pytest.mark.outside
def test_a_link_is_faster_than_the_folder(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a part was missing and a link takes its place before it is made."""
    made_here = plain_files._made

    def and_faster(name: str, at: int, mode: int) -> int:
        place.lead(place.victim)
        return made_here(name, at, mode)

    monkeypatch.setattr(plain_files, "_made", and_faster)
    before = made.fingerprint(place.victim)
    with pytest.raises(Refused, match="follows a link"):
        HeldFolder(place.link, make=0o777)
    assert made.fingerprint(place.victim) == before


@pytest.mark.outside
def test_what_others_put_into_a_state_folder_that_is_open_to_them(
    scratch: Path,
) -> None:
    """A folder that is ours and open to a group: their accounts of purges and settings are not acted on."""
    need_root()
    state = scratch / "state" / "ssdlab"
    identity = Identity("/dev/sdx", "sdx", "block", "SERIAL", 1 << 20, 512)
    Ledger(state / "purges").begin(identity, "zero-fill", (), Marks(1, 4096, (), ()))
    assert len(Ledger(state / "purges").unfinished("SERIAL")) == 1
    (state / "conditions").mkdir()
    (state / "conditions" / "run.json").write_text("{}")
    assert len(ledger_paths(state / "conditions")) == 1
    for page in state.glob("*/*.json"):
        os.chown(page, NOBODY, NOBODY)
    assert Ledger(state / "purges").unfinished("SERIAL") == []
    assert ledger_paths(state / "conditions") == []
