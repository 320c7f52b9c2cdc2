"""The verdict on TRIM: its interval, what disturbs it, and a device of memory on a host under load."""

from __future__ import annotations

import contextlib
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from methods.on_simulated import findings_of, run
from methods.quick_runs import QuickResult
from ssdlab.analysis.over_position import mean_speed
from ssdlab.analysis.trim_verdict import judge_trim, tenths, uncertainty
from ssdlab.lab.found import find_method
from ssdlab.lab.outcome import read_result
from ssdlab.methods.trim_validation.result import TrimResult, findings, quick_reason, speeds
from ssdlab.report import page, source
from ssdlab.results.claim import sentence
from ssdlab.results.run_folder import RunFolder
from ssdlab.runs.order import Order
from ssdlab.runs.session import start

MIB = 1 << 20


@dataclass
class Pass:
    parts_mb_s: list[float]
    name: str = "clean"
    real_s: float | None = 600.0
    limited: str = ""
    throttled: bool = False
    failed: str | None = None
    sustained_mb_s: float = field(init=False)
    mean_mb_s: float = field(init=False)

    def __post_init__(self) -> None:
        self.sustained_mb_s = self.mean_mb_s = mean_speed(self.parts_mb_s)


def level(speed: float, noise: float = 0.0, seed: int = 1, **more: object) -> Pass:
    """A pass at one speed whose parts vary by that share."""
    draw = random.Random(seed)
    return Pass([speed * (1 + noise * draw.gauss(0, 1)) for _ in range(100)], **more)  # type: ignore[arg-type]


def test_what_is_slow_in_both_passes_is_no_uncertainty() -> None:
    cached = [500.0] * 30 + [80.0] * 70
    assert uncertainty(Pass(cached), Pass([0.5 * each for each in cached])) == pytest.approx(0, abs=1e-12)
    assert judge_trim(Pass(cached), Pass([0.5 * each for each in cached]), Pass(cached)).verdict == "works"


@pytest.mark.parametrize("parts", [1, 7, 10, 13, 50, 2000])
def test_tenths_hold_the_speed_of_the_pass(parts: int) -> None:
    assert tenths(Pass([100.0] * parts)) == pytest.approx([100.0] * 10)


@pytest.mark.parametrize("parts", [1, 2, 9])
def test_fewer_parts_than_tenths_give_no_interval_and_no_verdict(parts: int) -> None:
    """A part that stands for two tenths is one sample, and of one part no spread is known."""
    clean, before, after = (Pass([speed] * parts) for speed in (500.0, 200.0, 500.0))
    found = judge_trim(clean, before, after)
    assert (found.uncertainty, found.verdict) == (None, "not judged")
    assert f"has {parts} part{'s' if parts > 1 else ''}, and a 95 % interval needs 10" in found.why
    assert uncertainty(level(500), after) is uncertainty(after, level(500)) is None


@pytest.mark.parametrize("truth", [1.0, 0.6])
def test_a_noisy_pass_is_judged_right_or_not_at_all(truth: float) -> None:
    """Of 300 drives whose answer is known, few get a wrong verdict: 5 % is what the interval allows."""
    right = "works" if truth >= 0.95 else "fails"
    verdicts = [
        judge_trim(
            level(500, noise, 3 * seed),
            level(200, noise, 3 * seed + 1),
            level(500 * truth, noise, 3 * seed + 2),
        ).verdict
        for seed in range(100)
        for noise in (0.01, 0.1, 0.4)
    ]
    wrong = [each for each in verdicts if each not in (right, "not judged")]
    assert len(wrong) <= 15
    assert verdicts.count(right) > 100, "and it does judge"


def test_what_the_host_limited_or_was_too_short_is_not_judged() -> None:
    clean, before, after = level(500), level(200), level(500, name="after TRIM")
    assert judge_trim(clean, before, after).verdict == "works"
    busy = judge_trim(clean, before, level(500, name="after TRIM", limited="the CPUs were 97.0 % busy"))
    assert (busy.verdict, busy.why) == (
        "not judged",
        "the host, not the drive, limited the pass 'after TRIM': the CPUs were 97.0 % busy",
    )
    short = judge_trim(clean, before, level(500, real_s=0.4))
    assert short.verdict == "not judged"
    assert "a pass took 0.4 s" in short.why
    faulty = judge_trim(clean, before, level(300, name="after TRIM", failed="1 of 9 I/Os failed"))
    assert faulty.verdict == "not judged" and "1 of 9" in faulty.why
    hot = judge_trim(clean, before, level(300, name="after TRIM", throttled=True))
    assert (hot.verdict, hot.why) == (
        "not judged",
        "the drive throttled in the pass 'after TRIM'",
    )
    simulated = judge_trim(*(level(each, real_s=None) for each in (500, 200, 500)))
    assert simulated.verdict == "works", "virtual time is not disturbed"


