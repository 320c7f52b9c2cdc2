//! Per-I/O columns: a bounded buffer that a worker fills and hands over in chunks.

use workload::Op;

use crate::operation;

/// All facts of one I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IoRecord {
    /// The operation.
    pub op: Op,
    /// Offset from the start of the target, in bytes.
    pub offset: u64,
    /// Length in bytes.
    pub length: u32,
    /// Time of submission, ns since the start of the run.
    pub submit_ns: u64,
    /// Time from submission to completion, ns.
    pub latency_ns: u64,
    /// Intended start, ns since the start of the run; `submit_ns` if the I/O has no other intended
    /// start.
    pub intended_ns: u64,
}

/// I/Os of one worker, as columns of equal length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IoColumns {
    /// Index of the stream.
    pub stream: usize,
    /// Index of the worker among all participants.
    pub participant: u32,
    /// Operation: 0 read, 1 write, 2 trim.
    pub op: Vec<u8>,
    /// Offset from the start of the target, in bytes.
    pub offset: Vec<u64>,
    /// Length in bytes.
    pub length: Vec<u32>,
    /// Time of submission, ns since the start of the run.
    pub submit_ns: Vec<u64>,
    /// Time from submission to completion, ns.
    pub latency_ns: Vec<u64>,
    /// Intended start, ns since the start of the run.
    pub intended_ns: Vec<u64>,
    capacity: usize,
}

impl IoColumns {
    /// Creates empty columns with room for `capacity` I/Os (37 bytes each).
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

    /// Returns the number of I/Os.
    pub fn len(&self) -> usize {
        self.op.len()
    }

    /// Whether the columns hold no I/O.
    pub fn is_empty(&self) -> bool {
        self.op.is_empty()
    }

    /// Whether the columns should be handed over before another I/O is pushed.
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

/// I/Os that the workers' own columns may hold in all, and I/Os that may wait in the queue: about
/// 10 MB each.
const IOS_BUFFERED: usize = 1 << 18;

/// A bounded queue of chunks from the workers to the log.
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

    pub(crate) fn take(&mut self) -> Vec<IoColumns> {
        self.ios = 0;
        std::mem::take(&mut self.full)
    }

    /// Returns written chunks for reuse.
    pub(crate) fn give_back(&mut self, chunks: Vec<IoColumns>) {
        self.spare.extend(chunks.into_iter().map(|mut columns| {
            columns.clear();
            columns
        }));
    }
}
