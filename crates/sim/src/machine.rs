//! The flash side of a drive: dies and channels with their clocks, charged by the translation layer.

use serde::{Deserialize, Serialize};

use crate::addressing::{Addressing, ONE_BIT};
use crate::die::Die;
use crate::ftl::Flash;
use crate::mapping::NONE;
use crate::nand::{Geometry, Place, Timing};
use crate::options::DriveOptions;
use crate::power::{DieWork, Power};
use crate::spread::Spread;
use crate::timeline::Timeline;
use crate::write_buffer::WriteBuffer;

/// Operations of the flash since the last reset; energy is computed from them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlashCounts {
    /// Array reads (all planes of one page), those for moves among them.
    pub reads: u64,
    /// One-shot programs (a word line of all planes).
    pub programs: u64,
    /// Block erases (all planes of one die).
    pub erases: u64,
    /// Units that crossed a channel.
    pub transfers: u64,
}

/// An array read for moves, whose units are taken over the channel together.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct MoveRead {
    array_read: u32,
    die: u32,
    ready: u64,
    units: u32,
}

impl MoveRead {
    const NONE: Self = Self {
        array_read: NONE,
        die: 0,
        ready: 0,
        units: 0,
    };
}

/// Dies, channels and the write buffer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Machine {
    geometry: Geometry,
    timing: Timing,
    dies: Vec<Die>,
    channels: Vec<Timeline>,
    /// The write buffer.
    pub buffer: WriteBuffer,
    /// The submission clock: nothing will be asked for before it.
    pub now: u64,
    /// When the unit being written is in the buffer; programs and moves start from it.
    pub at: u64,
    moving: MoveRead,
    counts: FlashCounts,
    /// An erase is charged in full on every so many-th (a scaled drive has so many times smaller blocks).
    erase_every: u32,
    erase_phase: u32,
    addressing: Addressing,
    /// Array read of each page type, and of a word line with one bit a cell.
    read_ns: [u64; 8],
    one_bit_program_ns: u64,
    /// Units of a word line with all bits of a cell.
    program_units: u32,
    /// Array reads in one block that is erased at once.
    reads_per_block: u32,
    latest_host_program: u64,
    /// Changed map pages that wait for a word line of their own.
    map_units: u32,
    /// Whether there is neither spread nor a power model: operations then take what the timing says.
    plain: bool,
    spread: Option<Box<Spread>>,
    /// Erases of each block, kept for the retries of reads.
    #[serde(with = "crate::packed")]
    erases: Vec<u32>,
    power: Option<Box<Power>>,
}

impl Machine {
    /// Idle flash at time zero, addressed by superblocks.
    pub fn new(
        geometry: Geometry,
        timing: Timing,
        buffer_units: u32,
        scale: u32,
        options: &DriveOptions,
    ) -> Self {
        let addressing = match options.slc {
            Some(_) => Addressing::mixed(&geometry),
            None => Addressing::Superblocks,
        };
        let [lower, middle, upper, top] = timing.read_ns;
        let one_bit = options
            .slc
            .map_or((0, 0), |slc| (slc.read_ns, slc.program_ns));
        let spread = options.spread.map(|spread| Box::new(Spread::new(spread)));
        let power = options.power.map(|power| Box::new(Power::new(power)));
        Self {
            geometry,
            timing,
            dies: vec![Die::default(); geometry.dies() as usize],
            channels: vec![Timeline::default(); geometry.channels as usize],
            buffer: WriteBuffer::new(buffer_units),
            now: 0,
            at: 0,
            moving: MoveRead::NONE,
            counts: FlashCounts::default(),
            erase_every: scale,
            erase_phase: 0,
            program_units: addressing.units_per_program(&geometry),
            addressing,
            read_ns: [lower, middle, upper, top, one_bit.0, 0, 0, 0],
            one_bit_program_ns: one_bit.1,
            reads_per_block: geometry.units_per_superblock() / geometry.units_per_read(),
            latest_host_program: 0,
            map_units: 0,
            plain: spread.is_none() && power.is_none(),
            erases: vec![
                0;
                if spread.is_some() {
                    geometry.superblocks as usize
                } else {
                    0
                }
            ],
            spread,
            power,
        }
    }

    /// The same flash, addressed plane by plane.
    #[must_use]
    pub fn by_planes(mut self) -> Self {
        self.addressing = Addressing::planes(&self.geometry);
        self.program_units = self.addressing.units_per_program(&self.geometry);
        self.reads_per_block = self.geometry.pages_per_block;
        if self.spread.is_some() {
            self.erases =
                vec![0; (self.geometry.all_planes() * self.geometry.superblocks) as usize];
        }
        self
    }

