"""The machine itself: what the other tests of this folder rely on."""

from __future__ import annotations


def test_the_drives_are_there(guest) -> None:
    sizes = " ".join(f"nvme0n{nsid}/queue/logical_block_size" for nsid in (1, 2))
    listed = guest.must(f"cd /sys/block && ls -d nvme* sd* vd* && cat {sizes}")
    assert listed.split() == ["nvme0n1", "nvme0n2", "sda", "vda", "512", "4096"]


def test_output_and_status_come_back(guest) -> None:
    done = guest.run("echo out; echo err >&2; exit 3")
    assert (done.status, done.out, done.err) == (3, "out\n", "err\n")


def test_commands_run_beside_each_other(guest) -> None:
    waiting = guest.start("until [ -e /tmp/go ]; do sleep 0.05; done; echo gone")
    guest.must("touch /tmp/go")
    assert waiting.wait().out == "gone\n"


def test_the_host_is_not_written(guest, tmp_path) -> None:
    guest.must(f"mkdir -p {tmp_path} && echo x >{tmp_path}/written && cat {tmp_path}/written")
    assert not (tmp_path / "written").exists()


def test_ssdlab_runs(guest) -> None:
    listed = guest.ssdlab("drives", "--json", limit_s=90)
    assert listed.status == 0, listed
    assert "GUEST-NVME-1/1" in listed.out
