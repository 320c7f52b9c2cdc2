"""The file that keeps a simulated drive between commands (``state=FILE``).

The file is held exclusively from opening to close, by a lock file beside it. It is replaced as a whole, so it
always holds a complete state. A killed command leaves the state that it found.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ssdlab.drives.simulated.text import PROFILE_NAME, setting_as_written
from ssdlab.host.output_files import followed
from ssdlab.host.sysfs import is_folder
from ssdlab.model.errors import HostError, Refused, UsageError

if TYPE_CHECKING:
    import ssdlab._core as _core
    from ssdlab.drives.base import Drive


_LOCK_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
"""A link in the lock file's place is not followed: others may be able to write to the folder."""


class KeepableState:
    """The state of an open simulated drive; implements `ssdlab.drives.base.DriveState`."""

    def __init__(
        self,
        drive: _core.SimulatedDrive,
        identity: Mapping[str, str],
        *,
        lasting: bool,
        settle: Callable[[], None],
        like: Callable[[_core.SimulatedDrive], Drive],
    ) -> None:
        self._like = like
        self._drive = drive
        self._identity = dict(identity)
        self._lasting = lasting
        self._settle = settle

    @property
    def lasting(self) -> bool:
        return self._lasting

    def digest(self) -> str:
        """Return a short text that identifies the state; this takes about a millisecond."""
        return self._drive.digest()

    def save(self, path: Path) -> None:
        replace_state(self._drive, path, self._identity)

    def load(self, path: Path) -> None:
        load_state(self._drive, path, self._identity)

    def settle(self) -> None:
        self._settle()

    def place_steady(self) -> None:
        if not self._drive.place_steady():
            raise Refused(
                "the steady state of this drive cannot be computed: that needs an erased "
                "simulated drive with superblocks, without an SLC cache",
                "purge it first; if that is not enough, write the drive to steady state",
                reason="no-theory",
            )

    def copy(self, mark: object) -> Drive:
        return self._like(self._drive.begun_from(cast("_core.SimulatedState", mark)))

    def adopt(self, copy: Drive) -> None:
        state = copy.state
        assert isinstance(state, KeepableState)  # `copy` made it
        self._drive.adopt(state._drive)

    def mark(self) -> object:
        return self._drive.snapshot()

    def back(self, mark: object) -> None:
        self._drive.restore(cast("_core.SimulatedState", mark))


class StateFile:
    """A state file, held exclusively until `release`.

    Parameters
    ----------
    text
        Path as the user gave it; links of this user and of root are followed.
    identity
        What decides which drive it is: only the same drive can load the state.

    Raises
    ------
    UsageError
        Its folder does not exist.
    Refused
        Another process holds it (`reason` is ``state-held``), the path is not a file (``no-state``), or
        another user's link leads there (``foreign-link``).
    HostError
        The lock file cannot be created beside it.
    """

    def __init__(self, text: str, identity: Mapping[str, str]) -> None:
        self.path = followed(text)
        self._identity = dict(identity)
        if not is_folder(self.path.parent):
            raise UsageError(
                f"there is no folder {self.path.parent} for a drive's state",
                "create it, or name a file elsewhere",
                path=str(self.path),
            )
        if self.path.exists() and not stat.S_ISREG(self.path.stat().st_mode):
            raise Refused(
                f"{self.path} is not a file; a drive's state is kept in one",
                "name a file, or one that does not exist yet",
                reason="no-state",
                path=str(self.path),
            )
        self._lock_path = self.path.with_name(f".{self.path.name}.lock")
        self._lock = self._hold()

    @property
    def exists(self) -> bool:
        return self.path.exists()

    def take_up(self, drive: _core.SimulatedDrive) -> None:
        """Load the saved state into a drive.

        Raises
        ------
        Refused
            The state is torn, corrupt, of another format or of another drive. Drive and file are unchanged.
            `reason` says which of these it is, `setting` what differs.
        """
        load_state(drive, self.path, self._identity)

    def put_back(self, drive: _core.SimulatedDrive) -> None:
        """Replace the saved state by a drive's state, durably and atomically.

        Raises
        ------
        HostError
            The state could not be written; the file is unchanged.
        """
        replace_state(drive, self.path, self._identity)

    def release(self) -> None:
        """Remove the lock."""
        if self._lock < 0:
            return
        self._lock_path.unlink(missing_ok=True)
        os.close(self._lock)
        self._lock = -1

    def _hold(self) -> int:
        """Lock the lock file, and return its descriptor.

        The last holder may have removed the file that was opened. Then another file is in its place, or none,
        and the lock is taken again.
        """
        while True:
            try:
                descriptor = os.open(self._lock_path, _LOCK_FLAGS, 0o666)
            except OSError as error:
                raise _cannot(self.path, error) from error
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                os.close(descriptor)
                raise Refused(
                    f"the drive in {self.path} is in use by another process",
                    "wait until that ends, or use a copy of the file as another drive",
                    reason="state-held",
                    path=str(self.path),
                ) from error
            with contextlib.suppress(FileNotFoundError):
                if self._lock_path.stat().st_ino == os.fstat(descriptor).st_ino:
                    return descriptor
            os.close(descriptor)


