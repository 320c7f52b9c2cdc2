"""Replay of traces: maps a trace onto the drive, and records it in the native runner's format."""
