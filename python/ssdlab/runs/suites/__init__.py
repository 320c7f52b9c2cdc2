"""Suites at work: in order on real drives, beside each other on simulated ones, and what they came to."""
