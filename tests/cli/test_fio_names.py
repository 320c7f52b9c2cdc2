"""Who types fio's names is told ours, and is never led to an option that loses data."""

from __future__ import annotations

import re

import pytest

from ssdlab.cli import main
from ssdlab.cli.fio_names import _ELSEWHERE, _LEAVE_OUT, _USE, of_fio
from ssdlab.cli.own_options import options_of
from ssdlab.model.errors import nearest


@pytest.mark.parametrize("name", [*_USE, *_LEAVE_OUT, *_ELSEWHERE])
def test_an_option_of_fio_leads_to_options_that_there_are(name: str) -> None:
    assert name.replace("_", "-") not in options_of("measure")
    for text in (f"--{name}", f"--{name.replace('_', '-')}"):
        advice = of_fio(text)
        assert advice is not None
        named = re.findall(r"--([a-z-]+)", advice)
        assert named or name in (*_LEAVE_OUT, *_ELSEWHERE)
        assert set(named) <= options_of("measure")


@pytest.mark.parametrize(
    "word", ["--destory", "--destro", "--wipe-signature", "--wipesignatures", "--destroyed"]
)
@pytest.mark.parametrize("command", ["measure", "run", "purge"])
def test_no_guess_is_an_option_that_loses_data(
    word: str, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, "none", "none", word, "x"] if command == "run" else [command, "none", word]) == 2
    said = capsys.readouterr().err
    assert f"there is no option {word}" in said and "did you mean" not in said.lower()


@pytest.mark.parametrize(
    "word", ["verify", "numjobs", "runtime", "rwmixread", "blocksize", "direct", "lockmem"]
)
def test_no_name_of_fio_is_like_one_of_ours(word: str) -> None:
    assert nearest(word, options_of("measure"), at_least=0.7) is None
