"""What a run that stopped or failed has to show: its finished steps, without a conclusion from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.methods.job import JobParams, conclude
from ssdlab.methods.method import RunData

if TYPE_CHECKING:
    from ssdlab.results.run_folder import RunFolder
    from ssdlab.results.schema import JobResult


def finished_steps(run: RunFolder) -> JobResult:
    """Return a point for each direction of each measured step that is finished.

    It is no result of the method, and says so: a sweep that ends half-way has no peak.
    """
    manifest = run.manifest
    data = RunData(
        tuple(run.steps()), manifest.drive.capacity_bytes, manifest.drive.logical_block_bytes, manifest.quick
    )
    result = conclude(data, JobParams.model_construct(steps=()))
    why = "" if manifest.failure is None else f": {manifest.failure.what}"
    caveat = (
        f"the run did not reach its end{why}; these are its finished steps, without the method's conclusion"
    )
    return result.model_copy(update={"caveats": (caveat,)})
