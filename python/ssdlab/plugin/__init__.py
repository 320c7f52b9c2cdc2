"""The public path for methods of other packages: all that such a method, its result and its page need.

    >>> from ssdlab.plugin import Method, Params, PointsResult, param

What is here keeps its name and its meaning from one version to the next; whatever else ssdlab consists of may
move at any time. `docs/writing-a-method.md` shows a whole method.
"""

from __future__ import annotations

from ssdlab.methods.lab import Lab
from ssdlab.methods.method import INTERFACE, Method, Remarks, RunData, RunFacts
from ssdlab.methods.params import Params, Seconds, param, rising
from ssdlab.methods.parts.points import missing_point, point_of
from ssdlab.methods.parts.workloads import closed_loop, mixed, open_loop
from ssdlab.methods.results.points import PointsResult
from ssdlab.methods.steps import Finding, Until
from ssdlab.methods.verbs.bounds import Bounds, Planned, Planning
from ssdlab.methods.verbs.context import StepContext
from ssdlab.methods.verbs.verb import Facts, Verb
from ssdlab.model.arrival import Bursts, Closed, Open, Pulses
from ssdlab.model.errors import DriveError, HostError, LabError, Refused, Unsupported, UsageError
from ssdlab.model.frozen import Bytes
from ssdlab.model.pattern import Band, Bands, Sequential, Stepped, Uniform, Zipf
from ssdlab.model.span import Span
from ssdlab.model.workload import Block, Mix, Ratio, Stop, Stream, Workload
from ssdlab.report.charts import Axis, Bar, BarGroup, BarsChart, BarsView, Dot, Line, Rule, XyChart, XyView
from ssdlab.report.runs import Shown, with_result
from ssdlab.report.together import leads, together
from ssdlab.report.view import Buttons, Exhibit, Figure, Section
from ssdlab.results import numbers as cells
from ssdlab.results.claim import Amount, Bound, Claim, Evidence, sentence
from ssdlab.results.kind import ResultKind
from ssdlab.results.metric import Load, Metric, Qualifier, Variation
from ssdlab.results.numbers import Cell, Table
from ssdlab.results.records import StepResult
from ssdlab.results.run_folder import Step
from ssdlab.results.schema import Departure, Point, ResultBase, Warned

__all__ = [
    "INTERFACE",
    "Amount",
    "Axis",
    "Band",
    "Bands",
    "Bar",
    "BarGroup",
    "BarsChart",
    "BarsView",
    "Block",
    "Bound",
    "Bounds",
    "Bursts",
    "Buttons",
    "Bytes",
    "Cell",
    "Claim",
    "Closed",
    "Departure",
    "Dot",
    "DriveError",
    "Evidence",
    "Exhibit",
    "Facts",
    "Figure",
    "Finding",
    "HostError",
    "Lab",
    "LabError",
    "Line",
    "Load",
    "Method",
    "Metric",
    "Mix",
    "Open",
    "Params",
    "Planned",
    "Planning",
    "Point",
    "PointsResult",
    "Pulses",
    "Qualifier",
    "Ratio",
    "Refused",
    "Remarks",
    "ResultBase",
    "ResultKind",
    "Rule",
    "RunData",
    "RunFacts",
    "Seconds",
    "Section",
    "Sequential",
    "Shown",
    "Span",
    "Step",
    "StepContext",
    "StepResult",
    "Stepped",
    "Stop",
    "Stream",
    "Table",
    "Uniform",
    "Unsupported",
    "Until",
    "UsageError",
    "Variation",
    "Verb",
    "Warned",
    "Workload",
    "XyChart",
    "XyView",
    "Zipf",
    "cells",
    "closed_loop",
    "leads",
    "missing_point",
    "mixed",
    "open_loop",
    "param",
    "point_of",
    "rising",
    "sentence",
    "together",
    "with_result",
]
