"""Aerospike ACT: its configuration, the load that it derives, and the methods that run it."""
