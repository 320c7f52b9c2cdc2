"""The drive record: facts about a drive that only a person can supply, in a TOML file.

Records are in the folder ``ssdlab/drives`` of the XDG configuration folder. A record applies to all drives of
its model, or to one drive if it has a serial number. The record with the serial number takes precedence.
Example::

    model = "SAMSUNG MZQL23T8HCLS-00A07" raw_bytes = "4096GiB" nand = "176-layer TLC" dwpd = 1.0
    warranty_years = 5 hold_up_capacitance_uf = 1880 hold_up_voltage_v = 35
"""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Literal

from pydantic import Field

from ssdlab.host.documents import read_toml, with_name
from ssdlab.host.user_folders import config_folder
from ssdlab.model.errors import UsageError
from ssdlab.model.frozen import Bytes, Frozen

_DAYS_PER_YEAR = 365


class DriveRecord(Frozen):
    """A user's facts about a drive; None means unknown."""

    noun = "entry of a drive record"

    model: str = Field(description="model name, exactly as `ssdlab drives` shows it")
    serial: str | None = Field(default=None, description="serial number, if the record is for one drive only")
    name: str | None = Field(default=None, description="name of the drive for readers")
    maker: str | None = Field(default=None, description="maker of the drive")
    raw_bytes: Bytes | None = Field(default=None, gt=0, description="bytes of NAND inside, including spare")
    nand: str | None = Field(default=None, description="type and maker of the NAND")
    controller: str | None = Field(default=None, description="controller chip")
    dram_bytes: Bytes | None = Field(default=None, ge=0, description="bytes of DRAM; 0 for none")
    slc_bytes: Bytes | None = Field(default=None, ge=0, description="bytes of its SLC cache; 0 for none")
    form_factor: str | None = Field(default=None, description="form factor")
    drive_class: Literal["enterprise", "client"] | None = Field(
        default=None, description="market: enterprise or client"
    )
    link: str | None = Field(default=None, description="its link: PCIe 3.0 x4, SATA 6 Gbit/s")
    power_loss_protection: bool | None = Field(
        default=None, description="whether it has power-loss protection (capacitors)"
    )
    optional_features: str | None = Field(
        default=None, description="further features: power states, queuing, encryption"
    )
    rated_read_iops: int | None = Field(default=None, gt=0, description="rated 4 KiB random reads a second")
    rated_write_iops: int | None = Field(default=None, gt=0, description="rated 4 KiB random writes a second")
    rated_read_mb_s: float | None = Field(default=None, gt=0, description="rated sequential read, MB/s")
    rated_write_mb_s: float | None = Field(default=None, gt=0, description="rated sequential write, MB/s")
    rated_active_w: float | None = Field(default=None, gt=0, description="rated active power, W")
    rated_idle_w: float | None = Field(default=None, gt=0, description="rated idle power, W")
    dwpd: float | None = Field(default=None, gt=0, description="rated drive writes per day")
    tbw: float | None = Field(default=None, gt=0, description="rated endurance, decimal terabytes written")
    warranty_years: float | None = Field(default=None, gt=0, description="years of warranty")
    hold_up_capacitance_uf: float | None = Field(default=None, gt=0, description="hold-up capacitance, uF")
    hold_up_voltage_v: float | None = Field(default=None, gt=0, description="voltage of the capacitors, V")
    price: str | None = Field(default=None, description="price, with its currency")
    price_on: date | None = Field(default=None, description="date of the price")
    source: str | None = Field(default=None, description="source of the sample")
    purchased: date | None = Field(default=None, description="date of purchase")

    def hold_up_j(self) -> float | None:
        """Return the energy of the hold-up capacitors in joules, 1/2 C V^2; None if unknown.

        It is an upper bound of the usable energy.

        >>> DriveRecord(model="x", hold_up_capacitance_uf=1880, hold_up_voltage_v=35).hold_up_j()
        1.1515
        """
        if self.hold_up_capacitance_uf is None or self.hold_up_voltage_v is None:
            return None
        return round(0.5e-6 * self.hold_up_capacitance_uf * self.hold_up_voltage_v**2, 6)

    def endurance_bytes(self, capacity_bytes: int) -> int | None:
        """Return the rated endurance in bytes: TBW, else drive writes per day over the warranty."""
        if self.tbw is not None:
            return round(self.tbw * 1e12)
        if self.dwpd is None or self.warranty_years is None:
            return None
        return round(self.dwpd * self.warranty_years * _DAYS_PER_YEAR * capacity_bytes)

    def spare_share(self, usable_bytes: int) -> float | None:
        return None if self.raw_bytes is None else (self.raw_bytes - usable_bytes) / self.raw_bytes


def records_folder() -> Path:
    return config_folder() / "drives"


def find_record(model: str | None, serial: str | None, folder: Path | None = None) -> DriveRecord | None:
    """Return the record of a drive, or None if there is none.

    Raises
    ------
    UsageError, HostError
        A record is not TOML, is invalid, or cannot be read; the error names the file.
    """
    if model is None:
        return None
    folder = folder or records_folder()
    try:
        paths = sorted(folder.glob("*.toml"))
    except OSError:
        return None
    matching = [record for record in map(read_record, paths) if record.model == model]
    by_serial = next((record for record in matching if serial is not None and record.serial == serial), None)
    return by_serial or next((record for record in matching if record.serial is None), None)


def read_record(path: Path) -> DriveRecord:
    """Read one record.

    Raises
    ------
    UsageError, HostError
        The record is invalid, or cannot be read.
    """
    content = read_toml(path, "drive record", "correct it, or move it out of the folder")
    try:
        return DriveRecord.model_validate(content)
    except UsageError as error:
        raise with_name(error, path) from None
