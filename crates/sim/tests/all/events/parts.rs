//! Mapping units that are held in part, as sets of units of 4 KiB.

use std::collections::{HashMap, HashSet};

use sim::profile::spec::DriveSpec;

pub struct Parts {
    contexts: usize,
    together: u32,
    /// Each held mapping unit with its written units, least recently written first.
    pub held: Vec<(u32, HashSet<u32>)>,
    /// Mapping units that gave way and are not placed yet, once for each time they were held.
    completed: Vec<u32>,
    /// How many of these wait for the same read, by mapping unit.
    reading: HashMap<u32, u32>,
}

impl Parts {
    pub fn new(spec: &DriveSpec) -> Self {
        Self {
            contexts: spec.options.contexts() as usize,
            together: spec.options.units_together(),
            held: Vec::new(),
            completed: Vec::new(),
            reading: HashMap::new(),
        }
    }

    /// A mapping unit that gave way has room for what it lacks. Returns whether to read that: no read of it is under way.
    pub fn reads(&mut self, of: u32) -> bool {
        let versions = self.reading.entry(of).or_default();
        *versions += 1;
        *versions == 1
    }

    /// What a mapping unit lacked has been read. Returns how many times to place it: 0 if it was overwritten meanwhile.
    pub fn whole(&mut self, of: u32) -> u32 {
        let versions = self.reading.remove(&of).unwrap_or(0);
        for _ in 0..versions {
            let at = self.completed.iter().position(|&other| other == of);
            self.completed.remove(at.expect("it was to be completed"));
        }
        versions
    }

    pub fn is_held(&self, of: u32) -> bool {
        self.held.iter().any(|held| held.0 == of)
    }

    /// Returns whether a partly written unit needs room: it is not held yet.
    pub fn takes_room(&self, unit: u32) -> bool {
        let of = unit / self.together;
        let held = self.held.iter().find(|held| held.0 == of);
        held.is_none_or(|held| !held.1.contains(&unit))
    }

    /// Returns the mapping unit that must give way before a part of `of` can be held, and how many units it lacks.
    pub fn makes_way_for(&mut self, of: u32) -> Option<(u32, u32)> {
        if self.is_held(of) || self.held.len() < self.contexts {
            return None;
        }
        let (oldest, units) = self.held.remove(0);
        self.completed.push(oldest);
        Some((oldest, self.together - units.len() as u32))
    }

    /// Holds a unit. Returns whether its mapping unit is now whole.
    pub fn hold(&mut self, unit: u32) -> bool {
        let of = unit / self.together;
        let at = self.held.iter().position(|held| held.0 == of);
        let mut held = at.map_or((of, HashSet::new()), |at| self.held.remove(at));
        held.1.insert(unit);
        let whole = held.1.len() as u32 == self.together;
        if !whole {
            self.held.push(held);
        }
        whole
    }

    /// Drops a mapping unit that is overwritten as a whole. Returns the room that it had.
    pub fn forget(&mut self, of: u32) -> u32 {
        let mut room = 0;
        self.held.retain(|held| {
            room += if held.0 == of { held.1.len() as u32 } else { 0 };
            held.0 != of
        });
        let before = self.completed.len();
        self.completed.retain(|&other| other != of);
        self.reading.remove(&of);
        room + (before - self.completed.len()) as u32 * self.together
    }
}
