"""Execution of suites: sequential on real drives, parallel on simulated ones, with a combined outcome."""
