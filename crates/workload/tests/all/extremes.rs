//! Whatever its numbers, a workload is either refused or runs: nothing overflows or panics.

use crate::workloads::{stream, workload};
use proptest::prelude::*;
use workload::Plan;
use workload::spec::{Arrival, Band, BlockWeight, Ops, Pattern, Process, Rate, Span, Stop, Stream};

/// Small numbers, powers of two and their neighbours, multiples of 512, and arbitrary numbers.
fn any_number() -> impl Strategy<Value = u64> {
    prop_oneof![
        0u64..10,
        (0u32..64, 0u64..3).prop_map(|(bit, more)| (1u64 << bit).wrapping_add(more) - 1),
        (0u64..1 << 54).prop_map(|sectors| sectors * 512),
        any::<u64>(),
    ]
}

fn any_word() -> impl Strategy<Value = u32> {
    any_number().prop_map(|number| number as u32)
}

fn any_pattern() -> impl Strategy<Value = Pattern> {
    let band = (any_word(), any_word()).prop_map(|(access_weight, span_weight)| Band {
        access_weight,
        span_weight,
    });
    prop_oneof![
        Just(Pattern::Uniform),
        any::<bool>().prop_map(|anew| Pattern::Shuffled { anew }),
        any::<u32>().prop_map(|step_bytes| Pattern::Stepped { step_bytes }),
        prop::option::of(prop::collection::vec(any_number(), 0..3))
            .prop_map(|cursors| Pattern::Sequential { cursors }),
        (0u32..11_000).prop_map(|theta_milli| Pattern::Zipf { theta_milli }),
        prop::collection::vec(band, 0..4).prop_map(Pattern::Bands),
        (any_word(), any_number(), any_number()).prop_map(|(count, length_bytes, stride_bytes)| {
            Pattern::Segments {
                count,
                length_bytes,
                stride_bytes,
            }
        }),
        (any_number(), any_number()).prop_map(|(raw_bytes, behind_bytes)| Pattern::OnePass {
            raw_bytes,
            behind_bytes,
        }),
    ]
}

fn any_arrival() -> impl Strategy<Value = Arrival> {
    let process = prop_oneof![
        Just(Process::Even),
        Just(Process::Poisson),
        Just(Process::Act6),
        (0u32..9).prop_map(|queues| Process::Act2019 { queues }),
    ];
    let rate = (any_number(), any_number()).prop_map(|(num, den)| Rate { num, den });
    prop_oneof![
        any_number().prop_map(|think_ns| Arrival::Closed { think_ns }),
        (any_number(), any_number())
            .prop_map(|(bytes, every_ns)| Arrival::Bursts { bytes, every_ns }),
        (any_number(), any_number())
            .prop_map(|(on_ns, every_ns)| Arrival::Pulses { on_ns, every_ns }),
        (process, rate, any_number()).prop_map(|(process, rate, backlog_ns)| Arrival::Open {
            process,
            rate,
            backlog_ns,
        }),
    ]
}

prop_compose! {
    fn any_stream()(
        block in prop::collection::vec((any_word(), any_word()), 0..4),
        pattern in any_pattern(),
        arrival in any_arrival(),
        (start, length) in (any_number(), any_number()),
        (read_pct, workers) in (any::<u8>(), 0u32..6),
        (bytes, ios, span_once) in (prop::option::of(any_number()), prop::option::of(any_number()), any::<bool>()),
    ) -> Stream {
        Stream {
            ops: Ops::Mix { read_pct },
            block: block.into_iter().map(|(bytes, weight)| BlockWeight { bytes, weight }).collect(),
            span: Span { start, length },
            stop: Stop { time_ns: None, bytes, ios, span_once },
            pattern,
            arrival,
            workers,
            ..stream()
        }
    }
}

/// Moves the numbers towards their bounds, so that most of the workloads are valid and run.
fn bent(mut stream: Stream) -> Stream {
    stream.ops = Ops::Mix { read_pct: 50 };
    stream.workers = stream.workers.max(1);
    stream.block.truncate(1);
    let plain = BlockWeight {
        bytes: 4096,
        weight: 1,
    };
    stream.block.resize(1, plain);
    for block in &mut stream.block {
        block.bytes = (block.bytes % (1 << 30)).next_multiple_of(512).max(512);
        block.weight = block.weight.max(1);
    }
    let unit = u64::from(stream.smallest_block_bytes().max(512));
    let highest = i64::MAX as u64;
    stream.span.start = (stream.span.start % highest) / unit * unit;
    let room = highest - stream.span.start;
    stream.span.length = (stream.span.length % room).max(unit) / unit * unit;
    stream.stop.span_once &= matches!(stream.pattern, Pattern::Sequential { .. });
    bend_arrival(&mut stream.arrival, unit);
    stream
}

fn bend_arrival(arrival: &mut Arrival, unit: u64) {
    const MAX_NS: u64 = workload::validate::MAX_TIME_NS;
    match arrival {
        Arrival::Closed { think_ns } => *think_ns %= MAX_NS,
        Arrival::Recorded { backlog_ns } => *backlog_ns = *backlog_ns % MAX_NS + 1,
        Arrival::Pulses { on_ns, every_ns } => {
            *on_ns = *on_ns % (MAX_NS - 1) + 1;
            *every_ns = *on_ns + 1 + *every_ns % (MAX_NS - *on_ns);
        }
        Arrival::Bursts { bytes, every_ns } => {
            *bytes = (*bytes % (1 << 60)).next_multiple_of(unit).max(unit);
            *every_ns = *every_ns % MAX_NS + 1;
        }
        Arrival::Open {
            rate, backlog_ns, ..
        } => {
            rate.den = rate.den % 1_000_000_000_000 + 1;
            let (slowest, fastest) = (rate.den.div_ceil(1_000_000), rate.den * 1000);
            let fastest = fastest.min(1_000_000_000_000);
            rate.num = slowest + rate.num % (fastest - slowest + 1);
            *backlog_ns = *backlog_ns % MAX_NS + 1;
        }
    }
}

/// Runs the beginning of a workload if it is valid.
fn runs_if_valid(stream: &Stream, seed: u64) -> Result<(), TestCaseError> {
    let Ok(plan) = Plan::new(&workload(seed, stream.clone())) else {
        return Ok(());
    };
    let plan = plan.stream(0);
    for source in 0..plan.sources() {
        plan.quota(source);
        let mut generator = plan.generator(source);
        for _ in 0..20 {
            let io = generator.next();
            prop_assert!(io.offset >= stream.span.start);
            prop_assert!(io.offset + u64::from(io.length) <= stream.span.end());
        }
        if let Some(mut schedule) = plan.schedule(source) {
            let dues: Vec<u64> = (0..50).map(|_| schedule.next()).collect();
            prop_assert!(dues.is_sorted());
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn anything_is_refused_or_runs(stream in any_stream(), seed: u64) {
        runs_if_valid(&stream, seed)?;
        runs_if_valid(&bent(stream), seed)?;
    }
}
