//! Under a limit work waits for power, and goes on evenly: a drive that used up what it may as fast as it can would stand still then.
//!
//! It is a token bucket over the windows of the trace. Each has so much energy for work; what it leaves is *saved* for those behind
//! it, up to a part of what the limit allows over its whole time. The windows have less than the limit by that part, so that no time
//! as long as the limit's holds more than it allows, wherever it begins. What dies do is planned ahead; whatever comes finds what the
//! plan has left. So work that waits behind reads leaves a share to commands and reads, as much as they wanted lately: else they
//! would wait for all that is planned. Within a window programs and commands begin when there has been power for those before them.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::profile::spec::PowerSpec;

/// With each window that is over, what was wanted before counts less by one part of so many.
const LATELY: u64 = 32;

/// Who uses power: commands, transfers and reads of the host; and programs, erases and reads for moves, which are behind them.
pub(super) const FIRST: usize = 0;
pub(super) const BEHIND: usize = 1;

/// What is planned under a limit, and what may be.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Pacing {
    window_ns: u64,
    /// The limit holds over so many, wherever they begin.
    limit_windows: u64,
    /// Power for work, beside what is always drawn, that the limit allows: one die can work.
    allowed_mw: u64,
    /// What is planned in each window that is not over, by who uses it, in pJ; the first is number `first`.
    open: VecDeque<[u64; 2]>,
    first: u64,
    /// What windows that are over left.
    saved_pj: u64,
    /// What those who are first wanted lately.
    lately_pj: u64,
    /// When work of a die that had to wait last began.
    held_up_ns: Option<u64>,
}

/// What a window may be given beside what is planned there and behind it.
struct Room {
    pj: u64,
    /// As much of it is lost if nobody takes it: no more can be saved.
    lost_pj: u64,
    /// What is planned there by who asks, but for what was saved, and what the window has for that.
    due_pj: u64,
    own_pj: u64,
}

impl Pacing {
    /// A limit of `allowed_mw` for work comes into force; windows from number `first` on hold some already. What is too much there
    /// nobody owes.
    pub(crate) fn new(
        [window_ns, limit_windows]: [u64; 2],
        allowed_mw: u64,
        (first, planned): (u64, impl Iterator<Item = u64>),
    ) -> Self {
        Self {
            window_ns,
            limit_windows,
            allowed_mw,
            open: planned.map(|pj| [0, pj]).collect(),
            first,
            saved_pj: 0,
            lately_pj: 0,
            held_up_ns: None,
        }
    }

    /// The limit allows so much power for work from now on.
    pub(crate) fn allow(&mut self, allowed_mw: u64) {
        self.allowed_mw = allowed_mw;
        self.saved_pj = self.saved_pj.min(self.most_saved_pj());
    }

    /// Another limit comes into force: what was left before does not count for it.
    pub(crate) fn forget_saved(&mut self) {
        self.saved_pj = 0;
    }

    /// Power for work in each window.
    fn steady_mw(&self) -> u64 {
        self.allowed_mw - self.allowed_mw.div_ceil(PowerSpec::CREDIT_PART)
    }

    /// The most that can be saved.
    fn most_saved_pj(&self) -> u64 {
        self.allowed_mw * self.limit_windows * self.window_ns / PowerSpec::CREDIT_PART
    }

    /// All windows before this one are over.
    pub(crate) fn pass(&mut self, window: u64) {
        while self.first < window {
            let (windows, held_pj) = match self.open.pop_front() {
                Some(held_pj) => (1, held_pj.iter().sum()),
                None => (window - self.first, 0),
            };
            self.first += windows;
            let fades_pj = self.lately_pj / LATELY * windows.min(LATELY);
            self.lately_pj -= fades_pj;
            let had_pj = self.saved_pj + self.steady_mw() * self.window_ns;
            self.saved_pj = match held_pj {
                // A drive that rested does not rush.
                0 => 0,
                _ => had_pj.saturating_sub(held_pj).min(self.most_saved_pj()),
            };
        }
    }

    /// Whether work of a die had to wait lately, or will have to.
    pub(crate) fn holds_up(&self, now: u64) -> bool {
        let limit_ns = self.limit_windows * self.window_ns;
        self.held_up_ns.is_some_and(|at| at + limit_ns > now)
    }

