"""A simulated drive's fixed power, and the energy of each operation."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ssdlab.host.documents import Document

_UNIT_KIB = 4


@dataclass(frozen=True)
class OperationEnergy:
    """Power in W and energies in uJ, of a drive of flash.

    Attributes
    ----------
    idle_w, working_w
        Fixed power: while nothing is asked for, and while anything is.
    read_uj, program_uj, erase_uj
        Of one die, all planes: an array read (mean over the page types), a word line, a block.
    read_4k_uj
        A read of 4 KiB by the host: command, array read, channel and link.
    write_4k_uj
        A write of 4 KiB: command, link, channel, its share of a word line and of a block, nothing collected.
    """

    idle_w: float
    working_w: float
    read_uj: float
    program_uj: float
    erase_uj: float
    read_4k_uj: float
    write_4k_uj: float

    @classmethod
    def of(cls, profile: Document) -> OperationEnergy | None:
        """Return what a profile says (`check_profile(...)["profile"]`); None without flash or power model."""
        flash, power = profile.get("flash"), profile.get("power")
        if not flash or not power:
            return None

        def of(table: Document, key: str) -> float:
            found = table.get(key)
            return 0.0 if found is None else float(found["value"])

        read_uj = of(power, "die_read_mw") * fmean(flash["read_us"]["value"]) / 1e3
        program_uj = of(power, "die_program_mw") * of(flash, "program_us") / 1e3
        erase_uj = of(power, "die_erase_mw") * of(flash, "erase_ms")
        page_units = of(flash, "page_kib") / _UNIT_KIB * of(flash, "planes")
        crossing_uj = of(power, "transfer_nj") / 1e3
        host_uj = of(power, "command_uj") + of(power, "link_pj_per_byte") * _UNIT_KIB * 1024 / 1e6
        in_flash_uj = (
            program_uj / of(flash, "bits_per_cell") + erase_uj / of(flash, "pages_per_block")
        ) / page_units
        return cls(
            idle_w=of(power, "idle_mw") / 1e3,
            working_w=(of(power, "idle_mw") + of(power, "active_mw")) / 1e3,
            read_uj=read_uj,
            program_uj=program_uj,
            erase_uj=erase_uj,
            read_4k_uj=host_uj + read_uj + crossing_uj,
            write_4k_uj=host_uj + crossing_uj + in_flash_uj,
        )

    def lines(self) -> Iterator[tuple[str, str]]:
        """Yield what is printed, by name."""
        yield "fixed power", f"{self.idle_w:.3g} W idle, {self.working_w:.3g} W at work"
        yield "array read", f"{_short(self.read_uj)} µJ"
        yield "program of a word line", f"{_short(self.program_uj)} µJ"
        yield "erase of a block", f"{_short(self.erase_uj)} µJ"
        yield "read of 4 KiB", f"{self.read_4k_uj:.3g} µJ, including command, channel and link"
        yield "write of 4 KiB", f"{self.write_4k_uj:.3g} µJ, including its share of a program and an erase"


def _short(value: float) -> str:
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"
