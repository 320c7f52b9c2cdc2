"""What is huge, endless or deep is refused in a sentence, at most 1 GiB and 10 s of CPU time later."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from machine.bounded import MEMORY_BYTES, check, ssdlab
from ssdlab.model.limits import DOCUMENT_BYTES, LINE_CHARACTERS, NESTING, STEPS

pytestmark = pytest.mark.long

STEP = '[[step]]\ndo = "run"\nbytes = "4k"\n'
SIM = "sim:tiny-test"
COLUMNS = "time:1:us,op:2,offset:3,length:4"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("DATA", "STATE", "CONFIG"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    return tmp_path


def refused(*words: str) -> str:
    """Run what must be refused; return what it said."""
    ended = ssdlab(*words)
    check(ended, words)
    assert ended.status == 2, ended
    what, advice = ended.err.splitlines()[-2:]
    assert what.startswith("ssdlab: ")
    assert advice.startswith("        ") and len(what) < 2500
    return what


# --- files without end ---


@pytest.mark.parametrize("noun", ["job", "rig", "profile", "columns", "act", "trace", "ratings"])
@pytest.mark.parametrize("sort", ["/dev/zero", "pipe", "folder", "large"])
def test_a_file_without_end_or_of_another_kind(place: Path, noun: str, sort: str) -> None:
    os.mkfifo(place / "pipe")
    (place / "folder").mkdir()
    with (place / "large").open("wb") as file:
        file.truncate(3 << 30)
    (place / "job.toml").write_text(STEP)
    name = sort if sort.startswith("/") else f"./{sort}"
    commands: dict[str, list[str]] = {
        "job": ["job", name, SIM, "--dry-run"],
        "rig": ["job", "job.toml", SIM, "--rig", name],
        "profile": ["sim", "show", name],
        "columns": ["trace", "show", "job.toml", "--columns", name],
        "act": ["act", "show", name],
        "trace": ["trace", "show", name],
        "ratings": ["sim", "check", "tiny-test", "--ratings", name],
    }
    what = refused(*commands[noun])
    expected = {
        "/dev/zero": "/dev/zero: it is a device",
        "pipe": "pipe: it is a pipe",
        "folder": "folder",
        "large": "large has zero bytes: it is not text"
        if noun == "trace"
        else f"larger than {DOCUMENT_BYTES >> 20} MiB",
    }
    assert expected[sort] in what


def test_a_trace_without_a_newline(place: Path) -> None:
    """3 GiB behind a few MiB of gzip, whose members follow one another."""
    member = gzip.compress(b"a" * (64 << 20), compresslevel=1)
    with (place / "trace.gz").open("wb") as file:
        file.write(gzip.compress(b"fio version 2 iolog\n/dev/x add\n"))
        file.writelines(member for _ in range(48))
    for words in (
        ["trace", "show", "trace.gz"],
        ["run", "trace", SIM, "--set", "file=trace.gz", "--dry-run"],
    ):
        assert f"line 3 of {place / 'trace.gz' if words[0] == 'run' else 'trace.gz'} is longer than " in (
            refused(*words)
        )


def test_a_trace_of_empty_lines_and_one_of_devices_without_end(place: Path) -> None:
    with gzip.open(place / "empty.gz", "wb", compresslevel=1) as file:
        for _ in range(64):
            file.write(b"\n" * (1 << 19))
    assert "begins with more than 65536 empty lines" in refused("trace", "show", "empty.gz")
    with (place / "devices.csv").open("w") as trace:
        trace.writelines(f"{number},R,{4096 * number},4096,{number}\n" for number in range(70_000))
    assert "names more than 65536 devices, up to line 65537" in refused("trace", "show", "devices.csv")


# --- numbers without end ---


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("1,R,{digits},4096", "line 1 has a number of 5000000 digits as the offset"),
        ("{digits},R,0,4096", "line 1 has a number of 5000000 digits as the time"),
        (".{digits},R,0,4096", "line 1 has a number of 5000000 digits as the time"),
    ],
)
def test_a_number_of_five_million_digits_in_a_trace(
    place: Path, line: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place / "trace.csv").write_text(line.format(digits="9" * 5_000_000) + "\n")
    assert f"line 1 of trace.csv is longer than {LINE_CHARACTERS}" in refused(
        "trace", "show", "trace.csv", "--columns", COLUMNS
    )
    (place / "trace.csv").write_text(line.format(digits="9" * 50_000) + "\n1,R,0,4096\n")
    done = ssdlab("trace", "show", "trace.csv", "--columns", COLUMNS)
    check(done, ["trace", "show"])
    assert said.replace("5000000", "50000") in done.out


NUMBERS = [
    "--rate {nines}",
    "--rate 1/{nines}",
    "--rate 1e999",
    "--bs {nines}",
    "--bs 4k:{nines}",
    "--seconds {nines}",
    "--seconds 1e300",
    "--seconds inf",
    "--seconds 20d",
    "--ramp 1e-300",
    "--backlog 11d --rate {nines}k",
    "--bytes 1e999",
    "--span 0..{nines}%",
    "--span 1e-999%..50%",
    "--span {nines}/{nines}%",
    "--span {nines}",
    "--threads {nines}",
    "--depth 1e5",
    "--seed {nines}",
    "--pattern zipf:{nines}",
    "--pattern hot:{nines}/1",
    "--arrival act2019:{nines} --rate 5",
    "--cpus 0-{nines}",
    "--numa {nines}",
    "--size {nines}k",
    "--compressible {nines}%",
    "--endurance-cap {nines}%",
]


@pytest.mark.parametrize("options", NUMBERS)
@pytest.mark.parametrize("digits", [400, 5000])
def test_a_number_of_many_digits_in_an_option(place: Path, options: str, digits: int) -> None:
    words = [word.format(nines="9" * digits) for word in options.split()]
    refused("measure", "missing.bin", *words)


@pytest.mark.parametrize(
    "drive",
    [
        "sim:~nosuch/x",
        "sim:~nosuch/x.toml",
        "sim:tiny-test,state=~nosuch/x",
        f"sim:tiny-test,scale={'9' * 5000}",
        f"sim:tiny-test,spare={'9' * 5000}%",
        "sim:tiny-test,spare=nan",
        "sim:tiny-test,spare=1e999",
        "sim:tiny-test,power=1e999W",
        f"sim:tiny-test,seed={'9' * 40}",
        f"sim:{'x/' * 3000}",
        f"sim:{'x' * 6000}",
        "~nosuch/x",
        "x/" * 3000,
        "x" * 6000,
        "x" * 300,
        "/dev/" + "x" * 6000,
        "\udcff",
        "x" * 70_000,
        "x\ny\x1b[31m",
        "",
    ],
    ids=lambda text: f"{text[:20]!a}-{len(text)}",
)
def test_a_drive_that_no_path_can_name(place: Path, drive: str) -> None:
    for words in (
        ["drives", drive],
        ["measure", drive, "--bytes", "4k"],
        ["plan", "peak-random-read", drive],
        ["trace", "record", drive, "-o", "x"],
        ["conditions", "show", drive],
        ["purge", drive, "--dry-run"],
    ):
        refused(*words)


@pytest.mark.parametrize("path", ["x/" * 3000, "x" * 300, "~nosuch/x", "x\udcff"], ids=lambda text: text[:7])
def test_a_file_that_no_path_can_name(place: Path, path: str) -> None:
    (place / "job.toml").write_text(STEP)
    for words in (
        ["job", path, SIM],
        ["job", "job.toml", SIM, "--rig", path],
        ["trace", "show", path],
        ["trace", "show", "job.toml", "--columns", path],
        ["act", "show", path],
        ["show", path],
        ["show", "x", "--library", path],
        ["measure", path, "--size", "1MiB", "--bytes", "4k"],
        ["run", "peak-random-read", path, "--size", "1MiB"],
        ["report", path, "-o", "x.html"],
        ["report", "x", "-o", path],
        ["watch", path],
        ["resume", path],
        ["note", path, "text"],
        ["doctor", "--rig", path],
        ["library", "rebuild", "--library", path],
        ["measure", SIM, "--bytes", "4k", "--log-ios", path],
        ["measure", SIM, "--bytes", "4k", "--save", "--library", path],
        ["run", "peak-random-read", SIM, "--library", path],
        ["run", "trace", SIM, "--set", f"file={path}"],
        ["act", "config", path],
        ["sim", "check", "tiny-test", "--ratings", path],
    ):
        ended = ssdlab(*words)
        check(ended, words)
        as_drive = words[0] in ("measure", "run") and path in words[1:3]
        allowed = (2,) if as_drive else (2, 3)
        assert ended.status in allowed, (words, ended)


# --- jobs and other TOML ---


def deep(opening: str, closing: str, depth: int) -> str:
    return f"x = {opening * depth}1{closing * depth}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (STEP * (STEPS + 1), f"has {STEPS + 1} steps, more than {STEPS}"),
        (STEP * 20_000, "has 20000 steps"),
        (STEP * 40_000, "larger than 1 MiB"),
        (STEP + 'depth = "x"\n' + STEP, "step 1 of job.toml (line 1): depth is 'x'"),
        (STEP + "\n" + STEP + 'depth = "x"\n', "step 2 of job.toml (line 5): depth is 'x'"),
        (STEP + deep("[", "]", 5000), "deep inside one another"),
        (STEP + deep("[", "]", NESTING + 1), "deep inside one another"),
        (STEP + deep("{a=", "}", 5000), "deep inside one another"),
        (STEP + "x" + ".x" * 100_000 + " = 1\n", "line 4 of job.toml has tables"),
        (("x" + ".x" * 4000 + " = 1\n") * 100, "line 1 of job.toml has tables"),
        (STEP + f"seed = {'9' * 400}", "seed is"),
        (STEP + f"seed = {'9' * 5000}", "a number of 5000 digits (at line 4)"),
        (STEP + "seconds = inf", "line 4 of job.toml has inf"),
        (STEP + "seconds = nan", "line 4 of job.toml has nan"),
        ('[[step]]\ndo = "idle"\nseconds = 1e300', "seconds is 1e+300, above 7776000"),
        ('[[step]]\ndo = "idle"\nseconds = "1e300"', "longer than 90 days"),
        ('[[step]]\ndo = "idle"\nseconds = inf', "line 3 of job.toml has inf"),
        ('[[step]]\ndo = "idle"\nseconds = nan', "line 3 of job.toml has nan"),
        ('[[step]]\ndo = "fill"\npasses = 1000000', "passes is 1000000, above 100"),
        ('[[step]]\ndo = "note"\ntext = "a\\u0000b"', ""),
        (STEP + 'log_ios = "a\\u0000b"', "a run step has no log_ios"),
        (STEP + "x = 1\r2", "job.toml is not TOML"),
        (STEP + "x = 'a\x00b'", "job.toml has zero bytes: it is not text"),
        ("", "has no steps"),
        ("step = 1", "has no steps"),
        ("step = [1]", "step 1 of job.toml does not say what to do"),
        ("[[step]]\ndo = [[[1]]]", "step 1 of job.toml (line 1)"),
        ("x = 0000-00-00", "job.toml is not TOML"),
    ],
    ids=lambda text: f"{text[:30]!a}-{len(text)}",
)
def test_a_job_that_is_too_much(place: Path, text: str, said: str) -> None:
    (place / "job.toml").write_text(text, newline="")
    words = ("job", "job.toml", SIM, "--dry-run")
    if said:
        assert said in refused(*words)
    else:
        check(ssdlab(*words), words)


def test_text_that_is_none(place: Path) -> None:
    (place / "job.toml").write_bytes(STEP.encode() + b"x = '\xff'\n")
    assert "not text in UTF-8, from line 4 on" in refused("job", "job.toml", SIM)


def test_the_longest_job_is_taken(place: Path) -> None:
    (place / "job.toml").write_text(STEP * STEPS)
    done = ssdlab("job", "job.toml", SIM, "--dry-run", "--json")
    check(done, ["job"])
    assert done.status == 0


@pytest.mark.parametrize("write", ["rig", "record", "profile", "columns", "ratings"])
@pytest.mark.parametrize(
    "text", ["x = " + "[" * 5000, "x" + ".x" * 50_000 + " = 1", f"x = {'9' * 5000}", "\x00"]
)
def test_other_toml_that_is_too_much(place: Path, write: str, text: str) -> None:
    (place / "job.toml").write_text(STEP)
    (place / "x.toml").write_text(text)
    (place / "config" / "ssdlab" / "drives").mkdir(parents=True)
    if write == "record":
        from ssdlab.drives.drive_record import find_record
        from ssdlab.model.errors import UsageError

        (place / "config" / "ssdlab" / "drives" / "x.toml").write_text(text)
        with pytest.raises(UsageError, match=r"x\.toml"):
            find_record("some model", None)
        return
    commands: dict[str, list[str]] = {
        "rig": ["job", "job.toml", SIM, "--rig", "x.toml"],
        "profile": ["sim", "show", "./x.toml"],
        "columns": ["trace", "show", "job.toml", "--columns", "x.toml"],
        "ratings": ["sim", "check", "tiny-test", "--ratings", "x.toml"],
    }
    assert "x.toml" in refused(*commands[write])


# --- what is raised, wherever it is raised ---


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (FileNotFoundError(2, "No such file or directory", "x"), 2, "x: No such file or directory"),
        (OSError(36, "File name too long", "y" * 6000), 2, "File name too long"),
        (OSError(5, "Input/output error", "x"), 3, "x: Input/output error"),
        (OSError(28, "No space left on device"), 3, "the file system is full"),
        (MemoryError(), 3, "there is not enough memory"),
        (RecursionError(), 2, "nested too deeply"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"), 2, "not UTF-8 text"),
        (KeyboardInterrupt(), 130, "stopped by a signal"),
        (ValueError("a fault of ours"), 70, "internal error: ValueError: a fault of ours"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_whatever_reaches_the_top(
    capsys: pytest.CaptureFixture[str], error: BaseException, status: int, said: str
) -> None:
    from ssdlab.cli.failures import guarded

    def fail() -> int:
        raise error

    work: Callable[[], int] = fail
    assert guarded(work, as_json=False) == status
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2 and said in lines[0]


# --- a run folder that somebody has filled ---


@pytest.mark.parametrize("name", ["manifest.json", "journal.jsonl", "notes.jsonl"])
def test_a_file_of_a_run_without_end(place: Path, name: str) -> None:
    assert ssdlab("measure", SIM, "--bytes", "4k", "--save", "--library", "runs").status == 0
    (folder,) = (place / "runs").glob("2*")
    path = folder / name
    path.touch()
    path.chmod(0o644)
    os.truncate(path, 3 << 30)
    commands = [["show", str(folder)], ["report", str(folder), "-o", "x.html"], ["note", str(folder), "a"]]
    # A note looks at the notes only.
    for words in commands if name == "notes.jsonl" else commands[:2]:
        assert f"{name} is larger than 256 MiB" in refused(*words)
    verified = ssdlab("library", "verify", "--library", "runs")
    assert (verified.status, verified.peak_bytes < MEMORY_BYTES) == (2, True) and name in verified.out
