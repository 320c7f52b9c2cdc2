"""What a SATA drive tells of itself, between steps only: these commands wait until its queue is empty."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ssdlab.drives.admin import ata, ata_smart
from ssdlab.drives.admin.fields import Malformed
from ssdlab.model.errors import DriveError
from ssdlab.model.telemetry import DriveHealth

if TYPE_CHECKING:
    from ssdlab.drives.admin.port import AdminPort

_STATISTICS = (1, 5, 7)


@dataclass
class AtaHealth:
    """SMART and Device Statistics of one drive; a page that it lacks is asked for once."""

    port: AdminPort
    logical_block_bytes: int
    _lacking: set[int] = field(default_factory=set)

    def reading(self) -> DriveHealth:
        """Read all that it tells of itself.

        Raises
        ------
        DriveError, Malformed
            It answers nothing but nonsense, or nothing.
        """
        pages = self._pages()
        statistics = ata.statistics(pages, self.logical_block_bytes)
        try:
            found = ata_smart.attributes(self._read(ata_smart.data_cdb()))
        except (Malformed, DriveError):
            if not pages:
                raise
            found = {}
        heat = statistics.temperature_c
        return DriveHealth(
            source="ata",
            failing=("SMART: the drive says that it is failing",) if self._failing() else (),
            temperature_c=ata_smart.temperature_c(found) if heat is None else heat,
            used_pct=statistics.used_pct,
            host_read_bytes=statistics.read_bytes,
            host_written_bytes=statistics.written_bytes,
            media_errors=ata_smart.count(found, ata_smart.UNCORRECTED),
            link_errors=ata_smart.count(found, ata_smart.CRC_ERRORS),
            power_on_hours=statistics.power_on_hours,
        )

    def _failing(self) -> bool:
        # Its registers come back as sense data, with whatever status the translator thinks right.
        return ata_smart.failing(self.port.scsi(ata_smart.verdict_cdb()).sense) is True

    def _pages(self) -> dict[int, bytes]:
        pages = {}
        for number in _STATISTICS:
            if number in self._lacking:
                continue
            try:
                pages[number] = self._read(ata.statistics_cdb(number))
            except (Malformed, DriveError):
                self._lacking.add(number)
        return pages

    def _read(self, cdb: bytes) -> bytes:
        reply = self.port.scsi(cdb, read_bytes=ata_smart.PAGE_BYTES)
        if reply.status or reply.transport:
            raise Malformed("the drive refused the command")
        return reply.data
