"""Conditions: the settings that a run needs. Journalled, set, read back, and put back at its end.

How each setting is read and written is in `ssdlab.drives.settings`. A run that dies leaves its `Ledger`
behind; from it `ssdlab resume`, `ssdlab conditions restore` and `ssdlab doctor` know what to put back.
"""
