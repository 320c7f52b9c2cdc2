//! Writes a collector's intervals to its log as they become final.

use serde_json::Value;

use super::contents::HeaderJson;
use super::frame::FrameType;
use super::payload;
use super::varint::put;
use super::{LogError, LogWriter};
use crate::facts::{Ending, Failure, StartStamp};
use crate::io_columns::IoColumns;
use crate::row::Row;
use crate::spec::CollectorSpec;
use crate::tally::{StreamTally, histograms};

/// The log of a run, and a separate log of its I/Os if there is one. The first failed write closes
/// both; the owner of the run gets the error once and decides whether to continue.
#[derive(Debug, Default)]
pub(crate) struct Sink {
    rows: Option<LogWriter>,
    ios: Option<LogWriter>,
    payload: Vec<u8>,
    error: Option<LogError>,
    told: bool,
}

impl Sink {
    /// Takes the log writers out of the spec and writes the headers.
    pub(crate) fn open(spec: &mut CollectorSpec) -> Result<Self, LogError> {
        let mut sink = Self {
            rows: spec.log.take(),
            ios: spec.io_log.take(),
            ..Self::default()
        };
        let header = json(&HeaderJson::of(spec));
        for log in sink.rows.iter_mut().chain(&mut sink.ios) {
            log.append(FrameType::Header, &header)?;
        }
        Ok(sink)
    }

    /// Whether a log takes per-I/O columns.
    pub(crate) fn takes_columns(&self) -> bool {
        self.rows.is_some() || self.ios.is_some()
    }

    pub(crate) fn start(&mut self, start: StartStamp) {
        let payload = json(&start);
        let result = self
            .rows
            .iter_mut()
            .chain(&mut self.ios)
            .try_for_each(|log| log.append(FrameType::Start, &payload));
        self.note(result);
    }

    /// Writes an interval: its histograms and failures first, then the row, which makes it
    /// complete.
    pub(crate) fn row(&mut self, row: &Row, streams: &[StreamTally], failures: &[Failure]) {
        let result = self.write_row(row, streams, failures);
        self.note(result);
    }

    fn write_row(
        &mut self,
        row: &Row,
        streams: &[StreamTally],
        failures: &[Failure],
    ) -> Result<(), LogError> {
        let Some(log) = &mut self.rows else {
            return Ok(());
        };
        for (place, histogram) in histograms(streams) {
            self.payload.clear();
            put(&mut self.payload, row.index);
            payload::put_place(&mut self.payload, place);
            payload::put_histogram(&mut self.payload, histogram);
            log.append(FrameType::IntervalHistogram, &self.payload)?;
        }
        if !failures.is_empty() {
            log.append(FrameType::Failures, &json(&failures))?;
        }
        self.payload.clear();
        payload::put_row(&mut self.payload, row);
        log.append(FrameType::Row, &self.payload)
    }

    pub(crate) fn columns(&mut self, columns: &IoColumns) {
        let Some(log) = self.ios.as_mut().or(self.rows.as_mut()) else {
            return;
        };
        self.payload.clear();
        payload::put_io_columns(&mut self.payload, columns);
        let result = log.append(FrameType::IoColumns, &self.payload);
        self.note(result);
    }

    /// Writes the totals and the footer, which marks the run as complete, and flushes.
    pub(crate) fn finish(&mut self, totals: &[StreamTally], ending: &Ending) {
        let result = self.write_end(totals, ending);
        self.note(result);
        self.sync();
    }

    fn write_end(&mut self, totals: &[StreamTally], ending: &Ending) -> Result<(), LogError> {
        let footer = json(ending);
        if let Some(log) = &mut self.rows {
            for (place, histogram) in histograms(totals) {
                self.payload.clear();
                payload::put_place(&mut self.payload, place);
                payload::put_histogram(&mut self.payload, histogram);
                log.append(FrameType::TotalHistogram, &self.payload)?;
            }
        }
        self.rows
            .iter_mut()
            .chain(&mut self.ios)
            .try_for_each(|log| log.append(FrameType::Footer, &footer))
    }

    pub(crate) fn sync(&mut self) {
        let result = self
            .rows
            .iter_mut()
            .chain(&mut self.ios)
            .try_for_each(LogWriter::sync);
        self.note(result);
    }

    fn note(&mut self, result: Result<(), LogError>) {
        if let Err(error) = result {
            self.error.get_or_insert(error);
            (self.rows, self.ios) = (None, None);
        }
    }

    /// Returns the first error, once.
    pub(crate) fn untold_error(&mut self) -> Result<(), LogError> {
        match &self.error {
            Some(error) if !self.told => {
                self.told = true;
                Err(error.clone())
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn error(&self) -> Option<LogError> {
        self.error.clone()
    }
}

/// Encodes one of our own types as JSON. Their keys are strings and their numbers fit, so encoding
/// cannot fail.
fn json(value: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(value)
        .unwrap_or_else(|error| Value::from(error.to_string()).to_string().into_bytes())
}
