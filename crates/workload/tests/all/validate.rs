//! What the bounds of the spec refuse, and the message for each case.

use crate::workloads::{blocks, open, stream, workload};
use workload::Workload;
use workload::spec::{Arrival, Band, Engine, Ops, Pattern, Process, Span, Stop, Stream};
use workload::validate::{MAX_OFFSET, MAX_TIME_NS};

/// A change to the plain stream, the field for which it must be refused, its value and a part of
/// the bound.
pub type Case = (
    &'static str,
    &'static str,
    &'static str,
    Box<dyn Fn(&mut Stream)>,
);

pub fn case(
    field: &'static str,
    value: &'static str,
    bound: &'static str,
    change: impl Fn(&mut Stream) + 'static,
) -> Case {
    (field, value, bound, Box::new(change))
}

pub fn assert_refused(cases: Vec<Case>) {
    for (field, value, bound, change) in cases {
        let mut stream = stream();
        change(&mut stream);
        let error = workload(1, stream).validate().expect_err(field);
        assert_eq!(error.field, format!("streams[0].{field}"), "{error}");
        assert_eq!(error.value, value, "{error}");
        assert!(
            error.bound.starts_with("must ") && error.bound.contains(bound),
            "{error}"
        );
        assert!(error.to_string().contains(value));
    }
}

#[test]
fn the_plain_stream_is_valid() {
    workload(1, stream()).validate().unwrap();
}

#[test]
fn the_workload_itself_is_bounded() {
    let plain = workload(1, stream());
    let refused = |field: &str, change: &dyn Fn(&mut Workload)| {
        let mut changed = plain.clone();
        change(&mut changed);
        assert_eq!(changed.validate().unwrap_err().field, field);
    };
    refused("interval_ns", &|w| w.interval_ns = 0);
    refused("ramp_ns", &|w| w.ramp_ns = MAX_TIME_NS + 1);
    refused("ramp_ns", &|w| {
        w.ramp_ns = 5;
        w.streams[0].stop.time_ns = Some(5);
    });
    refused("streams (count)", &|w| w.streams.clear());
    refused("streams[1].name", &|w| w.streams.push(stream()));
    refused("streams[0].name", &|w| w.streams[0].name.clear());
}

#[test]
fn blocks_and_spans_are_bounded() {
    assert_refused(vec![
        case("ops.mix.read_pct", "101", "0 to 100", |s| {
            s.ops = Ops::Mix { read_pct: 101 }
        }),
        case("ops.ratio.writes", "0", "1 to", |s| {
            s.ops = Ops::Ratio {
                reads: 1,
                writes: 0,
            }
        }),
        case("block (count)", "0", "1 to 64", |s| s.block.clear()),
        case("block[0].bytes", "0", "512 to", |s| {
            s.block = blocks(&[(0, 1)]);
        }),
        case("block[0].bytes", "1000", "multiple of 512", |s| {
            s.block = blocks(&[(1000, 1)]);
        }),
        case("block[1].bytes", "4096", "once only", |s| {
            s.block = blocks(&[(4096, 1), (4096, 2)]);
        }),
        case("block[0].weight", "0", "1 to", |s| {
            s.block = blocks(&[(4096, 0)]);
        }),
        case(
            "span.start",
            "512",
            "multiple of the smallest block, 4096",
            |s| s.span.start = 512,
        ),
        case("span.start", "9223372036854775808", "0 to", |s| {
            s.span.start = MAX_OFFSET + 1;
        }),
        case("span.length", "2048", "4096 to", |s| s.span.length = 2048),
        case("span.length", "0", "4096 to", |s| s.span.length = 0),
        case(
            "span.length",
            "6144",
            "multiple of the smallest block",
            |s| s.span.length = 6144,
        ),
        case("span.length", "9223372036854771712", "4096 to", |s| {
            s.span = Span {
                start: 8192,
                length: MAX_OFFSET - 4095,
            };
        }),
        case(
            "span.length",
            "131072",
            "one whole aligned block of 131072",
            |s| {
                s.block = blocks(&[(4096, 1), (131_072, 1)]);
                s.span = Span {
                    start: 4096,
                    length: 131_072,
                };
            },
        ),
    ]);
}

