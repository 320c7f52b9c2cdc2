//! Dies and channels with their clocks. `charging.rs` charges the calls of the translation layer.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::flash::addressing::{Addressing, Place};
use crate::flash::behind::Behind;
use crate::flash::channel::Channel;
use crate::flash::data_path::DataPath;
use crate::flash::die::Die;
use crate::flash::divisor::Divisor;
use crate::flash::map_stream::MapStream;
use crate::flash::moving::Moving;
use crate::flash::spread::Spread;
use crate::flash::write_buffer::{Piece, Program, WriteBuffer};
use crate::power::{DieWork, Power};
use crate::profile::spec::{DriveOptions, Geometry, Timing};

/// Flash operations since the drive was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlashCounts {
    /// Array reads (one page of all planes), including those for moves.
    pub reads: u64,
    /// One-shot programs (one word line of all planes).
    pub programs: u64,
    /// Block erases (one block of all planes of a die).
    pub erases: u64,
    /// Units that crossed a channel.
    pub transfers: u64,
    /// Units of parity that were programmed.
    pub parity_units: u64,
}

/// Dies, channels, data path and write buffer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Machine {
    pub(crate) geometry: Geometry,
    pub(crate) timing: Timing,
    pub(crate) dies: Vec<Die>,
    channels: Vec<Channel>,
    pub(crate) buffer: WriteBuffer,
    pub(crate) path: DataPath,
    /// Whether current moves are idle-time work, which no host write needs.
    pub(crate) unasked: bool,
    /// The submission clock, in ns: no later request is for an earlier time.
    pub now: u64,
    /// When the unit being written has passed the data path, in ns; its programs and moves start from here.
    pub at: u64,
    pub(crate) moving: Moving,
    pub(crate) counts: FlashCounts,
    /// Every `erase_every`-th erase is charged in full, because a scaled drive has blocks smaller by this factor.
    pub(crate) erase_every: u32,
    pub(crate) erase_phase: u32,
    /// A bit for each block: whether its dies must erase it before they program it.
    #[serde(with = "crate::flash::packed")]
    pub(crate) erase_due: Vec<u64>,
    pub(crate) addressing: Addressing,
    /// Array read time by page type, word lines with one bit per cell included.
    pub(crate) read_ns: [u64; 8],
    pub(crate) one_bit_program_ns: u64,
    /// Array reads of one block of the translation layer.
    pub(crate) reads_per_block: Divisor,
    channel_count: Divisor,
    pub(crate) latest_host_program: u64,
    /// End of the last program of moved units, as known when it was queued.
    pub(crate) latest_moved_program: u64,
    /// One word line in `parity_lines` holds parity (0: none). `unprotected` counts each stream's lines since the last one.
    pub(crate) parity_lines: u32,
    pub(crate) unprotected: [u32; 2],
    pub(crate) map_stream: MapStream,
    /// Logical units that were moved but not reported yet; `None` if the map need not know about moves.
    pub(crate) moved_units: Option<VecDeque<u32>>,
    /// Whether there is neither spread nor a power model, so that operations take exactly the time in `timing`.
    pub(crate) plain: bool,
    pub(crate) spread: Option<Box<Spread>>,
    /// Erases of each block, on which the retries of reads depend.
    #[serde(with = "crate::flash::packed")]
    pub(crate) erases: Vec<u32>,
    pub(crate) power: Option<Box<Power>>,
}