def load_state(drive: _core.SimulatedDrive, path: Path, identity: Mapping[str, str]) -> None:
    """Load the state in a file into a drive.

    Raises
    ------
    Refused
        The state is damaged, or of another drive; see `StateFile.take_up`.
    """
    try:
        drive.load_state(path, dict(identity))
    except Refused as error:
        differs = error.facts.get("setting")
        if differs not in (PROFILE_NAME, "profile"):
            raise _of_another_setting(path, error) from error
        if PROFILE_NAME not in identity:
            raise
        there = _load_without_name(drive, path, identity)
        if there is None:
            return
        raise _of_another_profile(path, error, there, identity[PROFILE_NAME]) from error


def _of_another_setting(path: Path, error: Refused) -> Refused:
    """Return the error in the words of a drive's options, or unchanged if the file itself is wrong."""
    setting, found, asked = (error.facts.get(name) for name in ("setting", "found", "asked"))
    if setting is None:
        return error
    name, there = setting_as_written(str(setting), str(found))
    _, now = setting_as_written(str(setting), str(asked))
    why = f"{name} is {there} there, but {now} was requested"
    return Refused(f"{path} cannot be loaded: {why}", error.advice, **error.facts)


def _load_without_name(drive: _core.SimulatedDrive, path: Path, identity: Mapping[str, str]) -> str | None:
    """Load a state that an earlier version saved, without the name of its profile.

    Returns
    -------
    str or None
        None if the state is loaded. Else the profile's name in the file; empty if the file has none, and
        differs in something else.
    """
    try:
        drive.load_state(path, {name: value for name, value in identity.items() if name != PROFILE_NAME})
    except Refused as error:
        return str(error.facts["found"]) if error.facts.get("setting") == PROFILE_NAME else ""
    return None


def _of_another_profile(path: Path, error: Refused, there: str, asked: str) -> Refused:
    if there and there != asked:
        why = f"it has the profile {there}, but {asked} was requested"
        facts = {**error.facts, "setting": "profile", "found": there, "asked": asked}
        return Refused(f"{path} cannot be loaded: {why}", error.advice, **facts)
    digests = f"({error.facts['found']} there, {error.facts['asked']} now)"
    if there:
        why = f"the profile {asked} has changed since the state was saved {digests}"
        advice = "restore the old profile, or use another state file"
    else:
        why = f"it has another profile than {asked}, or another version of it {digests}"
        advice = error.advice
    return Refused(f"{path} cannot be loaded: {why}", advice, **error.facts)


def replace_state(drive: _core.SimulatedDrive, path: Path, identity: Mapping[str, str]) -> None:
    """Write a drive's state to a path, durably and atomically.

    Raises
    ------
    HostError
        The state could not be written; the old file is unchanged.
    """
    temporary = path.with_name(f".{path.name}.new")
    try:
        temporary.unlink(missing_ok=True)  # left by a killed process
        drive.save_state(temporary, dict(identity))
        temporary.replace(path)
        descriptor = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except (OSError, HostError) as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise _cannot(path, error) from error


def _cannot(path: Path, error: OSError | HostError) -> HostError:
    number = error.errno if isinstance(error, OSError) else error.facts.get("errno")
    reason = os.strerror(number) if isinstance(number, int) else str(error).splitlines()[0]
    return HostError(
        f"the state of the simulated drive cannot be kept in {path}: {reason}",
        "free space there, or check its permissions; the previous state is unchanged",
        path=str(path),
        errno=number,
    )
