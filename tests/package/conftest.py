"""The wheel installed as a user would: an empty environment, away from the repository, without root."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from machine import mounts
from methods.foreign import fenced, whole_method

ROOT = Path(__file__).parents[2]
DIST = ROOT / "dist"
BUNDLE = "python/ssdlab/report/static"
NOBODY = 65534
AS_NOBODY = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--bounding-set=-all")
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"


class Installed:
    """An environment with ssdlab and a plug-in package; nobody may write to it.

    Attributes
    ----------
    home
        Home and working folder of the user.
    python
        The environment's interpreter.
    wheels
        Where its packages come from: the wheel, and what it depends on as locked.
    """

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.home.mkdir()
        self.environment = folder / "environment"
        self.python = self.environment / "bin" / "python"
        self.wheels = folder / "wheels"
        if os.geteuid() == 0:
            folder.chmod(0o755)
            os.chown(self.home, NOBODY, NOBODY)
            self.environment.mkdir()
            os.chown(self.environment, NOBODY, NOBODY)

    def words(self, program: Path | str, *words: object) -> list[str]:
        """Return a command line that runs as the user, with nothing of this process's environment."""
        variables = (f"HOME={self.home}", f"PATH={self.environment}/bin:{SYSTEM_PATH}", "LANG=C.UTF-8")
        user = AS_NOBODY if os.geteuid() == 0 else ()
        return [*user, "env", "-i", *variables, str(program), *map(str, words)]

    def run(self, program: Path | str, *words: object) -> str:
        """Run a program as the user, and return what it prints; a failure fails the test."""
        done = self.begin(program, *words)
        output, errors = done.communicate()
        assert done.returncode == 0, f"{program} {words}\n{output}\n{errors}"
        return str(output)

    def begin(self, program: Path | str, *words: object) -> subprocess.Popen[Any]:
        """Begin a program as the user."""
        pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        return subprocess.Popen(self.words(program, *words), cwd=self.home, **pipes)

    def ssdlab(self, *words: object) -> str:
        return self.run("ssdlab", *words)

    def files(self) -> dict[str, tuple[int, int]]:
        """Return size and time of change of each file of the environment."""
        found = (path for path in self.environment.rglob("*") if not path.is_symlink())
        return {str(path): ((facts := path.stat()).st_size, facts.st_mtime_ns) for path in found}

    def close(self) -> None:
        """Let nobody write to the environment from here on, its owner included."""
        for path in (self.environment, *self.environment.rglob("*")):
            if not path.is_symlink():
                path.chmod(path.stat().st_mode & ~0o222)
                if os.geteuid() == 0:
                    os.chown(path, 0, 0)


def built(pattern: str) -> Path:
    """Return the one package of a kind that was built."""
    found = sorted(DIST.glob(pattern))
    assert len(found) == 1, f"dist/{pattern}: {len(found)} files; make test-all builds what is tested"
    return found[0]


@pytest.fixture(scope="session")
def wheel() -> Path:
    return built("ssdlab-*.whl")


@pytest.fixture(scope="session")
def sdist() -> Path:
    return built("ssdlab-*.tar.gz")


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    """The wheel and its dependencies, as locked, in an environment of a user without rights."""
    folder = Path(tempfile.mkdtemp(prefix="ssdlab-wheel-", dir=real_file_system()))
    try:
        user = Installed(folder)
        python = system_python(user)
        download_dependencies(
            user.wheels, user.run(python, "-c", "import sys; print(*sys.version_info[:2], sep='.')")
        )
        shutil.copy(wheel, user.wheels)
        make_plugin(user.wheels)
        user.run(python, "-m", "venv", user.environment)
        user.run(
            *(user.python, "-m", "pip", "install", "--quiet", "--no-index", "--find-links", user.wheels),
            *(user.wheels / wheel.name, "after-writes"),
        )
        user.close()
        yield user
    finally:
        subprocess.run(["chmod", "-R", "u+w", folder], check=True)
        shutil.rmtree(folder)


@pytest.fixture(scope="session")
def installers() -> Iterator[Path]:
    """A folder of programs that everybody can run: uv and pipx, as locked."""
    with tempfile.TemporaryDirectory(prefix="ssdlab-installers-", dir="/var/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        python = next(filter(None, map(shutil.which, ("/usr/bin/python3", "python3"))))
        subprocess.run([python, "-m", "venv", folder], check=True)
        lock = ROOT / "requirements" / "package.lock"
        words = ["install", "--quiet", "--require-hashes", "--only-binary", ":all:", "-r", lock]
        subprocess.run([folder / "bin" / "python", "-m", "pip", *words], check=True)
        yield folder / "bin"


def real_file_system() -> Path:
    """Return a folder that everybody can reach, for files that are measured."""
    for folder in filter(None, (os.environ.get("SSDLAB_SCRATCH"), "/var/tmp", "/tmp")):
        if mounts.file_system_type(Path(folder)) in {"ext4", "xfs", "btrfs"}:
            return Path(folder)
    pytest.skip("no folder on ext4, xfs or btrfs that all users reach (name one in SSDLAB_SCRATCH)")


def system_python(user: Installed) -> str:
    """Return an interpreter that the user can run: root's own may lie where only root looks."""
    suitable = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))"
    for name in ("/usr/bin/python3", "python3", getattr(sys, "_base_executable", sys.executable)):
        try:
            user.run(name, "-c", suitable)
        except AssertionError:
            continue
        return str(name)
    pytest.skip("no Python 3.11 with venv that every user can run (apt install python3-venv)")


def download_dependencies(folder: Path, version: str) -> None:
    """Lay out the locked versions: an install from them alone shows that the package names all it needs."""
    folder.mkdir()
    words = ["download", "--quiet", "--require-hashes", "--no-deps", "--only-binary", ":all:"]
    lock = ROOT / "requirements" / "run.lock"
    subprocess.run(
        [sys.executable, "-m", "pip", *words, "--python-version", version.strip(), "-r", lock, "-d", folder],
        check=True,
    )


def make_plugin(folder: Path) -> None:
    """Make the package of the document about methods of one's own."""
    code, project = whole_method(), fenced("toml", "The package")
    (entry,) = re.findall(r'^(after-writes = ".*")$', project, re.MULTILINE)
    info = "after_writes-0.1.dist-info"
    files = {
        "after_writes.py": code,
        f"{info}/METADATA": (
            "Metadata-Version: 2.1\nName: after-writes\nVersion: 0.1\nRequires-Dist: ssdlab\n"
        ),
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": f"[ssdlab.methods]\n{entry.replace(chr(34), '')}\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(folder / "after_writes-0.1-py3-none-any.whl", "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
