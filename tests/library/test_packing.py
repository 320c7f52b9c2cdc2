"""Archives: what goes in comes out; what leads out of its folder, or is damaged, refuses the whole."""

from __future__ import annotations

import gzip
import io
import json
import os
import tarfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from lab.synthetic import make_finished_run
from library.made import run
from ssdlab.cli import main
from ssdlab.formats import tar as tar_form
from ssdlab.host.held_folder import HeldFolder
from ssdlab.lab.found import find_method
from ssdlab.lab.job import read_job
from ssdlab.lab.suites.suite import Part
from ssdlab.library.packing import pack, unpack
from ssdlab.model.errors import Refused, UsageError
from ssdlab.results import catalogue
from ssdlab.results.run_folder import CONSENT, TAGS, RunFolder
from ssdlab.results.schema import Child, Member, Sealed
from ssdlab.results.seal import file_digest
from ssdlab.results.store import add_note, run_folders, write_manifest
from ssdlab.results.tags import change_tags, read_tags
from ssdlab.results.verifying import verify_library
from ssdlab.runs.session import Order, start
from ssdlab.runs.suites.session import start_suite
from suites import made as suites


def packed(folders: list[Path], place: Path, **options: Any) -> Path:
    with place.open("xb") as out:
        pack(folders, out, **options)
    return place


def content(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and ".catalogue" not in path.parts)
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def suite(library: Path) -> Path:
    member = Member(suite="20261121-0900-qd1-000099", part="a", preparation_seed=1)
    part = run(library, 98, member=member)
    child = Child(
        part="a", run_id=part.name, method="qd1", version=2, title="", params={}, quick=False,
        seed=1, preparation_seed=1, drive="", state="",
    )  # fmt: skip
    sealed = Sealed(journal_lines=0, journal_seal="", runs={part.name: RunFolder(part).seal or ""})
    return run(library, 99, children=(child,), sealed=sealed)


def test_what_was_packed_comes_out_and_is_entered(tmp_path: Path) -> None:
    library, other = tmp_path / "a", tmp_path / "b"
    one, two = make_finished_run(library, seed=1, seconds=3), suite(library)
    change_tags(one, ["kept"])
    archive = packed([one, two], tmp_path / "runs.tar.gz")
    done = unpack(archive, other)
    assert len(done.written) == 3 and done.there == ()
    assert content(other) == content(library)
    assert [each.seal for each in verify_library(other)] == ["sealed"] * 3
    listed = sorted(path.name for path in run_folders(other))
    assert unpack(archive, other).there == done.written, "again, nothing is done"
    assert sorted(path.name for path in run_folders(other)) == listed
    with tarfile.open(archive) as tar:  # as anybody's tar reads it
        assert {name.split("/")[0] for name in tar.getnames()} == set(done.written)


def test_the_same_runs_make_the_same_archive(tmp_path: Path) -> None:
    folder = run(tmp_path, 1)
    first, second = (packed([folder], tmp_path / name).read_bytes() for name in ("1", "2"))
    assert first == second


PLANTED = Path(__file__).parents[1] / "planted" / "library.tar.xz"
Change = Callable[[tarfile.TarInfo], None]


def archive_of(place: Path, folder: Path, *extra: tuple[str, bytes, dict[str, Any]]) -> Path:
    """An archive of a run and of members that somebody added."""
    with tarfile.open(place, "w:gz") as tar:
        for path in sorted(folder.iterdir()):
            tar.add(path, f"{folder.name}/{path.name}")
        for name, data, fields in extra:
            member = tarfile.TarInfo(name)
            member.size = len(data)
            for field, value in fields.items():
                setattr(member, field, value)
            tar.addfile(member, io.BytesIO(data))
    return place


LINK, HARD = (
    {"type": tarfile.SYMTYPE, "linkname": "/etc/passwd"},
    {"type": tarfile.LNKTYPE, "linkname": "../x"},
)


