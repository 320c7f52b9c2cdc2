"""The library that compares: the catalogue's queries, rankings, the gate, tags, trash and archives."""
