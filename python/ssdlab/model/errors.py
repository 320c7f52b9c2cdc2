"""The errors of ssdlab. Each says what is wrong and what to do, and has the facts as fields.

`of_python` converts Python's errors. After each class comes its exit status:

    LabError                    70   a fault of this program, unless a subclass says otherwise
    ├── UsageError               2   the command or call contradicts itself, or names what does not exist
    ├── Refused                  2   the request is clear, but it is unsafe, or its result would mislead
    │   └── Unsupported          2   this kind of drive cannot do it
    ├── DriveError               3   the drive failed, or cannot do what was requested
    ├── HostError                3   the host, its kernel or its disks failed or lack something
    ├── Interrupted            130   stopped by a signal; `.measurement` is what was measured until then
    └── VerdictFailed            1   everything ran, and the verdict is: failed

Libraries raise these and never print or exit. The command line prints `what` on one line and `advice` on the
next.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from ssdlab.model.limits import MESSAGE_CHARACTERS, SHOWN_CHARACTERS
from ssdlab.model.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sized
    from pathlib import Path


class Measured(Protocol):
    """The part of `Measurement` that errors use; its module imports this one."""

    def as_dict(self) -> dict[str, Any]: ...


class LabError(Exception):
    """An error that says what to do.

    Parameters
    ----------
    what
        What is wrong, in one line without a full stop.
    advice
        What to do about it, in one line.
    facts
        The values of the message, for programs. Each is also an attribute, such as ``errno``, ``device``,
        ``operation``, ``offset`` and ``length`` of a failed I/O.
    measurement
        What was measured before the error, if a run had started.
    """

    kind: ClassVar[str] = "internal"
    """Name of the error in `--json`; a subclass without its own inherits it."""
    exit_status: ClassVar[int] = 70
    """Exit status of the command line."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "kind" in cls.__dict__ and KINDS.setdefault(cls.kind, cls) is not cls:
            raise TypeError(
                f"{cls.__qualname__} and {KINDS[cls.kind].__qualname__} both have the kind {cls.kind!r}"
            )

    def __init__(
        self, what: str, advice: str, *, measurement: Measured | None = None, **facts: object
    ) -> None:
        super().__init__(what)
        self.what = what
        self.advice = _one_line(advice)
        self.facts: dict[str, Any] = dict(facts)
        self.measurement = measurement

    @property
    def what(self) -> str:
        return self._what

    @what.setter
    def what(self, text: str) -> None:
        self._what = _one_line(text)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - a fact may be anything
        """Return a fact by its name."""
        facts = self.__dict__.get("facts", {})
        if name in facts:
            return facts[name]
        raise AttributeError(f"{type(self).__name__} has no fact {name!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        # By default an exception is unpickled from `args` alone, but these classes also need an advice. The
        # measurement is not pickled, because it holds arrays of this process.
        return _again, (type(self), self.args), {**self.__dict__, "measurement": None}

    def __str__(self) -> str:
        return f"{self.what}\n{self.advice}" if self.advice else self.what

    def as_dict(self) -> dict[str, Any]:
        """Return the error as `--json` prints it, with what was measured before it."""
        described: dict[str, Any] = {
            "error": self.kind,
            "what": self.what,
            "advice": self.advice,
            "facts": {name: _plain(value) for name, value in self.facts.items()},
            "exit_status": self.exit_status,
        }
        if self.measurement is not None:
            described["measurement"] = self.measurement.as_dict()
        return described


def _again(kind: type[LabError], args: tuple[object, ...]) -> LabError:
    return kind.__new__(kind, *args)


KINDS: dict[str, type[LabError]] = {LabError.kind: LabError}
"""Every error class by its name in JSON, for `error_of`."""


class UsageError(LabError):
    """The request contradicts itself, is out of bounds, or names something that does not exist."""

    kind = "usage"
    exit_status = 2


class Refused(LabError):
    """The request is clear, but it could write to the wrong drive, or give a misleading figure."""

    kind = "refused"
    exit_status = 2


class Unsupported(Refused):
    """The kind of drive cannot do what a verb requests; nothing was touched."""

    kind = "unsupported"


class DriveError(LabError):
    """The drive failed, or cannot do what was requested."""

    kind = "drive"
    exit_status = 3


class HostError(LabError):
    """The host failed or lacks something: a full disk, a limit, a missing feature of the kernel."""

    kind = "host"
    exit_status = 3


class LeaseLost(HostError):
    """The lease on a run was not renewed in time: the process leaves the run as it is."""

    kind = "lease"


class Interrupted(LabError):
    """A signal stopped the work, after draining I/O in flight; `measurement` has the figures until then."""

    kind = "interrupted"
    exit_status = 130


class VerdictFailed(LabError):
    """Everything ran, but the verdict is a fail."""

    kind = "verdict"
    exit_status = 1


def error_of(described: Mapping[str, Any]) -> LabError:
    """Return the error that another process sent with `as_dict`.

    Raises
    ------
    LookupError
        `described` is not an error, or its class is unknown.
    """
    return KINDS[described["error"]](described["what"], described["advice"], **described["facts"])


_OPERATION = re.compile(r"(rand)?(read|write|rw|readwrite|trim|trimwrite)")
_OF_FIO = {
    **dict.fromkeys(("libaio", "io_uring", "posixaio"), "uring"),
    **dict.fromkeys(("psync", "pvsync", "pvsync2", "vsync"), "sync"),
}
"""Engines by fio's names (fio(1), ioengine): asynchronous, or one I/O at a time in each thread."""
_SHORT = {"r": "read", "w": "write", "t": "trim"}
"""Operations by first letter, alone or after `rand`. By similarity alone, `r` and `w` would give `rw`."""
_RANDOM = re.compile(r"(?:random|ra?nd)[-_ ]?")
_AS_LIKE = 0.1
"""Names whose `difflib` ratio is less than this below the best ratio may be meant as well."""


def nearest(word: str, known: Iterable[str], *, at_least: float = 0.5) -> str | None:
    """Return the known name most similar to `word`, or None.

    `at_least` is the required similarity, 0 to 1 (`difflib`'s ratio). A fio word gives its equivalent or
    None. A misspelt operation never gives a different operation.

    >>> nearest("readwrite", ["rw", "randwrite"]), nearest("trimwrite", ["write", "trim"])
    ('rw', None)
    """
    import difflib  # only an error needs it

    word = word.casefold()
    folded = {name.casefold(): name for name in known}
    for same in (word, _OF_FIO.get(word, "")):
        if same in folded:
            return folded[same]
    operations = {_operation(name): name for name in folded if _operation(name)}
    if operations and (asked := _operation(_in_full(word))):
        return folded.get(operations.get(asked, ""))
    names = [*folded, *(("readwrite", "trimwrite", "randtrimwrite") if operations else ())]
    close = difflib.get_close_matches(word, names, n=3, cutoff=at_least)
    if not close:
        return None
    likes = [difflib.SequenceMatcher(None, each, word).ratio() for each in close]
    meant = {_operation(each) for each, like in zip(close, likes, strict=True) if like >= likes[0] - _AS_LIKE}
    if operations and len(meant) > 1:
        return None
    likest = _operation(close[0])
    if operations and likest.endswith("readwrite") and not {"r", "w"} <= set(_RANDOM.sub("", word, count=1)):
        return None  # a word for one operation must not suggest two
    return folded.get(operations[likest] if likest in operations else close[0])


def _in_full(word: str) -> str:
    """Return the whole word for an operation given by its first letter, and any other word unchanged."""
    rand = _RANDOM.match(word)
    short = _SHORT.get(word[rand.end() :] if rand else word)
    return word if short is None else f"{'rand' if rand else ''}{short}"


def _operation(name: str) -> str:
    """Return the operation that a fio word means, the same for synonyms; empty if it means none."""
    found = _OPERATION.fullmatch(name)
    return "" if found is None else (found[1] or "") + {"rw": "readwrite"}.get(found[2], found[2])


def unknown(noun: str, word: str, known: Iterable[str], *, elsewhere: str = "") -> UsageError:
    """Return the error for a name that does not exist, with the nearest existing name as advice.

    Parameters
    ----------
    noun
        The kind of name: ``method``, ``option``, ``unit``.
    word
        The name that was given.
    known
        The names that exist.
    elsewhere
        Where to see all names, as a phrase for the advice (``see `ssdlab methods` ``); by default they are
        listed.
    """
    names, word = list(known), excerpt(word)
    guess = nearest(word, names)
    rest = elsewhere or f"known: {', '.join(names)}"
    advice = f"did you mean {guess}? ({rest})" if guess else rest
    return UsageError(f"there is no {noun} {word!r}", advice, given=word, nearest=guess)


_OF_THE_NAME = frozenset(
    {errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.EINVAL, errno.EEXIST}
    | {errno.EACCES, errno.EPERM, errno.ENXIO, errno.ENODEV, errno.ENOTEMPTY}
)
"""Error numbers that mean a wrong file name or a missing permission, not a fault of the host."""


def check_schema(found: object, known: str, path: Path) -> None:
    """Refuse a file whose schema is not `known`, such as `ssdlab.run/1`, or an older version of it.

    Raises
    ------
    Refused
        The schema is another, or newer; it is the fact `schema`.
    """
    family, _, ours = known.rpartition("/")
    theirs = str(found).removeprefix(family + "/")
    numbered = theirs.isascii() and theirs.isdigit() and not theirs.startswith("0")
    if not str(found).startswith(family + "/") or not numbered:
        raise Refused(
            f"{path} is not a {family} file: its schema is {found!r}",
            "name a run folder that ssdlab wrote",
            path=str(path),
            schema=str(found),
        )
    if len(theirs) > len(ours) or int(theirs) > int(ours):
        raise Refused(
            f"{path} was written by a newer ssdlab: its schema is {found}, this ssdlab reads up to {known}",
            "use the ssdlab that wrote it, or a newer one",
            path=str(path),
            schema=str(found),
            known=known,
        )


def of_os(error: OSError, what: str, advice: str, **facts: Any) -> UsageError | HostError:  # noqa: ANN401
    """Return the error for a failed system call on a file that the user named.

    A wrong name is a usage error; a failed or full disk is a host error.
    """
    sort = UsageError if error.errno in _OF_THE_NAME else HostError
    return sort(f"{what}: {error.strerror or error}", advice, errno=error.errno, **facts)


def errno_text(number: int) -> str:
    """Return the error number of a failed I/O in words; 0 is a short transfer.

    >>> errno_text(5), errno_text(0)
    ('EIO: Input/output error', 'short: the transfer ended early')
    """
    if not number:
        return "short: the transfer ended early"
    return f"{errno.errorcode.get(number, number)}: {os.strerror(number)}"


def excerpt(text: str, max_characters: int = SHOWN_CHARACTERS) -> str:
    """Return a text for a message; a long one is cut to its start and end.

    >>> excerpt("9" * 400, 20)
    '999999999 ... 999999999 (400 characters)'
    """
    if len(text) <= max_characters:
        return text
    end = max(1, max_characters // 2 - 1)
    return f"{text[:end]} ... {text[-end:]} ({len(text)} characters)"


def _one_line(text: str) -> str:
    """Return text on one line; repeated spaces stay, since a name may have them."""
    return excerpt(printable(re.sub(r" *[^\S ]\s*", " ", text.strip())), MESSAGE_CHARACTERS)


def _plain(value: object) -> object:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in value.items()}
    return str(value)


_FILES = ("this process has reached its limit of open files", "raise its limit: ulimit -n 1024")
_MEMORY = ("there is not enough memory", "stop other work, ask for less at once, or raise ulimit -v")
_THREADS = ("no more threads can be started", "stop other work, or raise ulimit -u and -v")
_FULL = ("the file system is full", "free some space there")
_BY_NUMBER = {
    errno.EMFILE: _FILES,
    errno.ENFILE: ("the host is out of open files", "stop programs that hold many, or raise fs.file-max"),
    errno.ENOMEM: _MEMORY,
    errno.ENOSPC: _FULL,
    errno.EDQUOT: ("the quota of this user is used up", "free some space there"),
}
_BY_WORDS = {
    "Too many open files": _FILES,
    "Out of Memory": _MEMORY,
    "Cannot allocate memory": _MEMORY,
    "Allocation failure": _MEMORY,
    "bad allocation": _MEMORY,
    "std::bad_alloc": _MEMORY,
    "failed to map segment": _MEMORY,
    "can't start new thread": _THREADS,
    "Resource temporarily unavailable": _THREADS,
    "No space left": _FULL,
}
"""Shortages by text, for errors without a number: from DuckDB, module imports and thread starts."""


def shortage_of(error: BaseException, path: object = None) -> HostError | None:
    """Return the error for a resource shortage, if another error shows one.

    Parameters
    ----------
    error
        An error of the system, of a library or of ssdlab.
    path
        The file being read or written.
    """
    if isinstance(error, LabError) and error.facts.get("shortage"):
        return error if isinstance(error, HostError) else None
    found = _words(error)
    if found is None:
        return None
    what, advice = found
    named = path or getattr(error, "filename", None)
    at = "" if named is None else f" ({os.fsdecode(named) if isinstance(named, bytes) else named})"
    number = error.facts.get("errno") if isinstance(error, LabError) else getattr(error, "errno", None)
    return HostError(what + at, advice, shortage=True, errno=number)


def raise_shortage(error: BaseException, path: object = None) -> None:
    """Raise the error for a shortage, if any; the caller treats other errors as damage.

    Raises
    ------
    HostError
        `error` shows a shortage.
    """
    if (found := shortage_of(error, path)) is not None:
        raise found from error


def _words(error: BaseException) -> tuple[str, str] | None:
    if isinstance(error, MemoryError):
        return _MEMORY
    if isinstance(error, LabError):
        return _BY_NUMBER.get(error.facts.get("errno") or 0)
    if isinstance(error, OSError) and error.errno is not None:
        return _BY_NUMBER.get(error.errno)
    text = str(error)
    return next((found for words, found in _BY_WORDS.items() if words in text), None)


TRACEBACK_VARIABLE = "SSDLAB_TRACEBACK"
"""If set, errors are shown with their traceback."""
_NO_MEMORY = "not enough memory for the simulated drive"
"""Start of the native message if there is no memory for a simulated drive's tables (`flash/memory.rs`)."""


def of_python(error: BaseException) -> LabError | None:
    """Return the ssdlab error for any exception; None for an exception that ends the process."""
    if isinstance(error, LabError):
        return error
    if isinstance(error, KeyboardInterrupt):
        return stopped()
    if isinstance(error, SystemExit | GeneratorExit):
        return None
    if (short := shortage_of(error)) is not None:
        return short
    if isinstance(error, OSError):
        return _of_system(error)
    if type(error).__name__ == "PanicException" and str(error).startswith(_NO_MEMORY):
        return HostError(str(error), "make it smaller with scale=N, or stop other work")
    if isinstance(error, RecursionError):
        return UsageError("the input is nested too deeply", "write it with fewer levels")
    if isinstance(error, UnicodeError):
        return UsageError(f"the input is not UTF-8 text: {error}", "correct that part")
    return _fault_of_ours(error)


def _fault_of_ours(error: BaseException) -> LabError:
    """Return an internal error; if a method's code failed, the error names its file and line."""
    reason = excerpt(f"{type(error).__name__}: {str(error).partition(chr(10))[0]}", 300)
    place, at = None, error.__traceback__
    while at is not None:
        package, _, folder = at.tb_frame.f_globals.get("__name__", "").partition("ssdlab.methods.")
        if not package and folder:
            place = (folder.partition(".")[0], at.tb_frame.f_code.co_filename, at.tb_lineno)
        at = at.tb_next
    if place is not None:
        folder, file, line = place
        return LabError(
            f"method folder {folder} failed at {file}:{line}: {reason}",
            f"fix it; {TRACEBACK_VARIABLE}=1 shows the whole traceback",
            method=folder,
        )
    return LabError(
        f"internal error: {reason}",
        f"please report it, with the command and its output under {TRACEBACK_VARIABLE}=1",
    )


STOPPED_ADVICE = "run it again; if it was a run, resume it"


def stopped() -> Interrupted:
    """Return the error for work that was ended by a signal."""
    return Interrupted("stopped by a signal", STOPPED_ADVICE)


def _of_system(error: OSError) -> LabError:
    named = error.filename if error.filename2 is None else error.filename2
    what = "a system call failed" if named is None else excerpt(os.fsdecode(named))
    advice = "check the name, and what is there"
    if error.errno in {errno.EACCES, errno.EPERM}:
        advice = "permission denied: ask its owner, or name another place"
    if not named:
        advice = "check the kernel log"
    return of_os(error, what, advice, path=None if named is None else os.fsdecode(named))


@contextmanager
def of_drive(drive: str, drives: Sized) -> Iterator[None]:
    """Put the drive, as the user wrote it, before an error's text if there are several drives."""
    try:
        yield
    except LabError as error:
        if len(drives) > 1 and drive not in error.what:
            error.what = f"{drive}: {error.what}"
        raise
