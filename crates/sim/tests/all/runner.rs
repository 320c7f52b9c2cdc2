//! The runner measures what the engine for real drives measures, with the same bits every time.

use crate::drives::workloads::{mixed, run_on, run_until, run_with, small, workload};
use crate::drives::{SMALL, filled};
use metrics::{Histogram, Measurement};
use serde_json::{Value, json};
use sim::drive::Drive;
use sim::ftl::{Ftl, Greedy};
use sim::{Options, Unattended, run};
use workload::{Op, Workload};

/// Everything in a measurement that is not a host fact.
fn digest(measurement: &Measurement) -> String {
    let histograms = |h: &Histogram| h.nonzero().collect::<Vec<_>>();
    let streams: Vec<_> = measurement
        .streams
        .iter()
        .map(|s| {
            let ops = s.tally.ops.each_ref();
            let ops = ops.map(|op| {
                (
                    [op.done, op.dropped, op.late, op.bytes],
                    histograms(&op.service),
                    histograms(op.response()),
                    op.service.sum_ns(),
                )
            });
            (
                s.measured_ns,
                s.tally.in_flight_area_ns,
                s.tally.in_flight_max,
                ops,
            )
        })
        .collect();
    format!(
        "{} {streams:?} {:?}",
        measurement.elapsed_ns, measurement.rows
    )
}

#[test]
fn same_seed_same_bits_on_any_thread() {
    let text = mixed(512);
    let once = || digest(&run_with(&text).measurement);
    let first = once();
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let text = mixed(512);
            std::thread::spawn(move || digest(&run_with(&text).measurement))
        })
        .collect();
    for thread in threads {
        assert!(thread.join().unwrap() == first);
    }
    let mut other = mixed(512);
    other["seed"] = json!(2);
    assert!(digest(&run_with(&other).measurement) != first);
}

#[test]
fn a_copy_of_a_drive_lives_the_same_life() {
    let mut drive = small();
    run_on(&mut drive, &mixed(16));
    let mut copy = drive.clone();
    let text = mixed(3);
    assert!(
        digest(&run_on(&mut drive, &text).measurement)
            == digest(&run_on(&mut copy, &text).measurement)
    );
}

/// The obvious loop, without recording and without look-ahead.
fn obvious_loop(drive: &mut Drive<Ftl<Greedy>>, text: &Value, ios: usize) -> u128 {
    let workload: Workload = serde_json::from_value(text.clone()).unwrap();
    let plan = workload::Plan::new(&workload).unwrap();
    let workers = workload.streams[0].workers;
    let mut generators: Vec<_> = (0..workers).map(|w| plan.stream(0).generator(w)).collect();
    let zero = drive.now();
    let mut due: std::collections::BTreeSet<_> = (0..workers).map(|w| (zero, w)).collect();
    let mut sum = 0;
    for _ in 0..ios {
        let (now, worker) = due.pop_first().unwrap();
        let io = generators[worker as usize].next();
        let done = drive.submit(now, io.op, io.offset, io.length);
        sum += u128::from(done - now);
        due.insert((done, worker));
    }
    sum
}

#[test]
fn a_closed_loop_is_the_obvious_loop() {
    let mut drive = small();
    let mut text = workload(json!({"ops": {"mix": {"read_pct": 50}}, "workers": 7}));
    text["streams"][0]["stop"]["ios"] = json!(20_000);
    let mut copy = drive.clone();
    let measured = run_on(&mut drive, &text).measurement;
    // Quotas are fixed shares, so at the end slow workers overlap with fewer others: compare only while all work.
    let ios = 7 * 20_000 / 7;
    let both: u128 = [Op::Read, Op::Write]
        .iter()
        .map(|&op| measured.op(op).service.sum_ns())
        .sum();
    let ratio = both as f64 / obvious_loop(&mut copy, &text, ios) as f64;
    assert!((ratio - 1.0).abs() < 0.01, "{ratio}");
    assert_eq!(
        measured.op(Op::Read).done + measured.op(Op::Write).done,
        20_000
    );
}

