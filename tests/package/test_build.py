"""The package's build: one version everywhere, and no package without the front end of the report."""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import ssdlab

ROOT = Path(__file__).parents[2]
BUNDLE = "python/ssdlab/report/static"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """What a build looks at first, as in a clean clone; nothing is there to be compiled."""
    for name in ("pyproject.toml", "Cargo.toml", "scripts/build_backend.py", "scripts/third_party.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


@pytest.fixture
def watched(tmp_path: Path) -> dict[str, str]:
    """An environment in which a build that begins leaves a trace."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("maturin", "cargo"):
        (tools / name).write_text(f"#!/bin/sh\necho {name} >>{tmp_path}/begun\nexit 1\n")
        (tools / name).chmod(0o755)
    return {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}


def bundle(clone: Path, *left_out: str, empty: str = "") -> None:
    for name in ("report.js", "report.css", "packages.json"):
        if name not in left_out:
            file = clone / BUNDLE / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("" if name == empty else "text")


def hook(clone: Path, call: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    code = f"import build_backend; build_backend.{call}"
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=clone,
        env={**environment, "PYTHONPATH": "scripts"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "call",
    [
        "get_requires_for_build_wheel()",
        "get_requires_for_build_sdist()",
        'prepare_metadata_for_build_wheel("out")',
        'build_wheel("out")',
        'build_sdist("out")',
    ],
)
def test_without_the_bundle_each_step_of_a_build_refuses_at_once(
    clone: Path, watched: dict[str, str], call: str
) -> None:
    refused = hook(clone, call, watched)
    assert refused.returncode == 1
    assert f"{BUNDLE}/report.js is missing" in refused.stderr
    assert "make wheel" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert not (clone / "begun").exists(), "a build began"


@pytest.mark.parametrize("missing", ["report.js", "report.css", "packages.json"])
def test_half_a_bundle_is_none(clone: Path, watched: dict[str, str], missing: str) -> None:
    bundle(clone, missing)
    assert f"{missing} is missing" in hook(clone, 'build_wheel("out")', watched).stderr
    bundle(clone, empty=missing)
    assert f"{missing} is missing" in hook(clone, 'build_wheel("out")', watched).stderr
    assert not (clone / "begun").exists()
    bundle(clone)
    hook(clone, 'build_wheel("out")', watched)
    assert (clone / "begun").exists()


def test_pip_shows_the_reason(clone: Path, watched: dict[str, str]) -> None:
    words = ["wheel", ".", "--no-build-isolation", "--no-deps", "--no-index"]
    done = subprocess.run(
        [sys.executable, "-m", "pip", *words],
        cwd=clone,
        env=watched,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "the front end of the report is not built" in done.stdout + done.stderr


def test_a_description_has_no_link_to_a_file_beside_it() -> None:
    """An index shows the description alone: what it links to is in the repository, where one is named."""
    text = (ROOT / "README.md").read_text()
    call = f"sys.stdout.write(build_backend.absolute_links({text!r}, 'https://example.org/lab'))"
    shown = hook(ROOT, call, dict(os.environ)).stdout
    before, after = (re.findall(r"\]\(([^)\s]+)\)", each) for each in (text, shown))
    assert "docs/install.md" in before and "docs/images/report.png" in before
    places = ["raw" if name.endswith(".png") else "blob" for name in before]
    made = [
        f"https://example.org/lab/{place}/HEAD/{name}" for place, name in zip(places, before, strict=True)
    ]
    assert after == made
    kept = "[a](https://a.example/b), [c](#d)"
    assert (
        hook(ROOT, f"sys.stdout.write(build_backend.absolute_links({kept!r}, 'x'))", dict(os.environ)).stdout
        == kept
    )


def test_what_the_container_is_built_of_is_there() -> None:
    lines = re.sub(r"\\\n", " ", (ROOT / "Containerfile").read_text()).splitlines()
    copied = [line.split()[1:-1] for line in lines if line.startswith("COPY ") and "--from" not in line]
    assert copied
    for source in (each for words in copied for each in words):
        assert list(ROOT.glob(source)), source


def test_the_version_stands_in_one_place(command: str) -> None:
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    assert ssdlab.__version__ == version
    assert importlib.metadata.version("ssdlab") == version
    told = subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout
    assert told.split()[0] == version
    assert "version" not in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    own = [
        file
        for file in ROOT.glob("crates/*/Cargo.toml")
        if "version.workspace = true" not in file.read_text()
    ]
    assert own == []


def test_the_module_goes_into_the_project_s_own_environment() -> None:
    """Whichever is active: maturin installs into that one, and the project's command is then missing."""
    line = ["make", "--dry-run", "--always-make", "setup"]
    active = {**os.environ, "VIRTUAL_ENV": "/elsewhere", "CONDA_PREFIX": "/elsewhere"}
    said = subprocess.run(line, cwd=ROOT, env=active, capture_output=True, text=True, check=True).stdout
    (recipe,) = [each for each in said.splitlines() if "maturin develop" in each]
    assert f'VIRTUAL_ENV="{ROOT}/.venv"' in recipe
    assert "-u CONDA_PREFIX" in recipe
