"""Settings of the kernel: the queue of a disk, and the CPU frequency governor.

Source: Documentation/ABI/stable/sysfs-block (queue/scheduler, nomerges, rq_affinity, wbt_lat_usec,
max_sectors_kb, nr_requests).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ssdlab.drives.settings.setting import no_such, read_file, write_file
from ssdlab.host.sysfs import HostFiles, names, number, text
from ssdlab.model.errors import UsageError, nearest
from ssdlab.model.units import block_text, parse_bytes

_KIB = 1024


@dataclass(frozen=True, slots=True)
class Scheduler:
    disk: Path
    name: str = "scheduler"
    lasting: bool = False
    destroys: bool = False

    def read(self) -> str:
        """Return the scheduler in force; `none` if there is no choice."""
        chosen = [word for word in self._words() if word.startswith("[")]
        return (chosen[0] if chosen else self._words()[0]).strip("[]")

    def meant(self, wanted: str) -> str:
        offered = [word.strip("[]") for word in self._words()]
        if wanted not in offered:
            guess = nearest(wanted, offered)
            advice = f"did you mean {guess}?" if guess else "load its module first"
            raise no_such(
                self.name, self.disk.name, f"{wanted} is not available ({', '.join(offered)} is)", advice
            )
        return wanted

    def write(self, value: str) -> None:
        write_file(self._path, value, self.name)

    def remark(self) -> None:
        return

    @property
    def _path(self) -> Path:
        return self.disk / "queue" / "scheduler"

    def _words(self) -> list[str]:
        return read_file(self._path, self.name, self.disk.name).split()


@dataclass(frozen=True, slots=True)
class QueueNumber:
    """A setting that is a whole number from `minimum` to `maximum` (None: the kernel decides)."""

    disk: Path
    name: str
    file: str
    minimum: int = 0
    maximum: int | None = None
    lasting: bool = False
    destroys: bool = False

    def read(self) -> str:
        return read_file(self._path, self.name, self.disk.name)

    def meant(self, wanted: str) -> str:
        self.read()
        return str(whole(self.name, wanted, self.minimum, self.maximum))

    def write(self, value: str) -> None:
        write_file(self._path, value, self.name)

    def remark(self) -> None:
        return

    @property
    def _path(self) -> Path:
        return self.disk / "queue" / self.file


def whole(name: str, wanted: str, minimum: int, maximum: int | None) -> int:
    """Parse a whole number; raises `UsageError` if it is none, or not within the bounds."""
    bounds = f"{minimum} or more" if maximum is None else f"{minimum} to {maximum}"
    try:
        value = int(wanted)
    except ValueError:
        value = minimum - 1
    if value < minimum or (maximum is not None and value > maximum):
        raise UsageError(
            f"{name.replace('_', ' ')} is {wanted!r}, not a number of {bounds}",
            f"give a number of {bounds}",
            setting=name,
        )
    return value


@dataclass(frozen=True, slots=True)
class LargestIo:
    """Largest request in bytes; the kernel counts in KiB, and knows the limit of the hardware."""

    disk: Path
    name: str = "max_io_bytes"
    lasting: bool = False
    destroys: bool = False

    def read(self) -> str:
        return str(int(read_file(self._path, self.name, self.disk.name)) * _KIB)

    def meant(self, wanted: str) -> str:
        """Return the bytes of a text such as `512k`: whole KiB, at most the limit of the hardware."""
        self.read()
        value = parse_bytes(wanted)
        maximum = (number(self.disk / "queue" / "max_hw_sectors_kb") or 0) * _KIB
        if value % _KIB or not 0 < value <= (maximum or value):
            raise UsageError(
                f"a largest I/O of {wanted} is not possible for {self.disk.name}",
                f"give whole KiB up to {block_text(maximum)}" if maximum else "give whole KiB",
                setting=self.name,
            )
        return str(value)

    def write(self, value: str) -> None:
        write_file(self._path, str(int(value) // _KIB), self.name)

    def remark(self) -> None:
        return

    @property
    def _path(self) -> Path:
        return self.disk / "queue" / "max_sectors_kb"


# The CPU frequency governor, set for all frequency policies of the host.
#
# Source: Documentation/admin-guide/pm/cpufreq.rst (policyX/scaling_governor, scaling_available_governors).


@dataclass(frozen=True, slots=True)
class Governor:
    """The CPU governor: one name if all policies have the same, else `policy0=a,policy4=b`."""

    files: HostFiles
    name: str = "governor"
    lasting: bool = False
    destroys: bool = False

    def read(self) -> str:
        found = {path.parent.name: read_file(path, self.name, "this host") for path in self._paths()}
        if len(set(found.values())) == 1:
            return next(iter(found.values()))
        return ",".join(f"{policy}={governor}" for policy, governor in found.items())

    def meant(self, wanted: str) -> str:
        for path in self._paths():
            offered = (text(path.with_name("scaling_available_governors")) or "").split()
            if wanted not in offered:
                why = f"{path.parent.name} offers {', '.join(offered) or 'none'}"
                raise no_such(self.name, "this host", why, "choose one of those, or leave it out")
        return wanted

    def write(self, value: str) -> None:
        """Write one value to every policy, or to each policy its own."""
        each = dict(part.split("=", 1) for part in value.split(",")) if "=" in value else {}
        for path in self._paths():
            write_file(path, each.get(path.parent.name, value), self.name)

    def remark(self) -> None:
        return

    def _paths(self) -> list[Path]:
        folder = self.files.sys / "devices" / "system" / "cpu" / "cpufreq"
        found = [
            folder / policy / "scaling_governor" for policy in names(folder) if policy.startswith("policy")
        ]
        if not found:
            why = "the kernel does not control the CPU frequency here"
            raise no_such(self.name, "this host", why, "set it in the firmware, or outside this machine")
        return found
