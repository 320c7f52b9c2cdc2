"""The verbs of the lab: one class in one file each, entered once in `table`."""
