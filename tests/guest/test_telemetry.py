"""Telemetry of drives behind the kernel's real drivers: what they say, and that they may rest.

QEMU's NVMe drive has a SMART log and no power states; its SATA drive SMART attributes and no statistics.
"""

from __future__ import annotations

import json

import pytest

from methods.on_simulated import findings_of
from ssdlab.lab.outcome import parse_result
from ssdlab.results.claim import as_sentence
from ssdlab.results.remarks import gathered_departures
from ssdlab.results.schema import Manifest

RESTING = """
# What a run does of two measured steps with an idle step between them; times are the kernel's monotonic.
import json, sys, time
from ssdlab.drives import open_drive
from ssdlab.model.options import MeasureOptions
from ssdlab.runs.observe import Witness

workload = MeasureOptions(rw="randread", seconds=3).workload(())
with open_drive(sys.argv[1]) as drive:
    witness = Witness(drive)
    with witness.watching() as watched:
        first = watched.ended(drive.run(workload))
    rests = [time.monotonic()]
    drive.idle(float(sys.argv[2]))
    rests.append(time.monotonic())
    told = drive.health()["temperature_c"]
    with witness.watching() as watched:
        second = watched.ended(drive.run(workload))
print(json.dumps({"rests": rests, "temperature_c": told, "samples": [first.samples, second.samples]}))
"""


def measured(guest, drive: str) -> dict:
    """Read a drive for three seconds in the guest, and give what it told meanwhile."""
    done = guest.ssdlab("measure", drive, "--rw", "randread", "--seconds", "3", "--json", limit_s=300)
    assert done.status == 0, done
    return json.loads(done.out)


@pytest.fixture(scope="module")
def nvme(guest) -> tuple[dict, dict, dict]:
    """A measurement of the NVMe drive, and what `nvme smart-log` said of it before and after."""
    asked = "nvme smart-log /dev/nvme0 -o json"
    before = json.loads(guest.must(asked))
    return measured(guest, "/dev/nvme0n1"), before, json.loads(guest.must(asked))


def test_nvme_says_what_its_own_tool_says(nvme) -> None:
    """Temperature in Kelvin and data units of 512,000 bytes, as nvme-cli prints them of the same log."""
    shown, before, after = nvme
    health = shown["telemetry"]["health"]
    assert health["source"] == "nvme"
    assert health["temperature_c"] == int(after["temperature"]) - 273
    assert health["host_read_bytes"] == int(after["data_units_read"]) * 512_000
    assert health["host_written_bytes"] == int(after["data_units_written"]) * 512_000
    assert health["media_errors"] == int(after["media_errors"])
    assert health["used_pct"] == int(after.get("percent_used", after.get("percentage_used", -1)))
    grown = (int(after["data_units_read"]) - int(before["data_units_read"])) * 512_000
    # Data units count in thousands of blocks; opening the drive reads some blocks as well.
    assert abs(grown - shown["read"]["bytes"]) < 8 << 20


def test_it_is_sampled_once_a_second(nvme) -> None:
    telemetry = nvme[0]["telemetry"]
    length_s = (telemetry["ended_ns"] - telemetry["began_ns"]) / 1e9
    assert 1 <= telemetry["samples"] <= length_s + 1
    assert telemetry["hottest_c"] == 50
    assert telemetry["sources"][0] == "NVMe SMART log"
    assert {"host CPU", "kernel log"} < set(telemetry["sources"])
    assert telemetry["marks"] == []


