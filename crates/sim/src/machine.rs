//! The flash side of a drive: dies and channels with their clocks, charged by the translation layer.

use crate::die::Die;
use crate::ftl::Flash;
use crate::mapping::NONE;
use crate::nand::{Geometry, Place, Timing};
use crate::timeline::Timeline;
use crate::write_buffer::WriteBuffer;

/// Operations of the flash since the last reset; energy is computed from them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
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
#[derive(Debug, Clone, Copy)]
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
#[derive(Debug, Clone)]
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
    /// Units of the host's open word line.
    open_units: u32,
    counts: FlashCounts,
    /// An erase is charged in full on every so many-th (a scaled drive has so many times smaller blocks).
    erase_every: u32,
    erase_phase: u32,
}

impl Machine {
    /// Idle flash at time zero.
    pub fn new(geometry: Geometry, timing: Timing, buffer_units: u32, scale: u32) -> Self {
        Self {
            geometry,
            timing,
            dies: vec![Die::default(); geometry.dies() as usize],
            channels: vec![Timeline::default(); geometry.channels as usize],
            buffer: WriteBuffer::new(buffer_units),
            now: 0,
            at: 0,
            moving: MoveRead::NONE,
            open_units: 0,
            counts: FlashCounts::default(),
            erase_every: scale,
            erase_phase: 0,
        }
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
        let duration = self.timing.command_ns + u64::from(units) * self.timing.unit_transfer_ns;
        let channel = self.geometry.channel(die) as usize;
        self.channels[channel].reserve(self.now, ready, duration)
    }

    /// Reads `units` of one array read for the host, asked for at `ready`. Returns when they are in the controller.
    #[inline]
    pub fn read(&mut self, place: Place, units: u32, ready: u64) -> u64 {
        self.counts.reads += 1;
        let read_ns = self.timing.read_ns[place.page_type.min(3) as usize];
        let sensed = self.dies[place.die as usize].read(ready, read_ns, &self.timing);
        self.transfer(place.die, sensed, units)
    }

    /// Programs the word line that ends with `last_unit`. Returns when it is in flash.
    ///
    /// The die's time is taken from now on, not from when the data has crossed the channel: the page registers take the next
    /// word line while one is being programmed, and collection reads ahead, so a die never idles for either.
    fn program(&mut self, last_unit: u32) -> u64 {
        self.counts.programs += 1;
        let die = self.geometry.place(last_unit).die;
        let here = self.transfer(die, self.at, self.geometry.units_per_program());
        let programmed = self.dies[die as usize].work(self.at, self.timing.program_ns);
        programmed.max(here + self.timing.program_ns)
    }

    /// Takes the units of the last array read for moves over the channel.
    fn take_moved(&mut self) {
        let moving = std::mem::replace(&mut self.moving, MoveRead::NONE);
        if moving.units > 0 {
            self.transfer(moving.die, moving.ready, moving.units);
        }
    }

    #[inline]
    fn ends_word_line(&self, physical: u32) -> bool {
        (physical + 1).is_multiple_of(self.geometry.units_per_program())
    }

    /// When all dies have nothing more to do.
    pub fn idle_at(&self) -> u64 {
        self.dies.iter().map(Die::idle_at).max().unwrap_or(0)
    }
}

impl Flash for Machine {
    #[inline]
    fn program_host(&mut self, physical: u32) {
        self.open_units += 1;
        if self.ends_word_line(physical) {
            self.program_early(physical);
        }
    }

    fn program_early(&mut self, last: u32) {
        let end = self.program(last);
        self.buffer
            .programmed(end, std::mem::take(&mut self.open_units));
    }

    #[inline]
    fn read_for_move(&mut self, physical: u32) {
        let array_read = self.geometry.array_read(physical);
        if array_read != self.moving.array_read {
            self.take_moved();
            let place = self.geometry.place(physical);
            self.counts.reads += 1;
            let read_ns = self.timing.read_ns[place.page_type.min(3) as usize];
            let ready = self.dies[place.die as usize].work(self.at, read_ns);
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

    fn erase(&mut self, _block: u32) {
        self.take_moved();
        self.erase_phase += 1;
        if self.erase_phase < self.erase_every {
            return;
        }
        self.erase_phase = 0;
        self.counts.erases += u64::from(self.geometry.dies());
        for die in &mut self.dies {
            die.work(self.at, self.timing.erase_ns);
        }
    }
}
