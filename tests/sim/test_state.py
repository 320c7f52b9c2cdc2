"""``state=FILE`` keeps a simulated drive between commands: whole or not at all, one user at a time."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ssdlab import measure, open_drive
from ssdlab.cli import main
from ssdlab.drives import look
from ssdlab.drives.simulated.drive import SimulatedDrive, SimulatedText, profiles
from ssdlab.drives.simulated.text import PROFILE_NAME
from ssdlab.model.errors import HostError, Refused, UsageError
from ssdlab.model.options import MeasureOptions
from ssdlab.model.workload import Workload
from ssdlab.results.run_folder import read_manifest

TINY = "sim:tiny-test,scale=4"
_HOST_FACTS = ("cpu", "environment", "started", "workers", "host", "build", "streams", "drive")


def _workload(**options: Any) -> Workload:
    return MeasureOptions(**{"rw": "randrw", "threads": 4, "seconds": 0.2, **options}).workload()


def _open(text: str, **options: Any) -> SimulatedDrive:
    drive = open_drive(text, **{"writing": True, **options})
    assert isinstance(drive, SimulatedDrive)
    return drive


def _figures(drive: SimulatedDrive, **options: Any) -> dict[str, Any]:
    summary = drive.run(_workload(**options)).as_dict()
    return {name: value for name, value in summary.items() if name not in _HOST_FACTS}


def _text(file: Path, drive: str = TINY) -> str:
    return f"{drive},state={file}"


def test_a_kept_drive_goes_on_where_it_was(tmp_path: Path) -> None:
    text = _text(tmp_path / "drive.sim")
    with _open(TINY) as straight:
        first, second = _figures(straight, seed=1), _figures(straight, seed=2)
        left = straight.state.digest()
    with _open(text) as drive:
        assert _figures(drive, seed=1) == first
    with _open(text) as drive:
        assert _figures(drive, seed=2) == second
        assert drive.state.digest() == left
    assert sorted(path.name for path in tmp_path.iterdir()) == ["drive.sim"]


def test_no_command_replays_the_one_before_and_the_same_state_gives_the_same(tmp_path: Path) -> None:
    def measured(file: Path, **options: Any) -> dict[str, Any]:
        text = _text(file)
        told = measure(text, rw="randwrite", threads=4, seconds=0.2, destroy=text, **options).as_dict()
        return {name: told[name] for name in ("seed", "iops", "write")}

    kept, copied = tmp_path / "drive.sim", tmp_path / "copy.sim"
    first = measured(kept)
    shutil.copy(kept, copied)
    second = measured(kept)
    assert first["seed"] != second["seed"]
    assert measured(copied) == second
    assert measured(copied, seed=5)["seed"] == 5
    assert measure(TINY, seconds=0.1).as_dict()["seed"] == 1


def test_what_was_written_together_is_not_overwritten_together(tmp_path: Path) -> None:
    """Replayed, the same writes amplify 3.4, then 2.6 and 2.5 times."""
    text = _text(tmp_path / "drive.sim")

    def amplification(seconds: float) -> float:
        told = measure(text, rw="randwrite", threads=32, seconds=seconds, destroy=text).as_dict()
        return float(told["drive"]["write_amplification"])

    amplification(2)
    found = [amplification(0.1) for _ in range(3)]
    assert min(found) > 5


def test_reading_passes_the_drives_time_and_is_kept_and_looking_is_not(tmp_path: Path) -> None:
    file = tmp_path / "drive.sim"
    with _open(_text(file)):
        pass
    laid_out = file.read_bytes()
    with _open(_text(file), writing=False) as drive:
        clock_ns = drive.native.now_ns
    assert file.read_bytes() == laid_out
    with _open(_text(file), writing=False) as drive:
        drive.run(_workload(rw="randread"))
    with _open(_text(file), writing=False) as drive:
        assert drive.native.now_ns > clock_ns
        assert drive.health()["host_bytes_read"] > 0


def test_looking_and_planning_make_no_file(tmp_path: Path) -> None:
    text = _text(tmp_path / "drive.sim")
    found = look(text).identity
    assert found is not None and found.path == text and found.consent_id == TINY
    assert main(["plan", "peak-random-read", text]) == 0
    assert not list(tmp_path.iterdir())


def test_the_text_says_where_the_state_is_and_the_identity_does_not() -> None:
    text = SimulatedText.parse(f"{TINY},state=a.sim")
    assert str(text) == f"{TINY},state=a.sim" and text.drive == TINY
    assert text.anchored().state == str(Path("a.sim").absolute())
    with pytest.raises(UsageError, match="needs a file name"):
        SimulatedText.parse("sim:tiny-test,state=")


@pytest.mark.parametrize(
    ("other", "setting"),
    [
        ("sim:tiny-test,scale=2", "scale"),
        ("sim:tiny-test,scale=4,seed=2", "seed"),
        ("sim:tiny-test,scale=4,spare=25%", "spare"),
        ("sim:sata-tlc-enterprise,scale=16", "profile"),
    ],
)
def test_a_state_of_another_drive_is_refused_and_stays(tmp_path: Path, other: str, setting: str) -> None:
    file = tmp_path / "drive.sim"
    _open(_text(file), allow_unwritten=True).close()
    before = file.read_bytes()
    with pytest.raises(Refused) as raised:
        _open(_text(file, other))
    assert raised.value.reason == "state-differs" and raised.value.advice
    assert raised.value.setting in {setting, "scale"} and raised.value.exit_status == 2
    assert file.read_bytes() == before


def _mine(tmp_path: Path, *changed: tuple[str, str]) -> str:
    """Return the text of a drive whose profile is the user's own, tiny-test with changes."""
    path = tmp_path / "mine.toml"
    text = profiles()["tiny-test"]
    for before, after in changed:
        assert before in text
        text = text.replace(before, after)
    path.write_text(text)
    return f"sim:{path},scale=4"