    /// Nothing will be asked for before `now` any more.
    #[inline]
    pub fn begin(&mut self, now: u64) {
        self.now = now;
        if let Some(power) = &mut self.power {
            power.advance(now);
        }
    }

    /// Energy and heat, if they are modelled.
    pub fn power(&self) -> Option<&Power> {
        self.power.as_deref()
    }

    /// Limits power from now on, or not any more. Without a power model there is nothing to limit.
    pub fn limit_power(&mut self, cap_mw: Option<u64>) {
        if let Some(power) = &mut self.power {
            power.limit(cap_mw);
        }
    }

    /// A command with so many bytes comes. Returns when there is power for it.
    #[inline]
    pub fn charge_command(&mut self, at: u64, bytes: u32) -> u64 {
        match &mut self.power {
            None => at,
            Some(power) => power.command(at, bytes),
        }
    }

    /// A write of the host begins: [`latest_host_program`](Self::latest_host_program) is of its own programs.
    #[inline]
    pub fn begin_write(&mut self) {
        self.latest_host_program = 0;
    }

    /// When the latest program since the host's write began ends.
    pub fn latest_host_program(&self) -> u64 {
        self.latest_host_program
    }

    /// The die, page type and array read of a physical unit.
    #[inline]
    pub fn place(&self, physical: u32) -> Place {
        self.addressing.place(&self.geometry, physical)
    }

    /// What there is of flash.
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Work since the beginning.
    pub fn counts(&self) -> FlashCounts {
        self.counts
    }

    #[inline]
    fn transfer(&mut self, die: u32, ready: u64, units: u32) -> u64 {
        self.counts.transfers += u64::from(units);
        let ready = match &mut self.power {
            None => ready,
            Some(power) => power.transfer(ready, units),
        };
        let duration = self.timing.command_ns + u64::from(units) * self.timing.unit_transfer_ns;
        let channel = self.geometry.channel(die) as usize;
        self.channels[channel].reserve(self.now, ready, duration)
    }

    /// Sends a word line to its die, page by page: what reads bring crosses between two pages.
    fn send(&mut self, die: u32, units: u32) -> u64 {
        let page = self.geometry.units_per_read();
        let mut here = self.at;
        let mut left = units;
        while left > 0 {
            let units = left.min(page);
            here = self.transfer(die, here, units);
            left -= units;
        }
        here
    }

    /// Reads `units` of one array read for the host, asked for at `ready`. Returns when they are in the controller.
    #[inline]
    pub fn read(&mut self, place: Place, units: u32, ready: u64) -> u64 {
        self.counts.reads += 1;
        let (read_ns, ready) = if self.plain {
            (self.read_ns[place.page_type as usize & 7], ready)
        } else {
            self.own_read(place, ready)
        };
        let sensed = self.dies[place.die as usize].read(ready, read_ns, &self.timing);
        self.transfer(place.die, sensed, units)
    }

    /// How long this block takes for a read for the host, and when there is power for it.
    #[cold]
    fn own_read(&mut self, place: Place, ready: u64) -> (u64, u64) {
        let read_ns = self.own_read_ns(place, self.read_ns[place.page_type as usize & 7]);
        let Some(power) = &mut self.power else {
            return (read_ns, ready);
        };
        let earliest = ready.max(self.dies[place.die as usize].reads_end());
        (read_ns, power.begin(DieWork::Read, earliest, read_ns))
    }

    /// How long this block takes for a read that an average one does in `read_ns`, further attempts included.
    fn own_read_ns(&mut self, place: Place, read_ns: u64) -> u64 {
        let Some(spread) = &mut self.spread else {
            return read_ns;
        };
        let block = place.array_read / self.reads_per_block;
        let once_ns = spread.stretch(read_ns, place.die, block);
        once_ns + spread.retry_ns(once_ns, self.erases[block as usize])
    }

    /// Work of a die that reads go before. Returns when it ends if none comes.
    #[inline]
    fn work(&mut self, die: u32, block: u32, work: DieWork, duration_ns: u64) -> u64 {
        if self.plain {
            return self.dies[die as usize].work(self.at, duration_ns);
        }
        let mut duration_ns = duration_ns;
        if let Some(spread) = &mut self.spread {
            duration_ns = spread.stretch(duration_ns, die, block);
        }
        self.work_with_power(die, work, duration_ns)
    }

    #[cold]
    fn work_with_power(&mut self, die: u32, work: DieWork, duration_ns: u64) -> u64 {
        let die = &mut self.dies[die as usize];
        let mut start = self.at;
        if let Some(power) = &mut self.power {
            start = power.begin(work, start.max(die.idle_at()), duration_ns);
        }
        die.work(start, duration_ns)
    }

