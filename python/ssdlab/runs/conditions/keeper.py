"""Sets the conditions of a run, and restores them.

Each setting is read, its change recorded on disk (`ledger`), then set and read back. The last reading counts:
that the drive accepts a command proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ssdlab.drives.settings.finding import FOLLOWERS, HOST_WIDE, NAMES, PASSING
from ssdlab.lab.outcome import CONDITION_CODE
from ssdlab.lab.verbs.verb import Outcome
from ssdlab.model.errors import DriveError, HostError, LabError, Refused, Unsupported
from ssdlab.model.warnings import Warning
from ssdlab.results.records import StepResult
from ssdlab.results.schema import Departure, Warned
from ssdlab.runs.conditions.ledger import Change, Ended, Ledger, change_of

if TYPE_CHECKING:
    from pydantic import JsonValue

    from ssdlab.drives.base import Drive
    from ssdlab.drives.settings import Setting

_NO_MATTER = frozenset(NAMES) - {"write_cache", "power_state", "lba_format"}
"""Settings that a drive need not have: without a queue in front of it, nothing delays or merges its I/Os."""
_ORDER = ("lba_format", "scheduler")


def _outcome(name: str, wanted: str, value: str, before: str, after: str, remark: str | None) -> Outcome:
    return Outcome(name=name, wanted=wanted, value=value, before=before, after=after, remark=remark)


class ConditionKeeper:
    """The conditions of one run.

    Parameters
    ----------
    drive
        Open during the run.
    ledger
        The run's ledger.
    """

    def __init__(self, drive: Drive, ledger: Ledger) -> None:
        self._drive = drive
        self._ledger = ledger
        self._firm: dict[str, str] = {}

    def bring_about(self, required: Mapping[str, str], *, firm: bool = False) -> StepResult:
        """Set conditions and read them back.

        Parameters
        ----------
        required
            Wanted value of each setting by name.
        firm
            Whether the conditions define the variant under test; methods cannot change them then.

        Returns
        -------
        StepResult
            Facts: ``set`` (outcome of each), ``found`` (the kernel's settings afterwards), ``departures``.

        Raises
        ------
        Unsupported, DriveError, HostError
            A condition could not be set, or reads back otherwise. Only for firm conditions and those that
            lose the drive's data.
        """
        outcomes: list[Outcome] = []
        departures: list[Departure] = []
        for name in sorted(sorted(required), key=_order):
            must = firm or name == "lba_format"
            try:
                outcome = self._set(name, required[name], firm=firm)
            except (DriveError, HostError, Unsupported) as error:
                if must:
                    raise
                departures += self._missed(name, required[name], error)
                continue
            if not outcome.met and must:
                raise _lie(self._drive, outcome)
            if not outcome.met:
                departures.append(_departure(outcome, self._firm.get(name)))
            outcomes.append(outcome)
        return StepResult(
            seconds=0.0,
            facts={
                "set": [outcome.model_dump(mode="json") for outcome in outcomes],
                "found": self._conditions_before(),
                "departures": [departure.model_dump() for departure in departures],
                **self._geometry(outcomes),
            },
            warnings=tuple(_warned(outcome) for outcome in outcomes if outcome.remark is not None),
        )

    def again(self, outcomes: Iterable[Outcome], *, firm: bool) -> None:
        """Set again, in a later session, what a finished step had set.

        Raises
        ------
        Refused
            The namespace was formatted back, so the run's data is gone.
        DriveError, HostError
            A condition can no longer be set.
        """
        for outcome in outcomes:
            if firm:
                self._firm[outcome.name] = outcome.value
            if not outcome.met and outcome.after == outcome.before:
                continue  # the drive had not done it
            if self._drive.state is not None:
                continue  # the drive state that is kept with the run includes it
            setting = self._drive.setting(outcome.name)
            if setting.destroys and setting.read() != outcome.value:
                raise Refused(
                    f"{self._drive.identity.path} was formatted again during the run: what the run "
                    "wrote is lost",
                    "start a new run",
                    reason="formatted",
                    setting=outcome.name,
                )
            reached = self._change(setting, outcome.wanted, outcome.value)
            if reached.after != outcome.after:
                raise _lie(self._drive, reached)

    def lost(self) -> list[Departure]:
        """Return a departure for each setting that changed after the run had set it."""
        found = []
        for change in self._ledger.outstanding:
            if change.found is None or change.name in PASSING:
                continue  # set along with another setting, never set, or already ended by the next command
            now = self._read(change.name)
            if now != change.found:
                state = "cannot be read" if now is None else f"is {now}"
                found.append(
                    Departure(
                        code=f"{CONDITION_CODE}lost-{change.name}",
                        what=f"{_words(change.name)} was set to {change.found} and {state} at the end",
                        why="another program, or a reset of the drive, changed it during the run",
                    )
                )
        return found

    def put_back(self, *, finished: bool) -> list[Warned]:
        """Restore all settings, last change first; return warnings for those that cannot be restored.

        Parameters
        ----------
        finished
            Whether the run is finished. If not, `resume` needs the data: settings whose restoring loses it
            stay.
        """
        left = []
        for change in reversed(self._ledger.outstanding):
            if change.destroys and not finished:
                left.append(_left(change, "restoring it would lose the run's data"))
                continue
            try:
                ended = put_back(self._drive.setting(change.name), change)
                self._ledger.end(change, ended)
                if ended == "kept":
                    left.append(_left(change, "ssdlab does not create blocks with metadata"))
            except LabError as error:
                if self._gone(change):
                    self._ledger.end(change, "gone")
                    continue
                left.append(_left(change, error.what))
        return left

    def _set(self, name: str, wanted: str, *, firm: bool) -> Outcome:
        setting = self._drive.setting(name)
        value = setting.meant(wanted)
        if not firm and self._firm.get(name, value) != value:
            found = setting.read()
            return _outcome(name, wanted, value, found, found, None)
        outcome = self._change(setting, wanted, value)
        if firm:
            self._firm[name] = value
        return outcome

    def _change(self, setting: Setting, wanted: str, value: str) -> Outcome:
        before = setting.read()
        if before == value:
            self._read_back(setting.name)  # a killed session may have set it without recording the reading
            return _outcome(setting.name, wanted, value, before, before, setting.remark())
        for name in FOLLOWERS.get(setting.name, ()):
            found, change = self._read(name), self._ledger.find(name)
            if change is not None:
                self._ledger.follow(change, setting.name)
            elif found is not None:
                self._note(self._drive.setting(name), found, found, follows=setting.name)
        self._note(setting, before, value)
        try:
            setting.write(value)
        finally:
            self._read_back(setting.name)
        return _outcome(setting.name, wanted, value, before, setting.read(), setting.remark())

    def _read_back(self, name: str) -> None:
        """Record a setting's value: the kernel may have rounded it, or a refusal left it half changed."""
        change, found = self._ledger.find(name), self._read(name)
        if change is None or found is None:
            return
        # A drive that refuses, or only pretends to accept, leaves nothing to restore.
        if found == change.before and change.follows is None:
            self._ledger.end(change, "already back")
        else:
            self._ledger.read_back(change, found)

    def _gone(self, change: Change) -> bool:
        """Whether a setting is gone with its drive: an unplugged drive has lost its power, too."""
        return change.drive is not None and not change.destroys and not self._drive.attached

    def _note(self, setting: Setting, before: str, after: str, follows: str | None = None) -> None:
        if self._drive.state is not None:
            return  # a simulated drive's settings end with it, or are kept in its state
        who = None if setting.name in HOST_WIDE else self._drive.identity
        change = change_of(
            setting.name,
            None if who is None else who.consent_id,
            None if who is None else who.name,
            before=before,
            after=after,
            lasting=setting.lasting,
            destroys=setting.destroys,
            follows=follows,
        )
        self._ledger.note(change)

    def _read(self, name: str) -> str | None:
        try:
            return self._drive.setting(name).read()
        except LabError:
            return None

    def _missed(self, name: str, wanted: str, error: LabError) -> list[Departure]:
        """Return a departure for a condition that could not be set, unless it is met anyway or irrelevant."""
        found = self._drive.conditions()
        actual = getattr(found, name, None) if name in _NO_MATTER else self._read(name)
        no_matter = actual is None and isinstance(error, Unsupported) and name in _NO_MATTER
        if no_matter or str(actual) == wanted:
            return []
        state = "not known" if actual is None else str(actual)
        what = f"{_words(name)} is {state}; requested: {wanted}"
        return [Departure(code=f"{CONDITION_CODE}{name}", what=what, why=error.what)]

    def _conditions_before(self) -> JsonValue:
        found = self._drive.conditions()
        if found is None:
            return None
        facts = {name: getattr(found, name) for name in found.__dataclass_fields__}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in facts.items()}

    def _geometry(self, outcomes: Iterable[Outcome]) -> dict[str, JsonValue]:
        """Return the drive's size and block size if a format may have changed them."""
        if all(outcome.name != "lba_format" for outcome in outcomes):
            return {}
        drive = self._drive
        return {"capacity_bytes": drive.capacity_bytes, "logical_block_bytes": drive.logical_block_bytes}


