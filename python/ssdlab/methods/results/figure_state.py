"""The state of a headline figure in words: for terminal, page, repeats, suites and JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.results.warned_steps import PAUSED, THROTTLED, paused, throttled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ssdlab.results.run_folder import Step
    from ssdlab.results.schema import ResultBase, Scalar


def state_of(result: ResultBase, figure: Scalar) -> str:
    """Return what stands behind a figure wherever it is told; empty: its state was written, and shown."""
    how = next((proof.brought_about for proof in result.proofs if proof.brought_about), "")
    return figure.unshown or result.unshown(figure) or (f"state {how}" if how else "")


def labelled(label: str, state: str) -> str:
    """Return the label of a figure with its state."""
    return f"{label} ({state})" if state else label


def headline_label(result: ResultBase, figure: Scalar) -> str:
    """Return what a headline figure is called."""
    return labelled(figure.label, state_of(result, figure))


def with_states(result: ResultBase, steps: Sequence[Step]) -> ResultBase:
    """Return a result whose headline figures say of themselves what the library ranks them by.

    That is what was not shown of their state, and the load that they were taken at. Failed I/O, heat, a host
    that was the limit and a time in which ssdlab stood still mark a figure whatever its method asks for.
    """
    from ssdlab.results.host_part import HOST_LIMITED, PREPARING, host_made  # only a run that ends needs it
    from ssdlab.results.io_faults import faulty_state, faulty_states

    measured = {
        step.ordinal for step in steps if step.result.measurement is not None and step.verb not in PREPARING
    }
    faulty, figured = faulty_states(steps), {step.ordinal for step in steps if step.verb not in PREPARING}
    hot = {step.ordinal for step in steps if throttled(step)}
    still = {step.ordinal for step in steps if paused(step)}

    def stamped(figure: Scalar) -> Scalar:
        basis = result.basis_of(figure)
        decided = result.decided_by(figure)
        heat = THROTTLED if hot.intersection(basis.steps or measured) else ""
        pause = PAUSED if still.intersection(decided or measured) else ""
        # In how many steps is told beside it: the library puts figures together that have one text.
        host = HOST_LIMITED if host_made(basis, steps) else ""
        failed = faulty_state(faulty, decided or figured)
        unshown = failed or result.unshown(figure) or heat or pause or host or None
        return figure.model_copy(update={"unshown": unshown, "taken_at": basis.at or None})

    return result.model_copy(update={"scalars": tuple(map(stamped, result.scalars))})


def states_of(result: ResultBase) -> dict[str, str]:
    """Return the states of the headline figures by their names, of those that have one to tell."""
    found = {each.name: state_of(result, each) for each in result.scalars}
    return {name: state for name, state in found.items() if state}