def test_a_slow_beginning_of_a_small_drive_is_no_failure() -> None:
    """A second or two after random writes are as long on the real drive, and hardly anything of its pass."""
    clean, before = level(500), level(200)
    begun = Pass([430.0] * 10 + [500.0] * 90)
    begun.sustained_mb_s = 430.0
    assert judge_trim(clean, before, begun).verdict == "fails", "of a real drive it counts"
    small = judge_trim(clean, before, begun, scale=64)
    assert small.verdict == "not judged"
    assert all(words in small.why for words in ("second half", "at 100 %", "64 times"))
    assert judge_trim(clean, before, level(300), scale=64).verdict == "fails"
    late = Pass([500.0] * 50 + [300.0] * 50)
    assert judge_trim(clean, before, late, scale=64).verdict == "fails", "what comes late is no beginning"
    assert judge_trim(clean, before, level(499), scale=64).verdict == "works"


def test_why_it_is_not_judged_says_of_what_its_share_is() -> None:
    """Of both states two shares are shown: of the whole pass, and of the first minutes."""
    noisy = [level(500, 0.4, seed) for seed in (2, 1)]
    assert "before TRIM the drive wrote over all blocks at" in judge_trim(noisy[0], noisy[1], noisy[0]).why
    clean, before, after = level(500), level(200), level(500, 0.4)
    after.sustained_mb_s = after.mean_mb_s
    assert "after TRIM the drive wrote over all blocks at" in judge_trim(clean, before, after).why
    after.sustained_mb_s = 0.99 * after.mean_mb_s
    assert "after TRIM the drive wrote at first at" in judge_trim(clean, before, after).why


@contextlib.contextmanager
def loaded_host(processes: int) -> Iterator[None]:
    """Processes that want a CPU all the time."""
    busy = [
        subprocess.Popen([sys.executable, "-c", "while True: sum(range(10**6))"]) for _ in range(processes)
    ]
    try:
        yield
    finally:
        for each in busy:
            each.kill()
            each.wait()


def on_memory(device: Path, library: Path, seed: int) -> TrimResult:
    settings = {"torture_seconds": "0.5", "torture_depth": "4", "sustained_seconds": "0.3"}
    result = read_result(
        run("trim-validation", library, str(device), seed=seed, destroy=device.name, **settings)
    )
    assert isinstance(result, TrimResult)
    return result


def test_a_device_of_memory_under_load_gets_no_verdict(
    make_zram: Callable[..., Path], tmp_path: Path
) -> None:
    """Random writes do not slow it, so that TRIM can neither work nor fail; what is seen is the host."""
    with loaded_host(3):
        result = on_memory(make_zram(256 * MIB), tmp_path, 1)
    assert result.passed is None
    assert result.verdict in ("not judged", "no contrast")
    assert result.why or result.verdict == "no contrast"
    (share,) = [scalar for scalar in result.scalars if scalar.name == "trim_recovered"]
    assert [each.why for each in share.qualifiers if each.code == "not-judged"] == [result.why]


@pytest.mark.slow
def test_twenty_runs_on_a_device_of_memory_under_load_give_no_false_verdict(
    make_zram: Callable[..., Path], tmp_path: Path
) -> None:
    device = make_zram(512 * MIB)
    found = []
    for seed in range(20):
        with loaded_host(seed % 5):
            found.append(on_memory(device, tmp_path, seed + 1))
    print([(each.verdict, round(each.recovered, 3), each.why[:60]) for each in found])
    assert [each.passed for each in found] == [None] * 20


