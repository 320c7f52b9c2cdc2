"""What write saturation concludes: what ended it, every record, and the histogram. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.analysis.write_saturation import ended
from ssdlab.methods.pts.cells import needed
from ssdlab.methods.pts.saturation_loads import load_of, stimuli_of
from ssdlab.methods.pts.series import common, headline, histogram_of, picked, records_of, samples_of
from ssdlab.methods.results.pts_series import PtsSaturationResult
from ssdlab.model.units import block_text

if TYPE_CHECKING:
    from ssdlab.methods.method import RunData
    from ssdlab.methods.pts.write_saturation import PtsWriteSaturationParams

LABEL = "saturation and histogram"


def conclude(data: RunData, p: PtsWriteSaturationParams) -> PtsSaturationResult:
    """Say what ended it, and give every record and the histogram."""
    step = data.step(LABEL)
    assert step is not None  # a finished run has it
    found, rule = records_of(data, step), p.rule(data.capacity_bytes)
    end = ended(found.iops, found.written_bytes, rule)
    until = end.records if end is not None else len(found.iops)
    records = picked(found, range(until))
    load = load_of(p.stimulus, data.logical_block_bytes)
    return PtsSaturationResult(
        **common(data, p),
        stimuli=stimuli_of(p, load.name, end, until),
        left_out=tuple(block_text(each) for each in load.left_out_bytes),
        left_out_why=next((needed(each, data.logical_block_bytes) for each in load.left_out_bytes), ""),
        stimulus=load.name,
        reason=None if end is None else end.reason,
        ended=until,
        samples=samples_of(records, p.cycle, data.capacity_bytes),
        records=found,
        histogram=None if end is None else histogram_of(data, step, found, until),
        scalars=(headline("pts_write_saturation_iops", "last record", records.iops[-1:], "IOPS"),),
    )
