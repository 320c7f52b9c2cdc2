"""What is in the packages, and the wheel used by somebody who has neither the repository nor root."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import ssdlab
from package.conftest import BUNDLE, ROOT, Installed, system_python

pytestmark = pytest.mark.wheel

MIB = 1 << 20


def committed(folder: str) -> set[str]:
    words = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", folder]
    listed = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return {name for name in listed.split("\0") if name and (ROOT / name).exists()}


def bundle() -> set[str]:
    return {str(path.relative_to(ROOT)) for path in (ROOT / BUNDLE).rglob("*") if path.is_file()}


def test_the_wheel_holds_the_package_its_bundle_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        assert {archive.read(f"ssdlab/report/static/{name}")[:1] for name in ("report.js", "report.css")} != {
            b""
        }
    wanted = {name.removeprefix("python/") for name in committed("python/ssdlab") | bundle()}
    assert names == wanted | {"ssdlab/_core.abi3.so"}
    assert {"ssdlab/py.typed", "ssdlab/report/static/report.js"} <= names
    assert f"ssdlab-{ssdlab.__version__}-cp311-abi3-manylinux_" in wheel.name


def test_the_source_distribution_holds_what_a_build_without_node_needs(sdist: Path) -> None:
    top = f"ssdlab-{ssdlab.__version__}/"
    with tarfile.open(sdist) as archive:
        names = {member.name.removeprefix(top) for member in archive.getmembers() if member.isfile()}
    assert committed("python/ssdlab") | bundle() <= names
    sources = {name for name in committed("crates") if name.endswith((".rs", "Cargo.toml"))}
    assert sources <= names
    assert {"Cargo.toml", "Cargo.lock", "pyproject.toml", "LICENSE"} <= names
    assert {"scripts/build_backend.py", "scripts/third_party.py"} <= names


def test_it_tells_its_version_and_lies_where_it_was_installed(installed: Installed) -> None:
    assert installed.ssdlab("--version").split()[0] == ssdlab.__version__
    place = installed.run(installed.python, "-c", "import ssdlab; print(ssdlab.__file__)")
    assert place.startswith(str(installed.environment))


def test_every_module_finds_what_it_imports(installed: Installed) -> None:
    code = (
        "import importlib, pkgutil, ssdlab\n"
        "names = [each.name for each in pkgutil.walk_packages(ssdlab.__path__, 'ssdlab.')]\n"
        "for name in names:\n"
        "    name.endswith('__main__') or importlib.import_module(name)\n"
        "print(len(names))\n"
    )
    assert int(installed.run(installed.python, "-c", code)) > 200


def test_a_demo_and_its_report(installed: Installed) -> None:
    told = json.loads(installed.ssdlab("demo", "--output", "demo.html", "--json"))
    page = (installed.home / "demo.html").read_text()
    assert "echarts" in page and len(page) > 700_000
    assert told["runs"]
    runs = list((installed.home / ".local/share/ssdlab/runs").glob("*/manifest.json"))
    assert len(runs) == len(told["runs"])


def test_a_plan_and_a_run_on_a_simulated_drive(installed: Installed) -> None:
    plan = json.loads(installed.ssdlab("plan", "qd1", "sim:tiny-test", "--quick", "--json"))
    run = json.loads(installed.ssdlab("run", "qd1", "sim:tiny-test", "--quick", "--json"))
    assert plan["steps"]
    assert run["status"] == "finished"


def test_a_run_on_a_file(installed: Installed) -> None:
    words = ("--size", "16MiB", "--quick", "--set", "seconds=100ms", "--set", "size_seconds=100ms", "--json")
    run = json.loads(installed.ssdlab("run", "qd1", "scratch.img", *words))
    assert run["status"] == "finished"
    assert (installed.home / "scratch.img").stat().st_size == 16 * MIB


def test_a_method_of_another_package(installed: Installed) -> None:
    assert "How reads at depth 1 suffer" in installed.ssdlab("methods", "after-writes")
    run = json.loads(installed.ssdlab("run", "after-writes", "sim:tiny-test", "--quick", "--json"))
    assert "reads_after_writes" in {each["name"] for each in run["result"]["scalars"]}


def test_a_served_drive_and_a_client(installed: Installed) -> None:
    image, back = (installed.home / name for name in ("image", "back"))
    data = os.urandom(MIB)
    server = installed.begin(
        "ssdlab", "sim", "serve", "tiny-test,scale=4", "--socket", "drive.sock", "--json"
    )
    try:
        assert server.stderr is not None
        said = server.stderr.readline()
        while "nbd+unix" not in said:
            assert said, "the server ended"
            said = server.stderr.readline()
        uri = f"nbd+unix:///?socket={installed.home}/drive.sock"
        size = int(installed.run("nbdinfo", "--size", uri))
        assert size == 4096 * MIB
        image.write_bytes(data)
        os.truncate(image, size)
        image.chmod(0o644)
        installed.run("nbdcopy", image, uri)
        installed.run("nbdcopy", uri, back)
    finally:
        server.send_signal(signal.SIGINT)
        output, errors = server.communicate()
    assert back.stat().st_size == size
    with back.open("rb") as file:
        assert file.read(2 * MIB) == data + bytes(MIB)
    assert json.loads(output)["written_bytes"] >= MIB, errors


def test_it_says_that_it_is_typed(installed: Installed, tmp_path: Path) -> None:
    user = tmp_path / "user.py"
    user.write_text("import ssdlab\n\niops: str = ssdlab.measure('sim:tiny-test').iops\n")
    words = ["--strict", "--python-executable", str(installed.python), "--follow-imports", "silent"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *words, str(user)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert 'expression has type "float"' in done.stdout, done.stdout
    assert done.stdout.count("error:") == 1, done.stdout


@pytest.mark.parametrize(
    "words",
    [
        "doctor",
        "doctor --json",
        "drives",
        "drives drive",
        "plan peak-random-read drive",
        "measure drive --seconds 50ms --allow-unwritten",
        "run trim-validation drive --quick --destroy drive",
    ],
)
def test_every_verb_works_without_rights(installed: Installed, words: str) -> None:
    installed.run("truncate", "--size=64M", installed.home / "drive")
    installed.ssdlab(*words.split())


@pytest.mark.parametrize("program", ["uv", "pipx"])
def test_others_install_it_too(installed: Installed, installers: Path, wheel: Path, program: str) -> None:
    """As a tool of the user's own, with no index to ask: what it depends on is all there."""
    local = ["--no-index", "--find-links", str(installed.wheels)]
    words = {
        "uv": ["tool", "install", "--quiet", "--offline", *local],
        "pipx": ["install", "--quiet", "--backend", "uv", f"--pip-args={' '.join(local)}"],
    }
    python = system_python(installed)
    installed.run(installers / program, *words[program], "--python", python, installed.wheels / wheel.name)
    tool = installed.home / ".local/bin/ssdlab"
    assert installed.run(tool, "--version").split()[0] == ssdlab.__version__
    assert (
        json.loads(installed.run(tool, "run", "qd1", "sim:tiny-test", "--quick", "--json"))["status"]
        == "finished"
    )
    installed.run(installers / program, *(["tool"] if program == "uv" else []), "uninstall", "ssdlab")
    assert not tool.exists()


def test_nothing_was_written_beside_the_program(installed: Installed) -> None:
    before = installed.files()
    installed.ssdlab("measure", "sim:tiny-test", "--seconds", "1")
    installed.ssdlab("doctor")
    assert installed.files() == before
