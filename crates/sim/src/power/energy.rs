//! Energy and power in virtual time: use by class, the trace over windows, savings at rest, and a limit that delays work.
//!
//! Energy is counted in pJ, as integers: one mW for one ns is one pJ. Each operation adds its energy to the windows that it
//! touches, so the classes and the trace always have the same sum. Under a limit, work of a die starts only where there is
//! power for it until the end of every window that it touches. Any stretch of the trace that is as long as the limit's time
//! therefore keeps the limit, wherever it begins.

use serde::{Deserialize, Serialize};

use crate::power::highest::Highest;
use crate::power::ledger::{BEHIND, READS};
use crate::power::pacing::Pacing;
use crate::power::rest::{Rest, Saving};
use crate::power::thermal::Thermal;
use crate::power::trace::Trace;
use crate::profile::spec::PowerSpec;

/// Energy since the drive was made, by use, in pJ.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Energy {
    /// Array reads.
    pub reads_pj: u128,
    /// Programs.
    pub programs_pj: u128,
    /// Erases.
    pub erases_pj: u128,
    /// Channel transfers.
    pub transfers_pj: u128,
    /// The controller's work on commands.
    pub commands_pj: u128,
    /// Data on the link.
    pub link_pj: u128,
    /// The controller outside its power saving, in windows with any work.
    pub awake_pj: u128,
}

impl Energy {
    /// Returns the sum of all classes.
    pub fn total_pj(&self) -> u128 {
        let dies_pj = self.reads_pj + self.programs_pj + self.erases_pj;
        dies_pj + self.transfers_pj + self.commands_pj + self.link_pj + self.awake_pj
    }
}

/// Operations of a die that take energy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum DieWork {
    /// An array read.
    Read,
    /// A program.
    Program,
    /// An erase.
    Erase,
}

/// Power meter, power limit and temperature of a drive.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Power {
    spec: PowerSpec,
    energy: Energy,
    trace: Trace,
    /// Energy of the awake controller in one window, beside the idle power.
    awake_pj: u64,
    cap_mw: Option<u64>,
    /// The limit that `pacing` applies.
    in_force_mw: Option<u64>,
    highest: Highest,
    /// Paces the work of the dies while there is a limit.
    pacing: Option<Box<Pacing>>,
    thermal: Option<Thermal>,
    rest: Option<Box<Rest>>,
}

impl Power {
    /// A meter at time zero.
    pub fn new(spec: PowerSpec) -> Self {
        let thermal = spec
            .thermal
            .map(|t| Thermal::new(t, spec.window_ns, spec.idle_mw));
        let mut power = Self {
            spec,
            energy: Energy::default(),
            trace: Trace::new(spec.window_ns),
            awake_pj: spec.active_mw * spec.window_ns,
            cap_mw: spec.cap_mw,
            in_force_mw: None,
            highest: Highest::new(spec.limit_windows),
            pacing: None,
            thermal,
            rest: spec.rests[0].map(|_| Box::new(Rest::new(spec.rests, spec.idle_mw))),
        };
        power.enforce();
        power
    }

    /// Returns the energy by class, without the idle power.
    pub fn energy(&self) -> Energy {
        self.energy
    }

    /// Returns the temperature at the beginning of the current window, in thousandths of a degree Celsius; `None`: not
    /// modelled.
    pub fn temperature_mc(&self) -> Option<i64> {
        self.thermal.as_ref().map(Thermal::temperature_mc)
    }

    /// Returns how often the drive has begun to throttle because of heat.
    pub fn throttle_events(&self) -> u64 {
        self.thermal.as_ref().map_or(0, Thermal::throttle_events)
    }

    /// Returns the limit now, in mW: the lower of the requested limit and the thermal limit.
    pub fn cap_mw(&self) -> Option<u64> {
        let hot = self.thermal.as_ref().and_then(Thermal::cap_mw);
        match (self.cap_mw, hot) {
            (Some(asked), Some(hot)) => Some(asked.min(hot)),
            (asked, hot) => asked.or(hot),
        }
    }

