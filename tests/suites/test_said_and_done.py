"""What a review says of a drive and of its parts is what is done: sizes, spans, settings and numbers."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lab.fake_drive import FakeDrive
from ssdlab.analysis.act import LIMITS
from ssdlab.cli.suites import suite_order
from ssdlab.drives.simulated.text import SimulatedText
from ssdlab.lab.found import SUITES
from ssdlab.lab.suites import find_suite
from ssdlab.lab.suites.declaration import Declaration
from ssdlab.lab.suites.suite import Entry, Part, Suite
from ssdlab.methods.pts.iops import BLOCKS, MIXES
from ssdlab.model.errors import UsageError
from ssdlab.results.catalogue_row import row_of
from ssdlab.results.run_folder import RunFolder
from ssdlab.runs.suites.ordering import SuiteOrder, suite_params
from ssdlab.runs.suites.session import plan_suite, start_suite
from suites.made import Watcher, children, environment, reads_part, run, suite
from suites.made import suite_order as order_of

READS = {"depths": "1,8", "seconds": "0.2", "ramp_seconds": "0"}
LARGE = "sim:samsung-850-evo-4tb"


def ordered(name: str, drive: str, *, quick: bool, **options: Any) -> SuiteOrder:
    found = suite_order(name, drive, (), quick=quick, **options)
    assert found is not None
    return found


def declared(name: str) -> Suite:
    found = find_suite(name)
    assert found is not None
    return found


def prose_of(name: str) -> str:
    return " ".join(declared(name).prose.split())


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_STATE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))


def test_a_review_of_sizes_of_its_own_says_the_size_it_had(tmp_path: Path) -> None:
    made = suite(Part("peak-random-read", "written", {"fill": "true"}, absolute=True))
    found = run(made, tmp_path, READS)
    (part,) = children(found).values()
    assert found.manifest.drive.text == part.manifest.drive.text == "sim:tiny-test"
    assert found.manifest.drive.name == part.manifest.drive.name
    assert found.manifest.drive.capacity_bytes == part.manifest.drive.capacity_bytes
    assert "1/4" not in found.manifest.drive.name


@pytest.mark.parametrize("name", ["review-600p", "client-review"])
def test_the_scale_that_was_asked_for_holds_for_all_parts_or_for_none(name: str) -> None:
    for quick, scale in ((True, 64), (False, 1)):
        made = ordered(name, f"{LARGE},scale=64", quick=quick)
        assert SimulatedText.parse(made.drive).scale == scale
        planned = plan_suite(made).children
        assert {SimulatedText.parse(each.child.drive).scale for each in planned} == {scale}


@pytest.mark.parametrize("name", list(SUITES))
def test_no_quick_review_fills_a_drive_of_terabytes(name: str) -> None:
    planned = plan_suite(ordered(name, LARGE, quick=True)).children
    written = [each.plan.bytes_written.upper for each in planned if each.plan is not None]
    assert written
    assert max(written) < 200e9, "a twentieth of the drive"


def test_a_quick_review_keeps_to_its_span_and_says_so(tmp_path: Path) -> None:
    text = (
        'schema = "ssdlab.review/1"\nname = "mine"\ntitle = "Mine"\nquick_span = "64MiB"\n'
        '[[chapter]]\ntitle = "Reads"\n' + reads_part("Reads")
    )
    made = Declaration.parse(text, "mine").suite()
    for quick in (True, False):
        drive = FakeDrive(known_written=None)
        order = order_of(made, "/dev/fake0", {})
        order = replace(order, like=replace(order.like, quick=quick))
        found = RunFolder(start_suite(order, tmp_path / str(quick), Watcher(), environment(drive)))
        lengths = {workload.streams[0].span.length for workload in drive.runs}
        said = [each for each in found.manifest.departures if each.code == "first-bytes"]
        assert (lengths == {64 << 20}) is quick
        assert bool(said) is quick
        (part,) = (RunFolder(found.path.parent / child.run_id) for child in found.manifest.children)
        of_part = [each for each in part.manifest.departures if each.code == "first-bytes"]
        assert of_part == said, "what was used is said by the run itself"
        assert row_of(part, "sealed").span == (64 << 20 if quick else None)


def test_a_variant_that_leaves_more_than_is_used_is_left_out(tmp_path: Path) -> None:
    made = suite(
        Part("peak-random-read", "written", {"fill": "true"}),
        quick_span_bytes=64 << 20,
        entries=(Entry("less", {"usable": "32MiB"}), Entry("same", {"usable": "128MiB"})),
    )
    order = order_of(made, "/dev/fake0", READS)
    order = replace(order, like=replace(order.like, quick=True))
    drive = FakeDrive(known_written=None)
    found = RunFolder(start_suite(order, tmp_path, Watcher(), environment(drive)))
    left = {each.part: each.left_out for each in found.manifest.children if each.left_out}
    assert list(left) == ["peak-random-read-same"]
    assert "only the first" in str(left["peak-random-read-same"])


@pytest.mark.parametrize(
    ("drive", "expected"),
    [
        ("sim:kingston-dc400-960gb,scale=64", "sim:kingston-dc400-960gb,scale=64,write-cache=off"),
        ("sim:kingston-dc400-960gb,write-cache=on", "sim:kingston-dc400-960gb,write-cache=on"),
        ("sim:tiny-test,state=drive.sim", "sim:tiny-test,state=drive.sim"),
    ],
)
@pytest.mark.parametrize("name", ["review-dc400", "snia"])
def test_the_write_cache_of_a_simulated_drive_is_as_all_parts_ask(
    name: str, drive: str, expected: str
) -> None:
    assert ordered(name, drive, quick=False).drive == expected
    if "state" not in drive and name == "review-dc400":
        planned = plan_suite(ordered(name, drive, quick=True)).children
        assert len({SimulatedText.parse(each.child.drive).write_cache for each in planned}) == 1


@pytest.mark.long
def test_where_the_write_cache_cannot_be_set_that_is_a_departure(tmp_path: Path) -> None:
    made = suite(Part("latency-qd32", "fresh"))
    quick = {"seconds": "0.05", "overwrites": "1", "most_rounds": "5"}
    for text, missed in (("sim:tiny-test,scale=4", False), ("sim:tiny-test,scale=4,write-cache=on", True)):
        (part,) = children(run(made, tmp_path / str(missed), quick, text)).values()
        codes = {each.code for each in part.manifest.departures}
        assert ("condition-write_cache" in codes) is missed
        assert "shape" not in codes, "32 in flight is what the method is of"


def test_no_time_is_scaled_of_a_part_in_full_size() -> None:
    made = suite(Part("pts-iops", "fresh", absolute=True), Part("latency-qd32", "fresh"), scaled_times=True)
    found = suite_params(made, {}, quick=False, drive="sim:tiny-test,scale=4")
    assert [params.seconds for params in found.values()] == [60.0, 15.0]  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", [each for each in SUITES if each.startswith("review-")])
def test_what_is_inferred_stands_on_the_page_and_is_a_parameter(name: str) -> None:
    made = declared(name)
    inferred = {part.label: part.inferred for part in made.parts if part.inferred}
    assert inferred, "each review leaves something open"
    chapters = {chapter["title"]: " ".join(chapter["inferred"]) for chapter in made.page["chapters"]}  # type: ignore[union-attr,index,call-overload]
    for part in made.parts:
        for parameter in part.inferred:
            assert parameter in made.method(part).params.model_fields
            assert parameter in chapters[part.chapter]
    text = (
        'schema = "ssdlab.review/1"\nname = "a"\ntitle = "A"\n[[part]]\nmethod = "qd1"\ninferred = ["secs"]\n'
    )
    with pytest.raises(UsageError, match="no parameter of qd1 'secs'"):
        Declaration.parse(text, "a").suite()


def test_the_depth_of_latency_is_marked_inferred() -> None:
    (latency,) = (part for part in declared("review-dc400").parts if part.method == "latency-qd32")
    assert "depth" in latency.inferred
    assert "inferred" in " ".join(declared("review-dc400").method(latency).prose.split())


def test_numbers_in_the_texts_of_reviews_are_those_of_their_parameters() -> None:
    def params(name: str) -> dict[str, Any]:
        return suite_params(declared(name), {}, quick=False)

    act = prose_of("review-c916")
    for ms, limit in LIMITS.items():
        assert re.search(rf"fewer than {100 * limit:g} % (of the reads may take )?{ms} ms", act)
    assert f"from {params('review-c916')['act-search'].load}x down" in act
    depths = " and ".join(map(str, params("review-c916")["mixed-random"].depths))
    assert f"at depths of {depths}" in act

    rounds = params("review-dc400")["pts-iops"]
    matrix = prose_of("review-dc400")
    assert f"{rounds.most_rounds} rounds of {len(MIXES) * len(BLOCKS)} cells" in matrix
    threads, depth = rounds.shape
    assert rounds.fixed_rounds and rounds.overwrites == 2 and f"at {threads * depth} I/Os in flight" in matrix
    assert params("review-dc400")["latency-qd32"].shape == rounds.shape

    paced = params("review-600p")["paced-burst"]
    bursts = prose_of("review-600p")
    assert (
        f"the first {paced.span // 10**9} GB" in bursts and f"{paced.burst // 10**6} MB of random" in bursts
    )
    assert f"reads of {paced.read // 10**6} MB" in bursts
    assert (paced.reads, paced.every_seconds, paced.read_every_seconds) == (10, 2.0, 6.0)
    assert (paced.depth, paced.side_depth) == (4, 2) and "four I/Os in flight at most, two of each" in bursts

    client = params("review-xp941")
    writes, torture = client["consistency"], client["trim-validation"]
    assert f"at depth {writes.depth} for {writes.seconds:g} s" in prose_of("review-xp941")
    assert f"{writes.spares[1]} % of the flash" in prose_of("review-xp941")
    assert (torture.torture_seconds, torture.sustained_seconds) == (3600, 600)
    assert f"{client['trace'].gap_most * 1000:g} ms" in prose_of("review-xp941")

    server = params("review-dc500")
    assert server["mixed-random"].depths == (32,)
    lows = {(each.depths[0], each.depths[-1]) for label, each in server.items() if "peak" in label}
    assert lows == {(1, 512)}
    written = {
        (each.overwrites, each.least_seconds) for label, each in server.items() if hasattr(each, "overwrites")
    }
    assert written == {(2.0, 3600.0)}, "two drive writes and an hour"
