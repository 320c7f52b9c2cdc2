"""What can be set on a drive and its host, one way of reading and writing for all: see `Setting`.

Who sets something for a run, journals it first and puts it back is `ssdlab.runs.conditions`.
"""

from __future__ import annotations

from ssdlab.drives.settings.finding import NAMES, DriveSettings, settings_of
from ssdlab.drives.settings.setting import Setting

__all__ = ["NAMES", "DriveSettings", "Setting", "settings_of"]
