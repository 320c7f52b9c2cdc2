"""Parts of a finished suite that are done again: what takes whose place, what stays, what a kill costs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lab.fake_drive import FakeDrive
from ssdlab.cli import main
from ssdlab.drives import Look
from ssdlab.host.held_folder import HeldFolder
from ssdlab.lab.kinds import SuiteResult
from ssdlab.lab.outcome import read_result
from ssdlab.lab.suites.suite import Part
from ssdlab.model.errors import DriveError, Refused, UsageError
from ssdlab.report import page, source
from ssdlab.results.catalogue_row import row_of
from ssdlab.results.run_folder import MANIFEST, RunFolder, read_manifest
from ssdlab.results.schema import Child
from ssdlab.results.store import find_run, run_folders
from ssdlab.results.verifying import verify_run
from ssdlab.runs.session import RunEnvironment
from ssdlab.runs.suites.redo import ask_again, go_on, is_asked_again
from ssdlab.runs.suites.session import start_suite
from ssdlab.runs.suites.several import start_several
from suites.made import Watcher, children, environment, reads_part, suite, suite_order

A, B = "/dev/fake0", "/dev/fake1"
READS = suite(
    Part("peak-random-read", "written", {"fill": "true"}),
    Part("peak-sequential-read", "written", {"fill": "true"}),
    Part("peak-random-read", "written", {"fill": "true"}, name="reads again"),
)
PEAK = {"depths": "1,2", "seconds": "1", "ramp_seconds": "0"}
PART = "peak-sequential-read"


def two_drives() -> tuple[dict[str, FakeDrive], RunEnvironment]:
    """Two drives, each under its path, and what opens them."""
    drives = {A: FakeDrive(known_written=None), B: FakeDrive(known_written=None)}
    drives[B].identity_changes = {"serial": "FAKE-B", "consent_id": "FAKE-B", "path": B}
    made = environment(drives[A])
    return drives, RunEnvironment(
        lambda text, **opened: drives[text],
        made.finish,
        lambda text, **asked: Look(drives[text].identity, True, None, None),
    )


def finished_suite(library: Path) -> tuple[RunFolder, FakeDrive]:
    drive = FakeDrive(known_written=None)
    folder = start_suite(suite_order(READS, A, PEAK), library, Watcher(), environment(drive))
    return RunFolder(folder), drive


def contents(library: Path, but: frozenset[str] = frozenset()) -> dict[str, bytes]:
    """Every file of the runs of a library, without the folders named."""
    return {
        str(path.relative_to(library)): path.read_bytes()
        for path in library.glob("2*/**/*")
        if path.is_file() and path.relative_to(library).parts[0] not in but
    }


def test_the_new_run_stands_in_the_place_of_the_old_one_and_both_are_there(tmp_path: Path) -> None:
    before, drive = finished_suite(tmp_path)
    old = children(before)[PART]
    files = contents(tmp_path, frozenset({before.path.name}))
    count = len(drive.runs)
    ask_again(before.path, [PART], environment(drive))
    watcher = Watcher()
    go_on(before.path, watcher, environment(drive))
    after = RunFolder(before.path)
    after.verify()
    new = children(after)[PART]
    assert watcher.told == [("began", PART), ("ended", PART)], "no other part is touched"
    assert len(drive.runs) > count
    assert [child.part for child in after.manifest.children] == [
        child.part for child in before.manifest.children
    ]
    ids = {child.part: child.run_id for child in before.manifest.children}
    assert {child.part: child.run_id for child in after.manifest.children} == {
        **ids,
        PART: new.manifest.run_id,
    }
    assert new.manifest.run_id != old.manifest.run_id
    result = read_result(after)
    assert isinstance(result, SuiteResult)
    assert [each.run_id for each in result.outcomes] == [child.run_id for child in after.manifest.children]
    for name in ("method", "review", "params", "seed", "created"):
        assert getattr(after.manifest, name) == getattr(before.manifest, name)
    (named,) = after.manifest.replaced
    assert (named.old.run_id, named.run_id) == (old.manifest.run_id, new.manifest.run_id)
    assert named.at[:4].isdecimal()
    # The part as it was: its parameters and draws. The old run is as it was, but for a note.
    assert (new.manifest.params, new.manifest.seed) == (old.manifest.params, old.manifest.seed)
    (note,) = old.notes()
    assert note.run == new.manifest.run_id
    assert (row_of(old, "sealed").status, row_of(new, "sealed").status) == ("replaced", "finished")
    kept = contents(tmp_path)
    assert files.items() <= kept.items()
    sealed = after.manifest.sealed
    assert sealed is not None and old.manifest.run_id in sealed.runs and new.manifest.run_id in sealed.runs


def test_a_part_may_be_done_again_more_than_once(tmp_path: Path) -> None:
    folder, drive = finished_suite(tmp_path)
    for _ in range(2):
        ask_again(folder.path, [PART, "reads again"], environment(drive))
        go_on(folder.path, Watcher(), environment(drive))
    after = RunFolder(folder.path)
    after.verify()
    chain = [(each.old.run_id, each.run_id) for each in after.manifest.replaced if each.old.part == PART]
    assert chain[0][1] == chain[1][0], "the second takes the place of the first"
    assert len(after.manifest.replaced) == 4
    assert len(run_folders(tmp_path)) == 1 + 3 + 4


def test_a_run_counts_once_its_suite_has_it_in_the_place_of_the_old_one(tmp_path: Path) -> None:
    folder, drive = finished_suite(tmp_path)
    old = {part: run.path.name for part, run in children(folder).items()}
    ask_again(folder.path, [PART, "reads again"], environment(drive))
    seen: list[str] = []

    class Looking(Watcher):
        def ended(self, child: Child, number: int, total: int, *, already_finished: bool) -> None:
            seen.append(row_of(RunFolder(tmp_path / child.run_id), "sealed").status)

    go_on(folder.path, Looking(), environment(drive))
    assert seen == ["waiting", "waiting"]
    now = {part: run for part, run in children(RunFolder(folder.path)).items() if run.path.name != old[part]}
    assert len(now) == 2 and {row_of(run, "sealed").status for run in now.values()} == {"finished"}


def test_what_fails_leaves_the_result_of_before_and_goes_on_later(tmp_path: Path) -> None:
    before, drive = finished_suite(tmp_path)
    count = len(drive.runs)

    def fail(number: int) -> None:
        if number > count:
            raise DriveError("the drive is gone", "attach it")

    drive.before_run = fail
    ask_again(before.path, [PART], environment(drive))
    with pytest.raises(DriveError):
        go_on(before.path, Watcher(), environment(drive))
    between = RunFolder(before.path)
    between.verify()
    assert between.manifest.status == "finished"
    assert between.manifest.result == before.manifest.result
    assert between.manifest.children == before.manifest.children
    assert between.manifest.sessions[-1].status == "failed"
    with pytest.raises(Refused, match="not finished with"):
        ask_again(before.path, ["reads again"], environment(drive))
    drive.before_run = lambda number: None
    go_on(before.path, Watcher(), environment(drive))
    after = RunFolder(before.path)
    after.verify()
    assert not is_asked_again(before.path)
    assert [each.old.part for each in after.manifest.replaced] == [PART]
    assert len(run_folders(tmp_path)) == 5, "nothing was begun twice"


def killed_at(number: int, folder: Path, drives: RunEnvironment) -> bool:
    """Do a part again in a process that dies before its n-th write of a manifest; say whether it did."""
    process = os.fork()
    if process == 0:
        count, write = 0, HeldFolder.replace

        def replace_until(held: HeldFolder, name: str, *given: Any, **more: Any) -> None:
            nonlocal count
            count += name == MANIFEST
            if count >= number:
                os._exit(9)
            write(held, name, *given, **more)

        HeldFolder.replace = replace_until  # type: ignore[method-assign, assignment]
        status = 1
        try:
            ask_again(folder, [PART], drives)
            go_on(folder, Watcher(), drives)
            status = 0
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    assert status in (0, 9)
    return status == 9


@pytest.mark.long
def test_killed_before_any_write_the_review_is_whole_and_goes_on(tmp_path: Path) -> None:
    """The whole of two drives, killed before each manifest that it writes, from the first to the last."""
    number, died = 0, True
    while died:
        number += 1
        library = tmp_path / str(number)
        _, drives = two_drives()
        orders = [suite_order(READS, A, PEAK), replace(suite_order(READS, B, PEAK), position=2)]
        top = start_several(orders, library, Watcher(), drives)
        before = contents(library)
        old = [child.run_id for each in suites_of(top) for child in each.manifest.children]
        died = killed_at(number, top, drives)
        for each in (RunFolder(top), *suites_of(top)):
            each.verify()
            assert each.manifest.status == "finished"
            assert isinstance(read_result(each), SuiteResult)
        finished = {name: data for name, data in before.items() if name.partition("/")[0] in old}
        assert finished.items() <= contents(library).items(), "a finished run was touched"
        if is_asked_again(top):
            go_on(top, Watcher(), drives)
        assert not is_asked_again(top)
        RunFolder(top).verify()
        asked = [len(suite.manifest.replaced) for suite in suites_of(top)]
        begun = number > 3  # before that it was killed while it was put on record: nothing of it was begun
        assert asked == [1, 1] or (not begun and asked in ([0, 0], [1, 0]))
        assert len(run_folders(library)) == 1 + 2 + 6 + sum(asked), "nothing was begun twice"
        for suite_folder in suites_of(top):
            suite_folder.verify()
            for each in suite_folder.manifest.replaced:
                assert len(RunFolder(library / each.old.run_id).notes()) == 1
    assert number > 10


def suites_of(top: Path) -> list[RunFolder]:
    return [RunFolder(top.parent / child.run_id) for child in read_manifest(top).children]


def test_of_one_drive_of_a_review_the_whole_is_sealed_anew(tmp_path: Path) -> None:
    drives, opens = two_drives()
    orders = [suite_order(READS, A, PEAK), replace(suite_order(READS, B, PEAK), position=2)]
    top = start_several(orders, tmp_path, Watcher(), opens)
    first, second = suites_of(top)
    seal = RunFolder(top).seal
    count = len(drives[B].runs)
    ask_again(first.path, [PART], opens)
    go_on(first.path, Watcher(), opens)
    assert len(drives[B].runs) == count
    assert RunFolder(second.path).seal == second.seal
    whole = RunFolder(top)
    whole.verify()
    assert whole.seal != seal and whole.manifest.redoing == ()


def test_what_cannot_be_done_again_is_refused_and_nothing_is_on_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, drive = finished_suite(tmp_path)
    before = contents(tmp_path)
    with pytest.raises(UsageError) as unknown:
        ask_again(folder.path, ["nosuch"], environment(drive))
    assert all(child.part in unknown.value.advice for child in folder.manifest.children)
    part = children(folder)[PART]
    with pytest.raises(Refused, match="is not a suite"):
        ask_again(part.path, [PART], environment(drive))
    drive.identity_changes = {"serial": "ANOTHER", "consent_id": "ANOTHER"}
    with pytest.raises(Refused) as other:
        ask_again(folder.path, [PART], environment(drive))
    assert other.value.found == drive.identity.consent_id
    assert contents(tmp_path) == before


@pytest.mark.long
def test_consent_is_asked_for_again_and_what_was_given_first_does_not_count(
    scratch: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    library, disk, review = scratch / "library", scratch / "disk.bin", scratch / "tried.toml"
    disk.write_bytes(b"x" * (64 << 20))
    review.write_text(f'schema = "ssdlab.review/1"\nname = "tried"\ntitle = "Tried"\n{reads_part("Reads")}')
    words = ["--library", str(library)]
    assert main(["run", str(review), str(disk), "--destroy", "disk.bin", *words]) == 0
    before = contents(library)
    redo = ["resume", "last", "--redo", "peak-random-read", *words]
    capsys.readouterr()
    assert main([*redo, "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["facts"]["reason"] == "no-consent"
    assert contents(library) == before
    assert main([*redo, "--destroy", "disk.bin"]) == 0
    found = RunFolder(find_run("last", library))
    assert len(found.manifest.replaced) == 1
    assert all(verify_run(each).seal == "sealed" for each in run_folders(library))


@pytest.mark.long
def test_on_simulated_drives_from_the_command_to_the_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Killed by a signal that nobody can catch, resumed, shown, packed with the old run, removed whole."""
    library, review = tmp_path / "library", tmp_path / "tried.toml"
    review.write_text(
        'schema = "ssdlab.review/1"\nname = "tried"\ntitle = "Tried"\n'
        + reads_part("Reads")
        + reads_part("More").replace("[[part]]", '[[part]]\nname = "more"')
    )
    words = ["--library", str(library)]
    assert main(["run", str(review), "sim:tiny-test,scale=4", *words]) == 0
    folder = find_run("last", library)
    old = {child.part: child.run_id for child in read_manifest(folder).children}
    command = [sys.executable, "-m", "ssdlab", "resume", str(folder), "--redo", "more"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and not read_manifest(folder).redoing:
        time.sleep(0.01)
    time.sleep(0.3)
    process.send_signal(signal.SIGKILL)
    process.wait()
    time.sleep(0.5)  # the worker ends with its pipe
    capsys.readouterr()
    assert main(["show", str(folder)]) == 0
    assert "ssdlab resume" in capsys.readouterr().out
    assert main(["show", str(folder), "--all"]) == 0
    shown = capsys.readouterr().out
    assert "ssdlab resume" in shown and old["more"][-6:] in shown, "the result of before stands"
    (under_way,) = read_manifest(folder).redoing
    assert main(["watch", str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["parts"]["more"]["run"] == under_way.run_id
    assert main(["resume", str(folder)]) == 0
    made = read_manifest(folder)
    new = {child.part: child.run_id for child in made.children}
    assert new["peak-random-read"] == old["peak-random-read"] and new["more"] != old["more"]
    capsys.readouterr()
    assert main(["show", str(folder), "--all"]) == 0
    assert old["more"] in " ".join(capsys.readouterr().out.split())
    html = page.render([source.read(folder)])
    assert old["more"] in html and new["more"] in html
    assert main(["library", "verify", *words]) == 0

    packed = tmp_path / "packed.tar.gz"
    assert main(["library", "pack", str(folder), "-o", str(packed), *words]) == 0
    other = tmp_path / "other"
    assert main(["library", "unpack", str(packed), "--library", str(other)]) == 0
    assert sorted(path.name for path in run_folders(other)) == sorted(
        path.name for path in run_folders(library)
    )
    assert main(["library", "verify", "--library", str(other)]) == 0
    assert main(["rm", old["more"], *words]) == 2, "the suite's seal names it"
    assert main(["rm", folder.name, *words]) == 0
    assert run_folders(library) == []
