"""Completion as a shell does it: bash sources the script and asks its function."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from library.made import run
from ssdlab.cli.commands import COMMANDS, GROUPS, build_app
from ssdlab.cli.completion import mended
from ssdlab.drives.simulated.profiles import profiles
from ssdlab.lab.folders import REGISTRY
from ssdlab.lab.found import SUITES

ASK = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
$(complete -p ssdlab | sed 's/.*-F \\([^ ]*\\).*/\\1/')
printf '%s\\n' "${COMPREPLY[@]}"
"""


def script(command: str, shell: str) -> str:
    return subprocess.run([command, "completion", shell], capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def bash_script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("completion") / "ssdlab"
    file.write_text(mended(build_app().generate_completion(shell="bash")))
    return file


def completed(bash_script: Path, *words: str) -> set[str]:
    """What bash offers for the last word."""
    words_of_bash = ["bash", "--norc", "-c", ASK, "bash", str(bash_script), "ssdlab", *words]
    done = subprocess.run(words_of_bash, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return {line for line in done.stdout.splitlines() if line}


def test_the_command_prints_what_bash_sources(command: str, bash_script: Path) -> None:
    assert script(command, "bash").strip() == bash_script.read_text().strip()


def test_every_command_is_offered(bash_script: Path) -> None:
    assert completed(bash_script, "") == {name.split()[0] for name in COMMANDS} | set(GROUPS)
    for group in GROUPS:
        assert completed(bash_script, group, "") == {
            word for name in COMMANDS for first, _, word in [name.partition(" ")] if first == group and word
        }


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("r",), {"run", "resume", "report", "runs", "rank", "rm"}),
        (("run", "--q"), {"--quick"}),
        (("run", "qd1", "/dev/nvme0n1", "--wi"), {"--wipe-signatures"}),
        # bash parts words at colons, and both a method and a drive's prefix are commands' names elsewhere.
        (("run", "trace", "sim", ":", "tiny-test", "--q"), {"--quick"}),
        (("measure", "sim", ":", "tiny-test", "--ra"), {"--rate", "--ramp"}),
        (("plan", "act", "show", "--en"), {"--endurance-cap"}),
        (("sim", "serve", "tiny-test", "--contents", ""), {"kept", "seeded"}),
        (("completion", ""), {"bash", "zsh", "fish"}),
    ],
)
def test_words_are_completed(bash_script: Path, words: tuple[str, ...], offered: set[str]) -> None:
    assert completed(bash_script, *words) == offered


def asked(command: str, *words: str) -> set[str]:
    """What a shell is answered that asks for what only this installation knows."""
    done = subprocess.run([command, "__complete", *words], capture_output=True, text=True, check=True)
    return {line.partition("\t")[0] for line in done.stdout.partition("\x1fbegin\n")[2].splitlines()}


def test_methods_and_suites_are_offered(command: str) -> None:
    for words in (["run", ""], ["plan", ""], ["methods", ""]):
        assert asked(command, *words) >= set(REGISTRY) | set(SUITES)


@pytest.mark.parametrize("words", [["show"], ["report"], ["rm"], ["compare", "a"]])
@pytest.mark.long
def test_runs_are_offered(command: str, words: list[str], tmp_path: Path) -> None:
    made = {run(tmp_path, number).name for number in (1, 2)}
    assert asked(command, *words, "--library", str(tmp_path), "") == {"last", *made}


@pytest.mark.long
def test_drives_are_offered_whole_or_behind_their_colon(command: str) -> None:
    assert {f"sim:{name}" for name in profiles()} == asked(command, "run", "qd1", "si")
    for rest in (["sim:"], ["sim", ":"], ["sim", ":", "ti"], ["/dev/sdx", "sim", ":", "ti"]):
        offered = asked(command, "run", "qd1", *rest)
        assert offered == (set(profiles()) if len(rest) > 1 else {f"sim:{name}" for name in profiles()})


def test_bash_completes_the_words_of_an_installation(
    command: str, bash_script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{Path(command).parent}:{os.environ['PATH']}")
    assert completed(bash_script, "run", "peak-random-re") == {"peak-random-read"}
    assert completed(bash_script, "run", "qd1", "sim", ":", "tiny-t") == {"tiny-test"}
    assert completed(bash_script, "run", "qd1", "sim", ":") == set(profiles())


def test_files_are_offered_where_no_word_is_known(bash_script: Path) -> None:
    told = subprocess.run(
        ["bash", "--norc", "-c", f"source {bash_script}; complete -p ssdlab"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "-o default" in told.stdout


@pytest.mark.parametrize("shell", ["zsh", "fish"])
@pytest.mark.long
def test_other_shells_know_every_command(command: str, shell: str) -> None:
    text = script(command, shell)
    assert all(word in text for name in COMMANDS for word in name.split())


def test_another_shell_is_refused(command: str) -> None:
    done = subprocess.run([command, "completion", "ksh"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "known: bash, zsh, fish" in done.stderr
