//! Counts and histograms of one stream, per operation. A pending interval and the totals have the
//! same type, so the totals are simply merged intervals.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use workload::Op;

use crate::histogram::Histogram;
use crate::operation::{self, FLUSH};

/// Which latency a histogram holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Kind {
    /// Service time: from submission to completion.
    Service = 0,
    /// Response time: from intended start to completion.
    Response = 1,
    /// Lateness: from intended start to submission.
    Lateness = 2,
    /// From submission to failure.
    Failed = 3,
}

impl Kind {
    pub(crate) fn from_code(code: u8) -> Option<Self> {
        let all = [Self::Service, Self::Response, Self::Lateness, Self::Failed];
        all.into_iter().find(|&kind| kind as u8 == code)
    }
}

/// What sets the intended start of an I/O, as far as counting is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pacing {
    /// Closed loop without think time: the intended start of an I/O is its submission. One
    /// histogram holds both service and response time, and there is no lateness.
    BackToBack,
    /// Closed loop with think time: the intended start is the end of the think time, which the host
    /// may miss.
    ThinkTime,
    /// Open loop or bursts: the schedule sets the intended start, however slow the drive is.
    Scheduled,
}

/// How a stream is counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamSpec {
    /// The stream's name.
    pub name: String,
    /// What sets the intended start of an I/O.
    pub pacing: Pacing,
    /// Whether per-I/O columns are kept. They hold every I/O, including those of the ramp and of
    /// the overshoot.
    pub log_ios: bool,
}

/// Counts and histograms of one operation of a stream, or of its flushes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OpTally {
    /// I/Os done.
    pub done: u64,
    /// I/Os that the drive or the kernel failed.
    pub failed: u64,
    /// I/Os that were due and never issued.
    pub dropped: u64,
    /// I/Os done that were submitted more than 1 ms after their intended start (scheduled streams
    /// only).
    pub late: u64,
    /// Bytes moved by the I/Os done.
    pub bytes: u64,
    /// Failed I/Os by error number.
    pub errors: BTreeMap<i32, u64>,
    /// Service time of the I/Os done: from submission to completion.
    pub service: Histogram,
    /// Response time: from intended start to completion; `None` if it equals `service`. A dropped
    /// I/O counts with the time from its intended start until it was dropped, as its response time
    /// would have been at least that long.
    pub response: Option<Histogram>,
    /// Lateness of the I/Os done: from intended start to submission. Empty if the intended start is
    /// the submission.
    pub lateness: Histogram,
    /// From submission to failure of the failed I/Os, which are in no other histogram.
    pub failed_latency: Histogram,
}

impl OpTally {
    pub(crate) fn new(pacing: Pacing) -> Self {
        let response = (pacing != Pacing::BackToBack).then(Histogram::new);
        Self {
            response,
            ..Self::default()
        }
    }

    /// Returns the I/Os requested: done, failed and dropped.
    pub fn requested(&self) -> u64 {
        self.done + self.failed + self.dropped
    }

    /// Returns the response time: from intended start to completion.
    pub fn response(&self) -> &Histogram {
        self.response.as_ref().unwrap_or(&self.service)
    }

    /// Whether no I/O was requested.
    pub fn is_empty(&self) -> bool {
        self.requested() == 0
    }

    /// Returns the histogram of a kind; `None` for a response time that equals the service time.
    pub fn histogram(&self, kind: Kind) -> Option<&Histogram> {
        match kind {
            Kind::Service => Some(&self.service),
            Kind::Response => self.response.as_ref(),
            Kind::Lateness => Some(&self.lateness),
            Kind::Failed => Some(&self.failed_latency),
        }
    }

    pub(crate) fn histogram_mut(&mut self, kind: Kind) -> Option<&mut Histogram> {
        match kind {
            Kind::Service => Some(&mut self.service),
            Kind::Response => self.response.as_mut(),
            Kind::Lateness => Some(&mut self.lateness),
            Kind::Failed => Some(&mut self.failed_latency),
        }
    }

