"""The scaffold: prerequisites are said before anything is done, and locks hold no address."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CHECK = ROOT / "scripts" / "prerequisites.sh"
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
REQUIREMENTS = [f"requirements/{name}.lock" for name in ("run", "dev", "package")]
LOCKS = [*REQUIREMENTS, "Cargo.lock", "web/package-lock.json"]
PROGRAMS = ("python3", "rustc", "cargo", "cc", "node", "npm")


def fake(folder: Path, name: str, says: str) -> None:
    """A program that answers every question with one line."""
    path = folder / name
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(0o755)


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder with the three prerequisites, all new enough, and the tools that the script itself uses."""
    for name, says in (
        ("python3", "3.11"),
        ("rustc", "rustc 1.88.0 (stable)"),
        ("cargo", "cargo 1.88.0"),
        ("cc", "cc"),
        ("node", "v20.0.0"),
        ("npm", "10.0.0"),
    ):
        fake(tmp_path, name, says)
    for tool in ("sh", "cut", "tr"):
        found = shutil.which(tool)
        assert found is not None
        (tmp_path / tool).symlink_to(found)
    return tmp_path


def check(programs: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(CHECK), *arguments], env={"PATH": str(programs)}, text=True, capture_output=True, check=False
    )


def test_nothing_is_said_when_nothing_is_missing(programs: Path) -> None:
    said = check(programs)
    assert (said.returncode, said.stdout, said.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("program", "says", "message"),
    [
        ("python3", None, "Python 3.11 or later (found: none)"),
        ("python3", "3.10", "Python 3.11 or later (found: 3.10)"),
        ("rustc", None, "a stable Rust toolchain, 1.88 or later (found: none)"),
        ("rustc", "rustc 1.87.1 (old)", "a stable Rust toolchain, 1.88 or later (found: 1.87.1)"),
        ("cargo", None, "a stable Rust toolchain, 1.88 or later (found: none)"),
        ("cc", None, "a C linker"),
        ("node", None, "Node 20 or later, for the build of the report page only (found: none)"),
        ("node", "v18.19.1", "(found: 18.19.1)"),
        ("npm", None, "npm, which comes with Node"),
    ],
)
def test_what_is_missing_is_said_with_what_to_do(
    programs: Path, program: str, says: str | None, message: str
) -> None:
    (programs / program).unlink()
    if says is not None:
        fake(programs, program, says)
    said = check(programs)
    assert said.returncode == 1
    what, *advice = said.stderr.splitlines()
    assert what.startswith("missing: ")
    assert message in what
    assert advice
    assert all(line.startswith("    ") for line in advice)
    assert said.stderr.count("missing: ") == 1


def test_all_three_are_told_at_once(programs: Path) -> None:
    for program in PROGRAMS:
        (programs / program).unlink()
    assert check(programs).stderr.count("missing: ") == 4


def test_the_newest_suitable_python_is_taken(programs: Path) -> None:
    fake(programs, "python3", "3.9")
    fake(programs, "python3.12", "3.12")
    assert check(programs, "--print-python").stdout == "python3.12\n"


def test_make_says_it_before_doing_anything(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    clone = tmp_path_factory.mktemp("clone")
    for name in ("Makefile", "scripts", "requirements", "pyproject.toml", "Cargo.toml", "Cargo.lock"):
        source = ROOT / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, clone / name)
    for folder in ("crates", "web/src"):
        (clone / folder).mkdir(parents=True)
    for name in ("package.json", "package-lock.json", "build.mjs"):
        (clone / "web" / name).touch()
    (programs / "node").unlink()
    for tool in ("make", "find", "dirname", "env"):
        found = shutil.which(tool)
        assert found is not None
        (programs / tool).symlink_to(found)
    for verb in ("demo", "test", "wheel", "sdist"):
        said = subprocess.run(
            ["make", verb],
            cwd=clone,
            env={"PATH": str(programs)},
            text=True,
            capture_output=True,
            check=False,
        )
        assert said.returncode != 0
        assert "missing: Node 20 or later" in said.stderr
        assert not (clone / ".venv").exists()


def test_everything_is_fetched_before_anything_is_compiled() -> None:
    words = ["make", "--dry-run", "--always-make", "setup"]
    told = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    fetched = [told.index(f'fetch "{what}"') for what in FETCHED]
    assert max(fetched) < told.index("maturin develop")
    assert max(fetched) < told.index("npm run")
    assert len(re.findall(r"pip install|npm ci|cargo fetch", told)) == len(FETCHED)
    for step in ("Python packages", "packages of the report's page", "compiling", "bundling"):
        assert re.search(rf"setup: {step}.*about \d+ s", told)


FETCHED = ("the Python packages", "the packages of the report's page", "the Rust crates")


def test_what_cannot_be_fetched_is_named() -> None:
    fetch = str(ROOT / "scripts" / "fetch")
    failed = subprocess.run([fetch, "the Rust crates", "false"], capture_output=True, text=True, check=False)
    assert failed.returncode == 1
    what, *advice = failed.stderr.splitlines()
    assert what == "missing: the Rust crates could not be fetched"
    assert "network" in advice[0]
    done = subprocess.run([fetch, "the Rust crates", "true"], capture_output=True, text=True, check=True)
    assert done.stdout + done.stderr == ""


def test_wanted_versions_have_one_source() -> None:
    script = CHECK.read_text()
    wanted = dict(re.findall(r'^(PYTHON|RUST|NODE)_WANTED="([\d.]+)"$', script, re.MULTILINE))
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text())
    package = (ROOT / "web" / "package.json").read_text()
    assert PYPROJECT["project"]["requires-python"] == f">={wanted['PYTHON']}"
    assert cargo["workspace"]["package"]["rust-version"] == wanted["RUST"]
    assert f'"node": ">={wanted["NODE"]}"' in package


def test_requirements_are_those_of_the_package() -> None:
    lines = (ROOT / "requirements" / "run.in").read_text().splitlines()
    named = [line for line in lines if line and not line.startswith("#")]
    assert named == PYPROJECT["project"]["dependencies"]


@pytest.mark.parametrize("name", LOCKS)
def test_locks_record_hashes_and_no_download_address(name: str) -> None:
    text = (ROOT / name).read_text()
    if name == "Cargo.lock":
        # Cargo names its registry as the source of each package: an identity, not where it is fetched from.
        text = text.replace("registry+https://github.com/rust-lang/crates.io-index", "")
    assert not re.search(r"https?:|file:|find-links|index-url|/opt/|/tmp/", text)
    assert re.search(r"sha256:|checksum = |sha512-", text)


def test_every_locked_requirement_has_hashes() -> None:
    for name in REQUIREMENTS:
        text = (ROOT / name).read_text()
        blocks = re.split(r"\n(?=[a-z])", text)
        for block in blocks:
            assert re.match(r"[a-z0-9._-]+==[\w.]+", block), block
            assert "--hash=sha256:" in block, block


def test_ci_runs_every_part() -> None:
    script, parts = (ROOT / ".ci" / "run").read_text(), (ROOT / "scripts" / "test").read_text()
    (every,) = re.findall(r'^every="check test (.*)"$', script, re.MULTILINE)
    # Versions of the day are no commit's fault, and take minutes.
    assert ["quick", *every.split(), "matrix"] == re.findall(r"^    (\w+)\)", parts, re.MULTILINE)
    assert "make check ||" in script and "make test 2>&1" in script
    assert "scripts/test quick" in (ROOT / "Makefile").read_text()
    assert "SSDLAB_NO_SKIP=1" in script
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
