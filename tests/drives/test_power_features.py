"""What real drives have for saving power, from their own answers, and whether they go where they are sent.

Recorded fixtures of QEMU's drives, with descriptors and tables patched in as the specifications have them: a
drive with states to rest in was not at hand.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from drives.test_admin_pages import page, patched
from drives.test_settings import nvme_settings, sata_settings
from ssdlab.drives.admin import ata, nvme
from ssdlab.drives.admin.port import NvmeReply, ScsiReply
from ssdlab.drives.power_features import features_of
from ssdlab.host.attributes import controller_of
from ssdlab.model.errors import DriveError, Unsupported, UsageError

APST, STATE = 0x0C, 0x02
STATES = 2048


def descriptor(max_cw: int, flags: int, entry_us: int, exit_us: int, idle_w: tuple[int, int]) -> bytes:
    """A power state descriptor, Base figure 276: flags bit 1 non-operational; idle power and its scale."""
    times = entry_us.to_bytes(4, "little") + exit_us.to_bytes(4, "little")
    idle = idle_w[0].to_bytes(2, "little") + bytes([idle_w[1] << 6, 0])
    return max_cw.to_bytes(2, "little") + bytes([0, flags]) + times + bytes(4) + idle + bytes(12)


CLIENT = patched(
    "nvme-controller.bin",
    {
        263: b"\x03",  # four states
        265: b"\x01",  # APST
        STATES: descriptor(850, 0, 0, 0, (0, 0)),
        STATES + 32: descriptor(450, 0, 0, 0, (0, 0)),
        STATES + 64: descriptor(5, 2, 210, 1500, (450, 1)),
        STATES + 96: descriptor(1, 2, 2200, 6000, (50, 1)),
    },
)


def table() -> bytes:
    """States 0 and 1 go to 2 after 86 ms, state 2 to 3 after 410 ms: Base 5.27.1.8."""
    content = bytearray(256)
    for at, (to, after_ms) in {0: (2, 86), 1: (2, 100), 2: (3, 410)}.items():
        content[8 * at : 8 * at + 8] = (to << 3 | after_ms << 8).to_bytes(8, "little")
    return bytes(content)


@dataclass
class Client:
    """An NVMe drive that goes where it is sent, unless it only says so."""

    identify: bytes = CLIENT
    saves: bool = True
    state: int = 0
    lies: bool = False
    commands: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)

    def nvme(
        self, opcode: int, *, nsid: int = 0, cdw: tuple[int, ...] = (), read_bytes: int = 0, **_: Any
    ) -> NvmeReply:
        self.commands.append((opcode, cdw))
        match opcode, cdw[0]:
            case nvme.IDENTIFY, nvme.CNS_CONTROLLER:
                return NvmeReply(0, 0, self.identify)
            case nvme.GET_FEATURES, 0x0C:
                return NvmeReply(0, int(self.saves), table())
            case nvme.GET_FEATURES, 0x02:
                return NvmeReply(0, self.state, b"")
            case nvme.SET_FEATURES, 0x02:
                self.state = self.state if self.lies else cdw[1]
                return NvmeReply(0, 0, b"")
        raise AssertionError((opcode, cdw))


def settings(host, drive: Client) -> Any:
    found = nvme_settings(host, drive)
    (controller_of(found.disk) / "power").mkdir(parents=True, exist_ok=True)
    return found


def test_states_and_where_apst_takes_the_drive(host) -> None:
    told = features_of(settings(host, Client()))
    assert [state.name for state in told.states] == ["ps0", "ps1", "ps2", "ps3"]
    assert [state.operational for state in told.states] == [True, True, False, False]
    assert [state.max_w for state in told.states] == [8.5, 4.5, 0.05, 0.01]
    assert [state.idle_w for state in told.states] == [None, None, 0.045, 0.005]
    assert [(state.entry_us, state.exit_us) for state in told.states[2:]] == [(210, 1500), (2200, 6000)]
    assert [state.after_ms for state in told.states] == [None, None, 86.0, 410.0], (
        "the least that leads there"
    )
    assert (told.saving, told.values, told.found, told.sent) == ("apst", ("off", "on"), "on", True)
    assert told.lacks == ()
    assert [resting.label for resting in told.restings()] == ["APST off", "ps2", "ps3", "APST on"]
    assert [resting.state for resting in told.restings()] == [None, "ps2", "ps3", None]
    assert all(resting.conditions == {"apst": "off"} for resting in list(told.restings())[:3])


def test_a_table_that_is_not_in_force_leads_nowhere(host) -> None:
    told = features_of(settings(host, Client(saves=False)))
    assert told.found == "off"
    assert [state.after_ms for state in told.states] == [None] * 4


def test_a_drive_of_one_state_says_what_it_lacks(host) -> None:
    """QEMU's, as recorded: one state, no APST."""
    told = features_of(settings(host, Client(identify=page("nvme-controller.bin"))))
    assert [state.name for state in told.states] == ["ps0"]
    assert told.lacks == (
        "it has no APST: it enters no low-power state by itself",
        "it has one power state, and no idle state",
        "its power states do not report their idle power",
    )
    assert [resting.label for resting in told.restings()] == ["at rest"]


