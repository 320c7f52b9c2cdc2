"""The one list of limits on user input, each with its reason.

They exceed practical needs, but bound memory and time for any input.
"""

from __future__ import annotations

DOCUMENT_BYTES = 1 << 20
"""Of a file that is read as a whole (job, profile, rig, drive record, ratings, columns, configuration): the
longest job allowed, at a hundred bytes a step, fits; a parser in Python reads it in a second or two."""

RESULT_BYTES = 256 << 20
"""Of a result of another tool that is imported: a day of fio's JSON+ statuses, one a minute, fits."""

RUN_FILE_BYTES = 256 << 20
"""Of a file of a run folder that is read as a whole: the journal of the longest job has a hundred MiB."""

LINE_CHARACTERS = 1 << 16
"""Of a line of a trace, which may have lines without number: the longest known have a few hundred."""

EMBEDDED_BYTES = 2 << 20
"""Of a logo or a font of a theme, which every page holds: fonts of Latin, Greek and Cyrillic have less."""

NESTING = 32
"""Tables, lists and dotted keys inside one another; no file of ours needs more than four."""

STEPS = 5_000
"""Of a job: a step takes a journal entry, a log and half a millisecond of planning."""

NUMBER_CHARACTERS = 64
"""Of a number with its unit: more digits than two 64-bit fractions have."""

EMPTY_LINES = 65_536
"""In front of the first line of a trace."""

DEVICES = 65_536
"""Of one trace; the largest public ones, Alibaba's, have a thousand volumes each."""

SIZES = 65_536
"""Different lengths of I/Os that are counted one by one."""

PATH_BYTES = 4095
"""PATH_MAX of Linux (limits.h), without the zero byte at its end."""

WORD_CHARACTERS = 1 << 16
"""Of one word of a command line: beyond any path, list of depths or set of columns."""

SIZE_BYTES = 1 << 60
"""1 EiB, of a size or a place: ten thousand times the largest drive, and sums of several fit 64 bits."""

DURATION_NS = 90 * 86_400 * 10**9
"""Of any time that is waited or measured, as of every time in a workload: 90 days, under 2^53."""

RATE_TERM = 10**12
"""Of numerator and denominator of a rate, as in every workload."""

RATE_A_SECOND = 10**9
"""Of a rate as such, as in every workload: an I/O each nanosecond, the unit of its due times."""

SHARE_TERM = 10**18
"""Of numerator and denominator of a share."""

POWER_ROWS = 50_000_000
"""Samples of a recording of power: 14 hours at 1 kHz, in memory as numbers."""

SHOWN_CHARACTERS = 120
"""Of what a user gave, repeated in a message."""

MESSAGE_CHARACTERS = 2000
"""Of a message, whatever was put into it."""
