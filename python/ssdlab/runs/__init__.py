"""Runs: planned, measured step by step, journalled, resumed; and suites of several runs."""
