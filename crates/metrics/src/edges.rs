//! Where interval rows begin and end.

/// Edges of the rows. They lie one interval apart. A run that ends by time has one more edge at its
/// stop, and the later edges are counted from there. I/O that completes after the stop so gets rows
/// of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Edges {
    interval_ns: u64,
    stop_ns: Option<u64>,
}

impl Edges {
    pub(crate) fn new(interval_ns: u64, stop_ns: Option<u64>) -> Self {
        Self {
            interval_ns,
            stop_ns,
        }
    }

    pub(crate) fn start_ns(&self, row: u64) -> u64 {
        let by_interval = |rows: u64| rows.saturating_mul(self.interval_ns);
        match self.stop_ns {
            Some(stop_ns) if row >= stop_ns.div_ceil(self.interval_ns) => {
                stop_ns.saturating_add(by_interval(row - stop_ns.div_ceil(self.interval_ns)))
            }
            _ => by_interval(row),
        }
    }

    pub(crate) fn end_ns(&self, row: u64) -> u64 {
        self.start_ns(row.saturating_add(1))
    }

    /// Whether a row is a full interval long and ends no later than the stop.
    pub(crate) fn is_whole(&self, row: u64) -> bool {
        !self.is_drain(self.start_ns(row))
            && self.end_ns(row) - self.start_ns(row) == self.interval_ns
    }

    /// Whether a row that starts at `start_ns` holds I/O that completed after the stop.
    pub(crate) fn is_drain(&self, start_ns: u64) -> bool {
        self.stop_ns.is_some_and(|stop_ns| start_ns >= stop_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::Edges;

    fn starts(edges: Edges) -> Vec<u64> {
        (0..5).map(|row| edges.start_ns(row)).collect()
    }

    #[test]
    fn rows_begin_anew_at_the_stop() {
        assert_eq!(starts(Edges::new(10, None)), [0, 10, 20, 30, 40]);
        assert_eq!(starts(Edges::new(10, Some(20))), [0, 10, 20, 30, 40]);
        assert_eq!(starts(Edges::new(10, Some(25))), [0, 10, 20, 25, 35]);
        assert_eq!(starts(Edges::new(10, Some(3))), [0, 3, 13, 23, 33]);
    }

    #[test]
    fn whole_are_the_rows_in_which_io_was_issued_for_an_interval() {
        let edges = Edges::new(10, Some(25));
        let whole: Vec<bool> = (0..5).map(|row| edges.is_whole(row)).collect();
        assert_eq!(whole, [true, true, false, false, false]);
        assert!(!edges.is_drain(20) && edges.is_drain(25) && edges.is_drain(35));
        assert!(!Edges::new(10, None).is_drain(u64::MAX));
    }
}
