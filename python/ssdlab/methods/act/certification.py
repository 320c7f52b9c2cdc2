"""What a test of ACT does with either program: prepare, offer the load, for a certificate twice the load."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.methods.act.concluding import STRESS, TEST, act_result
from ssdlab.methods.act.params import LoadParams
from ssdlab.methods.act.trial import offer, prepare
from ssdlab.methods.method import RunData, param
from ssdlab.methods.results.act import ActResult

if TYPE_CHECKING:
    from ssdlab.methods.lab import Lab


class CertificationParams(LoadParams):
    """Of a test at one load."""

    certify: bool = param(False, "a second test at twice the load follows, which only has to finish")


def procedure(lab: Lab, p: CertificationParams) -> None:
    """Prepare, run the load, and for a certificate twice the load."""
    lab.conditions(scheduler="none")
    if p.prepare:
        prepare(lab)
    offer(lab, p, p.load, TEST)
    if p.certify:
        offer(lab, p, 2 * p.load, STRESS, overload=True)


def conclude(data: RunData, p: CertificationParams) -> ActResult:
    """Judge every slice by both rules."""
    return act_result(data, p)
