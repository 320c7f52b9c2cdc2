"""`ssdlab sim serve`: serve a simulated drive in real time, over NBD."""

from __future__ import annotations

import errno
import os
import socket
import stat
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import quote

from cyclopts import Parameter

from ssdlab.cli.flags import Port, Time, of_option
from ssdlab.cli.output import print_fields, print_json, say, warn
from ssdlab.host.output_files import followed
from ssdlab.model.errors import Refused, UsageError, of_os
from ssdlab.model.units import (
    NS_PER_S,
    bytes_text,
    capacity_text,
    count_text,
    ends_text,
    latency_text,
    parse_bytes,
    parse_duration,
    share_text,
    span_text,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import ssdlab._core as _core
    from ssdlab.drives.simulated.drive import SimulatedDrive, SimulatedText
    from ssdlab.host.identity import Identity
    from ssdlab.model.summary import Pause

# Early checks of the socket, the port and the file for contents, before a drive is filled. Nothing is created
# here, and the server checks again when it opens them.

SOCKET_PATH_BYTES = 107
"""Maximum length of a socket's path (`sockaddr_un`), without the final zero."""


def socket_place(path: Path) -> Path:
    """Return a path where a socket can be created.

    Raises
    ------
    UsageError, Refused, HostError
        Something else exists there, the folder is missing or not writable, or the path is too long.
    """
    place = followed(path)
    if os.path.lexists(place) and not _left_behind(place):
        raise Refused(
            f"{place} already exists",
            "name another path, or stop the server that listens there",
            path=str(place),
        )
    if (length := len(os.fsencode(place))) > SOCKET_PATH_BYTES:
        raise UsageError(
            f"{place} is too long for a socket: {length} bytes; the limit is {SOCKET_PATH_BYTES}",
            "name a shorter path",
            path=str(place),
        )
    _check_folder(place)
    return place


def _left_behind(place: Path) -> bool:
    """Return whether this is the user's own socket of a killed server, which a new server may replace."""
    found = place.lstat()
    if not stat.S_ISSOCK(found.st_mode) or found.st_uid != os.geteuid():
        return False
    # A datagram socket does not disturb a listener: the kernel only reports whether there is one.
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as probe:
        return probe.connect_ex(os.fspath(place)) == errno.ECONNREFUSED


def check_port(port: int) -> None:
    """Refuse a port of 127.0.0.1 that cannot be listened on now; 0 is any free port.

    Raises
    ------
    Refused
        Another program uses the port, or this user may not.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server does
        try:
            probe.bind(("127.0.0.1", port))
            probe.listen(1)
        except OSError as error:
            raise Refused(
                f"127.0.0.1:{port} cannot be listened on: {error.strerror}",
                "name another port, or 0 for a free one",
                port=port,
                errno=error.errno,
            ) from error


def data_place(path: Path, capacity_bytes: int) -> Path:
    """Return the file for a drive's contents, which is new or has the drive's size.

    Raises
    ------
    UsageError, Refused, HostError
        Something else exists there, or the folder is missing or not writable.
    """
    place = followed(path)
    try:
        found = place.stat()
    except FileNotFoundError:
        _check_folder(place)
        return place
    except OSError as error:
        raise of_os(error, f"{place} cannot hold the contents", "name another file") from error
    if not stat.S_ISREG(found.st_mode) or found.st_size != capacity_bytes:
        raise Refused(
            f"{place} exists, but is not a file of {bytes_text(capacity_bytes)}",
            "name the file of this drive's contents, or a new one",
            path=str(place),
        )
    return place


def _check_folder(place: Path) -> None:
    if not place.parent.is_dir():
        raise UsageError(
            f"folder {place.parent} does not exist", "create it, or name another", path=str(place)
        )
    if not os.access(place.parent, os.W_OK | os.X_OK):
        raise Refused(
            f"no file can be created in {place.parent}", "name a folder where you may write", path=str(place)
        )


SCHEMA = "ssdlab.serve/1"
TRUSTED_SHARE = 0.5
"""Maximum share of a null drive's rate. Above it, a client's figures include waiting for the server."""
TRUSTED_LATE_PCT = 1.0
"""Maximum percentage of late replies. Above it, a client's 99th percentile measures the host."""
_COUNTED = ("host_bytes_read", "host_bytes_written", "nand_bytes_written", "moved_bytes", "erases")


def serve(
    profile: str,
    /,
    *,
    socket: Path | None = None,
    tcp: Port = None,
    data: Path | None = None,
    contents: Literal["kept", "seeded"] = "kept",
    memory: Annotated[str, Parameter(metavar="SIZE")] = "4GiB",
    early: Time = None,
    null: bool = False,
    allow_unwritten: bool = False,
    json: bool = False,
) -> None:
    """Serve a simulated drive over NBD, in real time, until Ctrl-C or SIGTERM.

    Any NBD client can use it: fio, nbdcopy, qemu. Each reply is held back until the drive completes the
    command in real time; the measured cost of serving is deducted.

    Parameters
    ----------
    profile
        A simulated drive: PROFILE[,scale=S][,spare=SHARE][,power=LIMIT][,seed=N]; also write-cache=off,
        trim=ignored, serial=TEXT, firmware=TEXT and state=FILE (`ssdlab sim list`).
    socket
        Path of the Unix socket for clients: a new one, or the socket of a killed server. Only its owner can
        connect; it is removed at the end [default: PROFILE.sock in the current folder].
    tcp
        A port of 127.0.0.1 instead, open to every user of this host; 0 for a free one.
    data
        Keep the contents in this sparse file, not in memory; the file remains afterwards.
    contents
        kept: reads return written data. seeded: reads return data generated from the drive's seed and the
        offset, and writes are discarded, which needs no memory.
    memory
        Maximum memory for contents, including data in flight; a write beyond it fails.
    early
        Send replies this long before they are due (such as 60us), instead of by the measured cost. Use the
        latency that a client sees with --null.
    null
        Complete every command at once, without a drive: shows the maximum rate a client can reach.
    allow_unwritten
        Leave the drive in factory state instead of writing it once from end to end.
    json
        Print what was served as JSON, schema ssdlab.serve/1.
    """
    import ssdlab._core as _core
    from ssdlab.drives.simulated.drive import SimulatedText, identity_of
    from ssdlab.model.capabilities import SIMULATED_PREFIX
    from ssdlab.runs.observe import Heartbeat

    if socket is not None and tcp is not None:
        raise UsageError("--socket and --tcp cannot be combined", "give one of them")
    if data is not None and contents == "seeded":
        raise UsageError("--data cannot be combined with seeded contents", "leave out one of them")
    text = SimulatedText.parse(
        profile if profile.startswith(SIMULATED_PREFIX) else SIMULATED_PREFIX + profile
    )
    identity = identity_of(text)
    with of_option("--memory"):
        memory_bytes = parse_bytes(memory, noun="memory")
    with of_option("--early"):
        cost_ns = None if early is None else parse_duration(early)
    door = socket_place(socket or Path(f"{identity.name}.sock")) if tcp is None else None
    if tcp is not None:
        check_port(tcp)
    file = None if data is None else data_place(data, identity.capacity_bytes)
    with _laid_out(text, allow_unwritten=allow_unwritten, quiet=json) if not null else nullcontext() as drive:
        native = None if drive is None else drive.native
        started = _Started(identity, text, native)
        with Heartbeat() as heartbeat:
            served = _core.serve(
                native,
                name=identity.name,
                capacity_bytes=identity.capacity_bytes,
                logical_block_bytes=identity.logical_block_bytes,
                socket=door,
                port=tcp,
                data=file,
                contents_seed=text.seed if contents == "seeded" else None,
                memory_bytes=memory_bytes,
                cost_ns=cost_ns,
                on_ready=started.ready,
                on_idle=started.idle,
            )
            record = started.record(served, heartbeat.pauses())
    if json:
        print_json(record)
    else:
        _print(record)
    _warn(record)


def _laid_out(text: SimulatedText, *, allow_unwritten: bool, quiet: bool) -> SimulatedDrive:
    """Create the drive, and write it once from end to end unless it is to stay in factory state."""
    from ssdlab.cli.measure import TerminalWatcher, watcher
    from ssdlab.drives.simulated.drive import SimulatedDrive

    looker = watcher(quiet=quiet)
    looker.phase("filling the drive", duration_ns=None, size_bytes=None)
    try:
        return SimulatedDrive(text, writing=True, allow_unwritten=allow_unwritten, on_tick=looker.tick)
    finally:
        if isinstance(looker, TerminalWatcher):
            looker.close()


class _Started:
    """Prints the start and the events of a session, and makes its record."""

    def __init__(self, identity: Identity, text: SimulatedText, native: _core.SimulatedDrive | None) -> None:
        self._identity = identity
        self._text = text
        self._native = native
        self._counters = native.counters() if native else {}
        self._began_ns = native.now_ns if native else 0
        self._ready: dict[str, Any] = {}

    def ready(self, ready: dict[str, Any]) -> None:
        """Print where clients connect, and the cost of serving here."""
        self._ready = ready
        what = f"{self._text}" if self._native else f"a null drive of the size of {self._text}"
        ceiling, alone = count_text(ready["ceiling_iops"]), count_text(ready["depth_1_iops"])
        say(f"serving {what}, {capacity_text(self._identity.capacity_bytes)}, at {_uri(ready)}")
        say(f"a null drive reaches {alone} reads of 4 KiB a second here at depth 1, {ceiling} at depth 32")
        if self._native:
            maximum = count_text(TRUSTED_SHARE * ready["ceiling_iops"])
            say(f"above {maximum} I/Os a second, half of what this host serves, figures may show the host")
            if not ready["processors_kept_awake"]:
                say("idle processors wake about 10 µs late; only root can keep them awake")
            say(f"replies are sent {_early(ready)} early, to cover the transfer to clients; stop with Ctrl-C")

    def idle(self, count: int) -> None:
        """Warn that clients were dropped because others waited."""
        limit_s, connections = self._ready["idle_limit_ns"] / NS_PER_S, self._ready["max_connections"]
        clients = "an idle client was dropped" if count == 1 else f"{count} idle clients were dropped so far"
        warn(
            f"{clients}: while others wait for one of the {connections} connections, a client may be idle "
            f"for {limit_s:g} s",
            "close unused connections, or start another server",
        )

    def record(self, served: dict[str, Any], pauses: Sequence[Pause]) -> dict[str, Any]:
        """Return the record of the session; `trusted` means that clients measured the drive, not the host."""
        ready = self._ready
        record = {
            "schema": SCHEMA,
            "drive": {**asdict(self._identity), "scale": self._text.scale, "seed": self._text.seed},
            "null": self._native is None,
            "uri": _uri(ready),
            "calibration": {
                name: ready[name]
                for name in (
                    "depth_1_iops",
                    "ceiling_iops",
                    "measured_cost_ns",
                    "cost_ns",
                    "cost_after_pauses",
                    "cost_per_mib_ns",
                    "processors_kept_awake",
                )
            },
            **served,
            "late_pct": 100 * served["late"] / served["ios"] if served["ios"] else None,
            "pauses": [each.model_dump(mode="json") for each in pauses],
            "trusted": self._native is not None
            and not pauses
            and served["peak_iops"] <= TRUSTED_SHARE * ready["ceiling_iops"]
            and served["late"] * 100 <= TRUSTED_LATE_PCT * served["ios"],
        }
        if self._native:
            now = self._native.counters()
            moved = {name: now[name] - self._counters[name] for name in _COUNTED}
            host = moved["host_bytes_written"]
            record["drive_time_ns"] = self._native.now_ns - self._began_ns
            record["flash"] = {
                **moved,
                "write_amplification": moved["nand_bytes_written"] / host if host else None,
            }
        return record


def _early(ready: dict[str, Any]) -> str:
    """Return how early replies are sent: to a busy client, and to one that was idle."""
    minimum, maximum = latency_text(ready["cost_ns"]), latency_text(ready["cost_after_pauses"][-1]["cost_ns"])
    return ends_text(minimum, maximum)


def _uri(ready: dict[str, Any]) -> str:
    """Return the address as libnbd, fio and qemu take it."""
    if ready["port"] is not None:
        return f"nbd://127.0.0.1:{ready['port']}/"
    return f"nbd+unix:///?socket={quote(ready['socket'])}"


def _print(record: dict[str, Any]) -> None:
    late = f"{record['late']}"
    if record["late"]:
        late += f" ({share_text(record['late_pct'] / 100)})"
    fields: list[tuple[str, object]] = [
        ("I/Os", f"{record['ios']} ({_counts(record)})"),
        ("read", capacity_text(record["read_bytes"])),
        ("written", capacity_text(record["written_bytes"])),
        ("busiest second", f"{count_text(record['peak_iops'])} I/Os"),
        ("requests refused", record["refused"] or None),
        ("replies not sent", record["dropped"] or None),
        ("connections", _connections(record)),
        ("served for", span_text(record["elapsed_ns"] / NS_PER_S)),
    ]
    if not record["null"]:
        fields += [
            ("drive time", span_text(record["drive_time_ns"] / NS_PER_S)),
            ("late replies", late),
            ("lateness", _lateness(record)),
        ]
        amplification = record["flash"]["write_amplification"]
        fields.append(("write amplification", None if amplification is None else f"{amplification:.3g}"))
    print_fields(fields)


def _counts(record: dict[str, Any]) -> str:
    return ", ".join(f"{record[name]} {name}" for name in ("reads", "writes", "trims", "flushes"))


def _connections(record: dict[str, Any]) -> str:
    ends = {
        "violations": "broke the protocol",
        "broken": "cut off",
        "idle": "idle",
        "turned_away": "too many",
    }
    odd = [f"{record[name]} {words}" for name, words in ends.items() if record[name]]
    return ", ".join([str(record["connections"]), *odd])


def _lateness(record: dict[str, Any]) -> str | None:
    if record["lateness_max_ns"] is None:
        return None
    names = ("lateness_p50_ns", "lateness_p99_ns", "lateness_max_ns")
    return " / ".join(latency_text(record[name]) for name in names) + " (p50 / p99 / max)"


def _warn(record: dict[str, Any]) -> None:
    """Warn if a client's figures show the server rather than the drive."""
    if record["null"] or record["trusted"]:
        return
    ceiling = record["calibration"]["ceiling_iops"]
    if record["pauses"]:
        still_s = sum(each["length_ns"] for each in record["pauses"]) / NS_PER_S
        what = f"the server was paused for {span_text(still_s)}: it was stopped, or its host suspended"
    elif record["peak_iops"] > TRUSTED_SHARE * ceiling:
        what = (
            f"{count_text(record['peak_iops'])} I/Os in the busiest second are more than half of the "
            f"{count_text(ceiling)} that a null drive reaches here"
        )
    else:
        what = f"{share_text(record['late_pct'] / 100)} of the replies were late"
    warn(
        what,
        "clients partly measured this host; run the workload in virtual time: "
        f"ssdlab measure {record['drive']['path']}",
    )
