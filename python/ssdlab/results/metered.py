"""The power meter of a run, from its manifest: its words, and the error of figures."""

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
"""The kinds of `power.kinds.RECORDED`, repeated because this layer does not import `ssdlab.power`."""

LIMIT_S = 10.0
"""Time over which the maximum of an NVMe power state applies (Base 2.0c, 8.15). Shorter means are not
judged."""
ENERGY = ("energy_j", "metered_s", "highest_w", "highest_over_s")
"""Fields of `environment.meter` for energy and power."""


class MeterRecord(Stored, extra="ignore"):
    """The meter of a run: `environment.meter` of its manifest."""

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
    """Highest mean over `LIMIT_S`, or over a whole step if no step is as long."""
    highest_over_s: float | None = None
    """Averaging time of `highest_w`; None: an older run, which does not record it."""

    @property
    def drawn(self) -> tuple[float, float, float] | None:
        """Energy in J, metered time in s, and highest mean in W; None: unknown."""
        if self.energy_j is None or self.metered_s is None or self.highest_w is None:
            return None
        return self.energy_j, self.metered_s, self.highest_w

    @property
    def short_of_a_limit(self) -> bool:
        """Whether all steps were too short for judging a power limit by the highest mean."""
        return self.highest_over_s is not None and self.highest_over_s < LIMIT_S

    @property
    def model(self) -> bool:
        """Whether it is the power model of a simulated drive, which has no error."""
        return self.use == "model"

    def error_share(self, mean_w: float) -> float | None:
        """Return the relative error of a mean power, and of an efficiency at that power; None: unknown."""
        if self.accuracy is None or mean_w <= 0:
            return None
        return self.accuracy + (self.offset_w or 0.0) / mean_w

    @property
    def identity(self) -> str:
        """The meter and its rails; figures are comparable only if these are the same.

        A recording does not name its meter. It is identified by its stated error, not by its file.
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
    """Return energy and power as fields of `environment.meter`, without unknown ones."""
    found = zip(ENERGY, (energy_j, metered_s, highest_w, over_s), strict=True)
    return {name: value for name, value in found if value is not None}


def drawn_by_all(found: Sequence[MeterRecord]) -> dict[str, JsonValue]:
    """Return the fields of `drawn` for several runs together; empty: one of them is unknown."""
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

    An efficiency has the relative error of the power figure of the same steps. If there is no such figure, or
    several differ, the error is known only for a meter without an offset error.
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
    found = meter_of(manifest)
    if found is None or found.energy_j is None or found.metered_s is None:
        return None
    return f"{significant(found.energy_j)} J in {span_text(found.metered_s)}"


def limit_words(manifest: Manifest) -> str | None:
    """Return a variant's power limit with the measured maximum; None: no limit in watts."""
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
    """Return the meter of a run; None: none, or a run from before meters."""
    kept = manifest.environment.get("meter")
    return MeterRecord.model_validate(kept) if isinstance(kept, dict) else None


def meter_words(manifest: Manifest) -> str | None:
    """Return the meter of a run in words; None for a suite, and for a simulated drive without power."""
    found = meter_of(manifest)
    if found is not None:
        return found.words
    return None if manifest.children or manifest.drive.capabilities.virtual_time else NOT_METERED
