"""Suites at work: in order on real drives, in parallel on simulated ones, and their outcome."""
