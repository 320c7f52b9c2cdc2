"""Whether a finished run reached steady state wherever its method judges it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.methods.results.pts import PtsBase
from ssdlab.results.schema import SteadyProof

if TYPE_CHECKING:
    from ssdlab.results.schema import ResultBase


def not_steady(result: ResultBase) -> tuple[str, ...]:
    """Name what a result judged and did not find steady; nothing of methods that judge no steady state."""
    if isinstance(result, PtsBase):
        return tuple(window.what for window in result.windows if not window.steady)
    proofs = getattr(result, "steady", None)
    listed = proofs if isinstance(proofs, tuple) else (proofs,)
    failed = any(isinstance(proof, SteadyProof) and not proof.reached for proof in listed)
    return ("the writing before the measurement",) if failed else ()