#[test]
fn littles_law_holds_to_a_thousandth() {
    for workers in [1_u32, 32, 512] {
        let mut text = workload(json!({"workers": workers, "ops": {"mix": {"read_pct": 70}}}));
        text["streams"][0]["stop"] =
            json!({"time_ns": 3_000_000_000_u64, "bytes": null, "ios": null, "span_once": false});
        let measured = run_with(&text).measurement;
        let sum: u128 = measured.streams[0]
            .tally
            .ops
            .iter()
            .map(|op| op.service.sum_ns())
            .sum();
        // The whole run up to the last completion, because latencies are of every I/O.
        let area_ns = measured.streams[0].tally.in_flight_area_ns;
        let ratio = area_ns as f64 / sum as f64;
        assert!((ratio - 1.0).abs() < 0.001, "{ratio}");
        assert!((measured.in_flight_mean() / f64::from(workers) - 1.0).abs() < 0.001);
        // All are in flight until the stop, and the remaining ones then take their time.
        let min_ns = 3_000_000_000 * u128::from(workers);
        let max_ns = u128::from(measured.elapsed_ns) * u128::from(workers);
        assert!(
            (min_ns..=max_ns).contains(&area_ns),
            "{area_ns} of {min_ns}"
        );
        assert_eq!(measured.streams[0].tally.in_flight_max, workers);
    }
}

#[test]
fn rows_sum_to_the_totals_and_the_ramp_does_not_count() {
    let mut text = workload(json!({"workers": 4}));
    text["interval_ns"] = json!(10_000_000);
    text["ramp_ns"] = json!(50_000_000);
    text["streams"][0]["stop"] =
        json!({"time_ns": 200_000_000, "bytes": null, "ios": null, "span_once": false});
    let measured = run_with(&text).measurement;
    let done = &measured.rows.streams[0].op(Op::Read).unwrap().done;
    let counted: u64 = done[5..].iter().sum();
    assert!(done[..5].iter().all(|&n| n > 0));
    assert_eq!(counted, measured.op(Op::Read).done);
    assert_eq!(
        measured.rows.len(),
        21,
        "the I/Os in flight at the stop complete in a last, short row"
    );
    assert!(measured.elapsed_ns > 200_000_000 && measured.elapsed_ns < 201_000_000);
}

#[test]
fn quotas_are_met_exactly() {
    let mut text = workload(json!({"workers": 3, "depth": 4, "engine": "uring"}));
    text["streams"][0]["stop"]["ios"] = json!(1000);
    assert_eq!(run_with(&text).measurement.op(Op::Read).done, 1000);
    text["streams"][0]["stop"] =
        json!({"time_ns": null, "bytes": 4096 * 77 - 1, "ios": null, "span_once": false});
    assert_eq!(run_with(&text).measurement.op(Op::Read).bytes, 4096 * 77);
}

#[test]
fn a_span_is_covered_once_and_the_cursors_go_on() {
    let mut drive = small();
    let span = drive.user_bytes() / 2 / 131_072 * 131_072;
    let mut text = workload(json!({
        "ops": {"mix": {"read_pct": 0}}, "pattern": {"sequential": {"cursors": null}}, "workers": 2,
        "block": [{"bytes": 131_072, "weight": 1}], "span": {"start": 0, "length": span}
    }));
    text["streams"][0]["stop"] =
        json!({"time_ns": null, "bytes": null, "ios": null, "span_once": true});
    let outcome = run_on(&mut drive, &text);
    assert_eq!(outcome.measurement.op(Op::Write).bytes, span);
    assert_eq!(drive.ftl().map().mapped() * 4096, drive.user_bytes());
    let middle = span / 131_072 / 2 * 131_072;
    assert_eq!(outcome.cursors, [vec![middle, span]]);
}

#[test]
fn think_time_spaces_the_ios() {
    let mut text = workload(json!({"arrival": {"closed": {"think_ns": 1_000_000}}}));
    text["streams"][0]["stop"] =
        json!({"time_ns": 1_000_000_000, "bytes": null, "ios": null, "span_once": false});
    let measured = run_with(&text).measurement;
    let read = measured.op(Op::Read);
    let period = read.service.mean_ns().unwrap() + 1e6;
    assert!(
        (read.done as f64 - 1e9 / period).abs() < 2.0,
        "{} in {period}",
        read.done
    );
    assert_eq!((measured.elapsed_ns, read.late), (1_000_000_000, 0));
}

