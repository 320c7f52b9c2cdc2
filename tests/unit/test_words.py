"""The words of the code: identifiers and sentences are the field's own; the glossary names what exists."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from ssdlab.model.warning_texts import CATALOGUE

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "ssdlab"

BANNED = {
    "doer": "StepExecutor",
    "asking": "LabBase",
    "bench": "RunEnvironment",
    "told": "format_*, describe_*",
    "said": "format_*, describe_*",
    "remainder": "resume_from",
    "spent": "bytes_written",
    "surroundings": "host_context",
    "gathering": "collect_*",
    "laying": "mapping",
    "least": "min, minimum, lower",
    "most": "max, maximum, upper",
    "way": "PurgeMethod",
    "ways": "PurgeMethod",
}
"""A part of an identifier, and what is written instead."""
KEPT = {
    *("gap_most", "most", "most_bytes", "most_rounds", "most_samples", "most_seconds", "least_seconds"),
    *("gap_most_ns", "laying", "least_bytes", "least_ns"),
    *("step_least_s", "step_most_s", "remaining_least_s", "remaining_most_s"),
    *("spent_bytes", "link_most", "ways"),
    *("most_common", "at_least", "half_way", "two_way"),
}
"""By line: public parameters; arguments of steps, which runs hold; keys of `live.json`; other keys of JSON;
names of the library, and ordinary English."""

QUAINT = (
    r"go(es|ing|ne)? on with",
    r"(it )?cannot be gone",
    r"of them is gone",
    r"turn(s|ed)? (one )?down",
    r"looks? on\b(?! (the|a|an|this)\b)",
    r"stands? beside",
    r"comes? to(?=[.,;:\"]|$)",
    r"what stands around",
    r"[Ll]et go of",
    r"carr(y|ies) on",
    r"liv(e|es) on by",
    r"by whomever",
)
"""Phrases that a reader has to read twice."""


def parts(name: str) -> list[str]:
    """An identifier as its words, in lower case: `PurgeMethod` and `purge_method` are the same two."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().strip("_").split("_")


def identifiers(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Every name that a module gives or uses, with its line."""
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        match node:
            case ast.Name(id=name) | ast.arg(arg=name) | ast.Attribute(attr=name):
                yield line, name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield line, name
            case ast.keyword(arg=str(name)) | ast.alias(asname=str(name)):
                yield line, name


@cache
def sources() -> dict[Path, str]:
    """The text of every module of the package."""
    return {path: path.read_text() for path in sorted(PACKAGE.rglob("*.py"))}


def banned_in(text: str) -> list[tuple[int, str]]:
    """Identifiers of a module with a part that is banned."""
    found = identifiers(ast.parse(text))
    return [
        (at, name) for at, name in found if name not in KEPT and not BANNED.keys().isdisjoint(parts(name))
    ]


def written_instead(name: str) -> str:
    """What to write instead of an identifier that is banned."""
    return next(BANNED[part] for part in parts(name) if part in BANNED)


@pytest.mark.parametrize(
    "line",
    [
        "class Doer: ...",
        "def told(step): ...",
        "def f(*, least): ...",
        "f(most_s=1)",
        "x = MOST_RATE",
        "print(f'{surroundings}')",
        "import numpy as laying_out",
        "self._spent = 0",
    ],
)
def test_a_banned_word_is_found_wherever_it_stands(line: str) -> None:
    assert banned_in(line)


def test_no_identifier_is_of_a_banned_word() -> None:
    found = {
        f"{path.relative_to(PACKAGE)}, line {at}: {name}, write {written_instead(name)}"
        for path, text in sources().items()
        for at, name in banned_in(text)
    }
    assert not found


def texts() -> dict[Path, str]:
    """What people read: modules, documents, the crates' sources and the front end's."""
    patterns = (
        "docs/**/*.md",
        "crates/**/*.rs",
        "crates/**/*.md",
        "web/src/**/*.ts",
        "README.md",
        "ARCHITECTURE.md",
        "SECURITY.md",
    )
    others = {path: path.read_text() for pattern in patterns for path in sorted(ROOT.glob(pattern))}
    return {**sources(), **others}


@pytest.mark.parametrize("phrase", QUAINT)
def test_no_text_has_a_quaint_phrase(phrase: str) -> None:
    found = {
        f"{path.relative_to(ROOT)}: {hit.group()!r}"
        for path, text in texts().items()
        for hit in re.finditer(rf"\b(?:{phrase})", text)
    }
    assert not found


def glossary(page: str, heading: str) -> dict[str, str]:
    """A table of terms: each with what it means."""
    section = (ROOT / page).read_text().partition(heading)[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (.+?) \| (.+?) \|$", section, re.MULTILINE)
    assert rows[0] in {("term", "meaning"), ("name", "meaning")}
    return dict(rows[1:])


def test_the_glossaries_are_in_order_and_name_what_exists() -> None:
    """Words of users are in one, names of the code in the other, and none is in both."""
    words = glossary("docs/glossary.md", "# Glossary\n")
    names = glossary("ARCHITECTURE.md", "\n## Names in the code\n")
    assert len(words) >= 30
    for terms in (words, names):
        plain = [term.strip("`").lower() for term in terms]
        assert plain == sorted(plain)
    assert not {term.strip("`").lower() for term in words} & {term.strip("`").lower() for term in names}
    terms = words | names
    known = {name for text in sources().values() for _, name in identifiers(ast.parse(text))}
    modules = {path.stem for path in sources()} | {path.parent.name for path in sources()}
    named = {
        part
        for term, meaning in terms.items()
        for word in re.findall(r"`([\w.]+)`", f"{term} {meaning}")
        for part in word.split(".")
    }
    assert not named - known - modules - {"_core", "manifest", "json", "journal", "jsonl"}, (
        "names that are gone"
    )


def test_steps_are_counted_from_one_in_every_sentence() -> None:
    """Ordinals, from 0, are for code and JSON."""
    found = [
        f"{path.relative_to(PACKAGE)}: {match}"
        for path, text in sources().items()
        for match in re.findall(r"[Ss]tep \{[\w.]*ordinal\}", text)
    ]
    assert not found


def ranges_in(text: str) -> Iterator[int]:
    """Yield the lines of ranges whose ends, of one function or format, may be printed alike."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.JoinedStr):
            continue
        for before, lower, joined, upper in zip(
            [None, *node.values], node.values, node.values[1:], node.values[2:], strict=False
        ):
            ends = (lower, upper)
            if not (isinstance(joined, ast.Constant) and joined.value == " to "):
                continue
            if isinstance(before, ast.Constant) and str(before.value).endswith("from "):
                continue  # a change, not a range
            if all(isinstance(end, ast.FormattedValue) and _rounds(end) for end in ends):
                yield node.lineno


def _rounds(end: ast.FormattedValue) -> bool:
    """Whether a value is printed by a function or a format, so that two that differ may read alike."""
    of_one_kind = isinstance(end.value, ast.Attribute) and end.value.attr in ("first", "last")
    return end.format_spec is not None or isinstance(end.value, ast.Call) or of_one_kind


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ('f"{span_text(a)} to {span_text(b)} at each"', [1]),
        ('f"{a:.2%} to {b:.2%}"', [1]),
        ('f"rounds {x.first} to {x.last}"', [1]),
        ('f"from {rate(a)} to {rate(b)}"', []),
        ('f"set {a} to {b}"', []),
    ],
)
def test_a_range_that_may_read_alike_is_found(text: str, lines: list[int]) -> None:
    assert list(ranges_in(text)) == lines


