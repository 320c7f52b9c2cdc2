//! Random runs against a slow, obvious model, which counts lists of I/Os one by one.

mod model;
mod runs;

use metrics::{Measurement, OPS, WorkerFacts};
use proptest::prelude::*;

use crate::properties::model::{check_against_the_model, check_sums};
use crate::properties::runs::{
    in_order_of_time, on_threads, recorders, runs, tell, without_shared_maxima,
};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn rows_and_totals_are_what_the_model_counts(run in runs(), close_each in 1..20usize) {
        let measurement = in_order_of_time(&run, run.ramp_ns, close_each);
        check_against_the_model(&run, &measurement)?;
        check_sums(&measurement)?;
    }

    #[test]
    fn threads_at_any_pace_count_the_same(run in runs()) {
        let expected = without_shared_maxima(in_order_of_time(&run, run.ramp_ns, 3));
        prop_assert_eq!(without_shared_maxima(on_threads(&run, run.ramp_ns)), expected);
    }

    #[test]
    fn what_is_cut_off_is_overshoot(run in runs(), close_each in 1..20usize) {
        let whole = in_order_of_time(&run, 0, close_each);
        let decided = whole.rows.len() as u64 / 2;
        let collector = run.collector(0);
        let mut recorders = recorders(&run, &collector);
        collector.truncate_after(decided).unwrap();
        for (worker, recorder) in recorders.iter_mut().enumerate() {
            for (at_ns, event) in run.events(worker) {
                tell(recorder, at_ns, event);
            }
        }
        for recorder in recorders {
            recorder.finish(run.end_ns(), &WorkerFacts::default());
        }
        let cut = collector.into_measurement();
        check_sums(&cut)?;
        let done = |m: &Measurement| OPS.map(|op| m.op(op).done).iter().sum::<u64>();
        let bytes = |m: &Measurement| OPS.map(|op| m.op(op).bytes).iter().sum::<u64>();
        prop_assert_eq!(done(&cut) + cut.overshoot.ios, done(&whole));
        prop_assert_eq!(bytes(&cut) + cut.overshoot.bytes, bytes(&whole));
        prop_assert_eq!(cut.measured_ns + cut.overshoot.ns, whole.elapsed_ns);
        prop_assert_eq!(cut.rows.len() as u64, (decided + 1).min(whole.rows.len() as u64));
    }
}
