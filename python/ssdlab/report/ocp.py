"""Export of runs as records of OCP Test & Validation (output specification 2.0): JSON lines, by `ocptv`.

A run becomes a test run. Each finished step becomes a test step with its measurements, and the conclusion
becomes the last test step. Its measurements are the headline figures, with ratings and bounds as validators.
Findings and qualifiers are logs, and the method's verdict is the diagnosis. A missed rating is not a failure.
Each line has the time of its event, not of the export.
"""

from __future__ import annotations

import json
import math
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ssdlab.lab.outcome import findings_of, shown_by
from ssdlab.lab.rated_shares import rated_shares
from ssdlab.model.warning_texts import level_of
from ssdlab.report.runs import called
from ssdlab.report.source import is_unended
from ssdlab.results.claim import clause, sentence
from ssdlab.results.metric import united
from ssdlab.results.remarks import departure_text, gathered_departures

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ssdlab.report.source import Run
    from ssdlab.results.claim import Claim, Sense
    from ssdlab.results.records import Step

PACKAGE = "ocptv"
CONCLUSION = "conclusion"
_VERSION, _BEGINNING = b'{"schemaVersion": {"major": 2', b'"testRunStart": {"name": "ssdlab '
_SENSES: dict[Sense, str] = {
    "at least": "GREATER_THAN_OR_EQUAL",
    "at most": "LESS_THAN_OR_EQUAL",
    "under": "LESS_THAN",
}
_RATING_DIGITS = 12
"""Significant digits of a rating converted to a figure's unit, which removes rounding errors."""


def is_record(known: bytes) -> bool:
    return known.startswith(_VERSION) and _BEGINNING in known


def records_of(runs: Iterable[Run]) -> str:
    """Return the records of all runs, one after the other, as JSON lines.

    Each record starts with the specification's version.
    """
    tv: Any = import_module(f"{PACKAGE}.output")
    lines = _Lines()
    tv.config(writer=lines)
    try:
        for run in runs:
            _Record(tv, lines, run).write()
    finally:
        tv.config(writer=tv.StdoutWriter())
    return "".join(lines.written)


class _Lines:
    """Receives the lines that `ocptv` writes, and sets each line's time to that of its event."""

    def __init__(self) -> None:
        self.at = ""
        self.written: list[str] = []

    def write(self, buffer: str) -> None:
        self.written.append(json.dumps(json.loads(buffer) | {"timestamp": self.at}) + "\n")


