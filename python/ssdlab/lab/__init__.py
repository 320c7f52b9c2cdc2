"""The building blocks of methods (verbs, parts, kinds of results), and the loader that finds methods."""
