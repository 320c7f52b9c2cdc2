"""What each kind of Result says and shows: its findings and its tables, one file for each, pure."""
