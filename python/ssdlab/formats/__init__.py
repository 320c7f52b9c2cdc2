"""Readers and writers of other tools' files: fio, Aerospike ACT, traces. Methods use them."""
