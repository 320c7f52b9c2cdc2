"""Each protocol against an instrument on loopback whose watts are known."""

from __future__ import annotations

import time

import numpy as np
import pytest

from power.servers import HEADER, MODULE, Qis, Scpi, serving
from ssdlab.model.errors import HostError, Refused, UsageError
from ssdlab.model.meter_text import MeterText
from ssdlab.power.collecting import Collector
from ssdlab.power.kinds import open_meter
from ssdlab.power.lines import DeviceClock
from ssdlab.power.quarch import parse_header
from ssdlab.power.rails import rails_of


def text(kind: str, server: Scpi | Qis, settings: str = "") -> MeterText:
    return MeterText.parse(f"{kind}:127.0.0.1:{server.port}{settings}")


@pytest.mark.parametrize("power", [True, False])
def test_an_instrument_is_asked_for_power_or_volts_and_amperes(power: bool) -> None:
    with serving(Scpi(lambda at: 4.5, power=power)) as server:
        meter = open_meter(text("scpi", server))
        samples = meter.read(1)
        assert samples.watts.tolist() == [[pytest.approx(4.5, rel=1e-5)]]
        assert meter.info.name == "Acme PA9000"
        assert ("MEAS:CURR?" in server.asked) == (not power)
        meter.close()


def test_channels_of_an_instrument_are_rails() -> None:
    with serving(Scpi(lambda at: 4.0)) as server:
        meter = open_meter(text("scpi", server, ",rails=CH1+CH2"))
        assert meter.read(1).watts.tolist() == [[pytest.approx(3.0), pytest.approx(1.0)]]
        assert meter.info.rails == ("CH1", "CH2")
        meter.close()
        with pytest.raises(UsageError, match="is not a channel"):
            open_meter(text("scpi", server, ",rails=main"))


def test_an_instrument_that_measures_no_power_is_refused() -> None:
    with (
        serving(Scpi(lambda at: 4.0, power=False, bare=True)) as server,
        pytest.raises(Refused, match="neither power nor voltage"),
    ):
        open_meter(text("scpi", server))


@pytest.mark.parametrize("kind", ["scpi", "quarch"])
def test_nobody_listens(kind: str) -> None:
    with serving(Scpi(lambda at: 4.0)) as server:
        port = server.port
    with pytest.raises(HostError, match="does not answer"):
        open_meter(MeterText.parse(f"{kind}:127.0.0.1:{port}"))


@pytest.mark.parametrize("place", ["", "host:port", "host:0", "a:1:2", "host:70000"])
def test_what_is_no_address_is_refused(place: str) -> None:
    with pytest.raises(UsageError, match="does not name a host"):
        open_meter(MeterText.parse(f"scpi:{place}"))


@pytest.mark.parametrize("make", [Scpi, Qis])
def test_an_instrument_that_hangs_up_is_gone_and_the_samples_stay(make: type[Scpi] | type[Qis]) -> None:
    kind = "scpi" if make is Scpi else "quarch"
    with serving(make(lambda at: 2.0)) as server, Collector(open_meter(text(kind, server))) as collector:
        began = time.monotonic_ns()
        collector.trace(began, began + 400_000_000)
        time.sleep(0.4)
        server.hang_up()
        limit = time.monotonic() + 20
        while collector.died is None and time.monotonic() < limit:
            time.sleep(0.01)
        assert collector.died is not None
        assert "does not answer" in collector.died.what
        drawn = collector.trace(began, began + 200_000_000).drawn(began, began + 200_000_000)
        assert drawn is not None
        assert drawn.mean_w == pytest.approx(2.0, rel=0.01)


def test_a_module_streams_volts_and_amperes_of_each_rail() -> None:
    with serving(Qis(lambda at: 8.0)) as server:
        meter = open_meter(text("quarch", server))
        assert (meter.info.rails, meter.info.rate_hz) == (("12V", "5V"), 10_000)
        assert meter.info.name == f"Quarch {MODULE}"
        got = [meter.read(0.2) for _ in range(5)]
        watts = np.concatenate([each.watts for each in got])
        assert watts.mean(axis=0).tolist() == [pytest.approx(6.0), pytest.approx(2.0)]
        assert sum(each.lost for each in got) == 0
        times = np.concatenate([each.time_ns for each in got])
        assert len(times) == server.sent
        meter.close()
        assert not server.running


def test_a_module_is_chosen_where_there_are_several() -> None:
    with serving(Qis(lambda at: 8.0)) as server:
        server.modules.append("USB:QTL2312")
        with pytest.raises(UsageError, match="2 modules, and none is named") as told:
            open_meter(text("quarch", server))
        assert MODULE in told.value.advice
        open_meter(text("quarch", server, f"/{MODULE}")).close()
        server.modules.clear()
        with pytest.raises(UsageError, match="0 modules"):
            open_meter(text("quarch", server))


def test_samples_that_were_lost_are_counted() -> None:
    with serving(Qis(lambda at: 1.0, skip=range(100, 137))) as server:
        with Collector(open_meter(text("quarch", server))) as collector:
            began = time.monotonic_ns()
            collector.trace(began, began + 10**9)
            time.sleep(0.5)
        assert collector.lost == 37


