"""A Slurm of a test's own: munged, slurmctld and a slurmd for each node, as processes on loopback.

Several nodes on one host take `slurmd -N` (Debian builds it with multiple-slurmd) and `config_overrides`, or
slurmctld takes nodes for invalid that have more CPUs than the host.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

PROGRAMS = {"munged": "munge", "slurmctld": "slurmctld", "slurmd": "slurmd", "sbatch": "slurm-client"}

CONF = """\
ClusterName=ssdlab
SlurmctldHost=localhost
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldPort={port}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
GresTypes=drive
JobCompType=jobcomp/none
AccountingStorageType=accounting_storage/none
SlurmctldTimeout=30
SlurmdTimeout={down_after_s}
KillWait=5
SchedulerParameters=sched_min_interval=50000,batch_sched_delay=0
ReturnToService=2
MpiDefault=none
SwitchType=switch/none
{licences}{more}{nodes}
PartitionName=lab Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


class Cluster:
    """A running Slurm; `environment` is that of its clients."""

    def __init__(
        self,
        folder: Path,
        drives: Mapping[str, Sequence[str]],
        *,
        licences: Sequence[str] = (),
        cpus: int = 4,
        down_after_s: int = 20,
        counts: Mapping[str, int] | None = None,
        more: Sequence[str] = (),
    ) -> None:
        """Start it.

        A node that is not heard of for `down_after_s` is down. `more` are lines of slurm.conf.
        """
        self.folder = folder
        self._down_after_s = down_after_s
        self._more = "".join(f"{line}\n" for line in more)
        self.environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}
        self.daemons: dict[str, subprocess.Popen[bytes]] = {}
        for name in ("state", "spool", "log"):
            (folder / name).mkdir()
        self._write(drives, licences, cpus, counts or {})
        self._start_munge()
        self._start("slurmctld", "slurmctld", "-D", "-f", str(folder / "slurm.conf"))
        self._until(lambda: self.ask("scontrol", "ping").returncode == 0, "slurmctld answers")
        for node in drives:
            self.start_node(node)
        self._until(self._all_idle, "all nodes are idle")

    def start_node(self, node: str) -> None:
        self._start(node, "slurmd", "-D", "-N", node, "-f", str(self.folder / "slurm.conf"))

    def ask(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words, env=self.environment, capture_output=True, text=True, timeout=60, check=False
        )

    def kill_daemon(self, node: str) -> None:
        """End a node's slurmd alone, as if it had crashed; its jobs go on."""
        self.daemons[node].kill()
        self.daemons.pop(node).wait()

    def kill_host(self, node: str) -> None:
        """End a node as a loss of power would: its daemon, and all processes of its jobs, at once."""
        self.kill_daemon(node)
        for number in (signal.SIGSTOP, signal.SIGKILL):  # stopped first, so that none begins another
            self.signal_jobs(node, number)
        self._until(lambda: not self.processes_on(node), f"the processes on {node} have ended")

    def signal_jobs(self, node: str, number: signal.Signals) -> None:
        """Send a signal to the processes of a node's jobs, and to the daemons that watch those."""
        for process in self.processes_on(node):
            with suppress(ProcessLookupError):
                os.kill(process, number)

    def processes_on(self, node: str) -> list[int]:
        """Processes of the jobs on a node, by their environment, and the daemons that watch those."""
        wanted = {f"SLURMD_NODENAME={node}".encode(), f"SLURM_CONF={self.environment['SLURM_CONF']}".encode()}
        jobs = [number for number in _processes() if wanted <= _environment(number)]
        watchers = {parent for number in jobs if _name(parent := _parent(number)).startswith("slurmstepd")}
        return [*watchers, *jobs]

    def out_of_service(self, node: str) -> str:
        """What keeps a node from taking jobs: state and reason; nothing where it takes them."""
        told = self.ask("sinfo", "--noheader", f"--nodes={node}", "--format=%T %E").stdout.strip()
        words = ("down", "drain", "fail", "unk")
        return told if not told or any(word in told.split()[0] for word in words) else ""

    def stop(self) -> None:
        self.ask("scancel", "--user=root", "--signal=KILL", "--full")
        self.ask("scancel", "--user=root")
        # What watches a job's step outlives its slurmd, so the jobs must be gone before the daemons are.
        until = time.monotonic() + 30
        while self.ask("squeue", "--noheader").stdout.strip() and time.monotonic() < until:
            time.sleep(0.2)
        for process in reversed(list(self.daemons.values())):
            process.send_signal(signal.SIGTERM)
        for process in self.daemons.values():
            try:
                process.wait(timeout=15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _write(
        self,
        drives: Mapping[str, Sequence[str]],
        licences: Sequence[str],
        cpus: int,
        counts: Mapping[str, int],
    ) -> None:
        nodes, gres = [], []
        ports = free_ports(1 + len(drives))
        for node, port in zip(drives, ports[1:], strict=True):
            listed = ",".join(f"drive:{serial}:{counts.get(serial, 1)}" for serial in drives[node])
            nodes.append(
                f"NodeName={node} NodeHostname=localhost NodeAddr=127.0.0.1 Port={port} CPUs={cpus} "
                f"Gres={listed} State=UNKNOWN"
            )
            gres += [
                f"NodeName={node} Name=drive Type={serial} Count={counts.get(serial, 1)}"
                for serial in drives[node]
            ]
        text = CONF.format(
            folder=self.folder,
            port=ports[0],
            down_after_s=self._down_after_s,
            more=self._more,
            licences=f"Licenses={','.join(f'{each}:1' for each in licences)}\n" if licences else "",
            nodes="\n".join(nodes),
        )
        (self.folder / "slurm.conf").write_text(text)
        (self.folder / "gres.conf").write_text("\n".join(gres) + "\n")

    def _start_munge(self) -> None:
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        options = [f"--{name}-file={self.folder}/munge.{name}" for name in ("key", "pid", "log", "seed")]
        self._start(
            "munged", "munged", "--foreground", "--force", f"--socket={self.folder}/munge.socket", *options
        )
        self._until((self.folder / "munge.socket").exists, "munged listens")

    def _start(self, name: str, *words: str) -> None:
        with (self.folder / "log" / f"{name}.log").open("ab") as log:
            self.daemons[name] = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment
            )

    def _all_idle(self) -> bool:
        states = self.ask("sinfo", "--noheader", "--Node", "--format=%T").stdout.split()
        return bool(states) and set(states) == {"idle"}

    def _until(self, holds: object, what: str, within_s: float = 60.0) -> None:
        until = time.monotonic() + within_s
        while not holds():  # type: ignore[operator]
            assert time.monotonic() < until, f"not within {within_s} s: {what}; {self._logs()}"
            time.sleep(0.1)

    def _logs(self) -> str:
        with suppress(OSError):
            return "\n".join(path.read_text()[-600:] for path in (self.folder / "log").iterdir())
        return ""


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on now."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


def _processes() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def _environment(process: int) -> set[bytes]:
    with suppress(OSError):
        return set(Path(f"/proc/{process}/environ").read_bytes().split(b"\0"))
    return set()


def _parent(process: int) -> int:
    with suppress(OSError):
        return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    return 0


def _name(process: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{process}/comm").read_text()
    return ""
