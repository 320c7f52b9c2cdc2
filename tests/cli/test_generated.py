"""Generated jobs, traces, texts, sizes, TOML: done or refused in a sentence, within 1 GiB and 10 s, never 70.

Hypothesis makes them: of words that mean something and of any text, and cuts down what fails. They are the
same at each run (`derandomize`), until this file or Hypothesis changes.
"""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from machine.bounded import CPU_S, MEMORY_BYTES, check, ssdlab

pytestmark = pytest.mark.long

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
    *("hot:80/20", "0..25%", "4k:70,128k:30", "0-3,8", "none", "fill", "on", "off", "x" * 7000, "\n"),
    *("~nosuch/x", "../" * 2000, "\u202e", "'", '"', "[[[", "{}", "\udcff"),
)
OPTIONS = (
    *("rw", "read-pct", "bs", "threads", "depth", "engine", "batch", "pattern", "arrival", "rate", "backlog"),
    *("think", "seconds", "bytes", "ramp", "span", "interval", "seed", "precondition", "compressible"),
    *("cpus", "numa", "size", "endurance-cap", "log-ios", "destroy"),
)
STEPS = ("run", "fill", "idle", "trim", "flush", "limit", "note", "conditions", "purge", "precondition", "x")
STEP_OPTIONS = (*OPTIONS, "passes", "text", "method", "label", "unless-written", "nomerges", "nr-requests")
METHODS = ("qd1", "peak-random-read", "trace", "consistency", "pts-iops", "act", "mixed-random", "rate-limit")
PARAMETERS = ("seconds", "depths", "ramp_seconds", "file", "speed", "gap_most", "quick", "rounds", "load")
SIM_OPTIONS = ("scale", "spare", "power", "trim", "write-cache", "serial", "firmware", "seed", "state", "x")
FIELDS = ("name", "cooler", "time", "op", "offset", "length", "capacity_bytes", "device-names", "x")
COLUMNS = "time:1:us,op:2,offset:3,length:4"
SENSIBLE = {
    **{"rw": "randrw", "read-pct": "70%", "bs": "4k:70,128k:30", "threads": "4", "depth": "8", "batch": "4"},
    **{"engine": "uring", "pattern": "zipf:1.1", "arrival": "poisson", "rate": "5k", "backlog": "1s"},
    **{"think": "1ms", "seconds": "10s", "bytes": "1GiB", "ramp": "2s", "span": "0..25%", "interval": "1s"},
    **{"seed": "7", "precondition": "fill", "compressible": "50%", "cpus": "0", "numa": "0", "size": "1GiB"},
    **{
        "endurance-cap": "1%",
        "log-ios": "ios.log",
        "destroy": "missing.bin",
        "passes": "2",
        "text": "a note",
    },
    **{"method": "discard", "label": "first", "unless-written": "true", "nomerges": "2", "nr-requests": "2"},
    **{
        "depths": "1,2",
        "ramp_seconds": "0",
        "file": "example",
        "speed": "2",
        "gap_most": "1s",
        "rounds": "3",
    },
    **{
        "scale": "4",
        "spare": "7%",
        "power": "5W",
        "trim": "off",
        "write-cache": "off",
        "serial": "S1",
        "firmware": "F1",
        "state": "drive.state",
    },
    **{
        "name": "a name",
        "cooler": "fan",
        "time": "1:us",
        "op": "2",
        "offset": "3",
        "length": "4",
        "load": "10",
    },
    **{"quick": "true", "capacity_bytes": "4000000000", "device-names": "/dev/nvme0n1", "library": "library"},
}
"""What each option takes, so that not everything is refused."""
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

text = some.text(max_size=60)
sizes = some.builds(
    "{}{}".format,
    some.integers() | some.floats() | some.fractions(),
    some.sampled_from(
        ("", "k", "KiB", "MB", "GiB", "T", "%", "s", "ms", "us", "h", "W", "..50%", "-3", ":70")
    ),
)
values = (
    some.sampled_from(NUMBERS)
    | some.sampled_from(WORDS)
    | sizes
    | text.map(lambda each: each.replace("\0", ""))
)
bare = some.text(string.ascii_letters + string.digits + "-_", min_size=1, max_size=12)


