"""Each warning of the catalogue: when it is said, and when not."""

from __future__ import annotations

import ast
import re
import string
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from ssdlab.cli.parser_errors import options_of
from ssdlab.drives.simulated.drive import commands_held
from ssdlab.drives.simulated.profiles import check_profile
from ssdlab.model import warnings
from ssdlab.model.host_load import Conditions, HostContext
from ssdlab.model.summary import Summary
from ssdlab.model.units import NS_PER_S
from ssdlab.model.warning_texts import CATALOGUE
from ssdlab.model.warnings import Warning, judge
from ssdlab.model.workload import Bursts, Closed, Open, Stop, Stream, Workload

QUIET = {name.name: None for name in fields(Conditions)} | {
    "device": "nvme0n1",
    "scheduler": "none",
    "schedulers": ("none",),
    "write_cache": "write back",
}


def settings(**changes: Any) -> Conditions:
    return Conditions(**{**QUIET, **changes})


def part(**changes: Any) -> dict[str, Any]:
    counts = {"requested": 100_000, "ios": 100_000, "failed": 0, "dropped": 0, "late": 0, "errors": {}}
    latencies = {"p50": 80_000, "p99": 100_000}
    return {**counts, "service_ns": latencies, "response_ns": latencies, **changes}


def summary(**changes: Any) -> Summary:
    plain = {
        "iops": 100_000.0,
        "elapsed_s": 1.0,
        "in_flight": 8.0,
        "cpu": {"per_io_ns": 0.0},
        "read": part(),
        "write": None,
        "trim": None,
    }
    return Summary.model_validate({**plain, "workers": {"run_queue_wait_ns": 0}, "complete": True, **changes})


def codes(measured: Summary | None = None, around: HostContext | None = None, **stream: Any) -> list[str]:
    workload = Workload.of(Stream(**{"workers": 8, **stream}))
    return [each.code for each in judge(measured or summary(), workload, around or HostContext())]


def test_a_clean_measurement_has_none() -> None:
    around = HostContext(
        conditions=settings(),
        cores=16,
        cpu_busy_share=0.5,
        governors=("performance",),
        device_in_flight=8.0,
        build_profile="release",
    )
    assert codes(around=around) == []


@pytest.mark.parametrize(
    ("around", "code"),
    [
        (HostContext(cores=2, cpu_busy_share=0.95), "host-limited"),
        (HostContext(governors=("performance", "powersave")), "governor"),
        (HostContext(build_profile="debug"), "debug-build"),
        (HostContext(is_file=True), "file-system"),
        (HostContext(unseen=("what others have open",)), "unseen"),
        (HostContext(allow_unwritten=True), "unwritten-allowed"),
        (HostContext(written_unknown=True), "written-unknown"),
        (HostContext(device_in_flight=7.5), "device-depth"),
        (HostContext(conditions=settings(scheduler="bfq")), "scheduler"),
        (HostContext(conditions=settings(rotational=True)), "rotational"),
        (HostContext(conditions=settings(link="8.0 GT/s x4 of 16.0 GT/s x4")), "link"),
        (HostContext(conditions=settings(max_io_bytes=2048)), "split"),
        (HostContext(conditions=settings(nr_requests=4)), "queue-limit"),
        (HostContext(conditions=settings(queue_depth=7)), "drive-queue"),
    ],
)
def test_what_stands_around(around: HostContext, code: str) -> None:
    assert codes(around=around) == [code]


@pytest.mark.parametrize(
    "around",
    [
        HostContext(cores=2, cpu_busy_share=0.85),
        HostContext(cores=16, cpu_busy_share=0.95),
        HostContext(device_in_flight=7.7),
        HostContext(conditions=settings(link="16.0 GT/s x4 of 16.0 GT/s x4")),
        HostContext(conditions=settings(max_io_bytes=4096, nr_requests=8, queue_depth=8)),
        HostContext(conditions=settings(write_cache=None)),
    ],
)
def test_what_stands_around_and_is_no_reason(around: HostContext) -> None:
    assert codes(around=around) == []


