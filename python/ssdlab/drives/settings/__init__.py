"""The settings of a drive and its host, all with the interface `Setting`.

For a run, `ssdlab.runs.conditions` journals, sets and restores them.
"""

from __future__ import annotations

from ssdlab.drives.settings.finding import NAMES, DriveSettings, settings_of
from ssdlab.drives.settings.setting import Setting

__all__ = ["NAMES", "DriveSettings", "Setting", "settings_of"]
