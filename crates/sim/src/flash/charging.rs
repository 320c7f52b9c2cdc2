//! Charges the translation layer's calls to the clocks of dies and channels: reads for moves, programs, erases, map pages.

use std::collections::VecDeque;

use crate::flash::addressing::{ONE_BIT, Place};
use crate::flash::behind::Behind;
use crate::flash::machine::Machine;
use crate::flash::medium::Flash;
use crate::flash::moving::MoveRead;
use crate::power::DieWork;

/// The owner of the units in a word line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stream {
    Host,
    Moved,
    Shared,
}

impl Machine {
    /// Queues work of a die behind its host reads, from `ready` on. Returns its number, and its end if no read comes.
    #[inline]
    pub(crate) fn work(
        &mut self,
        die: u32,
        block: u32,
        work: DieWork,
        ready: u64,
        duration_ns: u64,
    ) -> (u64, u64) {
        self.meet_data(die, self.now);
        if self.plain {
            let die = &mut self.dies[die as usize];
            return die.work(self.now, [self.at, ready], work, duration_ns);
        }
        let mut duration_ns = duration_ns;
        if let Some(spread) = &mut self.spread {
            duration_ns = spread.stretch(duration_ns, die, block);
        }
        self.work_with_power(die, work, ready, duration_ns)
    }

    #[cold]
    fn work_with_power(
        &mut self,
        die: u32,
        work: DieWork,
        ready: u64,
        duration_ns: u64,
    ) -> (u64, u64) {
        let die = &mut self.dies[die as usize];
        let mut start = ready;
        if let Some(power) = &mut self.power {
            start = power.begin_behind(work, start.max(die.idle_at()), duration_ns);
        }
        die.work(self.now, [self.at, start], work, duration_ns)
    }

    /// Programs the word line that ends with `last_unit` and holds `held` units. Returns this work, and its end if no
    /// reads come.
    ///
    /// Only the held units cross the channel, page by page: the program command clears the page registers first.
    fn program(&mut self, last_unit: u32, held: u32, stream: usize) -> (Behind, u64) {
        self.counts.programs += 1;
        let place = self.place(last_unit);
        let (units, program_ns) = if place.page_type == ONE_BIT {
            (self.geometry.units_per_read(), self.one_bit_program_ns)
        } else {
            (self.addressing.units_per_program(), self.timing.program_ns)
        };
        let block = self.reads_per_block.quotient(place.array_read);
        self.erase_if_due(place, block);
        let programmed = self.load_and_program(place.die, block, held.min(units), program_ns);
        if self.parity_lines > 0 {
            self.protect(place.die, block, stream, units, program_ns);
        }
        programmed
    }

    /// Transfers `units` to a die, which then programs them. Returns this work, and its end if no reads come.
    ///
    /// The end is the later of two times: the end of the die's program, and one program time after the transfer.
    ///
    /// The page registers accept the next word line during a program. An idle die waits for the data; a read that
    /// comes meanwhile finds no program running.
    pub(crate) fn load_and_program(
        &mut self,
        die: u32,
        block: u32,
        units: u32,
        program_ns: u64,
    ) -> (Behind, u64) {
        let (transfer, crossed) = self.carry(die, units);
        let (work, worked) = self.work(die, block, DieWork::Program, crossed, program_ns);
        self.dies[die as usize].follows(transfer);
        let behind = Behind {
            die,
            numbers: [work, transfer],
            follows_ns: [0, program_ns],
        };
        (behind, worked.max(crossed + program_ns))
    }

    /// Counts a word line towards its parity stripe. If it completes the stripe, the next die programs the parity.
    fn protect(&mut self, die: u32, block: u32, stream: usize, units: u32, program_ns: u64) {
        self.unprotected[stream] += 1;
        if self.unprotected[stream] + 1 < self.parity_lines {
            return;
        }
        self.unprotected[stream] = 0;
        let die = (die + 1) % self.geometry.dies();
        self.counts.programs += 1;
        self.counts.parity_units += u64::from(units);
        self.load_and_program(die, block, units, program_ns);
    }

