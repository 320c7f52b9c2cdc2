"""Each format is read as its makers describe it; bad lines are told with line and reason."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import tarfile
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as some

from library.test_archives_of_others import BOMBS, write_bomb
from ssdlab.cli import main
from ssdlab.formats.tar import Members
from ssdlab.formats.traces import blkparse
from ssdlab.formats.traces.events import FLUSH, NAMES, READ, TRIM, WRITE, BadLine, Event, nanoseconds
from ssdlab.formats.traces.overview import overview
from ssdlab.formats.traces.reading import Source, Tally, events
from ssdlab.methods.paced_burst.procedure import PacedBurstParams
from ssdlab.model.errors import UsageError


def read(path: Path, text: str, **fields: Any) -> tuple[list[tuple[int, int, int, int]], Tally]:
    """The I/Os of a trace with this text, without their device, and what was counted."""
    path.write_text(text)
    tally = Tally()
    found = list(events(Source(file=str(path), **fields), tally))
    return [each[:4] for each in found], tally


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return tmp_path / "trace"


def test_fio_version_2_waits(trace: Path) -> None:
    text = """fio version 2 iolog
/dev/sda add
/dev/sda open
/dev/sda read 4096 8192
/dev/sda wait 250 0
/dev/sda write 0 4096
/dev/sda sync 0 0
/dev/sda wait 1000
/dev/sda trim 1048576 65536
/dev/sda close
"""
    found, tally = read(trace, text, waits="us")
    assert tally.format == "iolog v2" and dict(tally.devices) == {"/dev/sda": 4}
    assert found == [
        (0, READ, 4096, 8192),
        (250_000, WRITE, 0, 4096),
        (250_000, FLUSH, 0, 0),
        (1_250_000, TRIM, 1 << 20, 1 << 16),
    ]


FIO_SECONDS = """fio version 2 iolog
/a add
/a read 0 512
/a wait 1000 0
/a read 512 512
/a wait 3000 0
/a read 1024 512
/a wait 2000 0
/a read 1536 512
"""


def test_fio_itself_waits_until_so_many_milliseconds_after_its_start(trace: Path) -> None:
    """As fio 3.33 was seen to do: the wait for what is over already takes no time."""
    found, _ = read(trace, FIO_SECONDS, waits="ms")
    assert [each[0] for each in found] == [0, 10**9, 3 * 10**9, 3 * 10**9]


def test_waits_are_not_read_until_it_is_said_how(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError) as raised:
        read(trace, FIO_SECONDS)
    assert "1000 ms after the start" in raised.value.what and "1000 µs more" in raised.value.what
    assert "waits=ms" in raised.value.advice and "waits=us" in raised.value.advice
    for waits, length_ns in (("ms", 3 * 10**9), ("us", 6 * 10**6)):
        assert main(["trace", "show", str(trace), "--waits", waits, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["duration_ns"] == length_ns
    read(trace, "fio version 2 iolog\n/a read 0 512\n")  # without a wait there is nothing to say


@pytest.mark.parametrize(("unit", "unit_ns"), [("us", 1000), ("ms", 10**6), ("ns", 1)])
def test_fio_version_3_has_times(trace: Path, unit: str, unit_ns: int) -> None:
    text = "fio version 3 iolog\n0 /a add\n3 /a open\n7 /a read 0 512\n9 /a datasync\n11 /a write 512 1024\n"
    found, tally = read(trace, text, unit=unit)
    assert tally.format == "iolog v3"
    assert found == [
        (7 * unit_ns, READ, 0, 512),
        (9 * unit_ns, FLUSH, 0, 0),
        (11 * unit_ns, WRITE, 512, 1024),
    ]


BLKPARSE = """  8,0    3        1     0.000000000   697  G   W 223490 + 8 [kjournald]
  8,0    3        2     0.000000829   697  P   N [kjournald]
  8,0    3        3     0.000001010   697  Q   W 223490 + 8 [kjournald]
  8,0    3        4     0.000012021   697  D   W 223490 + 16 [kjournald]
  8,0    1        5     0.500000001  1200  Q  RA 8 + 256 [cat with space]
  8,0    1        6     1.000000000  1200  Q  DS 0 + 2048 [fstrim]
  8,0    1        7     1.000000005  1200  Q FWS [jbd2]
  8,0    1        8     1.000000007     0  C   W 223490 + 8 [0]
  8,0    1        9     1.000000009     0  m   N cfq idle
