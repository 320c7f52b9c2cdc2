"""Generated jobs, traces, texts and TOML: done or refused in a sentence, within 1 GiB and 10 s, never 70."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from machine.bounded import check, ssdlab

SEED = 20_261_122
SIM = "sim:tiny-test"
NUMBERS = (
    *("0", "1", "-1", "4096", "4k", "1e3", "1e300", "1e999", "inf", "nan", "9" * 30, "9" * 400, "9" * 5000),
    *(
        "1/3",
        "1/0",
        "0x10",
        "1_0",
        "٤",
        "",
        " ",
        "50%",
        "1e-999%",
        "100/3%",
        "10s",
        "11d",
        "1h30m",
        "5parsecs",
    ),
)
WORDS = (
    *("randread", "write", "trim", "uring", "sync", "closed", "even", "poisson", "act2019:4", "zipf:1.1"),
    *(
        "hot:80/20",
        "0..25%",
        "4k:70,128k:30",
        "0-3,8",
        "none",
        "fill",
        "on",
        "off",
        "x" * 7000,
        "\u0000",
        "\n",
    ),
    *("~nosuch/x", "../" * 2000, "\u202e", "'", '"', "[[[", "{}", "\udcff"),
)
OPTIONS = (
    *("rw", "read-pct", "bs", "threads", "depth", "engine", "batch", "pattern", "arrival", "rate", "backlog"),
    *(
        "think",
        "seconds",
        "bytes",
        "ramp",
        "span",
        "interval",
        "seed",
        "precondition",
        "compressible",
        "cpus",
    ),
    *("numa", "size", "endurance-cap", "log-ios", "destroy"),
)
STEPS = ("run", "fill", "idle", "trim", "flush", "limit", "note", "conditions", "purge", "precondition", "x")
STEP_OPTIONS = (*OPTIONS, "passes", "text", "method", "label", "unless-written", "nomerges", "nr-requests")
METHODS = ("qd1", "peak-random-read", "trace", "consistency", "pts-iops", "act", "mixed-random", "rate-limit")
PARAMETERS = ("seconds", "depths", "ramp_seconds", "file", "speed", "gap_most", "quick", "rounds", "load")
SIM_OPTIONS = ("scale", "spare", "power", "trim", "write-cache", "seed", "state", "x")
LINES = (
    *(
        "fio version 2 iolog",
        "fio version 3 iolog",
        "/dev/x add",
        "/dev/x read 0 4096",
        "5 /dev/x write 0 512",
    ),
    *("8,0 1 1 0.000000001 7 Q R 0 + 8 [x]", "1,R,0,4096,5", "128166372003061629,h,0,Read,0,4096,5", "", '"'),
)


def value(draw: random.Random) -> str:
    return draw.choice(draw.choice((NUMBERS, WORDS)))


def toml_value(draw: random.Random, depth: int = 0) -> str:
    kind = draw.randrange(7 if depth < 3 else 4)
    if kind == 0:
        return draw.choice(("1", "0", "-1", "1e300", "inf", "nan", "9" * 30, "true", "1979-05-27", "0.1"))
    if kind < 4:
        text = value(draw).encode(errors="replace").decode()
        return (
            '"'
            + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\0", "\\u0000")
            + '"'
        )
    if kind == 4:
        return "[" * draw.choice((1, 2, 40, 2000)) + "1"
    inner = toml_value(draw, depth + 1)
    return f"[{inner}, {inner}]" if kind == 5 else f"{{a = {inner}}}"


def toml(draw: random.Random, names: tuple[str, ...], table: str = "") -> str:
    lines = []
    for _ in range(draw.randrange(1, 4)):
        lines.append(table)
        if table:
            lines.append(f'do = "{draw.choice(STEPS)}"')
        lines += {
            name: f"{name} = {toml_value(draw)}" for name in draw.sample(names, draw.randrange(4))
        }.values()
    text = "\n".join(lines) + "\n"
    if draw.random() < 0.2:  # damage it
        at = draw.randrange(len(text))
        text = text[:at] + draw.choice(("\0", "\r", "=", "[", "'", "\ufeff", "")) + text[at + 1 :]
    return text


def trace(draw: random.Random) -> bytes:
    lines = []
    for _ in range(draw.randrange(30)):
        line = draw.choice(LINES)
        for _ in range(draw.choice((0, 0, 0, 1, 3))):
            part = draw.choice(line.split() or [""]) or "x"
            line = line.replace(part, value(draw), 1)
        lines.append(line)
    content = "\n".join(lines).encode(errors="replace")
    return content if draw.random() < 0.9 else content + bytes(draw.randrange(256) for _ in range(200))


def command(draw: random.Random, place: Path) -> list[str]:
    """A command that begins nothing: what is not refused plans, or tells."""
    sort = draw.randrange(7)
    pairs = [f"--{name}={value(draw)}" for name in draw.sample(OPTIONS, draw.randrange(1, 5))]
    if sort == 0:
        return ["measure", "missing.bin", *pairs]
    if sort == 1:
        (place / "job.toml").write_text(toml(draw, STEP_OPTIONS, "[[step]]"), encoding="utf-8")
        return ["job", "job.toml", SIM, "--dry-run", "--json"]
    if sort == 2:
        settings = [f"--set={name}={value(draw)}" for name in draw.sample(PARAMETERS, draw.randrange(3))]
        return ["plan", draw.choice(METHODS), SIM, "--quick", *settings]
    if sort == 3:
        options = [f"{name}={value(draw)}" for name in draw.sample(SIM_OPTIONS, draw.randrange(4))]
        return ["drives", ",".join([SIM, *options])]
    if sort == 4:
        (place / "trace").write_bytes(trace(draw))
        columns = draw.choice(("", "time:1:us,op:2,offset:3,length:4", value(draw)))
        return ["trace", "show", "trace", f"--columns={columns}"]
    (place / "x.toml").write_text(
        toml(draw, ("name", "cooler", "time", "op", "capacity_bytes", "x")), "utf-8"
    )
    return draw.choice(
        (["sim", "show", "./x.toml"], ["act", "show", "x.toml"], ["trace", "show", "x", "--columns=x.toml"])
    )


def campaign(place: Path, count: int, first: int = 0) -> None:
    for number in range(first, first + count):
        words = [word.replace("\0", "") for word in command(random.Random(SEED + number), place)]
        try:
            check(ssdlab(*words), words)
        except AssertionError as error:
            raise AssertionError(f"input {number}: {error}") from error


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("DATA", "STATE", "CONFIG"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    return tmp_path


@pytest.mark.timeout(600)
def test_generated_inputs(place: Path) -> None:
    campaign(place, 150)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_thousand_generated_inputs(place: Path) -> None:
    campaign(place, 1000)
