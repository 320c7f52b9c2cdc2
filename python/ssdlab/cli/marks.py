"""Marks for the qualifiers of figures, and their legend."""

from __future__ import annotations

from string import ascii_letters
from typing import TYPE_CHECKING

from ssdlab.cli.fitting import print_text
from ssdlab.cli.output import paint, print_line
from ssdlab.model.printable import advice_text
from ssdlab.results.qualifiers import CATALOGUE, ORDER, UNKNOWN, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_SENTENCES = 4
"""Up to this many marks, each gets a sentence; if there are more, each gets only its label."""
_WHYS = 2
"""Maximum reasons shown per qualifier; in the JSON each figure has its own."""


class Letters:
    """Letters that mark qualifiers throughout one output; `a` is the gravest.

    Parameters
    ----------
    codes
        The qualifier codes of all figures.
    whys
        The reasons, by code.
    """

    def __init__(self, codes: Iterable[str], whys: Mapping[str, Sequence[str]] | None = None) -> None:
        every = sorted({known(code) for code in codes}, key=lambda code: ORDER.get(code, len(ORDER)))
        self._letters = {code: ascii_letters[at] for at, code in enumerate(every)}
        self._whys = whys or {}
        self._partly: dict[str, str] = {}

    def of(self, qualified: Mapping[str, int], runs: int = 1) -> str:
        """Return the marks of a figure: ``ab``, or ``a1/2,b`` if only one of two runs has qualifier a.

        Parameters
        ----------
        qualified
            The number of runs with each qualifier, by code.
        runs
            The number of runs behind the figure.
        """
        counts = {self._letters[known(code)]: count for code, count in qualified.items()}
        marks = []
        for letter, count in sorted(counts.items()):
            marks.append(letter if count == runs else f"{letter}{count}/{runs}")
            if count != runs:
                self._partly[marks[-1]] = f"{letter} in {count} of {runs} runs"
        return ("," if self._partly.keys() & set(marks) else "").join(marks)

    def entries(self) -> Iterator[tuple[str, str, str]]:
        """Yield each mark's letter, its label, and its meaning with reasons and advice."""
        for code, letter in self._letters.items():
            kind, whys = kind_of(code), self._whys.get(code, ())
            more = f"; and {len(whys) - _WHYS} more" if len(whys) > _WHYS else ""
            why = f" ({'; '.join(whys[:_WHYS])}{more})." if whys else "."
            meaning = f"{kind.sentence.removesuffix('.')}{why} {advice_text(kind.advice)}"
            yield letter, kind.label, meaning.rstrip()

    @property
    def partly(self) -> str:
        """Return what marks such as ``a1/2`` mean; empty if there are none."""
        return "; ".join(f"{mark}: {words}" for mark, words in self._partly.items())

    def print(self) -> None:
        if self._letters:
            print_line()
        for letter, label, meaning in self.entries():
            print_text(f"{paint(f'{letter}  {label}:', 'warn')} {meaning}", indent="   ")
        self._print_partly()

    def print_labels(self) -> str:
        """Print each mark's meaning briefly; return the advice for the gravest that has advice."""
        kinds = {letter: kind_of(code) for code, letter in self._letters.items()}
        if kinds:
            print_line()
        if len(kinds) > _SENTENCES:
            print_text("; ".join(f"{paint(letter, 'warn')}  {kind.label}" for letter, kind in kinds.items()))
        else:
            for letter, kind in kinds.items():
                print_text(f"{paint(f'{letter}  {kind.label}:', 'warn')} {kind.sentence}", indent="   ")
        self._print_partly()
        return next((kind.advice for kind in kinds.values() if kind.advice), "")

    def _print_partly(self) -> None:
        if self._partly:
            print_text(self.partly, "dim", "   ")


def known(code: str) -> str:
    """Return the code if the catalogue has it, and the code for unknown qualifiers otherwise."""
    return code if code in CATALOGUE else UNKNOWN