@pytest.mark.parametrize(("drive", "held"), [("sata-tlc-enterprise", 32), ("nvme-tlc-enterprise", None)])
def test_a_simulated_drive_holds_what_its_link_carries(drive: str, held: int | None) -> None:
    assert commands_held(check_profile(drive)["profile"]) == held
    drive_part = {} if held is None else {"drive": {"commands_held": held}}
    for depth in (32, 64):
        told = [] if held is None or depth <= held else ["drive-queue"]
        assert codes(summary(in_flight=float(depth), **drive_part), workers=depth) == told


def test_of_an_open_loop_what_was_in_flight_counts_and_not_its_threads() -> None:
    """Threads are as many as may be needed."""
    around = HostContext(conditions=settings(queue_depth=32, nr_requests=48))
    for counted, told in ((20, []), (40, ["drive-queue"]), (50, ["queue-limit", "drive-queue"])):
        measured = summary(iops=1000.0, in_flight=2.0, in_flight_max=counted)
        arrival = Open(rate=1000)
        assert codes(measured, around, workers=82, arrival=arrival) == told
        found = judge(measured, Workload.of(Stream(workers=82, arrival=arrival)), around)
        assert all(each.what.startswith(f"up to {counted} I/Os were in flight, but") for each in found)
    (asked,) = judge(summary(in_flight=40.0), Workload.of(Stream(workers=40)), around)
    assert asked.what.startswith("40 I/Os in flight were requested, but the drive holds 32")


@pytest.mark.parametrize(
    ("own_s", "code"),
    [(0.01, "host-shared"), (0.9, "host-shared"), (1.0, "host-limited"), (1.9, "host-limited")],
)
def test_who_kept_the_cpus_busy_is_told(own_s: float, code: str) -> None:
    """Of two CPUs that were 95 % busy for a second; where it is not known, the threads are named."""
    around = HostContext(cores=2, cpu_busy_share=0.95)
    measured = summary(elapsed_s=1.0, workers={"user_cpu_ns": own_s * 1e9, "system_cpu_ns": 0})
    (found,) = judge(measured, Workload.of(Stream(workers=8)), around)
    assert found.code == code
    assert ("8 threads" in found.what) is (code == "host-limited")
    assert ("use fewer threads" in found.advice) is (code == "host-limited")


def test_no_advice_contradicts_another() -> None:
    """More threads help against a drive that waits for them, and never on a host that is busy with them."""
    for code, entry in CATALOGUE.items():
        for advice in (entry.advice, entry.in_step):
            if any(word in advice for word in ("--threads or --depth", "more I/Os in flight")):
                assert "if the host has CPU time left" in advice, code


def test_a_drain_is_no_missing_depth() -> None:
    """Half a second of 128 I/Os in flight, and 0.238 s until the last had returned: 107 on average."""
    drained = summary(in_flight=107.0, elapsed_s=0.738)
    by_time = Stop(time_ns=500_000_000)
    assert codes(drained, workers=128, stop=by_time) == []
    assert codes(drained, workers=128, stop=Stop(ios=100_000)) == ["depth-not-reached"]
    assert codes(summary(in_flight=60.0, elapsed_s=0.738), workers=128, stop=by_time) == ["depth-not-reached"]


def test_one_in_flight_has_no_lower_depth() -> None:
    assert codes(summary(in_flight=0.931), workers=1) == ["host-between"]


def test_the_write_cache_matters_to_writes() -> None:
    around = HostContext(conditions=settings(write_cache=None))
    assert codes(summary(read=None, write=part()), around, ops="write") == ["write-cache-unknown"]


@pytest.mark.parametrize(
    ("measured", "found"),
    [
        (summary(in_flight=7.5), ["depth-not-reached"]),
        (summary(in_flight=7.7), []),
        (summary(read=part(ios=999, requested=999)), ["few-samples"]),
        (summary(read=part(ios=1000, requested=1000)), []),
        (summary(read=part(failed=3, errors={"5": 3})), ["failed"]),
        (summary(read=part(late=99)), []),
        (summary(read=part(late=100)), ["late"]),
        (summary(read=part(dropped=1)), ["dropped"]),
        (summary(workers={"run_queue_wait_ns": 100_000 * 10_000}), ["run-queue-delay"]),
        (summary(workers={"run_queue_wait_ns": 100_000 * 9_999}), []),
        (summary(complete=False), ["incomplete"]),
    ],
)
def test_what_was_measured(measured: dict[str, Any], found: list[str]) -> None:
    assert codes(measured) == found