@pytest.mark.parametrize(
    ("name", "fields", "why"),
    [
        ("../evil", {}, "points outside"),
        ("/tmp/evil", {}, "points outside"),
        ("RUN/../../evil", {}, "points outside"),
        ("RUN//x", {}, "points outside"),
        ("RUN/./x", {}, "points outside"),
        ("RUN/link", LINK, "a link"),
        ("RUN/hard", HARD, "a link"),
        ("link", LINK, "a link"),
        ("RUN/pipe", {"type": tarfile.FIFOTYPE}, "a pipe"),
        ("RUN/device", {"type": tarfile.BLKTYPE, "devmajor": 8}, "a device"),
        ("loose", {}, "no run folder has such a file"),
        ("RUN/deep/er", {}, "no run folder has such a file"),
        ("RUN/steps/deep/er", {}, "no run folder has such a file"),
        ("RUN/.hidden", {}, "starts with a dot"),
        (".catalogue/current.json", {}, "starts with a dot"),
        ("other/x", {}, "has no manifest.json"),
        ("RUN/manifest.json", {}, "occurs twice"),
        ("RUN/\x1b[2J\nx", {}, "does not list it"),
        ("RUN/beside.txt", {}, "does not list it"),
    ],
)
def test_what_is_no_run_refuses_the_whole_and_writes_nothing(
    tmp_path: Path, name: str, fields: dict[str, Any], why: str
) -> None:
    folder, library = run(tmp_path / "from", 1), tmp_path / "to" / "library"
    library.mkdir(parents=True)
    archive = archive_of(tmp_path / "x.tar.gz", folder, (name.replace("RUN", folder.name), b"", fields))
    with pytest.raises(Refused, match=why) as raised:
        unpack(archive, library)
    assert "\x1b" not in str(raised.value)
    assert list((tmp_path / "to").rglob("*")) == [library]


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.tar.gz")
    with pytest.raises(UsageError, match=": it is a pipe"):
        unpack(tmp_path / "x.tar.gz", tmp_path / "library")


def test_a_link_that_a_later_member_would_write_through(tmp_path: Path) -> None:
    folder, library = run(tmp_path / "from", 1), tmp_path / "library"
    away = {"type": tarfile.SYMTYPE, "linkname": str(tmp_path / "outside")}
    (tmp_path / "outside").mkdir()
    extra = [("20261121-0900-x-000001", b"", away), ("20261121-0900-x-000001/manifest.json", b"{}", {})]
    with pytest.raises(Refused):
        unpack(archive_of(tmp_path / "x.tar.gz", folder, *extra), library)
    assert list((tmp_path / "outside").iterdir()) == []


@pytest.mark.parametrize("damage", ["bytes", "short", "manifest", "other id", "no gzip", "empty"])
def test_a_damaged_archive_or_run_writes_nothing(tmp_path: Path, damage: str) -> None:
    folder, library = make_finished_run(tmp_path / "from", seed=1, seconds=3), tmp_path / "library"
    archive = tmp_path / "x.tar.gz"
    if damage in ("manifest", "other id"):
        if damage == "manifest":
            (folder / "series.parquet").write_bytes(b"PAR1")
        else:
            folder = folder.rename(folder.with_name("20261121-0900-other-000001"))
        archive_of(archive, folder)
    else:
        packed([folder], archive)
        data = archive.read_bytes()
        half = len(data) // 2
        changed = {
            "bytes": data[:half] + bytes(64) + data[half + 64 :],
            "short": data[:half],
            "no gzip": os.urandom(4096),
            "empty": gzip.compress(b""),
        }
        archive.write_bytes(changed[damage])
    with pytest.raises(Refused):
        unpack(archive, library)
    assert not library.exists() or [path.name for path in library.iterdir()] in ([], [".catalogue"])


def test_more_than_anything_of_ours_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = packed([run(tmp_path / "from", 1)], tmp_path / "x.tar.gz")
    monkeypatch.setattr(tar_form, "MEMBERS", 2)
    with pytest.raises(Refused, match="more than 2 files"):
        unpack(archive, tmp_path / "library")


def test_another_run_of_that_id_stays(tmp_path: Path) -> None:
    archive = packed([run(tmp_path / "from", 1)], tmp_path / "x.tar.gz")
    there = run(tmp_path / "library", 1, {"qd1_random_read_iops": 7.0})
    before = content(there)
    with pytest.raises(Refused, match="differs from the run"):
        unpack(archive, tmp_path / "library")
    assert content(there) == before and run_folders(tmp_path / "library") == [there]