    /// Counts an erase of a block. Returns whether this erase takes time: a scaled drive charges only some of its erases.
    fn counts_as_erase(&mut self, block: u32) -> bool {
        if let Some(erases) = self.erases.get_mut(block as usize) {
            *erases += 1;
        }
        // The superblocks here hold only data. With one parity line in n, a real drive erases n / (n - 1) times as often.
        self.erase_phase += self.parity_lines.max(1);
        let whole = self.erase_every * self.parity_lines.saturating_sub(1).max(1);
        let counts = self.erase_phase >= whole;
        if counts {
            self.erase_phase -= whole;
        }
        counts
    }

    fn set_due(&mut self, block: u32, on: bool) {
        let (word, bit) = (&mut self.erase_due[block as usize / 64], 1 << (block % 64));
        *word = if on { *word | bit } else { *word & !bit };
    }

    /// Erases the die's part of a block, if that is due, before the die programs a word line there.
    #[inline]
    fn erase_if_due(&mut self, place: Place, block: u32) {
        if self.erase_due[block as usize / 64] >> (block % 64) & 1 == 1 {
            self.erase_first(place, block);
        }
    }

    #[cold]
    fn erase_first(&mut self, place: Place, block: u32) {
        let page = place.array_read - block * self.reads_per_block.by();
        let one_bit = place.page_type == ONE_BIT;
        let word_line = self.addressing.word_line(page, one_bit);
        let first_ones = if self.addressing.is_of_planes() {
            1
        } else {
            self.geometry.dies()
        };
        if word_line < first_ones {
            self.erase_on(place.die, block);
        }
        if word_line + 1 >= first_ones {
            self.set_due(block, false);
        }
    }

    pub(crate) fn erase_on(&mut self, die: u32, block: u32) {
        self.counts.erases += 1;
        self.work(die, block, DieWork::Erase, self.at, self.timing.erase_ns);
    }

    /// Transfers the units of the last array read for moves. If the number of such reads is unbounded, collection
    /// reads ahead, so these units cross beside other transfers and nothing waits for them.
    fn take_moved(&mut self) {
        let read = std::mem::replace(&mut self.moving.read, MoveRead::NONE);
        if read.units == 0 {
            return;
        }
        if self.moving.is_bounded() {
            self.take_sensed(read);
        } else {
            self.carry(read.die, read.units);
        }
    }

    /// Transfers the units of a read once they are sensed. The read then frees its slot.
    fn take_sensed(&mut self, read: MoveRead) {
        let at = std::mem::replace(&mut self.at, read.sensed);
        let (_, crossed) = self.carry(read.die, read.units);
        self.at = at;
        self.moving.crossed(crossed, read.units, self.unasked);
    }

    /// Transfers the units that were requested of the current read, so that `moving` knows when all moves end. Has an
    /// effect only if reads for moves are bounded.
    fn settle_moves(&mut self) {
        let read = self.moving.read;
        if self.moving.is_bounded() && read.units > 0 {
            self.moving.read.units = 0;
            self.take_sensed(read);
        }
    }

    /// Queues an array read behind all earlier work of its die. Returns its number, and its end if no host read comes.
    #[inline]
    pub(crate) fn sense_behind(&mut self, place: Place) -> (u64, u64) {
        self.counts.reads += 1;
        self.meet_data(place.die, self.now);
        let read_ns = self.read_ns[place.page_type as usize & 7];
        if self.plain {
            let die = &mut self.dies[place.die as usize];
            return die.work(self.now, [self.at; 2], DieWork::Read, read_ns);
        }
        let read_ns = self.own_read_ns(place, read_ns);
        self.work_with_power(place.die, DieWork::Read, self.at, read_ns)
    }

    /// Begins the array read that brings a unit to be moved.
    fn begin_move_read(&mut self, physical: u32) {
        self.take_moved();
        let place = self.place(physical);
        let begins = self.moving.begins(self.at);
        let at = std::mem::replace(&mut self.at, begins);
        let (_, sensed) = self.sense_behind(place);
        self.at = at;
        let brings = self.addressing.units_per_read();
        self.moving.read = MoveRead {
            first: place.array_read * brings,
            brings,
            die: place.die,
            units: 0,
            sensed,
        };
    }