@pytest.mark.parametrize(("longest_ns", "code"), [(1_370_000_000, "undone"), (10_200_000_000, "dropped")])
def test_what_is_given_up_at_the_end_was_no_full_backlog(longest_ns: int, code: str) -> None:
    stream = Stream(arrival=Open(rate=1000), workers=8, stop=Stop(time_ns=10 * NS_PER_S))
    tails = {"p50": 80_000, "p99": 100_000, "max": longest_ns}
    measured = summary(iops=995.0, elapsed_s=10.0, read=part(dropped=50, response_ns=tails))
    found = [each.code for each in judge(measured, Workload.of(stream), HostContext())]
    assert [each for each in found if each in ("undone", "dropped")] == [code]


def test_a_backlog_that_is_left_at_an_early_end_is_told_beside_what_was_given_up() -> None:
    """Ten seconds of 1,000 a second of which 700 were taken, and 5 of each second's 700 given up."""
    stream = Stream(arrival=Open(rate=1000), workers=8, stop=Stop(time_ns=60 * NS_PER_S))
    ended = summary(iops=695.0, elapsed_s=10.0, read=part(ios=6_950, requested=7_000, dropped=50))
    (dropped,) = [each for each in judge(ended, Workload.of(stream), HostContext()) if each.code == "dropped"]
    assert dropped.what.startswith("50 I/Os were due but never issued") and "3.00k more" in dropped.what
    whole = summary(iops=995.0, elapsed_s=10.0, read=part(ios=9_950, requested=10_000, dropped=50))
    assert "more were due" not in judge(whole, Workload.of(stream), HostContext())[-1].what


@pytest.mark.parametrize(
    ("iops", "arrival", "found"),
    [
        (99_600.0, Open(rate=100_000), []),
        (99_400.0, Open(rate=100_000), ["rate-not-reached"]),
        # Ten thousand random arrivals vary by 100: four times that is chance.
        (9_700.0, Open(process="poisson", rate=10_000), []),
        (9_500.0, Open(process="poisson", rate=10_000), ["rate-not-reached"]),
        (9_700.0, Open(rate=10_000), ["rate-not-reached"]),
        (95.0, Bursts(bytes="400k", every_ns="1s"), ["rate-not-reached"]),
        (100.0, Bursts(bytes="400k", every_ns="1s"), []),
    ],
)
def test_the_rate_asked_for(iops: float, arrival: object, found: list[str]) -> None:
    # An open loop asks for no depth: that few I/Os were in flight says nothing.
    assert codes(summary(iops=iops, in_flight=0.1), arrival=arrival) == found


@pytest.mark.parametrize(
    ("at_device", "per_io_ns", "waited_ns", "found"),
    [
        # 100,000 a second, each 20 us in the host: two of eight are there on average, six at the device.
        (5.8, 20_000, 0, []),
        (5.6, 20_000, 0, ["device-depth"]),
        (5.8, 10_000, 10_000, []),
        (5.6, 10_000, 10_000, ["device-depth"]),
    ],
)
def test_the_hosts_own_time_does_not_lack_at_the_device(
    at_device: float, per_io_ns: float, waited_ns: int, found: list[str]
) -> None:
    tail = {"p50": 80_000, "p99": 1_000_000}
    measured = summary(
        cpu={"per_io_ns": per_io_ns},
        workers={"run_queue_wait_ns": waited_ns * 100_000},
        read=part(response_ns=tail),
    )
    assert codes(measured, HostContext(device_in_flight=at_device)) == found


@pytest.mark.parametrize(
    ("at_device", "in_flight", "found"),
    [
        # 10,000 a second, each 40 us in the host: 0.6 of an I/O is due at the device.
        (0.56, 1.0, []),
        (0.31, 1.0, []),
        (0.29, 1.0, ["device-depth"]),  # most of it was held on its way
        # 0.6 more than one, and lower depths are.
        (1.5, 2.0, ["device-depth"]),
    ],
)
def test_below_one_io_at_the_device_is_no_lower_depth(
    at_device: float, in_flight: float, found: list[str]
) -> None:
    measured = summary(iops=10_000.0, in_flight=in_flight, cpu={"per_io_ns": 40_000})
    around = HostContext(device_in_flight=at_device)
    assert codes(measured, around, workers=int(in_flight)) == found