#[test]
fn ways_of_issuing_are_bounded() {
    let uring = |s: &mut Stream| {
        s.engine = Engine::Uring;
        s.depth = 8;
    };
    assert_refused(vec![
        case("workers", "0", "1 to 4096", |s| s.workers = 0),
        case("workers", "5000", "1 to 4096", |s| s.workers = 5000),
        case("depth", "0", "1 to 32768", |s| s.depth = 0),
        case("depth", "2", "1 with engine sync", |s| s.depth = 2),
        case("batch", "1", "unset with engine sync", |s| {
            s.batch = Some(1);
        }),
        case("polled", "true", "false with engine sync", |s| {
            s.polled = true;
        }),
        case("batch", "9", "1 to 8", move |s| {
            uring(s);
            s.batch = Some(9);
        }),
        case("batch", "0", "1 to 8", move |s| {
            uring(s);
            s.batch = Some(0);
        }),
        case("polled", "true", "unless direct", move |s| {
            uring(s);
            s.polled = true;
            s.direct = false;
        }),
        case("compressible_pct", "101", "0 to 100", |s| {
            s.compressible_pct = 101;
        }),
        case("flush_every", "0", "1 to", |s| {
            s.ops = Ops::Mix { read_pct: 0 };
            s.flush_every = Some(0);
        }),
        case("flush_every", "8", "does not write", |s| {
            s.flush_every = Some(8);
        }),
        case("dsync", "true", "does not write", |s| {
            s.ops = Ops::Trim;
            s.dsync = true;
        }),
    ]);
}

#[test]
fn arrivals_are_bounded() {
    let bursts = |bytes, every_ns| Arrival::Bursts { bytes, every_ns };
    let pulses = |on_ns, every_ns| Arrival::Pulses { on_ns, every_ns };
    assert_refused(vec![
        case("arrival.closed.think_ns", "7776000000000001", "0 to", |s| {
            s.arrival = Arrival::Closed {
                think_ns: MAX_TIME_NS + 1,
            };
        }),
        case("arrival.pulses.on_ns", "0", "1 to", move |s| {
            s.arrival = pulses(0, 5);
        }),
        case("arrival.pulses.every_ns", "5", "6 to", move |s| {
            s.arrival = pulses(5, 5);
        }),
        case(
            "arrival.pulses.every_ns",
            "7776000000000001",
            "6 to",
            move |s| {
                s.arrival = pulses(5, MAX_TIME_NS + 1);
            },
        ),
        case(
            "arrival.pulses.on_ns",
            "18446744073709551615",
            "1 to",
            move |s| {
                s.arrival = pulses(u64::MAX, u64::MAX);
            },
        ),
        case("arrival.open.rate.num", "0", "1 to", |s| {
            s.arrival = open(Process::Even, 0, 1);
        }),
        case("arrival.open.rate.den", "0", "1 to", |s| {
            s.arrival = open(Process::Even, 1, 0);
        }),
        case(
            "arrival.open.rate",
            "1000000001/1",
            "at most 1000000000 per second",
            |s| {
                s.arrival = open(Process::Even, 1_000_000_001, 1);
            },
        ),
        case(
            "arrival.open.rate",
            "1/7776001",
            "one in 7776000 seconds",
            |s| {
                s.arrival = open(Process::Poisson, 1, 7_776_001);
            },
        ),
        case("arrival.open.backlog_ns", "0", "1 to", |s| {
            let Arrival::Open { process, rate, .. } = open(Process::Act6, 1, 1) else {
                unreachable!()
            };
            s.arrival = Arrival::Open {
                process,
                rate,
                backlog_ns: 0,
            };
        }),
        case("arrival.open.process.act2019.queues", "0", "1 to 8", |s| {
            s.workers = 8;
            s.arrival = open(Process::Act2019 { queues: 0 }, 1, 1);
        }),
        case(
            "arrival.open.process.act2019.queues",
            "3",
            "divide the workers, 8",
            |s| {
                s.workers = 8;
                s.arrival = open(Process::Act2019 { queues: 3 }, 1, 1);
            },
        ),
        case("arrival.bursts.bytes", "0", "4096 to", move |s| {
            s.arrival = bursts(0, 1);
        }),
        case(
            "arrival.bursts.bytes",
            "5000",
            "multiple of the block",
            move |s| s.arrival = bursts(5000, 1),
        ),
        case("arrival.bursts.every_ns", "0", "1 to", move |s| {
            s.arrival = bursts(4096, 0);
        }),
        case("block (count)", "2", "1 with bursts", move |s| {
            s.block = blocks(&[(4096, 1), (8192, 1)]);
            s.arrival = bursts(8192, 1);
        }),
    ]);
}

#[test]
fn segments_are_bounded() {
    let refused = |place, given, range, (count, length_bytes, stride_bytes)| {
        case(place, given, range, move |s| {
            s.pattern = Pattern::Segments {
                count,
                length_bytes,
                stride_bytes,
            };
        })
    };
    let [count, length, stride] = [
        "pattern.segments.count",
        "pattern.segments.length_bytes",
        "pattern.segments.stride_bytes",
    ];
    assert_refused(vec![
        refused(count, "0", "1 to 65536", (0, 4096, 4096)),
        refused(count, "65537", "1 to 65536", (65_537, 4096, 4096)),
        refused(stride, "1", "4096 to", (2, 1, 1)),
        refused(length, "8192", "4096 to 4096", (2, 8192, 4096)),
        refused(stride, "1152921504606846976", "4096 to", (2, 4096, 1 << 60)),
        refused(length, "4608", "whole number of blocks", (2, 4608, 8192)),
    ]);
}

