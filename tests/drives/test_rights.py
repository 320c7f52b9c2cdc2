"""What could not be looked at for want of privilege is said, and the rest is shown all the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ssdlab.host.rights import not_seen

_BOTH = "CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH"


@pytest.mark.parametrize(
    ("capabilities", "words"),
    [
        ("000001ffffffffff", []),
        ("0000000000000000", ["CAP_DAC_READ_SEARCH", _BOTH, "CAP_SYS_ADMIN"]),
        ("0000000000200002", [_BOTH]),
        ("0000000000200004", [_BOTH]),
        ("0000000000280004", []),
        ("0000000000280000", ["CAP_DAC_READ_SEARCH", _BOTH]),
    ],
)
def test_by_effective_capabilities(host, capabilities: str, words: list[str]) -> None:
    host.write(host.root / "proc/self", {"status": f"Name:\tx\nCapEff:\t{capabilities}"})
    assert [what.rpartition("(")[2].rstrip(")") for what in not_seen(host.files)] == words


_UNPRIVILEGED = """
import importlib, os, pkgutil, sys
import ssdlab.cli
ssdlab.cli.build_app()
# The checkout may lie where only root reads: all that is needed is imported before.
for module in pkgutil.walk_packages(ssdlab.__path__, "ssdlab."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
sys.exit(ssdlab.cli.main(["drives", sys.argv[1], "--json"]))
"""


def test_a_user_without_rights_is_shown_what_there_is(zram: Path, tmp_path: Path) -> None:
    import json

    environment = {**os.environ, "HOME": "/nonexistent", "XDG_CONFIG_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", _UNPRIVILEGED, str(zram)],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert done.returncode == 0, done
    told = json.loads(done.stdout)
    assert told["identity"]["capacity_bytes"] == 1 << 30
    assert told["conditions"]["device"] == zram.name
    assert told["reading"]["reason"] == "permission"
    assert len(told["not_seen"]) == 3
