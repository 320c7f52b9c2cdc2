"""Errors of the native side: the right class, one line what and one what to do, and the facts as fields."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bindings.workloads import stop, stream, workload
from conftest import need_root
from machine.targets import open_target
from ssdlab import _core
from ssdlab.drives.simulated.profiles import profile_text
from ssdlab.model import errors


def test_nothing_is_open_under_the_descriptor(tmp_path: Path) -> None:
    with pytest.raises(errors.DriveError) as caught:
        _core.Target.from_descriptor(-1, path=tmp_path / "label")
    assert caught.value.facts["errno"] == errno.EBADF
    assert caught.value.facts["device"] == str(tmp_path / "label")


def test_a_directory(tmp_path: Path) -> None:
    with pytest.raises(errors.UsageError, match="a directory"):
        open_target(tmp_path)


def test_a_target_is_not_made_from_a_path(written_file: Path) -> None:
    with pytest.raises(TypeError):
        _core.Target(written_file)  # type: ignore[call-arg]


def test_writing_needs_a_descriptor_that_can(written_file: Path) -> None:
    with written_file.open("rb") as file, pytest.raises(errors.DriveError) as caught:
        _core.Target.from_descriptor(file.fileno(), path=written_file, write=True)
    assert caught.value.facts["errno"] == errno.EBADF


def test_a_claim_lasts_as_long_as_the_target(zram: Path) -> None:
    with open_target(zram, write=True, exclusive=True) as held:
        assert (held.exclusive, held.kind, held.path) == (True, "block", str(zram))
        with pytest.raises(OSError, match="busy") as caught:
            open_target(zram, exclusive=True)
        assert caught.value.errno == errno.EBUSY
    open_target(zram, exclusive=True).close()


def test_a_swapped_path_is_never_looked_at_again(written_file: Path) -> None:
    """The workers' own descriptors lead to what was opened, wherever the name leads by now."""
    with open_target(written_file, write=True) as target:
        moved = written_file.rename(written_file.with_name("moved"))
        victim = written_file.with_name("victim")
        victim.write_bytes(bytes(moved.stat().st_size))
        written_file.symlink_to(victim)
        for options in ({"direct": True}, {"dsync": True}):
            _core.run(target, workload(stream(ops={"mix": {"read_pct": 0}}, stop=stop(ios=64), **options)))
        target.trim(0, 4096)
    assert not any(victim.read_bytes())


@pytest.mark.parametrize("covered", ["tmpfs", "bind"])
def test_without_proc_the_error_says_so(
    written_file: Path, need_tool: Callable[[str], str], covered: str
) -> None:
    """No /proc, and one whose descriptors lead elsewhere: that of another namespace, or worse."""
    need_root()
    other = written_file.with_name("other")
    other.write_bytes(written_file.read_bytes())
    script = f"""
import os, subprocess, sys
from pathlib import Path
from ssdlab import _core
from ssdlab.drives.simulated.profiles import profile_text
from ssdlab.model import errors
descriptor = os.open({str(written_file)!r}, os.O_RDWR)
target = _core.Target.from_descriptor(descriptor, path="x", write=True)
if {covered!r} == "tmpfs":
    subprocess.run(["mount", "-t", "tmpfs", "none", "/proc"], check=True)
else:
    fake = Path({str(written_file.with_name("fake"))!r})
    (fake / "self" / "fd").mkdir(parents=True)
    (fake / "self" / "fd" / str(target.fileno())).symlink_to({str(other)!r})
    subprocess.run(["mount", "--bind", str(fake), "/proc"], check=True)
try:
    _core.run(target, sys.argv[1])
except errors.HostError as error:
    print(error.what, "|", error.advice)
"""
    content = other.read_bytes()
    writes = workload(stream(ops={"mix": {"read_pct": 0}}, stop=stop(ios=64)))
    done = subprocess.run(
        [need_tool("unshare"), "--mount", sys.executable, "-c", script, writes],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "cannot open x again: /proc/self/fd does not lead to it | Mount the proc" in done.stdout, done
    assert other.read_bytes() == content


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"depth": 2}, "depth"),
        ({"workers": 0}, "workers"),
        ({"ops": {"mix": {"read_pct": 101}}}, "read_pct"),
        ({"span": {"start": 0, "length": 0}}, "span"),
    ],
)
def test_a_workload_that_contradicts_itself(target: _core.Target, change: dict, field: str) -> None:
    text = workload(stream(**change))
    for refuse in (lambda: _core.check_workload(text), lambda: _core.run(target, text)):
        with pytest.raises(errors.UsageError) as caught:
            refuse()
        assert field in caught.value.facts["field"]
        assert caught.value.facts["bound"].startswith("must")
        assert caught.value.facts["field"] in caught.value.advice


