//! A die: host reads come first; programs, erases and reads for moves wait behind them.
//!
//! Two clocks stand for the two queues. `front` is the end of the last read; `behind` knows when the other work would
//! end if no read came. A read goes before waiting work and delays it. It also suspends the running operation, if the
//! flash can do that at this point; otherwise it waits for the operation's end.

use serde::{Deserialize, Serialize};

use crate::flash::channel::Channel;
use crate::flash::in_order::{InOrder, Turn};
use crate::power::DieWork;
use crate::profile::spec::Timing;

/// An operation that waits or runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Operation {
    work: DieWork,
    /// How often reads have suspended it.
    suspended: u32,
    /// Number of the channel transfer that brings a program's data; [`NONE`] for other work.
    data: u64,
}

const NONE: u64 = u64::MAX;

impl Operation {
    /// Returns how long a read waits until it can suspend this operation, and how long the suspension takes, in ns. `None`
    /// if the operation must run to its end. It has run for `ran_ns` in all, and for `since_ns` since its last resume.
    #[inline]
    fn pause(self, ran_ns: u64, since_ns: u64, timing: &Timing) -> Option<(u64, u64)> {
        let suspend_ns = timing.suspend_ns?;
        let pauses = &timing.pauses;
        if self.work == DieWork::Read || pauses.at_most.is_some_and(|most| self.suspended >= most) {
            return None;
        }
        let mut wait_ns = 0;
        if self.suspended > 0 {
            wait_ns = pauses.resume_ns.saturating_sub(since_ns);
        }
        if self.work == DieWork::Erase {
            return Some((wait_ns, pauses.erase_suspend_ns.unwrap_or(suspend_ns)));
        }
        if pauses.pulse_ns > 0 {
            wait_ns = (ran_ns + wait_ns).next_multiple_of(pauses.pulse_ns) - ran_ns;
        }
        Some((wait_ns, suspend_ns))
    }
}

/// A period without reads before the last read, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Gap {
    start: u64,
    end: u64,
}

/// The two queues of a die; times in ns.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Die {
    front: u64,
    /// Programs, erases and reads for moves.
    behind: InOrder<Operation>,
    /// Gaps that reads requested ahead of time have left for other reads, in order.
    gaps: Vec<Gap>,
    /// How much reads have delayed waiting work, less the time for which it has run since.
    pushed_ns: u64,
}

impl Die {
    /// Starts a host read of `read_ns` at `now` or later. Returns when its data is sensed.
    #[inline]
    pub fn read(&mut self, now: u64, read_ns: u64, timing: &Timing) -> u64 {
        if !self.gaps.is_empty()
            && let Some(ready) = self.read_in_gap(now, read_ns, timing)
        {
            return ready;
        }
        let start = now.max(self.front);
        let start = if self.behind.ends() > start {
            self.interrupt(start, read_ns, timing)
        } else {
            start
        };
        self.front = start + read_ns;
        self.front
    }

    /// Leaves a gap for other reads: the next read is requested at `now`, but starts at `later` or after that.
    pub fn leave_gap(&mut self, now: u64, later: u64) {
        self.gaps.retain(|gap| gap.end > now);
        let start = now.max(self.front);
        if later > start {
            self.gaps.push(Gap { start, end: later });
        }
    }

    /// Returns when a read could start, from `now` on, if the running operation did not delay it.
    pub fn read_starts(&self, now: u64, read_ns: u64, timing: &Timing) -> u64 {
        match self.gap_for(now, read_ns, timing) {
            Some(at) => now.max(self.gaps[at].start),
            None => now.max(self.front),
        }
    }

    /// Returns the first gap that has room for a read, and for a suspension if the read needs one.
    fn gap_for(&self, now: u64, read_ns: u64, timing: &Timing) -> Option<usize> {
        let pauses = &timing.pauses;
        let pause_ns = timing
            .suspend_ns
            .map(|suspend_ns| suspend_ns + pauses.pulse_ns + pauses.resume_ns);
        self.gaps.iter().position(|gap| {
            let start = now.max(gap.start);
            let pause_ns = if self.behind.ends() > start {
                pause_ns
            } else {
                Some(0)
            };
            pause_ns.is_some_and(|pause_ns| start + pause_ns + read_ns <= gap.end)
        })
    }