@pytest.mark.parametrize("options", ["", ",trim=ignored"])
@pytest.mark.long
def test_a_quick_run_gives_no_verdict_either_way(tmp_path: Path, options: str) -> None:
    drive = f"sim:nvme-tlc-enterprise,scale=128{options}"
    method = find_method("trim-validation")
    params = method.params.build({}, quick=True)
    folder = start(Order(method, params, drive, destroy=drive, seed=1, quick=True), tmp_path)
    result = read_result(RunFolder(folder))
    assert isinstance(result, TrimResult)
    why = quick_reason(result.torture_s, result.sustained_s)
    assert (result.passed, result.verdict, result.why) == (None, "not judged", why)
    assert why.endswith("not 2.00 s"), "as long as the random writes were"
    assert sentence(next(iter(findings(result)))).startswith(f"TRIM is not judged ({why})")
    alike = result.model_copy(update={"uncertainty": 1e-12})
    assert "(the same in every tenth of the blocks)" in sentence(next(iter(findings(alike))))
    assert "± 0" not in sentence(next(iter(findings(alike))))
    assert [each.codes for each in result.scalars if each.unit == "%"] == [("not-judged",)]
    target = tmp_path / "page.html"
    page.write([source.read_run(folder)], target)
    told, steps = target.read_text(), RunFolder(folder).steps()
    assert any(step.verb == "back" for step in steps), "the scene is a drive that went back to its state"
    assert "TRIM from the resulting state" in told and "cycle of its own" not in told
    on = any(step.label.endswith(", going on") for step in steps)
    assert ("restarted at the end" in told) is on


def shrunk(drive: str, scale: int, options: str, library: Path) -> TrimResult:
    """As long as on the drive of full size, over its scale."""
    times = {"torture_seconds": f"{3600 / scale}", "sustained_seconds": f"{600 / scale}"}
    result = read_result(run("trim-validation", library, f"sim:{drive},scale={scale}{options}", **times))
    assert isinstance(result, TrimResult)
    return result


@pytest.mark.parametrize(
    ("drive", "scale"),
    [
        ("nvme-tlc-enterprise", 128),
        ("samsung-840-evo-msata-1tb", 64),
        pytest.param("tiny-test", 4, marks=pytest.mark.slow),  # it is too small for more
        *(
            pytest.param(name, scale, marks=pytest.mark.slow)
            for name in (
                "nvme-qlc-client",
                "dramless-client",
                "intel-600p-512gb",
                "sata-tlc-enterprise",
            )
            for scale in (16, 32)
        ),
    ],
)
@pytest.mark.long
def test_no_simulated_drive_gets_a_false_verdict(drive: str, scale: int, tmp_path: Path) -> None:
    """What it does for a second after random writes is a good part of a pass over a drive so small."""
    assert shrunk(drive, scale, "", tmp_path).verdict != "fails"
    assert shrunk(drive, scale, ",trim=ignored", tmp_path).verdict != "works"


@pytest.mark.slow
def test_a_drive_of_full_size_is_judged_right(tmp_path: Path) -> None:
    assert shrunk("tiny-test", 1, "", tmp_path).verdict == "works"
    assert shrunk("tiny-test", 1, ",trim=ignored", tmp_path).verdict == "fails"


def test_without_a_contrast_what_was_lost_in_the_first_minutes_is_told(tmp_path: Path) -> None:
    """A static cache is slow again after random writes, and the rest of the drive is not: both are said."""
    drive = "sim:intel-600p-512gb,scale=64"
    method = find_method("trim-validation")
    params = method.params.build({}, quick=True)
    folder = start(Order(method, params, drive, destroy=drive, seed=1, quick=True), tmp_path)
    result = read_result(RunFolder(folder))
    assert isinstance(result, TrimResult) and result.before is not None
    assert result.verdict == "no contrast"
    assert result.before.sustained_mb_s < 0.8 * result.clean.sustained_mb_s
    (said,) = (each for each in findings_of(result) if each.startswith("The random writes left"))
    share = 100 * result.before.sustained_mb_s / result.clean.sustained_mb_s
    assert "hardly slowed" not in said and f"{share:.1f} % in the first" in said


def test_a_pass_shorter_than_the_time_compared_is_told_beside_it(quick_result: QuickResult) -> None:
    """Of blocks written again at once the mean of that time was above the fastest part, unexplained."""
    result = quick_result("trim-validation")
    assert isinstance(result, TrimResult)
    assert speeds(result).caption == "Sequential writes in each state", "passes of 18 s, and 1 s of each"
    some = result.model_copy(update={"sustained_s": 18.6})
    assert "; the first 18.6 s includes blocks written twice" in speeds(some).caption
