"""The one list of limits on user input, each with its reason.

They exceed practical needs, but bound memory and time for any input.
"""

from __future__ import annotations

DOCUMENT_BYTES = 1 << 20
"""Maximum size of a file that is read as a whole (job, profile, rig, drive record, ratings, columns,
configuration). The longest allowed job fits, at 100 bytes a step. A parser in Python reads it in a second or
two."""

RESULT_BYTES = 256 << 20
"""Maximum size of an imported result: a day of fio's JSON+ statuses, one a minute, fits."""

RUN_FILE_BYTES = 256 << 20
"""Maximum size of a file in a run folder that is read as a whole: the longest job's journal has 100 MiB."""

LINE_CHARACTERS = 1 << 16
"""Maximum length of a line in a trace; the longest known lines have a few hundred characters."""

EMBEDDED_BYTES = 2 << 20
"""Maximum size of a theme's logo or font, which every page holds; Latin, Greek and Cyrillic fonts fit."""

NESTING = 32
"""Maximum depth of nested tables, lists and dotted keys; ssdlab's own files need at most four."""

STEPS = 5_000
"""Maximum steps of a job; a step takes a journal entry, a log and half a millisecond of planning."""

NUMBER_CHARACTERS = 64
"""Maximum length of a number with its unit, more than two 64-bit integers as a fraction need."""

EMPTY_LINES = 65_536
"""Maximum empty lines before the first line of a trace."""

DEVICES = 65_536
"""Maximum devices in a trace; the largest public traces, Alibaba's, have a thousand volumes each."""

SIZES = 65_536
"""Maximum number of I/O lengths that are counted separately."""

PATH_BYTES = 4095
"""Maximum length of a path: PATH_MAX of Linux (limits.h), without the final zero byte."""

WORD_CHARACTERS = 1 << 16
"""Maximum length of one word of a command line, longer than any path, list of depths or set of columns."""

SIZE_BYTES = 1 << 60
"""Maximum size or offset, 1 EiB: ten thousand times the largest drive, and sums of several fit 64 bits."""

DURATION_NS = 90 * 86_400 * 10**9
"""Maximum time to wait or measure, as in every workload: 90 days, which is under 2^53 ns."""

RATE_TERM = 10**12
"""Maximum numerator and denominator of a rate, as in every workload."""

RATE_A_SECOND = 10**9
"""Maximum rate, as in every workload: an I/O each nanosecond, which is the unit of due times."""

SHARE_TERM = 10**18
"""Maximum numerator and denominator of a share."""

POWER_ROWS = 50_000_000
"""Maximum samples of a power recording, which memory holds as numbers: 14 hours at 1 kHz."""

SHOWN_CHARACTERS = 120
"""Maximum length of a user's input that a message repeats."""

MESSAGE_CHARACTERS = 2000
"""Maximum length of a message, with everything in it."""
