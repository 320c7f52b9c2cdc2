"""What is wrong with an option is said in its own words, with what can be done about it."""

from __future__ import annotations

import pytest

from ssdlab.cli import main

DRIVE = "sim:tiny-test,scale=4"
MEASURE = f"measure {DRIVE} --seconds 0.1"


@pytest.mark.parametrize(
    ("words", "what", "advice"),
    [
        (f"{MEASURE} --pattern zipf:99", "zipf has an exponent of 99, above 10", "Give at most 10"),
        (f"{MEASURE} --rw read --pattern hot:80/20", "cannot have the pattern hot:80/20", "--rw randread"),
        (
            f"plan qd1 {DRIVE} --precondition analytic",
            "qd1 has no --precondition",
            "steady-random-write, mixed",
        ),
        ("measure sim:tiny-test,power=4W", "no power model", "Set no limit, or choose a profile with"),
        ("measure sim:tiny-test,power=ps1", "no power model", "Set no limit, or choose a profile with"),
        ("measure sim:nvme-tlc-enterprise,power=ps1", "has no power states", "watts"),
        (f"{MEASURE} --cpus 4095", "CPU 4095 is offline or not allowed", "online and allowed"),
        (f"{MEASURE} --numa 7000", "no NUMA node 7000", "nodes of this host"),
    ],
)
def test_it_is_said_in_the_words_of_the_option(
    words: str, what: str, advice: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words.split()) == 2
    said = capsys.readouterr().err
    assert what in said and advice.lower() in said.lower()
    assert not [word for word in ("theta_milli", "bands", "parameter 'pre") if word in said]