def test_redacted_runs_hold_no_serial_and_no_host_and_say_so(tmp_path: Path) -> None:
    serial, host = "S4CVNX0T123456", "labhost7"
    identity = {"kind": "disk", "serial": serial, "wwid": f"eui.{serial}"}
    library, other = tmp_path / "a", tmp_path / "b"
    folders = [run(library, n, drive_id=serial, environment={"machine": {"hostname": host}}) for n in (1, 2)]
    for number, folder in enumerate(folders, start=1):
        manifest = RunFolder(folder).manifest
        drive = manifest.drive.model_copy(update={"identity": identity})
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()
        run(library, number, drive=drive, environment={"machine": {"hostname": host}})
        add_note(folder, f"taken on {host}")
        change_tags(folder, ["kept", f"lab/{serial}"])
    archive = packed(folders, tmp_path / "x.tar.gz", redact=True)
    held = gzip.decompress(archive.read_bytes())
    assert serial.encode() not in held and host.encode() not in held
    assert all(serial.encode() in b"".join(content(folder).values()) for folder in folders), (
        "ours is as it was"
    )
    unpack(archive, other)
    assert [each.seal for each in verify_library(other)] == ["sealed"] * 2
    made = [RunFolder(path) for path in run_folders(other)]
    assert len({each.manifest.drive.id for each in made}) == 1 and "redacted" in made[0].manifest.drive.id
    assert [note.text.split()[0] for note in made[0].notes()] == ["taken", "serial"]
    assert [tag.partition("/")[0] for tag in read_tags(made[0].path)] == ["kept", "lab"]
    assert made[0].manifest.result == RunFolder(folders[0]).manifest.result
    with pytest.raises(Refused, match="differs from the run"):
        unpack(archive, library)


@pytest.mark.parametrize("host", ["series", "finished", "ssdlab", "seal", "peak-random-read", "a", "qd1"])
def test_a_host_called_as_a_word_of_ours_breaks_nothing(tmp_path: Path, host: str) -> None:
    identity = {
        "kind": "block", "serial": "S4CV NX0T1", "wwid": "naa.5002538e40b3fbb2",
        "links": ["ata-Some_SSD_S4CV_NX0T1", "wwn-0x5002538e40b3fbb2"],
        "path": "/dev/disk/by-id/ata-Some_SSD_S4CV_NX0T1",
    }  # fmt: skip
    environment: Any = {
        "machine": {"hostname": host}, "storage": {"identity": identity},
        "platform": {"name": "bench S4CV NX0T1"},
        "drive": {"identity": {"serial": "980", "consent_id": "980"}},
    }  # fmt: skip
    made = make_finished_run(tmp_path / "a", seed=1, seconds=3)
    before = RunFolder(made).manifest
    write_manifest(made, before.model_copy(update={"environment": environment}))
    add_note(made, "the drive wwn-0x5002538e40b3fbb2, one of a series")
    archive = packed([made], tmp_path / "x", redact=True)
    held = gzip.decompress(archive.read_bytes())
    assert all(each not in held for each in (b"NX0T1", b"5002538e40b3fbb2"))
    (name,) = unpack(archive, tmp_path / "b").written
    assert [each.seal for each in verify_library(tmp_path / "b")] == ["sealed"]
    after = RunFolder(tmp_path / "b" / name)
    told = after.manifest.environment["machine"]
    assert isinstance(told, dict) and str(told["hostname"]).startswith("redacted-")
    assert '"980"' not in json.dumps(after.manifest.environment)
    assert after.notes()[0].text.endswith("one of a series")
    assert after.manifest.model_dump(
        exclude={"environment", "sealed", "drive", "sessions"}
    ) == before.model_dump(exclude={"environment", "sealed", "drive", "sessions"})


@pytest.mark.parametrize("redact", [False, True])
def test_what_is_made_of_runs_of_runs_comes_out_whole(tmp_path: Path, redact: bool) -> None:
    """The planted library has suites, repeats and a review of several drives."""
    with tarfile.open(PLANTED) as stored:
        stored.extractall(tmp_path, filter="data")
    library, other = tmp_path / "library", tmp_path / "other"
    whole = [folder for folder in run_folders(library) if RunFolder(folder).manifest.children]
    assert any(RunFolder(folder).manifest.member for folder in whole), "no suite is part of a review"
    archive = packed(
        [folder for folder in whole if not RunFolder(folder).manifest.member], tmp_path / "x", redact=redact
    )
    done = unpack(archive, other)
    assert {folder.name for folder in whole} <= {*done.written}
    assert {each.seal for each in verify_library(other)} == {"sealed"}


def test_a_redacted_suite_and_a_run_with_tables_hold_together(tmp_path: Path) -> None:
    library, other = tmp_path / "a", tmp_path / "b"
    archive = packed(
        [suite(library), make_finished_run(library, seed=3, seconds=3)], tmp_path / "x", redact=True
    )
    unpack(archive, other)
    assert [each.seal for each in verify_library(other)] == ["sealed"] * 3


