//! What a runner or a server needs of a simulated drive, whatever it is made of.

use workload::{Io, Op};

use crate::drive::model::Drive;
use crate::ftl::{MappingCache, Translation};
use crate::power::Power;
use crate::profile::spec::UNIT;

/// A drive in virtual time: commands go in at a time and the time of their completion comes out.
pub trait Device {
    /// Bytes that can be addressed.
    fn user_bytes(&self) -> u64;

    /// Unit of offsets and lengths, in bytes.
    fn logical_block_bytes(&self) -> u32;

    /// The drive's clock, in ns: no command can come before it.
    fn now(&self) -> u64;

    /// Lets time pass until `at`, unless it has come already.
    fn wait_until(&mut self, at: u64);

    /// An I/O will come soon: asks for the table entries that it will need. Changes nothing.
    fn expect(&mut self, io: Io);

    /// Submits a command at `now`, which never goes back. Returns when the host sees it complete.
    ///
    /// # Panics
    /// If `now` lies before an earlier command's, or the range passes the end of the drive.
    fn submit(&mut self, now: u64, op: Op, offset: u64, length: u32) -> u64;

    /// As [`submit`](Self::submit), but where the end hangs on what the host does until then it is told later, by
    /// [`ended`](Self::ended) with this tag.
    ///
    /// # Panics
    /// As `submit` does.
    fn issue(&mut self, now: u64, tag: u32, op: Op, offset: u64, length: u32) -> Option<u64>;

    /// Whether there are commands whose ends were not told.
    fn waits(&self) -> bool;

    /// Lets time pass for these, until then or until the first end that becomes known, whichever is earlier: no command comes before.
    fn advance(&mut self, until: u64);

    /// The next of them that has ended, or will, and when.
    fn ended(&mut self) -> Option<(u32, u64)>;

    /// Makes all written data durable. Returns when the host sees it done.
    ///
    /// # Panics
    /// If `now` lies before an earlier command's.
    fn flush(&mut self, now: u64) -> u64;

    /// When all that was written by `at` is safe from a loss of power.
    fn durable_at(&mut self, at: u64) -> u64;

    /// Energy and heat, if anything is known of them.
    fn power(&self) -> Option<&Power>;

    /// Bytes programmed into the medium since the drive was made.
    fn nand_written_bytes(&self) -> u64;
}

impl<T: Translation, M: MappingCache> Device for Drive<T, M> {
    fn user_bytes(&self) -> u64 {
        Drive::user_bytes(self)
    }

    fn logical_block_bytes(&self) -> u32 {
        Drive::logical_block_bytes(self)
    }

    fn now(&self) -> u64 {
        Drive::now(self)
    }

    fn wait_until(&mut self, at: u64) {
        Drive::wait_until(self, at);
    }

    #[inline]
    fn expect(&mut self, io: Io) {
        Drive::expect(self, io);
    }

    #[inline]
    fn submit(&mut self, now: u64, op: Op, offset: u64, length: u32) -> u64 {
        Drive::submit(self, now, op, offset, length)
    }

    #[inline]
    fn issue(&mut self, now: u64, tag: u32, op: Op, offset: u64, length: u32) -> Option<u64> {
        Drive::issue(self, now, tag, op, offset, length)
    }

    #[inline]
    fn waits(&self) -> bool {
        Drive::waits(self)
    }

    fn advance(&mut self, until: u64) {
        Drive::advance(self, until);
    }

    fn ended(&mut self) -> Option<(u32, u64)> {
        Drive::ended(self)
    }

    fn flush(&mut self, now: u64) -> u64 {
        Drive::flush(self, now)
    }

    fn durable_at(&mut self, at: u64) -> u64 {
        Drive::durable_at(self, at)
    }

    fn power(&self) -> Option<&Power> {
        Drive::power(self)
    }

    fn nand_written_bytes(&self) -> u64 {
        self.programmed_units() * UNIT
    }
}
