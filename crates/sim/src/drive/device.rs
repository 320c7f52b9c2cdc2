//! The interface of a simulated drive to runners and servers, whatever the drive is made of.

use workload::{Io, Op};

use crate::drive::model::Drive;
use crate::ftl::{MappingCache, Translation};
use crate::power::Power;
use crate::profile::spec::UNIT;

/// A drive in virtual time: a caller submits a command with its time and gets the completion time back.
pub trait Device {
    /// Bytes that the host can address.
    fn user_bytes(&self) -> u64;

    /// Granularity of offsets and lengths, in bytes.
    fn logical_block_bytes(&self) -> u32;

    /// The drive's clock, in ns: no command can be submitted at an earlier time.
    fn now(&self) -> u64;

    /// Lets time pass until `at`, or does nothing if the clock is already there.
    fn wait_until(&mut self, at: u64);

    /// Prefetches the table entries that a future I/O will need. Changes nothing that can be observed.
    fn expect(&mut self, io: Io);

    /// Submits a command at `now`; `now` must not decrease. Returns when the host sees the command complete.
    ///
    /// # Panics
    /// If `now` lies before an earlier command, or the range extends beyond the end of the drive.
    fn submit(&mut self, now: u64, op: Op, offset: u64, length: u32) -> u64;

    /// Submits a command as [`submit`](Self::submit) does. Returns `None` if its end depends on what the host does before
    /// then; [`ended`](Self::ended) reports that end later, with this `tag`.
    ///
    /// # Panics
    /// As `submit` does.
    fn issue(&mut self, now: u64, tag: u32, op: Op, offset: u64, length: u32) -> Option<u64>;

    /// Whether any issued command's end has not been reported yet.
    fn waits(&self) -> bool;

    /// Advances pending commands to `until`, or to the first end that becomes known if that is earlier. The caller must
    /// submit no command before that time.
    fn advance(&mut self, until: u64);

    /// Takes the next pending command whose end has become known: its tag, and when it has ended or will end.
    fn ended(&mut self) -> Option<(u32, u64)>;

    /// Makes all written data durable. Returns when the host sees the flush complete.
    ///
    /// # Panics
    /// If `now` lies before an earlier command.
    fn flush(&mut self, now: u64) -> u64;

    /// Returns when all data written by `at` is safe from a loss of power.
    fn durable_at(&mut self, at: u64) -> u64;

    /// Energy and heat; `None` if the drive has no power model.
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
