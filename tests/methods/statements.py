"""What a run says, and whether its own steps bear it out: read from the journal and the rows alone.

Nothing here asks the program how it came to a sentence: what was written, how fast the rows were and how long
steps lasted is worked out anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from methods.on_simulated import proofs_of, rateable
from ssdlab.lab.outcome import findings_of, read_result, shown_by
from ssdlab.lab.rated_shares import rated_shares
from ssdlab.report.runs import shown
from ssdlab.report.sections.provenance import what_was_done
from ssdlab.report.sections.top import every
from ssdlab.report.source import Run, read_run
from ssdlab.report.view import Section
from ssdlab.results.claim import Claim, sentence
from ssdlab.results.drive_states import PREPARED
from ssdlab.results.kind import loaded
from ssdlab.results.remarks import departure_text, gathered_departures, label_of
from ssdlab.results.run_folder import RunFolder, Step

NOT_CLAIMED = re.compile(
    r"not judged|not assessed|not preconditioned|"
    r"\bNOT\b|\bnot steady\b|no steady state|state unproven|not brought|not reached|not shown|"
    r"not be steady|too few|without steady"
)
"""What a sentence with "steady" in it says that claims no steady state."""
TIME = re.compile(r"(?<![\w.])(\d[\d,]*(?:\.\d+)?) (µs|ms|s|min|h)\b(?! \d)")
UNITS = {"µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
VIEW = re.compile(r"\S+ \S+ on each side of the change")
"""How much of a chart is shown, which is no time that anything took."""
COUNTED_ROUNDS = re.compile(r"(?<![\w.])(\d+) rounds?\b")
CAPACITIES = re.compile(r"(?<![\w.(])(\d[\d,]*(?:\.\d+)?) (?:capacities|drive writes)")
OF_THE_METHOD = re.compile(r"(?:instead of|asks for|at least|at most|under|over|from|within|judges) [^,;]*")
"""What a sentence holds a measured time against."""
SETTING = re.compile(r"([a-z][a-z ]*) (\d[\d.e+]*) (\w+) instead of ")
"""How a shortened run names each parameter that is not as the method has it."""
DEPARTED = re.compile(r"[a-z ]+: [\d.]+ \w+, not [\d.]+ \w+")
"""How a departure names such a parameter: what was set and what is asked for, which nothing need take."""
SLACK = 0.2 + 1e-9
"""By which later rows may leave a window."""


@dataclass(frozen=True)
class Told:
    """A finished run and all that it says."""

    path: Path

    @cached_property
    def folder(self) -> RunFolder:
        return RunFolder(self.path)

    @cached_property
    def run(self) -> Run:
        return read_run(self.path)

    @cached_property
    def result(self) -> Any:
        return read_result(self.folder)

    @cached_property
    def steps(self) -> dict[int, Step]:
        return {step.ordinal: step for step in self.folder.steps()}

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        kind = shown_by(self.result, self.folder.manifest.method.name)
        return findings_of(kind, self.result) if kind.terminal is None else ()

    @cached_property
    def page_texts(self) -> list[str]:
        """Headings and leads of the page, what its cards say, and what it says was done."""
        (placed,) = shown([self.run])
        kind = shown_by(self.result, self.folder.manifest.method.name)
        section: Section = loaded(kind.section)([placed])
        return [
            *(text for row in every([placed]).rows for text in (row[1].text, row[2].text)),
            *section.lead,
            *(text for figure in section.figures for text in (figure.title, figure.lead)),
            *(exhibit.title for exhibit in section.exhibits),
            *what_was_done(self.run.steps, self.folder.manifest.drive.capacity_bytes),
        ]

    @property
    def labels(self) -> list[str]:
        """Headline figures, what is the matter with them, and captions."""
        kind = shown_by(self.result, self.folder.manifest.method.name)
        tables = () if kind.terminal is not None else loaded(kind.tables)(self.result)
        return [
            *(each.marked for each in self.result.scalars),
            *(each.why for figure in self.result.scalars for each in figure.qualifiers),
            *(t.caption for t in tables),
        ]

    def faults(self) -> list[str]:
        """Return every sentence that the steps do not bear out, with the reason."""
        name = f"{self.folder.manifest.method.name} on {self.folder.manifest.drive.text}"
        found = [
            *self._states(),
            *self._figures(),
            *self._scalars(),
            *self._times(),
            *self._counts(),
            *self._ratings(),
        ]
        return [f"{name}, seed {self.folder.manifest.seed}: {fault}" for fault in found]

    # --- steady state ---------------------------------------------------------------------------------

    def _states(self) -> Iterator[str]:
        for claim in self.claims:
            said = sentence(claim)
            if "steady" not in said.lower() or NOT_CLAIMED.search(said):
                continue
            if claim.figure is None and claim.bound is None and "steady" not in claim.says:
                continue
            if not claim.evidence.steps:
                yield f"steady without evidence: {said}"
                continue
            last = max(claim.evidence.steps)
            capacities = self.written_by(last)
            if capacities < 0.99 and not self.placed_before(last):
                yield f"steady after {capacities:.3g} capacities: {said}"
            hot = [step for at in claim.evidence.steps if warned_of_heat(step := self.steps[at])]
            if hot:
                yield f"steady, and heat slowed the drive in {hot[0].label!r}: {said}"
            if self.placed_before(last) and PREPARED not in said.lower():
                yield f"steady, and not called {PREPARED}: {said}"
            yield from self._left(claim, said)

    def placed_before(self, ordinal: int) -> bool:
        """Whether a steady state was placed before the end of a step, and not purged away since."""
        earlier = [each for each in self.steps.values() if each.ordinal <= ordinal]
        verbs = [each.verb for each in sorted(earlier, key=lambda each: each.ordinal)]
        return "place" in verbs and "purge" not in verbs[verbs.index("place") :]

    def written_by(self, ordinal: int) -> float:
        """Capacities of the part in use that were written by the end of a step since the last purge."""
        total, used = 0, self.folder.manifest.drive.capacity_bytes
        for step in sorted(self.steps.values(), key=lambda each: each.ordinal):
            if step.ordinal > ordinal:
                break
            if step.verb == "purge" and step.result.facts.get("purged"):
                total = 0
            if step.verb == "limit":
                used = int(str(step.args["usable_bytes"]))
            if step.result.measurement is not None:
                total += step.measured.written_bytes
        return total / used

    def _left(self, claim: Claim, said: str) -> Iterator[str]:
        """Hold the rounds after a window, and later steps of the same work, against it."""
        ordinal = min(claim.evidence.steps)
        step = self.steps[ordinal]
        if step.verb == "precondition":
            proofs = [each for each in proofs_of(self.result) if each.ordinal == ordinal]
            for proof in proofs:
                if proof.mean_mb_s is None:
                    continue
                later = [each for each in self.steps.values() if each.ordinal > ordinal and alike(step, each)]
                for each in later:
                    if abs(each.measured.mb_s - proof.mean_mb_s) > SLACK * proof.mean_mb_s:
                        yield f"{each.label!r} gave {each.measured.mb_s:.4g} MB/s: {said}"
        if (found := re.search(r"steady from ([\d.]+) s on", said)) is not None:
            rows = self.rates(ordinal)["iops"]
            begin = int(float(found[1]))
            moved, step = self.run.rows(ordinal), self.steps[ordinal]
            _, span = step.ran.streams[0].span_bytes(self.folder.manifest.drive.capacity_bytes, 1)
            before = float(moved["bytes"][moved["end_ns"] <= (begin + 1.5) * 1e9].sum())
            if before < 0.99 * span:
                yield f"steady after {before / span:.3g} of the part in use: {said}"
            size = max(1, round(float(str(self.folder.manifest.params.get("round_seconds", 1)))))
            rounds = [np.mean(rows[at : at + size]) for at in range(begin, len(rows) - size + 1, size)]
            window = float(np.mean(rounds[:5]))
            if any(abs(each - window) > SLACK * window for each in rounds):
                yield f"rounds {[round(float(each)) for each in rounds]} leave the window: {said}"
        for group in getattr(self.result, "groups", ()):
            for each in getattr(group, "tracked", ()):
                if getattr(group, "steady", False) and each.mean is not None:
                    after = each.values[group.last :]
                    if any(abs(value - each.mean) > SLACK * each.mean for value in after):
                        yield f"later rounds {after} leave {each.mean}: {said}"

    # --- figures --------------------------------------------------------------------------------------

    def rates(self, ordinal: int) -> dict[str, Any]:
        """IOPS and MB/s of the whole rows of a step that count, both directions together."""
        rows = self.run.rows(ordinal)
        kept = ~rows["partial"].astype(bool)
        keys = sorted(
            {(int(a), int(r)) for a, r in zip(rows["attempt"][kept], rows["row"][kept], strict=True)}
        )
        found: dict[str, list[float]] = {"iops": [], "mb_s": []}
        for attempt, row in keys:
            of = kept & (rows["attempt"] == attempt) & (rows["row"] == row)
            seconds = float(rows["end_ns"][of][0] - rows["start_ns"][of][0]) / 1e9
            found["iops"].append(float(rows["ios"][of].sum()) / seconds)
            found["mb_s"].append(float(rows["bytes"][of].sum()) / seconds / 1e6)
        return {name: np.array(values) for name, values in found.items()}

    def _figures(self) -> Iterator[str]:
        """Hold each figure of a rate or a latency between the extremes of the steps that show it."""
        for claim in self.claims:
            figure, steps = claim.figure, claim.evidence.steps
            if (
                figure is None
                or figure.value is None
                or figure.unit not in ("IOPS", "MB/s", "ns")
                or not steps
            ):
                continue
            unknown = [each for each in steps if each not in self.steps]
            measured = [
                self.steps[each].measured for each in steps if each in self.steps and self.is_measured(each)
            ]
            if unknown or not measured:
                yield f"evidence {steps} is no measured step: {sentence(claim)}"
                continue
            if figure.unit == "ns":
                sides = [side for each in measured for side in (each.read, each.write, each.trim) if side]
                times = [side.response_ns.get("max") or 0 for side in sides]
                low, high = 0.0, float(max(times, default=0))
            else:
                key = "iops" if figure.unit == "IOPS" else "mb_s"
                means = [float(each.iops if key == "iops" else each.mb_s) for each in measured]
                rows = np.concatenate([self.rates(each)[key] for each in steps if self.is_measured(each)])
                low, high = 0.0, max([*rows.tolist(), *means])
                if len(steps) == 1 and not self.by_direction(claim):
                    low = min([*rows.tolist(), *means])
                if (key == "mb_s" and "while busy" in claim.says) or "nside bursts" in claim.says:
                    high = float("inf")  # over the time with an I/O in flight only
            if not low * 0.999 <= figure.value <= high * 1.001:
                yield f"{figure} is not within {low:.5g} to {high:.5g} {figure.unit}: {sentence(claim)}"

    def _scalars(self) -> Iterator[str]:
        """Hold the headline figures between nothing and the most that any row of the run shows."""
        measured = [each for each in self.steps.values() if each.result.measurement is not None]
        sides = [
            side
            for each in measured
            for side in (each.measured.read, each.measured.write, each.measured.trim)
            if side is not None
        ]
        longest = max((side.response_ns.get("max") or 0 for side in sides), default=0)
        most = {
            name: max((max(rows[name], default=0.0) for rows in map(self.rates, self.ordinals)), default=0.0)
            for name in ("iops", "mb_s")
        }
        for figure in self.result.scalars:
            bound = {"IOPS": most["iops"], "MB/s": most["mb_s"], "ns": float(longest)}.get(figure.unit)
            while_busy = figure.unit == "MB/s" and (
                "busy" in figure.label or "burst" in figure.label or "burst" in figure.name
            )
            if bound is None or figure.value is None or while_busy:
                continue
            if not 0 <= figure.value <= bound * 1.001:
                yield f"headline {figure.name} of {figure.value:.5g} {figure.unit} is over {bound:.5g}"

    @property
    def ordinals(self) -> list[int]:
        return [each.ordinal for each in self.steps.values() if each.result.measurement is not None]

    def is_measured(self, ordinal: int) -> bool:
        return self.steps[ordinal].result.measurement is not None

    def by_direction(self, claim: Claim) -> bool:
        """Whether its step reads and writes, of which a figure may be one side."""
        return any(
            stream.reads and stream.writes
            for each in claim.evidence.steps
            for stream in self.steps[each].ran.streams
        ) or any(len(self.steps[each].ran.streams) > 1 for each in claim.evidence.steps)

    # --- labels ---------------------------------------------------------------------------------------

    @cached_property
    def measured_s(self) -> list[float]:
        """All times that the run measured or let pass, in seconds."""
        found: list[float] = []
        for step in self.steps.values():
            found.append(step.result.seconds)
            if step.verb == "idle":
                found.append(float(str(step.args["seconds"])))
            if step.verb == "rest":
                found += [float(str(step.args[name])) for name in ("settle_s", "metered_s", "again_s")]
            if step.result.measurement is None:
                continue
            summary = step.measured
            found += [float(summary.elapsed_s), float(summary.total_s or 0)]
            rows = self.run.rows(step.ordinal)
            ends = np.unique(rows["end_ns"]) / 1e9
            found += [float(each) / 1e9 for each in rows["response_p50_ns"] - rows["service_p50_ns"]]
            found += [*ends.tolist(), *np.diff([0.0, *ends]).tolist()]
            for side in (summary.read, summary.write, summary.trim):
                if side is not None:
                    every = (*side.service_ns.values(), *side.response_ns.values())
                    found += [float(value) / 1e9 for value in every if value is not None]
        total = 0.0
        for step in sorted(self.steps.values(), key=lambda each: each.ordinal):
            total += float(step.measured.elapsed_s) if step.result.measurement is not None else 0.0
            found.append(total)
        return [*found, *self._means_s(found)]

    def _means_s(self, known: list[float]) -> Iterator[float]:
        """Means of a window of rounds, of latencies that were measured in each."""
        every = np.array(known)
        for group in getattr(self.result, "groups", ()):
            for each in getattr(group, "tracked", ()):
                values = np.array(each.values[group.first - 1 : group.last]) / 1e9
                measured = all((np.abs(every - value) <= 0.02 * value).any() for value in values)
                if each.unit == "ns" and len(values) and measured:
                    yield float(values.mean())

    def _times(self) -> Iterator[str]:
        known = np.array(self.measured_s)
        figures = {
            abs(float(each.value)) * {"ns": 1e-9, "s": 1.0}.get(each.unit, 1.0)
            for claim in self.claims
            for each in (claim.figure, *claim.others.values())
            if hasattr(each, "value") and each.value is not None and each.unit in ("ns", "s")
        }
        for text in self.texts:
            others = SETTING.sub(self._unless_set, DEPARTED.sub("", text))
            plain = VIEW.sub("", OF_THE_METHOD.sub("", others))
            for number, unit in TIME.findall(plain):
                seconds = float(number.replace(",", "")) * UNITS[unit]
                near = np.abs(known - seconds) <= 0.006 * seconds + 1e-9
                if not near.any() and not any(abs(seconds - each) <= 0.006 * each for each in figures):
                    yield f"{number} {unit} was not measured: {text}"

    def _unless_set(self, named: re.Match[str]) -> str:
        """Take out of a sentence what it says of a parameter that has this value."""
        name, value, _ = named.groups()
        words = name.split()
        every = [" ".join(words[at:]) for at in range(len(words))]
        params = self.folder.manifest.params.items()
        is_set = any(label_of(each) in every and found == float(value) for each, found in params)
        return "instead of " if is_set else named[0]

    @property
    def texts(self) -> tuple[str, ...]:
        """Everything that is said of the run in words, each once."""
        departures = map(departure_text, gathered_departures(self.folder.manifest))
        every = (*map(sentence, self.claims), *self.labels, *departures, *self.page_texts)
        return tuple(dict.fromkeys(every))

    def _counts(self) -> Iterator[str]:
        """Hold rounds and capacities that are told against those of the steps."""
        capacities = {self.written_by(each) for each in self.steps} | self.shares_written
        for text in self.texts:
            plain = OF_THE_METHOD.sub("", text)
            for number in COUNTED_ROUNDS.findall(plain):
                if int(number) not in self.round_counts:
                    yield f"{number} rounds were not done: {text}"
            for number in CAPACITIES.findall(plain):
                told = float(number.replace(",", ""))
                if not any(abs(told - each) <= 0.006 * each + 1e-9 for each in capacities):
                    yield f"{number} capacities were not written: {text}"

    @cached_property
    def shares_written(self) -> set[float]:
        """What single steps, and all together, wrote, in capacities of the span that each had."""
        used, found = self.folder.manifest.drive.capacity_bytes, set()
        for each in sorted(self.steps.values(), key=lambda step: step.ordinal):
            if each.verb == "limit":
                used = int(str(each.args["usable_bytes"]))
            if each.result.measurement is not None:
                spans = [
                    stream.span_bytes(used, self.folder.manifest.drive.logical_block_bytes)[1]
                    for stream in each.ran.streams
                ]
                found |= {each.measured.written_bytes / span for span in (*spans, used)}
        return found | {self.written_by(each) for each in self.steps}

    @cached_property
    def round_counts(self) -> set[int]:
        """How many rounds, and equal stretches of the rows of a step, there were."""
        numbers = [
            int(found[1])
            for each in self.steps.values()
            if (found := re.search(r"(?:round|sample|cycle) (\d+)", each.label)) is not None
        ]
        found = set(range(1, max(numbers, default=0) + 1))
        for proof in proofs_of(self.result):
            rows = self.run.rows(proof.ordinal)
            found.add(int(rows["end_ns"].max() / 1e9 / proof.round_s + 1e-6))
        for entry in getattr(self.result, "entries", ()):
            found.add(len(getattr(entry, "rounds_iops", ())))
        return found | {5}  # the window that SNIA's rule judges

    def _ratings(self) -> Iterator[str]:
        """A share of a rating of steady state asks for a steady state that was shown."""
        for share in rated_shares(rateable(self.result), self.folder.manifest.ratings):
            name = share.figure.name
            if ("steady" in name or "mixed" in name) and not all(
                each.reached for each in proofs_of(self.result)
            ):
                yield f"{name} is held against a rating in a state that was not shown"


def warned_of_heat(step: Step) -> bool:
    """Whether the drive was too hot in a step, by the measurement itself or by what it counts."""
    drive = None if step.summary is None else step.summary.drive
    marks = () if step.result.telemetry is None else step.result.telemetry.marks
    return bool(drive is not None and drive.throttle_events) or any(m.code == "throttled" for m in marks)


def alike(one: Step, other: Step) -> bool:
    """Whether two steps ask for the same work, for whatever time."""
    if other.workload is None or other.result.measurement is None:
        return False
    drop = {"stop", "name"}
    ours, theirs = ([stream.model_dump(exclude=drop) for stream in each.ran.streams] for each in (one, other))
    return ours == theirs
