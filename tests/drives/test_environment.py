"""What is told of a host, on machines made of files: what is there is read, what is not is None."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from machine import mounts
from ssdlab.drives import open_drive
from ssdlab.drives.environment import environment_facts
from ssdlab.host.block_queue import read_conditions
from ssdlab.host.environment import (
    CgroupLimits,
    IoLimit,
    parse_cpu_list,
    read_environment,
    read_limits,
    read_queues,
)
from ssdlab.host.identity import block_identity

MIB = 1 << 20


def cpu(host, index: int, package: int, core: int) -> None:
    host.write(
        host.root / f"sys/devices/system/cpu/cpu{index}/topology",
        {"physical_package_id": str(package), "core_id": str(core), "die_id": "0"},
    )


@pytest.fixture
def server(host):
    """Two sockets of two cores with two threads each."""
    root = host.root
    host.write(root / "sys/devices/system/cpu", {"online": "0-7", "isolated": "6-7"})
    for index in range(8):
        cpu(host, index, package=index // 2 % 2, core=index % 2)
    host.write(
        root / "sys/devices/system/cpu",
        {
            "cpufreq/policy0/scaling_governor": "performance",
            "cpufreq/policy4/scaling_governor": "powersave",
            "intel_pstate/no_turbo": "1",
            "vulnerabilities/meltdown": "Mitigation: PTI",
            "cpu0/cpuidle/state0/name": "POLL",
            "cpu0/cpuidle/state0/latency": "0",
            "cpu0/cpuidle/state2/name": "C6",
            "cpu0/cpuidle/state2/latency": "133",
            "cpu0/cpuidle/state3/name": "C10",
            "cpu0/cpuidle/state3/latency": "900",
            "cpu0/cpuidle/state3/disable": "1",
        },
    )
    host.write(
        root / "sys/devices/system/node",
        {
            "node0/cpulist": "0-3",
            "node0/meminfo": "Node 0 MemTotal:  131072 kB",
            "node1/cpulist": "4-7",
            "possible": "0-1",
        },
    )
    host.write(root / "sys/devices/system/clocksource/clocksource0", {"current_clocksource": "tsc"})
    host.write(
        root / "proc",
        {
            "cpuinfo": "processor : 0\nmodel name\t: Some CPU @ 2.4GHz\nflags\t\t: fpu vme\n",
            "meminfo": "MemTotal: 1000 kB\nMemFree: 1 kB\nMemAvailable: 900 kB\n",
            "loadavg": "0.50 1.25 2.00 1/99 4711",
            "self/status": "Name:\tx\nCpus_allowed_list:\t0-5\n",
            "sys/kernel/osrelease": "6.8.0",
            "sys/kernel/version": "#1 SMP",
            "sys/kernel/hostname": "bench7",
        },
    )
    return host


def test_the_processors(server) -> None:
    found = read_environment(files=server.files).cpu
    assert (found.model_name, found.sockets, found.cores, found.cpus) == ("Some CPU @ 2.4GHz", 2, 4, 8)
    assert (found.allowed, found.isolated) == (6, "6-7")
    assert found.governors == ("performance", "powersave")
    assert found.boost is False
    assert found.deepest_idle == "C6", "the deeper one is disabled"


def test_the_machine_around_them(server) -> None:
    environment = read_environment(files=server.files)
    assert (environment.kernel.release, environment.kernel.clocksource) == ("6.8.0", "tsc")
    assert environment.kernel.mitigations == {"meltdown": "Mitigation: PTI"}
    assert [(node.node, node.cpus) for node in environment.numa] == [(0, "0-3"), (1, "4-7")]
    assert [node.memory_bytes for node in environment.numa] == [131072 * 1024, None]
    machine = environment.machine
    assert (machine.hostname, machine.hypervisor, machine.container) == ("bench7", None, None)
    assert (machine.memory_bytes, machine.available_bytes) == (1000 * 1024, 900 * 1024)
    assert machine.load_average == (0.5, 1.25, 2.0)


def test_an_empty_machine_is_unknown_and_not_guessed(host) -> None:
    environment = read_environment(files=host.files)
    cpu = environment.cpu
    unknown = (cpu.model_name, cpu.sockets, cpu.cores, cpu.cpus, cpu.allowed, cpu.boost, cpu.deepest_idle)
    assert unknown == (None,) * 7
    assert (cpu.governors, environment.numa) == ((), ())
    machine = environment.machine
    assert (machine.memory_bytes, machine.load_average, machine.hypervisor) == (None, None, None)
    assert environment.limits == CgroupLimits(None, None, None, ())


@pytest.mark.parametrize(
    ("files", "hypervisor"),
    [
        ({}, "unknown"),
        ({"sys/class/dmi/id/sys_vendor": "QEMU"}, "QEMU"),
        ({"sys/hypervisor/type": "xen"}, "xen"),
        (
            {
                "sys/class/dmi/id/sys_vendor": "VMware, Inc.",
                "sys/class/dmi/id/product_name": "VMware7,1",
            },
            "VMware, Inc. VMware7,1",
        ),
    ],
)
def test_virtual_machines(server, files: dict[str, str], hypervisor: str) -> None:
    server.write(server.root, {"proc/cpuinfo": "flags\t\t: fpu hypervisor vme\n", **files})
    assert read_environment(files=server.files).machine.hypervisor == hypervisor


@pytest.mark.parametrize(
    ("path", "content", "kind"),
    [
        ("run/systemd/container", "systemd-nspawn", "systemd-nspawn"),
        (".dockerenv", "", "docker"),
        ("run/.containerenv", "", "podman"),
        ("proc/self/cgroup", "0::/kubepods/burstable/pod1", "kubepods"),
    ],
)
def test_containers(server, path: str, content: str, kind: str) -> None:
    server.write(server.root, {path: content})
    assert read_environment(files=server.files).machine.container == kind


def test_hardware_queues_and_who_reaches_them(host) -> None:
    node = host.disk("nvme0n1")
    for queue, cpus in enumerate(("0, 1", "2, 3", "4-7")):
        host.write(node / "mq" / str(queue), {"cpu_list": cpus})
    queues = read_queues(node, allowed=(0, 2, 3))
    assert (queues.present, queues.used) == (3, 2)
    assert queues.of_cpu == {0: 0, 1: 0, 2: 1, 3: 1, 4: 2, 5: 2, 6: 2, 7: 2}
    part = host.partition(node, 1)
    assert read_queues(part, allowed=(0, 2, 3)) == queues


def test_settings_of_a_queue(host) -> None:
    node = host.disk("sda", under="pci0/0000:01:00.0/ata1/block")
    (node / "device").symlink_to(node.parent.parent)
    host.write(
        node / "queue",
        {
            "scheduler": "none [mq-deadline] kyber",
            "write_cache": "write back",
            "nr_requests": "64",
            "max_sectors_kb": "1280",
            "wbt_lat_usec": "2000",
            "io_poll": "0",
            "nomerges": "2",
            "fua": "1",
        },
    )
    host.write(
        node.parent.parent.parent,
        {
            "current_link_speed": "8.0 GT/s PCIe",
            "current_link_width": "2",
            "max_link_speed": "16.0 GT/s PCIe",
            "max_link_width": "4",
        },
    )
    host.write(node.parent.parent, {"queue_depth": "32"})
    found = read_conditions(host.partition(node, 1))
    assert (found.device, found.queue_depth) == ("sda", 32)
    assert (found.scheduler, found.schedulers) == ("mq-deadline", ("none", "mq-deadline", "kyber"))
    assert (found.write_cache, found.fua, found.nr_requests) == ("write back", True, 64)
    assert (found.max_io_bytes, found.writeback_throttle_us, found.nomerges) == (1280 * 1024, 2000, 2)
    assert found.io_poll is False
    assert found.link == "8.0 GT/s x2 of 16.0 GT/s x4"


def test_a_setting_that_does_not_exist_is_none(host) -> None:
    found = read_conditions(host.disk("zram1"))
    assert (found.scheduler, found.schedulers, found.nr_requests, found.link) == (None, (), None, None)
    assert found.queue_depth is None


def test_limits_of_version_2_are_the_tightest_on_the_way_up(host) -> None:
    host.mountinfo("40 1 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw")
    group = host.root / "sys/fs/cgroup/user.slice/job"
    host.write(host.root, {"proc/self/cgroup": "0::/user.slice/job"})
    host.write(
        group,
        {"cpu.max": "max 100000", "memory.max": "max", "io.max": "259:0 rbps=max wiops=500", "pids.max": "9"},
    )
    host.write(group.parent, {"cpu.max": "150000 100000", "memory.max": "1048576"})
    assert read_limits(host.files) == CgroupLimits(1.5, 1048576, 9, (IoLimit("259:0", "wiops 500"),))


def test_limits_of_version_1(host) -> None:
    host.mountinfo(
        "41 1 0:31 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct",
        "42 1 0:32 /docker/1 /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio",
        "43 1 0:33 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory",
    )
    host.write(
        host.root,
        {"proc/self/cgroup": "3:blkio:/docker/1\n2:cpu,cpuacct:/a\n1:memory:/m"},
    )
    root = host.root / "sys/fs/cgroup"
    host.write(root / "cpu,cpuacct/a", {"cpu.cfs_quota_us": "50000", "cpu.cfs_period_us": "100000"})
    host.write(root / "blkio", {"blkio.throttle.read_iops_device": "253:1 2000"})
    host.write(root / "memory/m", {"memory.limit_in_bytes": "9223372036854771712"})
    assert read_limits(host.files) == CgroupLimits(0.5, None, None, (IoLimit("253:1", "read_iops 2000"),))


@pytest.mark.parametrize(
    ("listed", "cpus"), [("0-2,8", (0, 1, 2, 8)), ("0, 1", (0, 1)), ("", ()), (None, ()), ("3", (3,))]
)
def test_cpu_lists(listed: str | None, cpus: tuple[int, ...]) -> None:
    assert parse_cpu_list(listed) == cpus


def test_a_real_file_on_this_host(scratch: Path) -> None:
    with open_drive(scratch / "file", size=MIB) as drive:
        facts = environment_facts(drive)
    json.dumps(facts)
    assert facts["schema"] == "ssdlab.environment/1"
    assert facts["storage"]["file_system"]["fstype"] == mounts.file_system_type(scratch)
    assert facts["storage"]["identity"]["name"] == "file"
    assert facts["cpu"]["cpus"] >= facts["cpu"]["allowed"] >= 1
    assert facts["tool"]["version"]
    assert facts["tool"]["profile"] in {"release", "debug"}


def test_a_real_throttle_is_told(zram: Path, throttled) -> None:
    throttle = throttled(zram, read_iops=2000)
    number = Path(f"/sys/block/{zram.name}/dev").read_text().strip()
    with throttle.here(), open_drive(zram) as drive:
        limits = environment_facts(drive)["limits"]
    assert {"device": number, "rule": "read_iops 2000"} in limits["io"]


def test_a_device_identity_is_enough_for_its_queues(server) -> None:
    node = server.disk("nvme0n1")
    server.write(node / "mq/0", {"cpu_list": "0-7"})
    storage = read_environment(block_identity(server.files, node), files=server.files).storage
    assert storage is not None
    assert storage.queues is not None
    assert (storage.queues.present, storage.queues.used) == (1, 1)
    assert storage.file_system is None
    assert storage.conditions is not None