    /// Sets the requested limit, in mW, or removes it.
    pub fn limit(&mut self, cap_mw: Option<u64>) {
        if cap_mw != self.cap_mw {
            (self.cap_mw, self.in_force_mw) = (cap_mw, None);
        }
        self.enforce();
    }

    /// Sets the drive to ambient temperature, as if it had just been switched on.
    pub fn cool(&mut self) {
        if let Some(thermal) = &mut self.thermal {
            thermal.cool();
        }
        self.enforce();
    }

    /// Applies the current limit.
    fn enforce(&mut self) {
        let Some(cap_mw) = self.cap_mw() else {
            (self.in_force_mw, self.pacing) = (None, None);
            return;
        };
        if self.in_force_mw == Some(cap_mw) {
            return;
        }
        let allowed_mw = cap_mw.saturating_sub(self.spec.idle_mw + self.spec.active_mw);
        let graded = self.thermal.as_ref().is_some_and(Thermal::is_graded);
        let goes_on = graded && self.in_force_mw.is_some();
        self.in_force_mw = Some(cap_mw);
        match &mut self.pacing {
            Some(pacing) => {
                pacing.allow(allowed_mw);
                if !goes_on {
                    pacing.forget_credit();
                }
            }
            None => self.pacing = Some(Box::new(self.paced_from_now(allowed_mw))),
        }
    }

    /// Starts pacing from now on, aware of work done and planned in the open windows.
    fn paced_from_now(&self, allowed_mw: u64) -> Pacing {
        let (first, open) = self.trace.open();
        let worked = open.map(|pj| pj.saturating_sub(self.awake_pj));
        let windows = [self.spec.window_ns, self.spec.limit_windows];
        Pacing::new(windows, allowed_mw, (first, worked))
    }

    /// Returns whether the limit has delayed work recently.
    pub(crate) fn holds_up(&self, now: u64) -> bool {
        self.pacing
            .as_ref()
            .is_some_and(|pacing| pacing.holds_up(now))
    }

    /// Returns the mean power between two times in mW, idle power included. A window that lies only partly between them counts
    /// in proportion.
    pub fn mean_mw(&self, from_ns: u64, to_ns: u64) -> f64 {
        if to_ns <= from_ns {
            return 0.0;
        }
        let pj = self.trace.pj_between(from_ns, to_ns) - self.saved_pj(from_ns, to_ns);
        pj / (to_ns - from_ns) as f64 + self.spec.idle_mw as f64
    }

    /// Returns the highest mean power so far over any `limit_windows` consecutive windows, in mW. Before there are that many,
    /// returns the mean.
    pub fn highest_mw(&self) -> f64 {
        self.highest.mean_pj() / self.spec.window_ns as f64 + self.spec.idle_mw as f64
    }

    /// Returns the energy of the whole trace in pJ, without the idle power.
    pub fn trace_pj(&self) -> u128 {
        self.trace.runs_from(0).map(|run| run.all_pj).sum()
    }

