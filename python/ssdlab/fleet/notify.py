"""Tell somebody that a plan has ended: by a command of theirs, or at a URL."""

from __future__ import annotations

import json
import shlex
import subprocess
import urllib.error
import urllib.request
from typing import TYPE_CHECKING

from ssdlab.model.errors import HostError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

_WITHIN_S = 60.0
_URLS = ("http://", "https://")


def check(receiver: str) -> None:
    """Refuse a receiver that is neither a URL nor the words of a command.

    Raises
    ------
    UsageError
        It is neither.
    """
    try:
        words = shlex.split(receiver)
    except ValueError as error:
        raise UsageError(f"--notify {receiver!r} is no command: {error}", "close its quotes") from error
    if not words:
        raise UsageError("--notify is empty", "name a command, or a URL that begins with http")


def tell(receiver: str, document: Mapping[str, object]) -> None:
    """Give a document to a command on its standard input, or send it to a URL as JSON.

    Raises
    ------
    HostError
        The command cannot be run or fails, or the URL does not answer well.
    """
    data = json.dumps(document).encode()
    if receiver.startswith(_URLS):
        request = urllib.request.Request(receiver, data, {"Content-Type": "application/json"})
        try:
            urllib.request.urlopen(request, timeout=_WITHIN_S).close()
        except (urllib.error.URLError, OSError) as error:
            raise HostError(f"{receiver} was not told of the end: {error}", "check the URL") from error
        return
    words = shlex.split(receiver)
    try:
        done = subprocess.run(words, input=data, timeout=_WITHIN_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise HostError(f"--notify {receiver} failed: {error}", "check the command") from error
    if done.returncode != 0:
        raise HostError(f"--notify {receiver} ended with exit status {done.returncode}", "check the command")
