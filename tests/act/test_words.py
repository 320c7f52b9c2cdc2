"""The words of ACT's configuration files: 500 of them, odd ones too, as act_storage's own rules read them.

The model is that of the C library's strtok: skip delimiters, take what stands before the next one, and go on
behind that. It says what the original would make of a file; ours says the same, or refuses the file. It
refuses only what the original reads otherwise than it looks.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, fields
from typing import Any

import pytest

from ssdlab.formats.act import StorageConfig, option_name
from ssdlab.formats.act_files import read_config
from ssdlab.model.errors import UsageError

BLANKS = b" \t\n\r"
KINDS = {option_name(each.name): each.default for each in fields(StorageConfig)}
RATES = "read-reqs-per-sec: 2000\n"


class Words:
    """What strtok does to a line."""

    def __init__(self, line: bytes) -> None:
        self.rest: bytes = line

    def next(self, delimiters: bytes) -> bytes | None:
        """The next word, or None."""
        at = 0
        while at < len(self.rest) and self.rest[at] in delimiters:
            at += 1
        end = at
        while end < len(self.rest) and self.rest[end] not in delimiters:
            end += 1
        word = self.rest[at:end]
        self.rest = self.rest[end + 1 :]
        return word or None


@dataclass
class Reading:
    """What act_storage makes of a file, and whether it is other than it looks."""

    values: dict[str, Any]
    odd: bool = False
    refused: bool = False


def reading(text: str) -> Reading:
    """What act_storage makes of a file."""
    found = Reading({"device-names": ()})
    for line in text.encode().split(b"\n"):
        words = Words(line.split(b"#")[0])
        tag = words.next(b":" + BLANKS)
        if tag is None:
            continue
        name = tag.decode()
        if name not in KINDS:
            found.refused = True
            return found
        found.odd |= name in found.values and name != "device-names"
        if name == "device-names":
            while (drive := words.next(b",;" + BLANKS)) is not None:
                found.values[name] += (drive.decode(),)
                found.odd |= drive == b":"
        elif isinstance(KINDS[name], bool):
            word = words.next(BLANKS)
            found.values[name] = word is not None and word.startswith(b"y")
            found.odd |= word is not None and word.startswith(b":")
        else:
            found.values[name] = number(words.next(BLANKS), found)
    return found


def number(word: bytes | None, found: Reading) -> int:
    """What strtoul makes of it."""
    digits = (word or b"").removeprefix(b"+")
    length = len(digits) - len(digits.lstrip(b"0123456789"))
    found.odd |= length == 0 or length < len(digits)
    value = int(digits[:length] or b"0")
    found.odd |= value >= 2**32
    return value


def generated(draw: random.Random) -> str:
    """A file: plain lines, and odd ones."""
    lines = [RATES.rstrip("\n")]
    for name in draw.sample(sorted(KINDS), k=draw.randint(0, 8)):
        between = draw.choice(
            [": ", ":", " ", "\t", " \t", ":\t ", ":  "] + [" : ", "::"] * (draw.random() < 0.1)
        )
        default = KINDS[name]
        if isinstance(default, tuple):
            drives = [f"/dev/sd{letter}" for letter in draw.sample("abcdef", k=draw.randint(0, 3))]
            value = "".join(drive + draw.choice([",", ";", " ", ", ", " ; ", ",,", "\t"]) for drive in drives)
        elif isinstance(default, bool):
            value = draw.choice(["yes", "no", "y", "n", "yikes", "Yes", "true", "1", "", "on", "yes no"])
        else:
            value = draw.choice(["1", "8", "64", "128", "0", "007", "+16", "99"])
            if draw.random() < 0.1:
                value = draw.choice(["", "-1", "0x10", "1e3", "5k", "1,000", "99999999999", "two", "1.5"])
        if name == "read-reqs-per-sec":
            continue
        end = draw.choice(["", "", " ", "\t", "\r", " # a comment", "#", " more words", " 7"])
        lines.append(draw.choice(["", "", " ", "\t", ":"]) + name + between + value + end)
    if draw.random() < 0.1:
        lines.append(
            draw.choice(["nonsense: 1", "record-bytes: 1", "READ-REQS-PER-SEC: 5", "=", "\ufeffx 1", "\v"])
        )
    draw.shuffle(lines)
    return "\n".join(["", "# a comment", *lines]) + draw.choice(["", "\n"])


def test_500_files_are_read_as_the_original_reads_them_or_refused() -> None:
    draw = random.Random("ACT")
    taken = 0
    for _ in range(500):
        text = generated(draw)
        theirs = reading(text)
        try:
            ours = read_config(text, "file", StorageConfig)
        except UsageError as refused:
            if not (theirs.odd or theirs.refused):
                # The words are clear: it is a value that cannot be, by itself or beside the others.
                assert "cannot be" in refused.what, (text, refused.what)
            continue
        assert not theirs.refused, text
        assert not theirs.odd, text
        taken += 1
        for name, value in theirs.values.items():
            assert getattr(ours, name.replace("-", "_")) == value, (text, name)
        rest = {name: default for name, default in KINDS.items() if name not in theirs.values}
        for name, default in rest.items():
            if name not in ("read-reqs-per-sec", "write-reqs-per-sec"):
                assert getattr(ours, name.replace("-", "_")) == default, (text, name)
    assert taken > 100, "most of what is refused is refused for a value"


@pytest.mark.parametrize(
    ("line", "name", "read"),
    [
        ("record-bytes 512", "record_bytes", 512),
        ("record-bytes:512", "record_bytes", 512),
        ("\t record-bytes:\t512 \r", "record_bytes", 512),
        (":record-bytes 512", "record_bytes", 512),
        ("record-bytes: 512 bytes, as stored", "record_bytes", 512),
        ("record-bytes: 512#1024", "record_bytes", 512),
        ("record-bytes: +512", "record_bytes", 512),
        ("record-bytes: 0512", "record_bytes", 512),
        ("tomb-raider: y", "tomb_raider", True),
        ("tomb-raider: yikes", "tomb_raider", True),
        ("tomb-raider yes", "tomb_raider", True),
        ("tomb-raider: Yes", "tomb_raider", False),
        ("tomb-raider: true", "tomb_raider", False),
        ("tomb-raider: 1", "tomb_raider", False),
        ("tomb-raider: no yes", "tomb_raider", False),
        ("tomb-raider:", "tomb_raider", False),
        ("tomb-raider", "tomb_raider", False),
        ("device-names: /dev/a,/dev/b", "device_names", ("/dev/a", "/dev/b")),
        ("device-names: /dev/a;/dev/b", "device_names", ("/dev/a", "/dev/b")),
        ("device-names /dev/a /dev/b", "device_names", ("/dev/a", "/dev/b")),
        ("device-names: ,;/dev/a,, ; /dev/b;", "device_names", ("/dev/a", "/dev/b")),
        ("device-names: /dev/a\ndevice-names: /dev/b", "device_names", ("/dev/a", "/dev/b")),
        ("device-names: /dev/by-path/pci-0000:01:00.0", "device_names", ("/dev/by-path/pci-0000:01:00.0",)),
        ("device-names:", "device_names", ()),
        ("# tomb-raider: yes", "tomb_raider", False),
    ],
)
def test_the_expected_reading(line: str, name: str, read: object) -> None:
    assert getattr(read_config(RATES + line, "file", StorageConfig), name) == read
    assert reading(RATES + line).values.get(name.replace("_", "-"), read) == read
