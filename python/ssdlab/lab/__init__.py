"""What methods are made of and found by: verbs, parts, kinds of results, the loader."""
