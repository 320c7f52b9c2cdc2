"""Sizes, shares, durations and rates: text in, exact numbers out, and numbers back into text.

Sizes follow fio: ``4k`` is 4096 bytes and ``1m`` is 1 MiB, like ``KiB`` and ``MiB``, while ``kB`` and ``GB``
are decimal. Durations are nanoseconds inside; a plain number is seconds. Rates are exact fractions a second,
where ``k`` is a thousand. Output follows review tables: three significant digits, ``k`` and ``M``, µs, ms or
s by size.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from math import isfinite

from ssdlab.model.errors import UsageError, excerpt, nearest
from ssdlab.model.limits import (
    DURATION_NS,
    NUMBER_CHARACTERS,
    RATE_A_SECOND,
    RATE_TERM,
    SHARE_TERM,
    SIZE_BYTES,
)

NS_PER_S = 1_000_000_000

SIZE_UNITS: dict[str, int] = {
    "": 1,
    "B": 1,
    **{letter: 1024**power for power, letter in enumerate("kmgtp", start=1)},
    **{f"{letter}iB": 1024**power for power, letter in enumerate("KMGTP", start=1)},
    **{f"{letter}B": 1000**power for power, letter in enumerate("kMGTP", start=1)},
}
"""Bytes per unit; users may type a unit in upper or lower case."""

DURATION_UNITS: dict[str, int] = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "ms": 1_000_000,
    "s": NS_PER_S,
    "m": 60 * NS_PER_S,
    "min": 60 * NS_PER_S,
    "h": 3600 * NS_PER_S,
    "d": 86_400 * NS_PER_S,
}
"""Nanoseconds per unit."""

RATE_UNITS: dict[str, int] = {"": 1, "k": 1_000, "M": 1_000_000}
"""Arrivals a second per unit."""

_MAX_DAYS = DURATION_NS // DURATION_UNITS["d"]
_NUMBER = r"(?:\d[\d_]*(?:\.\d+)?|\.\d+)(?:e[+-]?\d{1,3})?"
_NEGATIVE = re.compile(rf"-\s*{_NUMBER}", re.IGNORECASE)
_QUANTITY = re.compile(rf"({_NUMBER})\s*([^\d\s.,;:+-]*)", re.IGNORECASE)


def parse_bytes(text: str | int, *, noun: str = "size") -> int:
    """Return the bytes that `text` means: ``4k``, ``1.5GiB``, ``480GB``, ``4096``.

    Raises
    ------
    UsageError
        The text is not a size, its unit is unknown (the nearest unit is named), or it is not a whole number
        of bytes.
    """
    if isinstance(text, int) and not isinstance(text, bool):
        if text < 0:
            raise UsageError(f"{noun} {shown(text)} is negative", "give a size such as 4k or 1GiB")
        if text > SIZE_BYTES:
            raise UsageError(f"{noun} {shown(text)} is more than 1 EiB", "give a smaller one")
        return text
    value = _quantity(text, SIZE_UNITS, noun, "a size such as 4k, 128KiB, 1GiB or 480GB")
    if value > SIZE_BYTES:
        raise UsageError(f"{noun} {text!r} is more than 1 EiB", "give a smaller one", given=text)
    if value.denominator != 1:
        raise UsageError(
            f"{noun} {text!r} is {float(value):.9g} bytes, not a whole number",
            "give a whole number of bytes",
            given=text,
        )
    return value.numerator


def parse_percent(text: str, *, noun: str = "share", beyond: bool = False) -> Fraction:
    """Return the exact share, 0 to 1, of a percentage such as ``25%`` or ``12.5%``.

    With `beyond`, above 100 % is accepted too.

    Raises
    ------
    UsageError
        The text is not a percentage, or is outside 0 to 100 %.
    """
    text = _short(text, noun)
    match = re.fullmatch(rf"({_NUMBER}|\d+/0*[1-9]\d*)\s*%", text, re.IGNORECASE)
    if match is None:
        wrong = "is negative" if _NEGATIVE.match(text) else "is not a percentage"
        raise UsageError(f"{noun} {text!r} {wrong}", "give one such as 25%", given=text)
    share = Fraction(match[1].replace("_", "")) / 100
    if share.denominator > SHARE_TERM or share.numerator > SHARE_TERM:
        raise UsageError(f"{noun} {text!r} is too precise or too large to store", "give one such as 25%")
    if share > 1 and not beyond:
        raise UsageError(f"{noun} {text!r} is more than 100%", "give 0% to 100%", given=text)
    return share


def parse_duration(text: str | float | Fraction, *, noun: str = "") -> int:
    """Return nanoseconds: ``90s``, ``10m``, ``1h30m``, ``500us``; a plain number is seconds.

    Raises
    ------
    UsageError
        The text is not a duration or is negative, or its unit is unknown (the nearest unit is named).
    """
    example = "a duration such as 90s, 10m, 1h30m or 500us"
    if isinstance(text, int | float | Fraction) and not isinstance(text, bool):
        if (isinstance(text, float) and not isfinite(text)) or text < 0:
            wrong = "is negative" if text < 0 else "is not a duration"
            raise UsageError(f"{_of(noun)}{shown(text)} {wrong}", f"give {example}")
        seconds = Fraction(str(text)) if isinstance(text, float) else Fraction(text)
        return _whole_ns(seconds * NS_PER_S, noun, text)
    stripped = _short(text, noun)
    if re.fullmatch(_NUMBER, stripped, re.IGNORECASE):
        return _whole_ns(Fraction(stripped.replace("_", "")) * NS_PER_S, noun, text)
    position, total = 0, Fraction(0)
    for match in _QUANTITY.finditer(stripped):
        if stripped[position : match.start()].strip():
            break
        total += Fraction(match[1].replace("_", "")) * _unit(match[2], DURATION_UNITS, "unit of time", text)
        position = match.end()
    if position == 0 or stripped[position:].strip():
        wrong = "is negative" if _NEGATIVE.match(stripped) else "is not a duration"
        raise UsageError(f"{_of(noun)}{text!r} {wrong}", f"give {example}", given=text)
    return _whole_ns(total, noun, text)


def parse_rate(text: str | float | Fraction, *, noun: str = "rate") -> Fraction:
    """Return the exact rate a second of ``2000``, ``23.53``, ``60k`` or ``400/17``.

    Raises
    ------
    UsageError
        The text is not a rate, or is not above 0.
    """
    example = "a rate such as 2000, 23.53, 60k or 400/17 (I/Os a second)"
    if isinstance(text, int | float | Fraction) and not isinstance(text, bool):
        if isinstance(text, float) and not isfinite(text):
            raise UsageError(f"{noun} {text} is not a rate", f"give {example}", given=str(text))
        rate = Fraction(str(text)) if isinstance(text, float) else Fraction(text)
    elif match := re.fullmatch(r"(\d+)\s*/\s*0*([1-9]\d*)", _short(text, noun)):
        rate = Fraction(int(match[1]), int(match[2]))
    else:
        rate = _quantity(text, RATE_UNITS, noun, example)
    if rate <= 0:
        raise UsageError(f"{noun} {shown(text)} is not above 0", f"give {example}")
    if max(rate.numerator, rate.denominator) > RATE_TERM:
        raise UsageError(f"{noun} {shown(text)} has more than 12 digits", f"give {example}")
    if rate > RATE_A_SECOND:
        raise UsageError(f"{noun} {shown(text)} is more than {RATE_A_SECOND:,} a second", f"give {example}")
    if 1 / rate > Fraction(DURATION_NS, NS_PER_S):
        raise UsageError(
            f"{noun} {shown(text)} is less than one per {_MAX_DAYS} days",
            f"give {example}",
        )
    return rate


def shown(value: object) -> str:
    """Return a number for a message, shortened if it is long."""
    if isinstance(value, int) and abs(value) >= 10**NUMBER_CHARACTERS:
        return f"of {value.bit_length()} bits"
    return excerpt(str(value))


def _of(noun: str) -> str:
    """Return the noun that begins a sentence about a value, with a space; empty without a noun."""
    return f"{noun} " if noun else ""


def _short(text: object, noun: str) -> str:
    """Return a number's text without surrounding spaces, after checking its length.

    Raises
    ------
    UsageError
        The text is longer than any number needs. Converting it could take very long.
    """
    stripped = str(text).strip()
    if len(stripped) > NUMBER_CHARACTERS:
        raise UsageError(
            f"{_of(noun)}{excerpt(stripped)!r} is longer than {NUMBER_CHARACTERS} characters", "round it"
        )
    return stripped


def _quantity(text: object, units: dict[str, int], noun: str, example: str) -> Fraction:
    text = _short(text, noun)
    match = _QUANTITY.fullmatch(text)
    if match is None:
        wrong = "is negative" if _NEGATIVE.match(text) else "is not a number with a unit"
        raise UsageError(f"{noun} {text!r} {wrong}", f"give {example}", given=text)
    return Fraction(match[1].replace("_", "")) * _unit(match[2], units, f"unit of {noun}", text)


def _unit(unit: str, units: dict[str, int], noun: str, text: object) -> int:
    if unit in units:
        return units[unit]
    for name, factor in units.items():
        if name.casefold() == unit.casefold():
            return factor
    known = [name for name in units if name]
    if unit.casefold() in {f"{letter}i" for letter in "kmgtp"}:
        return units[unit[0].lower()]
    guess = nearest(unit, known) if unit else None
    hint = f"did you mean {guess}? " if guess else ""
    problem = f"{noun} {unit!r} is not known" if unit else f"a {noun} is missing"
    raise UsageError(
        f"{problem} in {str(text)!r}", f"{hint}known: {', '.join(known)}", given=str(text), nearest=guess
    )


def _whole_ns(nanoseconds: Fraction, noun: str, text: object) -> int:
    if nanoseconds > DURATION_NS:
        raise UsageError(
            f"{_of(noun)}{shown(text)} is longer than {_MAX_DAYS} days",
            "give a shorter one",
        )
    if nanoseconds.denominator != 1:
        raise UsageError(f"{_of(noun)}{shown(text)} is finer than a nanosecond", "give whole nanoseconds")
    return nanoseconds.numerator


# --- numbers into text ---


def and_listed(words: Sequence[str]) -> str:
    """Return words as a list in a sentence.

    >>> and_listed(["a", "b", "c"])
    'a, b and c'
    """
    *some, last = words
    return f"{', '.join(some)}{' and ' if some else ''}{last}"


_BINARY = ("k", "m", "g", "t", "p")


def size_text(size_bytes: int) -> str:
    """Return the shortest text that `parse_bytes` reads back exactly: ``4k``, ``1536``, ``3g``."""
    unit = ""
    for letter in _BINARY:
        if size_bytes == 0 or size_bytes % 1024:
            break
        size_bytes //= 1024
        unit = letter
    return f"{size_bytes}{unit}"


def duration_text(duration_ns: int) -> str:
    """Return the shortest text that `parse_duration` reads back exactly: ``90s``, ``2h``, ``1500us``."""
    for unit in ("d", "h", "m", "s", "ms", "us"):
        if duration_ns and duration_ns % DURATION_UNITS[unit] == 0:
            return f"{duration_ns // DURATION_UNITS[unit]}{unit}"
    return f"{duration_ns}ns" if duration_ns else "0s"


def rate_text(rate: Fraction) -> str:
    """Return text that `parse_rate` reads back exactly: ``2000``, ``23.5``, ``400/17``."""
    denominator = rate.denominator
    for prime in (2, 5):
        while denominator % prime == 0:
            denominator //= prime
    if rate.denominator == 1:
        return str(rate.numerator)
    exact = Decimal(rate.numerator) / Decimal(rate.denominator)
    text = format(exact, "f")
    return text if denominator == 1 and Fraction(text) == rate else f"{rate.numerator}/{rate.denominator}"


def percent_text(share: Fraction) -> str:
    """Return text that `parse_percent` reads back exactly: ``12.5%``, ``100/3%``."""
    return f"{rate_text(share * 100)}%" if share else "0%"


def significant(value: float, digits: int = 3, rounding: str = ROUND_HALF_EVEN) -> str:
    """Return `value` to `digits` significant digits, without an exponent: ``64.3``, ``1.05``, ``388``."""
    if value == 0 or not isfinite(value):
        return "0" if value == 0 else str(value)
    rounded = Context(prec=digits, rounding=rounding).create_decimal(repr(float(value)))
    places = max(0, digits - 1 - rounded.adjusted())
    return f"{rounded:.{places}f}"


_DIGITS = 3
SHARE_DIGITS = 8
"""Maximum digits to distinguish a share from 100 %; smaller differences are rounding errors."""


def share_text(share: float, digits: int = 3) -> str:
    """Return a measured share as a percentage, with enough digits to differ from 100 %.

    >>> share_text(0.236), share_text(1), share_text(0.99996), share_text(1.2)
    ('23.6 %', '100 %', '99.996 %', '120 %')
    """
    percent = 100 * share
    texts = (significant(percent, each) for each in range(digits, SHARE_DIGITS))
    distinct = (text for text in texts if share >= 1 or float(text) < 100)
    return f"{next(distinct, '100')} %"


def fixed_share_text(share: float) -> str:
    """Return a chosen, not measured, share exactly: ``20 %``, ``7.5 %``."""
    return f"{100 * share:.6g} %"


def change_text(share: float) -> str:
    """Return a relative change with its sign: ``+3.21 %``, ``-0.400 %``."""
    return f"{'+' if share > 0 else ''}{significant(100 * share)} %"


def _scaled(value: float, scales: tuple[tuple[float, str], ...], digits: int = 3) -> str:
    """Return `value` in the largest unit of `scales` (ascending) in which it is 1 or more after rounding."""
    chosen = scales[0]
    for factor, unit in scales[1:]:
        scaled = abs(value) / factor
        # Up to 0.9 nothing is rounded up to 1, and rounding takes ten times as long as comparing.
        if scaled >= 1 or (scaled > 0.9 and float(significant(scaled, digits)) >= 1):
            chosen = (factor, unit)
    return f"{significant(value / chosen[0], digits)}{chosen[1]}"


def counted(number: int, noun: str) -> str:
    """Return a count with its noun.

    >>> counted(1, "run"), counted(3, "run")
    ('1 run', '3 runs')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"


