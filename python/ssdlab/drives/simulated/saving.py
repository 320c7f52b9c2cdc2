"""What a simulated drive has for saving power: its profile says nothing of states to rest in."""

from __future__ import annotations

from typing import Any

from ssdlab.model.power_features import PowerFeatures, PowerState


def simulated_features(profile: dict[str, Any]) -> PowerFeatures:
    """Return what a simulated drive has for saving power."""
    power = profile.get("power")
    nvme = str(profile["link"]["protocol"]["value"]) == "nvme"
    limits = ((power or {}).get("states_w") or {"value": [None]})["value"]
    idle_w = None if power is None else power["idle_mw"]["value"] / 1e3
    working = [
        PowerState(name=f"ps{number}" if nvme else "active", operational=True, max_w=limit, idle_w=idle_w)
        for number, limit in enumerate(limits if nvme else [None])
    ]
    silent = () if power is not None else ("its profile says nothing of power",)
    return PowerFeatures(
        protocol="nvme" if nvme else "sata",
        states=tuple(working),
        lacks=("its profile has no states to rest in", *silent),
    )
