//! States of less power between commands: when the dies have no more to do, and what the next command waits for.

use crate::flash::machine::Machine;
use crate::power::Saving;

impl Machine {
    /// Lets the drive use other states of less power. Returns whether it has any.
    pub fn save_power(&mut self, saving: Saving, now: u64) -> bool {
        let idle_at = self.idle_at();
        self.power.as_mut().is_some_and(|power| {
            power.works_until(idle_at);
            power.save(saving, now)
        })
    }

    /// There is work until then.
    #[inline]
    pub fn works_until(&mut self, at: u64) {
        if let Some(power) = &mut self.power {
            power.works_until(at);
        }
    }

    /// No command comes before `until`.
    pub fn sleep(&mut self, until: u64) {
        self.work_is_known(until);
        if let Some(power) = &mut self.power {
            power.sleep(until);
        }
    }

    /// A command comes at `now`. Returns when the drive is awake for it.
    pub fn wake(&mut self, now: u64) -> u64 {
        self.work_is_known(now);
        self.power.as_mut().map_or(now, |power| power.wake(now))
    }

    /// Tells the drive's power of programs behind the last command, where it would sleep by `now` without.
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
