"""The power meter of a run, from its manifest: in words, and the error of its figures."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ssdlab.model.frozen import Stored
from ssdlab.model.units import counted, fixed_share_text, significant, span_text

if TYPE_CHECKING:
    from pydantic import JsonValue

    from ssdlab.results.schema import Manifest, Metric

NOT_METERED = "not metered"
_RECORDED = ("csv",)
"""Kinds of `power.kinds.RECORDED`, a floor above."""

LIMIT_S = 10.0
"""An NVMe power state's maximum applies over this time (Base 2.0c, 8.15): shorter means are not judged."""
ENERGY = ("energy_j", "metered_s", "highest_w", "highest_over_s")
"""Fields of `environment.meter` with energy and power."""


class MeterRecord(Stored, extra="ignore"):
    """`environment.meter` of a manifest."""

    use: str
    name: str = ""
    rails: tuple[str, ...] = ()
    rate_hz: float | None = None
    accuracy: float | None = None
    offset_w: float | None = None
    calibrated: str | None = None
    clock: str = ""
    clock_offset_s: float | None = None
    clock_bound_s: float | None = None
    clock_drift_ppm: float | None = None
    lost_samples: int = 0
    gone: str | None = None
    energy_j: float | None = None
    metered_s: float | None = None
    highest_w: float | None = None
    """Highest mean over `LIMIT_S`, or over a whole step if none is as long."""
    highest_over_s: float | None = None
    """Its averaging time; None in runs that do not record it."""

    @property
    def drawn(self) -> tuple[float, float, float] | None:
        """Energy, metered time and highest mean; None if unknown."""
        if self.energy_j is None or self.metered_s is None or self.highest_w is None:
            return None
        return self.energy_j, self.metered_s, self.highest_w

    @property
    def short_of_a_limit(self) -> bool:
        """Whether no step was long enough for its highest mean to show a limit exceeded."""
        return self.highest_over_s is not None and self.highest_over_s < LIMIT_S

    @property
    def model(self) -> bool:
        """Whether it is a simulated drive's own power model, without error."""
        return self.use == "model"

    def error_share(self, mean_w: float) -> float | None:
        """Return the relative error of a mean power and of the efficiency at that power; None if unknown."""
        if self.accuracy is None or mean_w <= 0:
            return None
        return self.accuracy + (self.offset_w or 0.0) / mean_w

    @property
    def identity(self) -> str:
        """The meter and its rails, as figures of two meters also differ by the meters.

        A recording does not name its meter; its stated error identifies it, not its file.
        """
        if self.model:
            return self.name
        rails = f" on {' + '.join(self.rails)}" if self.rails else ""
        kind = self.use.partition(":")[0]
        if kind in _RECORDED:
            return f"a recording ({kind}), error {self._error_words}{rails}"
        return f"{self.name or self.use}{rails}"

    @property
    def words(self) -> str:
        """The meter and its error."""
        if self.model:
            return self.name
        if self.gone and not self.name:
            return f"{self.use}: {self.gone}"
        parts = [f"{self.name or self.use} ({self.use})", f"error {self._error_words}"]
        if self.calibrated:
            parts.append(f"calibrated {self.calibrated}")
        if self.lost_samples:
            parts.append(f"{counted(self.lost_samples, 'sample')} lost")
        if self.gone:
            parts.append("lost during the run")
        return ", ".join(parts)

    @property
    def _error_words(self) -> str:
        offset = f" + {self.offset_w:g} W" if self.offset_w else ""
        return "not known" if self.accuracy is None else f"{fixed_share_text(self.accuracy)}{offset}"


def drawn(energy_j: float, metered_s: float, highest_w: float, over_s: float | None) -> dict[str, JsonValue]:
    """Return the totals, from `environment.meter`."""
    found = zip(ENERGY, (energy_j, metered_s, highest_w, over_s), strict=True)
    return {name: value for name, value in found if value is not None}


