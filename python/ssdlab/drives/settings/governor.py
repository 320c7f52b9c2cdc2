"""The CPU frequency governor, of all frequency policies of the host alike.

Source: Documentation/admin-guide/pm/cpufreq.rst (policyX/scaling_governor, scaling_available_governors).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ssdlab.drives.settings.setting import no_such, read_file, write_file
from ssdlab.host.sysfs import HostFiles, names, text


@dataclass(frozen=True, slots=True)
class Governor:
    """The governor: one name where all policies have the same, else `policy0=a,policy4=b`."""

    files: HostFiles
    name: str = "governor"
    lasting: bool = False
    destroys: bool = False

    def read(self) -> str:
        """Return what is in force."""
        found = {path.parent.name: read_file(path, self.name, "this host") for path in self._paths()}
        if len(set(found.values())) == 1:
            return next(iter(found.values()))
        return ",".join(f"{policy}={governor}" for policy, governor in found.items())

    def meant(self, wanted: str) -> str:
        """Check that every policy offers it."""
        for path in self._paths():
            offered = (text(path.with_name("scaling_available_governors")) or "").split()
            if wanted not in offered:
                why = f"{path.parent.name} offers {', '.join(offered) or 'none'}"
                raise no_such(self.name, "this host", why, "choose one of those, or leave it out")
        return wanted

    def write(self, value: str) -> None:
        """Set it for every policy, or each as named."""
        each = dict(part.split("=", 1) for part in value.split(",")) if "=" in value else {}
        for path in self._paths():
            write_file(path, each.get(path.parent.name, value), self.name)

    def remark(self) -> None:
        """Return None."""
        return

    def _paths(self) -> list[Path]:
        folder = self.files.sys / "devices" / "system" / "cpu" / "cpufreq"
        found = [
            folder / policy / "scaling_governor" for policy in names(folder) if policy.startswith("policy")
        ]
        if not found:
            why = "the kernel does not rule the CPU frequency here"
            raise no_such(self.name, "this host", why, "set it in the firmware, or outside this machine")
        return found