def test_samples_out_of_order_are_left_out_and_counted() -> None:
    with serving(Qis(lambda at: 1.0)) as server:
        server.swapped = range(200, 210, 2)
        with Collector(open_meter(text("quarch", server))) as collector:
            began = time.monotonic_ns()
            time.sleep(0.6)
            drawn = collector.trace(began, began + 300_000_000).drawn(began, began + 300_000_000)
        assert collector.disordered == 5
        assert drawn is not None
        assert drawn.mean_w == pytest.approx(1.0)


def test_every_sample_of_a_fast_stream_arrives() -> None:
    """100 kS/s: counted, whatever time it takes."""
    watts = lambda at: 5.0 + (at // 1_000_000) % 2  # noqa: E731
    with serving(Qis(watts, period_us=10)) as server:
        meter = open_meter(text("quarch", server))
        got = []
        while sum(len(each.time_ns) for each in got) < 100_000:
            got.append(meter.read(0.5))
        times = np.concatenate([each.time_ns for each in got])
        assert sum(each.lost for each in got) == 0
        assert len(times) == server.sent
        whole = np.concatenate([each.watts for each in got]).sum(axis=1)
        expected = [watts(server.began + number * 10_000) for number in range(len(times))]
        assert whole.mean() == pytest.approx(np.mean(expected), rel=1e-4)
        meter.close()


def test_the_streams_own_time_is_mapped_to_the_hosts() -> None:
    """A step of power is seen when it was: to a few ms on loopback; the module's clock begins at 0."""
    at_ns = time.monotonic_ns() + 600_000_000
    step = Qis(lambda at: 9.0 if at >= at_ns else 1.0)
    with serving(step), Collector(open_meter(text("quarch", step))) as collector:
        time.sleep(max(at_ns + 400_000_000 - time.monotonic_ns(), 0) / 1e9)
        trace = collector.trace(at_ns - 300_000_000, at_ns + 300_000_000)
    steps = np.flatnonzero(trace.watts.sum(axis=1) > 5)
    # Bins of 10 ms, and QIS is asked ten times a second by a host that may be busy.
    assert abs(int(trace.start_ns[steps[0]]) - at_ns) < 60_000_000


@pytest.mark.parametrize("ppm", [-100.0, 0.0, 100.0])
def test_a_clock_that_drifts_is_followed_and_measured(ppm: float) -> None:
    random = np.random.default_rng(3)
    clock, errors = DeviceClock(), []
    for block in range(3000):
        host = 10**12 + block * 100_000_000
        device = round((host - 10**12) * (1 + ppm / 1e6))
        offset = clock.put(device, host + round(random.exponential(2e6)))
        errors.append(abs(device + offset - host))
    assert max(errors[64:]) < 2_000_000
    assert clock.drift_ppm == pytest.approx(-ppm, abs=10)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ("no header", "not XML"),
        (HEADER.format(period=""), "no period"),
        ('<!DOCTYPE a [<!ENTITY b "c">]><header/>', "no document type"),
    ],
)
def test_a_header_that_is_none_is_refused(changed: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        parse_header(changed)


def test_a_header_tells_unit_rails_and_totals() -> None:
    total = "<channel><group>power</group><name>Tot</name><units>uW</units></channel></channels>"
    own = "<channel><group>power</group><name>12V</name><units>mW</units></channel></channels>"
    plain = parse_header(HEADER.format(period="4uS").replace("</channels>", total))
    assert (plain.period_ns, plain.tick_ns, plain.columns) == (4000, 1000, 6)
    meter = MeterText.parse("quarch:lab")
    rails = rails_of(meter, plain.amounts, of_one_drive=True).rails
    assert [rail.name for rail in rails] == ["12V", "5V"]
    assert rails[0].watts(np.array([[0, 12_000, 500_000, 0, 0, 0]])).tolist() == [6.0]
    metered = parse_header(HEADER.format(period="500nS").replace("</channels>", own))
    assert (metered.period_ns, metered.tick_ns) == (500, 1)
    rails = rails_of(meter, metered.amounts, of_one_drive=True).rails
    assert rails[0].watts(np.array([[0, 12_000, 500_000, 0, 0, 7_000]])).tolist() == [7.0]


def test_a_stream_of_half_a_rail_is_refused_by_name() -> None:
    header = HEADER.format(period="4uS")
    half = "<channel><group>voltage</group><name>3V3</name><units>mV</units></channel></channels>"
    amounts = parse_header(header.replace("</channels>", half)).amounts
    with pytest.raises(Refused, match="volts but no amperes") as raised:
        rails_of(MeterText.parse("quarch:lab"), amounts, of_one_drive=True)
    assert raised.value.facts["columns"] == ["3V3 [mV]"]
    chosen = rails_of(MeterText.parse("quarch:lab,rails=12V"), amounts, of_one_drive=True).rails
    assert [rail.name for rail in chosen] == ["12V"]
