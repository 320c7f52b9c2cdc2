"""What a reader calls a drive: what the kernel makes up is no real one."""

from __future__ import annotations

import pytest

from ssdlab.results.schema import DriveInfo


@pytest.mark.parametrize(
    ("stored", "identity", "words"),
    [
        ("block", {"kind": "block", "transport": "pcie", "name": "nvme0n1"}, "Real drive"),
        ("block", {"kind": "partition", "transport": "sata", "name": "sda1"}, "Real drive"),
        ("block", {"kind": "block", "transport": "loop", "name": "loop3"}, "Loop device"),
        ("block", {"kind": "block", "transport": "zram", "name": "zram0"}, "Device in memory (zram)"),
        ("block", {"kind": "block", "transport": None, "name": "nbd0"}, "Network block device"),
        ("block", {"kind": "block", "transport": "virtio", "name": "vda"}, "Virtual disk"),
        ("block", {}, "Real drive"),
        ("file", {"kind": "file", "transport": "loop"}, "File on a file system"),
        ("sim", {"kind": "sim"}, "Simulated drive"),
    ],
)
def test_a_loop_device_is_no_real_drive(stored: str, identity: dict[str, object], words: str) -> None:
    found = DriveInfo.model_validate(
        {
            "text": "x",
            "kind": stored,
            "id": "x",
            "name": "x",
            "capacity_bytes": 1 << 30,
            "logical_block_bytes": 512,
            "identity": identity,
        }
    )
    assert found.words == words
