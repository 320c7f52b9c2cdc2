"""Advice names options that the command has: every text of the package, under every command."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import ssdlab
from ssdlab.cli import main
from ssdlab.cli.commands import COMMANDS, build_app
from ssdlab.cli.parser_errors import choices_of, command_of, in_own_words, options_of

PACKAGE = Path(ssdlab.__file__).parent
OTHERS = {
    "formats/fio": "fio",
    "formats/traces/reading.py": "fio --write_iolog",
    "drives/purge/ata.py": "hdparm",
    "fleet/slurm.py": "sbatch",
    "report/drawing.py": "V8",
    "report/paper.py": "chromium",
    "drives/guard/judge.py": "mdadm --stop, blockdev --setrw",
    "report/still.py": "CSS",
}
"""Where options of other programs are named."""
OPTION = re.compile(r"(?<![\w-])--([a-z][a-z0-9_-]*)")


def literals(tree: ast.AST) -> Iterator[str]:
    """Yield every text but docstrings; of f-strings, what is fixed of each, with a gap for what is not."""
    told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and _is_text(node.value)}
    joined = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    told |= {id(part) for node in joined for part in ast.walk(node) if part is not node and _is_text(part)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            yield node.value


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


@cache
def texts() -> list[tuple[str, str]]:
    """Return each text of the package that names an option, and where it stands."""
    return [
        (str(path.relative_to(PACKAGE)), text)
        for path in sorted(PACKAGE.rglob("*.py"))
        for text in literals(ast.parse(path.read_text()))
        if OPTION.search(text)
    ]


def named(text: str) -> Iterator[tuple[str | None, str]]:
    """Yield each option that a text names, and the command that it names it of, if it says which."""
    for found in OPTION.finditer(text):
        before = re.search(r"ssdlab ([a-z]+(?: [a-z]+)?)[^;:`]*$", text[: found.start()])
        yield None if before is None else command_of(before[1].split()), found[1]


def valued(text: str) -> Iterator[tuple[str | None, str, str]]:
    """Yield each option with the word behind it, and the command that it is named of, if that is said."""
    for found in re.finditer(OPTION.pattern + r" ([a-z][a-z-]*)", text):
        before = re.search(r"ssdlab ([a-z]+(?: [a-z]+)?)[^;:`]*$", text[: found.start()])
        yield None if before is None else command_of(before[1].split()), found[1], found[2]


@pytest.mark.parametrize("command", COMMANDS)
def test_options_are_those_that_the_parser_takes(command: str) -> None:
    whole = app = build_app()
    for word in command.split():
        app = app[word]
    found = app.assemble_argument_collection(parse_docstring=False, default_parameter=whole.default_parameter)
    taken = {
        name.removeprefix("--")
        for each in found
        for name in (each.names if each.parse else ())
        if name.startswith("--")
    }
    assert taken == options_of(command) - {"help"}


@pytest.mark.long
def test_every_option_that_a_text_names_is_one_of_some_command() -> None:
    every = frozenset().union(*(options_of(command) for command in COMMANDS), {"version", "meter", "release"})
    found = texts()
    assert len(found) > 100
    unknown = [
        (where, text)
        for where, text in found
        for command, option in named(text)
        if option not in (every if command is None else options_of(command))
        and not any(where.startswith(place) for place in OTHERS)
    ]
    assert not unknown


def commands_named(text: str) -> Iterator[str]:
    """Yield what stands behind the program's name where a text tells what to type."""
    for found in re.finditer(r"(?:`|: |with |see |use |run |try )ssdlab ([a-z-]+)(?: ([a-z-]+))?", text):
        if found[1] not in ("of", "or", "sets"):  # a sentence about the program itself
            yield " ".join(filter(None, found.groups()))


def rust_texts() -> list[tuple[str, str]]:
    """Return every text of the crates' sources, with the file that it stands in."""
    crates = PACKAGE.parents[1] / "crates"
    return [
        (str(path.relative_to(crates)), text)
        for path in sorted(crates.glob("*/src/**/*.rs"))
        for line in path.read_text().splitlines()
        if not line.lstrip().startswith("//")
        for text in re.findall(r'"((?:[^"\\]|\\.)*)"', line)
    ]


@pytest.mark.long
def test_every_command_that_a_text_names_exists() -> None:
    written = [
        (str(path.relative_to(PACKAGE)), text)
        for path in sorted(PACKAGE.rglob("*.py"))
        for text in literals(ast.parse(path.read_text()))
    ]
    named_in = [(where, each) for where, text in (*written, *rust_texts()) for each in commands_named(text)]
    assert len(named_in) > 50
    groups = {command.split()[0] for command in COMMANDS}
    assert not [
        (where, each) for where, each in named_in if command_of(each.split()) is None and each not in groups
    ]


