"""What of others is in the wheel: each crate and each npm package is named, with the text of its licence."""

from __future__ import annotations

import json
import re
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.metadata import Metadata

import ssdlab
from package.conftest import ROOT

pytestmark = pytest.mark.wheel

LICENCE = re.compile(r"(un)?licen[cs]e|copying|notice", re.IGNORECASE)


class Contents:
    """A wheel that was opened."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        information = f"ssdlab-{ssdlab.__version__}.dist-info"
        self.licences = archive.read(f"{information}/licenses/third-party.txt").decode()
        self.components = json.loads(archive.read(f"{information}/sboms/ssdlab.cdx.json"))["components"]
        self.metadata = Metadata.from_email(archive.read(f"{information}/METADATA"))
        self.names = [name.removeprefix(f"{information}/") for name in archive.namelist()]
        self.module = archive.read("ssdlab/_core.abi3.so")

    def named(self, kind: str) -> set[tuple[str, str]]:
        """Return names and versions of the components of a kind, as their addresses say it."""
        here = [each for each in self.components if each["purl"].startswith(f"pkg:{kind}/")]
        return {(each["name"], each["version"]) for each in here}


@pytest.fixture(scope="module")
def contents(wheel: Path) -> Iterator[Contents]:
    with zipfile.ZipFile(wheel) as archive:
        yield Contents(archive)


def said(*words: str, folder: Path = ROOT) -> str:
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True).stdout


def holds_texts_of(contents: Contents, folder: Path) -> bool:
    texts = [
        file.read_text().strip("\n")
        for file in folder.iterdir()
        if LICENCE.match(file.name) and file.is_file()
    ]
    return bool(texts) and all(text in contents.licences for text in texts)


def test_every_crate_that_is_linked(contents: Contents) -> None:
    words = ["--locked", "--package", "ssdlab-bindings", "--edges", "normal", "--prefix", "none"]
    tree = set(re.findall(r"^(\S+) v(\S+)", said("cargo", "tree", *words), re.MULTILINE))
    linked = {(name, version) for name, version in tree if not name.startswith("ssdlab-")}
    assert contents.named("cargo") == linked
    # What panics in a crate names its file: the module itself says what was linked.
    seen = re.findall(rb"/registry/src/[^/]+/([\w-]+?)-(\d+\.\d+\.\d+[\w.+-]*)/", contents.module)
    assert {(name.decode(), version.decode()) for name, version in seen} <= linked
    assert len(seen) > 10
    packages = json.loads(said("cargo", "metadata", "--locked", "--format-version", "1"))["packages"]
    folders = {(each["name"], each["version"]): Path(each["manifest_path"]).parent for each in packages}
    assert [crate for crate in sorted(linked) if not holds_texts_of(contents, folders[crate])] == []
    assert [crate for crate in linked if f"\n{' '.join(crate)}: " not in contents.licences] == []


def test_every_npm_package_that_is_bundled(contents: Contents) -> None:
    """What esbuild says of the page's script, asked once more."""
    web = ROOT / "web"
    code = (
        "import { build } from 'esbuild';"
        "const made = await build({ entryPoints: ['src/page.ts', 'src/stills.ts'], outdir: 'x', bundle: true,"
        " write: false, metafile: true, logLevel: 'error' });"
        "console.log(Object.keys(made.metafile.inputs).join('\\n'))"
    )
    inputs = said("node", "--input-type=module", "--eval", code, folder=web)
    packages = set(re.findall(r"node_modules/([^/\n]+)/", inputs))
    assert {"echarts", "zrender"} <= packages
    assert {name for name, _ in contents.named("npm")} == packages
    for name, version in contents.named("npm"):
        assert json.loads((web / "node_modules" / name / "package.json").read_text())["version"] == version
        assert holds_texts_of(contents, web / "node_modules" / name), name
    # ECharts took over code of others, whose text lies in a folder of its own.
    taken = [file.read_text().strip("\n") for file in (web / "node_modules/echarts/licenses").iterdir()]
    assert all(text in contents.licences for text in taken)


def test_the_metadata_names_each_licence_file(contents: Contents) -> None:
    assert contents.metadata.license_files == ["LICENSE", "third-party.txt"]
    assert {f"licenses/{name}" for name in contents.metadata.license_files} <= set(contents.names)
    assert [name for name in contents.names if name.startswith("sboms/")] == ["sboms/ssdlab.cdx.json"]


def test_nothing_in_it_tells_where_or_when_it_was_built(contents: Contents) -> None:
    text = json.dumps(contents.components)
    assert str(ROOT) not in text and "file:" not in text
    assert str(ROOT).encode() not in contents.module


def test_the_native_module_is_without_line_numbers(contents: Contents, wheel: Path, tmp_path: Path) -> None:
    (tmp_path / "module").write_bytes(contents.module)
    sections = said("readelf", "--section-headers", "--wide", str(tmp_path / "module"))
    assert ".text" in sections and ".debug_" not in sections
    assert len(contents.module) < 8 << 20
    assert wheel.stat().st_size < 5 << 20
