"""Conditions of a run: set, read back, put back whatever happens, and told where they were not."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from lab.fake_drive import FakeDrive, resume_on, run_on
from ssdlab.host.user_folders import conditions_folder
from ssdlab.lab.lab import Lab
from ssdlab.lab.method import Method, Params
from ssdlab.lab.parts.workloads import closed_loop
from ssdlab.model.errors import DriveError, Interrupted, LabError, Refused, Unsupported, UsageError
from ssdlab.results.run_folder import RunFolder
from ssdlab.results.schema import JobResult
from ssdlab.runs.conditions.ledger import LEDGER, Ledger, ledgers
from ssdlab.runs.conditions.variant import Variant, on_text, usable_of
from ssdlab.runs.order import Order, plan_on
from ssdlab.runs.session import start


@dataclass
class Knob:
    """A setting in a dict that outlives the drive object, as one in a drive outlives a process."""

    name: str
    state: dict[str, str]
    lies: bool = False
    refuses: bool = False
    destroys: bool = False
    lasting: bool = True
    log: list[str] = field(default_factory=list)

    def read(self) -> str:
        return self.state[self.name]

    def meant(self, wanted: str) -> str:
        if wanted == "impossible":
            raise Unsupported("it cannot be so", "leave it out", setting=self.name)
        return "ps1" if wanted == "10W" else wanted

    def write(self, value: str) -> None:
        self.log.append(value)
        if self.refuses:
            raise DriveError("it refused", "leave it out", reason="setting-refused")
        if not self.lies:
            self.state[self.name] = value

    def remark(self) -> str | None:
        return None


class NoParams(Params):
    """None."""


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return conditions_folder()


def procedure(lab: Lab, p: NoParams) -> None:
    lab.conditions(scheduler="none", write_cache="off")
    lab.run(closed_loop("random", "read", block_bytes=4096, in_flight=1, seconds=1), label="one")
    lab.run(closed_loop("random", "read", block_bytes=4096, in_flight=2, seconds=1), label="two")


def method_of(steps: Any = procedure) -> Method:
    return Method("some", 1, "Some", NoParams, steps, lambda data, p: JobResult(quick=False, points=()))


def drive_of(state: dict[str, str], **options: Any) -> FakeDrive:
    knobs = {name: Knob(name, state) for name in state}
    return FakeDrive(controls=knobs, **options)


def settings() -> dict[str, str]:
    return {"scheduler": "mq-deadline", "write_cache": "on", "nr_requests": "64"}


def departures(folder: Path) -> dict[str, str]:
    return {each.code: each.what for each in RunFolder(folder).manifest.departures}


def test_set_while_it_runs_and_put_back(tmp_path: Path, host: Path) -> None:
    state = settings()
    seen: list[dict[str, str]] = []
    drive = drive_of(state, before_run=lambda count: seen.append(dict(state)))
    folder = run_on(drive, method_of(), NoParams(), tmp_path / "library")
    assert [each["scheduler"] + each["write_cache"] for each in seen] == ["noneoff", "noneoff"]
    assert state == settings()
    assert departures(folder) == {} and not list(host.glob("*"))
    ended = {change.name: (change.before, change.after, change.ended) for change in Ledger(folder).changes}
    assert ended["write_cache"] == ("on", "off", "put back")
    facts = RunFolder(folder).steps()[0].result.facts["set"]
    assert {each["name"]: each["after"] for each in facts} == {"scheduler": "none", "write_cache": "off"}


def test_what_the_kernel_resets_with_the_scheduler_is_put_back_too(tmp_path: Path, host: Path) -> None:
    state = settings()

    class Resetting(Knob):
        def write(self, value: str) -> None:
            self.state["nr_requests"] = "256"
            super().write(value)

    drive = drive_of(state)
    drive.controls["scheduler"] = Resetting("scheduler", state)
    run_on(drive, method_of(), NoParams(), tmp_path / "library")
    assert state == settings()


@pytest.mark.parametrize(
    "error",
    [
        Interrupted("stopped by a signal", "resume"),
        DriveError("the drive failed", "look"),
        KeyboardInterrupt(),
        ValueError("a fault of ours"),
    ],
)
def test_put_back_when_the_run_stops_and_set_again_by_resume(
    tmp_path: Path, host: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    state = settings()

    def fail(count: int) -> None:
        assert state["write_cache"] == "off"
        if count == 2:
            raise error

    made = method_of()
    monkeypatch.setattr("ssdlab.runs.resume_checks.find_method", lambda name: made)
    with pytest.raises(type(error)):
        run_on(drive_of(state, before_run=fail), made, NoParams(), tmp_path / "library")
    assert state == settings() and not list(host.glob("*"))
    (folder,) = (tmp_path / "library").glob("2*")
    seen: list[str] = []
    again = drive_of(state, before_run=lambda count: seen.append(state["write_cache"] + state["scheduler"]))
    assert RunFolder(resume_on(again, folder)).manifest.status == "finished"
    assert seen == ["offnone"] and state == settings()


def test_a_run_that_died_is_known_and_resume_puts_back_what_was_before_it(
    tmp_path: Path, host: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = settings()
    made = method_of()
    monkeypatch.setattr("ssdlab.runs.resume_checks.find_method", lambda name: made)

    def die(count: int) -> None:
        if count == 2:
            # As after a kill: nothing of the process's own clearing up is done.
            monkeypatch.setattr("ssdlab.runs.conditions.keeper.ConditionKeeper.put_back", lambda *a, **k: [])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_on(drive_of(state, before_run=die), made, NoParams(), tmp_path / "library")
    monkeypatch.undo()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr("ssdlab.runs.resume_checks.find_method", lambda name: made)
    assert state["scheduler"] == "none"
    (left,) = ledgers()
    words = [change.words for change in left.outstanding]
    assert "scheduler of fake0: none, was mq-deadline" in words
    resume_on(drive_of(state), left.folder)
    assert state == settings() and not list(ledgers())


class Rounding(Knob):
    """A number that the kernel makes a multiple of 4."""

    def write(self, value: str) -> None:
        super().write(str(-(-int(value) // 4) * 4))


def rounding(lab: Lab, p: NoParams) -> None:
    lab.conditions(nr_requests="2")
    lab.run(closed_loop("random", "read", block_bytes=4096, in_flight=1, seconds=1), label="one")
    lab.conditions(scheduler="none")
    lab.run(closed_loop("random", "read", block_bytes=4096, in_flight=1, seconds=1), label="two")


def test_what_is_rounded_is_set_again_by_resume_and_put_back(
    tmp_path: Path, host: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the second session measures, it measures under the settings of the first."""
    state = settings()
    made = method_of(rounding)
    monkeypatch.setattr("ssdlab.runs.resume_checks.find_method", lambda name: made)
    seen: list[str] = []

    def drive(**options: Any) -> FakeDrive:
        drive = drive_of(state, **options)
        drive.controls["nr_requests"] = Rounding("nr_requests", state)

        class Resetting(Knob):
            def write(self, value: str) -> None:
                self.state["nr_requests"] = "256"
                super().write(value)

        drive.controls["scheduler"] = Resetting("scheduler", state)
        return drive

    def stop(count: int) -> None:
        seen.append(state["nr_requests"])
        if count == 1:
            raise Interrupted("stopped by a signal", "resume")

    with pytest.raises(Interrupted):
        run_on(drive(before_run=stop), made, NoParams(), tmp_path / "library")
    assert state == settings()
    (folder,) = (tmp_path / "library").glob("2*")
    resume_on(drive(before_run=lambda count: seen.append(state["nr_requests"])), folder)
    assert seen == ["4", "4", "256"], "set, set again, and reset by the kernel along with the scheduler"
    assert state == settings() and not list(ledgers())


