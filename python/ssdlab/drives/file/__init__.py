"""A file as a drive: its guard, layout and extents."""
