"""A job as a TOML file writes it."""

from __future__ import annotations

import tomllib

from ssdlab.methods.job_steps import JobStep
from ssdlab.model.errors import LabError, UsageError, unknown


def read_steps(text: str, name: str) -> tuple[JobStep, ...]:
    """Read the steps of a job from TOML text: `[[step]]` tables with `do`, perhaps `label`, and options.

    Raises
    ------
    UsageError
        Not TOML, no steps, an unknown step or option (with the nearest).
    Refused
        A step that this version cannot do.
    """
    try:
        stored = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{name} is not TOML: {error}", "correct that line") from error
    if other := next((key for key in stored if key != "step"), None):
        raise unknown("table", other, ("step",), elsewhere="a job is a list of [[step]] tables")
    listed = stored.get("step")
    if not isinstance(listed, list) or not listed:
        raise UsageError(f"{name} has no steps", "add [[step]] tables, each with do = ...")
    steps = []
    for number, table in enumerate(listed, start=1):
        if not isinstance(table, dict) or "do" not in table:
            raise UsageError(f"step {number} of {name} does not say what to do", 'add a line: do = "run"')
        options = {key.replace("-", "_"): v for key, v in table.items() if key not in ("do", "label")}
        try:
            steps.append(JobStep(do=table["do"], label=str(table.get("label", "")), options=options))
        except LabError as error:
            error.what = f"step {number} of {name}: {error.what}"
            error.facts["step"] = number
            raise
    return tuple(steps)
