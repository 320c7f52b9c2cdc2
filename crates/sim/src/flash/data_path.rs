//! The controller's data path: what the host writes and what is moved crosses it, one behind the other.

use crate::flash::machine::Machine;
use crate::profile::spec::UNIT_BYTES;

impl Machine {
    /// What a unit takes of the controller's data path, in ns.
    pub(crate) fn path_unit_ns(&self) -> u64 {
        self.data_unit_ns_x1024 / 1024
    }

    /// Units take the controller's data path from `ready` on, or when it is free. Returns when they have passed.
    #[inline]
    pub(crate) fn pass(&mut self, ready: u64, units: u32) -> u64 {
        if self.data_unit_ns_x1024 == 0 {
            return ready;
        }
        let takes_ns = u64::from(units) * self.data_unit_ns_x1024 / 1024;
        self.pass_ns(ready, takes_ns)
    }

    /// What so many bytes take of the data path, in ns.
    pub(crate) fn path_bytes_ns(&self, bytes: u64) -> u64 {
        bytes * self.path_unit_ns() / u64::from(UNIT_BYTES)
    }

    /// Bytes take the data path as units do.
    pub(crate) fn pass_bytes(&mut self, ready: u64, bytes: u64) -> u64 {
        if self.data_unit_ns_x1024 == 0 {
            return ready;
        }
        let takes_ns = bytes * self.data_unit_ns_x1024 / (1024 * u64::from(UNIT_BYTES));
        self.pass_ns(ready, takes_ns)
    }

    #[inline]
    fn pass_ns(&mut self, ready: u64, takes_ns: u64) -> u64 {
        self.path_free = self.path_free.max(ready) + takes_ns;
        if self.path_free_behind > ready {
            self.path_free_behind += takes_ns;
        }
        self.path_free
    }

    /// Units that are moved take the path: in turn where the host's writes need the space, else behind all that is asked for.
    #[inline]
    pub(crate) fn pass_moved(&mut self, units: u32) {
        if !self.unasked {
            self.pass(self.at, units);
            self.moving.takes_core(units);
            return;
        }
        let path_ns = u64::from(units) * self.data_unit_ns_x1024 / 1024;
        let takes_ns = path_ns.max(self.moving.core_of(units));
        let from = self.path_free_behind.max(self.path_free).max(self.at);
        self.path_free_behind = from + takes_ns;
    }
}
