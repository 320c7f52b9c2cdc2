"""What a guest boots of is made once, however many processes ask for it at the same time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import guest
from guest.image import cache, made_files

ASK = "from guest.image import made_files; print(*made_files()[1])"


def test_three_processes_that_find_nothing_made_get_whole_files(tmp_path: Path) -> None:
    kernel, _ = made_files()
    root = kernel.image.parents[1]
    tests = str(Path(guest.__path__[0]).parent)
    environment = {"XDG_CACHE_HOME": str(tmp_path), "SSDLAB_GUEST_KERNEL": str(root), "PYTHONPATH": tests}
    asking = [
        subprocess.Popen([sys.executable, "-c", ASK], env=os.environ | environment, stdout=subprocess.PIPE)
        for _ in range(3)
    ]
    told = {each.communicate()[0] for each in asking}
    assert [each.returncode for each in asking] == [0, 0, 0]
    assert len(told) == 1, "one set of files"
    folder = tmp_path / "ssdlab-guest" / kernel.release
    assert {file.name for file in folder.iterdir()} == {"vmlinux", "initrd.gz"}, "no draft is left"
    assert (folder / "vmlinux").stat().st_size == (cache() / kernel.release / "vmlinux").stat().st_size
    subprocess.run(["gzip", "-t", folder / "initrd.gz"], check=True)
