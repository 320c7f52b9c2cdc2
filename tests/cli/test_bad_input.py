"""Bad input: exit status 2, one line what and one line what to do, and nothing written anywhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cyclopts.exceptions import CycloptsError, MissingArgumentError

from ssdlab.cli import main

SIZE_BYTES = 1 << 20


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a file that is not ours, a folder and nothing else; the library lies in it too."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "foreign.bin").write_bytes(b"\xa5" * SIZE_BYTES)
    (tmp_path / "notes.txt").write_text("buy a drive\n")
    (tmp_path / "folder").mkdir()
    return tmp_path


MEASURE = "measure foreign.bin --seconds 1"

BAD = [
    # what is not there
    ("measur foreign.bin", "there is no command 'measur'", "Did you mean measure?"),
    ("library rebuld", "there is no command 'rebuld'", "Did you mean rebuild?"),
    (f"{MEASURE} --thread 4", "there is no option --thread", "Did you mean --threads?"),
    (f"{MEASURE} --secnds 4", "there is no option --secnds", "Did you mean --seconds?"),
    (f"{MEASURE} --scale 64", "there is no option --scale", "sim:PROFILE,scale=16"),
    (f"{MEASURE} --runtime=5", "--runtime is given more than once", "Give it once"),
    (f"{MEASURE} --blocksize=4k", "there is no option --blocksize", "Use --bs (fio's blocksize)"),
    (f"{MEASURE} --direct=1", "there is no option --direct", "Leave it out: I/O is direct unless --buffered"),
    (f"{MEASURE} --group-reporting", "there is no option --group-reporting", "Leave it out: threads are"),
    (f"{MEASURE} --norandommap", "there is no option --norandommap", "Leave it out: random I/O keeps a map"),
    (f"{MEASURE} --filename=x", "there is no option --filename", "Give the drive or file as an argument"),
    (f"{MEASURE} --verify=crc32c", "there is no option --verify", "Measure does not verify data"),
    (f"{MEASURE} --rw randred", "there is no rw 'randred'", "Did you mean randread?"),
    (f"{MEASURE} --engine posixaio", "engine posixaio is refused: glibc", "Use one of psync"),
    (f"{MEASURE} --pattern zip:1.1", "pattern 'zip:1.1' is not known", "Use uniform, shuffled, zipf:1.1"),
    (f"{MEASURE} --arrival poison --rate 5", "there is no arrival 'poison'", "Did you mean poisson?"),
    (f"{MEASURE} --numa 77", "there is no NUMA node 77", "nodes of this host"),
    ("methods qd2", "there is no method 'qd2'", "Did you mean qd1?"),
    ("plan qd2 foreign.bin", "there is no method 'qd2'", "Did you mean qd1?"),
    ("run peak-random foreign.bin", "there is no method 'peak-random'", "Did you mean peak-random-read?"),
    ("run foreign.bin foreign.bin", "foreign.bin is a file, but not a review declaration", "NAME.toml"),
    ("plan ./foreign.bin foreign.bin", "not text in UTF-8", "Name a TOML file"),
    ("run ./notes.txt foreign.bin", "./notes.txt is a file, but not a review declaration", "Name a method"),
    ("job none.toml foreign.bin", "cannot read the job none.toml: No such file", "[[step]] table"),
    ("run qd1 foreign.bin --set secnds=1", "there is no parameter 'secnds'", "Did you mean"),
    ("show nothing-like-this", "there is no run 'nothing-like-this'", "--library"),
    ("run peak-random-read foreign.bin --set depths=1,0", "item 2 of depths is '0', below 1", "queue depths"),
    ("plan peak-random-read foreign.bin --set depths=1,2,1024", "item 3 of depths is", "queue depths"),
    ("library rebuild --library nowhere", "no library at", "--library"),
    # units
    (f"{MEASURE} --bs 4kk", "unit of block size 'kk' is not known", "Did you mean k?"),
    ("measure foreign.bin --seconds 5sec", "unit of time 'sec' is not known", "Did you mean s?"),
    (f"{MEASURE} --rate 5z", "unit of rate 'z' is not known", "Known: k, M"),
    ("run qd1 sim:tiny-test --set sizes=", "sizes is '', which is empty", "block sizes"),
    ("run qd1 sim:tiny-test --set sizes=4096,512", "sizes is '4096,512', which is not valid", "block sizes"),
    ("purge foreign.bin --destroy foreign.bin", "cannot be purged: it is not a whole drive", "whole block"),
    (f"{MEASURE} --rate 10m", "--rate: rate '10m' would mean thousandths", "M for a million"),
    (f"{MEASURE} --rate 100MB/s", "--rate: rate '100MB/s' is a bandwidth", "blocks of 4 KiB it is 24414"),
    (f"{MEASURE} --rate 1MiB", "--rate: rate '1MiB' is a bandwidth", "blocks of 4 KiB it is 256"),
    (f"{MEASURE} --bs 4k,128k", "--bs: block sizes '4k,128k' have no weights", "4k:50,128k:50"),
    (f"{MEASURE} --bs 4k:70,128k", "--bs: block sizes '4k:70,128k' have no weights", "4k:70,128k:50"),
    (f"{MEASURE} --bs 4k,128k", "have no weights", "--bs 4k --write-bs 128k"),
    (f"{MEASURE} --bs 0", "--bs: bytes is 0 B, below 1 B", "a multiple of 512 bytes"),
    (f"{MEASURE} --bs 100", "block of 100 B is not a multiple of 512 B", "--buffered"),
    (f"{MEASURE} --fsync 0", "--fsync is '0', below 1", "fsync after every N writes"),
    (f"{MEASURE} --bs 4k:0", "--bs: weight is 0, below 1", "Relative frequency"),
    (f"{MEASURE} --bs -4k", "--bs: '-4k' is negative", "see `ssdlab measure --help`"),
    (f"{MEASURE} --bytes -4k", "--bytes: '-4k' is negative", "see `ssdlab measure --help`"),
    (f"{MEASURE} --span 0..25", "span length 25 is not a multiple", "use multiples of 512 B"),
    (f"{MEASURE} --threads many", "threads is 'many', not a whole number", "threads that issue I/O"),
    (f"{MEASURE} --bs 4q", "--bs: unit of block size 'q' is not known in '4q'", "known: B, k"),
    ("measure foreign.bin --seconds=-1", "--seconds: '-1' is negative", "such as 90s"),
    ("measure foreign.bin --size=-4k", "--size: size '-4k' is negative", "such as 4k"),
    ("runs --status done", "--status: there is no status 'done'", "finished"),
    ("run qd1 foreign.bin --run-id x", "--run-id: 'x' is not a run id", "six letters"),
    ("run qd1 foreign.bin --set seconds=x", "seconds: 'x' is not a duration", "such as 90s"),
    # several drives
    ("run qd1 sim:tiny-test sim:tiny-test,scale=999", "sim:tiny-test,scale=999: scale is", "another scale"),
    ("plan qd1 sim:tiny-test sim:tiny", "sim:tiny: there is no profile 'tiny'", "ssdlab sim list"),
    ("run qd1 sim:tiny-test foreign.bin", "foreign.bin", "--destroy"),
    # contradictions
    (f"{MEASURE} --depth 8", "engine sync has one I/O in flight per thread", "Use --threads 8"),
    (f"{MEASURE} --batch 8", "engine sync submits I/Os one by one", "--engine uring"),
    (f"{MEASURE} --arrival closed --rate 5", "a closed loop has no rate", "--arrival even"),
    (f"{MEASURE} --arrival even", "arrival even needs a rate", "Give --rate"),
    (f"{MEASURE} --rw randread --read-pct 70", "--read-pct does not apply to randread", "randrw"),
    (f"{MEASURE} --rw read --pattern zipf:1.1", "read is sequential", "--rw randread"),
    (f"{MEASURE} --cpus 0 --numa 0", "both --cpus and --numa", "Give one of them"),
    (f"{MEASURE} --dsync", "dsync needs writes", "Leave out --dsync"),
    (f"{MEASURE} --fsync 1", "flushes need writes", "Leave out --fsync"),
    ("measure sim:tiny-test --rw trim --fdatasync 1", "flushes need writes", "Leave out --fdatasync"),
    ("measure sim:tiny-test --rw write --fsync 1 --fdatasync 1", "--fsync and --fdatasync", "Give one"),
    ("measure sim:tiny-test --rw write --buffered", "has no page cache", "or name a file"),
    (f"{MEASURE} --buffered", "--buffered is for writes", "--rw write or randwrite"),
    ("measure foreign.bin --rw write --buffered", "would be overwritten", "--destroy"),
    (f"{MEASURE} --poll", "engine sync has no polled completions", "--engine uring"),
    (
        "measure foreign.bin --rw write --engine uring --poll --fsync 1",
        "no trims and no flushes",
        "Leave out --poll",
    ),
    (f"{MEASURE} --write-bs 64k", "only a mix of reads and writes", "--rw randrw"),
    (
        "measure foreign.bin --rw randrw --write-pattern one-pass",
        "pattern 'one-pass' is not known",
        "zipf:1.1",
    ),
    (
        f"{MEASURE} --ramp 1s --precondition steady",
        "does not bring the drive to steady state",
        "--precondition fill",
    ),
    (f"{MEASURE} --library elsewhere", "--library needs --save", "Add --save"),
    (f"{MEASURE} --ramp 500ms", "500ms is not a multiple of the interval, 1s", "Use --interval 500ms"),
    ("measure foreign.bin --ramp 1s --bytes 4k", "a ramp would consume", "Use --seconds"),
    # not on this drive
    (f"{MEASURE} --bs 1000", "block of 1000 B is not a multiple of 512 B", "multiples of 512"),
    (f"{MEASURE} --span 0..2MiB", "the span ends at 2 MiB, but the drive has 1 MiB", "0..25%"),
    (f"{MEASURE} --span 100..1MiB", "span start 100 is not a multiple of", "multiples"),
    (f"{MEASURE} --bs 2m", "the span is too small for a block of 2 MiB", "smaller blocks"),
    (f"{MEASURE} --span 0.0001%", "too small for a block of 4 KiB", "larger span"),
    # not a drive, not ours, not there
    ("measure folder", "is a directory", "folder/scratch.bin --size"),
    ("measure missing.bin", "does not exist", "--size"),
    ("measure /dev/ssdlab-is-not-here", "there is no device", "ssdlab drives"),
    ("measure sim:nvme", "there is no profile", "ssdlab sim list"),
    ("measure foreign.bin --rw randwrite", "foreign.bin", "--destroy"),
    ("measure foreign.bin --rw trim", "foreign.bin", "--destroy"),
    ("measure foreign.bin --precondition fill", "foreign.bin", "--destroy"),
    ("measure foreign.bin --rw randwrite --destroy wrong", "'wrong' is not the name", "'foreign.bin'"),
    ("measure foreign.bin --size 2MiB", "exists with 1 MiB, but --size asks for 2 MiB", "leave --size out"),
    ("measure missing.bin --size 100", "is not a multiple of", "whole blocks"),
    ("measure missing.bin --size 4x", "unit of size 'x'", "known: B, k"),
    (f"{MEASURE} --log-ios foreign.bin", "foreign.bin exists and would be overwritten", "Name a new file"),
    ("measure", "DRIVE is missing", "ssdlab measure --help"),
    ("measure foreign.bin more", "unexpected argument 'more'", "ssdlab measure --help"),
    ("measure foreign.bin --threads", "--threads needs a value", "ssdlab measure --help"),
    (f"{MEASURE} --seconds 2", "--seconds is given more than once", "once"),
    (f"{MEASURE} --threads 0", "threads is '0', below 1", "threads that issue I/O"),
    (f"{MEASURE} --bs 4GiB", "above 1 GiB", "512 bytes"),
    (f"{MEASURE} --interval 1us", "interval is 1us, below 1ms", "length of an interval"),
    (f"{MEASURE} --pattern zipf:0", "an exponent of 0 is uniform", "zipf:1.1"),
    ("drives missing.bin", "does not exist", "name an existing drive or file"),
]


def everything(place: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(place)): path.read_bytes() if path.is_file() else None
        for path in sorted(place.rglob("*"))
    }


@pytest.mark.parametrize(("line", "what", "advice"), BAD, ids=[line for line, _, _ in BAD])
@pytest.mark.long
def test_bad_input(
    place: Path, capsys: pytest.CaptureFixture[str], line: str, what: str, advice: str
) -> None:
    before = everything(place)
    assert main(line.split()) == 2
    shown = capsys.readouterr()
    said = shown.err.splitlines()
    assert len(said) == 2, shown.err
    assert said[0].startswith("ssdlab: ")
    assert what in said[0]
    assert said[1].startswith("        ")
    assert advice.casefold() in said[1].casefold()
    assert shown.out == ""
    assert everything(place) == before


OF_THE_PARSER = [
    ("measur x", "there is no command 'measur'", "did you mean measure? (see `ssdlab --help`)"),
    ("library rebuld", "there is no command 'rebuld'", "did you mean rebuild? (see `ssdlab library --help`)"),
    ("--seconds", "there is no option --seconds", "see `ssdlab --help`"),
    (
        "measure x --thread=4",
        "there is no option --thread",
        "did you mean --threads? (see `ssdlab measure --help`)",
    ),
    ("measure x -t", "there is no option -t", "see `ssdlab measure --help`"),
    ("run --xylophone=a b", "there is no option --xylophone", "see `ssdlab run --help`"),
    ("run", "NAME and DRIVE are missing", "see `ssdlab run --help`"),
    ("trace show", "FILE is missing", "see `ssdlab trace show --help`"),
    ("report x --output", "--output needs a value", "see `ssdlab report --help`"),
    ("report x -o", "-o needs a value", "see `ssdlab report --help`"),
    ("drives --json --json", "--json is given more than once", "give it once; see `ssdlab drives --help`"),
    ("drives x y z", "unexpected argument 'y z'", "see `ssdlab drives --help`"),
    ("run x y --repeat many", "--repeat is 'many', not a whole number", "give 0 to 1000000"),
    ("measure x --save=maybe", "--save is 'maybe', neither yes nor no", "see `ssdlab measure --help`"),
    ("completion zhs", "there is no shell 'zhs'", "did you mean zsh? (known: bash, zsh, fish)"),
]


@pytest.mark.parametrize(
    ("line", "what", "advice"), OF_THE_PARSER, ids=[line for line, _, _ in OF_THE_PARSER]
)
def test_what_the_parser_finds_is_told_whatever_its_own_words_are(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, line: str, what: str, advice: str
) -> None:
    def reworded(error: object) -> str:
        return "in other words than today"

    for sort in (CycloptsError, *CycloptsError.__subclasses__(), *MissingArgumentError.__subclasses__()):
        monkeypatch.setattr(sort, "__str__", reworded)
    assert main(line.split()) == 2
    assert capsys.readouterr().err == f"ssdlab: {what}\n        {advice[0].upper()}{advice[1:]}\n"


@pytest.mark.parametrize(
    "line", ["measure missing.bin --json", "measure --json --depth 8 foreign.bin", "drives x --json"]
)
def test_with_json_the_error_is_an_object_too(
    place: Path, capsys: pytest.CaptureFixture[str], line: str
) -> None:
    assert main(line.split()) == 2
    shown = capsys.readouterr()
    error = json.loads(shown.out)
    assert error["exit_status"] == 2
    assert error["what"] in shown.err
    assert error["advice"]


def test_a_library_that_cannot_be_written_is_refused_before_any_io(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "data").write_text("a file where the folder of results would be")
    assert main([*MEASURE.split(), "--save"]) == 3
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2
    assert "data" in said[0]


@pytest.mark.parametrize(
    ("library", "why"),
    [
        ("/proc/lib", "the file system there cannot hold folders"),
        ("notes.txt/lib", "it or its parent is not a folder"),
    ],
)
@pytest.mark.parametrize("command", ["run qd1 sim:tiny-test", "run qd1 sim:tiny-test sim:tiny-test,seed=2"])
def test_where_no_library_can_be_made(
    place: Path, capsys: pytest.CaptureFixture[str], library: str, why: str, command: str
) -> None:
    assert main([*command.split(), "--library", library]) == 3
    what, advice = capsys.readouterr().err.splitlines()[-2:]
    assert "cannot create a library at" in what and why in what
    assert "Name another folder with --library" in advice
