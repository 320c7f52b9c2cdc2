"""Findings and tables that several kinds of result share."""
