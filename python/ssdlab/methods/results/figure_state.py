"""The state of a headline figure in words: for terminal, page, repeats, suites and JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ssdlab.results.schema import ResultBase, Scalar


def state_of(result: ResultBase, figure: Scalar) -> str:
    """Return what stands behind a figure wherever it is told; empty: its state was written, and shown."""
    how = next((proof.brought_about for proof in result.proofs if proof.brought_about), "")
    return result.unshown(figure) or (f"state {how}" if how else "")


def labelled(label: str, state: str) -> str:
    """Return the label of a figure with its state."""
    return f"{label} ({state})" if state else label


def headline_label(result: ResultBase, figure: Scalar) -> str:
    """Return what a headline figure is called."""
    return labelled(figure.label, state_of(result, figure))


def with_states(result: ResultBase) -> ResultBase:
    """Return a result whose headline figures say of themselves what the library ranks them by.

    That is what of their state was not shown, and the load that they were taken at.
    """
    stamped = (
        each.model_copy(
            update={
                "unshown": result.unshown(each) or None,
                "taken_at": result.basis_of(each).at or None,
            }
        )
        for each in result.scalars
    )
    return result.model_copy(update={"scalars": tuple(stamped)})


def states_of(result: ResultBase) -> dict[str, str]:
    """Return the states of the headline figures by their names, of those that have one to tell."""
    found = {each.name: state_of(result, each) for each in result.scalars}
    return {name: state for name, state in found.items() if state}
