"""`--dry-run`: every command and write is told, nothing is done, and it ends as the run would begin."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ssdlab.cli import main
from ssdlab.lab.verbs.verb import verb_named

JOB = """
[[step]]
do = "fill"
[[step]]
do = "trim"
[[step]]
do = "flush"
[[step]]
do = "run"
rw = "randrw"
read_pct = 70
bs = "8k"
seconds = 1
"""


@pytest.fixture
def job(tmp_path: Path) -> str:
    file = tmp_path / "job.toml"
    file.write_text(JOB)
    return str(file)


def test_a_device_is_not_touched(
    make_zram, need_tool, job: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import subprocess

    device: Path = make_zram(64 << 20)
    subprocess.run([need_tool("mkfs.ext4"), "-q", str(device)], check=True)
    stat = Path(f"/sys/block/{device.name}/stat")
    before = stat.read_text().split()[4:7]
    library = ["--library", str(tmp_path / "runs")]
    words = ["job", job, str(device), "--destroy", device.name, "--dry-run", *library]
    assert main(words) == 2, "it carries a file system, and nothing says that this may be lost"
    assert main([*words, "--wipe-signatures"]) == 0
    shown = capsys.readouterr().out
    assert "wipes an ext4 file system: 2 B at byte 1080" in shown
    for line in (
        " writes 128 KiB in order in bytes 0 to 67108864, 64 MiB",
        " discards bytes 0 to 67108864",
        " flushes the drive's cache (fsync)",
        " reads and writes 8 KiB at random in bytes 0 to 67108864, for 1s",
    ):
        assert line in shown
    assert stat.read_text().split()[4:7] == before
    assert not (tmp_path / "runs").exists()


def test_a_file_is_not_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "scratch.img"
    words = ["run", "qd1", str(file), "--size", "8MiB", "--quick", "--dry-run", "--json"]
    assert main(words) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["schema"] == "ssdlab.plan/1"
    assert told["layout"]["bytes"] == 8 << 20
    assert told["wipes"] == []
    writing = [step for step in told["steps"] if step["bytes_written"][1] > 0]
    assert writing
    assert all(any("writes" in effect for effect in step["effects"]) for step in writing)
    assert not file.exists()


def test_it_ends_as_the_run_would_begin(make_zram, capsys: pytest.CaptureFixture[str]) -> None:
    device: Path = make_zram(64 << 20)
    assert main(["run", "steady-random-write", str(device), "--quick", "--dry-run"]) == 2
    shown = capsys.readouterr()
    assert "what reaches the drive" in shown.out
    assert f"--destroy '{device.name}'" in shown.err


@pytest.mark.parametrize(
    ("verb", "args", "effects"),
    [
        (
            "trim",
            {"start": 0, "length": 4096},
            ("discards bytes 0 to 4096 (BLKDISCARD; punches holes into a file)",),
        ),
        ("flush", {}, ("flushes the drive's cache (fsync)",)),
        ("purge", {"if_able": False}, ("erases the whole drive: the strongest supported method",)),
        ("purge", {"method": "discard"}, ("erases the whole drive: discard",)),
        ("health", {}, ("reads the drive's health log",)),
        ("idle", {"seconds": 3}, ()),
        ("note", {"text": "x"}, ()),
        ("limit", {"usable_bytes": 4096}, ()),
    ],
)
def test_what_each_verb_does(verb: str, args: dict[str, object], effects: tuple[str, ...]) -> None:
    kind = verb_named(verb)
    assert kind is not None and kind.model_validate(args).effects() == effects
