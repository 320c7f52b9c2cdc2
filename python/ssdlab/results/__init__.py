"""The results of a run: the run folder, its tables, and the library's catalogue."""