    /// Adds the counts and histograms of another tally.
    pub fn merge(&mut self, other: &Self) {
        if self.response.is_some() || other.response.is_some() {
            let own_service = &self.service;
            self.response
                .get_or_insert_with(|| own_service.clone())
                .merge(other.response());
        }
        self.done += other.done;
        self.failed += other.failed;
        self.dropped += other.dropped;
        self.late += other.late;
        self.bytes += other.bytes;
        for (&errno, &count) in &other.errors {
            *self.errors.entry(errno).or_default() += count;
        }
        self.service.merge(&other.service);
        self.lateness.merge(&other.lateness);
        self.failed_latency.merge(&other.failed_latency);
    }
}

/// Counts and histograms of one stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamTally {
    /// Integral of the I/Os in flight over time, in I/O nanoseconds.
    pub in_flight_area_ns: u128,
    /// Most I/Os in flight at once. A scheduled stream counts across its workers. In a closed loop
    /// it is the sum of the workers' own maxima in an interval: an upper bound, exact while all
    /// workers keep their queue depth.
    pub in_flight_max: u32,
    /// The operations, in the order of [`crate::OPS`].
    pub ops: [OpTally; 3],
    /// Flushes: done, failed, and their duration as service time. A flush is not counted as in
    /// flight.
    pub flush: OpTally,
}

impl StreamTally {
    pub(crate) fn new(pacing: Pacing) -> Self {
        let ops = std::array::from_fn(|_| OpTally::new(pacing));
        Self {
            in_flight_area_ns: 0,
            in_flight_max: 0,
            ops,
            flush: OpTally::default(),
        }
    }

    /// Returns the tallies of the operations, then that of the flushes.
    pub(crate) fn all(&self) -> impl Iterator<Item = &OpTally> {
        self.ops.iter().chain([&self.flush])
    }

    pub(crate) fn all_mut(&mut self) -> impl Iterator<Item = &mut OpTally> {
        self.ops.iter_mut().chain([&mut self.flush])
    }

    /// Returns the tally at a position in [`crate::OPS`], or that of the flushes at [`FLUSH`].
    pub fn at(&self, place: usize) -> &OpTally {
        self.ops.get(place).unwrap_or(&self.flush)
    }

    pub(crate) fn at_mut(&mut self, place: usize) -> &mut OpTally {
        self.ops.get_mut(place).unwrap_or(&mut self.flush)
    }

    /// Returns the tally of one operation.
    pub fn op(&self, op: Op) -> &OpTally {
        &self.ops[operation::index(op)]
    }

    /// Adds a later interval: areas and counts are added, the larger maximum is kept.
    pub fn merge(&mut self, other: &Self) {
        self.in_flight_area_ns += other.in_flight_area_ns;
        self.in_flight_max = self.in_flight_max.max(other.in_flight_max);
        for (own, more) in self.all_mut().zip(other.all()) {
            own.merge(more);
        }
    }
}

/// The stream, operation and kind of latency of a histogram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) stream: usize,
    /// Position in [`crate::OPS`], or [`FLUSH`].
    pub(crate) op: usize,
    pub(crate) kind: Kind,
}

/// Returns all histograms with samples and their places. A response time that equals the service
/// time is not repeated.
pub(crate) fn histograms(streams: &[StreamTally]) -> impl Iterator<Item = (Place, &Histogram)> {
    const KINDS: [Kind; 4] = [Kind::Service, Kind::Response, Kind::Lateness, Kind::Failed];
    let places = (0..streams.len()).flat_map(|stream| {
        (0..=FLUSH).flat_map(move |op| KINDS.map(|kind| Place { stream, op, kind }))
    });
    let all = places.filter_map(|place| {
        let histogram = streams[place.stream].at(place.op).histogram(place.kind)?;
        Some((place, histogram))
    });
    all.filter(|(_, histogram)| !histogram.is_empty())
}
