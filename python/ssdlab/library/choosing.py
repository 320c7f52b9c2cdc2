"""Which runs are meant: by drive, method, tag, age and status."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from ssdlab.model.errors import UsageError, excerpt
from ssdlab.model.units import parse_duration

if TYPE_CHECKING:
    from ssdlab.library.index import Columns, Index

STATUSES = ("running", "interrupted", "not begun", "tables not written", "finished", "failed")
_DAYS = re.compile(r"(\d{1,5}) ?d(ays?)?")


@dataclass(frozen=True)
class Choice:
    """What runs must have to be meant; None: anything.

    Attributes
    ----------
    drive
        Part of the drive's identifier or name, in any case of letters.
    method, status
        Its name.
    tag
        A tag that the run has.
    since
        Begun then or later: ISO 8601, UTC.
    """

    drive: str | None = None
    method: str | None = None
    tag: str | None = None
    since: str | None = None
    status: str | None = None

    def where(self, index: Index) -> tuple[str, list[object]]:
        """Return the condition as SQL, with its values.

        Raises
        ------
        UsageError
            No run has that tag.
        """
        parts, values = ["true"], list[object]()
        if self.drive is not None:
            parts.append("(contains(lower(drive_id), ?) OR contains(lower(drive_name), ?))")
            values += [self.drive.lower()] * 2
        if self.method is not None:
            parts.append("method = ?")
            values.append(self.method)
        if self.tag is not None:
            parts.append("list_contains(tags, ?)")
            values.append(self.tag)
        if self.since is not None:
            parts.append("created >= ?")
            values.append(self.since)
        if self.status is not None:
            parts.append("status = ?")
            values.append(self.status)
        return " AND ".join(parts), values

    def fits(self, line: Columns) -> bool:
        """Whether a run that is in no table is meant, by the same rules."""
        drive = (self.drive or "").lower()
        return (
            any(drive in str(line[name]).lower() for name in ("drive_id", "drive_name"))
            and self.method in (None, line["method"])
            and (self.tag is None or self.tag in line["tags"])
            and (self.since is None or line["created"] >= self.since)
            and self.status in (None, line["status"])
        )


def since_of(text: str, now: datetime | None = None) -> str:
    """Return the moment that `--since` means: a date, a date and time (UTC), or an age as 36h or 7d.

    >>> since_of("2026-11-01")
    '2026-11-01'

    Raises
    ------
    UsageError
        It is none of them.
    """
    now = now or datetime.now(UTC)
    if days := _DAYS.fullmatch(text):
        return _stamp(now - timedelta(days=int(days[1])))
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        pass
    else:
        if len(text) == len("2026-11-01"):
            return text
        return _stamp(moment.astimezone(UTC) if moment.tzinfo else moment)
    try:
        age_ns = parse_duration(text)
    except UsageError as error:
        raise UsageError(
            f"--since {excerpt(text)} is neither a date nor an age", "give one such as 2026-11-01, 7d or 36h"
        ) from error
    return _stamp(now - timedelta(microseconds=age_ns / 1000))


def _stamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S")
