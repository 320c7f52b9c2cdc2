"""Recorded workloads: reading and writing traces, laying them on a drive, recording them from the kernel."""
