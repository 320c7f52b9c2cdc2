//! Counts and histograms of one stream, per operation. A pending interval and the totals are the
//! same type, so totals are nothing but merged intervals.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use workload::Op;

use crate::histogram::Histogram;
use crate::operation::{self, FLUSH};

/// Which latency a histogram holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Kind {
    /// Submit to complete.
    Service = 0,
    /// Intended start to complete.
    Response = 1,
    /// Intended start to submit.
    Lateness = 2,
    /// Submit to failure.
    Failed = 3,
}

impl Kind {
    pub(crate) fn from_code(code: u8) -> Option<Self> {
        let all = [Self::Service, Self::Response, Self::Lateness, Self::Failed];
        all.into_iter().find(|&kind| kind as u8 == code)
    }
}

/// When an I/O of a stream is meant to start, as far as counting is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pacing {
    /// Closed loop without think time: an I/O is meant to start when it is submitted. One histogram
    /// is both service and response; lateness does not exist.
    BackToBack,
    /// Closed loop with think time: meant to start when the thinking ends, which the host may miss.
    ThinkTime,
    /// Open loop or bursts: meant to start when the schedule says, however slow the drive is.
    Scheduled,
}

/// How a stream is counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamSpec {
    /// The stream's name.
    pub name: String,
    /// What an I/O's intended start is.
    pub pacing: Pacing,
    /// Whether per-I/O columns are kept. They hold every I/O, those of the ramp and of the
    /// overshoot too.
    pub log_ios: bool,
}

/// What was counted for one operation of a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OpTally {
    /// I/Os done.
    pub done: u64,
    /// I/Os that the drive or the kernel refused.
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
    /// Submit to complete, I/Os done.
    pub service: Histogram,
    /// Intended start to complete; `None` where that is the same as `service`. A dropped I/O counts
    /// with the time it had been due for: its response would have been at least that.
    pub response: Option<Histogram>,
    /// Intended start to submit, I/Os done; empty where intended start is submit.
    pub lateness: Histogram,
    /// Submit to failure of the failed I/Os; they are in no other histogram.
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

    /// I/Os that were asked for: done, failed and dropped.
    pub fn requested(&self) -> u64 {
        self.done + self.failed + self.dropped
    }

    /// Intended start to complete.
    pub fn response(&self) -> &Histogram {
        self.response.as_ref().unwrap_or(&self.service)
    }

    /// Whether nothing at all was asked for.
    pub fn is_empty(&self) -> bool {
        self.requested() == 0
    }

    /// The histogram of a kind; `None` for a response that is the service.
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

    /// Adds what another tally counted.
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

/// What was counted for one stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamTally {
    /// Integral of I/Os in flight over time, in I/O nanoseconds.
    pub in_flight_area_ns: u128,
    /// Most I/Os in flight at once. In a closed loop the sum of the workers' own maxima of an
    /// interval, an upper bound that is exact while all workers keep their depth; in a scheduled
    /// stream counted across the workers.
    pub in_flight_max: u32,
    /// Counts per operation, in the order of [`crate::OPS`].
    pub ops: [OpTally; 3],
    /// Flushes: done, failed, and the time that each took as service. They are in flight beside no I/O.
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

    /// Tallies of the operations, and behind them that of the flushes.
    pub(crate) fn all(&self) -> impl Iterator<Item = &OpTally> {
        self.ops.iter().chain([&self.flush])
    }

    pub(crate) fn all_mut(&mut self) -> impl Iterator<Item = &mut OpTally> {
        self.ops.iter_mut().chain([&mut self.flush])
    }

    /// That of a place: an operation's, or [`FLUSH`].
    pub fn at(&self, place: usize) -> &OpTally {
        self.ops.get(place).unwrap_or(&self.flush)
    }

    pub(crate) fn at_mut(&mut self, place: usize) -> &mut OpTally {
        self.ops.get_mut(place).unwrap_or(&mut self.flush)
    }

    /// What was counted for one operation.
    pub fn op(&self, op: Op) -> &OpTally {
        &self.ops[operation::index(op)]
    }

    /// Adds a later interval: areas and counts add, the maximum is the greater one.
    pub fn merge(&mut self, other: &Self) {
        self.in_flight_area_ns += other.in_flight_area_ns;
        self.in_flight_max = self.in_flight_max.max(other.in_flight_max);
        for (own, more) in self.all_mut().zip(other.all()) {
            own.merge(more);
        }
    }
}

/// Where a histogram belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) stream: usize,
    /// Position in [`crate::OPS`], or [`FLUSH`].
    pub(crate) op: usize,
    pub(crate) kind: Kind,
}

/// All histograms with samples, and where they belong. A response that is the service is not
/// repeated.
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
