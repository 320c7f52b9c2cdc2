"""Archives that somebody made to harm: each is refused in little time and memory, and nothing is written."""

from __future__ import annotations

import gzip
import io
import json
import random
import shutil
import subprocess
import sys
import tarfile
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest

from lab.synthetic import make_finished_run
from ssdlab.cli import main
from ssdlab.library.packing import pack, unpack
from ssdlab.model.errors import Refused
from ssdlab.results import catalogue
from ssdlab.results.run_folder import MANIFEST, RunFolder
from ssdlab.results.seal import open_document, seal_document
from ssdlab.results.store import add_note, run_folders
from ssdlab.results.tags import change_tags

SEED = 20_261_128
MEMORY_BYTES = 500 << 20
LIMIT_S = 60
"""Of a host that is busy; what hangs takes hours."""


def header(name: str, size: int, kind: bytes = b"0") -> bytes:
    member = tarfile.TarInfo(name)
    member.size, member.type = size, kind
    return member.tobuf(tarfile.USTAR_FORMAT)


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 512)


def extended(data: bytes, kind: bytes = b"x") -> bytes:
    return header("x", len(data), kind) + padded(data)


NAME = "20261121-0900-qd1-000001"
GIB = 1 << 30
LOG = f"{NAME}/steps/0000-1.log"
BOMBS: dict[str, tuple[bytes, int]] = {
    "digits without an end": (extended(b"9" * 200_000 + b"\n"), 0),
    "digits": (extended(b"1" * 60_000), 0),
    "an extended header of gigabytes": (header("x", 6 * GIB, b"x"), GIB),
    "a name of gigabytes": (header("x", 6 * GIB, b"L"), GIB),
    "three GiB of nothing": (header(f"{NAME}/series.parquet", 3 * GIB), 3 * GIB),
    "a manifest of a GiB": (header(f"{NAME}/manifest.json", GIB), GIB),
    "a journal of a GiB": (header(f"{NAME}/journal.jsonl", GIB), GIB),
    "sparse": (extended(b"22 GNU.sparse.major=1\n") + header(LOG, 0), 0),
    "global": (extended(b"13 path=abcd\n", b"g") + header(LOG, 0), 0),
    "a size below zero": (extended(b"11 size=-1\n") + header(LOG, 0), 0),
    "a size of no digits": (header(LOG, 0).replace(b"0" * 11, b"\xff" * 11), 0),
    "something behind the end": (bytes(1024) + b"x" * 512, 0),
}
"""What a tar begins with, and the zeros behind it."""


def write_bomb(bomb: str, path: Path) -> None:
    begin, zeros = BOMBS[bomb]
    many = gzip.compress(bytes(1 << 24))  # gzip takes one after the other
    path.write_bytes(gzip.compress(begin + bytes(1024)) + many * (zeros >> 24))


MEASURED = """
import re, sys
from pathlib import Path
from ssdlab.cli import main
status = main(["library", "unpack", sys.argv[1], "--library", sys.argv[2]])
# Not what `getrusage` says: that begins with what started this process.
print(int(re.search(r"VmHWM:\\s*(\\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024)
sys.exit(status)
"""


def told(archive: Path, library: Path) -> tuple[int, int]:
    """Exit status of the command, and the most memory that it had."""
    words = [sys.executable, "-c", MEASURED, str(archive), str(library)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=LIMIT_S)
    return done.returncode, int(done.stdout.splitlines()[-1])


@pytest.mark.long
@pytest.mark.parametrize("bomb", BOMBS)
def test_a_bomb_takes_neither_time_nor_memory(tmp_path: Path, bomb: str) -> None:
    write_bomb(bomb, tmp_path / "x.tar.gz")
    status, memory = told(tmp_path / "x.tar.gz", tmp_path / "library")
    assert status == Refused.exit_status
    assert memory < MEMORY_BYTES
    assert run_folders(tmp_path / "library") == []


def whole(place: Path) -> tuple[Path, bytes]:
    """A run with notes and tags, and the tar of it."""
    folder = make_finished_run(place, seed=1, seconds=3)
    add_note(folder, "a note")
    change_tags(folder, ["kept"])
    with io.BytesIO() as made:
        pack([folder], made)
        return folder, gzip.decompress(made.getvalue())