def test_a_drive_that_lies_is_a_departure_of_a_method(tmp_path: Path, host: Path) -> None:
    state = settings()
    drive = drive_of(state)
    drive.controls["write_cache"] = Knob("write_cache", state, lies=True)
    found = departures(run_on(drive, method_of(), NoParams(), tmp_path / "library"))
    assert found == {"condition-write_cache": "write cache is on; requested: off"}
    assert state == settings()


def test_a_drive_that_refuses_or_cannot_is_a_departure_with_its_reason(tmp_path: Path, host: Path) -> None:
    state = settings()
    drive = drive_of(state)
    drive.controls["write_cache"] = Knob("write_cache", state, refuses=True)
    del drive.controls["scheduler"]  # nothing stands in front of this drive
    folder = run_on(drive, method_of(), NoParams(), tmp_path / "library")
    (departure,) = RunFolder(folder).manifest.departures
    assert (departure.code, departure.why) == ("condition-write_cache", "it refused")
    assert state == settings()


def test_what_was_changed_in_mid_run_is_told_and_left_alone(tmp_path: Path, host: Path) -> None:
    state = settings()
    drive = drive_of(state, before_run=lambda count: state.update(scheduler="bfq"))
    found = departures(run_on(drive, method_of(), NoParams(), tmp_path / "library"))
    assert found == {"condition-lost-scheduler": "scheduler was set to none and is bfq at the end"}
    assert state == {**settings(), "scheduler": "bfq"}


