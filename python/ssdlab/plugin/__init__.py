"""The public path for methods of other packages: all that such a method needs.

    >>> from ssdlab.plugin import Method, Params, PointsResult, param

What is here keeps its name and its meaning from one version to the next; whatever else ssdlab consists of may
move at any time. `docs/writing-a-method.md` shows a whole method.
"""

from __future__ import annotations

from ssdlab.methods.lab import Lab
from ssdlab.methods.method import Method, Remarks, RunData, RunFacts
from ssdlab.methods.params import Params, Seconds, param, rising
from ssdlab.methods.parts.points import missing_point, point_of
from ssdlab.methods.parts.workloads import closed_loop, mixed, open_loop
from ssdlab.methods.results.points import PointsResult
from ssdlab.methods.steps import Finding, Until
from ssdlab.model.arrival import Bursts, Closed, Open, Pulses
from ssdlab.model.errors import DriveError, HostError, LabError, Refused, Unsupported, UsageError
from ssdlab.model.frozen import Bytes
from ssdlab.model.pattern import Band, Bands, Sequential, Stepped, Uniform, Zipf
from ssdlab.model.span import Span
from ssdlab.model.workload import Block, Mix, Ratio, Stop, Stream, Workload
from ssdlab.results.run_folder import Step
from ssdlab.results.schema import Departure, Point, Scalar, Warned

__all__ = [
    "Band",
    "Bands",
    "Block",
    "Bursts",
    "Bytes",
    "Closed",
    "Departure",
    "DriveError",
    "Finding",
    "HostError",
    "Lab",
    "LabError",
    "Method",
    "Mix",
    "Open",
    "Params",
    "Point",
    "PointsResult",
    "Pulses",
    "Ratio",
    "Refused",
    "Remarks",
    "RunData",
    "RunFacts",
    "Scalar",
    "Seconds",
    "Sequential",
    "Span",
    "Step",
    "Stepped",
    "Stop",
    "Stream",
    "Uniform",
    "Unsupported",
    "Until",
    "UsageError",
    "Warned",
    "Workload",
    "Zipf",
    "closed_loop",
    "missing_point",
    "mixed",
    "open_loop",
    "param",
    "point_of",
    "rising",
]
