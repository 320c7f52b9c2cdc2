"""The declaration that docs/reviews.md shows is one."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ssdlab.cli import main

DOCS = Path(__file__).parents[2] / "docs/reviews.md"


def test_the_declaration_of_the_documents_is_planned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (declaration,) = re.findall(r"```toml\n(.*?)```", DOCS.read_text(), re.DOTALL)
    file = tmp_path / "my-review.toml"
    file.write_text(declaration)
    drive = "sim:memblaze-pblaze5-c916-6.4tb,scale=64"
    assert main(["plan", str(file), drive, "--library", str(tmp_path / "library"), "--json"]) == 0
    said = json.dumps(json.loads(capsys.readouterr().out))
    assert all(f'"{part}"' in said for part in ("peak-random-read", "mixed", "mixed-10w", "mixed-spare-25"))


def test_spare_area_without_a_unit_is_refused_with_how_it_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "my-review.toml"
    file.write_text(
        'schema = "ssdlab.review/1"\nname = "mine"\ntitle = "Mine"\n[[part]]\nmethod = "qd1"\n'
        '[[variant]]\nname = "more"\nspare = 25\n'
    )
    assert main(["plan", str(file), "sim:tiny-test,scale=4", "--library", str(tmp_path / "library")]) == 2
    assert 'in quotes: "25%"' in capsys.readouterr().err