    /// Yields stretches of equal power so far: start in ns, end in ns, and mean power in mW. The last stretches may still gain
    /// energy.
    pub fn trace(&self) -> impl Iterator<Item = (u64, u64, f64)> + '_ {
        let window = self.spec.window_ns;
        self.trace.runs_from(0).map(move |run| {
            let (start, end) = (run.first * window, (run.first + run.windows) * window);
            let pj = run.all_pj as f64 - self.saved_pj(start, end);
            (
                start,
                end,
                pj / (end - start) as f64 + self.spec.idle_mw as f64,
            )
        })
    }

    /// Closes the windows before `now`: nothing will use energy earlier than that.
    #[inline]
    pub fn advance(&mut self, now: u64) {
        if now >= self.trace.first_open_end_ns() {
            self.close_until(now / self.spec.window_ns);
        }
    }

    #[cold]
    fn close_until(&mut self, window: u64) {
        let mut first = self.trace.first_open_end_ns() / self.spec.window_ns - 1;
        while let Some((windows, each_pj)) = self.trace.close_before(window) {
            self.close(first, windows, each_pj);
            first += windows;
        }
        if let Some(pacing) = &mut self.pacing {
            pacing.pass(window);
        }
        self.enforce();
    }

    /// Accounts for `windows` windows from number `first` on that are over, each with the same energy.
    fn close(&mut self, first: u64, windows: u64, each_pj: u64) {
        let [start, end] = [first, first + windows].map(|window| window * self.spec.window_ns);
        let saved_pj = self.saved_pj(start, end) / windows as f64;
        let drawn_pj = each_pj as i64 - saved_pj as i64;
        self.highest.pass(windows, drawn_pj);
        if let Some(thermal) = &mut self.thermal {
            thermal.pass(windows, drawn_pj);
        }
    }

    /// Books work of a die that could begin at `at` and takes `duration_ns`. Returns when it may begin; its energy is counted
    /// from then on.
    #[inline]
    pub fn begin(&mut self, work: DieWork, at: u64, duration_ns: u64) -> u64 {
        let class = match work {
            DieWork::Read => READS,
            DieWork::Program | DieWork::Erase => BEHIND,
        };
        self.begin_in(class, work, at, duration_ns)
    }

    /// As [`begin`](Self::begin), for work that host reads go before, including reads for moves.
    #[inline]
    pub fn begin_behind(&mut self, work: DieWork, at: u64, duration_ns: u64) -> u64 {
        self.begin_in(BEHIND, work, at, duration_ns)
    }

    fn begin_in(&mut self, class: usize, work: DieWork, at: u64, duration_ns: u64) -> u64 {
        let mw = match work {
            DieWork::Read => self.spec.read_mw,
            DieWork::Program => self.spec.program_mw,
            DieWork::Erase => self.spec.erase_mw,
        };
        let pj = u128::from(duration_ns) * u128::from(mw);
        match work {
            DieWork::Read => self.energy.reads_pj += pj,
            DieWork::Program => self.energy.programs_pj += pj,
            DieWork::Erase => self.energy.erases_pj += pj,
        }
        let mut start = at;
        if let Some(pacing) = &mut self.pacing {
            start = pacing.first_fit(class, at, duration_ns, mw);
            pacing.spread(class, start, duration_ns, mw);
        }
        self.spread(start, duration_ns, mw);
        start
    }

    fn spread(&mut self, start: u64, duration_ns: u64, mw: u64) {
        let end = start + duration_ns;
        let mut begin = start;
        while begin < end {
            let window = begin / self.spec.window_ns;
            let part_end = end.min((window + 1) * self.spec.window_ns);
            self.put(window, (part_end - begin) * mw);
            begin = part_end;
        }
    }

    /// Adds energy to a window. The first energy in a window wakes the controller.
    fn put(&mut self, window: u64, pj: u64) {
        let woken_pj = match self.awake_pj {
            0 => 0,
            awake_pj if self.trace.used_pj(window) == 0 => awake_pj,
            _ => 0,
        };
        self.energy.awake_pj += u128::from(woken_pj);
        self.trace.put(window, pj + woken_pj);
    }

    /// Books the transfer of units over a channel at `at`. Returns when there is power for it. Under a limit, planned work of
    /// dies leaves room for transfers.
    #[inline]
    pub fn transfer(&mut self, at: u64, units: u32) -> u64 {
        let pj = u64::from(units) * self.spec.unit_transfer_pj;
        self.energy.transfers_pj += u128::from(pj);
        self.at_once(at, pj)
    }

    /// Books a command with `bytes` of data. Returns when there is power for it.
    #[inline]
    pub fn command(&mut self, at: u64, bytes: u32) -> u64 {
        let link_pj = u64::from(bytes) * self.spec.link_byte_pj;
        self.energy.commands_pj += u128::from(self.spec.command_pj);
        self.energy.link_pj += u128::from(link_pj);
        self.at_once(at, self.spec.command_pj + link_pj)
    }

    /// Uses energy at `at`, or as soon as there is room. Returns that time.
    fn at_once(&mut self, at: u64, pj: u64) -> u64 {
        let at = match &mut self.pacing {
            Some(pacing) => pacing.put(at, pj),
            None => at,
        };
        self.put(at / self.spec.window_ns, pj);
        at
    }

    /// Returns which low-power states the host lets the drive use; `None`: it has none.
    pub fn saving(&self) -> Option<Saving> {
        self.rest.as_ref().map(|rest| rest.saving())
    }

    /// Changes the low-power states that the drive may use from `now` on. Returns whether it has any.
    pub fn save(&mut self, saving: Saving, now: u64) -> bool {
        if let Some(rest) = &mut self.rest {
            rest.save(saving, now);
        }
        self.rest.is_some()
    }

    /// Records work until `at`.
    #[inline]
    pub fn works_until(&mut self, at: u64) {
        if let Some(rest) = &mut self.rest {
            rest.works_until(at);
        }
    }

    /// Returns whether a drive without further work would have begun to enter a low-power state before `now`.
    pub fn may_sleep(&self, now: u64) -> bool {
        self.rest.as_ref().is_some_and(|rest| rest.may_sleep(now))
    }

    /// Wakes the drive for a command that arrives at `now`. Returns when it is awake.
    pub fn wake(&mut self, now: u64) -> u64 {
        self.rest.as_mut().map_or(now, |rest| rest.wake(now))
    }

    /// Lets the drive rest until `until`, before which no command arrives.
    pub fn sleep(&mut self, until: u64) {
        if let Some(rest) = &mut self.rest {
            rest.settle(until);
        }
    }

    /// Energy saved at rest between two times, in pJ.
    fn saved_pj(&self, from_ns: u64, to_ns: u64) -> f64 {
        let rest = self.rest.as_ref();
        rest.map_or(0.0, |rest| rest.pj_between(from_ns, to_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::power::limit_tests::spec;
    use crate::power::trace::MAX_RUNS;

    const MS: u64 = 1_000_000;

    #[test]
    fn idle_draws_what_it_always_draws_and_is_one_run() {
        let mut power = Power::new(spec(None));
        power.advance(3_600_000 * MS);
        assert!((power.mean_mw(0, 3_600_000 * MS) - 2_000.0).abs() < 1e-9);
        assert_eq!(power.trace.stretches(), 1);
    }

    #[test]
    fn a_long_trace_is_kept_coarser_and_its_sum_exact() {
        let mut power = Power::new(spec(None));
        let steps = 3 * MAX_RUNS as u64;
        for step in 0..steps {
            power.advance(step * MS);
            power.begin(DieWork::Read, step * MS, MS / 10 * (1 + step % 5));
        }
        assert!(power.trace.stretches() <= MAX_RUNS);
        assert_eq!(power.energy().total_pj(), power.trace_pj());
        let mean = 2_000.0 + 120.0 * 0.3;
        assert!((power.mean_mw(0, steps * MS) - mean).abs() < 0.001);
        assert!((power.mean_mw(steps / 2 * MS, steps * MS) - mean).abs() < 0.01);
        assert!((power.highest_mw() - 2_060.0).abs() < 1e-9);
    }

    #[test]
    fn one_program_is_seen_where_it_lies() {
        let mut power = Power::new(spec(None));
        assert_eq!(power.begin(DieWork::Program, MS / 2, MS), MS / 2);
        assert!((power.mean_mw(0, MS) - 2_080.0).abs() < 1e-9);
        assert!((power.mean_mw(MS, 2 * MS) - 2_080.0).abs() < 1e-9);
        assert!((power.mean_mw(0, 4 * MS) - 2_040.0).abs() < 1e-9);
    }

    #[test]
    fn the_controller_is_awake_in_windows_in_which_anything_is_done() {
        let active_mw = 1_500;
        let mut power = Power::new(PowerSpec {
            active_mw,
            ..spec(None)
        });
        power.begin(DieWork::Read, 3 * MS, MS / 10);
        power.transfer(3 * MS, 1);
        power.advance(10 * MS);
        assert_eq!(power.energy().awake_pj, u128::from(active_mw * MS));
        assert!((power.mean_mw(4 * MS, 10 * MS) - 2_000.0).abs() < 1e-9);
        let working = 2_000.0 + 1_500.0 + 12.0 + 0.5;
        assert!((power.mean_mw(3 * MS, 4 * MS) - working).abs() < 1e-9);
    }
}
