"""The simulated drive, its text, its profiles and its state."""
