"""Who types fio's names is told ours, and is never led to an option that loses data."""

from __future__ import annotations

import re

import pytest

from ssdlab.cli import main
from ssdlab.cli.parser_errors import _FIO_ELSEWHERE, _LEAVE_OUT, _USE, of_fio, options_of
from ssdlab.model.errors import UsageError, nearest
from ssdlab.model.options import FIO_ENGINES, MeasureOptions, option_text
from ssdlab.model.pattern import Sequential, Shuffled, Uniform


@pytest.mark.parametrize("name", [*_USE, *_LEAVE_OUT, *_FIO_ELSEWHERE])
def test_an_option_of_fio_leads_to_options_that_there_are(name: str) -> None:
    assert name.replace("_", "-") not in options_of("measure")
    for text in (f"--{name}", f"--{name.replace('_', '-')}"):
        advice = of_fio(text)
        assert advice is not None
        named = re.findall(r"--([a-z-]+)", advice)
        assert named or name in (*_LEAVE_OUT, *_FIO_ELSEWHERE)
        assert set(named) <= options_of("measure")


@pytest.mark.parametrize(
    "word", ["--destory", "--destro", "--wipe-signature", "--wipesignatures", "--destroyed"]
)
@pytest.mark.parametrize("command", ["measure", "run", "purge"])
def test_no_guess_is_an_option_that_loses_data(
    word: str, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, "none", "none", word, "x"] if command == "run" else [command, "none", word]) == 2
    said = capsys.readouterr().err
    assert f"there is no option {word}" in said and "did you mean" not in said.lower()


@pytest.mark.parametrize("word", ["verify", "blocksize", "direct", "lockmem"])
def test_no_name_of_fio_is_like_one_of_ours(word: str) -> None:
    assert nearest(word, options_of("measure"), at_least=0.7) is None


OPERATIONS = ("read", "write", "rw", "randread", "randwrite", "randrw", "trim", "randtrim")
ASKED = {
    "read": {"read"},
    "write": {"write"},
    "trim": {"trim"},
    "rw": {"read", "write"},
    "readwrite": {"read", "write"},
    "trimwrite": {"trim", "write"},
}


def asked(word: str) -> tuple[bool, frozenset[str]]:
    """What a word of fio's asks for (fio(1), readwrite): at random or not, and which operations."""
    return word.startswith("rand"), frozenset(ASKED[word.removeprefix("rand")])


@pytest.mark.parametrize("word", [*ASKED, *(f"rand{each}" for each in ASKED)])
def test_a_hint_never_asks_for_something_else(word: str) -> None:
    same = [name for name in OPERATIONS if asked(name) == asked(word)]
    assert nearest(word, OPERATIONS) == (same[0] if same else None)
    assert nearest(word.upper(), OPERATIONS) == (same[0] if same else None)


@pytest.mark.parametrize(
    "word",
    ["raedwrite", "redwrite", "readwirte", "read-write", "readwrit", "trimwrit", "randtrimwrit", "randwr"],
)
def test_who_mistyped_one_is_not_led_to_another(word: str) -> None:
    assert nearest(word, OPERATIONS) in (
        (None, "rw") if "trim" not in word and "rand" not in word else (None,)
    )


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("r", "read"),
        ("W", "write"),
        ("randr", "randread"),
        ("randw", "randwrite"),
        ("rand_w", "randwrite"),
        ("randomr", "randread"),
        ("rndw", "randwrite"),
        ("wo", None),
        ("ro", None),
        ("randwo", None),
        ("r/w", "rw"),
    ],
)
def test_an_operation_cut_short_is_not_led_to_both(word: str, meant: str | None) -> None:
    assert nearest(word, OPERATIONS) == meant


@pytest.mark.parametrize("option", ["--write-pct", "--write-pct=50", "--rwmixwrite"])
def test_a_share_of_writes_is_not_led_to_one_of_reads(
    option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["measure", "sim:tiny-test", *([option] if "=" in option else [option, "50"])]) == 2
    advice = capsys.readouterr().err
    assert "100 minus" in advice and "did you mean" not in advice.lower()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--rw readwrite", "Did you mean rw?"),
        ("--rate_iops=100", "per job and direction"),
        ("--runtime 1", "--time_based"),
        ("--runtime 1 --time_based --bytes 1m", "ignores"),
        ("--numjobs 2 --rw read", "--threads"),
        ("--ioengine posixaio", "glibc"),
        ("--latency_target=500", "depend on measurements"),
        ("--end_fsync=1", "ssdlab job FILE.fio"),
        ("--kb_base=1000", "4096"),
        ("--ioengine psync --iodepth 4", "one I/O in flight"),
        ("--depth 2 --iodepth 4", "more than once"),
        ("--thinktime=100", "100us"),
        ("--number_ios=100", "times the block"),
    ],
)
def test_what_is_said_of_fios_words(words: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["measure", "sim:tiny-test", *words.split()]) == 2
    assert said in capsys.readouterr().err


