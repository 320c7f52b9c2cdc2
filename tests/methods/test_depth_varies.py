"""How far the depth that a sweep reports may be off, and percentiles for which there were too few I/Os."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ssdlab.analysis.places import places
from ssdlab.analysis.saturation import saturation
from ssdlab.methods.sweeps.depth_sweep import _depth_varies
from ssdlab.results.metric import Metric
from ssdlab.results.points import Point, Spread

DEPTHS = (1, 2, 4, 8, 16, 32)


@pytest.mark.parametrize(
    ("iops", "chosen", "deciding"),
    [
        ((10, 20, 40, 80, 98, 100), 4, {3, 4, 5}),  # the best sets the share
        ((94, 96, 96, 96, 97, 100), 1, {0, 1, 2, 5}),  # it does so from afar
        ((10, 100, 100, 100, 100, 100.5), 1, {0, 1, 2}),  # a plateau: what is deep decides nothing
        ((10, 50, 100, 60, 50, 40), 2, {1, 2, 3}),
        ((100, 90, 80, 70, 60, 50), 0, {0, 1}),
    ],
)
def test_the_choice_rests_on_the_best_and_on_what_lies_beside_it(
    iops: tuple[float, ...], chosen: int, deciding: set[int]
) -> None:
    found = saturation(DEPTHS, iops)
    assert (found.chosen, set(found.deciding)) == (chosen, deciding)
    for far in set(range(len(iops))) - deciding:  # as low as its neighbours let it be: the same is chosen
        lower = [0.0 if at == far else each for at, each in enumerate(iops)]
        assert saturation(DEPTHS, lower).chosen == chosen


def points(iops: Sequence[float], deviation: float) -> tuple[Point, ...]:
    return tuple(
        Point(
            label=f"depth {depth}",
            direction="read",
            pattern="random",
            block_bytes=4096,
            workers=depth,
            depth=1,
            engine="sync",
            iops=value,
            spread_iops=Spread(n=9, min=value, max=value, mean=value, sd=deviation * value),
        )
        for depth, value in zip(DEPTHS, iops, strict=True)
    )


def varies(iops: Sequence[float], deviation: float) -> tuple[int, float | None]:
    """The reported depth, and how far it may be off."""
    curve = points(iops, deviation)
    chosen = saturation(DEPTHS, iops).chosen
    found = _depth_varies(curve, chosen)
    assert found is None or found.of == "search"
    return DEPTHS[chosen], None if found is None else found.amount


@pytest.mark.parametrize(
    ("iops", "deviation", "depth", "amount"),
    [
        ((10, 20, 40, 80, 98, 100), 0.0, 16, 8),  # the least that would do lies between 8 and 16
        ((10, 20, 40, 80, 98, 100), 0.18, 16, 8),
        ((10, 20, 40, 80, 98, 100), 0.19, 16, 12),  # 8 may do as well, 4 does not
        ((10, 20, 40, 94, 98, 100), 0.02, 16, 12),
        ((94, 94, 94, 94, 98, 100), 0.02, 16, 16),  # all of them may
        ((96, 97, 98, 99, 99, 100), 0.5, 1, None),  # none is lower
    ],
)
def test_the_depth_varies_by_the_steps_that_may_do_as_well(
    iops: tuple[float, ...], deviation: float, depth: int, amount: float | None
) -> None:
    assert varies(iops, deviation) == (depth, amount)


def test_more_noise_never_makes_a_depth_surer() -> None:
    found = [varies((10, 30, 60, 80, 96, 100), share)[1] for share in (0.0, 0.1, 0.2, 0.4, 0.8, 2.0, 9.0)]
    amounts = [each for each in found if each is not None]
    assert len(amounts) == len(found) and amounts == sorted(amounts)


@pytest.mark.parametrize(("deviation", "level"), [(0.0, False), (0.05, True)])
def test_drives_a_step_apart_are_level_only_where_the_step_was_close(deviation: float, level: bool) -> None:
    """Of 8 and 16, the second drive's 8 lacked a hundredth."""
    _, amount = varies((10, 20, 40, 94, 98, 100), deviation)
    assert (places([8, 16], [4, amount]) == [1, 1]) is level


def test_a_percentile_without_a_value_had_too_few_samples() -> None:
    lost = Metric.less("x_p99.99_ns", "p99.99", None, "ns", steps=(3,)).sampled()
    assert [(each.code, each.steps) for each in lost.qualifiers] == [("few-samples", (3,))]
    kept = Metric.less("x_p99_ns", "p99", 5.0, "ns", steps=(3,))
    assert kept.sampled() == kept
