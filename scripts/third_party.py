"""What of others a wheel holds, compiled or bundled: the texts of its licences, and a bill of materials.

`web/build.mjs` lists npm's packages, since it knows what is in the bundle. The crates are those that cargo
resolves for the native module, read where it unpacked them: nothing is fetched that the build does not need.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

BUNDLE = Path("python/ssdlab/report/static")
_TEXT = re.compile(r"((un)?licen[cs]es?|copying|copyright|notice)", re.IGNORECASE)
_RULE = "-" * 78


@dataclass(frozen=True)
class Part:
    """Code of others: a component as CycloneDX writes it, and the texts that it came with by their names."""

    component: dict[str, Any]
    texts: dict[str, str]

    @property
    def title(self) -> str:
        """Return name and version."""
        return f"{self.component['name']} {self.component['version']}"


def parts() -> list[Part]:
    """Return all that a wheel built here would hold."""
    return [*_npm_packages(), *_crates(), _standard_library()]


def licence_texts(parts: list[Part]) -> str:
    """Return who wrote what under which licence, then each text once, with the parts it belongs to."""
    titles = [f"{part.title}: {part.component['licenses'][0]['expression']}" for part in parts]
    owners: dict[str, list[str]] = {}
    for part in parts:
        for name, text in part.texts.items():
            owners.setdefault(text.strip("\n"), []).append(f"{part.title}, {name}")
    pages = ["\n".join(["ssdlab holds code of others, under licences of their own:", "", *titles])]
    pages += ["\n".join([_RULE, *names, _RULE, "", text]) for text, names in owners.items()]
    return "\n\n".join(pages) + "\n"


def bill_of_materials(parts: list[Part], version: str) -> str:
    """Return a CycloneDX document without times or places: the same sources give the same bytes."""
    purl = f"pkg:pypi/ssdlab@{version}"
    itself = {"type": "application", "bom-ref": purl, "name": "ssdlab", "version": version, "purl": purl}
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {**itself, "licenses": [{"expression": "Apache-2.0"}]}},
        "components": [part.component for part in parts],
        "dependencies": [{"ref": purl, "dependsOn": [part.component["bom-ref"] for part in parts]}],
    }
    return json.dumps(document, indent=1) + "\n"


def _npm_packages() -> Iterator[Part]:
    for component in json.loads((BUNDLE / "packages.json").read_text()):
        yield Part(component, _read(BUNDLE / "licences" / component["name"], component["name"]))


def _crates() -> Iterator[Part]:
    resolved = ["--locked", "--filter-platform", (target := _target())]
    packages = json.loads(_output("cargo", "metadata", "--format-version", "1", *resolved))["packages"]
    # The tree has no paths; the metadata has crates that other members of the workspace alone ask for.
    words = ["--package", "ssdlab-bindings", "--edges", "normal", "--prefix", "none", "--format", "{p}"]
    tree = _output("cargo", "tree", "--locked", "--target", target, *words)
    linked = set(re.findall(r"^(\S+) v(\S+)", tree, re.MULTILINE))
    locked = tomllib.loads(Path("Cargo.lock").read_text())["package"]
    checksums = {(each["name"], each["version"]): each.get("checksum") for each in locked}
    for each in sorted(packages, key=lambda each: (each["name"], each["version"])):
        name, version = each["name"], each["version"]
        # What has no source is a crate of this workspace.
        if (name, version) in linked and each["source"]:
            component = _component("cargo", name, version, each["license"].replace("/", " OR "))
            component["hashes"] = [{"alg": "SHA-256", "content": checksums[name, version]}]
            yield Part(component, _read(Path(each["manifest_path"]).parent, name))


def _standard_library() -> Part:
    """Return Rust's own library, of whose two licences the one is taken that this package is under itself."""
    component = _component("generic", "rust-std", _rustc("release"), "Apache-2.0")
    return Part(component, {"LICENSE": Path("LICENSE").read_text()})


def _component(kind: str, name: str, version: str, licence: str) -> dict[str, Any]:
    purl = f"pkg:{kind}/{quote(name)}@{quote(version)}"
    facts = {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}
    return {**facts, "licenses": [{"expression": licence}]}


def _read(folder: Path, name: str) -> dict[str, str]:
    """Return the texts of licences in a folder and below; a package without any must not be shipped."""
    top = [path for path in folder.iterdir() if _TEXT.match(path.name)]
    files = sorted(file for path in top for file in (path.rglob("*") if path.is_dir() else [path]))
    texts = {str(file.relative_to(folder)): file.read_text() for file in files if file.is_file()}
    if not texts:
        sys.exit(f"{name} comes without the text of its licence: {folder} has none, and a package needs it")
    return texts


def _target() -> str:
    return os.environ.get("CARGO_BUILD_TARGET") or _rustc("host")


def _rustc(fact: str) -> str:
    return re.findall(rf"^{fact}: (.*)$", _output("rustc", "-vV"), re.MULTILINE)[0]


def _output(*words: str) -> str:
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"what is compiled cannot be listed: {' '.join(words)} failed")
    return done.stdout