    /// What windows may be given, those that are planned and one more, if each keeps so much for the others.
    fn rooms(&self, who: usize, kept_pj: u64) -> Vec<Room> {
        let (steady_pj, most_pj) = (self.steady_mw() * self.window_ns, self.most_saved_pj());
        let mut saved_pj = self.saved_pj;
        let planned = self.open.iter().chain(&[[0; 2]]);
        let mut rooms: Vec<Room> = planned
            .map(|held_pj| {
                let others_pj = held_pj[1 - who].max(kept_pj);
                let due_pj = held_pj[who].saturating_sub(saved_pj);
                let pj = (saved_pj + steady_pj).saturating_sub(held_pj[who] + others_pj);
                saved_pj = pj.min(most_pj);
                Room {
                    pj,
                    lost_pj: pj - saved_pj,
                    due_pj,
                    own_pj: steady_pj.saturating_sub(others_pj),
                }
            })
            .collect();
        // What is taken must not be what is planned behind it counts on.
        let mut behind_pj = u64::MAX;
        for room in rooms.iter_mut().rev() {
            room.pj = room.pj.min(behind_pj.saturating_add(room.lost_pj));
            behind_pj = room.pj;
        }
        rooms
    }

    /// When a window has had power for what is planned there by who asks.
    fn due_ns(&self, number: u64, room: &Room) -> u64 {
        let own_mw = (room.own_pj / self.window_ns).max(1);
        number * self.window_ns + (room.due_pj / own_mw).min(self.window_ns - 1)
    }

    /// Plans work of a die that could begin at `at`. Returns when it begins.
    pub(crate) fn plan(&mut self, who: usize, at: u64, duration_ns: u64, mw: u64) -> u64 {
        let lately_mw = self.lately_pj / (LATELY * self.window_ns);
        let steady_mw = self.steady_mw();
        let kept_mw = match who {
            BEHIND => lately_mw.min(steady_mw / 2).min(steady_mw - mw),
            _ => 0,
        };
        let rooms = self.rooms(who, kept_mw * self.window_ns);
        let mut start = at.max(self.first * self.window_ns);
        while let Some(later) = self.too_early(&rooms, who, [start, start + duration_ns], mw) {
            start = later;
        }
        if start > at {
            self.held_up_ns = self.held_up_ns.max(Some(start));
        }
        if who == FIRST {
            // What its die would draw while it waits is wanted too, so that reads are left no less because they wait.
            self.lately_pj += (start - at + duration_ns) * mw;
        }
        for (number, ns) in parts(self.window_ns, [start, start + duration_ns]) {
            self.take(who, number, ns * mw);
        }
        start
    }

    /// When work may begin at the earliest, if there is no room for it yet.
    fn too_early(
        &self,
        rooms: &[Room],
        who: usize,
        [start, end]: [u64; 2],
        mw: u64,
    ) -> Option<u64> {
        let mut owed_pj = 0;
        for (number, ns) in parts(self.window_ns, [start, end]) {
            // A die can always work in the windows behind these.
            let room = rooms.get((number - self.first) as usize)?;
            let begin_ns = number * self.window_ns;
            owed_pj += ns * mw;
            if ns * mw > room.pj {
                return Some(begin_ns + self.window_ns - room.pj / mw);
            }
            if owed_pj > room.pj {
                return Some((start / self.window_ns + 1) * self.window_ns);
            }
            // What is planned together goes on evenly; many that begin late in a window would be a rush in the next.
            let by_ns = if start >= begin_ns { start } else { end };
            if who == BEHIND && by_ns < self.due_ns(number, room) {
                return Some(self.due_ns(number, room));
            }
            owed_pj = owed_pj.saturating_sub(room.lost_pj);
        }
        None
    }

    fn take(&mut self, who: usize, number: u64, pj: u64) {
        let index = (number - self.first) as usize;
        if index >= self.open.len() {
            self.open.resize(index + 1, [0; 2]);
        }
        self.open[index][who] += pj;
    }