    /// Programs a word line when the moves that it waits for are done: those of its own units or, for host data,
    /// those that free its space.
    #[inline]
    fn program_when_moved(&mut self, last: u32, held: u32, stream: Stream) -> (Behind, u64) {
        let at = self.at;
        if self.moving.is_bounded() {
            self.settle_moves();
            self.at = at.max(match stream {
                Stream::Host => self.moving.asked_at(),
                Stream::Moved | Stream::Shared => self.moving.moved_at(),
            });
        }
        let programmed = self.program(last, held, usize::from(stream == Stream::Moved));
        self.at = at;
        programmed
    }

    /// Charges moved units to the data path: in turn with host data if host writes need the space, else behind all other data.
    #[inline]
    fn pass_moved(&mut self, units: u32) {
        let path_ns = self.path.takes_ns(units);
        if !self.unasked {
            if path_ns > 0 {
                self.path.take(self.at, path_ns);
            }
            self.moving.takes_core(units);
            return;
        }
        let takes_ns = path_ns.max(self.moving.core_of(units));
        self.path.take_behind(self.at, takes_ns);
    }

    /// Reads `pages` map pages of a group, from `ready` on. Returns when they have arrived.
    pub fn read_map(&mut self, group: u32, pages: u32, ready: u64) -> u64 {
        self.read(self.map_stream.place_of(group), pages, ready)
    }

    /// Writes `pages` map pages of a group to the end of the map stream, at `at`.
    pub fn write_map(&mut self, group: u32, pages: u32, at: u64) {
        let units = self.geometry.units_per_program();
        // Blocks of the unscaled drive's size, so that erases are as frequent as those of data.
        let lines = self.geometry.pages_per_block / self.geometry.bits_per_cell * self.erase_every;
        let full = self.map_stream.append(group, pages, lines.into());
        let before = std::mem::replace(&mut self.at, at);
        for (die, begins_block) in full {
            if begins_block {
                self.erase_on(die, 0);
            }
            self.counts.programs += 1;
            self.load_and_program(die, 0, units, self.timing.program_ns);
        }
        self.at = before;
    }

    /// Forgets the written map pages, and those that wait for a full word line, because the drive was erased.
    pub(crate) fn forget_map(&mut self) {
        self.map_stream.forget();
    }
}

impl Flash for Machine {
    #[inline]
    fn lacks_power(&self) -> bool {
        let power = self.power.as_ref();
        power.is_some_and(|power| power.holds_up(self.now))
    }

    fn program_host(&mut self, last: u32, units: u32) {
        let (work, ends) = self.program_when_moved(last, units, Stream::Host);
        self.latest_host_program = self.latest_host_program.max(ends);
        self.leave_buffer(work, ends, units, units);
    }

    #[inline]
    fn read_for_move(&mut self, first: u32, units: u32) {
        let read = &self.moving.read;
        if first.wrapping_sub(read.first) >= read.brings {
            self.begin_move_read(first);
        }
        self.moving.read.units += units;
        self.pass_moved(units);
    }

    fn program_moved(&mut self, last: u32) {
        let (_, ends) = self.program_when_moved(last, u32::MAX, Stream::Moved);
        self.latest_moved_program = self.latest_moved_program.max(ends);
    }

    fn program_shared(&mut self, last: u32, units: u32, host_units: u32) {
        let (work, ends) = self.program_when_moved(last, units, Stream::Shared);
        self.latest_moved_program = self.latest_moved_program.max(ends);
        if host_units > 0 {
            self.latest_host_program = self.latest_host_program.max(ends);
            self.leave_buffer(work, ends, units, host_units);
        }
    }

    #[inline]
    fn moved_units(&mut self) -> Option<&mut VecDeque<u32>> {
        self.moved_units.as_mut()
    }

    fn set_one_bit(&mut self, block: u32, on: bool) {
        self.addressing.set_one_bit(block, on);
    }

    fn discard(&mut self, units: u32) {
        self.buffer.discarded(units);
    }

    fn erase(&mut self, block: u32) {
        self.take_moved();
        if self.counts_as_erase(block) {
            self.set_due(block, true);
        }
    }

    fn erase_at_once(&mut self, block: u32) {
        self.take_moved();
        self.set_due(block, false);
        if !self.counts_as_erase(block) {
            return;
        }
        let dies = if self.addressing.is_of_planes() {
            let plane = block / self.geometry.superblocks;
            let die = plane % self.geometry.dies();
            die..die + 1
        } else {
            0..self.geometry.dies()
        };
        for die in dies {
            self.erase_on(die, block);
        }
    }
}
