//! The controller's data path. Host data and moved units cross it one behind the other on their way to flash. Data of
//! host reads takes turns with them.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::flash::timeline::Timeline;

/// A program's data on the data path. Reads can delay it until it has passed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Passing {
    /// When it passes, less all delay by reads since the beginning. Data passes in the order of these times.
    undelayed: u64,
    /// All delay by reads since the beginning, when the program was queued, in ns.
    before_ns: u64,
}

/// Records that all data up to `undelayed` has passed, and how much reads had delayed data by then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Passed {
    undelayed: u64,
    delayed_ns: u64,
}

/// How many [`Passed`] records are kept. Data that passed earlier uses the first of them.
const KEPT: usize = 1 << 12;

/// How the data path is occupied; times in ns.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct DataPath {
    /// Path time of a unit, in ns times 1024; 0: the path is never the bottleneck.
    unit_ns_x1024: u64,
    free: u64,
    /// Start of the busy period that ends at `free`. It may lie ahead, if data waits for room in the buffer.
    busy_from: u64,
    /// When units moved in idle time have passed. All other data goes before them.
    free_behind: u64,
    /// How much longer reads may delay the waiting data. All reads together delay it by no more than its own path time.
    to_reads_ns: u64,
    /// How much reads have delayed waiting data since the beginning.
    delayed_ns: u64,
    /// For each program whose data may not have passed yet, when it would pass undelayed.
    waiting: VecDeque<u64>,
    /// Records of data that has passed, in order.
    over: VecDeque<Passed>,
    /// When host reads occupy the path.
    reads: Timeline,
    /// When the last host unit passes.
    passed: u64,
}

impl DataPath {
    pub(crate) fn new(unit_ns_x1024: u64) -> Self {
        Self {
            unit_ns_x1024,
            free: 0,
            busy_from: 0,
            free_behind: 0,
            to_reads_ns: 0,
            delayed_ns: 0,
            waiting: VecDeque::new(),
            over: VecDeque::new(),
            reads: Timeline::default(),
            passed: 0,
        }
    }

    /// Path time of `units`, in ns.
    pub(crate) fn takes_ns(&self, units: u32) -> u64 {
        u64::from(units) * self.unit_ns_x1024 / 1024
    }

    /// Occupies the path for `takes_ns`, from `ready` on, behind earlier data.
    pub(crate) fn take(&mut self, ready: u64, takes_ns: u64) {
        if self.free < ready {
            (self.busy_from, self.to_reads_ns) = (ready, 0);
        }
        let start = self.free.max(ready);
        let alone = start + takes_ns;
        let beside = self.reads.beside(start, takes_ns).min(alone + takes_ns);
        self.to_reads_ns += alone + takes_ns - beside;
        self.free = beside;
        if self.free_behind > ready {
            self.free_behind += takes_ns;
        }
    }

    /// Passes host units that are in the buffer at `ready`. Returns when they have passed.
    #[inline]
    pub(crate) fn pass(&mut self, ready: u64, units: u32) -> u64 {
        self.passed = if self.unit_ns_x1024 == 0 {
            ready
        } else {
            self.take(ready, self.takes_ns(units));
            self.free
        };
        self.passed
    }

    /// Occupies the path for `takes_ns` until `end`, for a host read. Reads go before waiting data, but take turns with it.
    #[inline]
    pub(crate) fn read(&mut self, now: u64, end: u64, takes_ns: u64) {
        if self.unit_ns_x1024 == 0 {
            return;
        }
        self.reads.reserve(now, end - takes_ns, takes_ns);
        if (self.busy_from..self.free).contains(&end) {
            // Limits the delay to the path time of the data that was left when this read began to cross.
            self.to_reads_ns = self.to_reads_ns.min(self.free - (end - takes_ns));
            let takes_ns = takes_ns.min(self.to_reads_ns);
            if takes_ns > 0 {
                self.have_passed(end);
            }
            if self.passed > end {
                self.passed += takes_ns;
            }
            self.to_reads_ns -= takes_ns;
            self.delayed_ns += takes_ns;
            self.free += takes_ns;
        }
    }

    /// Notes that data which has passed by `at` is not delayed any more.
    #[inline]
    fn have_passed(&mut self, at: u64) {
        let undelayed = at.saturating_sub(self.delayed_ns);
        if self.waiting.front().is_some_and(|&next| next <= undelayed) {
            self.pass_waiting(undelayed);
        }
    }

    fn pass_waiting(&mut self, undelayed: u64) {
        while self.waiting.front().is_some_and(|&next| next <= undelayed) {
            self.waiting.pop_front();
        }
        let delayed_ns = self.delayed_ns;
        match self.over.back_mut() {
            // A flush queues data that passed long ago.
            Some(last) if last.undelayed >= undelayed => {}
            Some(last) if last.delayed_ns == delayed_ns => last.undelayed = undelayed,
            _ => {
                if self.over.len() == KEPT {
                    self.over.pop_front();
                }
                self.over.push_back(Passed {
                    undelayed,
                    delayed_ns,
                });
            }
        }
    }

    /// Registers a program whose data passes at `at` if no more reads come. No later request is for a time before `now`.
    #[inline]
    pub(crate) fn given(&mut self, now: u64, at: u64) -> Passing {
        if self.unit_ns_x1024 == 0 {
            return Passing::default();
        }
        self.have_passed(now);
        // If a program starts later than its data has passed, reads in between do not delay it.
        let undelayed = at.min(self.free).saturating_sub(self.delayed_ns);
        self.waiting.push_back(undelayed);
        Passing {
            undelayed,
            before_ns: self.delayed_ns,
        }
    }

