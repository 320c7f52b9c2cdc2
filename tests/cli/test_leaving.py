"""The command ends at once when its work is done: what is done at the end of a process was done before."""

from __future__ import annotations

import subprocess
import sys

import pytest

LEAVING = """
import atexit, sys
from ssdlab import __main__ as own

def main(run=own.main):
    atexit.register(lambda: print("done at its end", flush=True))
    return run()

own.main = main

class Left:
    def __del__(self):
        print("taken apart", flush=True)

left = Left()
sys.argv = {words!r}
own.command()
"""


def left(*words: str) -> subprocess.CompletedProcess[str]:
    code = LEAVING.format(words=["ssdlab", *words])
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)


def test_what_is_registered_for_the_end_is_done_and_nothing_is_taken_apart() -> None:
    ended = left("--version")
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines()[1:] == ["done at its end"]
    assert not ended.stderr


@pytest.mark.parametrize(
    ("words", "status"), [(("--version",), 0), (("rnak",), 2), (("show", "--json", "x"), 2)]
)
def test_the_status_is_that_of_the_command_line(words: tuple[str, ...], status: int) -> None:
    assert left(*words).returncode == status


def test_a_reader_that_is_gone_is_no_error() -> None:
    code = LEAVING.format(words=["ssdlab", "--help"])
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as ended:
        assert ended.stdout is not None and ended.stderr is not None
        ended.stdout.close()
        assert b"ssdlab" not in ended.stderr.read()
