"""`ssdlab meters`: the power meters that are found, and what they say now."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ssdlab.cli.output import print_json, print_line, print_table
from ssdlab.model.errors import LabError
from ssdlab.model.units import significant

if TYPE_CHECKING:
    from ssdlab.model.meter_text import MeterText


def meters(
    *meter: Annotated[str, Parameter(metavar="METER")],
    rig: Path | None = None,
    json: bool = False,
) -> None:
    """List power meters and show what each says now: those found here, that of the rig file, those named.

    Parameters
    ----------
    meter
        Meters to try, as for --meter: quarch:192.168.1.5:9722, scpi:10.0.0.7:5025.
    rig
        File that describes the test platform; by default ssdlab/rig.toml in the XDG config folder.
    json
        Print JSON, schema ssdlab.meters/1.
    """
    from ssdlab.host.rig import read_rig
    from ssdlab.model.meter_text import MeterText
    from ssdlab.power.kinds import KINDS, RECORDED, found_here

    texts = [MeterText.parse(each) for each in meter]
    noted = read_rig(rig).meter
    texts += [] if noted is None else [noted]
    named = {each.use for each in texts}
    texts += [MeterText.parse(each) for each in found_here() if each not in named]
    shown = [_look(text) for text in texts]
    kinds = {kind: entry[1] for kind, entry in KINDS.items()} | RECORDED
    if json:
        print_json({"schema": "ssdlab.meters/1", "meters": shown, "kinds": kinds})
        return
    if not shown:
        print_line("no meter was found here; name one, or put it into the rig file. Kinds:")
        print_table([(kind, what) for kind, what in kinds.items()])
        return
    print_table([_row(each) for each in shown], ("meter", "name", "rails", "samples/s", "error", "now"))


def _look(text: MeterText) -> dict[str, Any]:
    """Return what a meter is and says now; of one that cannot be had, why."""
    from ssdlab.power.kinds import RECORDED, check_kind, open_meter
    from ssdlab.power.recording import read_recording

    try:
        check_kind(text)
        if text.kind in RECORDED:
            recording = read_recording(text)
            seconds = float(recording.trace.end_ns[-1] - recording.trace.start_ns[0]) / 1e9
            mean = recording.trace.watts.mean(axis=0)
            reading = {"watts": mean.tolist(), "recorded_s": seconds}
            return {**recording.info.as_dict(), **reading}
        held = open_meter(text)
        try:
            samples = held.read(1.0)
            return {
                **held.info.as_dict(),
                "watts": samples.watts.mean(axis=0).tolist() if len(samples.time_ns) else None,
            }
        finally:
            held.close()
    except LabError as error:
        return {"use": text.use, "error": error.as_dict()}


def _row(shown: dict[str, Any]) -> tuple[object, ...]:
    if "error" in shown:
        return (shown["use"], shown["error"]["what"], "", "", "", "")
    share, offset = shown["accuracy"], shown["offset_w"]
    parts = ["" if share is None else f"{share * 100:g} %", "" if not offset else f"{offset:g} W"]
    watts = shown["watts"]
    now = "nothing" if watts is None else f"{significant(sum(watts))} W"
    recorded = f", mean of {significant(shown['recorded_s'])} s" if "recorded_s" in shown else ""
    return (
        shown["use"],
        shown["name"],
        ", ".join(shown["rails"]),
        significant(shown["rate_hz"]),
        " + ".join(filter(None, parts)) or "not known",
        now + recorded,
    )
