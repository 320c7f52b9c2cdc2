"""Text that users bring is read with the mark that Windows programs put in front, by whatever reads it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ssdlab.cli import main
from ssdlab.formats.act import StorageConfig
from ssdlab.formats.act_files import config_of
from ssdlab.formats.traces.columns import read_columns
from ssdlab.host.documents import read_document, read_toml
from ssdlab.model.errors import UsageError
from ssdlab.model.meter_text import MeterText
from ssdlab.power.recording import read_recording

COLUMNS = 'op = 1\noffset = 2\nlength = 3\ntime = {column = 4, unit = "us"}\n'
POWER = "time [s],12V [W]\n0,1\n1,2\n"
JOB = '[[step]]\ndo = "run"\nrw = "randread"\nbs = "4k"\nseconds = "0.01s"\n'
MARKED = "utf-8-sig"
READERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "columns": (COLUMNS, read_columns),
    "power": (POWER, lambda path: read_recording(MeterText.parse(f"csv:{path}")).trace.watts.tolist()),
    "act": (
        "device-names: /dev/sdz\nread-reqs-per-sec: 2000\nwrite-reqs-per-sec: 1000\n",
        lambda path: config_of(path, StorageConfig),
    ),
    "toml": ("a = 1\n", lambda path: read_toml(path, "job", "")),
}


@pytest.mark.parametrize("kind", READERS)
def test_a_mark_and_ends_of_lines_change_nothing(tmp_path: Path, kind: str) -> None:
    text, read = READERS[kind]
    path = tmp_path / "file"
    path.write_text(text)
    plain = read(path)
    for ends in ("\n", "\r\n"):
        path.write_bytes(text.replace("\n", ends).encode(MARKED))
        assert read(path) == plain


@pytest.mark.parametrize("kind", READERS)
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_told_with_what_makes_utf_8_of_it(tmp_path: Path, kind: str, encoding: str) -> None:
    text, read = READERS[kind]
    path = tmp_path / "file"
    path.write_bytes(text.encode(encoding))
    with pytest.raises(UsageError, match="UTF-16") as raised:
        read(path)
    assert "iconv -f UTF-16" in raised.value.advice


def test_a_job_with_a_mark_is_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "job.toml"
    path.write_bytes(JOB.replace("\n", "\r\n").encode(MARKED))
    assert main(["job", str(path), "sim:tiny-test,scale=4", "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)


def test_what_holds_zeros_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"a = 1\n\0\0")
    with pytest.raises(UsageError, match="not text"):
        read_document(path, "job", "")


def test_the_line_that_is_no_utf_8_is_told_behind_a_mark(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"\xef\xbb\xbfa = 1\nb = '\xff'\n")
    with pytest.raises(UsageError, match="from line 2 on"):
        read_document(path, "job", "")