#[test]
fn patterns_are_bounded() {
    let bands = |list: &[(u32, u32)]| {
        let band = |&(access_weight, span_weight)| Band {
            access_weight,
            span_weight,
        };
        Pattern::Bands(list.iter().map(band).collect())
    };
    let cursors = |list: &[u64]| Pattern::Sequential {
        cursors: Some(list.to_vec()),
    };
    assert_refused(vec![
        case(
            "pattern.stepped.step_bytes",
            "1000",
            "multiple of 512",
            |s| s.pattern = Pattern::Stepped { step_bytes: 1000 },
        ),
        case("pattern.zipf.theta_milli", "0", "1 to 10000", |s| {
            s.pattern = Pattern::Zipf { theta_milli: 0 }
        }),
        case("pattern.zipf.theta_milli", "10001", "1 to 10000", |s| {
            s.pattern = Pattern::Zipf {
                theta_milli: 10_001,
            }
        }),
        case("pattern.bands (count)", "0", "1 to 64", move |s| {
            s.pattern = bands(&[]);
        }),
        case("pattern.bands[1].span_weight", "0", "1 to", move |s| {
            s.pattern = bands(&[(1, 1), (1, 0)]);
        }),
        case("pattern.bands[].access_weight", "0", "above 0", move |s| {
            s.pattern = bands(&[(0, 1), (0, 1)]);
        }),
        case(
            "pattern.bands[0].span_weight",
            "1",
            "at least one block",
            move |s| {
                s.pattern = bands(&[(1, 1), (1, 1_000_000)]);
            },
        ),
        case(
            "block[0].bytes",
            "6144",
            "multiple of the smallest block, 4096",
            |s| {
                s.block = blocks(&[(6144, 1), (4096, 1)]);
                s.pattern = Pattern::Sequential { cursors: None };
            },
        ),
        case(
            "pattern.sequential.cursors (count)",
            "2",
            "1, one for each source",
            move |s| s.pattern = cursors(&[0, 0]),
        ),
        case(
            "pattern.sequential.cursors[0]",
            "67112960",
            "0 to 67108864",
            move |s| {
                s.pattern = cursors(&[(64 << 20) + 4096]);
            },
        ),
        case(
            "pattern.sequential.cursors[0]",
            "512",
            "whole number of blocks",
            move |s| s.pattern = cursors(&[512]),
        ),
        case(
            "pattern.sequential.cursors[1]",
            "4096",
            "33554432 to 67108864",
            move |s| {
                s.workers = 2;
                s.stop.span_once = true;
                s.pattern = cursors(&[0, 4096]);
            },
        ),
    ]);
}

#[test]
fn one_pass_has_bounds() {
    let one_pass = |raw_bytes, behind_bytes| {
        move |s: &mut Stream| {
            s.ops = Ops::Mix { read_pct: 0 };
            s.pattern = Pattern::OnePass {
                raw_bytes,
                behind_bytes,
            };
        }
    };
    let (raw, behind) = (
        "pattern.one_pass.raw_bytes",
        "pattern.one_pass.behind_bytes",
    );
    assert_refused(vec![
        case(raw, "67108864", "more than the span", one_pass(64 << 20, 0)),
        case(
            behind,
            "67108864",
            "a sixteenth",
            one_pass(70 << 20, 64 << 20),
        ),
        case("ops", "Mix { read_pct: 100 }", "writes alone", move |s| {
            one_pass(70 << 20, 0)(s);
            s.ops = Ops::Mix { read_pct: 100 };
        }),
    ]);
}

#[test]
fn stops_are_bounded() {
    let stop = |change: fn(&mut Stop)| move |s: &mut Stream| change(&mut s.stop);
    assert_refused(vec![
        case("stop.time_ns", "0", "1 to", stop(|s| s.time_ns = Some(0))),
        case("stop.bytes", "0", "1 to", stop(|s| s.bytes = Some(0))),
        case("stop.ios", "0", "1 to", stop(|s| s.ios = Some(0))),
        case(
            "stop.span_once",
            "true",
            "sequential",
            stop(|s| s.span_once = true),
        ),
        case("stop.span_once", "true", "several block sizes", |s| {
            s.stop.span_once = true;
            s.pattern = Pattern::Sequential { cursors: None };
            s.block = blocks(&[(4096, 1), (8192, 1)]);
        }),
    ]);
}

#[test]
fn an_error_says_field_value_and_bound_in_one_line() {
    let error = workload(
        1,
        Stream {
            depth: 4,
            ..stream()
        },
    )
    .validate()
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "streams[0].depth is 4: must be 1 with engine sync, which has one I/O in flight; use uring"
    );
}
