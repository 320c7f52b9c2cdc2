"""Runs: planned, measured in journalled steps, resumed; and suites of several runs."""
