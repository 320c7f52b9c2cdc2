"""Trims a range, and proves the effect by the kernel's events and by reading blocks."""
