"""What is known of a drive's power features before it is opened: for plans."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.drives.power_features import COMPARED_LINK_POLICIES
from ssdlab.drives.settings.saving_power import LINK_POWER
from ssdlab.model.power_features import SAVING_OFF, PowerFeatures

if TYPE_CHECKING:
    from ssdlab.host.identity import Identity


def planned_features(identity: Identity) -> PowerFeatures | None:
    """Return what a drive has that is not opened: of a simulated one all, of SATA what its link has."""
    if identity.capabilities.made_to_order:
        from ssdlab.drives.simulated.profiles import check_profile
        from ssdlab.drives.simulated.saving import features_of_profile
        from ssdlab.drives.simulated.text import SimulatedText

        return features_of_profile(check_profile(SimulatedText.parse(identity.path).profile)["profile"])
    if identity.transport == "sata":
        values = (SAVING_OFF[LINK_POWER], *COMPARED_LINK_POLICIES)
        return PowerFeatures(protocol="sata", saving=LINK_POWER, values=values, found=values[0])
    return None
