"""What metered a run, as its manifest keeps it: words for a reader, and the error of what was drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.model.stored import Stored

if TYPE_CHECKING:
    from ssdlab.results.schema import Manifest

NOT_METERED = "not metered"


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

    @property
    def model(self) -> bool:
        """Whether it is a simulated drive's own account, which has no error."""
        return self.use == "model"

    def error_share(self, mean_w: float) -> float | None:
        """Return the meter's error of a mean as a share of it, which efficiency has too; None: not known."""
        if self.accuracy is None or mean_w <= 0:
            return None
        return self.accuracy + (self.offset_w or 0.0) / mean_w

    @property
    def words(self) -> str:
        """Who metered, and how well."""
        if self.model:
            return self.name
        offset = f" + {self.offset_w:g} W" if self.offset_w else ""
        error = "not known" if self.accuracy is None else f"{self.accuracy * 100:g} %{offset}"
        parts = [f"{self.name or self.use} ({self.use})", f"error {error}"]
        if self.calibrated:
            parts.append(f"calibrated {self.calibrated}")
        if self.lost_samples:
            parts.append(f"{self.lost_samples} samples lost")
        if self.gone:
            parts.append("gone in mid-run")
        return ", ".join(parts)


def meter_of(manifest: Manifest) -> MeterRecord | None:
    """Return what metered a run; None where nothing did, or it was made before there were meters."""
    kept = manifest.environment.get("meter")
    return MeterRecord.model_validate(kept) if isinstance(kept, dict) else None


def meter_words(manifest: Manifest) -> str | None:
    """Return who metered a run; None of a suite, whose runs say it, and of simulated drives without power."""
    found = meter_of(manifest)
    if found is not None:
        return found.words
    return None if manifest.children or manifest.drive.capabilities.virtual_time else NOT_METERED