def test_a_drive_is_sent_into_a_state_that_does_no_io(host) -> None:
    drive = Client()
    rest = settings(host, drive).find("rest_state")
    assert rest.read() == "ps0"
    rest.write(rest.meant("ps3"))
    assert (rest.read(), drive.state) == ("ps3", 3)
    for wrong in ("ps0", "ps9"):
        with pytest.raises(Unsupported, match=f"{wrong} is not one of its idle states") as refused:
            rest.meant(wrong)
        assert "it has ps2, ps3" in refused.value.advice


def test_what_is_no_state_is_refused_without_a_drive() -> None:
    from ssdlab.drives.settings.finding import check_wanted

    check_wanted("rest_state", "ps3")
    with pytest.raises(UsageError, match="'3 W' is not a power state"):
        check_wanted("rest_state", "3 W")


class Sata:
    """A SATA drive: IDENTIFY DEVICE, patched."""

    def __init__(self, words: dict[int, int]) -> None:
        content = bytearray(page("ata-identify.bin"))
        for word, value in words.items():
            content[2 * word : 2 * word + 2] = value.to_bytes(2, "little")
        content[511] = -sum(content[:511]) % 256
        self.content = bytes(content)

    def scsi(self, cdb: bytes, *, read_bytes: int = 0, **_: Any) -> ScsiReply:
        assert cdb == ata.identify_cdb()
        return ScsiReply(0, b"", self.content)


def port(host, found, policy: str | None) -> None:
    if policy is not None:
        folder = next(each for each in controller_of(found.disk).parents if each.name == "host0")
        place = folder / "scsi_host" / "host0"
        place.mkdir(parents=True, exist_ok=True)
        (place / "link_power_management_policy").write_text(f"{policy}\n")


def test_a_sata_link_and_the_policy_of_its_port(host) -> None:
    """ACS-5 7.13.7: word 76 bit 9 host's requests, word 78 bit 3 the drive's own, bit 8 DevSleep."""
    found = sata_settings(host, Sata({76: 1 << 9 | 0b1110, 78: 1 << 3 | 1 << 8}))
    port(host, found, "med_power_with_dipm")
    told = features_of(found)
    assert [state.name for state in told.states] == ["active", "partial", "slumber", "devsleep"]
    assert (told.saving, told.found) == ("link_power", "med_power_with_dipm")
    assert [resting.label for resting in told.restings()] == [
        "link power max_performance",
        "link power medium_power",
        "link power med_power_with_dipm",
        "link power min_power",
    ]
    assert told.lacks == ()


def test_a_sata_drive_that_saves_nothing_says_so(host) -> None:
    found = sata_settings(host, Sata({76: 0b1110, 78: 0}))
    told = features_of(found)
    assert [state.name for state in told.states] == ["active"]
    assert told.saving is None
    assert told.lacks[:3] == (
        "its link has no low-power state: neither host nor drive may request one",
        "it has no DevSleep",
        "it does not request low power by itself (no DIPM)",
    )
    assert "no such setting" in told.lacks[3]


def test_a_drive_that_does_not_answer_is_not_guessed_at(host) -> None:
    class Mute:
        def scsi(self, *_: Any, **__: Any) -> ScsiReply:
            return ScsiReply(2)

    with pytest.raises(DriveError, match="could not be read: the drive refused the command"):
        features_of(sata_settings(host, Mute()))


def test_a_device_in_memory_has_none(host) -> None:
    from ssdlab.drives.settings.finding import DriveSettings
    from ssdlab.host.identity import block_identity

    disk = host.disk("zram0", "virtual/block")
    found = DriveSettings(block_identity(host.files, disk), disk, Client(), host.files)
    with pytest.raises(Unsupported, match="zram0 has no power states") as refused:
        features_of(found)
    assert refused.value.facts["reason"] == "no-power-states"