def counted_were(number: int, noun: str) -> str:
    """Return a count with its noun and verb: ``1 I/O was``, ``3 I/Os were``."""
    return f"{counted(number, noun)} {'was' if number == 1 else 'were'}"


def ends_text(lower: str, upper: str) -> str:
    """Return a range in words; a single value if both ends are printed equally.

    >>> ends_text("2 s", "60 s"), ends_text("60 s", "60 s")
    ('2 s to 60 s', '60 s')
    """
    return lower if lower == upper else f"{lower} to {upper}"


def numbered_text(noun: str, first: object, last: object) -> str:
    """Return a range of numbered things: ``rounds 3 to 7``, or ``round 3``.

    >>> numbered_text("round", 3, 7), numbered_text("round", 3, 3)
    ('rounds 3 to 7', 'round 3')
    """
    return f"{noun} {first}" if first == last else f"{noun}s {first} to {last}"


def count_text(value: float, digits: int = 3) -> str:
    """Return a count or an IOPS figure: ``388``, ``64.3k``, ``1.05M``, ``2.10G``."""
    return _scaled(value, ((1, ""), (1e3, "k"), (1e6, "M"), (1e9, "G")), digits)


def latency_text(latency_ns: float, digits: int = 3) -> str:
    """Return a latency with a fitting unit: ``850 ns``, ``388 µs``, ``6.08 ms``, ``1.20 s``."""
    return _scaled(latency_ns, ((1, " ns"), (1e3, " µs"), (1e6, " ms"), (1e9, " s")), digits)


