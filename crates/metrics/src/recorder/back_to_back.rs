//! Short code paths for a back-to-back stream, whose I/Os have one latency only and are counted as
//! in flight by one worker alone. They count exactly what [`Recorder::submitted`] and
//! [`Recorder::completed`] count, in a third of the instructions.

use workload::Op;

use crate::operation;
use crate::recorder::Recorder;
use crate::tally::Pacing;

/// I/Os that completed at one stamp. They count as in flight until this value is dropped.
#[derive(Debug)]
pub struct Together<'a> {
    recorder: &'a mut Recorder,
    at_ns: u64,
    landed: u32,
}

impl Recorder {
    /// Begins to count I/Os of a back-to-back stream that completed at one stamp.
    #[inline]
    pub fn together(&mut self, at_ns: u64) -> Together<'_> {
        debug_assert_eq!(self.pacing, Pacing::BackToBack);
        self.advance(at_ns);
        Together {
            recorder: self,
            at_ns,
            landed: 0,
        }
    }

    /// Counts an I/O of a back-to-back stream as submitted and done. The worker must have had no
    /// other I/O in flight.
    #[inline]
    pub fn alone(&mut self, op: Op, bytes: u32, submit_ns: u64, at_ns: u64) {
        debug_assert_eq!(self.pacing, Pacing::BackToBack);
        if at_ns > self.hand_over_at_ns || self.in_flight_max == 0 {
            return self.alone_over_an_edge(op, bytes, submit_ns, at_ns);
        }
        let from_ns = submit_ns.max(self.last_ns);
        let until_ns = at_ns.max(from_ns);
        self.idle_ns += from_ns - self.last_ns;
        self.in_flight_area_ns += until_ns - from_ns;
        self.last_ns = until_ns;
        let slot = &mut self.ops[operation::index(op)];
        slot.bytes += u64::from(bytes);
        slot.service.record(at_ns.saturating_sub(submit_ns));
    }

    #[cold]
    #[inline(never)]
    fn alone_over_an_edge(&mut self, op: Op, bytes: u32, submit_ns: u64, at_ns: u64) {
        self.submitted(1, submit_ns);
        self.completed(op, bytes, submit_ns, submit_ns, at_ns);
    }
}

impl Together<'_> {
    /// Counts one of the I/Os as done.
    #[inline]
    pub fn completed(&mut self, op: Op, bytes: u32, submit_ns: u64) {
        self.landed += 1;
        let slot = &mut self.recorder.ops[operation::index(op)];
        slot.bytes += u64::from(bytes);
        slot.service.record(self.at_ns.saturating_sub(submit_ns));
    }

    /// Returns the number of I/Os counted so far.
    pub fn count(&self) -> u32 {
        self.landed
    }
}

impl Drop for Together<'_> {
    #[inline]
    fn drop(&mut self) {
        self.recorder.in_flight -= self.landed;
    }
}

#[cfg(test)]
mod tests {
    use crate::tally::Pacing;
    use crate::{Collector, CollectorSpec, Measurement, Recorder, StreamSpec, WorkerFacts};
    use workload::Op;

    const INTERVAL_NS: u64 = 1_000;

    fn measured(count: impl FnOnce(&mut Recorder)) -> Measurement {
        let stream = StreamSpec {
            name: "a".into(),
            pacing: Pacing::BackToBack,
            log_ios: false,
        };
        let spec = CollectorSpec::new(INTERVAL_NS, vec![stream], 1);
        let collector = Collector::new(spec).expect("a collector");
        let mut recorder = Recorder::new(&collector, 0, 0);
        count(&mut recorder);
        recorder.finish(20_000, &WorkerFacts::default());
        collector.into_measurement()
    }

    #[test]
    fn alone_counts_what_submitted_and_completed_count() {
        // Latencies from zero to 240 ns with pauses between them, and at the end one longer than an
        // interval.
        let ios: Vec<(u64, u64)> = (0..60).map(|n| (n * 311, n * 311 + (n % 7) * 40)).collect();
        let ios = [ios, vec![(18_700, 19_990)]].concat();
        let short = measured(|recorder| {
            for &(submit, at) in &ios {
                recorder.alone(Op::Write, 512, submit, at);
            }
        });
        let long = measured(|recorder| {
            for &(submit, at) in &ios {
                recorder.submitted(1, submit);
                recorder.completed(Op::Write, 512, submit, submit, at);
            }
        });
        assert_eq!(short, long);
        assert_eq!(short.op(Op::Write).done, 61);
    }

    #[test]
    fn together_counts_what_completed_counts() {
        let batches = [
            (0_u64, 900_u64),
            (950, 2_400),
            (2_400, 2_500),
            (9_000, 9_010),
        ];
        let short = measured(|recorder| {
            for (submit, at) in batches {
                recorder.submitted(3, submit);
                let mut together = recorder.together(at);
                (0..3).for_each(|_| together.completed(Op::Read, 4096, submit));
                assert_eq!(together.count(), 3);
            }
        });
        let long = measured(|recorder| {
            for (submit, at) in batches {
                recorder.submitted(3, submit);
                (0..3).for_each(|_| recorder.completed(Op::Read, 4096, submit, submit, at));
            }
        });
        assert_eq!(short, long);
    }
}
