"""Aerospike ACT's own side: its configurations and their files, the rates it derives, and what it prints."""
