//! The controller's data path: what goes to flash crosses it, units of the host's and those that are moved, one behind the other.
//! What the host reads crosses it in turn with them.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::flash::timeline::Timeline;

/// Data of a program, which reads delay until it has passed the data path.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Passing {
    /// When it passes, less all that reads have delayed since the beginning: data passes in this order.
    undelayed: u64,
    /// All that reads had delayed when it was given, since the beginning, in ns.
    before_ns: u64,
}

/// All data up to `undelayed` has passed; by then reads had delayed so much since the beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Passed {
    undelayed: u64,
    delayed_ns: u64,
}

/// So many are kept; of what passed before, the first that is kept stands.
const KEPT: usize = 1 << 12;

/// When the data path is free, in ns.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct DataPath {
    /// What a unit takes of it, in ns times 1024; 0: it is as fast as need be.
    unit_ns_x1024: u64,
    free: u64,
    /// Since when it is busy until then: what waits for room in the buffer takes it later.
    busy_from: u64,
    /// When it is free of what the drive moves while nobody asks: all else goes before that.
    free_behind: u64,
    /// By how much reads may yet delay what waits: as much again as it takes.
    to_reads_ns: u64,
    /// By how much they have delayed what was waiting, since the beginning.
    delayed_ns: u64,
    /// Of programs whose data is not known to have passed: when it would have, undelayed.
    waiting: VecDeque<u64>,
    /// What has passed, in order.
    over: VecDeque<Passed>,
    /// What reads take of it.
    reads: Timeline,
    /// When the last unit of the host's has passed.
    passed: u64,
}

impl DataPath {
    /// Free from time zero on.
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

    /// What so many units take of it.
    pub(crate) fn takes_ns(&self, units: u32) -> u64 {
        u64::from(units) * self.unit_ns_x1024 / 1024
    }

    /// What is there at `ready` takes it for so long, behind what took it before.
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

    /// Units of the host's, in the buffer at `ready`, cross when it is free. Returns when they have.
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

    /// What the host reads crosses until `end`, for so long, before what waits; but both take turns.
    #[inline]
    pub(crate) fn read(&mut self, now: u64, end: u64, takes_ns: u64) {
        if self.unit_ns_x1024 == 0 {
            return;
        }
        self.reads.reserve(now, end - takes_ns, takes_ns);
        if (self.busy_from..self.free).contains(&end) {
            // What was left when the read began to cross: what passed before lets no read go first.
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

    /// What has passed at `at` is not delayed any more.
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
            // A flush gives what passed long ago.
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

    /// A program is given whose data passes at `at` if no more reads come. Nothing will be asked for before `now` any more.
    #[inline]
    pub(crate) fn given(&mut self, now: u64, at: u64) -> Passing {
        if self.unit_ns_x1024 == 0 {
            return Passing::default();
        }
        self.have_passed(now);
        // What is programmed later than its data has passed is not delayed by what comes in between.
        let undelayed = at.min(self.free).saturating_sub(self.delayed_ns);
        self.waiting.push_back(undelayed);
        Passing {
            undelayed,
            before_ns: self.delayed_ns,
        }
    }

    /// When the data of a program has passed, as far as reads have delayed it; 0 if they have not since it was given.
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

    /// When the last unit of the host's that was written so far has passed.
    pub(crate) fn passed(&self) -> u64 {
        self.passed
    }

    /// What is moved unasked, there at `ready`, takes it for so long, behind all else.
    pub(crate) fn take_behind(&mut self, ready: u64, takes_ns: u64) {
        self.free_behind = self.idle_at().max(ready) + takes_ns;
    }

    /// When it is free of what was moved unasked.
    pub(crate) fn free_behind(&self) -> u64 {
        self.free_behind
    }

    /// When it is free.
    pub(crate) fn idle_at(&self) -> u64 {
        self.free.max(self.free_behind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flash::{Flash, Machine};
    use crate::profile::spec::{DriveOptions, Geometry, Pauses, Timing};

    /// Programs of ten units each, given at once to a path that takes a hundred ns for a unit: when their data passes.
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
        // 1,000 ns of writes are left, and as long again of reads goes between them.
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

    /// One die of word lines of four units, on a path that takes 1,000 ns for a unit.
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
        // Its data passes 3,000 ns later and crosses while the die programs what came before.
        machine.path.read(0, 4_500, 3_000);
        assert_eq!(machine.drained_at(), lone + 100_000);
        // Without that before it, it would be as late as its data.
        let mut machine = one_die();
        program(&mut machine, 3);
        machine.path.read(0, 3_500, 3_000);
        assert_eq!(machine.drained_at(), lone + 3_000);
    }
}
