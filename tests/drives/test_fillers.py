"""Names that are no drive's own: such a drive goes by its kernel name and its attachment."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from ssdlab.drives.guard.device_facts import device_tables
from ssdlab.drives.guard.judge import Intent
from ssdlab.fleet.inventory import serial_on
from ssdlab.host.chain import chain_of
from ssdlab.host.consent import consent_id, has_own_name
from ssdlab.host.fillers import is_filler
from ssdlab.host.identity import block_identity
from ssdlab.model.errors import Refused
from ssdlab.results.journal import boot_id
from ssdlab.runs import resume_checks
from ssdlab.runs.consent_record import Given, goes_by_name
from ssdlab.runs.provenance import identity_info

ATA_MODEL = "t10.ATA     TEAM T253X6240G                         "
FILLERS = {
    "serial": [
        *("000000000000", "000000000001", "0123456789ABCDEF", "1234", "12345678", "FFFFFFFF", "XXXXXXXXXXXX"),
        *("To be filled by O.E.M.", "To Be Filled By O.E.", "Default string", "None", "N/A", "0x00000000"),
        *("152D00539000", "- - -", "Serial Number", "(null)", "FFFF-FFFF-FFFF"),
    ],
    "wwid": [
        *("naa.0000000000000000", "naa.ffffffffffffffff", "naa.5000000000000000", "naa.5000000000000001"),
        *("naa.5002538000000000", "naa.6002538fffffffffffffffffffffffff", "eui.0025380000000000"),
        *("eui.0000000000000000", "eui.0000000000000001", "eui.0100000000000000", "eui." + "f" * 32),
        *("uuid.00000000-0000-0000-0000-000000000000", "uuid.ffffffff-ffff-ffff-ffff-ffffffffffff"),
        *(ATA_MODEL, f"{ATA_MODEL}000000000000", f"{ATA_MODEL}000000000001", "t10.Generic Flash 123456789"),
        "nvme.126f--5465616d-00000001",  # no serial number
        "nvme.126f-303030303030303030303031-5465616d-00000001",
        "00000000:00000000:00000000:00000000",  # an md array's
    ],
}
OWN = {
    "serial": [
        *(
            "S64GNE0R123456",
            "0025_3885_9140_1234",
            "GUEST-NVME-1",
            "DEADBEEF77",
            "2022010112345678",
            "W1F00001",
        ),
        *("0000A1B2C3", "00123456ABCD", "10000000", "NONE1234X", "50026B7784D5F3A1", "AA000000000000000456"),
    ],
    "wwid": [
        *("naa.5002538e40a1b2c3", "naa.58ce38ee20", "naa.6000000000000000000000000000a1b2"),
        *("eui.0025385991b0a1c2", "eui.01000000000000008ce38e0500a1b2c3", "eui.002531"),
        "uuid.9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d",
        f"{ATA_MODEL}TPBF2207140010300123",
        "t10.Linux   scsi_debug      2000",
        "nvme.144d-533634474e453052-53414d53554e47-00000001",
        "3f2a91c4:00000000:00000000:7be01234",
    ],
}


def cases(table: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(kind, text) for kind, texts in table.items() for text in texts]


@pytest.mark.parametrize(("kind", "text"), cases(FILLERS))
def test_a_drive_with_nothing_but_a_filler_goes_by_its_kernel_name(host, kind: str, text: str) -> None:
    node = host.disk("sda", **{kind: text})
    assert (is_filler(text), consent_id(host.files, node)) == (True, "sda")
    told = asdict(block_identity(host.files, node))
    assert told[kind] == " ".join(text.split()), "it is shown as it is all the same"
    assert not has_own_name(text, {kind: text})


@pytest.mark.parametrize(("kind", "text"), cases(OWN))
def test_what_somebody_gave_out_is_a_name(host, kind: str, text: str) -> None:
    node = host.disk("sda", **{kind: text})
    own = " ".join(text.split())
    assert (is_filler(text), consent_id(host.files, node)) == (False, own)
    assert has_own_name(own, asdict(block_identity(host.files, node)))


@pytest.mark.parametrize("wwid", ["t10.Generic Flash Disk", "t10.Generic  Flash Disk      "])
def test_vendor_and_model_are_of_all_drives_of_that_model(host, wwid: str) -> None:
    parts = {"device__vendor": "Generic ", "device__model": "Flash Disk      "}
    node = host.disk("sda", wwid=wwid, **parts)
    assert consent_id(host.files, node) == "sda"
    told = asdict(block_identity(host.files, node))
    assert not has_own_name(told["wwid"], told), "a run of before was given it"
    assert consent_id(host.files, host.disk("sdb", wwid=f"{wwid} A1B2", **parts)).endswith("Flash Disk A1B2")


def test_drives_of_one_filler_are_no_two_paths_to_one(host) -> None:
    """Of one size too: cheap drives of one model."""
    nodes = [host.disk(name, wwid="naa.5000000000000000") for name in ("sda", "sdb")]
    assert [device_tables(host.files, "/dev/x", node, Intent()).twins for node in nodes] == [(), ()]


def test_a_fleet_does_not_know_a_drive_by_a_filler(host) -> None:
    filled, own = host.disk("sda", serial="000000000001"), host.disk("sdb", serial="S64GNE0R")
    assert serial_on("lab1", block_identity(host.files, filled)) == "lab1-sda"
    assert serial_on("lab1", block_identity(host.files, own)) == "S64GNE0R"


@pytest.mark.parametrize("name", [b"S64G\x01NE0R", b"S64G\xc3\xa9", b"\xff\xff\xff\xff"])
def test_a_name_that_is_no_text_is_not_told(host, name: bytes) -> None:
    node = host.disk("sda", serial=name, device__model=name, device__rev=name, wwid="naa.5002538e40a1b2c3")
    who = block_identity(host.files, node)
    assert (who.serial, who.model, who.firmware) == (None, None, None)
    assert who.consent_id == "naa.5002538e40a1b2c3"


@pytest.mark.parametrize("wwid", ["naa.0000000000000000", ATA_MODEL])
def test_resume_asks_before_it_writes_to_what_was_attached_since(
    host, monkeypatch: pytest.MonkeyPatch, wwid: str
) -> None:
    """The next drive of that model has the same name and size; only the kernel's count tells them apart."""

    def chain(node: Path) -> Any:
        return json.loads(json.dumps(asdict(chain_of(host.files, node))))

    node = host.disk("sda", wwid=wwid, diskseq="7")
    drive = identity_info("/dev/sda", block_identity(host.files, node))
    given = Given(
        at="2026-01-01T00:00:00Z",
        session=0,
        folder_inode=1,
        folder_birth_ns=None,
        boot_id=boot_id(),
        manifest_sha256="",
        allowed={"writing": True, "destroy": "sda"},
        drive=drive,
        chain=chain(node),
    )
    assert goes_by_name(drive)
    monkeypatch.setattr(resume_checks, "chain_now", lambda _: chain(node))
    monkeypatch.setattr(resume_checks, "can_be_reset", lambda _: False)
    resume_checks.check_attached(given, drive, "run", "r1")
    host.write(node, {"diskseq": "8"})
    with pytest.raises(Refused) as caught:
        resume_checks.check_attached(given, drive, "run", "r1")
    assert caught.value.facts["reason"] == "replaced" and "--destroy 'sda'" in caught.value.advice