def test_every_option_that_the_crates_name_is_one_of_some_command() -> None:
    every = frozenset().union(*(options_of(command) for command in COMMANDS))
    found = [(where, option) for where, text in rust_texts() for option in OPTION.findall(text)]
    assert not [(where, option) for where, option in found if option not in every]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.long
def test_a_text_in_own_words_a_command_names_its_own_options(command: str) -> None:
    """What it lacks is said in its own words, or with the commands that have it."""
    words = [*command.split(), "steady-random-write"]
    wrong = []
    for where, text in texts():
        told = in_own_words(words, text)
        wrong += [(where, text, told) for option in foreign(command, told)]
    assert not wrong


def foreign(command: str, told: str) -> list[str]:
    """Return the options that a command lacks and others have, without it being said who has them."""
    explained = {
        option
        for clause in re.findall(r"; (--[^;]*) (?:is an option|are options) of ssdlab", told)
        for option in OPTION.findall(clause)
    }
    values = {
        value
        for clause in re.findall(r"; (--[^;]*) (?:is an option|are options) of ssdlab", told)
        for value in re.findall(r"--([a-z-]+ [a-z-]+)", clause)
    }
    wrong = [
        f"{option} {value}"
        for of, option, value in valued(told)
        if option in options_of(of or command)
        and (choices := choices_of(of or command, option))
        and value not in choices
        and any(value in choices_of(each, option) for each in COMMANDS if option in options_of(each))
        and f"{option} {value}" not in values
    ]
    return wrong + [
        option
        for of, option in named(told)
        if option not in options_of(of or command) | explained
        and any(option in options_of(other) for other in COMMANDS)
    ]


TOLD = [
    ("measure x", "give --rate, in I/Os a second", "give --rate, in I/Os a second"),
    ("job j.toml x", "give --rate, in I/Os a second", "give rate, in I/Os a second"),
    ("run qd1 x", "measure for longer with --seconds", "measure for longer with --set seconds"),
    ("measure x", "say it: --set spare=0.07", "say it: --spare 0.07"),
    ("trace show t", "choose one with --set device=sda", "choose one with --device sda"),
    ("job j.toml x", "try another method (--method)", "try another method (method)"),
    ("purge x", "see each: ssdlab run --dry-run --set a=1", "see each: ssdlab run --dry-run --set a=1"),
    (
        "measure x --precondition analytic",
        "in full: --precondition full",
        "in full: --precondition full; --precondition full is an option of ssdlab plan and ssdlab run",
    ),
    (
        "run qd1 x",
        "write it: --precondition fill; or",
        "write it: --precondition fill; or; --precondition fill is an option of ssdlab measure",
    ),
    ("drives", "lower --rate or --seed", "lower --rate or --seed; X"),
    ("doctor", "add --output, as of fio --write_iolog", None),
]


@pytest.mark.parametrize(("line", "advice", "told"), TOLD)
def test_what_a_command_makes_of_an_option(line: str, advice: str, told: str | None) -> None:
    if told is not None and told.endswith("X"):
        told = f"{told[:-1]}--rate is an option of ssdlab measure; --seed is an option of ssdlab run, "
        told += "ssdlab measure and ssdlab job"
    has = [f"ssdlab {name}" for name in COMMANDS if "output" in options_of(name)]
    own = f"{advice}; --output is an option of {', '.join(has[:-1])} and {has[-1]}"
    assert in_own_words(line.split(), advice) == (own if told is None else told)


STEP = '[[step]]\ndo = "run"\nrw = "randread"\nseconds = 1\n'
PROVOKED = [
    (f'{STEP}arrival = "even"\n', "job j.toml foreign.bin", "Give rate, in I/Os a second"),
    (f"{STEP}batch = 8\n", "job j.toml foreign.bin", "Use engine uring, or no batch"),
    ("", "trace record missing.img", None),
    ("", "purge missing.img", "its size: --size 4GiB; --size is an option of ssdlab "),
]


@pytest.mark.parametrize(("job", "line", "advice"), PROVOKED)
def test_errors_of_a_command(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    job: str,
    line: str,
    advice: str | None,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    Path("foreign.bin").write_bytes(bytes(1 << 20))
    Path("j.toml").write_text(job)
    assert main([*line.split(), "--json"]) in (2, 3)
    shown = capsys.readouterr()
    if advice is not None:
        assert advice in shown.err
        assert advice.lower() in json.loads(shown.out)["advice"].lower()
    command = command_of(line.split())
    assert command is not None
    assert not foreign(command, json.loads(shown.out)["advice"])
