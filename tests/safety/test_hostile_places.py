"""Root works in folders of somebody else: what lies there is not run, and nothing is written elsewhere.

The witness is strace: every file that is opened for writing, made, renamed, removed or given other
permissions, by ssdlab and all that it starts.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from conftest import need_root, tool
from safety import run_folders as made
from ssdlab.host import programs

CALLS = (
    "open,openat,openat2,creat,mkdir,mkdirat,mknod,mknodat,link,linkat,symlink,symlinkat,rename,renameat,"
    "renameat2,unlink,unlinkat,rmdir,chmod,fchmodat,chown,lchown,fchownat,truncate,setxattr,lsetxattr"
)
CALL = re.compile(r"^\d+ +(\w+)\((.*)\) = (\d+)(?:<(.*)>)?$")
FOLDER_AND_NAME = re.compile(r'(?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"([^"]*)"')
CODE = """
import pathlib
pathlib.Path({marker!r}).open("a").write(__file__ + "\\n")
raise SystemExit(99)
"""
MODULES = (
    "numpy duckdb pydantic cyclopts json sitecustomize usercustomize ssdlab/__init__ re secrets encodings"
)
KNOWN = ("/dev/null", "/dev/tty", "/dev/zram", "/proc/", "/sys/kernel/tracing", "/sys/kernel/debug/tracing")
"""What docs/safety.md lists, beside the folders that a command names."""
SHELL = "#!/bin/sh\necho $0 >> {marker}\n"
TOOLS = "wipefs hdparm nvme sh uname"


class Place:
    """Folders that belong to somebody else, full of traps, and a private file that nobody may touch."""

    def __init__(self, folder: Path, command: str) -> None:
        self.folder, self.command = folder, command
        self.marker = folder / "marker"
        self.state, self.library, self.target = folder / "state", folder / "library", folder / "target"
        self.here, self.outside = folder / "here", folder / "outside"
        made.make_victims(self.outside)
        for each in (self.library, self.target, self.here, self.library / ".catalogue"):
            each.mkdir()
            each.chmod(0o777)
            os.chown(each, made.NOBODY, made.NOBODY)
        self._traps()

    def _traps(self) -> None:
        for module in MODULES.split():
            path = self.here / f"{module}.py"
            path.parent.mkdir(exist_ok=True)
            path.write_text(CODE.format(marker=str(self.marker)))
        (self.here / "evil.pth").write_text(f"import os; os.system('touch {self.marker}')\n")
        (self.here / "pyproject.toml").write_text("[tool.ssdlab]\n")
        for name in TOOLS.split():
            (self.here / name).write_text(SHELL.format(marker=self.marker))
            (self.here / name).chmod(0o755)
        secret = self.outside / "secret"
        for link in (
            self.library / ".catalogue" / "runs.tmp",
            self.library / ".catalogue" / ".current.json.new",
            self.library / ".measure-1",
            self.target / ".run.img.new",
            self.target / ".run.img.lock",
            self.target / ".page.html.part",
            self.target / ".page.html.new",
        ):
            link.symlink_to(secret)

    def __call__(self, *words: str, program: tuple[str, ...] = ()) -> list[str]:
        """Run a command, see that it works, and return what was written outside the folders that it may."""
        environment = {**os.environ, "XDG_STATE_HOME": str(self.state), "XDG_DATA_HOME": str(self.state)}
        environment |= {"PATH": f".::{self.here}:{os.environ['PATH']}", "TMPDIR": str(self.state)}
        log = self.folder / "calls"
        self.state.mkdir(exist_ok=True)
        traced = [
            tool("strace", "strace"),
            "-f",
            "-y",
            "-qq",
            "-s",
            "4096",
            "-o",
            str(log),
            "-e",
            f"trace={CALLS}",
        ]
        done = subprocess.run(
            [*traced, *(program or (self.command,)), *words],
            cwd=self.here,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return [path for path in written(log.read_text(errors="replace")) if not self._may(path)]

    def _may(self, path: str) -> bool:
        here = (self.state, self.library, self.target)
        caches = path.endswith(".pyc") or "/__pycache__" in path
        known = (
            "/dev/null",
            "/dev/tty",
            "/dev/loop",
            "/dev/zram",
            "/proc/",
            "/sys/kernel/tracing",
            "/sys/kernel/debug",
        )
        return any(Path(path).is_relative_to(each) for each in here) or caches or path.startswith(known)


def written(log: str) -> Iterator[str]:
    """Every path that a successful call has opened for writing or changed."""
    for line in log.splitlines():
        call = CALL.match(line)
        if call is None:
            continue
        name, words, _, opened = call.groups()
        if name.startswith(("open", "creat")):
            if name == "creat" or "O_WRONLY" in words or "O_RDWR" in words or "O_CREAT" in words:
                yield (opened or words).removesuffix(" (deleted)")
            continue
        for folder, named in FOLDER_AND_NAME.findall(words):
            yield os.path.normpath(Path(folder, named))


@pytest.fixture
def place(scratch: Path, command: str) -> Place:
    need_root()
    scratch.chmod(0o755)
    return Place(scratch, command)


def review(place: Place, *program: str) -> None:
    job = place.target / "job.toml"
    job.write_text(made.JOB)
    drive, page, library = str(place.target / "run.img"), str(place.target / "page.html"), str(place.library)
    size = ["--size", "1MiB", "--library", library]
    every = (
        ["measure", drive, "--seconds", "50ms", "--rw", "randwrite", "--save", *size],
        ["job", str(job), drive, *size],
        ["show", "job", "--library", library],
        ["library", "rebuild", "--library", library],
        ["drives"],
        ["doctor"],
    )
    before = made.fingerprint(place.outside)
    for words in every:
        chosen = [words[0], *(runs(place)[-1].name if word == "job" else word for word in words[1:])]
        assert place(*(chosen if words[0] == "show" else words), program=program) == [], words
    run = str(runs(place)[-1])
    for words in (["note", run, "a remark"], ["report", run, "-o", page]):
        assert place(*words, program=program) == [], words
    assert made.fingerprint(place.outside) == before
    assert not place.marker.exists(), place.marker.read_text()


def job_words(place: Place) -> list[str]:
    job = place.target / "job.toml"
    job.write_text(made.JOB)
    return ["job", str(job), str(place.target / "run.img"), "--size", "1MiB", "--library", str(place.library)]


def runs(place: Place) -> list[Path]:
    return sorted(place.library.glob("2*-job-*"))


@pytest.mark.long
def test_root_in_folders_of_somebody_else(place: Place) -> None:
    review(place)


@pytest.mark.outside
def test_so_by_the_module_where_python_is_told_to_be_careful(place: Place) -> None:
    job = place.target / "job.toml"
    job.write_text(made.JOB)
    words = [
        "job",
        str(job),
        str(place.target / "run.img"),
        "--size",
        "1MiB",
        "--library",
        str(place.library),
    ]
    assert place(*words, program=(sys.executable, "-P", "-m", "ssdlab")) == []
    assert not place.marker.exists()


@pytest.mark.outside
def test_what_is_imported_later_does_not_come_from_the_working_folder(place: Place) -> None:
    """`python -m` looks there first; from the first line of ours on that is over, and in every child."""
    for module in MODULES.split():
        if module not in ("numpy", "duckdb"):
            (place.here / f"{module}.py").unlink()
    (place.here / "ssdlab").rmdir()
    job = place.target / "job.toml"
    job.write_text(made.JOB)
    words = [
        "job",
        str(job),
        str(place.target / "run.img"),
        "--size",
        "1MiB",
        "--library",
        str(place.library),
    ]
    assert place(*words, program=(sys.executable, "-m", "ssdlab")) == []
    assert not place.marker.exists(), place.marker.read_text()


@pytest.mark.slow
def test_a_suite_on_a_simulated_drive(place: Place) -> None:
    words = ["run", "quick-look", "sim:tiny-test,scale=4", "--library", str(place.library)]
    assert place(*words) == []
    assert not place.marker.exists(), place.marker.read_text()


def test_tools_of_a_device(place: Place, make_zram: Callable[..., Path]) -> None:
    device = make_zram(1 << 24)
    words = ["measure", str(device), "--rw", "randwrite", "--seconds", "50ms", "--destroy", device.name]
    assert place(*words) == []
    assert not place.marker.exists(), place.marker.read_text()


@pytest.mark.outside
def test_where_programs_are_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need_root()
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    os.chown(foreign, made.NOBODY, made.NOBODY)
    (foreign / "bin").mkdir()
    open_to_all = tmp_path / "open"
    open_to_all.mkdir(mode=0o777)
    open_to_all.chmod(0o777)
    given = f".::relative:{foreign}:{foreign / 'bin'}:{open_to_all}:/usr/bin"
    searched = programs.search_path({"PATH": given}).split(":")
    assert searched == programs.SYSTEM_PATH.split(":")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    searched = programs.search_path({"PATH": given}).split(":")
    assert searched[:4] == [str(foreign), str(foreign / "bin"), str(open_to_all), "/usr/bin"]
    assert all(entry.startswith("/") for entry in searched)


def test_a_child_of_ours_imports_nothing_from_where_it_is_started(tmp_path: Path) -> None:
    """Whatever its working folder is: -P."""
    marker = tmp_path / "marker"
    for module in ("ssdlab/__init__", "json", "numpy"):
        path = tmp_path / f"{module}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(CODE.format(marker=str(marker)))
    words = programs.own_module("ssdlab", "--version")
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not marker.exists(), marker.read_text()


def test_the_environment_of_what_is_started() -> None:
    given = {"PYTHONPATH": ".", "PYTHONSTARTUP": "x.py", "HOME": "/root", "PATH": "."}
    kept = programs.fixed_environment(given)
    assert kept.keys() == {"HOME", "PATH"} and kept["HOME"] == "/root" and "." not in kept["PATH"].split(":")