def test_an_unknown_field_is_refused_at_every_level() -> None:
    whole = json.loads(workload())
    places = [whole, whole["streams"][0], whole["streams"][0]["span"], whole["streams"][0]["stop"]]
    places += [whole["streams"][0]["block"][0], whole["streams"][0]["arrival"]["closed"]]
    _core.check_workload(json.dumps(whole))
    for place in places:
        place["surprise"] = 1
        with pytest.raises(errors.UsageError, match="surprise"):
            _core.check_workload(json.dumps(whole))
        del place["surprise"]


def test_a_missing_field_is_refused() -> None:
    whole = json.loads(workload())
    del whole["streams"][0]["stop"]["span_once"]
    with pytest.raises(errors.UsageError, match="span_once"):
        _core.check_workload(json.dumps(whole))


def test_a_span_beyond_the_end(target: _core.Target) -> None:
    with pytest.raises(errors.UsageError) as caught:
        _core.run(target, workload(stream(span={"start": 0, "length": 1 << 30})))
    assert caught.value.facts["end"] == 1 << 30
    assert caught.value.facts["size_bytes"] == target.size_bytes
    assert caught.value.facts["stream"] == "main"


def test_a_block_that_is_not_aligned(zram: Path) -> None:
    with open_target(zram) as device, pytest.raises(errors.UsageError) as caught:
        _core.run(device, workload(stream(block=[{"bytes": 512, "weight": 1}])))
    assert caught.value.facts["multiple_of"] == device.logical_block_bytes == 4096
    assert caught.value.facts["value"] == 512


def test_writing_needs_a_target_opened_for_it(written_file: Path) -> None:
    with open_target(written_file) as reading, pytest.raises(errors.UsageError, match="changes data"):
        _core.run(reading, workload(stream(ops={"mix": {"read_pct": 0}})))


def test_an_io_that_fails_carries_its_facts_and_what_was_measured(make_zram: Callable[..., Path]) -> None:
    """A zram device that may hold but 4 MiB fails writes beyond that with ENOMEM or EIO."""
    device = make_zram(64 << 20)
    Path(f"/sys/block/{device.name}/mem_limit").write_text("4M")
    writes = stream(
        ops={"mix": {"read_pct": 0}},
        pattern={"sequential": {"cursors": None}},
        span={"start": 0, "length": 64 << 20},
        stop=stop(span_once=True),
    )
    with open_target(device, write=True, exclusive=True) as full, pytest.raises(errors.DriveError) as caught:
        _core.run(full, workload(writes))
    facts = caught.value.facts
    assert facts["errno"] in {errno.ENOMEM, errno.EIO, errno.ENOSPC}
    assert facts["device"] == str(device)
    assert facts["operation"] == "write"
    assert facts["length"] == 4096
    assert 2 << 20 <= facts["offset"] < 64 << 20
    measurement = caught.value.measurement  # type: ignore[attr-defined]
    write = measurement.summary()["write"]
    assert write["ios"] > 500
    assert write["failed"] >= 1
    assert write["requested"] == write["ios"] + write["failed"] + write["dropped"]
    assert write["errors"] == {str(facts["errno"]): write["failed"]}
    assert measurement.failures[0]["errno"] == facts["errno"]
    assert measurement.failures[0]["op"] == "write"


