"""The verbs of the lab by topic, listed in `table`."""