def test_what_cannot_be_put_back_is_told(tmp_path: Path, host: Path) -> None:
    state = settings()
    drive = drive_of(state, before_run=lambda count: setattr(drive.controls["write_cache"], "refuses", True))
    folder = run_on(drive, method_of(), NoParams(), tmp_path / "library")
    (warned,) = [each for each in RunFolder(folder).manifest.warnings if each.code == "condition-left"]
    assert "write cache of fake0: off, was on" in warned.what and "ssdlab conditions restore" in warned.advice
    (left,) = ledgers()
    assert [change.name for change in left.outstanding] == ["write_cache"]


def test_a_format_stays_for_resume_and_is_put_back_at_the_end(
    tmp_path: Path, host: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = {"lba_format": "512"}

    def formatting(lab: Lab, p: NoParams) -> None:
        lab.conditions(lba_format="4k")
        assert lab.logical_block_bytes == 4096
        lab.run(closed_loop("random", "read", block_bytes=4096, in_flight=1, seconds=1), label="one")

    class Format(Knob):
        def meant(self, wanted: str) -> str:
            return "4096"

    def drive(**options: Any) -> FakeDrive:
        block = 4096 if state["lba_format"] == "4096" else 512
        knob = Format("lba_format", state, destroys=True)
        return FakeDrive(controls={"lba_format": knob}, logical_block_bytes=block, **options)

    def stop(count: int) -> None:
        raise Interrupted("stopped by a signal", "resume")

    made = method_of(formatting)
    monkeypatch.setattr("ssdlab.runs.resume_checks.find_method", lambda name: made)
    with pytest.raises(Interrupted):
        run_on(drive(before_run=stop), made, NoParams(), tmp_path / "library")
    assert state["lba_format"] == "4096"
    (left,) = ledgers()
    folder = resume_on(drive(), left.folder)
    assert state["lba_format"] == "512" and RunFolder(folder).manifest.status == "finished"


def test_blocks_with_metadata_are_not_made_again_and_nobody_is_asked_to(tmp_path: Path, host: Path) -> None:
    state = {"lba_format": "4096+16"}

    def formatting(lab: Lab, p: NoParams) -> None:
        lab.conditions(lba_format="4096")

    knob = Knob("lba_format", state, destroys=True)
    drive = FakeDrive(controls={"lba_format": knob}, logical_block_bytes=4096)
    folder = run_on(drive, method_of(formatting), NoParams(), tmp_path / "library")
    assert state["lba_format"] == "4096" and list(ledgers()) == []
    (warned,) = RunFolder(folder).manifest.warnings
    assert warned.code == "condition-left" and "blocks with metadata" in warned.what


def test_a_drive_formatted_back_cannot_go_on(
    tmp_path: Path, host: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = {"lba_format": "512"}

    def formatting(lab: Lab, p: NoParams) -> None:
        lab.conditions(lba_format="4096")
        lab.run(closed_loop("random", "read", block_bytes=4096, in_flight=1, seconds=1), label="one")

    def stop(count: int) -> None:
        raise Interrupted("stopped by a signal", "resume")

    def drive(**options: Any) -> FakeDrive:
        return FakeDrive(controls={"lba_format": Knob("lba_format", state, destroys=True)}, **options)

    made = method_of(formatting)
    monkeypatch.setattr("ssdlab.runs.resume_checks.find_method", lambda name: made)
    with pytest.raises(Interrupted):
        run_on(drive(before_run=stop), made, NoParams(), tmp_path / "library")
    state["lba_format"] = "512"
    (left,) = ledgers()
    with pytest.raises(Refused, match="formatted again"):
        resume_on(drive(), left.folder)


def test_a_damaged_ledger_is_refused(tmp_path: Path, host: Path) -> None:
    (tmp_path / LEDGER).write_text("{")
    with pytest.raises(Refused, match="cannot be read"):
        Ledger(tmp_path)
    newer = {"schema": "ssdlab.conditions/3", "run": "x", "folder": "y", "changes": []}
    (tmp_path / LEDGER).write_text(json.dumps(newer))
    with pytest.raises(Refused, match="another ssdlab"):
        Ledger(tmp_path)


# --- variants ---


def start_variant(drive: FakeDrive, variant: Variant, library: Path, steps: Any = procedure) -> Path:
    from lab.fake_drive import environment

    return start(
        Order(method_of(steps), NoParams(), "/dev/fake0", seed=7, variant=variant),
        library,
        environment=environment(drive),
    )


def test_a_variant_is_another_entry_and_goes_before_the_method(tmp_path: Path, host: Path) -> None:
    state = {**settings(), "power_state": "ps0"}

    def wants_on(lab: Lab, p: NoParams) -> None:
        lab.conditions(write_cache="on")
        lab.run(closed_loop("random", "read", block_bytes=4096, in_flight=1, seconds=1), label="one")

    drive = drive_of(state, before_run=lambda count: seen.append(dict(state)))
    seen: list[dict[str, str]] = []
    variant = Variant(power_limit="10W", write_cache="off", usable="512MiB")
    folder = start_variant(drive, variant, tmp_path / "library", wants_on)
    manifest = RunFolder(folder).manifest
    assert manifest.drive.name == "fake0, 537 MB usable, 10 W, write cache off"
    assert manifest.drive.variant is not None and manifest.drive.variant.usable is not None
    assert manifest.drive.variant.usable.spare == 0.5
    assert (seen[0]["power_state"], seen[0]["write_cache"]) == ("ps1", "off")
    assert drive.runs[0].streams[0].span.length == 512 << 20
    assert departures(folder).keys() == {
        "condition-write_cache",
        "spare-of-user-capacity",
        "spare-not-free",
    }
    assert state == {**settings(), "power_state": "ps0"}


@pytest.mark.parametrize(
    ("wrong", "told"), [("lies", "confirmed its write cache"), ("refuses", "it refused")]
)
def test_a_variant_that_is_not_reached_fails(tmp_path: Path, host: Path, wrong: str, told: str) -> None:
    state = settings()
    drive = drive_of(state)
    drive.controls["write_cache"] = Knob("write_cache", state, **{wrong: True})
    with pytest.raises(DriveError, match=told):
        start_variant(drive, Variant(write_cache="off"), tmp_path / "library")
    assert drive.runs == [] and state == settings()
    (folder,) = (tmp_path / "library").glob("2*")
    assert RunFolder(folder).manifest.status == "failed"


def test_a_variant_that_the_drive_cannot_be_is_refused_before_anything(tmp_path: Path, host: Path) -> None:
    drive = drive_of(settings())
    for variant in (Variant(power_limit="10W"), Variant(usable="2GiB"), Variant(lba_format="4k")):
        with pytest.raises(LabError) as error:
            start_variant(drive, variant, tmp_path / "library")
        assert isinstance(error.value, Unsupported | UsageError)
    assert drive.done == [] and not list((tmp_path / "library").glob("2*"))


def test_a_writing_run_frees_what_it_does_not_use(tmp_path: Path, host: Path) -> None:
    from dataclasses import replace as with_changes

    from lab.fake_drive import environment

    drive = FakeDrive()
    writes = with_changes(method_of(), writes=lambda p: True)
    order = Order(writes, NoParams(), "/dev/fake0", seed=7, variant=Variant(spare="25%"))
    folder = start(order, tmp_path / "library", environment=environment(drive))
    assert drive.done[0] == ("trim", (768 << 20, 256 << 20))
    assert departures(folder).keys() == {"spare-of-user-capacity", "condition-write_cache"}


def test_spare_is_of_the_raw_capacity_where_that_is_known() -> None:
    identity = FakeDrive(capacity_bytes=960 * 10**9).identity
    of_raw = usable_of(Variant(spare="25%"), identity, 1024 * 1024**3, writing=True)
    assert of_raw is not None and of_raw.of == "raw capacity"
    assert of_raw.length == round(1024 * 1024**3 * 0.75) // (1 << 20) * (1 << 20)
    assert of_raw.spare == pytest.approx(0.25, abs=1e-5)
    with pytest.raises(UsageError, match="cannot be used"):
        usable_of(Variant(spare="5%"), identity, 1024 * 1024**3, writing=True)
    same = usable_of(Variant(usable="800GB"), identity, None, writing=True)
    assert same is not None and same.of == "user capacity" and same.length <= 800 * 10**9


@pytest.mark.parametrize("gigabytes", [960, 997, 1000, 1003, 1024, 1099])
def test_the_spare_that_is_advised_is_not_refused(gigabytes: int) -> None:
    identity, raw = FakeDrive(capacity_bytes=gigabytes * 10**9).identity, 1024 * 1024**3
    with pytest.raises(UsageError) as refused:
        usable_of(Variant(usable="2TB"), identity, raw, writing=True)
    advised = re.search(r"a --spare from ([0-9.]+ %) on", refused.value.advice)
    assert advised is not None
    taken = usable_of(Variant(spare=advised[1]), identity, raw, writing=True)
    assert taken is not None and taken.length == pytest.approx(gigabytes * 10**9, rel=0.005)


def test_options_of_a_variant() -> None:
    with pytest.raises(UsageError, match="both --usable and --spare"):
        Variant(usable="1GB", spare="25%")
    for wrong in ({"power_limit": "10"}, {"write_cache": "maybe"}, {"spare": "100%"}, {"usable": "0"}):
        with pytest.raises(UsageError):
            Variant(**wrong)
    assert Variant(power_limit="8.5W").words() == ("8.5 W",)


def test_the_same_words_on_a_simulated_drive() -> None:
    assert on_text("sim:tiny-test", Variant(write_cache="off", power_limit="10W", spare="25%")) == (
        "sim:tiny-test,spare=0.25,power=10W,write-cache=off"
    )
    assert on_text("/dev/nvme0n1", Variant(spare="25%")) == "/dev/nvme0n1"
    from ssdlab.drives import look

    made = look(on_text("sim:tiny-test", Variant(usable="512MiB"))).identity
    assert made is not None and made.capacity_bytes == pytest.approx(512 << 20, rel=0.01)
    for text, variant in (
        ("sim:tiny-test,spare=20%", Variant(spare="25%")),
        ("sim:tiny-test", Variant(usable="1PB")),
        ("sim:tiny-test", Variant(lba_format="4k")),
    ):
        with pytest.raises(LabError) as error:
            on_text(text, variant)
        assert isinstance(error.value, UsageError | Refused)


def test_a_plan_knows_the_variant() -> None:
    from ssdlab.runs.conditions.variant import variant_info, varied

    identity = FakeDrive().identity
    info = variant_info(Variant(usable="512MiB", write_cache="off"), identity, writing=False)
    plan = plan_on(varied(method_of(), info), NoParams(), identity)
    assert [step.verb for step in plan.steps] == ["variant", "conditions", "run", "run"]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('write-cache = "maybe"', "not on or off"),
        ('power-state = "10"', "is not a power limit"),
        ("nomerges = 3", "0 to 2"),
        ('lba-format = "big"', "size 'big'"),
        ('schedulr = "none"', "schedulr"),
    ],
)
def test_a_job_is_checked_before_anything_is_touched(line: str, told: str) -> None:
    from ssdlab.lab.job import read_job

    with pytest.raises(UsageError, match="step 1 of job") as error:
        read_job(f'[[step]]\ndo = "conditions"\n{line}\n', "job")
    assert told in error.value.what