def throughput_text(mb_s: float, digits: int = 3) -> str:
    """Return decimal megabytes a second: ``514 MB/s``, ``3.21 GB/s``."""
    return _scaled(mb_s, ((1, " MB/s"), (1e3, " GB/s")), digits)


def capacity_text(capacity_bytes: int) -> str:
    """Return a decimal capacity, as on the box: ``480 GB``, ``3.84 TB``."""
    return _scaled(
        capacity_bytes, ((1, " B"), (1e3, " kB"), (1e6, " MB"), (1e9, " GB"), (1e12, " TB"), (1e15, " PB"))
    )


def block_text(block_bytes: int) -> str:
    """Return a block size in binary units, exactly: ``512 B``, ``4 KiB``, ``1 MiB``, ``1536 B``."""
    text = size_text(block_bytes)
    return f"{text[:-1]} {text[-1].upper()}iB" if text[-1].isalpha() else f"{text} B"


_READABLE_DIGITS = 4


def bytes_text(size_bytes: int) -> str:
    """Return a size for a message: in a unit if exact and short, else with the bytes in brackets.

    >>> bytes_text(67_108_864), bytes_text(1536), bytes_text(480_103_981_056)
    ('64 MiB', '1536 B', '480 GB (480103981056 bytes)')
    """
    text = block_text(size_bytes)
    short = len(text.partition(" ")[0]) <= _READABLE_DIGITS
    return text if short else f"{capacity_text(size_bytes)} ({size_bytes} bytes)"


