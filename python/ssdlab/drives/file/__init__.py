"""A file as a drive: created or opened, locked, and laid out."""
