"""What methods are made with and found by: verbs, parts, kinds of results, the loader."""
