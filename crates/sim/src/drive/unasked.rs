//! What a drive does that nobody asks for: beside the host, and when it has been idle for long enough.

use crate::drive::model::Drive;
use crate::ftl::{MappingCache, Translation};

impl<T: Translation, M: MappingCache> Drive<T, M> {
    /// What the drive does for itself until `until`.
    #[cold]
    pub(crate) fn work_unasked(&mut self, until: u64) {
        self.machine.unasked = true;
        if until > self.beside_from {
            self.work_beside(until);
        }
        if until > self.idle_from {
            self.work_when_idle(until);
        }
        self.machine.unasked = false;
    }

    /// Beside what the host does: some word lines, and the next when they are in flash.
    fn work_beside(&mut self, until: u64) {
        while self.beside_from < until {
            let at = self.beside_from;
            self.place_rests(at);
            self.machine.begin(at);
            self.machine.at = at;
            if !self.ftl.work_beside(&mut self.machine) {
                self.beside_from = u64::MAX;
                return;
            }
            self.map_cache.change_moved(&mut self.machine);
            self.beside_from = self.machine.moved_at().max(at + 1);
        }
    }

    /// From when it has been idle for long enough.
    fn work_when_idle(&mut self, until: u64) {
        let mut at = self.idle_from;
        loop {
            at = at.max(self.machine.idle_at());
            if at >= until {
                break;
            }
            self.place_rests(at);
            self.machine.begin(at);
            self.machine.at = at;
            if !self.ftl.work_when_idle(&mut self.machine) {
                at = until;
                break;
            }
            self.map_cache.change_moved(&mut self.machine);
        }
        self.idle_from = at;
    }
}
