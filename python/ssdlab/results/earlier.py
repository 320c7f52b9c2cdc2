"""Converts results of ssdlab 0.2.0, whose figures had no evidence, to the current form.

The conversion is in memory only, so files and seals do not change. An unknown label counts as an unproven
state.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ssdlab.host.documents import Document

_CODES = {
    "failed I/O": "failed-io",
    "throttled by heat": "throttled",
    "paused": "paused",
    "not judged": "not-judged",
    "not shown beyond a cache": "within-cache",
    "state not shown": "state-unproven",
}
_HOST = "limited by the host"
_BOUND = "at least"
_MADE_UP = "the trace is made up"
_KNOWN = (
    *("quick: ", "shorter than the method asks for"),
    *("steady state was", "preconditioning: steady state", "whether the drive was in steady state"),
    *("the drive was not brought into steady state", "state moved", "whether the points are of one drive"),
    *("prepared by one random pass", "writes went to a span", "the drive was not purged before"),
    *("the host, not the drive", "the host took part", "busy and service times are not judged"),
    *("I/O failed, or drive or link", "the highest depth tried", "io_uring, one thread", "too few I/Os for"),
    *("no rate failed", "no load failed", "no rate of writing failed", "the trace is made up"),
)
"""Beginnings of caveats that findings, departures and qualifiers now express."""
_PREPARED = {"one-pass": "one-pass", "analytic": "placed"}
_DOUBTS = {"failed": "failed-io", "throttled": "throttled", "by_host": "host-limited"}
_JUDGED = {"rounds_mb_s", "fills", "held", "steady_from_s"}
"""Fields that only judgements of a drive's state have."""
_POINTS = {
    ("consistency", "spares"): "each",
    ("low-depths", "depths"): "all",
    ("mixed-random", "depths"): "each",
    ("peak-random-read", "depths"): "all",
    ("peak-sequential-read", "depths"): "all",
    ("qd1", "sizes"): "each",
    ("steady-random-write", "depths"): "all",
    ("steady-sequential-write", "depths"): "all",
}
"""Parameters that list points, with their value of `ParameterInfo.points`, which 0.2.0 did not store."""
_FRESH = ("fill", "consistency", "trim")
"""Kinds of results that begin with a purged drive."""
_BROUGHT_ABOUT = {
    "state prepared by one random pass": "one-pass",
    "state written over after one random pass": "one-pass",
    "state prepared, not written": "placed",
}
"""Codes of the states that medians named although they were proven."""
_TRIED = {
    "rate": re.compile(r"(\d+) (?:IOPS offered|MB/s paced)"),
    "rate beyond the cache": re.compile(r"(\d+) MB/s paced, beyond the cache"),
}


def tried_by(label: str) -> tuple[str, int] | None:
    """Return the search and the value that a step tried, from its label; None: it is part of no search."""
    found = ((search, form.fullmatch(label)) for search, form in _TRIED.items())
    return next(((search, int(match[1])) for search, match in found if match), None)


def manifest_as_of_now(manifest: Document) -> Document:
    """Return a stored manifest in the current form; caveats of its result become warnings."""
    manifest = _with_points(manifest)
    result = as_of_now(manifest.get("result"))
    if not isinstance(result, dict) or "caveats" not in result:
        return {**manifest, "result": result}
    caveats = [each for each in _listed(result["caveats"]) if not str(each).startswith(_KNOWN)]
    kept = {name: each for name, each in result.items() if name != "caveats"}
    warnings = [*_listed(manifest.get("warnings")), *({"code": "caveat", "what": each} for each in caveats)]
    return {**manifest, "result": kept, "warnings": warnings}


def _with_points(manifest: Document) -> Document:
    """Return a manifest whose parameters say whether they list points."""
    method = manifest.get("method")
    if not isinstance(method, dict) or not isinstance(parameters := method.get("parameters"), list):
        return manifest
    listed = [
        {**each, "points": found}
        if isinstance(each, dict)
        and "points" not in each
        and (found := _POINTS.get((str(method.get("name")), str(each.get("name")))))
        else each
        for each in parameters
    ]
    return manifest if listed == parameters else {**manifest, "method": {**method, "parameters": listed}}


