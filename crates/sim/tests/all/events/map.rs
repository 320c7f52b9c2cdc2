//! A map with greedy collection, written from MODEL.md: it yields the flash requests for each written unit. It takes the
//! simulator's decisions (the lowest number wins a tie), so that both models get the same work. The counts of both are compared
//! to check that.

use std::collections::{HashSet, VecDeque};

use sim::profile::spec::{DriveSpec, Geometry, Marks};

const NOWHERE: u32 = u32::MAX;
/// Superblocks that must be free before a stream opens another: one for each stream.
const URGENT: usize = 2;

/// A request to the flash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// A word line, with this many units of the host's buffer.
    Program {
        die: u32,
        host_units: u32,
    },
    /// An array read for a move of this many units.
    MoveRead {
        die: u32,
        page_type: usize,
        units: u32,
    },
    Erase {
        die: u32,
    },
    /// An array read for the units that a mapping unit lacks.
    Rest {
        die: u32,
        page_type: usize,
        units: u32,
        of: u32,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub die: u32,
    pub page_type: usize,
    /// Equal for units of the same array read.
    pub page: u32,
}

#[derive(Clone, Copy)]
struct Stream {
    block: u32,
    filled: u32,
}

#[derive(Clone, Copy)]
struct Victim {
    block: u32,
    cursor: u32,
    valid: u32,
    /// Units owed, times the units that the victim yields.
    owed: i64,
}

pub struct Map {
    geometry: Geometry,
    /// Dies over which pages alternate.
    stripe: u32,
    reserve: usize,
    pub together: u32,
    physical: Vec<u32>,
    logical: Vec<u32>,
    valid: Vec<u32>,
    closed: Vec<bool>,
    free: VecDeque<u32>,
    host: Option<Stream>,
    moved: Option<Stream>,
    victim: Option<Victim>,
    marks: Option<Marks>,
    /// Whether collection is working: it reached its low mark and not yet its high one.
    works: bool,
    /// Parts of superblocks, by block and die, that must be erased before they are programmed.
    stale: HashSet<(u32, u32)>,
    pub host_units: u64,
    pub moved_units: u64,
}

impl Map {
    pub fn new(spec: &DriveSpec) -> Self {
        let geometry = spec.geometry;
        let per_block = geometry.units_per_superblock();
        let blocks = geometry.superblocks;
        Self {
            geometry,
            stripe: spec.options.stripe_dies.max(1),
            reserve: spec.reserve as usize,
            together: spec.options.units_together(),
            physical: vec![NOWHERE; (spec.user_bytes / 4096) as usize],
            logical: vec![NOWHERE; (blocks * per_block) as usize],
            valid: vec![0; blocks as usize],
            closed: vec![false; blocks as usize],
            free: (0..blocks).collect(),
            host: None,
            moved: None,
            victim: None,
            marks: spec.options.marks,
            works: false,
            stale: HashSet::new(),
            host_units: 0,
            moved_units: 0,
        }
    }

    /// Returns the place of a logical unit, if it holds data.
    pub fn find(&self, logical: u32) -> Option<Place> {
        let physical = self.physical[logical as usize];
        (physical != NOWHERE).then(|| self.place(physical))
    }

    fn place(&self, physical: u32) -> Place {
        let page = physical / self.geometry.units_per_read();
        let bits = self.geometry.bits_per_cell;
        let (stripe, within) = (page / (self.stripe * bits), page % (self.stripe * bits));
        let line = stripe * self.stripe + within % self.stripe;
        Place {
            die: line % self.geometry.dies(),
            page_type: (within / self.stripe) as usize,
            page,
        }
    }

    /// Returns whether a stream has just filled a word line.
    fn fills_line(&self, filled: u32) -> bool {
        let page = self.geometry.units_per_read();
        let last = self.geometry.bits_per_cell as usize - 1;
        filled.is_multiple_of(page) && self.place(filled - 1).page_type == last
    }

    /// Host units whose word line is not full.
    pub fn open_units(&self) -> u32 {
        let line = self.geometry.units_per_program();
        self.host.map_or(0, |host| {
            let lines = (1..=host.filled).filter(|&filled| self.fills_line(filled));
            host.filled - lines.count() as u32 * line
        })
    }

    /// Places a host mapping unit: first all its units, then the moves that they owe.
    pub fn write(&mut self, mapping_unit: u32, asked: &mut Vec<Asked>) {
        let first = mapping_unit * self.together;
        for logical in first..first + self.together {
            self.write_unit(logical, asked);
        }
        for _ in 0..self.together {
            if let Some(marks) = self.marks {
                if self.works_on(marks) {
                    self.collect_beside(marks.catch_up_pct, marks.quantum_units, asked);
                }
            } else if self.victim.is_some() || self.free.len() < self.reserve {
                self.collect_beside(100, 1, asked);
            }
        }
    }

    fn write_unit(&mut self, logical: u32, asked: &mut Vec<Asked>) {
        let per_block = self.geometry.units_per_superblock();
        if self.host.is_none_or(|host| host.filled == per_block) {
            self.collect_urgently(asked);
            self.close(self.host);
            self.host = Some(self.open());
        }
        let mut host = self.host.expect("a stream was opened");
        self.put(logical, &mut host);
        self.host = Some(host);
        self.host_units += 1;
        if self.fills_line(host.filled) {
            self.program(host, self.geometry.units_per_program(), asked);
        }
    }

