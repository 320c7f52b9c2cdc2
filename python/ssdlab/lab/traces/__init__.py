"""Replay of traces: mapping onto the drive, and recording in our own form."""
