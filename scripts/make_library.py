"""Make a library of invented runs, to see how the library's commands cost at size.

    python scripts/make_library.py FOLDER 100000
    ssdlab library rebuild --library FOLDER
    python benches/library.py FOLDER

Run folders as ssdlab writes them, sealed: 5,000 drives of 50 models, five figures for each run, seeded; a
hundredth of the runs are quick, a hundredth of another engine. They have no tables. The catalogue is made by
`library rebuild`, which reads and checks them all (about a millisecond each).
"""

from __future__ import annotations

import json
import random
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ssdlab.results.lines import journal_bytes
from ssdlab.results.records import OpenRecord
from ssdlab.results.run_folder import JOURNAL, MANIFEST
from ssdlab.results.schema import DriveInfo, Manifest, MethodInfo, Sealed, Session
from ssdlab.results.seal import Chain, seal_document

DRIVES, MODELS = 5000, 50
FIGURES = (
    ("qd1_random_read_iops", "IOPS", "higher", 12_000.0),
    ("qd1_random_read_mean_ns", "ns", "lower", 80_000.0),
    ("qd1_random_write_iops", "IOPS", "higher", 60_000.0),
    ("qd1_sequential_read_mb_s", "MB/s", "higher", 1500.0),
    ("qd1_sequential_write_mb_s", "MB/s", "higher", 900.0),
)
_BEGIN = datetime(2024, 1, 1, tzinfo=UTC)
_PLACE = 100_003


def make_run(library: Path, number: int, seed: int = 1) -> Path:
    """Write run `number` of the invented library and return its folder."""
    draw = random.Random(seed * _PLACE + number)
    moment = _BEGIN + timedelta(minutes=number)
    at = moment.strftime("%Y-%m-%dT%H:%M:00.000Z")
    run_id = f"{moment.strftime('%Y%m%d-%H%M')}-qd1-{number:06d}"
    drive, model = number % DRIVES, number % MODELS
    scalars = [
        {"name": name, "label": name, "value": typical * (1 + model / 50) * draw.gauss(1, 0.05), "unit": unit}
        | {"better": better}
        for name, unit, better, typical in FIGURES
    ]
    journal = journal_bytes([OpenRecord(at=at, boot_id="0")], run_id)
    chain = Chain(run_id)
    chain.read(journal.rstrip(b"\n"))
    manifest = Manifest(
        run_id=run_id,
        status="finished",
        method=MethodInfo(name="qd1", version=2, title="Queue depth 1", prose="Invented.", destructive=False),
        quick=number % 100 == 1,
        params={},
        drive=DriveInfo(
            text=f"/dev/disk/by-id/INVENTED{drive:05d}",
            kind="block",
            id=f"INVENTED{drive:05d}",
            name=f"Invented {model}",
            capacity_bytes=10**12,
            logical_block_bytes=512,
        ),
        engine="uring" if number % 100 == 2 else "sync",
        seed=number,
        environment={},
        tool={"version": "0.2.0"},
        created=at,
        sessions=(Session(started=at, ended=at, status="finished"),),
        result={"kind": "qd1", "scalars": scalars},
        sealed=Sealed(journal_lines=chain.lines, journal_seal=chain.seal),
    )
    folder = library / run_id
    folder.mkdir(parents=True)
    (folder / JOURNAL).write_bytes(journal)
    text = json.dumps(manifest.model_dump(mode="json", by_alias=True), indent=1)
    (folder / MANIFEST).write_text(seal_document(text))
    return folder


def main() -> None:
    """Make as many runs as the command line asks for."""
    library, runs = Path(sys.argv[1]), int(sys.argv[2])
    for number in range(runs):
        make_run(library, number)
    print(f"{library}: {runs} runs; now: ssdlab library rebuild --library {library}")


if __name__ == "__main__":
    main()
