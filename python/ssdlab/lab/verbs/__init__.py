"""The lab's verbs, grouped by topic and listed in `verb.VERBS`."""