def as_of_now(result: Document | None) -> Document | None:
    """Return a stored result in the current form; unchanged if it already has it."""
    if not isinstance(result, dict):
        return result
    if "caveats" in result:
        result = _with_doubts(result)
    figures, medians = result.get("scalars"), result.get("repeated")
    if result.get("kind") == "suite" and isinstance(medians, list):
        return {**result, "repeated": [_median(each) for each in medians]}
    if not isinstance(figures, list) or not any(map(_is_earlier, figures)):
        return result
    of_all = list(_of_result(result))
    return {**result, "scalars": [_converted(each, of_all) for each in figures]}


def _with_doubts(stored: Any) -> Any:  # noqa: ANN401 - as it is stored
    """Return stored content with a field `doubts` instead of one field for each kind of doubt."""
    if isinstance(stored, list):
        return [_with_doubts(each) for each in stored]
    if not isinstance(stored, dict):
        return stored
    found = [
        {"code": code, **({"why": stored[name]} if isinstance(stored[name], str) else {})}
        for name, code in _DOUBTS.items()
        if name in stored and (stored[name] is True or isinstance(stored[name], str))
    ]
    kept = {name: _with_doubts(each) for name, each in stored.items()}
    if not found or not stored.keys() & _JUDGED:
        return kept
    return {**{name: each for name, each in kept.items() if name not in _DOUBTS}, "doubts": found}


def _is_earlier(figure: object) -> bool:
    """Whether a figure has the old form: current figures have steps or qualifiers."""
    return isinstance(figure, dict) and not figure.keys() & {"steps", "qualifiers"}


def _of_result(result: Document) -> list[dict[str, Any]]:
    """Return the qualifiers that follow for all figures from a result's other fields."""
    proofs = result.get("steady")
    found = [each for each in (proofs if isinstance(proofs, list) else [proofs]) if isinstance(each, dict)]
    codes = [_PREPARED.get(str(each.get("preparation"))) for each in found if each.get("reached")]
    if any(str(each).startswith(_MADE_UP) for each in _listed(result.get("caveats"))):
        codes.append("example")
    if result.get("kind") in _FRESH and result.get("purged") is False:
        codes.append("not-fresh")
    return [{"code": code} for code in dict.fromkeys(codes) if code]


def _converted(figure: Any, of_all: list[dict[str, Any]]) -> Any:  # noqa: ANN401 - as it is stored
    if not _is_earlier(figure):
        return figure
    kept = {name: each for name, each in figure.items() if name not in ("unshown", "taken_at")}
    unshown, at = figure.get("unshown"), figure.get("taken_at")
    qualifiers = list(of_all)
    if unshown:
        qualifiers.insert(0, _qualifier(str(unshown)))
        if str(unshown).startswith(_BOUND):
            kept["bound"] = _BOUND
    if kept.get("value") is None and kept.get("unit") == "ns":
        qualifiers.append({"code": "few-samples"})
    if at and (load := _load(str(at))) is not None:
        kept["load"] = load
    elif at:
        qualifiers.insert(0, {"code": "state-unproven", "why": f"taken at {at}"})
    return {**kept, **({"qualifiers": qualifiers} if qualifiers else {})}


def _median(figure: Any) -> Any:  # noqa: ANN401 - as it is stored
    """Return a median of runs with the number of runs by qualifier, instead of the text `state`."""
    if not isinstance(figure, dict) or "state" not in figure:
        return figure
    runs = len(_listed(figure.get("values")))
    qualified = Counter[str]()
    for text in filter(None, str(figure["state"]).split("; ")):
        some = re.fullmatch(r"(.+) in (\d+) of \d+ runs", text)
        state, count = (some[1], int(some[2])) if some else (text, runs)
        code = _BROUGHT_ABOUT.get(state) or _qualifier(state)["code"]
        qualified[code] = min(qualified[code] + count, runs)
    kept = {name: each for name, each in figure.items() if name != "state"}
    return {**kept, "qualified": dict(qualified)}


def _qualifier(text: str) -> dict[str, Any]:
    if text in _CODES:
        return {"code": _CODES[text]}
    if text.startswith(_HOST):
        return {"code": "host-limited"}
    if text.startswith(_BOUND):
        return {"code": "search-ceiling"}
    return {"code": "state-unproven", "why": text}


def _load(text: str) -> dict[str, int] | None:
    found = re.fullmatch(r"depth (\d+)|TC(\d+) QD(\d+)", text)
    if found is None:
        return None
    if found[1]:
        return {"depth": int(found[1])}
    return {"threads": int(found[2]), "depth": int(found[3])}


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
