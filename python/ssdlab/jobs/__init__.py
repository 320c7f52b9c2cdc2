"""Jobs: sequences of steps of the user's own."""