def test_that_nothing_was_measured_is_told() -> None:
    nothing = part(requested=0, ios=0, response_ns={"p50": None, "p99": None})
    assert codes(summary(iops=0.0, in_flight=0.0, read=nothing), arrival=Closed(think_ns=1)) == [
        "nothing-measured"
    ]
    failed = part(ios=0, requested=5, failed=5, errors={"5": 5})
    assert codes(summary(iops=0.0, read=failed)) == ["nothing-measured", "failed"]


@pytest.mark.parametrize(("count", "said"), [(1, "1 I/O was due"), (2, "2 I/Os were due")])
def test_one_io_is_one(count: int, said: str) -> None:
    (warned,) = judge(summary(read=part(dropped=count)), Workload.of(Stream(workers=8)), HostContext())
    assert warned.what.startswith(said)


def test_pauses_ask_for_no_depth() -> None:
    assert codes(summary(in_flight=1.0), arrival=Closed(think_ns=1)) == []


def test_a_buffered_stream_is_told() -> None:
    assert codes(direct=False) == ["buffered"]


@pytest.mark.parametrize("code", CATALOGUE)
def test_every_warning_is_said_with_cause_and_advice(code: str) -> None:
    entry = CATALOGUE[code]
    names = {name for _, name, _, _ in string.Formatter().parse(entry.what + entry.advice) if name}
    said = Warning.of(code, **{name: 1 for name in names})
    assert said.what
    assert said.advice
    assert "{" not in said.what + said.advice
    assert said.cause == entry.cause != ""
    assert Warning.from_dict(said.as_dict()) == said


def test_a_warning_keeps_raw_facts() -> None:
    (warned,) = judge(summary(in_flight=7.123), Workload.of(Stream(workers=8)), HostContext())
    assert "7.12 I/Os" in warned.what and warned.what.endswith("8")
    assert warned.facts == {"reached": 7.123, "asked": 8}


def test_a_code_that_is_not_in_the_catalogue_is_a_fault() -> None:
    with pytest.raises(KeyError, match="host-limited"):
        Warning.of("host-limit")


def test_errors_are_named() -> None:
    (warned,) = judge(
        summary(read=part(failed=3, errors={"5": 3})), Workload.of(Stream(workers=8)), HostContext()
    )
    assert "3 I/Os failed (3 x EIO: Input/output error)" in warned.what


def test_thresholds_are_those_of_their_sources() -> None:
    assert warnings.RATE_REACHED == 0.995
    assert pytest.approx(10 / (1 - 0.99)) == warnings.P99_SAMPLES


def test_no_warning_is_outside_the_catalogue() -> None:
    """`Warning.of` takes codes of the catalogue alone; what a run keeps of one is never written by hand."""
    package = Path(warnings.__file__).parents[1]
    calls = [
        (path.name, call.lineno, keyword)
        for path in sorted(package.rglob("*.py"))
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "Warned"
        for keyword in call.keywords
        if keyword.arg in {"what", "advice"}
    ]
    assert calls
    written = [
        (name, line)
        for name, line, keyword in calls
        if isinstance(keyword.value, ast.Constant | ast.JoinedStr)
    ]
    assert not written, "text and advice of a warning stand in the catalogue"


@pytest.mark.parametrize("code", CATALOGUE)
def test_a_step_of_a_run_is_given_no_option_that_only_measure_has(code: str) -> None:
    entry = CATALOGUE[code]
    names = {name: name for _, name, _, _ in string.Formatter().parse(entry.advice) if name}
    warning = Warning(code, "what", entry.advice.format(**names))
    taken = options_of("run") | {"release"}
    for told in (warning.in_step(simulated=False), warning.in_step(simulated=True)):
        assert told, "each says what to do"
        assert not [name for name in re.findall(r"(?<![\w-])--([a-z][a-z-]*)", told) if name not in taken]


@pytest.mark.parametrize("code", ["late", "rate-not-reached"])
def test_no_advice_for_a_simulated_drive_asks_what_a_host_has_left(code: str) -> None:
    warning = Warning(code, "what", CATALOGUE[code].advice)
    assert "CPU" in warning.in_step(simulated=False)
    assert "host" not in warning.in_step(simulated=True)
