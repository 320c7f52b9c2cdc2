"""The wheel on each Python that can be had here, with the lowest versions of what it needs, and the newest.

The versions come from the registry on the day of the test: a release that breaks something fails here first.
"""

from __future__ import annotations

import os
import subprocess
import tomllib
from pathlib import Path

import pytest

from package.conftest import ROOT

# Each runs some thousand tests of its own, on a host however slow.
pytestmark = [pytest.mark.wheel, pytest.mark.matrix, pytest.mark.timeout(3600)]

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
TESTED_WITH = ("hypothesis", "playwright", "pyarrow", "pytest", "pytest-timeout", "pytest-xdist")
SELECTION = [
    *("tests/bindings", "tests/cli", "tests/library", "tests/report"),
    *("-m", "not (long or outside or machine or guest or wheel or slow)"),
    # These need other packages, or ask for the insides of a new DuckDB and mini-racer.
    "--ignore=tests/library/test_frames.py",
    *("-k", "not (native_module or loads_no_numpy or without_masks or drew_samples)"),
    # What pydantic warns of while it writes, a user would see.
    *("-W", "error:Pydantic serializer:UserWarning"),
    *("--numprocesses", str(os.cpu_count()), "--dist", "loadscope", "--quiet"),
]


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13", "3.14"])
@pytest.mark.parametrize("resolution", ["lowest-direct", "highest"])
def test_it_works_with(installers: Path, wheel: Path, tmp_path: Path, python: str, resolution: str) -> None:
    uv, environment = installers / "uv", tmp_path / "environment"
    # pyenv's programs run the version that this names.
    words = [uv, "venv", "--quiet", "--python", python, environment]
    made = subprocess.run(
        words, env={**os.environ, "PYENV_VERSION": python}, capture_output=True, text=True, check=False
    )
    if made.returncode:
        pytest.skip(f"Python {python} is neither here nor to be had")
    extras = PROJECT["optional-dependencies"].values()
    # What is only asked for by the wheel is not "direct", and would be the newest.
    needed = [*PROJECT["dependencies"], *(each for extra in extras for each in extra)]
    subprocess.run(
        [
            *(uv, "pip", "install", "--quiet", "--python", environment, "--only-binary", ":all:"),
            *("--resolution", resolution, wheel, *needed, *locked(*TESTED_WITH)),
        ],
        check=True,
    )
    tests = subprocess.run(
        [environment / "bin" / "python", "-m", "pytest", *SELECTION],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if tests.returncode:
        pytest.fail(tests.stdout + tests.stderr, pytrace=False)


def locked(*names: str) -> list[str]:
    """Return requirements as `requirements/dev.lock` has them."""
    lines = (ROOT / "requirements" / "dev.lock").read_text().splitlines()
    found = {line.split("==")[0]: line.removesuffix("\\").strip() for line in lines if "==" in line}
    return [found[name] for name in names]
