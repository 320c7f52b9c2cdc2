"""A page says how I/O was issued: of a simulated drive no engine of the host's is named."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ssdlab.methods.qd1 import page as qd1
from ssdlab.methods.whole_drive_fill import page as fill
from ssdlab.report.runs import engine_words


def corners(*engines: str) -> Any:
    return [(None, SimpleNamespace(engine=engine)) for engine in engines]


def filled(*engines: str) -> Any:
    manifests = (SimpleNamespace(engine=engine) for engine in engines)
    return [(SimpleNamespace(run=SimpleNamespace(manifest=each)), None) for each in manifests]


@pytest.mark.parametrize(
    ("engines", "says"),
    [
        (("sim",), "One I/O in flight, in a simulated drive's own time; the next"),
        (("sync",), "One I/O in flight, by a thread of synchronous I/O; the next"),
        (("uring", "sync"), "by a thread of synchronous I/O and by a thread of io_uring; the next"),
    ],
)
def test_one_at_a_time(engines: tuple[str, ...], says: str) -> None:
    assert says in qd1._how(corners(*engines))[0]


def test_a_fill_of_a_simulated_drive_has_no_thread() -> None:
    assert fill._by_whom(filled("sim", "sim")) == "in a simulated drive's own time"
    assert fill._by_whom(filled("uring")) == "of one io_uring thread"
    assert fill._by_whom(filled("uring", "sim")).endswith("thread and in a simulated drive's own time")
    assert engine_words("sim") == "simulated"
