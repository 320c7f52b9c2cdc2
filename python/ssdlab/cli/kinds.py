"""What an option takes, under the word that its help shows: `--size SIZE` instead of `--size STR`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ssdlab.model.errors import UsageError, excerpt

if TYPE_CHECKING:
    from cyclopts import Token


def whole_number(minimum: int, maximum: int) -> Callable[[object, Sequence[Token]], int]:
    """Return what reads a whole number; the parser's own reader rounds 1.5 to 2 and takes 0x10."""

    def read(_: object, tokens: Sequence[Token]) -> int:
        given = tokens[0].value
        try:
            number = int(given) if given.isascii() and given.lstrip("-").isdigit() else None
        except ValueError:  # more digits than Python reads
            number = None
        option = tokens[0].keyword or "the number"
        if number is None:
            raise UsageError(
                f"{option} is {excerpt(given)!r}, not a whole number",
                f"give {minimum} to {maximum}",
                given=excerpt(given),
            )
        if not minimum <= number <= maximum:
            raise UsageError(
                f"{option} is {excerpt(given)}, out of its range",
                f"give {minimum} to {maximum}",
                given=excerpt(given),
            )
        return number

    return read


def _times(_: object, tokens: Sequence[Token]) -> float:
    """Read N of Nx."""
    given = tokens[0].value
    number = float(given) if re.fullmatch(r"[0-9]{1,9}([.][0-9]{1,9})?", given) else 0.0
    if not 0 < number <= _MAX_TIMES:
        raise UsageError(
            f"{tokens[0].keyword or 'the number'} is {excerpt(given)!r}, which is no multiple of 1x",
            f"give a number above 0, up to {_MAX_TIMES}: 30, or 0.5",
            given=excerpt(given),
        )
    return int(number) if number.is_integer() else number


_MAX_TIMES = 1_000_000
Times = Annotated[float, Parameter(metavar="N", converter=_times, n_tokens=1)]
Count = Annotated[int, Parameter(metavar="N", converter=whole_number(1, 1_000_000), n_tokens=1)]
Amount = Annotated[int | None, Parameter(metavar="COUNT", converter=whole_number(0, 1_000_000), n_tokens=1)]
Port = Annotated[int | None, Parameter(metavar="PORT", converter=whole_number(0, 65_535), n_tokens=1)]
Share = Annotated[str | None, Parameter(metavar="CAP")]
Time = Annotated[str | None, Parameter(metavar="TIME")]
DriveText = Annotated[str | None, Parameter(metavar="DRIVE")]
RunText = Annotated[str | None, Parameter(metavar="RUN")]
Identifier = Annotated[str | None, Parameter(metavar="ID")]
Serials = Annotated[tuple[str, ...], Parameter(metavar="SERIAL", negative=())]
Identifiers = Annotated[tuple[str, ...], Parameter(metavar="ID", negative=())]
Rack = Annotated[str, Parameter(metavar="RACK")]
Host = Annotated[str | None, Parameter(metavar="HOST")]
DriveTexts = Annotated[tuple[str, ...], Parameter(metavar="DRIVE", negative=())]
Name = Annotated[str, Parameter(metavar="NAME")]
Settings = Annotated[tuple[str, ...], Parameter(name="--set", metavar="NAME=VALUE", negative=())]