    /// Places a read before reads that were requested ahead of time. Returns when its data is sensed; `None` if no gap fits.
    fn read_in_gap(&mut self, now: u64, read_ns: u64, timing: &Timing) -> Option<u64> {
        let at = self.gap_for(now, read_ns, timing)?;
        let gap = self.gaps[at];
        let mut start = now.max(gap.start);
        if self.behind.ends() > start {
            let front = std::mem::replace(&mut self.front, gap.start);
            start = self.interrupt(start, read_ns, timing);
            self.front = front;
        }
        let end = start + read_ns;
        if end > gap.end {
            // The running operation had to end first, and the gap is too short after that.
            self.front = self.front.max(start) + read_ns;
            return Some(self.front);
        }
        let [before, behind] = [(gap.start, start), (end, gap.end)];
        let left = [before, behind].map(|(start, end)| Gap { start, end });
        let left = left.into_iter().filter(|gap| gap.end > gap.start);
        self.gaps.splice(at..=at, left);
        Some(end)
    }

    /// Finds the start of a read that meets other work, and delays that work.
    fn interrupt(&mut self, ready: u64, read_ns: u64, timing: &Timing) -> u64 {
        self.behind.forget_ended(ready);
        let Some((begins, &mut Turn { takes_ns, what, .. })) = self.behind.first() else {
            return ready;
        };
        if begins > ready {
            self.behind.put_off(read_ns.saturating_sub(begins - ready));
            return ready;
        }
        // Right behind another read no operation runs, so none has to be suspended.
        let nothing_runs = ready == self.front;
        self.pushed_ns = self.pushed_ns.saturating_sub(ready - self.front);
        let must_end = self.pushed_ns >= timing.deferral_limit_ns;
        if must_end {
            self.pushed_ns = 0;
        } else if nothing_runs {
            self.push_out(read_ns);
            return ready;
        }
        let left_ns = begins + takes_ns - ready;
        let pause = what.pause(ready - begins, ready - self.front, timing);
        match pause {
            Some((wait_ns, suspend_ns)) if wait_ns + suspend_ns < left_ns && !must_end => {
                if let Some((_, first)) = self.behind.first() {
                    first.what.suspended += 1;
                }
                self.push_out(read_ns + suspend_ns);
                ready + wait_ns + suspend_ns
            }
            _ => {
                if self.behind.ends() > ready + left_ns {
                    self.push_out(read_ns);
                }
                ready + left_ns
            }
        }
    }

    /// Delays the running operation and all work behind it, and counts the delay.
    fn push_out(&mut self, by_ns: u64) {
        self.pushed_ns += by_ns;
        self.behind.put_off(by_ns);
    }

    /// Queues a program, an erase or a read for a move. It is requested for `asked` and may start at `ready`. Returns
    /// its number, and its end if no host read comes between. `now` is the submission clock: no later request is for
    /// an earlier time.
    #[inline]
    pub fn work(
        &mut self,
        now: u64,
        [asked, ready]: [u64; 2],
        work: DieWork,
        takes_ns: u64,
    ) -> (u64, u64) {
        self.behind.forget_ended(now);
        self.behind.pass(now);
        if self.behind.is_empty() {
            // No work waited, so reads have delayed none.
            self.pushed_ns = 0;
        }
        let operation = Operation {
            work,
            suspended: 0,
            data: NONE,
        };
        let ready = ready.max(self.front);
        self.behind.push(asked, ready, takes_ns, operation)
    }

    /// Marks the work queued last as the program of this transfer's data.
    #[inline]
    pub fn follows(&mut self, transfer: u64) {
        if let Some(last) = self.behind.last() {
            last.what.data = transfer;
        }
    }

    /// Delays programs whose data is late because of reads on the channel, and all work behind them. Work that is
    /// over by `by` is final.
    pub fn meet_data(&mut self, by: u64, channel: &Channel) {
        while let Some((begins, first)) = self.behind.first() {
            if first.what.data != NONE {
                let there = channel.end_of(first.what.data);
                if there > begins {
                    self.behind.stretch(0, there - begins, 0);
                }
            }
            if !self.behind.forget_first(by) {
                break;
            }
        }
    }

    /// Queues a read as [`work`](Self::work) does, but before work that was requested earlier for a later time.
    pub fn work_in_time(&mut self, now: u64, at: u64, takes_ns: u64) -> (u64, u64) {
        self.behind.forget_ended(now);
        self.behind.pass(now);
        let operation = Operation {
            work: DieWork::Read,
            suspended: 0,
            data: NONE,
        };
        let at = at.max(self.front);
        self.behind.push_in_time(at, takes_ns, operation)
    }