def drawn_by_all(found: Sequence[MeterRecord]) -> dict[str, JsonValue]:
    """Return the totals of several runs; empty if one is unknown."""
    known = [each.drawn for each in found if each.drawn is not None]
    if not known or len(known) < len(found):
        return {}
    energy_j, metered_s, _ = zip(*known, strict=True)
    highest = max(found, key=lambda each: (not each.short_of_a_limit, each.highest_w or 0.0))
    return drawn(sum(energy_j), sum(metered_s), highest.highest_w or 0.0, highest.highest_over_s)


def of_watts(figure: Metric) -> bool:
    """Whether a figure depends on power readings: power, energy or efficiency."""
    return figure.unit in ("W", "J", "J/GB") or figure.unit.endswith("/W")


def with_errors(figures: Sequence[Metric], meter: MeterRecord | None) -> tuple[Metric, ...]:
    """Return headline figures, those of power with the meter's error.

    The error of an efficiency is the relative error of the power figure of the same steps. If that is
    missing, or several differ, the non-proportional part of the error is unknown.
    """
    if meter is None or meter.accuracy is None:
        return tuple(figures)
    watts: dict[frozenset[int], set[float]] = {}
    for each in figures:
        if each.unit == "W" and each.value is not None:
            watts.setdefault(frozenset(each.steps), set()).add(each.value)
    of_steps = {steps: values.pop() for steps, values in watts.items() if len(values) == 1}
    return tuple(_with_error(each, of_steps, meter) for each in figures)


def _with_error(figure: Metric, watts: Mapping[frozenset[int], float], meter: MeterRecord) -> Metric:
    if figure.value is None or not of_watts(figure):
        return figure
    mean_w = figure.value if figure.unit == "W" else watts.get(frozenset(figure.steps))
    alone = None if meter.offset_w else meter.accuracy
    share = alone if mean_w is None else meter.error_share(mean_w)
    return figure if share is None else figure.model_copy(update={"error": figure.value * share})


def energy_words(manifest: Manifest) -> str | None:
    """Return a run's total energy in words; None without a meter."""
    found = meter_of(manifest)
    if found is None or found.energy_j is None or found.metered_s is None:
        return None
    return f"{significant(found.energy_j)} J in {span_text(found.metered_s)}"


def limit_words(manifest: Manifest) -> str | None:
    """Return a variant's power limit with the measured maximum; None without a limit in watts."""
    variant = manifest.drive.variant
    asked = None if variant is None else variant.asked.get("power_limit")
    limit = re.fullmatch(r"([\d.]+)\s*[wW]", str(asked))
    if limit is None:
        return None
    found = meter_of(manifest)
    if found is None or found.highest_w is None:
        return f"{limit[1]} W, {NOT_METERED}"
    surely_w = found.highest_w * (1 - (found.error_share(found.highest_w) or 0.0))
    passed = "not judged" if found.short_of_a_limit else "NOT kept"
    kept = "kept" if surely_w <= float(limit[1]) else passed
    return f"{limit[1]} W, {kept}: maximum {significant(found.highest_w)} W {_over(found)}"


def _over(found: MeterRecord) -> str:
    if found.highest_over_s is None:
        return "over 10 s or a step"
    if found.short_of_a_limit:
        return f"over a step of {span_text(found.highest_over_s)} (a limit applies over 10 s)"
    return "over 10 s"


def meter_of(manifest: Manifest) -> MeterRecord | None:
    """Return the meter of a run; None without one, or for runs from before meters."""
    kept = manifest.environment.get("meter")
    return MeterRecord.model_validate(kept) if isinstance(kept, dict) else None


def meter_words(manifest: Manifest) -> str | None:
    """Return the meter of a run in words; None for a suite, and for simulated drives without power."""
    found = meter_of(manifest)
    if found is not None:
        return found.words
    return None if manifest.children or manifest.drive.capabilities.virtual_time else NOT_METERED
