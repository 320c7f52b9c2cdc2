"""Many drives on many hosts: one plan, one job for each drive and work, one library.

`inventory` lists a host's drives. `selection` chooses drives and work. `fleet_plan` is the sealed plan with
every serial, host, duration and byte count. A `backend` runs each job on its host: `local` on this one,
`slurm` on a cluster. A job is an ordinary command, `ssdlab run` or `ssdlab resume`, with the consent for one
serial. Its results are in the library, whatever the back end.
"""