OWN = {
    **{"run": ("rw", "bs", "threads", "seconds", "span"), "fill": ("passes",), "idle": ("seconds",)},
    **{"note": ("text",), "trim": ("span",), "conditions": ("nomerges", "nr-requests"), "flush": ()},
}
"""Options of steps that go together."""


def value_of(name: str, *, odd: bool) -> some.SearchStrategy[str]:
    """What an option takes; where it is to be odd, anything."""
    return values if odd or name not in SENSIBLE else some.just(SENSIBLE[name])


def quoted(value: str) -> str:
    """A text as TOML has it between quotation marks."""
    plain = value.encode(errors="replace").decode()
    shown = (f"\\u{ord(each):04x}" if each < " " or each in '"\\\x7f' else each for each in plain)
    return f'"{"".join(shown)}"'


scalars = (
    some.sampled_from(("1", "0", "-1", "1e300", "inf", "nan", "9" * 30, "true", "1979-05-27", "0.1"))
    | some.integers().map(str)
    | some.floats().map(repr)
    | some.dates().map(str)
    | values.map(quoted)
)
items = some.recursive(
    scalars,
    lambda inner: (
        some.lists(inner, max_size=3).map(lambda each: f"[{', '.join(each)}]")
        | some.dictionaries(bare, inner, max_size=3).map(
            lambda each: "{" + ", ".join(f"{name} = {value}" for name, value in each.items()) + "}"
        )
    ),
    max_leaves=6,
) | some.sampled_from(("[" * 40 + "1", "[" * 2000 + "1", "{a = " * 40 + "1"))


@some.composite
def toml(draw: some.DrawFn, names: tuple[str, ...], table: str = "") -> str:
    """A document of such tables; half of them hold odd values and are now and then damaged at one place."""
    odd = draw(some.booleans())
    lines = []
    for _ in range(draw(some.integers(1, 3))):
        chosen = names
        if table:
            step = draw(some.sampled_from(STEPS if odd else tuple(OWN)))
            lines += [table, f'do = "{step}"']
            chosen = names if odd else OWN[step]
        for name in draw(some.lists(some.sampled_from(chosen), max_size=4, unique=True)) if chosen else ():
            lines.append(f"{name} = {draw(items) if odd else quoted(SENSIBLE.get(name, '1'))}")
        if odd and draw(some.booleans()):
            lines.append(f"{draw(bare)} = {draw(items)}")
    whole = "\n".join(lines) + "\n"
    if odd and draw(some.booleans()):
        at = draw(some.integers(0, len(whole) - 1))
        whole = whole[:at] + draw(some.text(max_size=2)) + whole[at + 1 :]
    return whole


@some.composite
def trace(draw: some.DrawFn) -> bytes:
    """Lines of every format, some with another part, some that are nothing."""
    lines = []
    for line in draw(some.lists(some.sampled_from(LINES), max_size=30)):
        for part in draw(some.lists(some.integers(0, 8), max_size=3)):
            words = line.split() or ["x"]
            line = line.replace(words[part % len(words)], draw(values), 1)
        lines.append(line)
    return "\n".join(lines).encode(errors="replace") + draw(some.just(b"") | some.binary(max_size=200))


def options(names: tuple[str, ...], form: str, most: int = 4) -> some.SearchStrategy[list[str]]:
    chosen = some.lists(some.sampled_from(names), max_size=most, unique=True)
    pairs = some.tuples(chosen, some.booleans()).flatmap(
        lambda found: some.fixed_dictionaries({name: value_of(name, odd=found[1]) for name in found[0]})
    )
    return pairs.map(lambda found: [form.format(name, value) for name, value in found.items()])


Written = dict[str, bytes]
"""Files that a command is given."""


def given_file(name: str, content: some.SearchStrategy[str], *words: str) -> some.SearchStrategy:
    return content.map(lambda made: ({name: made.encode(errors="replace")}, list(words)))


