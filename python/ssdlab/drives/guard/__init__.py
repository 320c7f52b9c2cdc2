"""The guard of drives: facts are gathered, then judged by pure functions."""