def test_gzip_in_a_million_empty_parts_is_not_read_through(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(gzip.compress(b"") * 1_000_000)
    with pytest.raises(Refused, match="larger than its contents"):
        unpack(tmp_path / "x", tmp_path / "library")


@pytest.mark.long
def test_whatever_is_changed_is_refused_or_the_run_is_whole(tmp_path: Path) -> None:
    folder, data = whole(tmp_path / "from")
    truth = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    draw = random.Random(SEED)
    kept = 0
    for number in range(300):
        changed = bytearray(data)
        for _ in range(draw.choice([1, 1, 1, 4, 64])):
            match draw.choice(["bit", "block", "cut", "header"]):
                case "bit":
                    at = draw.randrange(len(changed))
                    changed[at] ^= 1 << draw.randrange(8)
                case "block":
                    one, two = (512 * draw.randrange(len(changed) // 512) for _ in range(2))
                    changed[one : one + 512] = changed[two : two + 512]
                case "cut":
                    del changed[draw.randrange(len(changed)) :]
                    changed += bytes(512)
                case "header":  # a field of the first header, with a sum that fits
                    at = draw.randrange(0, 345)
                    changed[at] = draw.randrange(256)
                    block = bytes(changed[:148]) + b" " * 8 + bytes(changed[156:512])
                    changed[148:156] = b"%06o\0 " % sum(block)
        library = tmp_path / str(number)
        (tmp_path / "x").write_bytes(gzip.compress(bytes(changed), 1))
        try:
            unpack(tmp_path / "x", library)
        except Refused:
            assert run_folders(library) == []
            continue
        (found,) = run_folders(library)
        kept += 1
        for path in found.iterdir():  # a tail of notes or tags may be gone: nothing tells of it
            of = truth[path.name]
            assert path.read_bytes() == of or (
                path.name in ("notes.jsonl", "tags.jsonl") and of.startswith(path.read_bytes())
            )
    assert kept < 100


@pytest.mark.parametrize(
    "name", ["notes.jsonl", "tags.jsonl", "journal.jsonl", "manifest.json", "series.parquet"]
)
def test_a_damaged_file_refuses_the_archive(tmp_path: Path, name: str) -> None:
    folder, data = whole(tmp_path / "from")
    at = data.index((folder / name).read_bytes())
    changed = bytearray(data)
    changed[at + 40] ^= 1
    (tmp_path / "x").write_bytes(gzip.compress(bytes(changed)))
    with pytest.raises(Refused):
        unpack(tmp_path / "x", tmp_path / "library")
    assert run_folders(tmp_path / "library") == []


def test_a_run_is_packed_without_what_is_put_beside_it(tmp_path: Path) -> None:
    folder = make_finished_run(tmp_path / "from", seed=1, seconds=3)
    (folder / "mine.txt").write_text("mine")
    with (tmp_path / "x").open("wb") as file:
        pack([folder], file)
    (name,) = unpack(tmp_path / "x", tmp_path / "to").written
    assert RunFolder(tmp_path / "to" / name).verify() == "sealed"
    assert not (tmp_path / "to" / name / "mine.txt").exists()


FIGURE = {"name": "x", "label": "x", "value": 1.0, "unit": "IOPS", "better": "higher"}
RESULTS: dict[str, Any] = {
    "a word for a value": {"scalars": [FIGURE | {"value": "x"}]},
    "no figures": {"scalars": 7},
    "a figure that is none": {"scalars": ["x"]},
    "a name that is none": {"scalars": [FIGURE | {"name": 7}]},
    "half a character": {"scalars": [], "kind": "\ud800"},
    "half a character, as it is": {"scalars": [], "kind": "\udc80"},
}


@pytest.mark.parametrize("what", RESULTS)
def test_a_result_that_is_none_enters_no_library_and_harms_no_other(
    tmp_path: Path, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Sealed as ours are: a seal is no signature."""
    library, other = tmp_path / "from", make_finished_run(tmp_path / "to", seed=2, seconds=3)
    folder = make_finished_run(library, seed=1, seconds=3)
    stored = json.loads(open_document((folder / MANIFEST).read_bytes())[0])
    (folder / MANIFEST).chmod(0o644)
    text = json.dumps(stored | {"result": RESULTS[what]}, indent=1)
    data = seal_document(text).encode()
    if "as it is" in what:
        text = json.dumps(stored | {"result": RESULTS[what]}, indent=1, ensure_ascii=False)
        body = text.removesuffix("\n}").encode("utf-8", "surrogatepass")
        data = body + b',\n "seal": "%s"\n}\n' % blake2b(body, digest_size=16).hexdigest().encode()
    (folder / MANIFEST).write_bytes(data)
    with tarfile.open(tmp_path / "x", "w:gz") as tar:
        tar.add(folder, folder.name)
    with pytest.raises(Refused):
        unpack(tmp_path / "x", other.parent)
    assert run_folders(other.parent) == [other] and not list(other.parent.glob(".unpack*"))
    shutil.copytree(folder, other.parent / folder.name)  # put there by hand
    catalogue.begun(other.parent, folder.name)
    for words in (
        ["runs"],
        ["rank", "qd1_random_read_iops"],
        ["library", "rebuild"],
        ["library", "verify"],
        ["show", other.name],
    ):
        assert main([*words, "--library", str(other.parent)]) in (0, 2)
    assert main(["rm", folder.name, "--library", str(other.parent)]) in (0, 2)
    capsys.readouterr()
    assert main(["runs", "--library", str(other.parent)]) == 0
    assert other.name.rpartition("-")[2] in capsys.readouterr().out
