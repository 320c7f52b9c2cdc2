"""Selection, inventories and plan: what they say, and what is refused before anything is touched."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ssdlab.fleet.fleet_consent import CONSENT, record_consent, standing_consent
from ssdlab.fleet.fleet_plan import read_plan
from ssdlab.fleet.host_checks import host_faults
from ssdlab.fleet.inventory import FleetDrive, Inventory, changes, plain_identity, read_inventories, take
from ssdlab.fleet.planning import plan_fleet
from ssdlab.fleet.selection import parse_selection
from ssdlab.fleet.slurm_files import gres_lines, node_line
from ssdlab.host.identity import Identity
from ssdlab.model.errors import LabError, Refused, UsageError
from ssdlab.results.seal import seal_document

QD1 = '[[work]]\nrun = "qd1"\nquick = true\n'
A1 = '[[drives]]\nserials = ["A1"]\n'


def drives(*serials: str, text: str = "sim:tiny-test,scale=4") -> list[str]:
    return [f"{text},serial={serial}" for serial in serials]


def test_a_plan_names_every_serial_host_hour_and_byte(library: Path) -> None:
    take(library, drives("A1", "A2"), "n1")
    take(library, drives("A3"), "n2")
    text = '[[drives]]\nserials = ["A3", "A1"]\n' + QD1 + '[[work]]\nrun = "peak-random-read"\nquick = true\n'
    plan = plan_fleet(parse_selection(text, "x.toml"), read_inventories(library), library)
    assert [(job.name, job.serial, job.host, job.task.run) for job in plan.jobs] == [
        ("0001", "A3", "n2", "qd1"),
        ("0002", "A1", "n1", "qd1"),
        ("0003", "A3", "n2", "peak-random-read"),
        ("0004", "A1", "n1", "peak-random-read"),
    ]
    assert plan.destroyed == ("A3", "A1")
    assert len({job.run_id for job in plan.jobs}) == 4
    for job in plan.jobs:
        assert 0 <= job.seconds[0] <= job.seconds[1] < 86_400
        assert (job.bytes_written[1] > 0) is job.writes
        assert job.drive_seconds is not None, "a simulated drive keeps time of its own"
        assert 0 <= job.drive_seconds[0] <= job.drive_seconds[1]
    assert not any((library / job.run_id).exists() for job in plan.jobs)


@pytest.mark.long
def test_the_table_tells_the_time_of_simulated_drives_from_ours(
    make_plan: Callable[..., Path], ssdlab: Callable[..., Any], library: Path, tmp_path: Path
) -> None:
    make_plan(A1 + QD1, n1=["A1"])
    done = ssdlab("fleet", "plan", "selection.toml", "--library", str(library), "-o", "again.json")
    assert "  drive time  " in done.stdout
    assert "  real time  " in done.stdout
    assert "real time of all jobs together" in done.stdout


def test_drives_are_selected_by_model_firmware_host_and_count(library: Path) -> None:
    take(library, [*drives("A1", "A2"), "sim:tiny-test,scale=4,serial=A3,firmware=F9"], "n1")
    take(library, [*drives("B1"), *drives("C1", text="sim:sata-tlc-enterprise,scale=64")], "n2")

    def chosen(entry: str) -> list[str]:
        selection = parse_selection(f"[[drives]]\n{entry}\n{QD1}", "x.toml")
        return [job.serial for job in plan_fleet(selection, read_inventories(library), library).jobs]

    assert chosen('model = "Tiny-Test"') == ["A1", "A2", "A3", "B1"]
    assert chosen('model = "tiny-test"\ncount = 2') == ["A1", "A2"]
    assert chosen('model = "tiny-test"\nfirmware = "F9"') == ["A3"]
    assert chosen('model = "tiny-test"\nhost = "n2"') == ["B1"]
    assert chosen('model = "tlc sata"') == ["C1"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (A1.replace("A1", "A9") + QD1, "no drive of the fleet with serial 'A9'"),
        ('[[drives]]\nmodel = "no such"\n' + QD1, "no drive of model 'no such'"),
        (
            '[[drives]]\nmodel = "tiny"\ncount = 3\n' + QD1,
            "3 drives of model tiny are requested, but only 1 exist",
        ),
        ('[[drives]]\nmodel = "tiny"\nserials = ["A1"]\n' + QD1, "either serials or a model"),
        ('[[drives]]\nserials = ["A1"]\ncount = 1\n' + QD1, "has serials and a count"),
        ('[[drives]]\nserials = ["A1"]\nhost = "n7"\n' + QD1, "A1 is on n1, but the selection has n7"),
        (A1 + '[[work]]\nrun = "qd2"\n', "no method 'qd2'"),
        (A1 + QD1 + "set = { secs = '1s' }\n", "no parameter 'secs'"),
        (A1 + QD1 + 'variant = { spare = "25%", usable = "1GB" }\n', "both --usable and --spare"),
        (A1 + QD1 + 'variant = { colour = "red" }\n', "no option of a variant 'colour'"),
        (A1 + QD1 + 'meter = "simulated"\n', "'simulated' does not name a meter"),
        (A1 + QD1 + 'meter = "foo:bar"\n', "no kind of meter 'foo'"),
        (A1 + QD1 + 'meter = "rapl:0"\n', "RAPL measures the processor"),
        (A1 + QD1 + 'meter = "scpi:127.0.0.1:5025"\n', "A1 on n1: .* cannot measure a simulated drive"),
        (A1.replace('["A1"]', '"A1"') + QD1, "serials is 'A1', not a list"),
        ("drives = 3\n" + QD1, "drives is 3, not a list"),
        ("drives = []\n" + QD1, r"drives is \[\], which is empty"),
        (QD1, "the selection needs drives"),
        (A1 + "[[work]]\nquick = true\n", r"\[\[work\]\] needs run"),
        (A1 + QD1.replace("true", "'often'"), "quick is 'often', not true or false"),
        (A1 + QD1 + "set = { seconds = [1] }\n", r"set.seconds is \[1\], not text, a number, true or"),
        (A1 + QD1 + "set = 3\n", "set is 3, not a table"),
        (A1 + QD1 + 'shares = [""]\n', "item 1 of shares is '', which is empty"),
        (A1 + QD1 + '[limits]\none_at_a_time = ["bus"]\n', "there is no one_at_a_time 'bus'"),
        (A1 + QD1 + 'repeat = 2\nmeter = "csv:watts.csv"\n', "a recording of one run"),
        (
            A1 + '[[drives]]\nmodel = "tiny"\n' + QD1,
            r"no drive of model tiny is left: 1 taken by earlier entries",
        ),
        (A1 + QD1 + "[limits]\nat_once = 0\n", "at_once"),
        (A1, "work"),
        ("name = 'Not So'\n" + A1 + QD1, "name is 'Not So', not in the required form"),
        ("[[drives]\n", "is not TOML"),
    ],
)
def test_a_selection_that_does_not_fit_is_refused_with_names(library: Path, text: str, words: str) -> None:
    take(library, drives("A1"), "n1")
    with pytest.raises(LabError, match=words):
        plan_fleet(parse_selection(text, "x.toml"), read_inventories(library), library)


def test_all_faults_of_a_selection_are_named_at_once(library: Path) -> None:
    take(library, drives("A1"), "n1")
    text = (
        '[[drives]]\nserials = ["X1", "A1", "X2"]\n[[drives]]\nmodel = "none"\n'
        '[[work]]\nrun = "qd2"\n[[work]]\nrun = "qd1"\nset = { secs = "1s" }\n'
    )
    with pytest.raises(UsageError) as caught:
        plan_fleet(parse_selection(text, "x.toml"), read_inventories(library), library)
    assert caught.value.what.startswith("5 faults in the selection: ")
    for name in ("'X1'", "'X2'", "'none'", "'qd2'", "'secs'"):
        assert name in caught.value.what


def test_what_a_host_cannot_give_is_named_with_what_does_not_exist(library: Path) -> None:
    taken = take(library, drives("A1"), "n1")
    text = A1.replace('"A1"', '"A1", "X1"') + QD1 + 'meter = "foo:bar"\n[limits]\ncpus = 4096\n'
    with pytest.raises(UsageError) as caught:
        plan_fleet(parse_selection(text, "x.toml"), read_inventories(library), library)
    for words in ("'X1'", "'foo'", f"n1 has {taken.cpus} CPUs, but each run needs 4096"):
        assert words in caught.value.what
    assert len(caught.value.facts["problems"]) == 3


def test_an_unknown_meter_is_refused_with_the_known_kinds(library: Path) -> None:
    take(library, drives("A1"), "n1")
    with pytest.raises(UsageError) as caught:
        plan_fleet(parse_selection(A1 + QD1 + 'meter = "foo:bar"\n', "x"), read_inventories(library), library)
    for kind in ("hwmon", "scpi", "csv", "nvme"):
        assert kind in str(caught.value.advice)


@pytest.mark.parametrize(
    ("work", "words"),
    [
        (QD1 + 'meter = "csv:watts.csv"\n', "a recording .* is for a single run"),
        ('[[work]]\nrun = "./mine.toml"\n', "the field run is './mine.toml': not a method or suite name"),
        (
            '[[work]]\nrun = "trace"\nset = { file = "/etc/hosts" }\n',
            "settings.file is '/etc/hosts'",
        ),
        ('[[work]]\nrun = "trace"\nset = { file = "mine.csv" }\n', "file = .*mine.csv' names a file"),
        ('[[work]]\nrun = "act"\nset = { config = "/etc/hosts" }\n', "settings.config is '/etc/hosts'"),
    ],
)
def test_work_that_names_a_file_is_refused(library: Path, work: str, words: str) -> None:
    take(library, drives("A1"), "n1")
    with pytest.raises(UsageError, match=words):
        plan_fleet(parse_selection(A1 + work, "x"), read_inventories(library), library)


def test_a_simulated_drive_that_keeps_its_state_is_in_no_fleet(library: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="state file"):
        take(library, [f"sim:tiny-test,serial=A1,state={tmp_path / 'drive.sim'}"], "n1")


def test_more_cpus_than_a_host_has_are_refused(library: Path) -> None:
    taken = take(library, drives("A1"), "n1")
    text = A1 + QD1 + f"[limits]\ncpus = {taken.cpus + 1}\n"
    words = f"n1 has {taken.cpus} CPUs, but each run needs {taken.cpus + 1}"
    with pytest.raises(Refused, match=words):
        plan_fleet(parse_selection(text, "x.toml"), read_inventories(library), library)


def test_a_variant_and_repeats_stand_in_the_command(library: Path) -> None:
    take(library, drives("A1", text="sim:nvme-tlc-enterprise,scale=64"), "n1")
    work = QD1 + 'repeat = 3\nset = { seconds = "3s" }\nvariant = { spare = "25%" }\nseed = 7\n'
    (job,) = plan_fleet(parse_selection(A1 + work, "x"), read_inventories(library), library).jobs
    words = job.task.words()
    assert words[:8] == ("qd1", "--quick", "--repeat", "3", "--set", "seconds=3s", "--spare", "0.25")
    assert words[8] == "--seed"


@pytest.mark.long
def test_a_plan_edited_to_name_another_serial_is_refused(
    make_plan: Callable[..., Path], ssdlab: Callable[..., Any], library: Path
) -> None:
    path = make_plan(A1 + QD1, n1=["A1", "A2"])
    path.chmod(0o600)
    path.write_text(path.read_text().replace('"serial": "A1"', '"serial": "A2"'))
    done = ssdlab("fleet", "run", str(path), "--destroy-all", "1", "--backend", "local")
    assert done.returncode == 2
    assert "its seal does not match" in done.stderr
    assert not list(library.glob("2*"))


@pytest.mark.parametrize("count", [None, "0", "2"])
@pytest.mark.long
def test_consent_is_the_number_of_drives(
    count: str | None, make_plan: Callable[..., Path], ssdlab: Callable[..., Any], library: Path
) -> None:
    path = make_plan(A1 + QD1, n1=["A1"])
    words = [] if count is None else ["--destroy-all", count]
    done = ssdlab("fleet", "run", str(path), "--backend", "local", *words)
    assert done.returncode == 2
    assert "the plan destroys the data of 1 drive" in done.stderr
    assert "--destroy-all 1" in done.stderr
    assert "A1" in done.stdout
    assert not list(library.glob("2*"))


def test_consent_that_was_given_stands_for_its_plan_in_its_folder_alone(
    library: Path, tmp_path: Path
) -> None:
    take(library, drives("A1", "A2"), "n1")
    plan, other = (
        plan_fleet(
            parse_selection(A1.replace("A1", serial) + QD1, "x.toml"), read_inventories(library), library
        )
        for serial in ("A1", "A2")
    )
    folder = tmp_path / "plan"
    folder.mkdir()
    with pytest.raises(Refused, match="consent is missing"):
        standing_consent(folder, plan)
    given = record_consent(folder, plan, wipe_signatures=False)
    assert given.destroyed == ("A1",)
    assert standing_consent(folder, plan) == given
    with pytest.raises(Refused, match=f"{CONSENT} is of another plan"):
        standing_consent(folder, other)
    with pytest.raises(Refused, match="its folder is a copy"):
        standing_consent(shutil.copytree(folder, tmp_path / "copy"), plan)
    kept = folder / CONSENT
    kept.write_text(kept.read_text().replace('"wipe_signatures": false', '"wipe_signatures": true'))
    with pytest.raises(Refused, match="was not sealed by this user"):
        standing_consent(folder, plan)
    resettable = plan.model_copy(
        update={"jobs": tuple(job.model_copy(update={"resettable": True}) for job in plan.jobs)}
    )
    record_consent(folder, resettable, wipe_signatures=False)
    with pytest.raises(Refused, match="A1 may hold other data now"):
        standing_consent(folder, resettable)


def _changed(library: Path, host: str, **fields: object) -> None:
    path = library / ".fleet" / "inventory" / f"{host}.json"
    stored = json.loads(path.read_text())
    stored.pop("seal")
    path.write_text(seal_document(json.dumps({**stored, **fields})))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"version": "0.1.0"}, "run different versions of ssdlab: n1 .*, n2 0.1.0"),
        ({"library_token": "f" * 32}, "do not see the same library: n1 .*, n2 ffff"),
        ({"clock_ahead_s": 1.5}, "clocks of n1 and n2 differ by 1.5 s"),
    ],
)
def test_hosts_that_are_unlike_are_refused_by_name(
    library: Path, fields: dict[str, object], words: str
) -> None:
    take(library, drives("A1"), "n1")
    take(library, drives("A2"), "n2")
    _changed(library, "n1", clock_ahead_s=0.0)
    _changed(library, "n2", **fields)
    with pytest.raises(Refused, match=words):
        read_inventories(library)


def test_a_damaged_inventory_is_refused(library: Path) -> None:
    take(library, drives("A1"), "n1")
    path = library / ".fleet" / "inventory" / "n1.json"
    path.write_text(path.read_text().replace("A1", "A7"))
    with pytest.raises(Refused, match="cannot be read: its seal does not match"):
        read_inventories(library)


def test_an_inventory_keeps_what_no_look_shows(library: Path) -> None:
    before = take(library, drives("A1", "A2"), "n1", "rack 4")
    assert changes(before, before) == []
    now = take(library, drives("A3"), "n1")
    assert (now.rack, [each.serial for each in now.drives if each.simulated]) == (
        "rack 4",
        ["A1", "A2", "A3"],
    )
    less = take(library, [], "n1", "", drop=["A2"])
    assert changes(now, less) == ["not kept: A2", "rack: rack 4 to none"]
    for serial in ("A2", "A9"):
        with pytest.raises(UsageError, match=f"{serial} cannot be dropped: it is not in"):
            take(library, [], "n1", drop=[serial])
    other = take(library, drives("A1", text="sim:tiny-test,scale=4,firmware=F9"), "n1")
    assert "firmware: A1 from" in "".join(changes(less, other))


def test_a_drive_that_is_gone_is_named_until_it_is_dropped(library: Path) -> None:
    taken = take(library, drives("A1"), "n1")
    (drive,) = (each for each in taken.drives if each.simulated)
    gone = drive.model_copy(update={"serial": "R1", "text": "/dev/nvme9n1"})
    path = library / ".fleet" / "inventory" / "n1.json"
    more = taken.model_copy(update={"drives": (*taken.drives, gone)})
    path.write_text(seal_document(more.model_dump_json(by_alias=True)))
    with pytest.raises(Refused, match="R1") as refused:
        take(library, [], "n1")
    assert "--drop R1" in refused.value.advice
    assert "R1" in path.read_text(), "nothing was written"
    assert [each.serial for each in take(library, [], "n1", drop=["R1"]).drives if each.simulated] == ["A1"]


def test_the_faults_of_an_unknown_host_are_not_none(library: Path) -> None:
    take(library, drives("A1"), "n1")
    assert host_faults(library, "n1") == {}
    with pytest.raises(UsageError, match="nope"):
        host_faults(library, "nope")


def test_an_inventory_wants_serials_each_once(library: Path) -> None:
    with pytest.raises(UsageError, match="has no serial"):
        take(library, ["sim:tiny-test"], "n1")
    with pytest.raises(Refused, match="two drives have the serial A1"):
        take(library, drives("A1", "A1"), "n1")
    assert not (library / ".fleet" / "inventory").exists()


def test_a_drive_that_two_hosts_have_needs_a_host(library: Path) -> None:
    for host in ("n1", "n2"):
        take(library, drives("A1"), host)
    found = read_inventories(library)
    with pytest.raises(UsageError, match="A1 is on several hosts: n1, n2"):
        plan_fleet(parse_selection(A1 + QD1, "x"), found, library)
    said = parse_selection(A1 + 'host = "n2"\n' + QD1, "x")
    assert [job.host for job in plan_fleet(said, found, library).jobs] == ["n2"]


def test_slurm_is_told_of_each_drive_by_its_serial(library: Path) -> None:
    taken = take(library, [*drives("A.1"), *drives("A-2")], "n1")
    taken = taken.model_copy(update={"drives": tuple(d for d in taken.drives if d.serial.startswith("A"))})
    assert gres_lines(taken) == [
        "NodeName=n1 Name=drive Type=A.1 Count=1",
        "NodeName=n1 Name=drive Type=A-2 Count=1",
    ]
    assert "Gres=drive:A.1:1,drive:A-2:1 State=UNKNOWN" in node_line(taken)
    alike = tuple(
        d.model_copy(update={"serial": s}) for d, s in zip(taken.drives, ("A 1", "A:1"), strict=True)
    )
    with pytest.raises(Refused, match="the serials A 1 and A:1 are the same type in Slurm"):
        gres_lines(taken.model_copy(update={"drives": alike}))


def test_lines_of_one_host_name_a_device_all_or_none(library: Path) -> None:
    """Slurmd ends with an error where some records of a GRES have a file and others do not."""
    taken = take(library, drives("A1"), "n1")
    simulated = tuple(drive for drive in taken.drives if drive.simulated)
    who = Identity("/dev/none0", "none0", "block", "R1", 10**9, 512, serial="R1")
    device = FleetDrive(serial="R1", text="/dev/none0", slot="/dev/none0", identity=plain_identity(who))
    alone, both = (taken.model_copy(update={"drives": (device, *more)}) for more in ((), simulated))
    assert gres_lines(alone) == ["NodeName=n1 Name=drive Type=R1 File=/dev/none0"]
    assert [line.split()[-1] for line in gres_lines(both)] == ["Count=1", "Count=1"]


def test_the_system_disk_is_left_out(library: Path) -> None:
    taken = take(library, drives("A1"), "n1")
    assert isinstance(taken, Inventory)
    mounted = [why for why in taken.left_out.values() if "mounted" in why]
    assert not {drive.text for drive in taken.drives} & set(taken.left_out)
    assert mounted or not taken.left_out


def test_what_is_no_plan_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    for text in (
        "",
        "{}",
        "[]",
        "\0",
        '{"schema": "ssdlab.fleet-plan/9"}',
        seal_document('{"schema": "x/1"}'),
    ):
        path.write_text(text)
        with pytest.raises(Refused):
            read_plan(path)


def test_what_a_run_does_on_errors_is_asked_of_a_selection_and_said_to_its_run(library: Path) -> None:
    take(library, drives("A1"), "n1")
    for asked, words in (("", []), ('on-error = "continue"\n', ["--on-error", "continue"])):
        selection = parse_selection(A1 + QD1 + asked, "x")
        (job,) = plan_fleet(selection, read_inventories(library), library).jobs
        assert [word for word in job.task.words() if word in ("--on-error", "continue")] == words
    with pytest.raises(UsageError, match="on-error"):
        parse_selection(A1 + QD1 + 'on-error = "ignore"\n', "x")