    /// Returns when the die becomes idle.
    pub fn idle_at(&self) -> u64 {
        self.front.max(self.behind.ends())
    }

    /// Keeps the end of this work for later calls of [`end_of`](Self::end_of).
    pub fn watch(&mut self, number: u64) {
        self.behind.watch(number);
    }

    /// Returns the end of this work as known so far; 0 if it is past.
    pub fn end_of(&self, number: u64) -> u64 {
        self.behind.end_of(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::spec::Pauses;

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
            pauses: Pauses::default(),
        }
    }

    #[test]
    fn a_read_interrupts_and_pushes_out_what_waits() {
        let (mut die, timing) = (Die::default(), timing(Some(20), 10_000));
        assert_eq!(
            die.work(0, [0; 2], DieWork::Program, PROGRAM_NS),
            (0, PROGRAM_NS)
        );
        assert_eq!(die.read(100, READ_NS, &timing), 100 + 20 + READ_NS);
        assert_eq!(
            die.read(100, READ_NS, &timing),
            100 + 20 + 2 * READ_NS,
            "already interrupted"
        );
        assert_eq!(die.idle_at(), PROGRAM_NS + 20 + 2 * READ_NS);
    }

    #[test]
    fn what_comes_is_read_before_what_begins_later() {
        let (mut die, timing) = (Die::default(), timing(Some(20), 10_000));
        die.leave_gap(0, 150);
        assert_eq!(die.read(150, READ_NS, &timing), 150 + READ_NS);
        assert_eq!(die.read_starts(10, READ_NS, &timing), 10);
        assert_eq!(die.read(10, READ_NS, &timing), 10 + READ_NS);
        assert_eq!(die.read(20, READ_NS, &timing), 10 + 2 * READ_NS);
        // The third read does not fit into the 20 ns that are left; the last one does.
        assert_eq!(die.read(30, READ_NS, &timing), 150 + 2 * READ_NS);
        assert_eq!(die.read(30, 20, &timing), 150);
        assert_eq!(die.idle_at(), 150 + 2 * READ_NS);
    }

    #[test]
    fn a_program_makes_way_in_a_gap_as_elsewhere() {
        let (mut die, timing) = (Die::default(), timing(Some(20), 10_000));
        die.work(0, [0; 2], DieWork::Program, PROGRAM_NS);
        die.leave_gap(0, 300);
        assert_eq!(die.read(300, READ_NS, &timing), 300 + 20 + READ_NS);
        assert_eq!(die.read(100, READ_NS, &timing), 100 + 20 + READ_NS);
        assert_eq!(die.idle_at(), PROGRAM_NS + 2 * (20 + READ_NS));
        // With its suspension, this read has no room in the gap.
        assert_eq!(die.read(240, READ_NS, &timing), 300 + 20 + 2 * READ_NS);
    }

    #[test]
    fn without_suspend_a_read_waits_for_the_running_operation_only() {
        let (mut die, timing) = (Die::default(), timing(None, 10_000));
        die.work(0, [0; 2], DieWork::Program, PROGRAM_NS);
        die.work(0, [0; 2], DieWork::Program, PROGRAM_NS);
        assert_eq!(die.read(100, READ_NS, &timing), PROGRAM_NS + READ_NS);
        assert_eq!(die.read(100, READ_NS, &timing), PROGRAM_NS + 2 * READ_NS);
        assert_eq!(die.idle_at(), 2 * PROGRAM_NS + 2 * READ_NS);
    }

    #[test]
    fn the_rest_is_that_of_the_operation_which_runs() {
        let (mut die, timing) = (Die::default(), timing(None, 10_000));
        die.work(0, [0; 2], DieWork::Program, PROGRAM_NS);
        die.work(0, [0; 2], DieWork::Erase, 5000);
        die.work(0, [0; 2], DieWork::Program, PROGRAM_NS);
        let mut other = die.clone();
        assert_eq!(die.read(100, READ_NS, &timing), PROGRAM_NS + READ_NS);
        let erased = PROGRAM_NS + 5000;
        assert_eq!(
            other.read(PROGRAM_NS + 1, READ_NS, &timing),
            erased + READ_NS
        );
    }

    #[test]
    fn a_read_for_a_move_is_not_suspended() {
        let (mut die, timing) = (Die::default(), timing(Some(20), 10_000));
        die.work(0, [0; 2], DieWork::Read, READ_NS);
        die.work(0, [0; 2], DieWork::Program, PROGRAM_NS);
        assert_eq!(die.read(10, READ_NS, &timing), 2 * READ_NS);
        assert_eq!(die.idle_at(), 2 * READ_NS + PROGRAM_NS);
    }

