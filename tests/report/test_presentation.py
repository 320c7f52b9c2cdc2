"""Every kind of Result is read and shown everywhere: in the terminal and on the page."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ssdlab.lab.folders import REGISTRY
from ssdlab.lab.found import find_method
from ssdlab.lab.kinds import KINDS, UNKNOWN
from ssdlab.lab.outcome import UnknownResult, kind_of
from ssdlab.results.kind import loaded
from ssdlab.results.schema import ResultBase

METHODS = [*REGISTRY, "job"]


@pytest.mark.parametrize("kind", [*KINDS, "never heard of"])
def test_each_place_is_there(kind: str) -> None:
    found = kind_of(kind)
    assert issubclass(found.loaded_model(), ResultBase)
    places = (found.section, found.terminal)
    for place in filter(None, () if found is KINDS["suite"] else places):
        assert callable(loaded(place)), place


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_has_the_name_that_its_results_store(kind: str) -> None:
    assert KINDS[kind].loaded_model().model_fields["kind"].default == kind


@pytest.mark.parametrize("name", METHODS)
def test_each_method_names_its_kind(name: str) -> None:
    kind = find_method(name).result
    assert kind is not None and KINDS[kind.name] is kind


def test_what_nobody_knows_is_shown_as_such() -> None:
    assert kind_of("never heard of") is UNKNOWN
    assert kind_of("never heard of", "no-such-method") is UNKNOWN
    assert UNKNOWN.loaded_model() is UnknownResult


def test_reading_one_kind_loads_no_other() -> None:
    code = (
        "import sys; from ssdlab.lab.outcome import kind_of; kind_of('peak').loaded_model(); "
        "print([name for name in sys.modules if name.startswith(('ssdlab.report', 'ssdlab.cli', "
        "'ssdlab.methods.pts.result', 'ssdlab.methods.trim_validation.result'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
