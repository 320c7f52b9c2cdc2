"""Recorded workloads: reading and writing traces, recording them from the kernel."""