    /// Commands and transfers use up to `pj` as soon as there is any room. Returns when, and how much.
    pub(crate) fn take_some(&mut self, at: u64, pj: u64) -> (u64, u64) {
        let from = (at / self.window_ns).max(self.first);
        self.take(FIRST, from, 0);
        let rooms = self.rooms(FIRST, 0);
        let mut found = (self.first..)
            .zip(&rooms)
            .skip((from - self.first) as usize);
        // The one behind all that is planned has some, unless the limit leaves nothing for work.
        let (number, due_ns, pj) = match found.find(|(_, room)| room.pj > 0) {
            Some((number, room)) => (number, self.due_ns(number, room), pj.min(room.pj)),
            None => (from, at, pj),
        };
        self.take(FIRST, number, pj);
        self.lately_pj += pj;
        (at.max(due_ns), pj)
    }
}

/// The windows that a time lies in, and for how long.
pub(super) fn parts(
    window_ns: u64,
    [mut start, end]: [u64; 2],
) -> impl Iterator<Item = (u64, u64)> {
    (start / window_ns..).map_while(move |number| {
        let part_end = end.min((number + 1) * window_ns);
        let ns = part_end - start;
        start = part_end;
        (ns > 0).then_some((number, ns))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const WINDOW_NS: u64 = 10 * MS;
    const PROGRAM_NS: u64 = 1_700_000;

    /// A watt.
    fn allowed() -> Pacing {
        Pacing::new([WINDOW_NS, 1], 1_000, (0, std::iter::empty()))
    }

    #[test]
    fn programs_that_wait_together_begin_one_after_the_other() {
        let mut pacing = allowed();
        let mut starts: Vec<u64> = (0..600)
            .map(|_| pacing.plan(BEHIND, 0, PROGRAM_NS, 200))
            .collect();
        starts.sort_unstable();
        let mean_ns = 200 * PROGRAM_NS / 975;
        let last = starts[starts.len() - 1];
        assert!(last < mean_ns * 600 * 101 / 100, "{last}");
        let gaps = starts.windows(2).map(|pair| pair[1] - pair[0]);
        let gap = gaps.max();
        assert!(gap < Some(WINDOW_NS / 4), "{gap:?}");
    }

    #[test]
    fn commands_and_reads_find_as_much_as_they_wanted_lately() {
        let mut pacing = allowed();
        for window in 0..1000 {
            let begin = window * WINDOW_NS;
            pacing.take_some(begin, 100 * WINDOW_NS);
            pacing.plan(FIRST, begin, WINDOW_NS, 200);
            pacing.pass(window + 1);
        }
        // What is planned leaves it, but for a 32nd, which the last window that is over made less of it.
        let begin = 1000 * WINDOW_NS;
        (0..600).for_each(|_| _ = pacing.plan(BEHIND, begin, PROGRAM_NS, 200));
        assert_eq!(pacing.plan(FIRST, begin, WINDOW_NS, 285), begin);
        assert!(pacing.plan(FIRST, begin, WINDOW_NS, 100) > begin);
    }

    #[test]
    fn reads_that_wait_are_left_as_much_as_if_they_did_not() {
        let mut pacing = allowed();
        // Programs have all there is when reads begin to come: the next leave them some, and half at most.
        (0..600).for_each(|_| _ = pacing.plan(BEHIND, 0, PROGRAM_NS, 200));
        (0..9).for_each(|_| _ = pacing.plan(FIRST, 0, WINDOW_NS, 100));
        let begin = pacing.plan(BEHIND, 300 * MS, WINDOW_NS, 487);
        assert!(pacing.plan(BEHIND, begin, WINDOW_NS, 100) >= begin + WINDOW_NS / 2);
    }

    #[test]
    fn work_longer_than_a_window_leaves_each_window_that_it_lies_in_what_is_planned() {
        let planned = (0..12).map(|window| if window < 10 { 714 * MS } else { 925 * MS });
        let mut pacing = Pacing::new([MS, 10], 1_000, (0, planned));
        let start = pacing.plan(BEHIND, 0, 10 * MS, 200);
        let mut saved_pj = 0;
        for (window, held_pj) in pacing.open.iter().enumerate() {
            saved_pj = (saved_pj + 975 * MS as i64 - held_pj[BEHIND] as i64).min(250 * MS as i64);
            assert!(saved_pj >= 0, "from {start} on, window {window}");
        }
    }
}