def put_back(setting: Setting, change: Change) -> Ended:
    """Restore a setting, if it still has the run's value; formats with metadata are not restored.

    Raises
    ------
    DriveError, HostError, Unsupported
        The setting could not be restored.
    """
    now = setting.read()
    if now == change.before:
        return "already back"
    if not change.stands(now):
        return "changed since"
    if change.name == "lba_format" and not change.before.isdecimal():
        return "kept"
    setting.write(change.before)
    if (now := setting.read()) != change.before:
        raise DriveError(
            f"the {_words(change.name)} was put back to {change.before} but reads {now}",
            "set it with the drive's own tool",
            reason="setting-lies",
            setting=change.name,
        )
    return "put back"


def _order(name: str) -> int:
    """Return a sort key that puts first what resets other settings: a format, then the scheduler."""
    return _ORDER.index(name) if name in _ORDER else len(_ORDER)


def _words(name: str) -> str:
    return name.replace("_", " ")


def _lie(drive: Drive, outcome: Outcome) -> DriveError:
    name = _words(outcome.name)
    return DriveError(
        f"{drive.identity.path} confirmed its {name} as {outcome.value}, but reads {outcome.after}",
        "leave the setting out: the drive does not apply what it confirms",
        reason="setting-lies",
        setting=outcome.name,
        value=outcome.value,
        found=outcome.after,
    )


def _departure(outcome: Outcome, firm: str | None) -> Departure:
    why = "it was confirmed when set, but reads otherwise"
    if firm is not None:
        why = f"{firm} defines the drive variant under test"
    return Departure(
        code=f"{CONDITION_CODE}{outcome.name}",
        what=f"{_words(outcome.name)} is {outcome.after}; requested: {outcome.wanted}",
        why=why,
    )


def _warned(outcome: Outcome) -> Warned:
    return _from_catalogue("kernel-view", f"{_words(outcome.name)} is {outcome.after}: {outcome.remark}")


def _left(change: Change, why: str) -> Warned:
    return _from_catalogue("condition-left", f"{change.words}; left as it is: {why}")


def _from_catalogue(code: str, what: str) -> Warned:
    warning = Warning.of(code, what=what)
    return Warned(code=code, what=warning.what, advice=warning.advice)
