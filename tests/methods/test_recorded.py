"""What `run --json` prints of each method is what ssdlab 0.2 printed: the same result, under the same keys.

`recorded/` was made before results were opened by registration, from files of `ssdlab run METHOD
sim:tiny-test --quick --seed 7 --json` (`python tests/methods/test_recorded.py FOLDER`). What the host puts
into a result (CPU time, its own load) is left out, and of everything else the keys are compared.

`recorded/commands/` holds what `measure --json`, `show --json` of a saved measurement and `job --json` said
before summaries became models (`python tests/methods/test_recorded.py --commands`): whole, but for the values
of `MASKED`, whose keys are compared.
"""

from __future__ import annotations

import io
import json
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from ssdlab.cli import main

RECORDED = Path(__file__).parent / "recorded"
COMMANDS = RECORDED / "commands"
SETTINGS = {"trace": ["--set", "seconds=2"]}
SLOW = {"pts-iops", "pts-latency", "pts-demand-intensity", "qd1", "mixed-random", "quick-look"}
OF_THE_HOST = {"host", "cpu_per_io_ns", "attribution", "times_from", "block_layer_fault"}
TIMES = {
    "started",
    "cpu",
    "user_cpu_ns",
    "system_cpu_ns",
    "run_ns",
    "run_queue_wait_ns",
    "voluntary_switches",
    "involuntary_switches",
    "own_cpu_s",
    "run_queue_delay_share",
    "cpu_per_io_ns",
}
"""What the host's clocks and scheduler gave: of a simulated run nothing else differs from one to the next."""
MASKED = TIMES | {"build", "cores", "environment", "run"}
"""And which build on which host it was, and the folder that it was saved in."""
JOB = """
[[step]]
do = "run"
label = "mixed"
rw = "randrw"
seconds = "1s"

[[step]]
do = "idle"
seconds = "1s"

[[step]]
do = "run"
label = "writes"
rw = "write"
bs = "128k"
seconds = "1s"
"""
WORDS = "measure sim:tiny-test,scale=4 --rw randrw --threads 2 --seconds 1 --seed 7"
MEASURE = WORDS.split()
PRINTED = ("measure", "measure-saved", "job")
NOT_OURS = re.compile(
    r"\.manifest\.(environment|tool|drive\.identity|sealed\.runs|review)\b|.*\.telemetry\b|.*\.(times_from|block_layer_fault)\b|\.manifest\.children\[\]\.(variant|standing|suite)\b|\.steps\[\]\.result\.(written_bytes|facts\.load)$"
)
"""Of the host, or younger than what was recorded: what drives tell of themselves, whose times these are."""


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


def test_a_caveat_of_a_quick_run_says_what_to_do() -> None:
    found = [
        caveat
        for path in RECORDED.glob("*.json")
        for caveat in json.loads(path.read_text())["result"]["caveats"]
        if caveat.startswith("quick: ") and "every part" not in caveat
    ]
    assert len(found) >= 6
    assert not [caveat for caveat in found if "without --quick" not in caveat]


def test_every_kind_of_result_is_recorded() -> None:
    from ssdlab.methods.results.kinds import KINDS

    of_methods = list(RECORDED.glob("*.json"))
    of_commands = [COMMANDS / "measure-saved.json", COMMANDS / "job.json"]
    kinds = {json.loads(path.read_text())["result"]["kind"] for path in of_methods + of_commands}
    assert kinds == set(KINDS)


def masked(value: Any) -> Any:
    """The same with nothing but its key of what no run repeats; without what drives tell of themselves."""
    if isinstance(value, dict):
        kept = {key: inner for key, inner in value.items() if key != "telemetry"}
        return {key: "" if key in MASKED else masked(inner) for key, inner in kept.items()}
    return [masked(each) for each in value] if isinstance(value, list) else value


def told(*words: str) -> dict[str, Any]:
    """What a command prints as JSON."""
    with redirect_stdout(io.StringIO()) as out:
        assert main([*words, "--json"]) == 0
    shown: dict[str, Any] = json.loads(out.getvalue())
    return shown


def printed_by(name: str, folder: Path) -> dict[str, Any]:
    """What is kept of what a command prints: of a run the result and the keys, of a measurement all."""
    library = ["--library", str(folder)]
    if name == "measure":
        shown: dict[str, Any] = masked(told(*MEASURE))
        return shown
    if name == "job":
        (folder / "job.toml").write_text(JOB)
        shown = told("job", str(folder / "job.toml"), "sim:tiny-test,scale=4", "--seed", "7", *library)
    else:
        shown = told("show", told(*MEASURE, "--save", *library)["run"])
    keys = sorted({place for place in places(shown) if not NOT_OURS.match(place)})
    return {"result": masked(shown["result"]), "keys": keys}


@pytest.mark.parametrize("name", PRINTED)
def test_the_json_of_a_command_is_that_of_before(name: str, tmp_path: Path) -> None:
    recorded = json.loads((COMMANDS / f"{name}.json").read_text())
    assert json.dumps(printed_by(name, tmp_path)) == json.dumps(recorded), "to the bit, in its order"


@pytest.mark.parametrize("name", PRINTED)
def test_nothing_but_times_is_masked(name: str) -> None:
    """Every other figure that a simulated measurement has is held to the bit."""
    text = (COMMANDS / f"{name}.json").read_text()
    assert all(f'"{figure}":' in text for figure in ("iops", "mb_s", "service_ns", "p99"))
    assert text.count('":""') == sum(text.count(f'"{key}":""') for key in MASKED)


if __name__ == "__main__" and sys.argv[1] == "--commands":
    for each in PRINTED:
        with tempfile.TemporaryDirectory() as place:
            kept = printed_by(each, Path(place))
            (COMMANDS / f"{each}.json").write_text(json.dumps(kept, separators=(",", ":")) + "\n")
elif __name__ == "__main__":
    for path in Path(sys.argv[1]).glob("*.json"):
        kept = kept_of(json.loads(path.read_text()))
        (RECORDED / path.name).write_text(json.dumps(kept, separators=(",", ":")) + "\n")