    #[test]
    fn a_read_meets_what_runs_before_a_rest_and_a_rest_makes_up_for_it() {
        let (mut die, timing) = (Die::default(), timing(Some(20), 10_000));
        die.work(0, [0; 2], DieWork::Program, PROGRAM_NS);
        assert_eq!(
            die.work(0, [PROGRAM_NS + 50; 2], DieWork::Program, PROGRAM_NS),
            (1, 2 * PROGRAM_NS + 50)
        );
        assert_eq!(die.read(100, READ_NS, &timing), 100 + 20 + READ_NS);
        // The idle time before the second program absorbs 50 of the 80 ns.
        assert_eq!(die.idle_at(), 2 * PROGRAM_NS + 80);
        let ends = [0, 1].map(|number| die.end_of(number));
        assert_eq!(ends, [PROGRAM_NS + 80, 2 * PROGRAM_NS + 80]);
    }

    #[test]
    fn a_program_is_suspended_between_two_pulses_and_an_erase_by_its_own_time() {
        let (mut die, mut timing) = (Die::default(), timing(Some(20), 10_000));
        timing.pauses.pulse_ns = 100;
        timing.pauses.erase_suspend_ns = Some(500);
        die.work(0, [0; 2], DieWork::Program, PROGRAM_NS);
        die.work(0, [0; 2], DieWork::Erase, 5000);
        // The program continues until its pulse is over.
        assert_eq!(die.read(130, READ_NS, &timing), 200 + 20 + READ_NS);
        assert_eq!(die.idle_at(), PROGRAM_NS + 5000 + 20 + READ_NS);
        let erasing = PROGRAM_NS + 20 + READ_NS + 300;
        assert_eq!(die.read(erasing, READ_NS, &timing), erasing + 500 + READ_NS);
        // The last pulse ends with the program.
        let mut other = Die::default();
        other.work(0, [0; 2], DieWork::Program, PROGRAM_NS);
        assert_eq!(other.read(1650, READ_NS, &timing), PROGRAM_NS + READ_NS);
    }

    #[test]
    fn what_was_suspended_runs_on_before_it_is_again_and_at_last_to_its_end() {
        let (mut die, mut timing) = (Die::default(), timing(Some(20), 10_000));
        timing.pauses.resume_ns = 300;
        timing.pauses.at_most = Some(2);
        die.work(0, [0; 2], DieWork::Program, PROGRAM_NS);
        let first = die.read(100, READ_NS, &timing);
        assert_eq!(first, 100 + 20 + READ_NS);
        let second = die.read(first + 50, READ_NS, &timing);
        assert_eq!(second, first + 300 + 20 + READ_NS);
        // It has run for 100 and 300 ns and was suspended twice: now it runs to its end.
        assert_eq!(
            die.read(second + 400, READ_NS, &timing),
            second + 1300 + READ_NS
        );
    }

    #[test]
    fn an_erase_waits_for_a_program_whose_data_reads_hold_up() {
        let (mut die, mut channel) = (Die::default(), Channel::new(PROGRAM_NS));
        let (transfer, there) = channel.carry(0, 0, 40, 20);
        die.work(0, [0, there], DieWork::Program, PROGRAM_NS);
        die.follows(transfer);
        die.work(0, [0; 2], DieWork::Erase, 5000);
        // The read waits for the page that is crossing.
        assert_eq!(channel.bring(0, 5, 500), 520);
        die.meet_data(0, &channel);
        assert_eq!(die.idle_at(), 540 + PROGRAM_NS + 5000);
    }

    #[test]
    fn reads_without_end_leave_other_work_its_turns() {
        let limit_ns = 6000;
        let (mut die, timing) = (Die::default(), timing(Some(20), limit_ns));
        for _ in 0..10 {
            die.work(0, [0; 2], DieWork::Program, PROGRAM_NS);
        }
        let (mut now, mut reads) = (0, 0);
        while die.idle_at() > now {
            now = die.read(now, READ_NS, &timing);
            reads += 1;
        }
        // One program gets its turn after each `limit_ns` of reads, and nothing else runs in between.
        let turns = reads * READ_NS / limit_ns;
        assert!((9..=10).contains(&turns), "{turns}");
        assert!(now < 10 * (PROGRAM_NS + limit_ns + 2 * READ_NS));
    }
}
