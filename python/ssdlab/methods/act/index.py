"""Aerospike's certification test for an index drive: lookups during index updates.

Question
    Whether a drive that holds a database's primary index ("All Flash") serves lookups in time. The load is
    N times 2000 reads and 1000 writes per second.

Procedure
    The drive is prepared as for `act`. All I/Os are 4 KiB at random places.

    - Service threads do one read for each client read, and one for each copy of each client write.
    - Eight cache threads do one read and one write for each client write, and more for the defragmentation
      that it causes. Each thread works in bundles of 100 reads and 100 writes. All threads start together,
      and each bundle runs as fast as it can.

    The test ends after its time, or as soon as a thread is 10 s behind. Slices and limits are those of
    `act`. The rule of 6.x counts all reads from their issue. The rule of 2019 counts only the lookups, from
    when they were due. In the original, the reads and writes of a bundle alternate; here their order is
    random. Arrivals even and poisson have no bundles.

Source
    Aerospike ACT 6.6 (act_index). The rate of cache I/Os is that of one device. With several devices, the
    original gives each one less than it announces.

What it cannot show
    How the drive would hold records instead of an index: see `act`. How much of this load more memory would
    save.
"""

from __future__ import annotations

from ssdlab.plugin import Method

from . import ACT
from .params import IndexParams
from .storage import CertificationParams, conclude, procedure
from .verdict import act_remarks


class ActIndexParams(CertificationParams, IndexParams): ...


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