MINUTES_FROM_S = 7200  # from here on, a time has hours and minutes
_MILLISECONDS_BELOW_S = 0.1
"""Shorter times are printed as latencies are: 7.13 ms, not 0.00713 s."""


def span_text(duration_s: float, digits: int = 3) -> str:
    """Return a duration for a reader: ``7.13 ms``, ``2.50 s``, ``90.0 s``, ``4 min 30 s``, ``2 h 05 min``."""
    if 0 < duration_s < _MILLISECONDS_BELOW_S:
        return latency_text(duration_s * NS_PER_S, digits)
    if duration_s < 120:
        return f"{significant(duration_s, digits)} s"
    whole = round(duration_s)
    if whole < MINUTES_FROM_S:
        return f"{whole // 60} min {whole % 60:02} s"
    minutes = round(whole / 60)
    return f"{minutes // 60} h {minutes % 60:02} min"


def figure_text(value: float | None, unit: str, digits: int = 3) -> str:
    """Return a headline figure with its unit, with `digits` significant digits; a dash for None.

    >>> figure_text(64_321.0, "IOPS"), figure_text(388_000.0, "ns"), figure_text(1630, "µs")
    ('64.3k IOPS', '388 µs', '1.63 ms')
    """
    if value is None:
        return "—"
    match unit:
        case "IOPS":
            return f"{count_text(value, digits)} IOPS"
        case "MB/s":
            return throughput_text(value, digits)
        case "ns" | "us" | "µs" | "ms":
            return latency_text(value * DURATION_UNITS[unit], digits)
        case "I/Os" if value == int(value):  # a depth is set, not measured
            return counted(int(value), "I/O")
        case "s":
            return span_text(value) if digits == _DIGITS else f"{significant(value, digits)} s"
        case "x":
            # A requested multiple is exact to a thousandth: 0.5x, not 0.500x.
            return f"{value:.9g}x" if value == round(value, 3) else f"{significant(value, digits)}x"
        case "%":
            return share_text(value / 100, digits)
        case "":
            return str(int(value)) if value == int(value) else count_text(value, digits)
        case _:
            return f"{significant(value, digits)} {unit}"
