"""The verbs of the lab, by what they are about; entered once in `verb.VERBS`."""