def test_a_state_of_another_profile_names_both(tmp_path: Path) -> None:
    file = tmp_path / "drive.sim"
    _open(_text(file), allow_unwritten=True).close()
    named = ('name = "tiny-test"', 'name = "mine"')
    with pytest.raises(Refused, match="it has the profile tiny-test, but mine was requested") as raised:
        _open(_text(file, _mine(tmp_path, named)))
    facts = raised.value.facts
    assert (facts["setting"], facts["found"], facts["asked"]) == ("profile", "tiny-test", "mine")
    slower = ("read_us = { value = [60.0]", "read_us = { value = [61.0]")
    with pytest.raises(Refused, match="the profile tiny-test has changed") as raised:
        _open(_text(file, _mine(tmp_path, slower)))
    assert raised.value.reason == "state-differs"
    assert "restore the old profile" in raised.value.advice


def test_a_state_that_an_earlier_version_kept_is_taken_up(tmp_path: Path) -> None:
    """It has no name of its profile: of another one no name is told, and it is refused all the same."""
    file = tmp_path / "drive.sim"
    identity = SimulatedText.parse(TINY).identity()
    del identity[PROFILE_NAME]
    with _open(TINY) as drive:
        drive.native.save_state(file, identity)
        kept = drive.state.digest()
    with _open(_text(file)) as drive:
        assert drive.state.digest() == kept
    file.unlink()
    with _open(TINY) as drive:
        drive.native.save_state(file, identity)
    named = ('name = "tiny-test"', 'name = "mine"')
    with pytest.raises(Refused, match="another profile than mine, or another version of it"):
        _open(_text(file, _mine(tmp_path, named)))


@pytest.mark.parametrize("damage", ["torn", "flipped", "text", "empty"])
def test_a_damaged_file_is_refused_and_stays(tmp_path: Path, damage: str) -> None:
    file = tmp_path / "drive.sim"
    _open(_text(file)).close()
    whole = file.read_bytes()
    middle = len(whole) // 2
    file.write_bytes(
        {
            "torn": whole[:middle],
            "flipped": whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :],
            "text": b"name = 'tiny-test'\n",
            "empty": b"",
        }[damage]
    )
    before = file.read_bytes()
    with pytest.raises(Refused) as raised:
        _open(_text(file))
    assert raised.value.reason == ("no-state" if damage == "text" else "state-corrupt")
    assert file.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["drive.sim"], "and it is not held any more"