impl Machine {
    /// Creates idle flash at time zero, addressed by superblocks.
    pub fn new(
        geometry: Geometry,
        timing: Timing,
        buffer_units: u32,
        scale: u32,
        options: &DriveOptions,
    ) -> Self {
        let addressing = match options.slc {
            Some(_) => Addressing::mixed(&geometry),
            None => Addressing::superblocks(&geometry),
        }
        .striped(options.stripe_dies.max(1));
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
            channels: vec![Channel::new(timing.program_ns); geometry.channels as usize],
            buffer: WriteBuffer::new(
                buffer_units,
                // One program on every die, and the open word lines of a stripe.
                (geometry.dies() + options.stripe_dies.max(1) - 1) * geometry.units_per_program(),
                timing.program_ns / u64::from(geometry.dies() * geometry.units_per_program()),
            ),
            path: DataPath::new(options.data_unit_ns_x1024),
            unasked: false,
            now: 0,
            at: 0,
            moving: Moving::new(options.move_reads, options.move_core_ns),
            counts: FlashCounts::default(),
            erase_every: scale,
            erase_phase: 0,
            erase_due: vec![0; geometry.superblocks.div_ceil(64) as usize],
            addressing,
            read_ns: [lower, middle, upper, top, one_bit.0, 0, 0, 0],
            one_bit_program_ns: one_bit.1,
            reads_per_block: Divisor::new(
                geometry.units_per_superblock() / geometry.units_per_read(),
            ),
            channel_count: Divisor::new(geometry.channels),
            latest_host_program: 0,
            latest_moved_program: 0,
            parity_lines: options.parity_lines,
            unprotected: [0; 2],
            map_stream: MapStream::new(&geometry, options.stripe_dies.max(1)),
            moved_units: None,
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

    /// Makes the flash report which units are moved.
    #[must_use]
    pub(crate) fn telling_moves(mut self) -> Self {
        self.moved_units = Some(VecDeque::new());
        self
    }

    /// Returns the next moved unit that was not reported yet.
    pub(crate) fn next_moved(&mut self) -> Option<u32> {
        self.moved_units.as_mut()?.pop_front()
    }

    /// Addresses the flash plane by plane instead.
    #[must_use]
    pub fn by_planes(mut self) -> Self {
        self.addressing = Addressing::planes(&self.geometry);
        self.reads_per_block = Divisor::new(self.geometry.pages_per_block);
        let blocks = self.geometry.all_planes() * self.geometry.superblocks;
        self.erase_due = vec![0; blocks.div_ceil(64) as usize];
        if self.spread.is_some() {
            self.erases = vec![0; blocks as usize];
        }
        self
    }

    /// Sets the submission clock: no later request is for an earlier time.
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

    /// Sets the power limit, or lifts it (`None`). Has no effect without a power model.
    pub fn limit_power(&mut self, cap_mw: Option<u64>) {
        if let Some(power) = &mut self.power {
            power.limit(cap_mw);
        }
    }

    /// Resets the drive to ambient temperature.
    pub fn cool(&mut self) {
        if let Some(power) = &mut self.power {
            power.cool();
        }
    }

    /// Charges a command that carries `bytes`. Returns when there is power for it.
    #[inline]
    pub fn charge_command(&mut self, at: u64, bytes: u32) -> u64 {
        match &mut self.power {
            None => at,
            Some(power) => power.command(at, bytes),
        }
    }

    /// Begins a host write: [`latest_host_program`](Self::latest_host_program) then covers its own programs only.
    #[inline]
    pub fn begin_write(&mut self) {
        self.latest_host_program = 0;
    }

    /// Returns the end of the latest program since the host's write began.
    pub fn latest_host_program(&self) -> u64 {
        self.latest_host_program
    }

    /// Returns the die, page type and array read of a physical unit.
    #[inline]
    pub fn place(&self, physical: u32) -> Place {
        self.addressing.place(physical)
    }

    /// Numbers and sizes of the flash's parts.
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Flash operations since the drive was made.
    pub fn counts(&self) -> FlashCounts {
        self.counts
    }

    /// Transfers the data of a host read, before waiting data of programs and moves. Returns when it is over.
    #[inline]
    fn bring(&mut self, die: u32, ready: u64, units: u32) -> u64 {
        let (ready, duration_ns) = self.transfer_ns(ready, units);
        let channel = self.channel_count.rest(die) as usize;
        self.channels[channel].bring(self.now, ready, duration_ns)
    }

    /// Transfers units behind the data of host reads. Returns the transfer's number, and its end if no more reads come.
    #[inline]
    pub(crate) fn carry(&mut self, die: u32, units: u32) -> (u64, u64) {
        let (at, duration_ns) = self.pages_ns(units);
        let page_ns = self.timing.unit_transfer_ns;
        let channel = self.channel_count.rest(die) as usize;
        self.channels[channel].carry(self.now, at, duration_ns, page_ns)
    }

    /// Transfers units as [`carry`](Self::carry) does, but before transfers that were requested earlier for a later time.
    pub(crate) fn carry_in_time(&mut self, die: u32, units: u32) -> (u64, u64) {
        let (at, duration_ns) = self.pages_ns(units);
        let page_ns = self.timing.unit_transfer_ns;
        let channel = self.channel_count.rest(die) as usize;
        self.channels[channel].carry_in_time(self.now, at, duration_ns, page_ns)
    }

    /// Returns when there is power for a transfer, and how long it takes with one bus command for each page.
    #[inline]
    fn pages_ns(&mut self, units: u32) -> (u64, u64) {
        let (at, duration_ns) = self.transfer_ns(self.at, units);
        (at, duration_ns + self.commands_behind_ns(units))
    }

    /// Bus time of the commands for all pages but the first.
    fn commands_behind_ns(&self, units: u32) -> u64 {
        let pages_behind = (units - 1) / self.addressing.units_per_read();
        u64::from(pages_behind) * self.timing.command_ns
    }

    /// Returns when there is power for a transfer, and how long it takes with one bus command.
    #[inline]
    fn transfer_ns(&mut self, ready: u64, units: u32) -> (u64, u64) {
        self.counts.transfers += u64::from(units);
        let ready = match &mut self.power {
            None => ready,
            Some(power) => power.transfer(ready, units),
        };
        (ready, self.crossing_ns(units))
    }

    #[inline]
    pub(crate) fn crossing_ns(&self, units: u32) -> u64 {
        self.timing.command_ns + u64::from(units) * self.timing.unit_transfer_ns
    }

    /// Takes a host unit that is ready at `ready` into the write buffer. Returns when it has entered.
    #[inline]
    pub fn admit(&mut self, ready: u64) -> u64 {
        let end = end_of(&self.dies, &self.channels, self.channel_count, &self.path);
        self.buffer.admit(ready, end)
    }

    /// Returns when the first waiting piece enters the write buffer; see [`WriteBuffer::enters`].
    pub(crate) fn enters(
        &mut self,
        ready: u64,
        piece: Piece,
        until: u64,
        paced: &mut Option<u64>,
    ) -> Result<u64, u64> {
        let end = end_of(&self.dies, &self.channels, self.channel_count, &self.path);
        self.buffer.enters(ready, piece, until, paced, end)
    }

    /// Returns whether `units` units may enter the write buffer at `at` without being slowed.
    pub(crate) fn has_room(&mut self, at: u64, units: u32) -> bool {
        let end = end_of(&self.dies, &self.channels, self.channel_count, &self.path);
        self.buffer.has_room(at, units, end)
    }

    /// Takes a unit or a part of one, as [`admit`](Self::admit) does.
    pub(crate) fn admit_piece(&mut self, ready: u64, piece: Piece) -> u64 {
        let end = end_of(&self.dies, &self.channels, self.channel_count, &self.path);
        self.buffer.admit_piece(ready, piece, end)
    }

    /// If the buffer is full at `at`, returns when the first program ends that makes room; [`u64::MAX`] if there is none.
    pub(crate) fn room_at(&mut self, at: u64) -> Option<u64> {
        let end = end_of(&self.dies, &self.channels, self.channel_count, &self.path);
        self.buffer.room_at(at, end)
    }

    /// Returns when all programs of host data so far have ended.
    pub fn drained_at(&self) -> u64 {
        let end = end_of(&self.dies, &self.channels, self.channel_count, &self.path);
        self.buffer.drained_at(end)
    }

    /// Keeps the ends of this work and its transfer for later calls of [`end_of`](Self::end_of).
    pub(crate) fn watch(&mut self, work: &Behind) {
        let [of_die, of_channel] = work.numbers;
        self.dies[work.die as usize].watch(of_die);
        let channel = self.channel_count.rest(work.die) as usize;
        self.channels[channel].watch(of_channel);
    }

    /// Returns the end of this work and its transfer if no more reads come.
    pub(crate) fn end_of(&self, work: &Behind) -> u64 {
        work.end(&self.dies, &self.channels, self.channel_count)
    }

    /// Frees the buffer room of `units` host units when a program of `given` units ends: at `end` if no more reads come.
    pub(crate) fn leave_buffer(&mut self, work: Behind, end: u64, given: u32, units: u32) {
        self.watch(&work);
        let data = self.path.given(self.now, self.at);
        let program = Program {
            end,
            units,
            work,
            data,
            after_data_ns: self.crossing_ns(given)
                + self.commands_behind_ns(given)
                + work.follows_ns[1],
        };
        self.buffer.programmed(program);
    }

    /// Reads `units` of one array read for the host, from `ready` on. Returns when they are in the controller.
    #[inline]
    pub fn read(&mut self, place: Place, units: u32, ready: u64) -> u64 {
        self.counts.reads += 1;
        let (read_ns, ready) = if self.plain {
            (self.read_ns[place.page_type as usize & 7], ready)
        } else {
            self.own_read(place, ready)
        };
        self.meet_data(place.die, ready);
        let sensed = self.dies[place.die as usize].read(ready, read_ns, &self.timing);
        self.bring(place.die, sensed, units)
    }

    /// Delays the die's programs whose data is late because of reads on the channel. Work that is over by `by` is final.
    #[inline]
    pub(crate) fn meet_data(&mut self, die: u32, by: u64) {
        let channel = &self.channels[self.channel_count.rest(die) as usize];
        if channel.is_held_up() {
            self.dies[die as usize].meet_data(by, channel);
        }
    }

    /// Reads as [`read`](Self::read) does, but `ready` is when the map page arrives: earlier reads need not wait for this one.
    pub fn read_later(&mut self, place: Place, units: u32, ready: u64) -> u64 {
        self.dies[place.die as usize].leave_gap(self.now, ready);
        self.read(place, units, ready)
    }

    /// Returns the time of a host read on this block, and when there is power for it.
    #[cold]
    fn own_read(&mut self, place: Place, ready: u64) -> (u64, u64) {
        let read_ns = self.own_read_ns(place, self.read_ns[place.page_type as usize & 7]);
        let Some(power) = &mut self.power else {
            return (read_ns, ready);
        };
        let die = &self.dies[place.die as usize];
        let earliest = die.read_starts(ready, read_ns, &self.timing);
        (read_ns, power.begin(DieWork::Read, earliest, read_ns))
    }

    /// Returns how long this block takes for a read of `read_ns` on an average block, retries included.
    pub(crate) fn own_read_ns(&mut self, place: Place, read_ns: u64) -> u64 {
        let Some(spread) = &mut self.spread else {
            return read_ns;
        };
        let block = self.reads_per_block.quotient(place.array_read);
        let once_ns = spread.stretch(read_ns, place.die, block);
        once_ns + spread.retry_ns(once_ns, self.erases[block as usize])
    }

    /// Returns when all moved units are in flash, if no read delays them.
    pub fn moved_at(&self) -> u64 {
        self.latest_moved_program
            .max(self.path.free_behind())
            .max(self.moving.moved_at())
    }

    /// Returns when all dies, all channels and the data path become idle.
    pub fn idle_at(&self) -> u64 {
        self.flash_idle_at()
            .max(self.path.idle_at())
            .max(self.moving.moved_at())
    }

    fn flash_idle_at(&self) -> u64 {
        let dies = self.dies.iter().map(Die::idle_at).max();
        let channels = self.channels.iter().map(Channel::ends).max();
        dies.max(channels).unwrap_or(0)
    }
}

/// Returns a function that gives the end of a program as known so far.
#[inline]
fn end_of(
    dies: &[Die],
    channels: &[Channel],
    count: Divisor,
    path: &DataPath,
) -> impl Fn(&Program) -> u64 {
    move |program| {
        let worked = program.work.end(dies, channels, count);
        worked.max(path.passes(program.data) + program.after_data_ns)
    }
}