    fn put(&mut self, logical: u32, stream: &mut Stream) {
        let per_block = self.geometry.units_per_superblock();
        let to = stream.block * per_block + stream.filled;
        stream.filled += 1;
        let old = std::mem::replace(&mut self.physical[logical as usize], to);
        if old != NOWHERE {
            self.logical[old as usize] = NOWHERE;
            self.valid[(old / per_block) as usize] -= 1;
        }
        self.logical[to as usize] = logical;
        self.valid[stream.block as usize] += 1;
    }

    fn program(&mut self, stream: Stream, host_units: u32, asked: &mut Vec<Asked>) {
        let last = stream.block * self.geometry.units_per_superblock() + stream.filled - 1;
        let die = self.place(last).die;
        if self.stale.remove(&(stream.block, die)) {
            asked.push(Asked::Erase { die });
        }
        asked.push(Asked::Program { die, host_units });
    }

    fn close(&mut self, stream: Option<Stream>) {
        if let Some(stream) = stream {
            self.closed[stream.block as usize] = true;
        }
    }

    fn open(&mut self) -> Stream {
        let block = self.free.pop_front().expect("collection keeps some free");
        Stream { block, filled: 0 }
    }

    fn choose(&mut self) -> bool {
        let candidates = (0..self.geometry.superblocks).filter(|&b| self.closed[b as usize]);
        let Some(block) = candidates.min_by_key(|&b| self.valid[b as usize]) else {
            return false;
        };
        self.closed[block as usize] = false;
        self.victim = Some(Victim {
            block,
            cursor: 0,
            valid: self.valid[block as usize],
            owed: 0,
        });
        true
    }

    fn collect_urgently(&mut self, asked: &mut Vec<Asked>) {
        while self.free.len() <= URGENT && (self.victim.is_some() || self.choose()) {
            while self.victim.is_some() {
                self.move_page(asked);
            }
        }
    }

    /// Returns whether collection works. Its marks lie half their distance below and above the reserve.
    fn works_on(&mut self, marks: Marks) -> bool {
        let per_block = i64::from(self.geometry.units_per_superblock());
        let unwritten = |stream: Option<Stream>| {
            stream.map_or(0, |stream| per_block - i64::from(stream.filled))
        };
        let mut room = self.free.len() as i64 * per_block;
        room += unwritten(self.host) + unwritten(self.moved);
        if let Some(victim) = self.victim {
            let before = i64::from(victim.valid.max(1));
            let left = i64::from(self.valid[victim.block as usize]);
            room += per_block * (before - left) / before;
        }
        let reserve = self.reserve as i64 * per_block;
        let half = i64::from(marks.apart_units / 2);
        self.works = room
            < if self.works {
                reserve + half
            } else {
                reserve - half
            };
        self.works
    }

    fn collect_beside(&mut self, pct: u32, quantum: u32, asked: &mut Vec<Asked>) {
        if self.victim.is_none() && !self.choose() {
            return;
        }
        let per_block = self.geometry.units_per_superblock();
        if let Some(victim) = &mut self.victim {
            victim.owed += i64::from(victim.valid) * i64::from(pct) / 100;
        }
        let mut units = i64::from(quantum);
        while let Some(victim) = self.victim
            && (victim.valid == 0 || victim.owed >= units * i64::from(per_block - victim.valid))
        {
            units = 1;
            self.move_page(asked);
        }
    }

    /// Moves the victim's next page that holds data.
    fn move_page(&mut self, asked: &mut Vec<Asked>) {
        let mut victim = self.victim.expect("there is a victim");
        let per_block = self.geometry.units_per_superblock();
        let page = self.geometry.units_per_read();
        let mut moves = Vec::new();
        while moves.is_empty() && victim.cursor < per_block {
            let first = victim.block * per_block + victim.cursor;
            moves.extend((first..first + page).filter(|&u| self.logical[u as usize] != NOWHERE));
            victim.cursor += page;
        }
        victim.owed -= moves.len() as i64 * i64::from(per_block - victim.valid);
        self.victim = Some(victim);
        if let Some(&first) = moves.first() {
            let Place { die, page_type, .. } = self.place(first);
            let units = moves.len() as u32;
            asked.push(Asked::MoveRead {
                die,
                page_type,
                units,
            });
        }
        for from in moves {
            self.move_unit(self.logical[from as usize], asked);
        }
        if self.valid[victim.block as usize] == 0 {
            self.free.push_back(victim.block);
            let dies = 0..self.geometry.dies();
            self.stale.extend(dies.map(|die| (victim.block, die)));
            self.victim = None;
        }
    }

    fn move_unit(&mut self, logical: u32, asked: &mut Vec<Asked>) {
        let per_block = self.geometry.units_per_superblock();
        if self.moved.is_none_or(|moved| moved.filled == per_block) {
            self.close(self.moved);
            self.moved = Some(self.open());
        }
        let mut moved = self.moved.expect("a stream was opened");
        self.put(logical, &mut moved);
        self.moved = Some(moved);
        self.moved_units += 1;
        if self.fills_line(moved.filled) {
            self.program(moved, 0, asked);
        }
    }
}
