"""Errors name what they are about: the option whose value does not fit."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from ssdlab.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


@contextmanager
def of_option(*options: str) -> Iterator[None]:
    """Let an error about a value name the option it was given with.

    Parameters
    ----------
    options
        As they are written: ``--seconds``. Of several the error's fact `field` says which one it is about.
    """
    try:
        yield
    except UsageError as error:
        option = options[0] if len(options) == 1 else _option_of(error, options)
        if option is not None:
            _name(error, option)
        raise


def _option_of(error: UsageError, options: Iterable[str]) -> str | None:
    """Return the option that an error is about: one of a model's fields, or of an item in it."""
    field = str(error.facts.get("field", "")).rpartition(" of ")[2]
    option = f"--{field.replace('_', '-')}"
    return option if field and option in options else None


def _name(error: UsageError, option: str) -> None:
    """Put the option where the error has the field's name, or before all else."""
    field = str(error.facts.get("field", ""))
    if option in error.what.split():
        return
    if field and error.what.startswith(f"{field} is "):
        whole = field.rpartition(" of ")[0]
        named = f"{whole} of {option}" if whole else option
        error.what = named + error.what.removeprefix(field)
        if error.advice.startswith(f"{field}: "):
            error.advice = option + error.advice.removeprefix(field)
    else:
        error.what = f"{option}: {error.what.removeprefix(f'{field}: ') if field else error.what}"
