"""What each kind of method concludes: its Result."""
