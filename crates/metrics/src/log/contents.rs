//! Reads a log back into the measurement that it was written from.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::frame::{Frame, FrameType};
use super::payload;
use super::reader::{LogEnd, LogReader};
use super::varint::Reader;
use super::{FORMAT_VERSION, LogError};
use crate::facts::{Ending, Failure, WorkerTotals};
use crate::histogram::Histogram;
use crate::measurement::Measurement;
use crate::results::Results;
use crate::row::Row;
use crate::spec::CollectorSpec;
use crate::tally::{Place, StreamSpec, StreamTally, histograms};

/// The payload of the first frame.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct HeaderJson {
    format: u32,
    interval_ns: u64,
    ramp_ns: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stop_ns: Option<u64>,
    streams: Vec<StreamSpec>,
    owner: Value,
}

impl HeaderJson {
    pub(crate) fn of(spec: &CollectorSpec) -> Self {
        Self {
            format: FORMAT_VERSION,
            interval_ns: spec.interval_ns,
            ramp_ns: spec.ramp_ns,
            stop_ns: spec.stop_ns,
            streams: spec.streams.clone(),
            owner: spec.header.clone(),
        }
    }
}

/// The contents of an append log, up to its end or its first bad frame.
#[derive(Debug, Clone, PartialEq)]
pub struct LogContents {
    /// JSON that the owner stored in the header.
    pub header: Value,
    /// Whether the run was cut short: the log has no footer, or is damaged.
    pub torn: bool,
    /// How the log ends.
    pub end: LogEnd,
    /// The measurement, as far as it was logged.
    pub measurement: Measurement,
}

/// Reads a log. A torn log yields what it holds, with `complete` false. With
/// `keep_interval_histograms` the measurement keeps the histogram of every interval, sparsely
/// encoded.
///
/// # Errors
/// If the file cannot be read, is not a log, has a newer format or contradicts itself.
pub fn read_log(
    path: impl AsRef<Path>,
    keep_interval_histograms: bool,
) -> Result<LogContents, LogError> {
    let mut reader = LogReader::open(path.as_ref())?;
    let header = read_header(&mut reader)?;
    let mut gathering = Gathering::new(&header, keep_interval_histograms);
    while let Some(frame) = reader.next_frame()? {
        if let Some(frame_type) = frame.frame_type() {
            gathering
                .take(frame_type, &frame)
                .ok_or_else(|| reader.malformed(frame_type))?;
        }
    }
    let end = reader.end().unwrap_or(LogEnd::Clean);
    let torn = gathering.ending.is_none() || end != LogEnd::Clean;
    let measurement = gathering.conclude(&header);
    let measurement = measurement.ok_or_else(|| LogError::Inconsistent {
        path: reader.path().to_path_buf(),
    })?;
    Ok(LogContents {
        header: header.owner,
        torn,
        end,
        measurement,
    })
}

fn read_header(reader: &mut LogReader) -> Result<HeaderJson, LogError> {
    let no_header = LogError::NoHeader {
        path: reader.path().to_path_buf(),
    };
    let first = reader
        .next_frame()?
        .filter(|frame| frame.frame_type() == Some(FrameType::Header));
    let Some(frame) = first else {
        return Err(no_header);
    };
    let json: Value =
        serde_json::from_slice(&frame.payload).map_err(|_| reader.malformed(FrameType::Header))?;
    let format = json.get("format").and_then(Value::as_u64).unwrap_or(0);
    if format > u64::from(FORMAT_VERSION) {
        let (found, known) = (u32::try_from(format).unwrap_or(u32::MAX), FORMAT_VERSION);
        return Err(LogError::NewerFormat {
            path: reader.path().to_path_buf(),
            found,
            known,
        });
    }
    serde_json::from_value(json).map_err(|_| reader.malformed(FrameType::Header))
}

/// Builds a measurement from the frames of a log, one at a time.
struct Gathering {
    streams: Vec<StreamSpec>,
    results: Results,
    /// The interval whose row frame has not been read yet.
    interval: Vec<StreamTally>,
    failures: Vec<Failure>,
    totals: Vec<(Place, Histogram)>,
    ending: Option<Ending>,
    last_end_ns: u64,
}

impl Gathering {
    fn new(header: &HeaderJson, keep_interval_histograms: bool) -> Self {
        let results = Results::new(
            header.interval_ns,
            header.stop_ns,
            header.ramp_ns,
            &header.streams,
            keep_interval_histograms,
        );
        let mut gathering = Self {
            streams: header.streams.clone(),
            results,
            interval: Vec::new(),
            failures: Vec::new(),
            totals: Vec::new(),
            ending: None,
            last_end_ns: 0,
        };
        gathering.next_interval();
        gathering
    }

    fn next_interval(&mut self) -> Vec<StreamTally> {
        let empty = self
            .streams
            .iter()
            .map(|stream| StreamTally::new(stream.pacing))
            .collect();
        std::mem::replace(&mut self.interval, empty)
    }

    /// Takes a frame; `None` if its payload is malformed.
    fn take(&mut self, frame_type: FrameType, frame: &Frame) -> Option<()> {
        let payload = &frame.payload;
        match frame_type {
            FrameType::Row => self.row(&payload::row(payload)?)?,
            FrameType::IntervalHistogram => {
                let mut reader = Reader(payload);
                let _row = reader.number()?;
                let (place, histogram) = placed(&mut reader)?;
                let tally = self.interval.get_mut(place.stream)?.at_mut(place.op);
                *tally.histogram_mut(place.kind)? = histogram;
            }
            FrameType::TotalHistogram => self.totals.push(placed(&mut Reader(payload))?),
            FrameType::Start => self.results.start = serde_json::from_slice(payload).ok()?,
            FrameType::Failures => self.failures = serde_json::from_slice(payload).ok()?,
            FrameType::Footer => self.ending = Some(serde_json::from_slice(payload).ok()?),
            FrameType::Header | FrameType::IoColumns => {}
        }
        Some(())
    }

    /// Completes the interval: the row supplies the counts that the histograms do not hold.
    fn row(&mut self, row: &Row) -> Option<()> {
        let mut streams = self.next_interval();
        if row.streams.len() != streams.len() {
            return None;
        }
        for (tally, stream) in streams.iter_mut().zip(&row.streams) {
            tally.in_flight_area_ns = stream.in_flight_area_ns.into();
            tally.in_flight_max = stream.in_flight_max;
            for (tally, op) in tally.all_mut().zip(stream.all()) {
                op.give_counts(tally);
            }
        }
        self.last_end_ns = row.end_ns();
        self.results
            .settle_row(row, &streams, std::mem::take(&mut self.failures));
        Some(())
    }

    fn conclude(mut self, header: &HeaderJson) -> Option<Measurement> {
        let streams = header.streams.len();
        let complete = self.ending.is_some();
        let ending = self.ending.unwrap_or_else(|| Ending {
            ends_ns: vec![self.last_end_ns; streams],
            workers: vec![WorkerTotals::default(); streams],
            ..Ending::default()
        });
        let fits = ending.ends_ns.len() == streams && ending.workers.len() == streams;
        let totals = self
            .totals
            .iter()
            .map(|(place, histogram)| (*place, histogram));
        let adds_up = !complete || totals.eq(histograms(self.results.totals()));
        (fits && adds_up).then(|| {
            self.results
                .conclude(&header.streams, Ending { complete, ..ending })
        })
    }
}

fn placed(reader: &mut Reader) -> Option<(Place, Histogram)> {
    let placed = (payload::place(reader)?, payload::histogram(reader)?);
    reader.end(placed)
}