    /// Returns when the data of a program passes, with the delays by reads so far; 0 if none came since it was queued.
    #[inline]
    pub(crate) fn passes(&self, data: Passing) -> u64 {
        if self.delayed_ns == data.before_ns {
            return 0;
        }
        let at = self
            .over
            .partition_point(|passed| passed.undelayed < data.undelayed);
        let delayed_ns = self
            .over
            .get(at)
            .map_or(self.delayed_ns, |passed| passed.delayed_ns);
        data.undelayed + delayed_ns.max(data.before_ns)
    }

    /// Returns when the last host unit written so far passes.
    pub(crate) fn passed(&self) -> u64 {
        self.passed
    }

    /// Occupies the path for units moved in idle time, ready at `ready`, behind all other data.
    pub(crate) fn take_behind(&mut self, ready: u64, takes_ns: u64) {
        self.free_behind = self.idle_at().max(ready) + takes_ns;
    }

    /// Returns when all units moved in idle time have passed.
    pub(crate) fn free_behind(&self) -> u64 {
        self.free_behind
    }

    /// Returns when the path becomes idle.
    pub(crate) fn idle_at(&self) -> u64 {
        self.free.max(self.free_behind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flash::{Flash, Machine};
    use crate::profile::spec::{DriveOptions, Geometry, Pauses, Timing};

    /// Queues programs of ten units each on a path that takes 100 ns for a unit. Returns their data.
    fn given(path: &mut DataPath, programs: usize) -> Vec<Passing> {
        (0..programs)
            .map(|_| {
                let at = path.pass(0, 10);
                path.given(0, at)
            })
            .collect()
    }

    #[test]
    fn a_read_delays_what_waits_and_nothing_that_has_passed() {
        let mut path = DataPath::new(100 * 1024);
        let data = given(&mut path, 3);
        let passes = |path: &DataPath| [0, 1, 2].map(|at| path.passes(data[at]));
        assert_eq!(passes(&path), [0; 3], "as it was given");
        path.read(0, 1500, 400);
        assert_eq!(passes(&path), [1000, 2400, 3400]);
        path.read(0, 2450, 300);
        assert_eq!(passes(&path), [1000, 2400, 3700]);
        assert_eq!(path.idle_at(), 3700);
    }

    #[test]
    fn what_has_passed_has_whatever_is_given_late() {
        let mut path = DataPath::new(100 * 1024);
        let data = given(&mut path, 3);
        path.pass(0, 5);
        path.read(0, 1000, 100);
        path.read(0, 3200, 1000);
        assert_eq!(path.passes(data[2]), 3100);
        // A flush that knows of neither read.
        path.given(0, 3500);
        for n in 0..20 {
            path.read(0, 4000 + 1000 * n, 100);
            given(&mut path, 1);
            assert_eq!(path.passes(data[2]), 3100);
        }
        assert!(path.over.iter().is_sorted_by_key(|passed| passed.undelayed));
    }

    #[test]
    fn what_has_passed_lets_no_read_go_first() {
        let mut path = DataPath::new(100 * 1024);
        for now in (0..1_000_000).step_by(1000) {
            path.pass(now, 10);
        }
        // 1,000 ns of writes are left; reads may delay them by as long again.
        for end in (999_500..1_009_500).step_by(500) {
            path.read(999_000, end, 500);
        }
        assert_eq!(path.idle_at(), 1_001_000);
        assert_eq!(path.passed(), 1_001_000);
    }

    #[test]
    fn what_is_kept_of_data_that_has_passed_does_not_grow_without_reads() {
        let mut path = DataPath::new(100 * 1024);
        for now in (0..1_000_000).step_by(1000) {
            let at = path.pass(now, 10);
            path.given(now, at);
        }
        assert!(path.waiting.len() <= 2 && path.over.len() == 1);
    }

    /// One die with word lines of four units, on a path that takes 1,000 ns for a unit.
    fn one_die() -> Machine {
        let geometry = Geometry {
            channels: 1,
            dies_per_channel: 1,
            planes: 1,
            page_bytes: 16384,
            pages_per_block: 8,
            bits_per_cell: 1,
            superblocks: 4,
        };
        let timing = Timing {
            read_ns: [50_000; 4],
            program_ns: 100_000,
            erase_ns: 1_000_000,
            unit_transfer_ns: 5_000,
            command_ns: 0,
            suspend_ns: None,
            deferral_limit_ns: u64::MAX,
            pauses: Pauses::default(),
        };
        let options = DriveOptions {
            data_unit_ns_x1024: 1000 * 1024,
            ..DriveOptions::default()
        };
        Machine::new(geometry, timing, 1000, 1, &options)
    }

    #[test]
    fn data_that_would_wait_for_its_die_anyway_is_not_late_for_what_reads_delay() {
        let program = |machine: &mut Machine, last: u32| {
            for _ in 0..4 {
                machine.admit(0);
                machine.at = machine.path.pass(0, 1);
            }
            machine.program_host(last, 4);
        };
        let (mut machine, lone) = (one_die(), 4_000 + 20_000 + 100_000);
        program(&mut machine, 3);
        assert_eq!(machine.drained_at(), lone);
        program(&mut machine, 7);
        assert_eq!(machine.drained_at(), lone + 100_000);
        // Its data passes 3,000 ns later, but crosses while the die programs the first word line.
        machine.path.read(0, 4_500, 3_000);
        assert_eq!(machine.drained_at(), lone + 100_000);
        // With no program before it, a program is as late as its data.
        let mut machine = one_die();
        program(&mut machine, 3);
        machine.path.read(0, 3_500, 3_000);
        assert_eq!(machine.drained_at(), lone + 3_000);
    }
}
