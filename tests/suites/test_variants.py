"""Variants of whichever drive: what a declaration names, and what a command says of one drive alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.fake_drive import FakeDrive
from ssdlab.cli import main
from ssdlab.cli.suites import orders
from ssdlab.drives import look
from ssdlab.lab.suites.declaration import Declaration
from ssdlab.lab.suites.suite import Entry, Part
from ssdlab.model.errors import UsageError
from ssdlab.runs.conditions.variant import Variant, on_text, parted, with_own
from ssdlab.runs.suites.session import ready
from ssdlab.runs.suites.several import check_apart
from suites.made import environment, reads_part, suite, suite_order

A, B = "sim:tiny-test,scale=4", "sim:tiny-test,scale=4,seed=2"
PART = "peak-random-read"


def declared(**variants: str) -> str:
    """A review with variants of 40 % spare area, each of the drives named; empty: of the first."""
    found = f'schema = "ssdlab.review/1"\nname = "tried"\ntitle = "Tried"\n{reads_part("Reads")}'
    for name, drives in variants.items():
        named = f"drives = {drives}\n" if drives else ""
        found += f'[[variant]]\nname = "{name}"\nspare = "40%"\n{named}'
    return found


@pytest.mark.parametrize(
    ("drives", "of"),
    [
        ((), {1}),
        (("*",), {1, 2, 3}),
        ((2, "S4CVNX0T"), {2, 3}),
        (("tiny-test",), {1}),
        (("nobody",), set()),
    ],
)
def test_a_variant_is_of_the_drives_that_it_names(drives: tuple[str | int, ...], of: set[int]) -> None:
    made = Declaration.parse(declared(spare=str(list(drives)) if drives else ""), "tried").suite()
    names = {1: {A, "tiny-test"}, 2: {B}, 3: {"S4CVNX0T"}}
    again = {at for at, own in names.items() if len(made.parts_of(at, own)) == 2}
    assert again == of
    assert [part.label for part in made.all_parts] == [PART, f"{PART}-spare"]


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize(("named", "missed"), [("Elm E8", False), ("Elm E9", True)])
def test_a_variant_of_none_of_the_drives_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], count: int, named: str, missed: bool
) -> None:
    """A drive is named as the review names it, or by its profile; a misspelt name fits none."""
    review = tmp_path / "tried.toml"
    drive = '[[drive]]\nname = "Elm E8"\nprofile = "tiny-test"\n'
    review.write_text(declared(spare=f'["{named}"]') + drive)
    assert main(["plan", str(review), *(A, B)[:count], "--library", str(tmp_path / "library")]) == 0
    shown = capsys.readouterr()
    assert (named in shown.err) is missed
    assert (f"{PART}-spare" in shown.out) is not missed


@pytest.mark.parametrize("wrong", ["[0]", '[""]', '"*"'])
def test_what_names_no_drive_is_refused(wrong: str) -> None:
    with pytest.raises(UsageError, match="drives"):
        Declaration.parse(declared(spare=wrong), "tried")


def test_a_rival_is_done_in_its_variant_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "tried.toml"
    path.write_text(declared(spare="[2]", less='["nobody"]'))
    made = orders(str(path), [A, B], (), tmp_path, quick=False, repeat=1)
    assert [[part.label for part in order.parts] for order in made] == [[PART], [PART, f"{PART}-spare"]]
    said = capsys.readouterr().err
    assert "variant less" in said and "nobody" in said


def test_an_option_of_one_drive_stands_behind_its_name(tmp_path: Path) -> None:
    asked = {"spare": "25%", "power_limit": "10W", "write_cache": "off"}
    assert parted("/dev/nvme0n1,spare=25%,power-limit=10W,write-cache=off") == ("/dev/nvme0n1", asked)
    assert parted("S4CVNX0T,usable=800GB") == ("S4CVNX0T", {"usable": "800GB"})
    assert parted(f"{A},spare=25%") == (f"{A},spare=25%", {}), "its text has that of its own"
    strange = tmp_path / "a,spare=25%"
    strange.touch()
    assert parted(str(strange)) == (str(strange), {}), "a file may be called so"
    assert with_own(Variant(write_cache="off"), {"spare": "25%"}, "D") == Variant(
        spare="25%", write_cache="off"
    )
    for of_all, text in ((Variant(spare="25%"), "D,spare=20%"), (None, "D,spare=20%,spare=25%")):
        with pytest.raises(UsageError, match="give it once"):
            with_own(of_all, parted(text)[1], "D")


def test_less_capacity_is_said_of_the_full_size(tmp_path: Path) -> None:
    """Half of the medium is half of it at any scale."""
    usable = look(on_text("sim:tiny-test", Variant(usable="8GB"))).identity
    small = look(on_text("sim:tiny-test,scale=4", Variant(usable="8GB"))).identity
    assert usable is not None and small is not None
    assert small.capacity_bytes == pytest.approx(usable.capacity_bytes / 4, rel=0.01)
    (order,) = orders("qd1", [f"{A},usable=8GB"], (), tmp_path, quick=True, repeat=1)
    assert order.drive == on_text(A, Variant(usable="8GB"))


def test_more_than_the_whole_of_a_simulated_drive_cannot_be_used() -> None:
    """The medium has more, but a drive sells less of it."""
    assert look(on_text("sim:tiny-test", Variant(usable="16GiB"))).identity is not None
    with pytest.raises(UsageError, match="cannot be used"):
        on_text("sim:tiny-test", Variant(usable="17GiB"))


def test_one_drive_may_be_named_in_two_variants(tmp_path: Path) -> None:
    made = suite(Part("peak-random-read", "written", {"fill": "true"}))
    suites = [
        ready(suite_order(made, "/dev/fake0", {}, variant=variant), environment(FakeDrive()))
        for variant in (Variant(), Variant(spare="25%"))
    ]
    check_apart(suites)
    assert suites[0].drive.name != suites[1].drive.name
    with pytest.raises(UsageError, match="named twice"):
        check_apart([suites[0], suites[0]])


def test_by_default_a_variant_is_of_the_drive_under_review() -> None:
    made = suite(Part(PART), entries=(Entry("spare", {"spare": "40%"}),))
    assert [len(made.parts_of(at)) for at in (1, 2)] == [2, 1]
