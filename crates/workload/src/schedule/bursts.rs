//! A fixed number of I/Os, all due at once, at regular times.

/// All I/Os of burst k are due at `k * every_ns`.
#[derive(Debug, Clone)]
pub(crate) struct Bursts {
    at_ns: u64,
    left: u64,
    ios: u64,
    every_ns: u64,
}

impl Bursts {
    pub(crate) fn new(ios: u64, every_ns: u64) -> Self {
        Self {
            at_ns: 0,
            left: ios,
            ios,
            every_ns,
        }
    }

    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        if self.left == 0 {
            self.left = self.ios;
            self.at_ns = self.at_ns.saturating_add(self.every_ns);
        }
        self.left -= 1;
        self.at_ns
    }
}
