"""Conditions: the settings that a run needs; journalled, set, read back, and restored at its end.

`ssdlab.drives.settings` reads and writes each setting. A crashed run leaves its `Ledger`. From it `ssdlab
resume`, `ssdlab conditions restore` and `ssdlab doctor` know what to restore.
"""
