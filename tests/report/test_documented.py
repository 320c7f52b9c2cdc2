"""The example in docs/report.md does what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from report.conftest import invented

DOCUMENT = Path(__file__).parents[2] / "docs" / "report.md"


def test_the_python_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    invented(tmp_path / "library", "qd1")
    monkeypatch.chdir(tmp_path)
    exec(compile(example, DOCUMENT, "exec"), {})
    assert "One I/O in flight" in (tmp_path / "drives.html").read_text()
