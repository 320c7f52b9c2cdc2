"""What a process or its host is short of is told as that, and never as damage to a run or a catalogue."""

from __future__ import annotations

import errno
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from library.made import run
from ssdlab import open_drive
from ssdlab.host.durable import library_errors
from ssdlab.library.index import Index
from ssdlab.model.errors import HostError, Refused, shortage_of
from ssdlab.model.workload import Workload
from ssdlab.results import catalogue, tables
from ssdlab.results.run_folder import RunFolder
from ssdlab.results.verifying import verify_run

SHORT = 3


def under(files: int, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command that may have so many files open; what it loads is read before."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

    command = [sys.executable, "-m", "ssdlab", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=limit)


@pytest.mark.parametrize("files", range(5, 13))
@pytest.mark.long
def test_too_few_open_files_are_no_damage(made: dict[str, Path], tmp_path: Path, files: int) -> None:
    """Which file is one too many is for the system to say: each limit is refused as such, or is enough."""
    library = tmp_path / "library"
    for name in ("finished", "measured"):
        shutil.copytree(made[name], library / made[name].name)
    catalogue.rebuild(library)
    for words in (
        ["library", "verify", "--library", str(library)],
        ["library", "rebuild", "--library", str(library)],
        ["runs", "--library", str(library)],
        ["report", str(library / made["finished"].name), "-o", str(tmp_path / "page.html")],
    ):
        done = under(files, *words)
        said = done.stdout + done.stderr
        assert done.returncode in (0, SHORT), said
        assert ("limit of open files" in said) == (done.returncode == SHORT), said
        assert "is damaged" not in said and "cannot be read" not in said, said
    with Index(library) as index:
        assert index.ask("SELECT count(*) FROM runs") == [(2,)]


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENOMEM])
def test_readers_stop_at_a_shortage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    folder = run(tmp_path, 1)
    catalogue.rebuild(tmp_path)

    def short(self: RunFolder) -> None:
        raise OSError(number, "short")

    with monkeypatch.context() as patched:
        patched.setattr(RunFolder, "verify", short)
        for read in (lambda: verify_run(folder), lambda: catalogue.rebuild(tmp_path)):
            with pytest.raises(HostError) as error:
                read()
            assert error.value.facts["shortage"]
    with Index(tmp_path) as index:
        assert index.ask("SELECT count(*) FROM runs") == [(1,)]


@pytest.mark.parametrize(
    ("words", "short"),
    [
        ("Out of Memory Error: Allocation failure", True),
        ("IO Error: Cannot open file x: Too many open files", True),
        ("Invalid Input Error: No magic bytes found", False),
    ],
)
def test_what_the_database_is_short_of_is_no_damage(
    made: dict[str, Path], monkeypatch: pytest.MonkeyPatch, words: str, short: bool
) -> None:
    class Reading:
        def cursor(self) -> Reading:
            return self

        def __enter__(self) -> Reading:
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def execute(self, *_: object) -> None:
            raise duckdb.Error(words)

    monkeypatch.setattr(tables, "_reading", Reading)
    whole = RunFolder(made["finished"])
    with pytest.raises(
        HostError if short else Refused, match="is damaged" if not short else "limit of open files|memory"
    ):
        whole.read_table(tables.SERIES, tables.SERIES_COLUMNS, "true", "row")


@pytest.mark.parametrize("simulated", [True, False], ids=["simulator", "engine"])
def test_rows_that_cannot_be_kept_are_an_error_with_its_number(scratch: Path, simulated: bool) -> None:
    """No measurement comes back whose log is not whole: a file file size limit than 1 KiB meanwhile."""
    reads = {"name": "r", "ops": {"read_pct": 100}, "block": [{"bytes": 4096}], "stop": {"time_ns": 10**8}}
    workload = Workload.model_validate({"streams": [reads], "interval_ns": 1_000_000})
    text = "sim:tiny-test,scale=4" if simulated else str(scratch / "s.img")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with open_drive(text, size=None if simulated else 1 << 20, writing=not simulated) as drive:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, limits[1]))
        try:
            with pytest.raises(HostError) as raised:
                drive.run(workload, log_path=scratch / "rows.log")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert raised.value.facts["errno"] == errno.EFBIG


def test_other_errors_are_no_shortage() -> None:
    for error in (OSError(errno.EIO, "Input/output error"), ValueError("x"), HostError("x", "", errno=5)):
        assert shortage_of(error) is None
    told = HostError("x", "", errno=errno.EMFILE)
    assert shortage_of(told) is not None and shortage_of(MemoryError()) is not None


def test_a_limit_of_file_sizes_is_no_full_disk(tmp_path: Path) -> None:
    with pytest.raises(HostError, match="file size limit") as error, library_errors(tmp_path):
        raise OSError(errno.EFBIG, "File too large")
    assert "ulimit -f" in error.value.advice and error.value.facts["full"] is False
    with pytest.raises(HostError, match="is full") as error, library_errors(tmp_path):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert error.value.facts["full"] is True
