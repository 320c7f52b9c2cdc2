"""What is known about a drive besides its figures, and likely reasons for them.

A reason is likely if the drive differs from typical drives in something that slows drives. It is a hint, not
proof.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from ssdlab.model.units import fixed_share_text
from ssdlab.results.run_folder import RunFolder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from ssdlab.results.run_folder import Step
    from ssdlab.results.schema import Manifest

HOTTER_C = 5.0
"""Difference in degrees C from typical drives. Airflow in one room causes smaller differences."""
LESS_SHARE = 0.1
"""A spare or link speed that is lower than typical by more than this share is a likely reason."""


@dataclass(frozen=True)
class Facts:
    """Facts of a drive from one run; None: not reported.

    Attributes
    ----------
    hottest_c
        Highest temperature during the run, in degrees C.
    throttled
        Whether heat slowed it.
    link_mb_s
        Lowest throughput of its link.
    spare_pct
        Spare left, as reported by an NVMe drive; for a simulated one, its effective spare.
    """

    serial: str | None = None
    firmware: str | None = None
    hottest_c: float | None = None
    throttled: bool = False
    link_mb_s: float | None = None
    spare_pct: float | None = None


def facts_of(path: Path) -> Facts:
    """Return a drive's facts from a run's manifest, journal and telemetry.

    Raises
    ------
    Refused
        The run is damaged.
    """
    run = RunFolder(path)
    steps = run.steps()
    reports = [step.result.telemetry for step in steps if step.result.telemetry is not None]
    hottest = [each.hottest_c for each in reports if each.hottest_c is not None]
    codes = {mark.code for each in reports for mark in each.marks}
    spare = [each for step in steps if (each := _spare_pct(step)) is not None]
    return Facts(
        serial=_text(run.manifest, "serial"),
        firmware=_text(run.manifest, "firmware"),
        hottest_c=max(hottest, default=None),
        throttled="throttled" in codes,
        link_mb_s=_link_mb_s(run),
        spare_pct=spare[-1] if spare else None,
    )


FEW = 0.25
"""Maximum share of typical drives with the same property; a more common property explains nothing."""


def likely_reasons(own: Facts, typical: Sequence[Facts]) -> tuple[str, ...]:
    """Return properties that few typical drives share and that may explain a drive's figures."""
    return tuple(each for look in (_heat, _firmware, _link, _spare) for each in look(own, typical))


def _few(typical: Sequence[Facts], have: Callable[[Facts], bool]) -> bool:
    return sum(map(have, typical)) <= FEW * len(typical)


def _heat(own: Facts, typical: Sequence[Facts]) -> Iterator[str]:
    others = _middle(typical, lambda each: each.hottest_c)
    beside = "" if others is None else f"; typical drives {others:.0f} °C"
    hot = "" if own.hottest_c is None else f"up to {own.hottest_c:.0f} °C"
    if own.throttled and _few(typical, lambda each: each.throttled):
        yield f"temperature: thermal throttling ({hot}{beside})" if hot else "temperature: thermal throttling"
        return
    if own.hottest_c is None or others is None:
        return
    hotter = others + HOTTER_C
    if own.hottest_c > hotter and _few(typical, lambda each: (each.hottest_c or 0.0) > hotter):
        yield f"temperature: {hot}{beside}"


def _firmware(own: Facts, typical: Sequence[Facts]) -> Iterator[str]:
    counts = Counter(each.firmware for each in typical if each.firmware is not None)
    if own.firmware is None or not counts:
        return
    usual, count = counts.most_common(1)[0]
    few = _few(typical, lambda each: each.firmware == own.firmware)
    if own.firmware != usual and 2 * count > len(typical) and few:
        yield f"firmware: {own.firmware}; typical drives {usual}"


def _link(own: Facts, typical: Sequence[Facts]) -> Iterator[str]:
    others = _middle(typical, lambda each: each.link_mb_s)
    if own.link_mb_s is None or others is None:
        return
    limit = (1 - LESS_SHARE) * others
    if own.link_mb_s < limit and _few(typical, lambda each: (each.link_mb_s or others) < limit):
        yield f"link: {own.link_mb_s:.0f} MB/s; typical drives {others:.0f} MB/s"


def _spare(own: Facts, typical: Sequence[Facts]) -> Iterator[str]:
    others = _middle(typical, lambda each: each.spare_pct)
    if own.spare_pct is None or others is None:
        return
    limit = (1 - LESS_SHARE) * others
    if own.spare_pct < limit and _few(typical, lambda each: (each.spare_pct or others) < limit):
        left, typically = (fixed_share_text(each / 100) for each in (own.spare_pct, others))
        yield f"spare: {left}; typical drives {typically}"


def _middle(typical: Sequence[Facts], of: Callable[[Facts], float | None]) -> float | None:
    known = [each for one in typical if (each := of(one)) is not None]
    return median(known) if known else None


def _text(manifest: Manifest, name: str) -> str | None:
    found = manifest.drive.identity.get(name)
    return found if isinstance(found, str) else None


def _spare_pct(step: Step) -> float | None:
    telemetry = step.result.telemetry
    if telemetry is not None and telemetry.health is not None and telemetry.health.spare_pct is not None:
        return float(telemetry.health.spare_pct)
    measured = None if step.summary is None else step.summary.drive
    share = None if measured is None else measured.effective_spare
    return None if share is None else 100 * float(share)


def _link_mb_s(run: RunFolder) -> float | None:
    from ssdlab.results.tables import TELEMETRY

    if all(each.name != TELEMETRY for each in run.manifest.tables):
        return None
    wanted = {"link_mb_s": "DOUBLE"}
    found = run.read_table(TELEMETRY, wanted, "NOT isnan(link_mb_s)", "link_mb_s")["link_mb_s"]
    return float(found[0]) if len(found) else None
