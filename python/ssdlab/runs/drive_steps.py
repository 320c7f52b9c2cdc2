"""Steps that change a drive without a workload: purge, trim and variant, each with its proof in its facts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Protocol, cast

from ssdlab.model.errors import DriveError
from ssdlab.results.records import StepResult
from ssdlab.results.schema import Departure

if TYPE_CHECKING:
    from pydantic import JsonValue

    from ssdlab.drives.base import Drive
    from ssdlab.drives.purge import PurgeMethodName
    from ssdlab.results.run_folder import Step
    from ssdlab.runs.conditions.keeper import ConditionKeeper


class Look(Protocol):
    """Called now and then while a step goes on, with how far it is; what it raises ends the waiting."""

    def __call__(self, phase: str = "") -> None:
        """Look on."""


def purge_step(drive: Drive, args: dict[str, JsonValue], look: Look) -> StepResult:
    """Purge, and record how it was proven: `purged`, and `record` as `PurgeRecord` has it.

    Continuing without a purge, or with a substitute for one, is a departure.
    """
    method = cast("PurgeMethodName | None", args.get("method"))
    try:
        record = drive.purge(method=method, on_progress=lambda progress: look(progress.text))
    except DriveError as error:
        if not args["if_able"] or error.facts.get("reason") != "no-purge":
            raise
        missed = Departure(code="not-purged", what="the drive was not purged", why=error.what)
        return StepResult(seconds=0.0, facts={"purged": False, "departures": [missed.model_dump()]})
    facts: dict[str, JsonValue] = {"purged": True, "record": _plain(record.as_dict())}
    if record.substitute:
        why = "what the host cannot address is not touched by it"
        stand_in = Departure(code="purge-substitute", what=f"purged by {record.method}", why=why)
        facts["departures"] = [stand_in.model_dump()]
    return StepResult(seconds=0.0, facts=facts)


def trim_step(drive: Drive, args: dict[str, JsonValue], look: Look) -> StepResult:
    """Trim, and record in `trim` what `TrimRecord` says; one that did not reach the device is a departure."""
    from ssdlab.drives.trim.trimming import reach_text

    start, length = (int(str(args[name])) for name in ("start", "length"))
    record = drive.trim(start, length, on_share=lambda share: look(f"{share:.0%}"))
    facts: dict[str, JsonValue] = {"trim": _plain(record.as_dict())}
    if record.reached_device is False:
        why = "a driver, a volume or a file system between did not pass it on"
        lost = Departure(code="trim-not-passed-on", what=reach_text(record), why=why)
        facts["departures"] = [lost.model_dump()]
    return StepResult(seconds=0.0, facts=facts)


def required_of(args: dict[str, JsonValue]) -> dict[str, str]:
    """Return the settings that a step asks for, by name."""
    required = args["required"]
    assert isinstance(required, dict)  # the lab made it
    return {name: str(wanted) for name, wanted in required.items()}


def variant_step(
    drive: Drive, conditions: ConditionKeeper, args: dict[str, JsonValue], look: Look
) -> StepResult:
    """Make the drive the variant under test: its settings, and free what is not used where that is allowed.

    What keeps the unused end from being spare, or its share from being comparable, is a departure.
    """
    result = conditions.bring_about(required_of(args), firm=True)
    usable = args["usable"]
    if not isinstance(usable, dict):
        return result
    departures = cast("list[JsonValue]", result.facts["departures"])
    if usable["of"] == "user capacity":
        share = f"{100 * float(str(usable['spare'])):.3g} %"
        why = "the raw capacity is not known: write raw_bytes into the drive's record"
        what = f"the spare of {share} is a share of the user capacity"
        departures.append(Departure(code="spare-of-user-capacity", what=what, why=why).model_dump())
    why = "the run only reads, or the drive is a file"
    facts = dict(result.facts)
    if usable["free"]:
        length = int(str(usable["length"]))
        rest = drive.capacity_bytes - length
        try:
            record = drive.trim(length, rest, on_share=lambda share: look(f"{share:.0%}")) if rest else None
            facts["trim"] = None if record is None else _plain(record.as_dict())
            why = "" if record is None or record.reached_device is not False else "the trim did not reach it"
        except DriveError as error:
            why = error.what
    if why:
        what = "what lies beyond the usable part was not freed: if it holds data, it is no spare"
        departures.append(Departure(code="spare-not-free", what=what, why=why).model_dump())
    return result.model_copy(update={"facts": {**facts, "departures": departures}})


def describe_step(step: Step) -> str | None:
    """Return in words what a purge or trim step yielded; None for other steps."""
    record = cast("dict[str, Any] | None", step.result.facts.get("record"))
    if step.verb == "purge":
        if record is None:
            return "not purged"
        sampling = record["sampling"]
        proof = "" if sampling is None else f", {sampling['marked']} marks written before, none left"
        return f"{record['method']}{proof}"
    trim = cast("dict[str, Any] | None", step.result.facts.get("trim"))
    if trim is None:
        return None
    reached = {
        True: "reached the device",
        False: "did not reach the device",
        None: "not known to have reached it",
    }
    reads = "" if trim["reads"] is None else f", reads {trim['reads']}"
    return f"{reached[trim['reached_device']]}{reads}"


def _plain(record: dict[str, Any]) -> JsonValue:
    """Return a record as the journal will give it back."""
    return cast("JsonValue", json.loads(json.dumps(record)))
