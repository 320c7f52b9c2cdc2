"""Many drives on many hosts: one plan, one job for each drive and work, one library.

`inventory` says which drives a host has, `selection` which of them are to do what, `fleet_plan` what that
will be: every serial, host, hour and byte, sealed. A `backend` brings each job to its host: `local` on this
one, `slurm` where a lab has it. A job is the ordinary command line, `ssdlab run` or `ssdlab resume`, with the
consent for one serial; what happened to it stands in the library, so no back end is asked for results.
"""