NAMES = {
    "readwrite": ("rw", "randrw"),
    "rwmixread": ("read_pct", 30),
    "numjobs": ("threads", 3),
    "iodepth": ("depth", 7),
    "runtime": ("seconds", "2m"),
}


def test_fios_words_ask_for_what_ours_do(monkeypatch: pytest.MonkeyPatch) -> None:
    from ssdlab.runs import measure

    asked: list[MeasureOptions] = []

    def perform(_: str, options: MeasureOptions, __: object) -> None:
        asked.append(options)
        raise UsageError("not now", "later")

    monkeypatch.setattr(measure, "perform", perform)
    words = [word for name, (_, value) in NAMES.items() for word in (f"--{name}", str(value))]
    assert (
        main(["measure", "sim:tiny-test", *words, "--ioengine", "libaio", "--time_based", "--bs", "8k"]) == 2
    )
    ours = {word: value for word, value in NAMES.values()}
    assert asked == [MeasureOptions(**ours, engine="uring", bs="8k")]


def test_all_words_of_a_line_of_fio_are_told_of_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    line = "--name=x --filename=/dev/sdz --rw=randread --bs=4k --direct=1 --iodepth=8 --group_reporting"
    assert main(["measure", *line.split()]) == 2
    said = capsys.readouterr().err
    assert all(word in said for word in ("--name", "--filename", "--direct", "--group_reporting"))
    assert "ssdlab job FILE.fio" in said
    assert not any(word in said for word in ("--rw", "--bs", "--iodepth", "ssdlab import"))


def test_sequential_reads_and_writes_have_a_place_each_as_in_fio() -> None:
    (stream,) = MeasureOptions(rw="rw").workload().streams
    assert (stream.pattern, stream.write_pattern) == (Sequential(), Sequential())
    assert "write_pattern" in MeasureOptions(rw="rw").model_fields_set, "told, and apart from older runs"
    (other,) = MeasureOptions(rw="rw", write_pattern="uniform").workload().streams
    assert other.write_pattern == Uniform()
    assert MeasureOptions(rw="randrw").workload().streams[0].write_pattern is None


def test_a_random_map_can_be_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    """Each block once a pass, and the next pass in another order, as fio does by time."""
    asked = MeasureOptions(rw="randread", pattern="shuffled")
    assert asked.workload().streams[0].pattern == Shuffled(anew=True)
    assert option_text("pattern", asked.model_dump(mode="json", exclude_unset=True)["pattern"]) == "shuffled"
    words = ["measure", "sim:tiny-test,scale=4", "--bytes", "1m", "--allow-unwritten", "--rw", "randread"]
    assert main([*words, "--iodepth", "1"]) == 0
    assert "shuffled" in capsys.readouterr().err
    for more in (["--iodepth", "1", "--pattern", "shuffled"], []):
        assert main([*words, *more]) == 0
        assert "shuffled" not in capsys.readouterr().err


def test_a_rate_beside_fios_words_is_said_to_be_another(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["measure", "sim:tiny-test,scale=4", "--rate", "100", "--allow-unwritten"]
    assert main([*words, "--runtime", "100ms", "--time_based", "--interval", "10ms"]) == 0
    assert "bytes per second" in capsys.readouterr().err
    assert main([*words, "--seconds", "100ms", "--interval", "10ms"]) == 0
    assert "bytes per second" not in capsys.readouterr().err


@pytest.mark.parametrize(("word", "engine"), FIO_ENGINES.items())
def test_an_engine_of_fio_is_one_of_ours(word: str, engine: str) -> None:
    assert MeasureOptions(engine=word).engine == engine


@pytest.mark.parametrize("word", ["trimwrite", "randtrimwrite"])
def test_what_has_no_like_here_has_no_hint(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["measure", "sim:tiny-test", "--rw", word]) == 2
    said = capsys.readouterr().err
    assert f"there is no rw '{word}'" in said and "Did you mean" not in said
