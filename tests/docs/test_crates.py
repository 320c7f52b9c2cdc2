"""The crates are laid out as their README and CONTRIBUTING.md say, and their pages hold examples that run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CRATES = ROOT / "crates"
NAMES = ("workload", "metrics", "engine", "sim", "nbd", "bindings")
SIMULATOR = ("profile", "power", "flash", "ftl", "drive", "runner")
"""Its modules; each knows only those before it."""
MAX_LINES = 450
MIN_PAGE_LINES = 15
EXAMPLE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def sources() -> list[Path]:
    return sorted(CRATES.glob("**/*.rs"))


def page(crate: str) -> str:
    """Return what `lib.rs` says of the crate as a whole."""
    text = (CRATES / crate / "src" / "lib.rs").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.startswith("//!")]
    return "".join(f"{line[4:]}\n" for line in lines)


def test_all_crates_are_named() -> None:
    assert sorted(NAMES) == sorted(path.parent.name for path in CRATES.glob("*/Cargo.toml"))
    overview = (CRATES / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^\*\*(\w+)\*\*", overview, re.MULTILINE) == list(NAMES)


@pytest.mark.parametrize("crate", NAMES)
def test_a_crate_begins_with_a_page_and_an_example(crate: str) -> None:
    text = page(crate)
    assert text.count("\n") >= MIN_PAGE_LINES
    languages = [language for language, _ in EXAMPLE.findall(text)]
    # What has no language is Rust, and `cargo test` runs it; a library for Python has no such examples.
    assert languages.count("python" if crate == "bindings" else "") >= 1


def test_the_bindings_example_runs() -> None:
    examples = [example for language, example in EXAMPLE.findall(page("bindings")) if language == "python"]
    for example in examples:
        exec(compile(example, "crates/bindings/src/lib.rs", "exec"), {})


def test_modules_of_the_simulator_know_only_those_before_them() -> None:
    folder = CRATES / "sim" / "src"
    assert {path.name for path in folder.iterdir()} == {*SIMULATOR, "lib.rs"}
    for path in folder.glob("*/**/*.rs"):
        module = path.relative_to(folder).parts[0]
        code = re.sub(r"^\s*//.*$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        known = SIMULATOR[: SIMULATOR.index(module) + 1]
        assert set(re.findall(r"\bcrate::(\w+)", code)) <= set(known), path


def test_unsafe_code_is_where_contributing_says() -> None:
    rule = re.search(r"Unsafe Rust only in (.*)", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    assert rule
    allowed = set(re.findall(r"`(\w+\.rs)`", rule[1]))
    found = {path.name for path in sources() if re.search(r"\bunsafe \{", path.read_text(encoding="utf-8"))}
    assert found == allowed


def test_no_file_is_long() -> None:
    long = {str(path): text.count("\n") for path in sources() if (text := path.read_text(encoding="utf-8"))}
    assert {path: lines for path, lines in long.items() if lines > MAX_LINES} == {}


def test_one_generator_of_random_numbers_for_all() -> None:
    # The increment and the first multiplier of SplitMix64, however they are written.
    for constant in ("9e3779b97f4a7c15", "bf58476d1ce4e5b9"):
        written = re.compile(r"0x" + "_?".join(constant), re.IGNORECASE)
        found = [path for path in sources() if written.search(path.read_text(encoding="utf-8"))]
        assert found == [CRATES / "workload" / "src" / "random.rs"]
