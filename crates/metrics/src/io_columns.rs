//! Per-I/O columns: a bounded buffer that a worker fills and hands over in chunks.

use workload::Op;

use crate::operation;

/// One I/O in full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IoRecord {
    /// The operation.
    pub op: Op,
    /// First byte, from the start of the target.
    pub offset: u64,
    /// Length in bytes.
    pub length: u32,
    /// Submitted, ns since the start of the run.
    pub submit_ns: u64,
    /// Submit to complete, ns.
    pub latency_ns: u64,
    /// Intended start, ns since the start of the run; the submit stamp where nothing else was
    /// intended.
    pub intended_ns: u64,
}

/// A chunk of I/Os of one worker, as columns of equal length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IoColumns {
    /// Index of the stream.
    pub stream: usize,
    /// The worker.
    pub participant: u32,
    /// 0 read, 1 write, 2 trim.
    pub op: Vec<u8>,
    /// First byte.
    pub offset: Vec<u64>,
    /// Length in bytes.
    pub length: Vec<u32>,
    /// Submitted, ns since the start of the run.
    pub submit_ns: Vec<u64>,
    /// Submit to complete, ns.
    pub latency_ns: Vec<u64>,
    /// Intended start, ns since the start of the run.
    pub intended_ns: Vec<u64>,
    capacity: usize,
}

impl IoColumns {
    /// Empty columns with room for `capacity` I/Os (37 bytes each).
    pub fn with_capacity(stream: usize, participant: u32, capacity: usize) -> Self {
        Self {
            stream,
            participant,
            op: Vec::with_capacity(capacity),
            offset: Vec::with_capacity(capacity),
            length: Vec::with_capacity(capacity),
            submit_ns: Vec::with_capacity(capacity),
            latency_ns: Vec::with_capacity(capacity),
            intended_ns: Vec::with_capacity(capacity),
            capacity,
        }
    }

    /// Number of I/Os.
    pub fn len(&self) -> usize {
        self.op.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.op.is_empty()
    }

    /// Whether the columns should be handed over before more is pushed.
    pub fn is_full(&self) -> bool {
        self.len() >= self.capacity
    }

    /// Appends one I/O.
    pub fn push(&mut self, io: &IoRecord) {
        self.op.push(operation::index(io.op) as u8);
        self.offset.push(io.offset);
        self.length.push(io.length);
        self.submit_ns.push(io.submit_ns);
        self.latency_ns.push(io.latency_ns);
        self.intended_ns.push(io.intended_ns);
    }

    pub(crate) fn clear(&mut self) {
        self.op.clear();
        self.offset.clear();
        self.length.clear();
        self.submit_ns.clear();
        self.latency_ns.clear();
        self.intended_ns.clear();
    }
}

/// I/Os that all workers' own columns hold together, and as many again wait in the queue: 10 MB
/// each.
const IOS_BUFFERED: usize = 1 << 18;

/// Columns on their way from the workers to the log, in chunks of a bounded number.
#[derive(Debug)]
pub(crate) struct IoQueue {
    chunk: usize,
    ios: usize,
    full: Vec<IoColumns>,
    spare: Vec<IoColumns>,
}

impl IoQueue {
    pub(crate) fn new(participants: u32) -> Self {
        let chunk = (IOS_BUFFERED / participants.max(1) as usize).clamp(64, 8192);
        Self {
            chunk,
            ios: 0,
            full: Vec::new(),
            spare: Vec::new(),
        }
    }

    /// Empty columns for a worker.
    pub(crate) fn empty(&mut self, stream: usize, participant: u32) -> IoColumns {
        let spare = self.spare.pop();
        spare.map_or_else(
            || IoColumns::with_capacity(stream, participant, self.chunk),
            |columns| IoColumns {
                stream,
                participant,
                ..columns
            },
        )
    }

    /// Queues a worker's columns and leaves empty ones in their place.
    pub(crate) fn exchange(&mut self, columns: &mut IoColumns) {
        if !columns.is_empty() {
            let empty = self.empty(columns.stream, columns.participant);
            self.ios += columns.len();
            self.full.push(std::mem::replace(columns, empty));
        }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.ios >= IOS_BUFFERED
    }

    /// Takes all that is queued.
    pub(crate) fn take(&mut self) -> Vec<IoColumns> {
        self.ios = 0;
        std::mem::take(&mut self.full)
    }

    /// Gives chunks back for use.
    pub(crate) fn give_back(&mut self, chunks: Vec<IoColumns>) {
        self.spare.extend(chunks.into_iter().map(|mut columns| {
            columns.clear();
            columns
        }));
    }
}
