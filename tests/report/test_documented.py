"""The examples in docs/report.md do what they say."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest

from report.conftest import invented
from ssdlab.report import page, source
from ssdlab.report.edition import Edition
from ssdlab.report.theme_file import read_theme

DOCUMENT = Path(__file__).parents[2] / "docs" / "report.md"


def test_the_python_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    invented(tmp_path / "library", "qd1")
    monkeypatch.chdir(tmp_path)
    exec(compile(example, DOCUMENT, "exec"), {})
    assert "One I/O in flight" in (tmp_path / "drives.html").read_text()


def test_the_example_of_a_theme(tmp_path: Path) -> None:
    """It is whole, and nothing in it needs a warning."""
    (example,) = (
        text
        for text in re.findall(r"```toml\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
        if "ssdlab.theme/1" in text
    )
    pytest.importorskip("reportlab")
    (tmp_path / "bold.ttf").write_bytes(files("reportlab").joinpath("fonts", "VeraBd.ttf").read_bytes())
    (tmp_path / "logo.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')
    (tmp_path / "house.toml").write_text(example)
    theme = read_theme(tmp_path / "house.toml")
    assert theme.size == (1280, 720) and theme.logo is not None
    html = page.render([source.read_run(invented(tmp_path / "run", "qd1"))], Edition(theme=theme))
    assert "--paper:#fffaf3" in html and 'alt="Elm Street Lab"' in html
    assert not theme.remarks
