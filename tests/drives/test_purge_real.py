"""`ssdlab purge` on devices of our own: what a user sees, and what is left on the device."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from machine import tracing
from ssdlab import cli
from ssdlab.drives import open_drive
from ssdlab.drives.block import BlockDrive
from ssdlab.drives.purge import PurgeMethodName, PurgeProgress
from ssdlab.drives.purge import planning as dry_run
from ssdlab.drives.purge.method import Sibling
from ssdlab.host.sysfs import HostFiles
from ssdlab.model.errors import Refused

MIB = 1 << 20
SIZE = 16 * MIB


class Shell:
    """Runs command lines in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *words: str, status: int = 0) -> tuple[str, str]:
        found = cli.main(words)
        out, err = self._capsys.readouterr()
        assert found == status, (out, err)
        return out, err

    def json(self, *words: str, status: int = 0) -> dict[str, Any]:
        out, _ = self(*words, "--json", status=status)
        return json.loads(out)


@pytest.fixture
def ssdlab(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shell:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return Shell(capsys)


@pytest.fixture
def small(make_zram: Callable[..., Path]) -> Path:
    device = make_zram(SIZE)
    with device.open("r+b") as file:
        file.write(b"old data" * (SIZE // 8))
    return device


def digest(device: Path) -> str:
    return hashlib.sha256(device.read_bytes()).hexdigest()


@pytest.mark.parametrize("method", ["discard", "zero-fill"])
@pytest.mark.parametrize("kind", ["zram", "loop"])
def test_substitutes_leave_nothing(
    ssdlab: Shell, kind: str, method: str, small: Path, loop: Callable[..., Path]
) -> None:
    device = small if kind == "zram" else loop()
    record = ssdlab.json("purge", str(device), "--destroy", device.name, "--method", method)
    assert (record["method"], record["substitute"], record["status"]) == (method, True, "done")
    assert (record["sampling"]["marked"], record["sampling"]["survived"]) == (64, 0)
    assert not any(device.read_bytes())
    kept = json.loads(Path(record["kept"]).read_text())
    assert kept["schema"] == "ssdlab.purge/1"
    assert kept["drive"]["id"] == device.name
    assert kept["record"]["commands"] == record["commands"]


def test_told_in_words(ssdlab: Shell, small: Path) -> None:
    out, err = ssdlab("purge", str(small), "--destroy", small.name)
    assert f"{small} is purged" in out
    assert "discard, a substitute" in out
    assert "64 marks written before, none left" in out
    assert err.startswith("record: ")


def test_a_dry_run_tells_all_and_changes_nothing(ssdlab: Shell, small: Path) -> None:
    before = digest(small)
    consent = ("--destroy", small.name)
    told = ssdlab.json("purge", str(small), "--dry-run", *consent)
    assert (told["method"], told["marks"], told["dry_run"]) == ("discard", 64, True)
    assert [way["method"] for way in told["ways"]] == ["discard", "zero-fill"]
    assert told["commands"] == [f"discard bytes 0 to {SIZE} of {small}"]
    assert told["objections"] == []
    out, err = ssdlab("purge", str(small), "--dry-run", "--method", "zero-fill", *consent)
    assert "would use   zero-fill" in out
    assert err == ""
    assert digest(small) == before


def test_a_dry_run_ends_as_the_purge_would_begin(ssdlab: Shell, small: Path) -> None:
    """It prints what it has found all the same, and then the refusal, once."""
    out, err = ssdlab("purge", str(small), "--dry-run", status=2)
    assert "would use   discard" in out
    assert err.count("without consent") == 1
    printed, _ = ssdlab("purge", str(small), "--dry-run", "--json", status=2)
    found, end = json.JSONDecoder().raw_decode(printed)
    assert "without consent" in found["objections"][0]["what"]
    refused = json.loads(printed[end:])
    assert (refused["error"], refused["what"]) == ("refused", found["objections"][0]["what"])


@pytest.mark.parametrize(
    ("words", "status", "first"),
    [
        ((), 2, "without consent"),
        (("--destroy", "nonsense"), 2, "'nonsense' is not the identifier of"),
        (("--destroy", "NAME", "--method", "zerofill"), 2, "no purge method 'zerofill'"),
        (
            ("--destroy", "NAME", "--method", "ata-security-erase"),
            2,
            "cannot be purged by ata-security-erase",
        ),
        (("--destroy", "NAME", "--limit", "soon"), 2, "soon"),
        (("--destroy", "NAME", "--limit", "0"), 2, "--limit 0 is not a valid time limit"),
    ],
)
def test_wrong_input_changes_nothing(
    ssdlab: Shell, small: Path, words: tuple[str, ...], status: int, first: str
) -> None:
    before = digest(small)
    given = [small.name if word == "NAME" else word for word in words]
    _, err = ssdlab("purge", str(small), *given, status=status)
    assert first in err.splitlines()[0]
    assert digest(small) == before


def test_errors_say_what_can_be_done(ssdlab: Shell, small: Path) -> None:
    command = ("purge", str(small), "--destroy", small.name, "--method")
    _, err = ssdlab(*command, "zerofill", status=2)
    assert "Did you mean zero-fill?" in err
    _, err = ssdlab(*command, "nvme-format-crypto", status=2)
    assert "It offers: discard, zero-fill" in err
    told = ssdlab.json(*command, "nvme-format-crypto", status=2)
    assert told["facts"]["offers"] == ["discard", "zero-fill"]


def test_a_file_cannot_be_purged(ssdlab: Shell, scratch: Path) -> None:
    file = scratch / "s.img"
    open_drive(file, size=MIB).close()
    _, err = ssdlab("purge", str(file), status=2)
    assert "is not a whole drive" in err
    _, err = ssdlab("purge", str(file), "--dry-run", status=2)
    assert "is not a block device" in err


def test_a_simulated_drive_is_purged(ssdlab: Shell) -> None:
    assert ssdlab.json("purge", "sim:tiny-test")["method"] == "simulated"


def test_steps_of_a_job(ssdlab: Shell, small: Path, tmp_path: Path) -> None:
    tracing.mount_tracefs()
    file = tmp_path / "job.toml"
    file.write_text(
        '[[step]]\ndo = "purge"\nmethod = "zero-fill"\n[[step]]\ndo = "fill"\n'
        '[[step]]\ndo = "trim"\nspan = "0..25%"\n'
    )
    _, err = ssdlab("job", str(file), str(small), "--destroy", small.name)
    out, _ = ssdlab("show", "last", "--all")
    assert "step 1 of the job: purge  zero-fill, 64 marks written before, none left" in out
    assert "step 3 of the job: trim   reached the device, reads zeroes" in out
    assert "zero-fill, 64 marks" in err
    (journal,) = (tmp_path / "data").glob("ssdlab/runs/*/journal.jsonl")
    ends = [json.loads(line) for line in journal.read_text().splitlines() if '"t":"end"' in line]
    facts = [end["result"]["facts"] for end in ends]
    assert facts[1]["record"]["method"] == "zero-fill"
    assert facts[1]["departures"][0]["code"] == "purge-substitute"
    trim = facts[3]["trim"]
    assert (trim["start"], trim["length"], trim["reads"]) == (0, 4 * MIB, "zeroes")
    assert small.read_bytes()[: 4 * MIB] == bytes(4 * MIB)
    assert small.read_bytes()[4 * MIB : 4 * MIB + 4096] != bytes(4096)


def test_a_job_with_an_unknown_way_is_refused_first(ssdlab: Shell, small: Path, tmp_path: Path) -> None:
    (tmp_path / "job.toml").write_text('[[step]]\ndo = "purge"\nmethod = "formt"\n')
    before = digest(small)
    _, err = ssdlab("job", str(tmp_path / "job.toml"), str(small), "--destroy", small.name, status=2)
    assert "no purge method 'formt'" in err
    assert digest(small) == before


def test_what_takes_longer_than_its_limit_ends_with_3(
    small: Path, throttled: Callable[..., Any], command: str, tmp_path: Path
) -> None:
    words = ["purge", str(small), "--destroy", small.name, "--method", "zero-fill", "--limit", "1s"]
    slow = throttled(small, write_bps=2 * MIB)
    done = slow.run([command, *words], env={**os.environ, "XDG_STATE_HOME": str(tmp_path)}, timeout=60)
    assert done.returncode == 3, done
    assert "zero-fill has not ended after" in done.stderr
    assert "No purge is running now" in done.stderr
    (kept,) = (tmp_path / "ssdlab/purges").glob("*.json")
    assert json.loads(kept.read_text())["status"] == "left"


@pytest.mark.parametrize(
    ("method", "words"),
    [("nvme-sanitize-block", "the drive continues by itself"), ("zero-fill", "erasing has stopped")],
)
def test_a_signal_ends_the_waiting_and_says_what_goes_on(
    ssdlab: Shell, small: Path, monkeypatch: pytest.MonkeyPatch, method: PurgeMethodName, words: str
) -> None:
    def stopped(drive: BlockDrive, *, on_progress: Callable[[PurgeProgress], object], **_: Any) -> None:
        on_progress(PurgeProgress(method, 3.0, 0.5, "at work"))
        raise KeyboardInterrupt

    monkeypatch.setattr(BlockDrive, "purge", stopped)
    _, err = ssdlab("purge", str(small), "--destroy", small.name, status=130)
    assert words in err


def test_a_drive_that_sanitizes_itself_is_opened_though_it_cannot_be_read(
    ssdlab: Shell, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether it carries a file system cannot be found out then, and does not matter any more."""
    opened: list[bool] = []

    def unreadable(text: str, *, wipe_signatures: bool, **options: Any) -> Any:
        opened.append(wipe_signatures)
        if not wipe_signatures:
            raise Refused("it cannot be read", "wait", reason="signatures-unknown")
        return open_drive(text, wipe_signatures=True, **options)

    monkeypatch.setattr(dry_run, "open_drive", unreadable)
    ssdlab("purge", str(small), "--destroy", small.name, status=2)
    monkeypatch.setattr(dry_run.nvme, "running", lambda subject: "nvme-sanitize-block")
    with dry_run.open_for_purge(str(small), (small.name,)) as drive:
        assert drive.identity.path == str(small)
    assert opened == [False, False, True]


def test_another_namespace_that_is_hit_is_guarded_and_held(make_zram: Callable[..., Path]) -> None:
    """A claim keeps others off it as long as the purge lasts; one in use stops the purge before it begins."""
    one, two = make_zram(SIZE), make_zram(SIZE)
    node = HostFiles().node_named(two.name)
    sibling = Sibling(two.name, two.name, node)
    with open_drive(one, writing=True, destroy=one.name) as drive:
        assert isinstance(drive, BlockDrive)
        with drive._claimed(sibling), pytest.raises(OSError, match="busy"):
            os.open(two, os.O_RDONLY | os.O_EXCL)
        with two.open("rb"), pytest.raises(Refused) as caught, drive._claimed(sibling):
            pass
    assert caught.value.facts["reason"] == "open"
