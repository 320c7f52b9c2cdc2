"""Imported results as runs of the library: repeats, the gate, what they may be used for."""

from __future__ import annotations

import csv
import hashlib
import json
import random
from pathlib import Path
from typing import Any

import pytest

from imports import made
from ssdlab.cli import main
from ssdlab.lab.imported import ImportedResult
from ssdlab.lab.outcome import read_result
from ssdlab.model.errors import HostError
from ssdlab.results.catalogue_row import kinship
from ssdlab.results.kin import apart
from ssdlab.results.metric import Metric
from ssdlab.results.run_folder import RunFolder
from ssdlab.runs import importing


def command(library: Path, capsys: pytest.CaptureFixture[str], *words: object, status: int = 0) -> Any:
    assert main([*map(str, words), "--library", str(library), "--json"]) == status
    return json.loads(capsys.readouterr().out)


def folders(library: Path) -> list[str]:
    return sorted(path.name for path in library.glob("*-fio-*"))


def result_file(path: Path, *, iops: float = 2000, seed: int = 1, **asked: Any) -> Path:
    draw = random.Random(seed)
    latencies = [round(draw.uniform(50, 150)) * 1000 for _ in range(3000)]
    entry = made.job("3.33", latencies, ms=round(3000 / iops * 1000), bins=True, **asked)
    return made.put(path, made.document("3.33", entry, at=1_750_000_000 + seed))


def read(library: Path, run: str) -> tuple[RunFolder, ImportedResult]:
    folder = RunFolder(library / run)
    result = read_result(folder)
    assert isinstance(result, ImportedResult)
    return folder, result


def test_a_file_is_a_run_that_keeps_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = result_file(tmp_path / "manifest.json")  # a name that means something in a run folder
    library = tmp_path / "library"
    planned = command(library, capsys, "import", path, "--dry-run")
    assert not library.exists()
    done = command(library, capsys, "import", path, "--tag", "mine", "--drive", "X")
    assert [each["run"] for each in done["imports"]] == [each["run"] for each in planned["imports"]]
    folder, result = read(library, done["imports"][0]["run"])
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert (
        result.files[0].sha256
        == hashlib.sha256((folder.path / "imported.json").read_bytes()).hexdigest()
        == digest
    )
    assert folder.verify() == "sealed" and folder.manifest.drive.id == "X"
    assert folder.manifest.created.startswith("2025-06-15T")
    assert all("imported" in each.codes for each in result.scalars)
    listed = command(library, capsys, "runs", "--tag", "mine")
    assert len(listed["runs"]) == 1


def test_the_same_file_again_changes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = result_file(tmp_path / "a.json"), result_file(tmp_path / "b.json", seed=2)
    library = tmp_path / "library"
    command(library, capsys, "import", one)
    copied = tmp_path / "copy.json"
    copied.write_bytes(one.read_bytes())
    done = command(library, capsys, "import", copied, other, "--drive", "OTHER")
    assert [(each["new"], each["drive"] == "OTHER") for each in done["imports"]] == [
        (False, False),
        (True, True),
    ], "what is there already is told as it is"
    assert len(folders(library)) == 2
    command(library, capsys, "import", one, "--tag", "again")
    assert len(command(library, capsys, "runs", "--tag", "again")["runs"]) == 1
    assert command(library, capsys, "import", one, copied, status=2)["error"] == "usage"


