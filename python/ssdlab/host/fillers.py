"""Placeholders that makers leave in unused fields of board firmware, and in names of drives.

A filler does not distinguish drives. A value that looks individually assigned is not a filler. Asking for
consent again is better than confusing two drives.
"""

from __future__ import annotations

import re

_WORDS = frozenset(
    (
        *("default string", "default", "none", "n/a", "null", "(null)", "empty", "invalid", "unknown"),
        *("not specified", "not set", "not available", "not applicable", "undefined", "no dimm"),
        *("system product name", "system manufacturer", "system version", "type1productconfigid"),
        *("serial number", "serialnumber", "system serial number", "no serial number", "oem", "o.e.m."),
    )
)
_TO_BE_FILLED = "to be filled"
"""Beginning of a filler; it may be cut short, as a serial number has 20 characters (NVMe, ATA)."""
_OF_BRIDGES = frozenset({"152d00539000"})
"""Serial numbers that a bridge reports for all drives behind it (JMicron; rockstor issue 2316)."""
_ONE_CHARACTER = re.compile(r"(.)\1*", re.ASCII)
_COUNTING = "123456789"
_EUI64_DIGITS = 16
_ATA_SERIAL_AT = 8 + 40
"""Offset in a SATA drive's T10 name, after the vendor `ATA` and the model (SAT-5, VPD page 83h)."""


def known(value: str | None) -> str | None:
    """Return a text from firmware with blanks trimmed; None for a filler.

    >>> known("To Be Filled By O.E.M."), known(" X570 ")
    (None, 'X570')
    """
    stripped = " ".join((value or "").split())
    folded = stripped.casefold()
    if folded in _WORDS or folded.startswith(_TO_BE_FILLED) or set(stripped) <= set("0 .-"):
        return None
    return stripped


def is_filler(identifier: str, model: str | None = None) -> bool:
    """Return whether a serial number, or a world-wide name as in sysfs, does not identify a drive.

    A T10 name of vendor and `model` without a serial number is shared by all drives of that model.

    Sources of the forms: scsi_vpd_lun_id in drivers/scsi/scsi_lib.c (`naa.`, `eui.`, `t10.`) and wwid_show in
    drivers/nvme/host/sysfs.c (`uuid.`, `eui.`, `nvme.`). The `nvme.` form is made of vendor, serial number,
    model and namespace, for a drive without a world-wide name.

    >>> [is_filler(text) for text in ("000000000000", "0123456789ABCDE", "000000000001", "S64GNE0R")]
    [True, True, True, False]
    >>> [is_filler(text) for text in ("naa.0000000000000000", "naa.5000000000000000", "naa.5002538e40a1b2c3")]
    [True, True, False]
    """
    form, _, rest = identifier.partition(".")
    match form:
        case "naa":  # one digit for the type, six for the maker, the others for the drive
            return _no_digits(rest) or _no_digits(rest[1:]) or _blank(rest[7:])
        case "eui" | "uuid":  # the first six digits of an EUI-64 are the maker's
            return _no_digits(rest) or (len(rest) == _EUI64_DIGITS and _blank(rest[6:]))
        case "t10":
            if model and " ".join(rest.split()).endswith(" ".join(model.split())):
                return True
            padded = rest.startswith("ATA  ")
            serial = rest[_ATA_SERIAL_AT:] if padded else rest.rpartition(" ")[2]
            return _no_serial(serial.strip())
        case "nvme" if found := re.fullmatch(r"[0-9a-f]{4}-((?:[0-9a-f]{2})*)-[0-9a-f]*-[0-9a-f]{8}", rest):
            return _no_serial(bytes.fromhex(found[1]).decode("latin-1").strip("\0 "))
    return _no_serial(identifier)


def _no_serial(text: str) -> bool:
    bare = re.sub(r"[-:._ ]", "", text.lower().removeprefix("0x"))
    counted = bare.lstrip("0")
    return (
        known(text) is None
        or bare in _OF_BRIDGES
        or _ONE_CHARACTER.fullmatch(bare) is not None
        or _COUNTING.startswith(counted)
        or counted.startswith(_COUNTING)
    )


def _no_digits(hexadecimal: str) -> bool:
    digits = hexadecimal.replace("-", "")
    return _COUNTING.startswith(digits.strip("0")) or _ONE_CHARACTER.fullmatch(digits) is not None


def _blank(digits: str) -> bool:
    return set(digits) in ({"0"}, {"f"})
