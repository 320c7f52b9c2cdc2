"""Many drives on many hosts: one plan, one job for each drive and work, one library.

`inventory` lists a host's drives, `selection` chooses drives and work, and `fleet_plan` is the sealed plan
with every serial, host, hour and byte. A `backend` runs each job on its host: `local` on this one, `slurm` on
a cluster. A job is the ordinary command line, `ssdlab run` or `ssdlab resume`, with the consent for one
serial. Its results are in the library, independent of the back end.
"""