def on_a_file(scratch: Path) -> Path:
    """A finished run on a file, which keeps what it was allowed on this host."""
    params = read_job('[[step]]\ndo = "run"\nseconds = "50ms"', "j")
    order = Order(find_method("job"), params, str(scratch / "s.img"), size_bytes=1 << 20)
    folder = start(order, scratch / "library")
    assert (folder / CONSENT).exists()
    return folder


def sealed_too(folder: Path, *names: str) -> None:
    """Let the manifest tell of files that were sealed with the run once, and are apart now."""
    manifest = RunFolder(folder).manifest
    assert manifest.sealed is not None
    with HeldFolder(folder) as held:
        files = manifest.sealed.files | {name: file_digest(held, name) for name in names}
    sealed = manifest.sealed.model_copy(update={"files": files})
    write_manifest(folder, manifest.model_copy(update={"sealed": sealed}))


@pytest.mark.parametrize("told", [(), (CONSENT,)], ids=["new", "as earlier manifests"])
def test_a_redacted_run_on_a_file_is_whole_without_its_consent(scratch: Path, told: tuple[str, ...]) -> None:
    folder = on_a_file(scratch)
    assert CONSENT not in getattr(RunFolder(folder).manifest.sealed, "files", ())
    sealed_too(folder, *told)
    unpack(packed([folder], scratch / "x.tar.gz", redact=True), scratch / "other")
    (verified,) = verify_library(scratch / "other")
    assert (verified.seal, verified.damage, verified.unknown) == ("sealed", None, ())
    assert not (verified.folder / CONSENT).exists()
    (folder / CONSENT).unlink()
    (verified,) = verify_library(folder.parent)
    assert (verified.seal, verified.damage) == ("sealed", None), "it is of this host, and no figure's"


class Tagger(suites.Watcher):
    """Tags all that is in a library, suite and runs, while the parts of the suite are at work."""

    def __init__(self, library: Path) -> None:
        super().__init__()
        self.library = library

    def began(self, child: Child, number: int, total: int) -> Sequence[Any]:
        for folder in run_folders(self.library):
            change_tags(folder, ["begun"])
        return super().began(child, number, total)


@pytest.mark.parametrize("told", [(), (TAGS,)], ids=["new", "as earlier manifests"])
@pytest.mark.long
def test_tags_of_before_the_end_can_still_be_changed(tmp_path: Path, told: tuple[str, ...]) -> None:
    library, other = tmp_path / "a", tmp_path / "b"
    parts = (Part("peak-random-read", "any"), Part("peak-sequential-read", "any"))
    settings = {"depths": "1", "seconds": "100ms", "ramp_seconds": "0"}
    order = suites.suite_order(suites.suite(*parts), suites.SMALL, settings)
    folder = start_suite(order, library, Tagger(library))
    assert read_tags(folder) == ("begun",)
    sealed_too(folder, *told)
    change_tags(folder, ["over"])
    assert {(each.seal, each.damage) for each in verify_library(library)} == {("sealed", None)}
    unpack(packed([folder], tmp_path / "x", redact=True), other)
    assert {(each.seal, each.damage) for each in verify_library(other)} == {("sealed", None)}
    assert read_tags(other / folder.name) == ("begun", "over")


def test_what_is_not_finished_is_packed_as_it_is_and_not_redacted(tmp_path: Path) -> None:
    manifest = RunFolder(run(tmp_path, 1)).manifest
    folder = run(tmp_path, 2, status="interrupted", sessions=manifest.sessions)
    packed([folder], tmp_path / "x")
    with pytest.raises(Refused, match="not finished"):
        packed([folder], tmp_path / "y", redact=True)


def test_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    library, other = tmp_path / "a", tmp_path / "b"
    folder = run(library, 1)
    catalogue.add(library, folder)
    words = ["library", "pack", "last", "-o", str(tmp_path / "x.tar.gz"), "--library", str(library), "--json"]
    assert main(words) == 0
    assert json.loads(capsys.readouterr().out)["runs"] == [folder.name]
    assert main(words) == 2, "an archive that exists stays"
    assert "exists" in json.loads(capsys.readouterr().out)["what"]
    assert main(["library", "unpack", str(tmp_path / "x.tar.gz"), "--library", str(other), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"] == [folder.name]
    assert main(["runs", "--library", str(other), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["total"] == 1
    with pytest.raises((Refused, UsageError)):
        unpack(tmp_path / "none.tar.gz", other)
