"""Aerospike's certification test of a drive that holds a primary index: lookups beside its updates.

Question
    Whether a drive that holds a database's index ("All Flash") gives its lookups in time, at a load of N
    times 2000 reads and 1000 writes a second.

Procedure
    The drive is prepared as for `act`. All I/Os are of 4 KiB at random places. Service threads do one read
    for each client read and for each copy of each client write. Eight cache threads do the rest: for each
    client write and what collection adds to it, a read and a write, in bundles of 100 by each thread, all
    threads at once, each bundle as fast as it goes. The test ends after its time, or as soon as a thread
    is 10 s behind. Slices and limits are those of `act`: by the rule of 6.x they count all reads from their
    issue, by that of 2019 the lookups from when they were due. The original does a bundle's reads and
    writes in turn, here they come in chance order; with arrivals even and poisson there are no bundles.

Source
    Aerospike ACT 6.6 (act_index). Its rate of cache I/Os is that of one device: with several, the original
    gives each less than it says.

What it cannot show
    What holds for a drive of records, for which there is `act`. How much memory would save of this load.
"""

from __future__ import annotations

from ssdlab.plugin import Method

from . import ACT
from .params import IndexParams
from .storage import CertificationParams, conclude, procedure
from .verdict import act_remarks


class ActIndexParams(CertificationParams, IndexParams):
    """Of the test."""


METHOD = Method(
    name="act-index",
    version=2,
    title="Aerospike certification test of index drives (ACT)",
    params=ActIndexParams,
    procedure=procedure,
    conclude=conclude,
    remarks=act_remarks,
    result=ACT,
    writes=lambda p: True,
    needs=("prepared as act_prep does",),
    conditions={"scheduler": "none"},
)