    /// Programs the word line that ends with `last_unit`. Returns when it is in flash.
    ///
    /// The die's time is taken from now on, not from when the data has crossed the channel: the page registers take the next
    /// word line while one is being programmed, and collection reads ahead, so a die never idles for either.
    fn program(&mut self, last_unit: u32) -> u64 {
        self.counts.programs += 1;
        let place = self.place(last_unit);
        let (units, program_ns) = if place.page_type == ONE_BIT {
            (self.geometry.units_per_read(), self.one_bit_program_ns)
        } else {
            (self.program_units, self.timing.program_ns)
        };
        let here = self.send(place.die, units);
        let block = place.array_read / self.reads_per_block;
        let programmed = self.work(place.die, block, DieWork::Program, program_ns);
        programmed.max(here + program_ns)
    }

    /// Takes the units of the last array read for moves over the channel.
    fn take_moved(&mut self) {
        let moving = std::mem::replace(&mut self.moving, MoveRead::NONE);
        if moving.units > 0 {
            self.transfer(moving.die, moving.ready, moving.units);
        }
    }

    /// Reads a page of the map, wanted at `ready`. Returns when it is there.
    pub fn read_map_page(&mut self, page: u32, ready: u64) -> u64 {
        let place = Place {
            die: page % self.geometry.dies(),
            page_type: 0,
            array_read: 0,
        };
        self.read(place, 1, ready)
    }

    /// Writes a page of the map back, together with others once there is a word line of them.
    pub fn write_map_page(&mut self, page: u32, at: u64) {
        self.map_units += 1;
        if self.map_units < self.program_units {
            return;
        }
        self.map_units = 0;
        self.counts.programs += 1;
        let die = page % self.geometry.dies();
        self.at = at;
        self.send(die, self.program_units);
        self.work(die, 0, DieWork::Program, self.timing.program_ns);
    }

    #[inline]
    fn ends_word_line(&self, physical: u32) -> bool {
        (physical + 1).is_multiple_of(self.program_units)
    }

    fn program_for_host(&mut self, last: u32, units: u32) {
        let end = self.program(last);
        self.latest_host_program = self.latest_host_program.max(end);
        self.buffer.programmed(end, units);
    }

    /// When all dies have nothing more to do.
    pub fn idle_at(&self) -> u64 {
        self.dies.iter().map(Die::idle_at).max().unwrap_or(0)
    }
}

impl Flash for Machine {
    #[inline]
    fn program_host(&mut self, physical: u32) {
        if self.ends_word_line(physical) {
            self.program_for_host(physical, self.program_units);
        }
    }

    fn program_early(&mut self, last: u32, units: u32) {
        self.program_for_host(last, units);
    }

    fn program_one_bit(&mut self, physical: u32) {
        let units = self.geometry.units_per_read();
        if (physical + 1).is_multiple_of(units) {
            self.program_for_host(physical, units);
        }
    }

    fn set_one_bit(&mut self, block: u32, on: bool) {
        self.addressing.set_one_bit(block, on);
    }

    fn discard(&mut self, units: u32) {
        self.buffer.programmed(self.at, units);
    }

    #[inline]
    fn read_for_move(&mut self, physical: u32) {
        let array_read = self.addressing.array_read(&self.geometry, physical);
        if array_read != self.moving.array_read {
            self.take_moved();
            let place = self.place(physical);
            self.counts.reads += 1;
            let mut read_ns = self.read_ns[place.page_type as usize & 7];
            let ready = if self.plain {
                self.dies[place.die as usize].work(self.at, read_ns)
            } else {
                read_ns = self.own_read_ns(place, read_ns);
                self.work_with_power(place.die, DieWork::Read, read_ns)
            };
            self.moving = MoveRead {
                array_read,
                die: place.die,
                ready,
                units: 0,
            };
        }
        self.moving.units += 1;
    }

    #[inline]
    fn program_moved(&mut self, physical: u32) {
        if self.ends_word_line(physical) {
            self.program(physical);
        }
    }

    fn erase(&mut self, block: u32) {
        self.take_moved();
        if let Some(erases) = self.erases.get_mut(block as usize) {
            *erases += 1;
        }
        self.erase_phase += 1;
        if self.erase_phase < self.erase_every {
            return;
        }
        self.erase_phase = 0;
        let dies = match self.addressing {
            Addressing::Planes { .. } => {
                let plane = block / self.geometry.superblocks;
                let die = plane % self.geometry.dies();
                die..die + 1
            }
            _ => 0..self.geometry.dies(),
        };
        for die in dies {
            self.counts.erases += 1;
            self.work(die, block, DieWork::Erase, self.timing.erase_ns);
        }
    }
}
