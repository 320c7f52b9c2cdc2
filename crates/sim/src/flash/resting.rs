//! Idle power states: the power model learns when the dies become idle, and the next command waits for the wake-up.

use crate::flash::machine::Machine;
use crate::power::Saving;

impl Machine {
    /// Sets the idle power states that the drive may use from `now` on. Returns whether it has any.
    pub fn save_power(&mut self, saving: Saving, now: u64) -> bool {
        let idle_at = self.idle_at();
        self.power.as_mut().is_some_and(|power| {
            power.works_until(idle_at);
            power.save(saving, now)
        })
    }

    /// Tells the power model that the drive works until `at`.
    #[inline]
    pub fn works_until(&mut self, at: u64) {
        if let Some(power) = &mut self.power {
            power.works_until(at);
        }
    }

    /// Counts the energy saved by rest until `until`. No command comes before that.
    pub fn sleep(&mut self, until: u64) {
        self.work_is_known(until);
        if let Some(power) = &mut self.power {
            power.sleep(until);
        }
    }

    /// Wakes the drive for a command that comes at `now`. Returns when it is awake.
    pub fn wake(&mut self, now: u64) -> u64 {
        self.work_is_known(now);
        self.power.as_mut().map_or(now, |power| power.wake(now))
    }

    /// Tells the power model of programs that outlast the last command, if it would otherwise let the drive rest by `now`.
    fn work_is_known(&mut self, now: u64) {
        if self
            .power
            .as_ref()
            .is_some_and(|power| power.may_sleep(now))
        {
            let idle_at = self.idle_at();
            self.works_until(idle_at);
        }
    }
}
