"""The words of `--set`: of a method, and of one part of a suite."""

from __future__ import annotations

import pytest

from ssdlab.cli.ordering import settings
from ssdlab.lab.found import find_method
from ssdlab.lab.suites import all_suites
from ssdlab.lab.suites.suite import Suite
from ssdlab.model.errors import UsageError
from ssdlab.runs.suites.ordering import suite_params

NUMBERS = ("seconds", "round_seconds", "rest_seconds", "ramp_seconds")


def test_hyphens_stand_for_underscores_in_a_parameter_and_for_themselves_in_a_part() -> None:
    assert settings(["ramp-seconds=1"]) == {"ramp_seconds": "1"}
    assert settings(["mixed-random.ramp-seconds=1"]) == {"mixed-random.ramp_seconds": "1"}
    with pytest.raises(UsageError, match="given twice"):
        settings(["ramp-seconds=1", "ramp_seconds=2"])


@pytest.mark.parametrize("suite", all_suites(), ids=lambda suite: suite.name)
def test_each_part_of_a_suite_can_be_set(suite: Suite) -> None:
    for part in suite.parts:
        names = [name for name in NUMBERS if name in fields(part.method)]
        for name in names:
            given = settings([f"{part.label}.{name.replace('_', '-')}=7"])
            made = suite_params(suite, given, quick=True)
            assert getattr(made[part.label], name) == 7, part.label


def fields(method: str) -> set[str]:
    return set(find_method(method).params.model_fields)