def given_words(*parts: some.SearchStrategy[list[str]] | str) -> some.SearchStrategy:
    lists = [some.just([part]) if isinstance(part, str) else part for part in parts]
    return some.tuples(*lists).map(lambda found: ({}, [word for words in found for word in words]))


one = some.lists(values, min_size=1, max_size=1)
COMMANDS = {
    "measure": given_words("measure", "missing.bin", options(OPTIONS, "--{}={}")),
    "suites": given_words("plan", "quick-look", SIM, options(("quick", "repeat", "size", "seed"), "--{}={}")),
    "job": given_file(
        "job.toml", toml(STEP_OPTIONS, "[[step]]"), "job", "job.toml", SIM, "--dry-run", "--json"
    ),
    "plan": given_words(
        "plan",
        some.lists(some.sampled_from(METHODS), min_size=1, max_size=1),
        SIM,
        "--quick",
        options(PARAMETERS, "--set={}={}", 3),
    ),
    "drives": some.builds(
        lambda found: ({}, ["drives", ",".join([SIM, *found])]), options(SIM_OPTIONS, "{}={}")
    ),
    "trace": some.builds(
        lambda content, columns: ({"trace": content}, ["trace", "show", "trace", f"--columns={columns}"]),
        trace(),
        some.sampled_from(("", COLUMNS)) | values,
    ),
    "profile": given_file("x.toml", toml(FIELDS), "sim", "show", "./x.toml"),
    "act": given_file("x.toml", toml(FIELDS), "act", "show", "x.toml"),
    "columns": given_file("x.toml", toml(FIELDS), "trace", "show", "x.toml", "--columns=x.toml"),
    "ratings": given_file("x.toml", toml(FIELDS), "sim", "check", "tiny-test", "--ratings=x.toml"),
    "rig": toml(FIELDS).map(
        lambda made: (
            {"x.toml": made.encode(errors="replace"), "job.toml": b'[[step]]\ndo = "run"\n'},
            ["job", "job.toml", SIM, "--dry-run", "--rig=x.toml"],
        )
    ),
    "runs": given_words(
        some.sampled_from((["show"], ["note"], ["watch"], ["resume"], ["library", "verify"], ["act", "log"])),
        some.lists(values, max_size=2),
        options(("library", "json", "destroy", "x"), "--{}={}", 2),
    ),
    "words": given_words(
        some.sampled_from((["conditions", "show"], ["conditions", "restore"], ["methods"], ["purge"])), one
    ),
    "anything": given_words(some.lists(values, max_size=4)),
}


def campaign(count: int, place: Path) -> Counter[str]:
    """Give so many inputs to the command line; return how each of them ended."""
    ended: Counter[str] = Counter()
    most = {"memory": 0, "cpu_s": 0.0}

    @settings(
        max_examples=count,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(some.sampled_from(sorted(COMMANDS)).flatmap(COMMANDS.__getitem__))
    def each(made: tuple[Written, list[str]]) -> None:
        files, words = made
        for name, content in files.items():
            (place / name).write_bytes(content)
        words = [word.replace("\0", "") for word in words]
        done = ssdlab(*words)
        check(done, words)
        ended[f"{next(iter(words), '')[:10]!a} {done.status}"] += 1
        most["memory"] = max(most["memory"], done.peak_bytes)
        most["cpu_s"] = max(most["cpu_s"], done.cpu_s)

    run: Callable[[], None] = each
    run()
    print(dict(ended.most_common(40)))
    print(f"at most {most['memory'] >> 20} MiB and {most['cpu_s']:.2f} s of CPU time")
    assert most["memory"] <= MEMORY_BYTES and most["cpu_s"] <= CPU_S
    return ended


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("DATA", "STATE", "CONFIG"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    return tmp_path


def test_generated_inputs(place: Path) -> None:
    ended = campaign(150, place)
    done = sum(count for how, count in ended.items() if how.endswith(" 0"))
    assert 10 < done < 140, "nothing was accepted, or nothing refused"


@pytest.mark.slow
def test_a_thousand_generated_inputs(place: Path) -> None:
    ended = campaign(1000, place)
    assert ended.total() >= 1000
