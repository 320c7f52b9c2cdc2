"""The drive record: what only a person knows of a drive, in a TOML file.

A record lies in the folder ``ssdlab/drives`` of the XDG configuration folder and belongs to the drives whose
model, and whose serial number if it names one, it bears; the one with a serial number goes first. Example::

    model = "SAMSUNG MZQL23T8HCLS-00A07"
    raw_bytes = "4096GiB"
    nand = "176-layer TLC"
    dwpd = 1.0
    warranty_years = 5
    hold_up_capacitance_uf = 1880
    hold_up_voltage_v = 35

How much of a drive's flash is spare, as far as it is on record, and what a share of it means.

A share of spare is one of the raw flash where that is on record, else of what the user can address, and then
said to be that: no raw size is guessed from a capacity, by the next power of two or otherwise.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from ssdlab.host.documents import read_toml, with_name
from ssdlab.model.errors import UsageError
from ssdlab.model.frozen import Bytes, Frozen

if TYPE_CHECKING:
    from ssdlab.host.identity import Identity

SpareSource = Literal["drive record", "profile", "asked for"]


@dataclass(frozen=True, slots=True)
class Spare:
    """What is on record of a drive's flash beside what the user can address.

    Attributes
    ----------
    share
        Of the flash that can hold data, the share that is not the user's; None: not known.
    raw_bytes
        That flash; None: not known.
    source
        Who says so.
    cache_bytes
        Memory that may hold writes back; None: not known.
    one_bit_cache
        Whether part of the flash is written with one bit a cell first; None: not known.
    placeable
        Whether the steady state of random writes can be placed into it; None of a real drive, which has to be
        written.
    """

    share: float | None
    source: SpareSource
    cache_bytes: int | None = None
    one_bit_cache: bool | None = None
    raw_bytes: int | None = None
    placeable: bool | None = None


def spare_of(identity: Identity) -> Spare:
    """Return what the profile of a simulated drive, or the record of a real one, says.

    Raises
    ------
    UsageError
        A drive record is wrong.
    """
    if identity.capabilities.made_to_order:
        return spare_of_simulated(identity.path)

    record = find_record(identity.model, identity.serial)
    if record is None:
        return Spare(None, "drive record")
    cached = None if record.slc_bytes is None else record.slc_bytes > 0
    share = record.spare_share(identity.capacity_bytes)
    return Spare(share, "drive record", record.dram_bytes, cached, record.raw_bytes)


def spare_of_simulated(text: str) -> Spare:
    """Return what the profile of a simulated drive says, which need not be made for it.

    Raises
    ------
    UsageError
        It is no text of a simulated drive, or there can be no such drive.
    """
    from ssdlab.drives.simulated.profiles import check_profile
    from ssdlab.drives.simulated.text import SimulatedText

    parsed = SimulatedText.parse(text)
    made = check_profile(parsed.profile, **parsed.settings())
    buffer_bytes = round(float(made["profile"]["buffer"]["size_mib"]["value"]) * 2**20)
    return Spare(
        made["effective_spare"],
        "profile",
        buffer_bytes,
        made["profile"].get("slc_cache") is not None,
        int(made["raw_bytes"]),
        placeable=bool(made["placeable"]),
    )


def usable_bytes(share: float, capacity_bytes: int, raw_bytes: int | None) -> int:
    """Return how much is left to the user where a share is to be spare: of raw flash, else of the capacity.

    It can be more than the capacity, of a drive that has more spare by itself.

    >>> usable_bytes(0.25, 240, 256), usable_bytes(0.25, 240, None)
    (192, 180)
    """
    return round((capacity_bytes if raw_bytes is None else raw_bytes) * (1 - share))


_DAYS_PER_YEAR = 365


class DriveRecord(Frozen):
    """What a person noted of a drive; None is "not known"."""

    noun = "entry of a drive record"

    model: str = Field(description="model name, letter by letter as `ssdlab drives` shows it")
    serial: str | None = Field(default=None, description="serial number, if it is about one drive only")
    maker: str | None = Field(default=None, description="who made the drive")
    raw_bytes: Bytes | None = Field(default=None, gt=0, description="bytes of NAND inside, spare included")
    nand: str | None = Field(default=None, description="kind and maker of the NAND")
    controller: str | None = Field(default=None, description="controller chip")
    dram_bytes: Bytes | None = Field(default=None, ge=0, description="bytes of DRAM; 0 for none")
    slc_bytes: Bytes | None = Field(
        default=None, ge=0, description="bytes of its cache of one bit a cell; 0 for none"
    )
    form_factor: str | None = Field(default=None, description="form factor")
    optional_features: str | None = Field(
        default=None, description="what it has beyond the standard: power states, queuing, encryption"
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
    source: str | None = Field(default=None, description="where the sample comes from")
    purchased: date | None = Field(default=None, description="date of purchase")

    def hold_up_j(self) -> float | None:
        """Return the energy of the hold-up capacitors in joules, 1/2 C V^2; an upper bound of what is usable.

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
        """Return (raw - usable) / raw; None where the raw capacity is not known."""
        return None if self.raw_bytes is None else (self.raw_bytes - usable_bytes) / self.raw_bytes


def records_folder() -> Path:
    """Return where the records of this user lie."""
    home = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(home) / "ssdlab" / "drives"


def find_record(model: str | None, serial: str | None, folder: Path | None = None) -> DriveRecord | None:
    """Return the record of a drive, or None if nobody wrote one.

    Raises
    ------
    UsageError
        A record is no TOML, or says what it must not; the error names the file.
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
        It is wrong, or cannot be read.
    """
    content = read_toml(path, "drive record", "correct it, or move it away")
    try:
        return DriveRecord.model_validate(content)
    except UsageError as error:
        raise with_name(error, path) from None
