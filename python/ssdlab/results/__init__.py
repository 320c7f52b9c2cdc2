"""What a run leaves behind: the run folder, its tables, and the library's catalogue."""