#[test]
fn pulses_rest_to_the_nanosecond_and_rests_are_rows() {
    const MS: u64 = 1_000_000;
    let mut text = workload(json!({
        "workers": 2, "depth": 4, "engine": "uring",
        "arrival": {"pulses": {"on_ns": 5 * MS, "every_ns": 20 * MS}}
    }));
    text["interval_ns"] = json!(5 * MS);
    text["streams"][0]["stop"] =
        json!({"time_ns": 60 * MS, "bytes": null, "ios": null, "span_once": false});
    let measured = run_with(&text).measurement;
    let rows = measured.rows.streams[0].ops[0].as_ref().expect("reads");
    assert_eq!((rows.done.len(), measured.elapsed_ns), (12, 60 * MS));
    for (at, &done) in rows.done.iter().enumerate() {
        // I/Os in flight at the end of a pulse complete during the rest: at most the depth of all workers.
        let few = if at % 4 == 1 { 0..=8 } else { 0..=0 };
        assert!(
            at % 4 == 0 && done > 8 || few.contains(&done),
            "row {at}: {done}"
        );
    }
    let read = measured.op(Op::Read);
    assert_eq!((read.late, read.dropped), (0, 0));
}

fn open(process: &Value, rate: u64, backlog_ns: u64) -> Value {
    json!({"open": {"process": process, "rate": {"num": rate, "den": 1}, "backlog_ns": backlog_ns}})
}

#[test]
fn an_open_loop_keeps_its_rate_when_the_drive_can() {
    for (process, sources) in [
        (json!("even"), 1),
        (json!("poisson"), 1),
        (json!("act6"), 8),
        (json!({"act2019": {"queues": 2}}), 2),
    ] {
        let mut text =
            workload(json!({"workers": 8, "arrival": open(&process, 20_000, 1_000_000_000)}));
        text["streams"][0]["stop"] =
            json!({"time_ns": 2_000_000_000, "bytes": null, "ios": null, "span_once": false});
        let read = run_with(&text).measurement.op(Op::Read);
        let off = (read.done as f64 - 40_000.0).abs();
        let allowed = if process == json!("poisson") {
            5.0 * 200.0
        } else {
            f64::from(sources)
        };
        assert!(off <= allowed, "{process}: {} done", read.done);
        assert_eq!((read.dropped, read.late), (0, 0), "{process}");
    }
}

#[test]
fn a_stream_that_waits_is_measured_until_it_stops() {
    let stop = json!({"time_ns": 1_000_000_000, "bytes": null, "ios": null, "span_once": false});
    let thinks = json!({"closed": {"think_ns": 300_000_000}});
    let bursts = json!({"bursts": {"bytes": 8192, "every_ns": 400_000_000}});
    let arrivals = ["even", "poisson", "act6"].map(|each| open(&json!(each), 3, 1_000_000_000));
    for arrival in arrivals.into_iter().chain([thinks, bursts]) {
        for workers in [1, 2, 3, 8] {
            let mut text = workload(json!({"workers": workers, "arrival": arrival}));
            text["streams"][0]["stop"] = stop.clone();
            let measured = run_with(&text).measurement;
            assert_eq!(measured.elapsed_ns, 1_000_000_000, "{arrival}, {workers}");
        }
    }
}

#[test]
fn an_overrun_open_loop_drops_what_waits_too_long_and_counts_it() {
    let backlog_ns = 20_000_000;
    let mut text =
        workload(json!({"workers": 1, "arrival": open(&json!("even"), 40_000, backlog_ns)}));
    text["streams"][0]["stop"] =
        json!({"time_ns": 1_000_000_000, "bytes": null, "ios": null, "span_once": false});
    let measured = run_with(&text).measurement;
    let read = measured.op(Op::Read);
    assert_eq!(read.requested(), 40_000);
    let service = read.service.mean_ns().unwrap();
    let expected = (1e9 + backlog_ns as f64) / service;
    assert!(
        (read.done as f64 / expected - 1.0).abs() < 0.01,
        "{} of {expected}",
        read.done
    );
    assert!(read.dropped > 20_000 && read.late * 20 > read.done * 18);
    assert!(read.lateness.max_ns().unwrap() <= backlog_ns);
    assert!(measured.elapsed_ns <= 1_000_000_000 + backlog_ns + 1_000_000);
}

