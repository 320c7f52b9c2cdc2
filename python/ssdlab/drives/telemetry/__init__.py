"""Telemetry: what a drive and its host report while the drive works."""
