"""docs/fleet.md from nothing to a Slurm of two nodes: its commands and slurm.conf, with our own daemons."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from fleet import slurm_cluster
from fleet.slurm_cluster import Cluster, free_ports

pytestmark = pytest.mark.long

PAGE = (Path(__file__).parents[2] / "docs" / "fleet.md").read_text(encoding="utf-8")
SECTION = PAGE[PAGE.index("## With Slurm") : PAGE.index("## The page of a model")]
NODES = ("rack1-01", "rack1-02")
SELECTION = """
[[drives]]
serials = ["A1", "A2"]
[[work]]
run = "steady-random-write"
quick = true
set = { seconds = "200ms" }
"""


def commands() -> list[str]:
    blocks = re.findall(r"^```console\n(.*?)^```", SECTION, re.MULTILINE | re.DOTALL)
    return re.findall(r"^\$ (.+)$", "".join(blocks), re.MULTILINE)


def page_conf() -> str:
    found = re.search(r"^```conf\n(.*?)^```", SECTION, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


class FromThePage(Cluster):
    """Slurm with the page's own slurm.conf and gres.conf in `pages`; where its daemons live is added."""

    pages: ClassVar[Path]

    def _write(
        self,
        drives: Mapping[str, Sequence[str]],
        licences: Sequence[str],
        cpus: int,
        counts: Mapping[str, int],
    ) -> None:
        written = self.pages
        ports = free_ports(1 + len(drives))
        text = page_conf().replace("/etc/slurm", str(written)).replace("SlurmctldHost=rack1-01\n", "")
        keys = {line.partition("=")[0] for line in text.splitlines()}
        ours = slurm_cluster.CONF.format(
            folder=self.folder, port=ports[0], down_after_s=20, licences="", more="", nodes=""
        )
        kept = [line for line in ours.splitlines() if line.partition("=")[0] not in keys]
        (self.folder / "slurm.conf").write_text("\n".join(kept) + "\n" + text)
        (self.folder / "gres.conf").write_text((written / "gres.conf").read_text())
        nodes = (written / "nodes.conf").read_text()
        for node, port in zip(drives, ports[1:], strict=True):
            here = f"NodeName={node} NodeHostname=localhost NodeAddr=127.0.0.1 Port={port} "
            assert f"NodeName={node} " in nodes
            nodes = nodes.replace(f"NodeName={node} ", here)
        (written / "nodes.conf").write_text(nodes)


def test_from_nothing_to_a_slurm_of_two_nodes(make_slurm: Callable[..., Any], tmp_path: Path) -> None:
    FromThePage.pages = tmp_path / "etc"
    (tmp_path / "selection.toml").write_text(SELECTION)
    own = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    shown, daemons, cluster = "", [], None
    for command in commands():
        if command.startswith("systemctl restart "):
            daemons.append(command.split()[-1])
            if daemons[-1] == "slurmd":
                cluster = make_slurm({node: [] for node in NODES}, kind=FromThePage)
                own |= {"SLURM_CONF": cluster.environment["SLURM_CONF"]}
            continue
        for folder, there in (("/lab", tmp_path / "lab"), ("/etc/slurm", tmp_path / "etc")):
            there.mkdir(exist_ok=True)
            command = command.replace(folder, str(there))
        done = subprocess.run(
            command,
            shell=True,
            cwd=tmp_path,
            env={**os.environ, **own},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        shown += done.stdout
    assert daemons == ["munge", "slurmctld", "slurmd"]
    assert cluster is not None
    assert "2 jobs: 2 finished" in shown
    for node, serial in zip(NODES, ("A1", "A2"), strict=True):
        assert re.search(rf"^\d+ +{node} +{serial} +steady-random-write +finished", shown, re.MULTILINE)
    assert cluster.ask("sinfo", "--noheader", "--format=%T").stdout.split()
