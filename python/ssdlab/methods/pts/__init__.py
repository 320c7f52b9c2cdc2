"""SNIA's Solid State Storage Performance Test Specification: the tests and the round loop they share."""