def test_a_range_whose_ends_are_printed_alike_is_one_value() -> None:
    found = {
        f"{path.relative_to(PACKAGE)}, line {line}: write ends_text or numbered_text"
        for path in PACKAGE.rglob("*.py")
        for line in ranges_in(path.read_text())
    }
    assert not found
    pages = (ROOT / "web" / "src").glob("*.ts")
    assert not [
        path.name for path in pages if re.search(r"(number|exact)\([^`]*\)\} to \$\{", path.read_text())
    ]


def shares_in(text: str) -> Iterator[int]:
    """Yield the lines where a number is made a percentage in place."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.JoinedStr):
            continue
        for value, after in zip(node.values, [*node.values[1:], None], strict=True):
            if not isinstance(value, ast.FormattedValue):
                continue
            sign = isinstance(after, ast.Constant) and str(after.value).lstrip().startswith("%")
            spec = "" if value.format_spec is None else ast.unparse(value.format_spec)
            worked_out = re.search(r"\b100 \*|\* 100\b", ast.unparse(value.value))
            if "%" in spec or (sign and (worked_out or spec)):
                yield node.lineno


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ('f"{share:.0%} busy"', [1]),
        ('f"{100 * share:.3g} % spare"', [1]),
        ('f"{significant(share * 100)}%"', [1]),
        ('f"{share_text(share)} busy"', []),
        ('f"{cell.read_pct} % reads"', []),
    ],
)
def test_a_percentage_that_is_made_in_place_is_found(text: str, lines: list[int]) -> None:
    assert list(shares_in(text)) == lines


def test_a_share_is_printed_in_one_way() -> None:
    """`99% busy` stood beside `23.6 %`, and `0.39%` beside `0.4 %`."""
    units = PACKAGE / "model" / "units.py"
    found = {
        f"{path.relative_to(PACKAGE)}, line {line}: write share_text, fixed_share_text or change_text"
        for path in PACKAGE.rglob("*.py")
        if path != units
        for line in shares_in(path.read_text())
    }
    assert not found
    catalogue = "\n".join(
        f"{each.what} {each.advice} {each.in_step} {each.simulated}" for each in CATALOGUE.values()
    )
    assert "%}" not in catalogue
