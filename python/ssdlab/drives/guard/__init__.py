"""The guard in front of a drive: facts are gathered, then judged by pure functions."""
