"""Parts of procedures that several methods share."""
