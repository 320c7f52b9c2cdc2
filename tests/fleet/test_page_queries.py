"""The page's queries in a library of 10,000 runs, and one series of a day of seconds: as processor time."""

from __future__ import annotations

import hashlib
import math
import random
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from library.made import run
from ssdlab.fleet.drawing import POINTS_MAX, rate_over_time
from ssdlab.fleet.population import drifts, model_of, populations, without_figures
from ssdlab.host.held_folder import FOLDER_MODE, HeldFolder
from ssdlab.library.choosing import Choice
from ssdlab.library.index import Index
from ssdlab.results import catalogue, tables
from ssdlab.results.catalogue_row import Row, RowFigure
from ssdlab.results.schema import TableInfo

DRIVES, REPEATS, FIGURES = 250, 40, 5
SLOW = 17
FINISHED = Choice(status="finished")


def rows() -> list[Row]:
    chance = random.Random(1)
    found = []
    for number in range(DRIVES * REPEATS):
        drive = number % DRIVES
        level = 10_000 * (0.6 if drive == SLOW else 1 + 0.0002 * drive) * math.exp(chance.gauss(0, 0.01))
        figures = tuple(
            RowFigure(
                name=f"f{each}", label=f"f{each}", value=level * (each + 1), unit="IOPS", better="higher"
            )
            for each in range(FIGURES)
        )
        found.append(
            Row(
                folder=f"run-{number:05}",
                entered=number + 1,
                run_id=f"run-{number:05}",
                status="finished",
                method="qd1",
                version=2,
                engine="sync",
                drive_id=f"D{drive:03}",
                drive_name="M1",
                drive_kind="block",
                created=f"2026-{1 + number // 1000:02}-01T00:00:00.{number % 1000:03}Z",
                figures=figures,
            )
        )
    return found


def write(library: Path, found: Sequence[Row]) -> None:
    with (
        HeldFolder(library, make=FOLDER_MODE) as held,
        held.folder(catalogue.FOLDER, make=True) as made,
        catalogue.locked(made, wait=True),
    ):
        catalogue.replace_all(made, [each.model_dump(mode="json", by_alias=True) for each in found], [])


@pytest.mark.long
def test_the_queries_of_the_page_take_two_seconds_of_ten_thousand_runs(library: Path) -> None:
    write(library, rows())
    begun = time.process_time()
    with Index(library) as index:
        model = model_of(index, FINISHED, None)
        found = populations(index, model, FINISHED)
        assert without_figures(index, model, FINISHED, found) == ()
        changes = drifts(found)
    taken_s = time.process_time() - begun
    assert len(found) == len(changes) == FIGURES
    assert [len(each.samples) for each in found] == [DRIVES] * FIGURES
    assert {one.drive_id for each in found for one in each.outliers} == {f"D{SLOW:03}"}
    assert not any(each.outliers for each in changes)
    assert taken_s <= 2.0, "of the processor, so that other load does not count; 2 s is the issue's bound"


def test_a_model_is_judged_by_the_drives_that_the_host_did_not_limit(library: Path) -> None:
    """On a busy host six of ten were measured: the four others are not what is left out."""
    found = []
    for at, each in enumerate(rows()[:10]):
        figure = each.figures[0].model_copy(update={"unfit": "host-limited" if at < 6 else None})
        found.append(each.model_copy(update={"figures": (figure,)}))
    write(library, found)
    with Index(library) as index:
        (population,) = populations(index, model_of(index, FINISHED, None), FINISHED)
    assert {each.drive_id for each in population.samples} == {"D006", "D007", "D008", "D009"}
    assert (population.unfit, population.left_out) == ("", 6)


def test_what_is_the_matter_with_all_drives_is_told(library: Path) -> None:
    found = []
    for each in rows()[:10]:
        figure = each.figures[0].model_copy(update={"unfit": "host-limited, throttled"})
        found.append(each.model_copy(update={"figures": (figure,)}))
    write(library, found)
    with Index(library) as index:
        (population,) = populations(index, model_of(index, FINISHED, None), FINISHED)
    assert (population.unfit, len(population.samples)) == ("throttled, host-limited", 10)


def test_a_series_of_a_day_of_seconds_takes_a_third_of_one(library: Path) -> None:
    count = 86_400
    folder = run(library, 1)
    at = np.arange(count, dtype=np.int64)
    data = tables.empty(tables.SERIES_COLUMNS)
    data = {name: np.zeros(count, dtype=column.dtype) for name, column in data.items()}
    data |= {
        "ordinal": np.ones(count, np.int32),
        "attempt": np.ones(count, np.int32),
        "row": at.astype(np.int32),
    }
    data |= {"start_ns": at * 10**9, "end_ns": (at + 1) * 10**9, "ios": 1000 + at % 7}
    data |= {"stream": np.full(count, "main", object), "direction": np.full(count, "read", object)}
    with HeldFolder(folder, writing=True) as held:
        tables.write(held, tables.SERIES, data, tables.SERIES_COLUMNS, "row")
    digest = hashlib.sha256((folder / tables.SERIES).read_bytes()).hexdigest()
    info = TableInfo(name=tables.SERIES, rows=count, sha256=digest)
    sealed = run(library, 2, tables=(info,))
    (sealed / tables.SERIES).write_bytes((folder / tables.SERIES).read_bytes())
    rate_over_time(sealed)  # what is imported once does not count
    begun = time.process_time()
    points = rate_over_time(sealed)
    taken_s = time.process_time() - begun
    assert len(points) == POINTS_MAX
    assert points[-1][0] == count
    assert all(1000 <= rate <= 1006 for _, rate in points)
    assert abs(np.mean([rate for _, rate in points]) - 1003) < 0.1
    assert taken_s <= 0.3, "of the processor; the issue's bound"
