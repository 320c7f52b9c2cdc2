//! Background work that a drive does when it has been idle for long enough.

use crate::drive::model::Drive;
use crate::ftl::{MappingCache, Translation};

impl<T: Translation, M: MappingCache> Drive<T, M> {
    /// Does background work from `idle_from` to `until`.
    #[cold]
    pub(crate) fn work_unasked(&mut self, until: u64) {
        self.machine.unasked = true;
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
        self.machine.unasked = false;
    }
}
