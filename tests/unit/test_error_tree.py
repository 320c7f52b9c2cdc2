"""Errors: exit statuses, facts, nearest names; how the command line shows them."""

from __future__ import annotations

import json
import pickle
import pkgutil
from importlib import import_module
from pathlib import Path

import pytest

import ssdlab
from ssdlab.cli.failures import guarded
from ssdlab.model import errors


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (errors.LabError, 70),
        (errors.UsageError, 2),
        (errors.Refused, 2),
        (errors.DriveError, 3),
        (errors.HostError, 3),
        (errors.LeaseLost, 3),
        (errors.Interrupted, 130),
        (errors.VerdictFailed, 1),
    ],
)
def test_each_error_has_its_exit_status(error: type[errors.LabError], status: int) -> None:
    assert error("what", "advice").exit_status == status


def test_facts_are_attributes_too() -> None:
    error = errors.DriveError("read failed", "look at the log", errno=5, offset=4096, length=512)
    assert (error.errno, error.offset, error.length) == (5, 4096, 512)
    assert error.measurement is None
    with pytest.raises(AttributeError):
        _ = error.device


def test_an_error_says_what_and_advice_on_one_line_each() -> None:
    error = errors.Refused("a\nb", "c\n  d")
    assert str(error) == "a b\nc d"


def test_facts_become_json() -> None:
    error = errors.Refused("what", "advice", path=Path("/x"), names=("a", "b"), table={1: None}, count=3)
    assert json.loads(json.dumps(error.as_dict()))["facts"] == {
        "path": "/x",
        "names": ["a", "b"],
        "table": {"1": None},
        "count": 3,
    }


def _below(kind: type[errors.LabError]) -> list[type[errors.LabError]]:
    return [kind, *(each for own in kind.__subclasses__() for each in _below(own))]


def test_every_error_is_pickled_whole() -> None:
    for found in pkgutil.walk_packages(ssdlab.__path__, "ssdlab."):
        if not found.name.endswith("__main__"):
            import_module(found.name)
    for kind in _below(errors.LabError):
        error = kind.__new__(kind, "what")  # a class may ask for arguments of its own
        errors.LabError.__init__(error, "what", "advice", errno=5, path="/x")
        error.add_note("beside")
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is kind
        assert again.as_dict() == error.as_dict()
        assert (str(again), again.errno, again.args) == (str(error), 5, error.args)
        assert again.__notes__ == ["beside"]


@pytest.mark.parametrize(
    ("word", "nearest"),
    [("qd2", "qd1"), ("QD1", "qd1"), ("peak-randomread", "peak-random-read"), ("zzzzzz", None)],
)
def test_the_nearest_name(word: str, nearest: str | None) -> None:
    assert errors.nearest(word, ["qd1", "peak-random-read", "peak-sequential-read"]) == nearest


def test_an_unknown_name_is_told_with_the_nearest_or_with_all() -> None:
    assert errors.unknown("method", "qd2", ["qd1"]).advice == "did you mean qd1? (known: qd1)"
    assert (
        errors.unknown("method", "zz", ["qd1"], elsewhere="see `ssdlab methods`").advice
        == "see `ssdlab methods`"
    )


def refuse() -> int:
    raise errors.Refused("it is mounted", "unmount it", reason="mounted")


def test_an_error_is_two_lines_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    assert guarded(refuse, as_json=False) == 2
    shown = capsys.readouterr()
    assert shown.err == "ssdlab: it is mounted\n        Unmount it\n"
    assert shown.out == ""


def test_with_json_it_is_an_object_on_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    assert guarded(refuse, as_json=True) == 2
    assert json.loads(capsys.readouterr().out) == {
        "error": "refused",
        "what": "it is mounted",
        "advice": "unmount it",
        "facts": {"reason": "mounted"},
        "exit_status": 2,
    }


def test_a_fault_of_our_own_is_status_70_with_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> int:
        raise ZeroDivisionError("division by zero")

    assert guarded(fail, as_json=False) == 70
    assert capsys.readouterr().err.splitlines() == [
        "ssdlab: internal error: ZeroDivisionError: division by zero",
        "        Please report it, with the command and its output under SSDLAB_TRACEBACK=1",
    ]


def test_a_traceback_is_shown_when_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSDLAB_TRACEBACK", "1")
    guarded(refuse, as_json=False)
    assert "Traceback" in capsys.readouterr().err


def test_a_signal_is_status_130(capsys: pytest.CaptureFixture[str]) -> None:
    def interrupt() -> int:
        raise KeyboardInterrupt

    assert guarded(interrupt, as_json=False) == 130
    assert "stopped by a signal" in capsys.readouterr().err


@pytest.mark.parametrize("sort", errors.KINDS.values())
def test_an_error_told_by_another_process_is_read_back(sort: type[errors.LabError]) -> None:
    error = sort("the drive is gone", "attach it", errno=19, device="/dev/x")
    back = errors.error_of(json.loads(json.dumps(error.as_dict())))
    assert type(back) is sort
    assert back.as_dict() == error.as_dict()


def test_every_class_of_the_tree_can_be_read_back() -> None:
    named = {each for each in vars(errors).values() if isinstance(each, type)}
    assert {each for each in named if issubclass(each, errors.LabError)} == set(errors.KINDS.values())


def test_a_class_without_a_name_is_told_as_the_one_above_it() -> None:
    class Paused(errors.Interrupted):
        pass

    told = Paused("stopped", "go on").as_dict()
    assert type(errors.error_of(told)) is errors.Interrupted


def test_no_two_classes_have_one_name() -> None:
    with pytest.raises(TypeError, match="'drive'"):
        type("Another", (errors.LabError,), {"kind": "drive"})


@pytest.mark.parametrize("told", [{"error": "melted", "what": "", "advice": "", "facts": {}}, {}])
def test_what_is_no_error_is_not_read_back(told: dict[str, object]) -> None:
    with pytest.raises(LookupError):
        errors.error_of(told)
