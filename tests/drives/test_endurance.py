"""The cap on bytes written against the rated endurance of the drive record."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ssdlab.cli import main
from ssdlab.drives.guard.endurance import DEFAULT_SHARE, EnduranceCap, Rating, cap_of, rating_of
from ssdlab.host.identity import Identity
from ssdlab.lab.found import find_method
from ssdlab.lab.job import read_job
from ssdlab.lab.suites.suite import Part
from ssdlab.model.errors import Interrupted, LabError, Refused
from ssdlab.model.options import endurance_cap
from ssdlab.results.run_folder import RunFolder
from ssdlab.results.store import run_folders
from ssdlab.runs.order import Order
from ssdlab.runs.provenance import written_by_run
from ssdlab.runs.session import resume, start
from ssdlab.runs.suites.children import Before, after
from ssdlab.runs.suites.session import start_suite
from suites.made import BRIEF, Watcher, children, suite, suite_order

TB = 10**12


@pytest.fixture
def records(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    folder = tmp_path / "ssdlab/drives"
    folder.mkdir(parents=True)
    return folder


def drive(**more: object) -> Identity:
    return Identity("/dev/x", "x", "block", "ID", TB, 512, model="Model X", **more)  # type: ignore[arg-type]


def test_the_rating_comes_from_the_record(records: Path) -> None:
    unknown = rating_of(drive())
    assert unknown is not None and unknown.endurance_bytes is None and unknown.max_bytes == 18 * TB
    (records / "x.toml").write_text('model = "Model X"\ntbw = 600')
    rating = rating_of(drive())
    assert rating is not None
    assert rating.max_bytes == 60 * TB
    assert cap_of(None).share == DEFAULT_SHARE
    (records / "x.toml").write_text('model = "Model X"\nnand = "QLC"')
    noted = rating_of(drive())
    assert noted is not None and noted.endurance_bytes is None


def test_an_unknown_rating_asks_for_an_explicit_cap(records: Path) -> None:
    """18 capacities, as of the least rated drive; at least a terabyte; more when bytes are named."""
    unknown = rating_of(drive())
    assert unknown is not None
    unknown.check("/dev/x", 18 * TB)
    with pytest.raises(Refused) as caught:
        unknown.check("/dev/x", 19 * TB, planned=True)
    assert "unknown, and the cap is 18.0 TB" in caught.value.what
    assert "--endurance-cap 38.0TB" in caught.value.advice and "tbw" in caught.value.advice
    for text in ("-5%", "0%", "-1GB"):
        with pytest.raises(LabError, match="allows no writes"):
            endurance_cap(text)
    more = rating_of(drive(), cap_of(endurance_cap("40TB")))
    assert more is not None
    more.check("/dev/x", 40 * TB)
    with pytest.raises(Refused):
        more.check("/dev/x", 41 * TB)
    # A share of what nobody knows says nothing.
    shared = rating_of(drive(), cap_of(endurance_cap("50%")))
    assert shared is not None and shared.max_bytes == 18 * TB
    small = rating_of(Identity("/dev/x", "x", "block", "ID", TB // 1000, 512))
    assert small is not None and small.max_bytes == TB


@pytest.mark.parametrize(
    ("name", "transport"), [("loop3", "loop"), ("zram0", "zram"), ("dm-1", "dm"), ("md0", None)]
)
def test_what_the_kernel_makes_up_has_no_endurance(records: Path, name: str, transport: str | None) -> None:
    made = Identity(f"/dev/{name}", name, "block", "ID", TB, 512, transport=transport)
    assert rating_of(made) is None
    asked = rating_of(made, cap_of(endurance_cap("1GB")))
    assert asked is not None and asked.max_bytes == 10**9


def test_bytes_that_are_named_hold_for_a_file(
    records: Path, scratch: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import ssdlab

    assert rating_of(Identity("/x/nvme.img", "nvme.img", "file", "nvme.img", TB, 512)) is None
    file = scratch / "drive.bin"
    with pytest.raises(Refused) as caught:
        ssdlab.measure(
            file, size="16MiB", rw="write", bs="64k", seconds=20, destroy=file.name, endurance_cap="32MB"
        )
    assert caught.value.facts["reason"] == "endurance"
    assert caught.value.facts["bytes_written"] > 32e6
    assert (
        main(["plan", "whole-drive-fill", str(file), "--destroy", file.name, "--endurance-cap", "1MB"]) == 0
    )
    told = capsys.readouterr()
    assert "the run would be refused now: this run would write 16.8 MB" in told.err
    assert main(["plan", "whole-drive-fill", str(file), "--destroy", file.name]) == 0
    assert "no rating on record, and no cap" in capsys.readouterr().out


def test_beyond_the_cap_is_refused_with_the_way_to_lift_it() -> None:
    rating = Rating(600 * TB, EnduranceCap(0.10, bytes_written=20 * TB))
    rating.check("/dev/x", 40 * TB)
    with pytest.raises(Refused) as caught:
        rating.check("/dev/x", 40 * TB + 1)
    assert caught.value.facts["reason"] == "endurance"
    assert caught.value.what.startswith(
        "this run has written 60.0 TB to /dev/x: 10.0 % of its rated endurance"
    )
    assert "--endurance-cap" in caught.value.advice
    with pytest.raises(Refused, match="would write"):
        rating.check("/dev/x", 41 * TB, planned=True)
    Rating(600 * TB, EnduranceCap(2.0)).check("/dev/x", 1200 * TB)


@pytest.fixture
def rated_loop(
    loop: Callable[..., Path], records: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Path, Callable[[float], None]]:
    """A real device whose record says what `rate` is given, in TB written."""
    from ssdlab.drives.guard import endurance

    device = loop()
    real = endurance.find_record

    def rate(tbw: float) -> None:
        (records / "loop.toml").write_text(f'model = "Loop"\ntbw = {tbw}')

    monkeypatch.setattr(endurance, "find_record", lambda _model, serial: real("Loop", serial))
    return device, rate


def test_a_run_ends_at_the_cap(rated_loop: tuple[Path, Callable[[float], None]]) -> None:
    import ssdlab

    device, rate = rated_loop
    rate(0.0002)  # 200 MB, of which a tenth may be written
    with pytest.raises(Refused) as caught:
        ssdlab.measure(device, rw="write", bs="64k", seconds=20, destroy=device.name)
    assert caught.value.facts["reason"] == "endurance"
    assert caught.value.facts["bytes_written"] > 20e6
    assert caught.value.measurement is not None, "what was measured until then is kept"
    done = ssdlab.measure(
        device, rw="write", bs="64k", bytes="40MiB", destroy=device.name, endurance_cap="100%"
    )
    assert done.summary()["write"]["bytes"] == 40 << 20


def test_a_plan_that_surely_writes_too_much_is_refused_before_it_begins(
    rated_loop: tuple[Path, Callable[[float], None]], tmp_path: Path
) -> None:
    from ssdlab.cli import main

    device, rate = rated_loop
    rate(0.0002)
    file = tmp_path / "job.toml"
    file.write_text('[[step]]\ndo = "fill"\n')
    before = Path(f"/sys/block/{device.name}/stat").read_text().split()[6]
    words = ["job", str(file), str(device), "--destroy", device.name, "--library", str(tmp_path / "runs")]
    assert main(words) == 2
    assert not list((tmp_path / "runs").glob("*/manifest.json"))
    assert Path(f"/sys/block/{device.name}/stat").read_text().split()[6] == before
    assert main([*words, "--endurance-cap", "50%"]) == 0


def test_a_run_may_write_all_of_its_cap_and_no_byte_more(scratch: Path) -> None:
    text = '[[step]]\ndo = "run"\nrw = "write"\nthreads = 1\nbytes = "1MiB"\ninterval = "10ms"'

    def order(cap: int) -> Order:
        method = find_method("job")
        return Order(
            method, read_job(text, "j"), str(scratch / "s.img"), size_bytes=1 << 20, endurance_cap=cap
        )

    run = start(order(1 << 20), scratch / "library")
    assert written_by_run(run) == 1 << 20
    with pytest.raises(Refused) as caught:
        start(order((1 << 20) - 1), scratch / "library")
    assert caught.value.facts["reason"] == "endurance"


class StoppedSoon:
    """Stops a run within a step: at its second sign of life."""

    def __init__(self) -> None:
        self.ticks = 0

    def began(self, progress: object) -> None:
        pass

    def tick(self, progress: object) -> None:
        self.ticks += 1
        if self.ticks == 2:
            raise Interrupted("stopped by a signal", "go on")

    def finished(self, step: object, progress: object, *, read_back: bool) -> None:
        pass

    def ended(self, status: object) -> None:
        pass


def test_what_attempts_wrote_counts_whether_they_stand_or_not(scratch: Path) -> None:
    text = '[[step]]\ndo = "run"\nrw = "randwrite"\nthreads = 1\nbytes = "64MiB"\ninterval = "10ms"'
    order = Order(find_method("job"), read_job(text, "j"), str(scratch / "s.img"), size_bytes=1 << 20)
    with pytest.raises(Interrupted):
        start(order, scratch / "library", [StoppedSoon()])
    (folder,) = run_folders(scratch / "library")
    torn = folder / "steps" / "0009-1.log"
    torn.write_bytes(os.urandom(64))  # before its first row
    cut_short = written_by_run(folder)
    assert 0 < cut_short < 64 << 20
    torn.unlink()
    resume(folder)
    run = RunFolder(folder)
    assert [each.attempt for each in run.voided()] == [1]
    assert written_by_run(folder) == cut_short + (64 << 20)
    assert after(folder, Before(bytes_written=7)).bytes_written == 7 + cut_short + (64 << 20)


@pytest.mark.long
def test_a_suite_counts_what_its_drive_counts_ramps_too(tmp_path: Path) -> None:
    """The next run is held against the endurance that is left; the model's counter knows of no ramp."""
    made = suite(Part("mixed-random", "any"), Part("peak-random-read", "any"))
    text = f"sim:tiny-test,scale=4,state={tmp_path / 'drive.sim'}"
    order = suite_order(made, text, BRIEF | {"ramp_seconds": "0.1"})
    wrote, reads = children(RunFolder(start_suite(order, tmp_path / "library", Watcher()))).values()
    watched = [step.result.telemetry for step in wrote.steps()]
    counted = sum(int(each.changes["host_written_bytes"] or 0) for each in watched if each is not None)
    assert reads.manifest.member is not None
    in_no_row = counted - reads.manifest.member.spent_bytes  # I/Os that were in flight when a step ended
    assert 0 <= in_no_row < 1 << 20