def test_in_an_idle_step_nothing_is_sent(guest) -> None:
    """By the kernel's tracepoints of NVMe commands and of block requests: log pages while it reads, nothing
    at all while idle."""
    tracing, switches = (
        "/sys/kernel/tracing",
        "events/nvme/nvme_setup_cmd/enable events/block/block_rq_issue/enable",
    )
    guest.must(
        f"exec 2>&1; grep -q {tracing} /proc/mounts || mount -t tracefs t {tracing}; cd {tracing}; "
        "echo mono > trace_clock; echo 32768 > buffer_size_kb; echo > trace; "
        f"for each in {switches}; do echo 1 > $each; done"
    )
    number = guest.must("cat /sys/block/nvme0n1/dev").strip().replace(":", ",")
    try:
        done = guest.python(RESTING, "/dev/nvme0n1", "6", limit_s=300)
    finally:
        trace = guest.must(
            f"cd {tracing}; for each in {switches}; do echo 0 > $each; done; "
            "sed -nE 's/.* ([0-9]+\\.[0-9]+): (nvme_setup_cmd|block_rq_issue): (.*)/\\1 \\2 \\3/p' trace",
            limit_s=120,
        )
    assert done.status == 0, done
    found = json.loads(done.out)
    events = [(float(at), line) for at, _, line in (one.partition(" ") for one in trace.splitlines())]
    start, end = found["rests"]
    assert end - start >= 6
    assert found["temperature_c"] == 50, "what lab.health() gives"
    logs = [at for at, line in events if line.startswith("nvme_setup_cmd") and "qid=0" in line]
    requests = [at for at, line in events if line.startswith(f"block_rq_issue {number} ")]
    assert len(logs) >= sum(found["samples"]) >= 2, "the tracepoint sees the questions"
    for seen in (logs, requests):
        assert any(at < start for at in seen)
        assert any(at > end for at in seen)
    for line in (line for at, line in events if start < at < end):
        assert line.startswith("block_rq_issue ") and not line.startswith(f"block_rq_issue {number} "), line


def test_sata_says_what_its_own_tool_says(guest) -> None:
    telemetry = measured(guest, "/dev/sda")["telemetry"]
    tool = json.loads(guest.run("smartctl -j -a /dev/sda", limit_s=60).out)
    assert telemetry["health"]["source"] == "ata"
    assert telemetry["health"]["temperature_c"] == tool["temperature"]["current"]
    assert (telemetry["health"]["failing"] == []) == tool["smart_status"]["passed"]
    assert "NVMe SMART log" not in telemetry["sources"]


def test_what_a_drive_lacks_for_saving_power_is_said(guest) -> None:
    """QEMU's NVMe drive has one power state and no APST; the policy of its SATA port is the kernel's file."""
    shown = guest.ssdlab("conditions", "show", "/dev/nvme0n1", limit_s=200)
    assert shown.status == 0, shown
    (apst,) = (line for line in shown.out.splitlines() if line.startswith("apst"))
    assert "not supported" in " ".join(shown.out.split()), apst
    shown = guest.ssdlab("conditions", "show", "/dev/sda", limit_s=200)
    policy = guest.must("cat /sys/class/scsi_host/host*/link_power_management_policy | sort -u").split()
    (link,) = (line for line in shown.out.splitlines() if line.startswith("link_power"))
    assert link.split()[1] in policy


def test_idle_power_says_what_the_drive_lacks(guest) -> None:
    """One power state, no APST and nothing that meters: each is said, and no watts are guessed."""
    words = ("run", "idle-power", "/dev/nvme0n1", "--quick", "--json")
    done = guest.ssdlab(*words, limit_s=600, tables=False)
    assert done.status == 0, done
    told = json.loads(done.out)
    result = told["result"]
    assert [state["name"] for state in result["states"]] == ["ps0"]
    assert result["lacks"] == [
        "it has no APST: it enters no low-power state by itself",
        "it has one power state, and no idle state",
        "its power states do not report their idle power",
    ]
    lacks = [as_sentence(each) for each in result["lacks"]]
    assert findings_of(parse_result(result)) == [*lacks, "No power figures: the drive was not metered."]
    manifest = Manifest.model_validate(told["manifest"] | {"status": "finished"})  # without its tables
    (quick,) = (each.what for each in gathered_departures(manifest) if each.code == "quick")
    assert "time 2 s instead of 60 s" in quick
    assert [scalar["value"] for scalar in result["scalars"]] == [None], "one way to rest has one figure"
    (rest,) = result["rests"]
    assert (rest["label"], rest["state"], rest["mean_w"]) == ("at rest", None, None)
    assert rest["reads"] == 5 and rest["first_ns"] > 0
