"""The verbs of the lab by topic, listed in `verb.VERBS`."""