@pytest.mark.parametrize(
    ("slower", "options", "status", "outcome"),
    [
        (1.25, {}, 1, "failed"),
        (1.0, {}, 0, "passed"),
        (1.25, {"iodepth": "8"}, 2, "undecidable"),
    ],
)
@pytest.mark.long
def test_two_imported_sets_are_held_against_a_bound(
    slower: float,
    options: dict[str, str],
    status: int,
    outcome: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    library = tmp_path / "library"
    for tag, times, asked in (("base", 1.0, {}), ("new", slower, options)):
        paths = [
            result_file(
                tmp_path / f"{tag}{at}.json",
                iops=(2000 + 10 * at) / times,
                seed=at + 100 * len(tag),
                options=made.OPTIONS | asked,
            )
            for at in range(6)
        ]
        command(library, capsys, "import", *paths, "--tag", tag)
    words = ("compare", "tag:base", "tag:new", "--fail-if", "read_iops < -5%")
    found = command(library, capsys, *words, status=status)
    assert [each["outcome"] for each in found["rules"]] == [outcome]


def test_an_import_is_apart_from_every_run_of_ours(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    library = tmp_path / "library"
    command(library, capsys, "import", result_file(tmp_path / "a.json"))
    command(library, capsys, "measure", "sim:tiny-test", "--seconds", "0.1", "--rw", "randread", "--save")
    (imported,) = folders(library)
    (own,) = (path for path in library.glob("*-measure-*"))
    one, other = (kinship(RunFolder(each).manifest) for each in (library / imported, own))
    assert {"engine", "drive_kind", "method"} <= {each.code for each in apart(one, other)}
    for each in read(library, imported)[1].scalars:
        assert each.unfit("ratings") and each.unfit("claims")


@pytest.mark.parametrize(
    "bad",
    [
        lambda folder: made.put(folder / "cut.json", {}, after='{"fio version": "fio-3.33", "jo'),
        lambda folder: folder / "gone.json",
        lambda folder: [(folder / "z_bw.1.log").write_text("500, 1, 0, 4096, 0\n"), folder / "z_bw.1.log"][1],
    ],
)
def test_one_bad_file_and_nothing_is_imported(
    bad: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    library = tmp_path / "library"
    path = bad(tmp_path)
    told = command(library, capsys, "import", result_file(tmp_path / "a.json"), path, status=2)
    assert str(path) in told["what"] and told["advice"]
    assert not library.exists()


@pytest.mark.parametrize("where", ["write_manifest", "close_run"])
def test_a_library_that_cannot_be_written_holds_nothing_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], where: str
) -> None:
    def full(*_: object) -> None:
        raise HostError("the file system is full", "make room")

    library = tmp_path / "library"
    (found,) = importing.read_imports([result_file(tmp_path / "a.json")], library)
    monkeypatch.setattr(importing, where, full)
    with pytest.raises(HostError):
        importing.save_import(library, found)
    assert not folders(library)
    assert command(library, capsys, "runs")["runs"] == []


def test_a_log_that_two_results_name_is_of_neither_for_sure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The later of two fio runs in one folder writes over the logs of the earlier."""
    options = made.OPTIONS | {"write_iops_log": "a", "log_avg_msec": "500"}
    (tmp_path / "a_iops.1.log").write_text("500, 2000, 0, 4096, 0\n1000, 2000, 0, 4096, 0\n")
    both = [result_file(tmp_path / f"{name}.json", seed=at, options=options) for at, name in enumerate("ab")]
    told = command(tmp_path / "library", capsys, "import", *both, status=2)
    assert "a_iops.1.log" in told["what"]


def test_an_import_is_not_redacted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The file of fio lies in it as it is, with what it says of the host."""
    library = tmp_path / "library"
    command(library, capsys, "import", result_file(tmp_path / "a.json"))
    archive = tmp_path / "x.tar.gz"
    assert main(["library", "pack", "last", "--redact", "-o", str(archive), "--library", str(library)]) == 2
    assert not archive.exists()


def test_what_a_result_does_not_have_is_absent(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paced = made.OPTIONS | {"rate_iops": "100"}
    few = made.job("3.33", made.samples(200), name="few", options=paced, bins=True)
    two = [made.job("3.33", made.samples(2000), name="two", groupid=1) for _ in range(2)]
    dead = made.job("3.33", name="dead", error=5, groupid=2)
    broken = made.job("3.33", made.samples(2000), name="broken", error=5, groupid=3)
    path = made.put(tmp_path / "a.json", made.document("3.33", few, *two, dead, broken))
    library = tmp_path / "library"
    run = command(library, capsys, "import", path)["imports"][0]["run"]
    _, result = read(library, run)
    figures = {each.name: each for each in result.scalars}
    assert figures["few_read_clat_p99_ns"].value is None  # two I/Os beyond
    assert "few-samples" in figures["few_read_clat_p99_ns"].codes
    assert not any(name.startswith("two") and "p99" in name for name in figures)
    assert not any(name.startswith("dead") for name in figures)
    assert "failed-io" in figures["broken_read_iops"].codes and figures["broken_read_iops"].unfit("ranking")
    assert sorted(note.partition(":")[0] for note in result.notes) == ["broken", "dead", "few", "two"]
    steps = command(library, capsys, "show", run)["steps"]
    assert steps[0]["result"]["measurement"]["read"]["response_ns"] == {}


def test_figures_are_those_of_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    samples = made.samples(3000)
    entry = made.job(
        "3.33", samples, made.samples(1000), ms=1500, bins=True, lat=True, options={"rw": "randrw"}
    )
    path = made.put(tmp_path / "a.json", made.document("3.33", entry))
    library = tmp_path / "library"
    run = command(library, capsys, "import", path, "--drive", "X", "--name", "Ä b")["imports"][0]["run"]
    folder, result = read(library, run)
    figures: dict[str, Metric] = {each.name: each for each in result.scalars}
    assert figures["b_read_iops"].value == 2000 and figures["b_write_iops"].value == pytest.approx(2000 / 3)
    p99 = made.percentile([each + 5000 for each in samples], 99)
    assert figures["b_read_lat_p99_ns"].value == p99
    buckets = folder.histograms(0)
    response = (buckets["clock"] == "response") & (buckets["direction"] == "read")
    assert buckets["count"][response].sum() == 3000
    sheet = tmp_path / "steps.csv"
    command(library, capsys, "export", run, "-o", sheet, "--table", "steps")
    with sheet.open(encoding="utf-8-sig", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert {(row["direction"], float(row["response_p99_ns"] or 0)) for row in rows} >= {("read", p99)}


def test_a_terse_result_needs_the_name_of_its_drive(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from imports.test_reading import terse

    path = tmp_path / "t.txt"
    path.write_text(terse(5, 3, width=47))
    library = tmp_path / "library"
    assert "--drive" in command(library, capsys, "import", path, status=2)["advice"]
    done = command(library, capsys, "import", path, "--drive", "X")
    names = {each["name"]: each["value"] for each in done["imports"][0]["figures"]}
    assert names["made_read_iops"] == 250
    assert command(library, capsys, "show", done["imports"][0]["run"])["status"] == "finished"


@pytest.mark.long
def test_a_page_has_an_import_beside_a_run_of_ours(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    library = tmp_path / "library"
    run = command(library, capsys, "import", result_file(tmp_path / "a.json"))["imports"][0]["run"]
    own = command(
        library, capsys, "measure", "sim:tiny-test", "--seconds", "0.1", "--rw", "randread", "--save"
    )["run"]
    page = tmp_path / "page.html"
    assert main(["report", run, own, "--library", str(library), "-o", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    assert 'id="imported"' in text and 'id="measure"' in text
    assert "imported, state unproven" in text