def test_a_log_that_exists_is_not_overwritten(target: _core.Target, tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    path.write_text("mine")
    with pytest.raises(errors.HostError) as caught:
        _core.run(target, workload(), log_path=path)
    assert caught.value.facts["errno"] == errno.EEXIST
    assert path.read_text() == "mine"


def test_what_is_no_log_is_told(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    path.write_text("mine")
    with pytest.raises(errors.HostError, match="not a log"):
        _core.read_log(path)
    with pytest.raises(errors.HostError) as caught:
        _core.read_log(tmp_path / "nothing")
    assert caught.value.facts["errno"] == errno.ENOENT


def test_a_header_that_is_no_json(target: _core.Target) -> None:
    with pytest.raises(ValueError, match="not JSON"):
        _core.run(target, workload(), header="{")


_WITHOUT_ROOM = """
import json, re, resource, sys
from pathlib import Path
from ssdlab import _core
from ssdlab.drives.simulated.profiles import profile_text
from ssdlab.model.errors import of_python

profile, when = profile_text("tiny-test"), sys.argv[1]
made = _core.SimulatedDrive(profile) if when == "copied" else None
now = int(re.search(r"VmSize:\\s*(\\d+)", Path("/proc/self/status").read_text())[1]) << 10
resource.setrlimit(resource.RLIMIT_AS, (now + (16 << 20), now + (16 << 20)))
try:
    _core.SimulatedDrive(profile) if made is None else made.fork()
except BaseException as error:
    told = of_python(error)
    print(json.dumps([told.what, told.advice, told.exit_status, told.facts]))
"""


@pytest.mark.parametrize("when", ["made", "copied"])
def test_a_drive_without_memory_is_told_once_and_without_a_stack(when: str) -> None:
    """Walking the stack for a panic hung where there was no memory for that either."""
    surroundings = {**os.environ, "RUST_BACKTRACE": "1"}
    surroundings.pop("SSDLAB_TRACEBACK", None)
    ended = subprocess.run(
        [sys.executable, "-c", _WITHOUT_ROOM, when],
        capture_output=True,
        text=True,
        env=surroundings,
        timeout=60,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    what, advice, status, facts = json.loads(ended.stdout)
    assert (
        what.startswith("not enough memory for the simulated drive: ") and "scale=N" in advice and status == 3
    )
    if when == "made":
        made = _core.check_profile(profile_text("tiny-test"))
        logical, physical = made["capacity_bytes"] // 4096, made["raw_bytes"] // 4096
        assert facts["needed_bytes"] == 4 * (logical + physical) + physical // 8
        assert f"about {-(-facts['needed_bytes'] // 1_000_000)} MB" in what


def test_a_profile_of_more_than_is_simulated_is_refused_at_any_scale() -> None:
    text = profile_text("intel-p4510-8tb").replace("8001563222016", "700000000000000")
    text = text.replace("blocks_per_plane = { value = 456", "blocks_per_plane = { value = 45600")
    for scale in (1, 64):
        with pytest.raises(errors.UsageError, match="more than 16 TiB of medium, the most") as refused:
            _core.SimulatedDrive(text, scale=scale)
        assert "scale" not in refused.value.what


@pytest.mark.parametrize(
    ("line", "field", "value"),
    [
        ("marks_kib = -1", "collection.marks_kib", "-1"),
        ('marks_kib = { value = "many", source = "physics" }', "collection.marks_kib", '"many"'),
        ("marks_kib = { value = 1.5, source = 'physics' }", "collection.marks_kib", "1.5"),
    ],
)
def test_a_value_of_another_type_is_told_by_its_field(line: str, field: str, value: str) -> None:
    text = profile_text("tiny-test").replace("[collection]", f"[collection]\n{line}")
    number = text.splitlines().index(line) + 1
    with pytest.raises(errors.UsageError) as refused:
        _core.check_profile(text)
    assert refused.value.facts["field"] == field
    assert refused.value.what.startswith(f"{field} is {value}: invalid ")
    assert refused.value.what.endswith(f"(line {number})")
    with pytest.raises(errors.UsageError, match=r"^name is 7: invalid type.*\(line 2\)"):
        _core.check_profile(profile_text("tiny-test").replace('name = "tiny-test"', "name = 7"))
