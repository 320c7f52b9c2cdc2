"""Everything that a real drive reports, in sysfs and in its own replies.

Each query is separate. A missing or invalid reply is listed in `unanswered` with the reason; nothing is
guessed instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar

from ssdlab.drives.admin import ata, nvme, scsi, tcg
from ssdlab.drives.admin.fields import Malformed
from ssdlab.drives.admin.port import AdminPort
from ssdlab.host.attributes import disk_of, sas_link_of, zone_model_of
from ssdlab.host.identity import Identity
from ssdlab.host.sysfs import number, there
from ssdlab.model.errors import DriveError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class NvmeDetails:
    """Replies of an NVMe drive; None if it lacks the feature or did not answer (`Details.unanswered`)."""

    controller: nvme.Controller | None = None
    namespace: nvme.Namespace | None = None
    active_namespaces: tuple[int, ...] = ()
    health: nvme.Health | None = None
    sanitize: nvme.SanitizeStatus | None = None
    security: tcg.Locking | None = None
    write_cache_enabled: bool | None = None
    power_state: int | None = None


@dataclass(frozen=True, slots=True)
class AtaDetails:
    """Replies of a SATA drive; the temperature is from the statistics, else from a SMART attribute."""

    device: ata.AtaDevice | None = None
    statistics: ata.AtaStatistics | None = None
    temperature_c: int | None = None


@dataclass(frozen=True, slots=True)
class ScsiDetails:
    """Replies of a SCSI drive (SAS and others), and its link as the kernel shows it."""

    characteristics: scsi.Characteristics | None = None
    provisioning: scsi.Provisioning | None = None
    write_cache_enabled: bool | None = None
    temperature_c: int | None = None
    used_pct: int | None = None
    link: str | None = None


@dataclass(frozen=True, slots=True)
class Details:
    """The replies of a drive.

    Attributes
    ----------
    zoned
        Zone model (`host-managed`, `host-aware`, `device-managed`), or None for a conventional drive.
    unanswered
        Queries without a valid reply, each with the reason.
    """

    nvme: NvmeDetails | None = None
    ata: AtaDetails | None = None
    scsi: ScsiDetails | None = None
    zoned: str | None = None
    unanswered: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class _Queries:
    port: AdminPort
    unanswered: list[tuple[str, str]] = field(default_factory=list)

    def ask(self, question: str, answer: Callable[[], T]) -> T | None:
        try:
            return answer()
        except (Malformed, DriveError) as error:
            self.unanswered.append((question, str(error).partition("\n")[0]))
            return None

    def page(self, opcode: int, nsid: int, cdw: tuple[int, ...], read_bytes: int) -> bytes:
        reply = self.port.nvme(opcode, nsid=nsid, cdw=cdw, read_bytes=read_bytes)
        if reply.status:
            raise Malformed(f"the drive answered {nvme.status_text(reply.status)}")
        return reply.data

    def feature(self, identifier: int) -> int:
        reply = self.port.nvme(nvme.GET_FEATURES, cdw=(identifier,))
        if reply.status:
            raise Malformed(f"the drive answered {nvme.status_text(reply.status)}")
        return reply.result

    def log(self, identifier: int) -> bytes:
        words = nvme.LOG_BYTES // 4 - 1
        return self.page(nvme.GET_LOG, nvme.ALL_NAMESPACES, (identifier | words << 16,), nvme.LOG_BYTES)


def read_details(identity: Identity, node: Path, port: AdminPort) -> Details:
    """Query a block device for everything it reports, without changing it.

    Parameters
    ----------
    node
        The device's folder in sysfs.
    """
    queries = _Queries(port)
    disk = disk_of(node)
    zoned = zone_model_of(disk)
    if identity.nsid is not None or number(disk / "nsid") is not None:
        found = _ask_nvme(queries, identity.nsid or 1)
        return Details(nvme=found, zoned=zoned_of(zoned, None), unanswered=tuple(queries.unanswered))
    if identity.transport == "sata" or there(disk / "device" / "vpd_pg89"):
        ata_details = _ask_ata(queries)
        if ata_details.device is not None or identity.transport == "sata":
            model = ata_details.device.zoned if ata_details.device is not None else None
            return Details(
                ata=ata_details, zoned=zoned_of(zoned, model), unanswered=tuple(queries.unanswered)
            )
    if there(disk / "device" / "scsi_level"):
        if identity.transport == "usb":
            bridge = ("pages of the drive", "such commands may hang USB bridges, so none is sent")
            return Details(zoned=zoned_of(zoned, None), unanswered=(bridge,))
        spoken = _ask_scsi(queries, disk)
        return Details(scsi=spoken, zoned=zoned_of(zoned, None), unanswered=tuple(queries.unanswered))
    return Details(zoned=zoned_of(zoned, None))


def zoned_of(kernel: str | None, drive: str | None) -> str | None:
    """Return the kernel's zone model, or the drive's if the kernel reports none."""
    return kernel if kernel not in {None, "none"} else drive


def _ask_nvme(queries: _Queries, nsid: int) -> NvmeDetails:
    def identify(cns: int, namespace: int = 0) -> bytes:
        return queries.page(nvme.IDENTIFY, namespace, (cns,), nvme.PAGE_BYTES)

    def cache_enabled() -> bool:
        return bool(queries.feature(nvme.FEATURE_WRITE_CACHE) & 1)

    def security() -> tcg.Locking:
        return tcg.locking(queries.page(nvme.SECURITY_RECEIVE, 0, tcg.receive_words(), tcg.REPLY_BYTES))

    def sanitize() -> nvme.SanitizeStatus:
        return nvme.sanitize_status(queries.log(nvme.LOG_SANITIZE))

    controller = queries.ask("controller", lambda: nvme.controller(identify(nvme.CNS_CONTROLLER)))
    active = queries.ask("namespaces", lambda: nvme.active_namespaces(identify(nvme.CNS_ACTIVE_NAMESPACES)))
    has_cache = controller is not None and controller.write_cache
    sanitizes = controller is not None and controller.sanitize.any
    return NvmeDetails(
        controller=controller,
        namespace=queries.ask("namespace", lambda: nvme.namespace(identify(nvme.CNS_NAMESPACE, nsid))),
        active_namespaces=active or (),
        health=queries.ask("health", lambda: nvme.health(queries.log(nvme.LOG_SMART))),
        sanitize=queries.ask("sanitize log", sanitize) if sanitizes else None,
        security=queries.ask("security", security)
        if controller is not None and controller.security
        else None,
        write_cache_enabled=queries.ask("write cache", cache_enabled) if has_cache else None,
        power_state=queries.ask("power state", lambda: queries.feature(nvme.FEATURE_POWER) & 0x1F),
    )


def _ask_ata(queries: _Queries) -> AtaDetails:
    def read(cdb: bytes) -> bytes:
        reply = queries.port.scsi(cdb, read_bytes=ata.PAGE_BYTES)
        if reply.status or reply.transport:
            raise Malformed("the drive refused the command")
        return reply.data

    device = queries.ask("identify", lambda: ata.device(read(ata.identify_cdb())))
    if device is None:
        return AtaDetails()
    pages = {}
    for page in (1, 5, 7):
        content = queries.ask(f"statistics page {page}", partial(read, ata.statistics_cdb(page)))
        if content is not None:
            pages[page] = content
    statistics = ata.statistics(pages, device.logical_block_bytes) if pages else None
    heat = None if statistics is None else statistics.temperature_c
    if heat is None and device.smart:
        found = queries.ask("attributes", lambda: ata.attributes(read(ata.data_cdb())))
        heat = ata.temperature_c(found or {})
    return AtaDetails(device, statistics, heat)


def _ask_scsi(queries: _Queries, disk: Path) -> ScsiDetails:
    def read(cdb: bytes) -> bytes:
        reply = queries.port.scsi(cdb, read_bytes=scsi.REPLY_BYTES)
        if reply.status or reply.transport:
            raise Malformed("the drive refused the command")
        return reply.data

    def vpd(page: int) -> bytes:
        return read(scsi.vpd_cdb(page))

    def log(page: int) -> bytes:
        return read(scsi.log_cdb(page))

    def cache() -> bool:
        return scsi.caching_page(read(scsi.caching_page_cdb())).write_cache

    shape = partial(vpd, scsi.CHARACTERISTICS)
    supply = partial(vpd, scsi.PROVISIONING)
    return ScsiDetails(
        characteristics=queries.ask("characteristics", lambda: scsi.characteristics(shape())),
        provisioning=queries.ask("provisioning", lambda: scsi.provisioning(supply())),
        write_cache_enabled=queries.ask("write cache", cache),
        temperature_c=queries.ask("temperature", lambda: scsi.temperature_c(log(scsi.TEMPERATURE))),
        used_pct=queries.ask("wear", lambda: scsi.used_pct(log(scsi.SOLID_STATE))),
        link=sas_link_of(disk),
    )