class _Record:
    """Writes the record of one run; `tv` is the module of `ocptv`."""

    def __init__(self, tv: Any, lines: _Lines, run: Run) -> None:  # noqa: ANN401 - it exports no types
        self._tv, self._lines, self._run, self._manifest = tv, lines, run, run.manifest
        self._version = str(run.manifest.tool.get("version", ""))
        self._imported = str(run.manifest.tool.get("imported_from", ""))
        own = {"quick": run.manifest.quick, "seed": run.manifest.seed}
        self._test = tv.TestRun(
            f"ssdlab {run.manifest.method.name}",
            self._version,
            command_line="",  # not stored in a run
            parameters={**run.manifest.params, **({} if self._imported else own)},
        )
        self._dut = self._device()
        self._drive = self._hardware()

    def write(self) -> None:
        tv, manifest, test = self._tv, self._manifest, self._test
        self._lines.at = manifest.sessions[0].started
        test.start(dut=self._dut)
        self._log(test, "INFO", f"run {manifest.run_id}: {manifest.method.title}")
        for step in self._run.steps:
            self._step(step)
        self._lines.at = manifest.sessions[-1].ended or self._lines.at
        for why in self._run.voided:
            self._log(test, "WARNING", f"does not count: {why}")
        if is_unended(manifest):
            if manifest.failure is not None:
                self._error(test, manifest.failure.kind, manifest.failure.what)
            failed = manifest.status == "failed"
            status, result = (
                tv.TestStatus.ERROR if failed else tv.TestStatus.SKIP,
                tv.TestResult.NOT_APPLICABLE,
            )
        else:
            self._conclusion()
            failed = self._run.result.passed is False
            status, result = tv.TestStatus.COMPLETE, tv.TestResult.FAIL if failed else tv.TestResult.PASS
        test.end(status=status, result=result)

    def _device(self) -> Any:  # noqa: ANN401
        tv, drive = self._tv, called(self._manifest.drive)
        facts = {
            "drive": drive.text,
            "kind": drive.words,
            "capacity_bytes": drive.capacity_bytes,
            "logical_block_bytes": drive.logical_block_bytes,
        }
        known = {name: fact for name, fact in facts.items() if fact}  # sizes are not known for an import
        dut = tv.Dut(drive.id, drive.name, tv.Metadata(known))
        kernel = self._manifest.environment.get("kernel")
        release = kernel.get("release") if isinstance(kernel, dict) else None
        method = f"{self._manifest.method.name} {self._manifest.method.version}"
        for name, kind, version, revision in (
            ("drive firmware", "FIRMWARE", drive.identity.get("firmware"), None),
            ("Linux", "SYSTEM", release, None),
            ("ssdlab", "APPLICATION", self._version, method),
            ("measured by", "APPLICATION", self._imported, None),
        ):
            if version:
                kind_of = tv.SoftwareType[kind]
                dut.add_software_info(name, kind_of, version=str(version), revision=revision)
        return dut

    def _hardware(self) -> Any:  # noqa: ANN401
        drive = called(self._manifest.drive)
        known = {name: None if value is None else str(value) for name, value in drive.identity.items()}
        return self._dut.add_hardware_info(
            drive.name,
            revision=known.get("firmware"),
            location=known.get("path"),
            serial_no=known.get("serial"),
            manufacturer_part_no=known.get("model"),
        )

    def _step(self, step: Step) -> None:
        summary = step.summary
        self._lines.at, ended = self._run.times[step.ordinal]
        made = self._begun(step.label or step.verb)
        self._lines.at = ended
        for direction, side in {} if summary is None else summary.sides.items():
            self._measured(made, f"{direction}_iops", side.iops, "IOPS")
            self._measured(made, f"{direction}_mb_s", side.mb_s, "MB/s")
            for clock, times_ns in (("service", side.service_ns), ("response", side.response_ns)):
                for key, value in times_ns.items():
                    self._measured(made, f"{direction}_{clock}_{key}", value, "ns")
        if summary is not None:
            self._measured(made, "mean_power", summary.mean_w, "W")
            if summary.failed:
                first = summary.first_failure
                self._error(
                    made, "failed-io", f"{summary.failed} I/Os failed" if first is None else first.words
                )
        for each in step.result.warnings:
            severity = "WARNING" if level_of(each.code) == "alarm" else "INFO"
            self._log(made, severity, f"{each.code}: {each.what}")
        made.end(status=self._tv.TestStatus.COMPLETE)

    def _conclusion(self) -> None:
        tv, result = self._tv, self._run.result
        made = self._begun(CONCLUSION)
        limits = self._ratings()
        for figure in result.scalars:
            about = {"label": figure.label, "better": figure.better, "qualifiers": list(figure.codes)}
            limit = limits.get(figure.name)
            if not self._measured(made, figure.name, figure.value, figure.unit, limit, **about):
                self._log(made, "WARNING", f"{figure.name} has no value: {figure.marked}")
        for claim in findings_of(shown_by(result, self._manifest.method.name), result):
            limit = self._bound(claim)
            if claim.figure is not None and limit is not None:
                self._measured(made, clause(claim), claim.figure.value, claim.figure.unit, limit)
            self._log(made, "INFO", sentence(claim))
        for each in united(own for figure in result.scalars for own in figure.qualifiers):
            named = ", ".join(figure.name for figure in result.scalars if each.code in figure.codes)
            severity = "WARNING" if each.kind.forbids else "INFO"
            self._log(made, severity, f"{each.label}: {each.kind.sentence} ({named})")
        for departure in gathered_departures(self._manifest):
            self._log(made, "INFO", f"departure: {departure_text(departure)}")
        verdict = {True: "PASS", False: "FAIL", None: "UNKNOWN"}[result.passed]
        made.add_diagnosis(
            tv.DiagnosisType[verdict],
            verdict=f"{self._manifest.method.name}-{verdict.lower()}",
            message="" if result.passed is not None else "the method gives no verdict, or could not",
            hardware_info=self._drive,
            source_location=None,
        )
        made.end(status=tv.TestStatus.COMPLETE)

    def _ratings(self) -> dict[str, Any]:
        """Return a validator for each figure that has a rating, in the figure's unit."""
        found: dict[str, Any] = {}
        for each in rated_shares(self._run.result.scalars, self._manifest.ratings):
            rated = float(f"{(each.figure.value or 0.0) / each.share:.{_RATING_DIGITS}g}")
            about = {"source": each.rated.source, "state": each.rated.state or "not said"}
            sense: Sense = "at least" if each.above_is_better else "at most"
            found[each.figure.name] = self._limit(sense, rated, f"rated {each.rated.metric}", about)
        return found

    def _bound(self, claim: Claim) -> Any:  # noqa: ANN401
        bound = claim.bound
        if bound is None or bound.amount.value is None or not math.isfinite(bound.amount.value):
            return None
        return self._limit(bound.sense, bound.amount.value, str(bound), None)

    def _limit(self, sense: Sense, value: float, name: str, about: dict[str, str] | None) -> Any:  # noqa: ANN401
        tv = self._tv
        metadata = None if about is None else tv.Metadata(about)
        return tv.Validator(type=tv.ValidatorType[_SENSES[sense]], value=value, name=name, metadata=metadata)

    def _begun(self, name: str) -> Any:  # noqa: ANN401
        made = self._test.add_step(name)
        made.start()
        return made

    def _measured(
        self,
        step: Any,  # noqa: ANN401
        name: str,
        value: float | None,
        unit: str,
        limit: Any = None,  # noqa: ANN401
        **about: object,
    ) -> bool:
        """Emit a measurement of the drive; return whether there was a value."""
        if value is None or not math.isfinite(value):
            return False
        step.add_measurement(
            name=name,
            value=value,
            unit=unit,
            validators=[] if limit is None else [limit],
            hardware_info=self._drive,
            metadata=self._tv.Metadata(about) if about else None,
        )
        return True

    def _log(self, of: Any, severity: str, message: str) -> None:  # noqa: ANN401
        of.add_log(self._tv.LogSeverity[severity], message, None)

    def _error(self, of: Any, symptom: str, message: str) -> None:  # noqa: ANN401
        of.add_error(symptom=symptom, message=message, source_location=None)
