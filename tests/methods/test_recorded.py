"""What `run --json` prints of each method is what ssdlab 0.2 printed: the same result, under the same keys.

`recorded/` was made before results were opened by registration, from files of `ssdlab run METHOD
sim:tiny-test --quick --seed 7 --json` (`python tests/methods/test_recorded.py FOLDER`). What the host puts
into a result (CPU time, its own load) is left out, and of everything else the keys are compared.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ssdlab.cli import main

RECORDED = Path(__file__).parent / "recorded"
SETTINGS = {"trace": ["--set", "seconds=2"]}
SLOW = {"pts-iops", "pts-latency", "pts-demand-intensity", "qd1", "mixed-random", "quick-look"}
OF_THE_HOST = {"host", "cpu_per_io_ns", "attribution"}
NOT_OURS = re.compile(r"\.manifest\.(environment|tool|drive\.identity|sealed\.runs)\b")


def names() -> list[Any]:
    found = sorted(path.stem for path in RECORDED.glob("*.json"))
    return [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in found]


def without_host(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_host(inner) for key, inner in value.items() if key not in OF_THE_HOST}
    return [without_host(each) for each in value] if isinstance(value, list) else value


def places(value: Any, place: str = "") -> Iterator[str]:
    """The places of all plain values, with the numbers of lists left out."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from places(inner, f"{place}.{key}")
    elif isinstance(value, list) and value:
        for inner in value:
            yield from places(inner, f"{place}[]")
    else:
        yield place


def kept_of(shown: dict[str, Any]) -> dict[str, Any]:
    """What is held against the record."""
    keys = sorted({place for place in places(shown) if not NOT_OURS.match(place)})
    result = without_host(shown["result"])
    for outcome in result.get("outcomes", ()):  # of a suite: its runs have ids of their own
        outcome["run_id"] = ""
        outcome["prepared_by"] = outcome["prepared_by"] and ""
    return {"result": result, "keys": keys}


@pytest.mark.parametrize("name", names())
def test_the_json_of_a_run_is_that_of_before(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["run", name, "sim:tiny-test", "--quick", "--seed", "7", *SETTINGS.get(name, [])]
    assert main([*words, "--library", str(tmp_path), "--json"]) == 0
    ran = json.loads(capsys.readouterr().out)
    recorded = json.loads((RECORDED / f"{name}.json").read_text())
    assert json.dumps(kept_of(ran)["result"]) == json.dumps(recorded["result"]), "to the bit, in its order"
    assert kept_of(ran)["keys"] == recorded["keys"]
    assert ran["manifest"]["result"] == ran["result"]


def test_every_kind_of_result_is_recorded() -> None:
    from ssdlab.methods.results.kinds import KINDS

    kinds = {json.loads(path.read_text())["result"]["kind"] for path in RECORDED.glob("*.json")}
    assert set(KINDS) - kinds == {"measure", "job"}, "of a command of their own"


if __name__ == "__main__":
    for path in Path(sys.argv[1]).glob("*.json"):
        kept = kept_of(json.loads(path.read_text()))
        (RECORDED / path.name).write_text(json.dumps(kept, separators=(",", ":")) + "\n")