CPU0 (8,0):
 Reads Queued:           1,      128KiB\t Writes Queued:           1,        4KiB
"""


def test_blkparse_takes_one_action(trace: Path) -> None:
    found, tally = read(trace, BLKPARSE)
    assert (tally.format, tally.bad_lines, tally.lines) == ("blkparse", 0, 11)
    assert found == [
        (1010, WRITE, 223490 * 512, 4096),
        (500_000_001, READ, 4096, 131072),
        (10**9, TRIM, 0, 1 << 20),
        (10**9 + 5, FLUSH, 0, 0),
    ]
    issued, _ = read(trace, BLKPARSE, action="D")
    assert issued == [(12_021, WRITE, 223490 * 512, 8192)]


@pytest.mark.parametrize(
    ("tail", "name", "length"),
    [
        ("N 0 [smartctl] (12 00 00 00 24 00)", "pass-through", 0),
        ("N 0 + 0 [smartctl]", "pass-through", 0),
        ("R 36 (12 01 00 00 24 00 ..) [smartctl]", "pass-through", 0),
        ("NS 8 + 16 [blkdiscard]", "write zeroes or zone command", 8192),
        ("WZ 8 + 16 [x]", "write zeroes", 8192),
        ("WZS 8 + 16 [x]", "write zeroes", 8192),
        ("WZFS 8 + 16 [x]", "write zeroes", 8192),
        ("ZA 8 + 16 [x]", "zone append", 8192),
        ("ZAS 8 + 16 [x]", "zone append", 8192),
        ("ZR 8 + 16 [x]", "zone reset", 8192),
        ("ZRA 8 + 0 [x]", "zone reset", 0),
        ("ZRS 8 + 16 [x]", "zone reset", 8192),
        ("ZO 8 + 0 [x]", "zone open", 0),
        ("ZC 8 + 0 [x]", "zone close", 0),
        ("ZFS 8 + 16 [x]", "zone finish", 8192),
        ("ZX 8 + 16 [x]", "zone command", 8192),
        ("DE 8 + 16 [x]", "secure erase", 8192),
        ("F [x]", "flush", 0),
        ("FF [x]", "flush", 0),
        ("FN [x]", "flush", 0),
        ("FWFS 8 + 16 [x]", "write", 8192),
        ("FWS 0 + 0 [x]", "flush", 0),
        ("WSM 8 + 16 [x]", "write", 8192),
        ("WSU 8 + 16 [x]", "write", 8192),
        ("RAM 8 + 16 [x]", "read", 8192),
        ("RSZ 8 + 16 [x]", "read", 8192),
        ("DS 8 + 16 [x]", "trim", 8192),
    ],
)
def test_flags_say_what_is_asked(tail: str, name: str, length: int) -> None:
    """As the kernel (blk_fill_rwbs, before and since 2025) and blkparse (a SCSI command) write them."""
    event = blkparse.Blkparse().line(f"  8,0    3       11     0.000022001   697  Q {tail}")
    assert event is not None and (NAMES[event.op], event.length) == (name, length)


def test_flags_that_say_nothing_are_told() -> None:
    with pytest.raises(BadLine, match="'SM'"):
        blkparse.Blkparse().line("  8,0    3       11     0.000022001   697  Q  SM 8 + 8 [x]")


def test_what_is_no_io_of_data_is_shown_by_name(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    head = "  8,0    3       11     0.000022001   697  Q "
    trace.write_text(
        "".join(f"{head}{tail} [x]\n" for tail in ("ZR 0 + 524288", "R 8 + 8", "WZ 0 + 8", "N 0"))
    )
    found, _ = overview(Source(file=str(trace)))
    assert found.not_replayed == {"zone reset": 1, "write zeroes": 1, "pass-through": 1}
    assert (found.kinds["read"].bytes, found.extent_bytes, "write" in found.kinds) == (4096, 8192, False)
    assert main(["trace", "show", str(trace)]) == 0
    assert "1 zone reset, 1 write zeroes, 1 pass-through" in capsys.readouterr().out


COMPLETED = "  8,0 1 8 1.000000007 0 C   W 223490 + 8 [0]\n"


def test_only_completions_are_no_trace(trace: Path) -> None:
    with pytest.raises(UsageError, match=r"only 2 C \(completed\)") as raised:
        read(trace, COMPLETED * 2)
    assert "queued or issued" in raised.value.advice
    with pytest.raises(UsageError, match=r"no event Q .*1 D \(issued\)") as raised:
        read(trace, COMPLETED + COMPLETED.replace(" C ", " D "))
    assert "action=D" in raised.value.advice


def test_texts_of_blkparse_that_were_put_together_are_read_to_the_end(trace: Path) -> None:
    found, tally = read(trace, BLKPARSE * 2)
    assert (len(found), tally.bad_lines) == (8, 0)


def test_msr_cambridge(trace: Path) -> None:
    text = (
        "128166372003061629,hm,1,Read,383496192,32768,413\n128166372016382155,hm,1,Write,310378496,4096,126\n"
    )
    found, tally = read(trace, text)
    assert (tally.format, dict(tally.devices)) == ("msr", {"hm.1": 2})
    first = 128166372003061629 * 100
    assert found == [(first, READ, 383496192, 32768), (first + 1_332_052_600, WRITE, 310378496, 4096)]


def test_alibaba(trace: Path) -> None:
    found, tally = read(trace, "419,W,8792731648,16384,1577808000000046\n419,R,0,512,1577808000000050\n")
    assert (tally.format, dict(tally.devices)) == ("alibaba", {"419": 2})
    assert found == [
        (1577808000000046000, WRITE, 8792731648, 16384),
        (1577808000000050000, READ, 0, 512),
    ]


def of_msr(time: str) -> str:
    return f"{time},hm,1,Read,383496192,32768,413\n"


def of_alibaba(time: str) -> str:
    return f"419,W,8192,4096,{time}\n"


@pytest.mark.parametrize(
    "text",
    [
        of_msr("1.28166E+17"),  # as a spreadsheet rounds them
        of_msr("128166372.003061629"),
        of_msr("12816637200306.1629"),
        of_msr("1.28166E+7"),
        of_msr("1172163600"),  # s, ms, us and ns since 1970
        of_msr("1172163600306"),
        of_msr("1172163600306162"),
        of_msr("1172163600306162900"),
        of_msr("12816637200"),  # s, ms and us since 1601
        of_msr("12816637200306"),
        of_msr("12816637200306162"),
        of_alibaba("1577808000"),
        of_alibaba("1577808000000"),
        of_alibaba("1577808000.000046"),
        of_alibaba("1.57781E+15"),
        of_alibaba("1577808000000046000"),
        of_alibaba("132222816000000460"),
    ],
)
@pytest.mark.parametrize("bad_lines", ["stop", "skip"])
def test_times_in_another_unit_than_the_formats_are_refused(
    trace: Path, text: str, bad_lines: Literal["stop", "skip"]
) -> None:
    """Not one of them is read, as many times too fast or too slow."""
    time = max(text.strip().split(","), key=len)
    with pytest.raises(UsageError) as raised:
        read(trace, f"\n{text}", bad_lines=bad_lines)
    assert str(trace) in str(raised.value) and f"line 2 has the time {time}, not whole" in str(raised.value)
    *_, described = raised.value.advice.split("columns=")
    found, _ = read(trace, text, format="columns", columns=described.replace("ms", "ns"))
    assert [each[0] for each in found] == [int(Fraction(time))]


@pytest.mark.parametrize(
    ("text", "first_ns"),
    [
        (of_msr("0"), 0),
        (of_msr("13320526"), 1_332_052_600),
        (of_msr("128166372003061629.0"), 12816637200306162900),
        (of_alibaba("0"), 0),
        (of_alibaba(f"{3600 * 10**6}"), 3600 * 10**9),
        (of_alibaba("2500000000000"), 2_500_000_000_000_000),  # late in a month
    ],
)
def test_times_from_the_start_of_a_trace_are_taken(trace: Path, text: str, first_ns: int) -> None:
    assert read(trace, text)[0][0][0] == first_ns


def test_a_later_time_that_was_rounded_is_a_bad_line(trace: Path) -> None:
    text = of_alibaba("0") + of_alibaba("1E+09") + of_alibaba("1000000001")
    with pytest.raises(UsageError, match=r"line 2 has the time 1E\+09, which is not whole"):
        read(trace, text)
    found, tally = read(trace, text, bad_lines="skip")
    assert (len(found), tally.bad_lines) == (2, 1)


def test_other_columns_are_described_in_toml_or_in_place(trace: Path, tmp_path: Path) -> None:
    described = tmp_path / "columns.toml"
    described.write_text(
        'separator = ";"\nheader = true\noffset = {column = "lba", unit = "sectors"}\nlength = "bytes"\n'
        'time = {column = "at", unit = "s"}\ndevice = ["disk"]\n'
        'op = {column = "what", read = ["IN"], write = ["OUT"], trim = []}\n'
    )
    text = 'at;what;lba;bytes;disk\n0.5;in;8;4096;a\n1.000000001;"OUT";16;512;a\n'
    found, tally = read(trace, text, columns=str(described))
    assert tally.format == "columns" and dict(tally.devices) == {"a": 2}
    assert found == [(500_000_000, READ, 4096, 4096), (1_000_000_001, WRITE, 8192, 512)]
    inline = "time:1:ms,op:2,offset:3:KiB,length:4:sectors,device:5"
    found, _ = read(trace, "7,W,4,8,x\n8,trim,0,1,x\n", columns=inline)
    assert found == [(7_000_000, WRITE, 4096, 4096), (8_000_000, TRIM, 0, 512)]


MQSIM = "4851300 1 524288 16 0\n4864300  1\t524304   16 0\n  4871300 1 524320 16 1\n"
IN_BLANKS = "time:1:ns,device:2,offset:3:sectors,length:4:sectors,separator:blanks"


def test_digits_as_operations_must_be_given_words(trace: Path, tmp_path: Path) -> None:
    """MQSim's and DiskSim's 0 is a write; that of others a read. Blanks come in runs."""
    with pytest.raises(UsageError, match="digits, such as '0'") as raised:
        read(trace, MQSIM, columns=f"{IN_BLANKS},op:5")
    assert "op:5:read=1:write=0" in raised.value.advice
    expected = [
        (4851300, WRITE, 524288 * 512, 8192),
        (4864300, WRITE, 524304 * 512, 8192),
        (4871300, READ, 524320 * 512, 8192),
    ]
    assert read(trace, MQSIM, columns=f"{IN_BLANKS},op:5:read=1:write=0")[0] == expected
    described = tmp_path / "columns.toml"
    described.write_text(
        'separator = " "\ntime = {column = 1, unit = "ns"}\ndevice = [2]\n'
        'op = {column = 5, read = ["1"], write = ["0"]}\n'
        'offset = {column = 3, unit = "sectors"}\nlength = {column = 4, unit = 512}\n'
    )
    assert read(trace, MQSIM, columns=str(described))[0] == expected
    with pytest.raises(UsageError, match="'7', which is not one of those named"):
        read(trace, "0 1 0 16 7\n", columns=str(described))


def test_words_of_an_operation_in_place(trace: Path) -> None:
    columns = "time:1:us,op:2:read=RD|RX:write=WR,offset:3,length:4"
    assert [each[1] for each in read(trace, "1,RX,0,1\n2,rd,0,1\n3,WR,0,1\n", columns=columns)[0]] == [
        READ,
        READ,
        WRITE,
    ]


@pytest.mark.parametrize(("unit", "bytes_"), [("4k", 4096), ("4096", 4096), ("KiB", 1024), ("8KiB", 8192)])
def test_offsets_are_in_units_of_any_size(trace: Path, unit: str, bytes_: int) -> None:
    columns = f"time:1:us,op:2,offset:3:{unit},length:4:{unit}"
    assert read(trace, "0,R,0x10,3\n", columns=columns)[0] == [(0, READ, 16 * bytes_, 3 * bytes_)]


def test_a_block_has_a_size(trace: Path) -> None:
    with pytest.raises(UsageError, match="the size of a block"):
        read(trace, "0,R,1,3\n", columns="time:1:us,op:2,offset:3:blocks,length:4")


def test_numbers_as_programs_write_them(trace: Path) -> None:
    """Hexadecimal offsets; times and sizes as pandas writes them; none is rounded."""
    columns = "time:1:s,op:2,offset:3,length:4"
    found, _ = read(trace, "1e-05,R,0x1F00,4096.0\n1.5,W,1.048576e+06,4.096E3\n", columns=columns)
    assert found == [(10_000, READ, 0x1F00, 4096), (1_500_000_000, WRITE, 1 << 20, 4096)]
    for wrong in ("4096.5", "1e-1", "0x", "0xg", "1e9999", "-0x1"):
        with pytest.raises(UsageError, match=r"the length|length should be"):
            read(trace, f"1,R,0,{wrong}\n", columns=columns)


def test_a_header_that_comes_again_is_no_io(trace: Path) -> None:
    text = "t,o,p,n\n1,R,0,512\n"
    found, tally = read(trace, text * 2, columns="time:t:s,op:o,offset:p,length:n")
    assert (len(found), tally.bad_lines) == (2, 0)


def test_what_is_packed_is_read_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv.gz"
    path.write_bytes(gzip.compress(b"1,R,0,4096,0\n"))
    assert list(events(Source(file=str(path)), Tally())) == [Event(0, READ, 0, 4096, "1")]


@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_all_files_of_a_tar_are_read(
    tmp_path: Path, mode: Literal["w", "w:gz"], capsys: pytest.CaptureFixture[str]
) -> None:
    """As Tencent's and Alibaba's traces come: the first I/O of each file too, and nothing else."""
    path = tmp_path / "traces.tgz"
    held = {
        "day/._a.csv": b"\0\5\x16\7",
        "day/a.csv": b"1,R,0,4096,0\n" * 600,
        "day/b.csv.gz": gzip.compress(b"1,W,4096,4096,1\n"),
        "day/c.csv": b"\xef\xbb\xbf1,R,8192,4096,2\r\n",
    }
    with tarfile.open(path, mode) as tar:
        folder = tarfile.TarInfo("day")
        folder.type = tarfile.DIRTYPE
        tar.addfile(folder)
        for name, content in held.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    tally = Tally()
    found = list(events(Source(file=str(path)), tally))
    assert [(each.op, each.offset) for each in found] == [(READ, 0)] * 600 + [(WRITE, 4096), (READ, 8192)]
    assert (tally.bad_lines, tally.files) == (0, ["a.csv", "b.csv.gz", "c.csv"])
    assert main(["trace", "show", str(path)]) == 0
    assert "3 of a tar: a.csv, b.csv.gz, c.csv" in capsys.readouterr().out


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_tar_that_is_made_to_harm_is_refused(tmp_path: Path, bomb: str) -> None:
    """Read as far as its headers: archives of runs are tried with their time and memory."""
    write_bomb(bomb, tmp_path / "t.tar.gz")
    with pytest.raises(UsageError):
        list(events(Source(file=str(tmp_path / "t.tar.gz"), format="msr"), Tally()))


def test_a_long_name_of_gnu_tar_is_read(tmp_path: Path) -> None:
    name = "x" * 150 + ".csv"
    with tarfile.open(tmp_path / "t.tar", "w", format=tarfile.GNU_FORMAT) as made:
        member = tarfile.TarInfo(name)
        member.size = len(b"a,b\n")
        made.addfile(member, io.BytesIO(b"a,b\n"))
    with (tmp_path / "t.tar").open("rb") as file:
        members = Members(file)
        (found,) = [(each.path, b"".join(members.content())) for each in members]
    assert found == (name, b"a,b\n")


@pytest.mark.parametrize(
    ("name", "head", "command"),
    [
        ("t.xz", lzma.compress(b"1,R,0,4096,0\n"), "xz -dk t.xz"),
        ("t.bz2", bz2.compress(b"1,R,0,4096,0\n"), "bzip2 -dk t.bz2"),
        ("t.zst", bytes.fromhex("28b52ffd"), "zstd -d t.zst"),
        ("t.lz4", bytes.fromhex("04224d18"), "lz4 -d t.lz4"),
        ("t.zip", b"PK\3\4", "unzip t.zip"),
        ("t.7z", b"7z\xbc\xaf'\x1c", "7z x t.7z"),
        ("t.tar.xz", lzma.compress(b"1,R,0,4096,0\n"), "tar -xf t.tar.xz"),
        ("t.tar.zst", bytes.fromhex("28b52ffd"), "tar -xf t.tar.zst"),
        ("t.tbz2", bz2.compress(b"1,R,0,4096,0\n"), "tar -xf t.tbz2"),
    ],
)
def test_other_packings_are_named_with_what_unpacks_them(
    tmp_path: Path, name: str, head: bytes, command: str
) -> None:
    path = tmp_path / name
    path.write_bytes(head)
    with pytest.raises(UsageError, match="packed") as raised:
        list(events(Source(file=str(path)), Tally()))
    assert raised.value.advice.endswith(command)


def test_a_mark_in_front_is_no_part_of_the_first_line(trace: Path) -> None:
    columns = "time:time:us,op:op,offset:offset,length:length"
    text = "\ufefftime,op,offset,length\r\n0,R,0,4096\r\n"
    assert read(trace, text, columns=columns)[0] == [(0, READ, 0, 4096)]
    assert read(trace, "\ufefffio version 2 iolog\n/a read 0 512\n")[1].format == "iolog v2"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_text_that_is_no_utf_8_says_how_it_becomes_that(trace: Path, encoding: str) -> None:
    trace.write_bytes("time,op,offset,length\r\n".encode(encoding))
    with pytest.raises(UsageError, match="UTF-") as raised:
        list(events(Source(file=str(trace)), Tally()))
    named = raised.value.advice.split(" -f ")[1].split()[0]
    assert trace.read_bytes().decode(named) == "time,op,offset,length\r\n"


def test_bad_lines_stop_with_how_many_and_which(trace: Path) -> None:
    text = "1,R,0,4096,0\n1,X,0,4096,1\n1,R,-8,4096,2\n1,R,0,4096\n1,W,0,4096,5\n"
    with pytest.raises(UsageError) as raised:
        read(trace, text)
    what = raised.value.what
    assert what.startswith(f"3 of 5 lines of {trace} cannot be read: line 2 ")
    assert "'X'" in what and "line 3 has '-8' where the offset should be" in what and "line 4 " in what
    assert "bad_lines=skip" in raised.value.advice
    assert raised.value.facts["lines"] == [2, 3, 4]
    found, tally = read(trace, text, bad_lines="skip")
    assert [each[0] for each in found] == [0, 5000] and tally.bad_lines == 3


def test_of_many_bad_lines_the_first_are_told(trace: Path) -> None:
    with pytest.raises(UsageError, match="and 95 more") as raised:
        read(trace, "1,R,0,4096,0\n" + "rubbish\n" * 100)
    assert raised.value.facts["bad_lines"] == 100


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("hello world\n", "not a known format"),
        ("fio version 9 iolog\n", "version 2 or 3"),
        ("1,R,0,4096,0\n2,R,0,4096,0\n", "more than one device: 1, 2 (line 2)"),
    ],
)
def test_what_cannot_be_a_trace_is_refused(trace: Path, text: str, words: str) -> None:
    with pytest.raises(UsageError) as raised:
        read(trace, text, format="iolog" if "version 9" in text else "auto")
    assert words in raised.value.what and raised.value.advice


def test_binary_files_of_blktrace_say_what_to_do(trace: Path) -> None:
    trace.write_bytes(bytes.fromhex("07746165") + bytes(60))
    with pytest.raises(UsageError, match="blktrace") as raised:
        list(events(Source(file=str(trace)), Tally()))
    assert "blkparse -i" in raised.value.advice


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ("time:1:us,op:2,offset:3", "needs length"),
        ("time:1:weeks,op:2,offset:3,length:4", "'weeks'"),
        ("time:0:us,op:2,offset:3,length:4", "no column 0"),
        ("time:at:us,op:2,offset:3,length:4", "no column 'at'"),
        ("nowhere.toml", "No such file"),
    ],
)
def test_columns_that_are_wrong_are_told(trace: Path, columns: str, words: str) -> None:
    with pytest.raises(UsageError) as raised:
        read(trace, "1,R,0,512\n", columns=columns)
    assert words in raised.value.what


def test_several_devices_can_be_chosen_from(trace: Path) -> None:
    text = "1,R,0,512,0\n2,W,512,512,1\n1,R,1024,512,2\n"
    assert [each[2] for each in read(trace, text, device="1")[0]] == [0, 1024]
    assert [each[2] for each in read(trace, text, device="all")[0]] == [0, 512, 1024]


def test_times_that_go_back_are_counted_with_the_first_line(trace: Path) -> None:
    _, tally = read(trace, "1,R,0,512,5\n1,R,0,512,3\n1,R,0,512,4\n1,R,0,512,2\n")
    assert (tally.backwards, tally.first_backwards) == (2, 2)


@given(before=some.integers(0, 10**9), after=some.integers(0, 10**9 - 1))
def test_decimal_times_are_exact(before: int, after: int) -> None:
    assert nanoseconds(f"{before}.{after:09d}", 10**9) == before * 10**9 + after


@pytest.mark.parametrize("text", ["", "-1", "1e", "e3", ".", "1_000", "٣", "0x1.8", "1.2.3", "9" * 40])
def test_what_is_no_number_is_no_time(text: str) -> None:
    with pytest.raises(BadLine):
        nanoseconds(text, 1000)


@given(
    time_ns=some.integers(0, 10**15),
    flags=some.sampled_from(["R", "WS", "RA", "DS", "WFS"]),
    sector=some.integers(0, 2**40),
    sectors=some.integers(1, 2**20),
    name=some.text(some.characters(codec="ascii", categories=["L", "N", "P"]), min_size=1, max_size=15),
)
def test_what_is_written_is_read(time_ns: int, flags: str, sector: int, sectors: int, name: str) -> None:
    line = blkparse.line_of("252,3", 1, 7, time_ns, 99, flags, sector, sectors, name)
    op = TRIM if "D" in flags else WRITE if "W" in flags else READ
    assert blkparse.Blkparse().line(line) == Event(time_ns, op, sector * 512, sectors * 512, "252,3")


def test_an_overview_adds_up(trace: Path) -> None:
    text = "1,R,8192,4096,0\n1,W,4096,8192,10\nrubbish\n1,R,0,4096,60000\n2,R,0,512,60001\n"
    trace.write_text(text)
    found, tally = overview(Source(file=str(trace)))
    kinds = {name: (kind.ios, kind.bytes) for name, kind in found.kinds.items()}
    assert kinds == {"read": (3, 8704), "write": (1, 8192)}
    assert (found.ios, found.extent_bytes, found.unit_bytes) == (4, 12288, 512)
    assert (found.gaps, found.gaps_ns, found.duration_ns) == (1, 59_990_000, 60_001_000)
    assert tally.bad_lines == 1 and dict(tally.devices) == {"1": 3, "2": 1}


TRACES = {
    "alibaba": "1,R,0,4096,1000\n2,W,4096,8192,2000\n1,W,4096,8192,2500\n",
    "msr": "128166372003061629,hm,1,Read,383496192,32768,113736\n",
    "iolog": "fio version 2 iolog\n/dev/sda add\n/dev/sda open\n/dev/sda read 4096 8192\n",
}


@pytest.mark.parametrize("kind", ["example", *TRACES])
def test_an_overview_is_told_in_json(kind: str, trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Counted again from the events themselves."""
    if kind in TRACES:
        trace.write_text(TRACES[kind])
    file = str(trace) if kind in TRACES else kind
    assert main(["trace", "show", file, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    every = list(events(Source(file=file, device="all"), Tally()))
    for op, name in enumerate(NAMES):
        lengths = [str(event.length) for event in every if event.op == op]
        sizes = told["kinds"].get(name, {}).get("sizes", {})
        assert sizes == {length: lengths.count(length) for length in set(lengths)}
    assert sum(told["devices"].values()) in (0, len(every))


def test_bursts_of_writes_are_told_as_paced_burst_takes_them(
    trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ten bursts of 50 writes a millisecond apart, every two seconds; reads go on in the gaps between."""
    rows = []
    for burst in range(10):
        begin_us = burst * 2_000_000
        rows += [(begin_us + at * 1000, "W", (burst * 50 + at) * 8192, 8192) for at in range(50)]
        rows += [(begin_us + 50_000 + at * 20_000, "R", at * 4096, 4096) for at in range(90)]
    trace.write_text("".join(f"1,{op},{offset},{length},{us}\n" for us, op, offset, length in rows))
    found, _ = overview(Source(file=str(trace)))
    assert (found.bursts.count, found.bursts.mean_bytes, found.bursts.every_ns) == (10, 50 * 8192, 2 * 10**9)
    assert found.write_block_bytes == 8192
    assert main(["trace", "show", str(trace)]) == 0
    shown = capsys.readouterr().out
    assert "10 bursts of writes: 410 kB every 2.00 s" in shown
    (line,) = (line for line in shown.splitlines() if line.startswith("ssdlab run paced-burst DRIVE "))
    words = line.removeprefix("ssdlab run paced-burst DRIVE ").split()
    assert main(["plan", "paced-burst", "sim:tiny-test", *words, "--json"]) == 0
    capsys.readouterr()
    given = dict(each.split("=") for each in words if each != "--set")
    p = PacedBurstParams.build(given)
    assert (p.block, p.burst, p.every_seconds) == (8192, 50 * 8192, 2.0)
    assert main(["trace", "show", str(trace), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["bursts"]
    assert told == {"count": 10, "bytes": 50 * 8192, "every_ns": 2 * 10**9, "block_bytes": 8192}


@pytest.mark.parametrize(
    ("size", "writes", "every_us"),
    [
        (4096, 1, 100_000),
        (4096, 3, 128_600),
        (5000, 7, 300_000),
        (131072, 80, 10**6),
        (65536, 80, 5 * 10**9),
        (512, 1, 9 * 10**9),
    ],
)
def test_bursts_that_are_proposed_write_as_much_a_second(
    trace: Path, capsys: pytest.CaptureFixture[str], size: int, writes: int, every_us: int
) -> None:
    """Bursts of one write more in turn, so that their mean is in no whole blocks."""
    rows = []
    for burst in range(6):
        rows += [(burst * every_us + at * 10, size * at) for at in range(writes + burst % 2)]
    trace.write_text("".join(f"1,W,{offset},{size},{us}\n" for us, offset in rows))
    assert main(["trace", "show", str(trace)]) == 0
    shown = capsys.readouterr().out.splitlines()
    line = next((each for each in shown if "paced-burst DRIVE" in each), None)
    if every_us > 3600 * 10**6 * 2:  # less than the least block in the longest time
        assert line is None
        return
    assert line is not None
    given = dict(each.split("=") for each in line.split() if "=" in each)
    p = PacedBurstParams.build(given)
    asked = Fraction(size * len(rows), 6) / Fraction(every_us, 10**6)
    assert p.burst % p.block == 0
    assert p.burst / p.every_seconds == pytest.approx(float(asked), rel=1e-4)
    assert any("paced-burst takes 512 B to 64 KiB" in each for each in shown) == (p.block != size)


def test_one_burst_has_no_period(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace.write_text("".join(f"1,W,{at * 4096},4096,{at}\n" for at in range(50)))
    found, _ = overview(Source(file=str(trace)))
    assert (found.bursts.count, found.bursts.every_ns) == (1, None)
    assert main(["trace", "show", str(trace)]) == 0
    assert "paced-burst" not in capsys.readouterr().out