def test_a_second_user_is_refused_until_the_first_has_closed_it(tmp_path: Path) -> None:
    text = _text(tmp_path / "drive.sim")
    link = tmp_path / "link.sim"
    with _open(text):
        link.symlink_to("drive.sim")
        for other in (text, _text(link)):
            with pytest.raises(Refused) as raised:
                _open(other)
            assert raised.value.reason == "state-held" and "copy" in raised.value.advice
    with _open(_text(link)) as drive:
        drive.idle(1)
    assert link.is_symlink()


def test_a_state_that_cannot_be_kept_is_an_error_of_the_host(tmp_path: Path) -> None:
    file = tmp_path / "drive.sim"
    _open(_text(file)).close()
    before = file.read_bytes()
    drive = _open(_text(file))
    drive.idle(1)
    (tmp_path / ".drive.sim.new").mkdir()  # in the way of what is written, for root too
    with pytest.raises(HostError) as raised:
        drive.close()
    assert raised.value.exit_status == 3 and raised.value.path == str(file)
    assert file.read_bytes() == before
    (tmp_path / ".drive.sim.new").rmdir()
    _open(_text(file)).close()


@pytest.mark.parametrize("text", ["sim:tiny-test,state=/nowhere/at/all.sim", "sim:tiny-test,state=/dev"])
def test_a_place_where_no_file_can_be_is_refused(text: str) -> None:
    with pytest.raises((UsageError, Refused)):
        open_drive(text)


def _measuring(text: str) -> subprocess.Popen[str]:
    """Start a command that writes a drive for very long."""
    words = ["measure", text, "--rw", "randwrite", "--threads", "4", "--seconds", "100000"]
    return subprocess.Popen(
        [sys.executable, "-m", "ssdlab", *words], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def _until_held(file: Path) -> None:
    lock, end = file.with_name(f".{file.name}.lock"), time.monotonic() + 60
    while not lock.exists():
        assert time.monotonic() < end
        time.sleep(0.05)
    time.sleep(1)


@pytest.mark.long
def test_a_killed_command_leaves_what_it_found_and_a_stopped_one_what_it_did(tmp_path: Path) -> None:
    file = tmp_path / "drive.sim"
    _open(_text(file)).close()
    before = file.read_bytes()
    killed = _measuring(_text(file))
    _until_held(file)
    killed.kill()
    killed.communicate()
    assert file.read_bytes() == before
    with _open(_text(file)) as drive:
        written = drive.health()["host_bytes_written"]
    for number in (signal.SIGINT, signal.SIGTERM):
        stopped = _measuring(_text(file))
        _until_held(file)
        os.kill(stopped.pid, number)
        _, told = stopped.communicate(timeout=60)
        assert stopped.returncode == 130, told
        with _open(_text(file)) as drive:
            now = drive.health()["host_bytes_written"]
        assert now > written
        written = now
    assert not file.with_name(f".{file.name}.lock").exists()


def test_manifests_say_from_anywhere_which_file_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["run", "peak-random-read", f"{TINY},state=drive.sim", "--quick", "--library", "runs"]
    assert main([*words, "--set", "depths=1", "--set", "seconds=50ms", "--set", "ramp_seconds=0s"]) == 0
    (path,) = (tmp_path / "runs").glob("*/manifest.json")
    manifest = read_manifest(path.parent)
    assert manifest.open_options["text"] == f"{TINY},state={tmp_path}/drive.sim"
    assert manifest.drive.id == TINY


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (",write-cache=off", "write-cache is the profile's own there, but off was requested"),
        (",power=5W", "power is the profile's own there, but 5W was requested"),
    ],
)
def test_a_state_of_another_setting_is_told_as_the_option_is_written(
    option: str, said: str, tmp_path: Path
) -> None:
    """It said that False and 5.0 were asked for."""
    file = tmp_path / "drive.sim"
    drive = "sim:nvme-tlc-enterprise,scale=128"
    _open(_text(file, drive), allow_unwritten=True).close()
    with pytest.raises(Refused, match=said) as raised:
        _open(_text(file, drive + option), allow_unwritten=True)
    assert raised.value.reason == "state-differs"