#[test]
fn a_burst_is_due_at_once() {
    let mut text = workload(json!({
        "workers": 4, "ops": {"mix": {"read_pct": 0}}, "arrival": {"bursts": {"bytes": 409_600, "every_ns": 100_000_000}}
    }));
    text["streams"][0]["stop"] =
        json!({"time_ns": 950_000_000, "bytes": null, "ios": null, "span_once": false});
    let measured = run_with(&text).measurement;
    assert_eq!(measured.op(Op::Write).done, 1000);
    let write = measured.op(Op::Write);
    assert!(write.response().max_ns() > write.service.max_ns());
}

#[test]
fn streams_end_on_their_own_and_share_the_drive() {
    let mut text = workload(json!({"name": "readers", "workers": 8}));
    let mut writer =
        workload(json!({"name": "writer", "ops": {"mix": {"read_pct": 0}}}))["streams"][0].clone();
    writer["stop"]["ios"] = json!(10_000);
    text["streams"][0]["stop"] =
        json!({"time_ns": 500_000_000, "bytes": null, "ios": null, "span_once": false});
    let alone = run_with(&text).measurement;
    text["streams"].as_array_mut().unwrap().push(writer);
    let both = run_with(&text).measurement;
    assert_eq!(both.op(Op::Write).done, 10_000);
    assert!(both.streams[1].measured_ns < both.streams[0].measured_ns);
    assert!(both.op(Op::Read).done < alone.op(Op::Read).done);
}

#[test]
fn a_row_that_is_accepted_is_the_last_of_the_result() {
    let mut text = workload(json!({"workers": 8}));
    text["interval_ns"] = json!(10_000_000);
    text["streams"][0]["stop"]["ios"] = Value::Null;
    let (outcome, asked) = run_until(&text, |row| row.index == 4);
    let measured = outcome.measurement;
    assert_eq!(
        (measured.decided_row, measured.rows.len(), asked),
        (Some(4), 5, 5)
    );
    assert_eq!(measured.measured_ns, 50_000_000);
    assert!(measured.overshoot.ios <= 8, "only what was in flight");
}

#[test]
fn gathered_completions_count_at_the_last_of_them() {
    let mut text = workload(json!({"workers": 1, "depth": 8, "engine": "uring", "batch": 4}));
    text["streams"][0]["stop"]["ios"] = json!(4000);
    let gathered = run_with(&text).measurement;
    text["streams"][0]["batch"] = Value::Null;
    let at_once = run_with(&text).measurement;
    assert_eq!(gathered.op(Op::Read).done, 4000);
    assert!(gathered.op(Op::Read).service.mean_ns() > at_once.op(Op::Read).service.mean_ns());
    assert!(gathered.elapsed_ns > at_once.elapsed_ns);
}

#[test]
fn a_flush_costs_programs_without_power_loss_protection_only() {
    let mut text = workload(json!({"ops": {"mix": {"read_pct": 0}}, "flush_every": 1}));
    text["streams"][0]["stop"]["ios"] = json!(500);
    let mut protected = small();
    let mut spec = SMALL.spec();
    spec.power_loss_protection = false;
    let mut bare = filled(&spec);
    let quick = run_on(&mut protected, &text).measurement.elapsed_ns;
    let slow = run_on(&mut bare, &text).measurement.elapsed_ns;
    assert!(slow > 500 * spec.timing.program_ns, "{slow}");
    assert!(quick < 500 * 100_000, "{quick}");
    text["streams"][0]["flush_every"] = Value::Null;
    text["streams"][0]["dsync"] = json!(true);
    let durable = run_on(&mut bare, &text).measurement.op(Op::Write);
    assert!(durable.service.min_ns().unwrap() > spec.timing.program_ns);
}

#[test]
fn what_does_not_fit_is_refused_before_anything_is_issued() {
    let mut drive = small();
    let now = drive.now();
    let mut refused = |change: Value| {
        let workload: Workload = serde_json::from_value(workload(change)).unwrap();
        run(&mut drive, &workload, &mut Unattended, Options::default())
            .unwrap_err()
            .to_string()
    };
    let end = refused(json!({"span": {"start": 0, "length": 1_u64 << 50}}));
    assert!(end.contains("the span ends at byte"), "{end}");
    assert!(refused(json!({"direct": false})).contains("page cache"));
    assert!(refused(json!({"workers": 0})).contains("streams[0].workers"));
    assert_eq!(drive.now(), now);
}
