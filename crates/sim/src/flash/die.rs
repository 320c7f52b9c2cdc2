//! A die: reads in front, programs and erases behind.
//!
//! Two clocks stand for the two queues. `front` says when the last read ends, `behind` when the programs and erases given so far
//! would end if no read came. A read goes before what waits behind and pushes it out; if the flash can
//! suspend it also interrupts what is running, else it waits for that to end.

use serde::{Deserialize, Serialize};

use crate::profile::spec::Timing;

/// The two clocks of a die, in ns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Die {
    front: u64,
    behind: u64,
    /// The operations at the end of the queue, and those of another length before them, to find the rest of the running one.
    last: Alike,
    before: Alike,
    /// By how much reads have pushed out what waits, less the time in which it went on since.
    pushed_ns: u64,
}

impl Die {
    /// A read that may start at `now` and takes `read_ns`. Returns when its data is ready.
    #[inline]
    pub fn read(&mut self, now: u64, read_ns: u64, timing: &Timing) -> u64 {
        let start = now.max(self.front);
        let start = if self.behind > start {
            self.interrupt(start, read_ns, timing)
        } else {
            start
        };
        self.front = start + read_ns;
        self.front
    }

    /// Finds the start of a read that comes while other work waits, and pushes that out.
    fn interrupt(&mut self, ready: u64, read_ns: u64, timing: &Timing) -> u64 {
        // Right behind another read nothing is running that would have to be stopped.
        let nothing_runs = ready == self.front;
        self.pushed_ns = self.pushed_ns.saturating_sub(ready - self.front);
        let waiting = self.behind - ready;
        let (start, lost_ns) = if self.pushed_ns >= timing.deferral_limit_ns {
            self.pushed_ns = 0;
            (ready + self.rest_of_running(waiting), 0)
        } else if nothing_runs {
            (ready, 0)
        } else {
            match timing.suspend_ns {
                Some(penalty) => (ready + penalty.min(waiting), penalty.min(waiting)),
                None => (ready + self.rest_of_running(waiting), 0),
            }
        };
        if self.behind > start {
            self.behind += read_ns + lost_ns;
            self.pushed_ns += read_ns + lost_ns;
        }
        start
    }

    /// A program, erase or move that may start at `now`. Returns when it ends if no read comes between.
    #[inline]
    pub fn work(&mut self, now: u64, duration_ns: u64) -> u64 {
        let start = now.max(self.behind).max(self.front);
        self.behind = start + duration_ns;
        if duration_ns == self.last.each_ns {
            self.last.all_ns += duration_ns;
        } else {
            self.before = self.last;
            self.last = Alike {
                each_ns: duration_ns,
                all_ns: duration_ns,
            };
        }
        self.behind
    }

    /// When the last read ends.
    pub fn reads_end(&self) -> u64 {
        self.front
    }

    /// When the die has nothing more to do.
    pub fn idle_at(&self) -> u64 {
        self.front.max(self.behind)
    }

    /// What is left of the operation that runs when so much waits. Before the last two kinds others like the last are taken to wait:
    /// programs with an erase among them.
    fn rest_of_running(&self, waiting: u64) -> u64 {
        let Some(earlier) = waiting.checked_sub(self.last.all_ns + 1) else {
            return self.last.rest(waiting);
        };
        match (earlier + 1).checked_sub(self.before.all_ns + 1) {
            None => self.before.rest(earlier + 1),
            Some(earliest) => self.last.rest(earliest + 1),
        }
    }
}

/// Operations of the same length, one after another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Alike {
    each_ns: u64,
    all_ns: u64,
}

impl Alike {
    /// What is left of the first when so much is left of all.
    fn rest(self, waiting: u64) -> u64 {
        match waiting.checked_rem(self.each_ns) {
            None => waiting,
            Some(0) => self.each_ns,
            Some(rest) => rest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READ_NS: u64 = 60;
    const PROGRAM_NS: u64 = 1700;

    fn timing(suspend_ns: Option<u64>, deferral_limit_ns: u64) -> Timing {
        Timing {
            read_ns: [READ_NS; 4],
            program_ns: PROGRAM_NS,
            erase_ns: 5000,
            unit_transfer_ns: 5,
            command_ns: 0,
            suspend_ns,
            deferral_limit_ns,
        }
    }

    #[test]
    fn a_read_interrupts_and_pushes_out_what_waits() {
        let (mut die, timing) = (Die::default(), timing(Some(20), 10_000));
        assert_eq!(die.work(0, PROGRAM_NS), PROGRAM_NS);
        assert_eq!(die.read(100, READ_NS, &timing), 100 + 20 + READ_NS);
        assert_eq!(
            die.read(100, READ_NS, &timing),
            100 + 20 + 2 * READ_NS,
            "already interrupted"
        );
        assert_eq!(die.idle_at(), PROGRAM_NS + 20 + 2 * READ_NS);
    }

    #[test]
    fn without_suspend_a_read_waits_for_the_running_operation_only() {
        let (mut die, timing) = (Die::default(), timing(None, 10_000));
        die.work(0, PROGRAM_NS);
        die.work(0, PROGRAM_NS);
        assert_eq!(die.read(100, READ_NS, &timing), PROGRAM_NS + READ_NS);
        assert_eq!(die.read(100, READ_NS, &timing), PROGRAM_NS + 2 * READ_NS);
        assert_eq!(die.idle_at(), 2 * PROGRAM_NS + 2 * READ_NS);
    }

    #[test]
    fn the_rest_is_that_of_the_operation_which_runs() {
        let (mut die, timing) = (Die::default(), timing(None, 10_000));
        die.work(0, PROGRAM_NS);
        die.work(0, 5000);
        die.work(0, PROGRAM_NS);
        let mut other = die;
        assert_eq!(die.read(100, READ_NS, &timing), PROGRAM_NS + READ_NS);
        let erased = PROGRAM_NS + 5000;
        assert_eq!(
            other.read(PROGRAM_NS + 1, READ_NS, &timing),
            erased + READ_NS
        );
    }

    #[test]
    fn reads_without_end_leave_other_work_its_turns() {
        let limit_ns = 6000;
        let (mut die, timing) = (Die::default(), timing(Some(20), limit_ns));
        for _ in 0..10 {
            die.work(0, PROGRAM_NS);
        }
        let (mut now, mut reads) = (0, 0);
        while die.idle_at() > now {
            now = die.read(now, READ_NS, &timing);
            reads += 1;
        }
        // A turn of one program for each limit's worth of reads, and nothing else in between.
        let turns = reads * READ_NS / limit_ns;
        assert!((9..=10).contains(&turns), "{turns}");
        assert!(now < 10 * (PROGRAM_NS + limit_ns + 2 * READ_NS));
    }
}
