//! Energy of work done and planned under a limit, by window.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// Slices of a window, short enough that few programs begin in one.
pub(super) const SLICES: usize = 16;

/// Energy in pJ of commands and transfers ([`AT_ONCE`]), of host reads ([`READS`]), and of work that host reads go before
/// ([`BEHIND`]): programs, erases, and reads for moves.
pub(super) type Classes = [u64; 3];
pub(super) const AT_ONCE: usize = 0;
pub(super) const READS: usize = 1;
pub(super) const BEHIND: usize = 2;

fn sum(a: Classes, b: Classes) -> Classes {
    std::array::from_fn(|class| a[class] + b[class])
}

/// Consecutive windows that are over, all alike.
#[derive(Debug, Default)]
pub(super) struct Over {
    pub(super) windows: u64,
    /// Energy of each window.
    pub(super) held: Classes,
    /// Energy that each would have held if no read had waited for power.
    pub(super) wanted: Classes,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Window {
    slices: [Classes; SLICES],
    all: Classes,
    /// Energy that dies would have drawn for reads that wait for power.
    held_up_pj: u64,
}

/// Windows that are not over.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Ledger {
    window_ns: u64,
    /// Windows from number `first` on, as far as they may hold energy.
    open: VecDeque<Window>,
    first: u64,
}

impl Ledger {
    pub(super) fn new(window_ns: u64, first: u64) -> Self {
        Self {
            window_ns,
            open: VecDeque::new(),
            first,
        }
    }

    pub(super) fn window_ns(&self) -> u64 {
        self.window_ns
    }

    pub(super) fn first(&self) -> u64 {
        self.first
    }

    /// Number of the window from which on nothing is planned.
    pub(super) fn end(&self) -> u64 {
        self.first + self.open.len() as u64
    }

    fn window(&self, number: u64) -> Option<&Window> {
        self.open.get(number.checked_sub(self.first)? as usize)
    }

    pub(super) fn held(&self, number: u64) -> Classes {
        self.window(number)
            .map_or_else(Classes::default, |window| window.all)
    }

    /// Yields when each slice of a window ends, and what the window holds up to then.
    pub(super) fn until_slices_end(
        &self,
        number: u64,
    ) -> impl Iterator<Item = (u64, Classes)> + '_ {
        let window = self.window(number);
        let mut held = Classes::default();
        (0..SLICES).map(move |slice| {
            held = window.map_or(held, |window| sum(held, window.slices[slice]));
            (self.end_ns(number, slice), held)
        })
    }

    /// Closes all windows before `number` and reports each to `over`, in order. All windows behind the last that holds energy
    /// are reported once, with their number.
    pub(super) fn pass(&mut self, number: u64, mut over: impl FnMut(Over)) {
        while self.first < number
            && let Some(window) = self.open.pop_front()
        {
            self.first += 1;
            let mut wanted = window.all;
            wanted[READS] += window.held_up_pj;
            over(Over {
                windows: 1,
                held: window.all,
                wanted,
            });
        }
        if self.first < number {
            let windows = number - self.first;
            self.first = number;
            over(Over {
                windows,
                ..Over::default()
            });
        }
    }

    fn end_ns(&self, number: u64, slice: usize) -> u64 {
        let from_begin = match slice + 1 {
            SLICES => self.window_ns,
            over => over as u64 * (self.window_ns / SLICES as u64),
        };
        number * self.window_ns + from_begin
    }

    /// Window and slice of a time.
    fn place(&self, at: u64) -> (u64, usize) {
        let slice = at % self.window_ns / (self.window_ns / SLICES as u64);
        (at / self.window_ns, (slice as usize).min(SLICES - 1))
    }

    /// Adds energy at one moment.
    pub(super) fn put(&mut self, class: usize, at: u64, pj: u64) {
        let (window, slice) = self.place(at);
        self.put_in(window, slice, class, pj);
    }

    /// Adds planned energy of which only the window is known.
    pub(super) fn put_evenly(&mut self, class: usize, window: u64, pj: u64) {
        let slices = SLICES as u64;
        for slice in 0..slices {
            let part = pj * (slice + 1) / slices - pj * slice / slices;
            self.put_in(window, slice as usize, class, part);
        }
    }

    /// Adds power over a duration, slice by slice.
    pub(super) fn spread(&mut self, class: usize, start: u64, duration_ns: u64, mw: u64) {
        let end = start + duration_ns;
        let mut begin = start;
        while begin < end {
            let (window, slice) = self.place(begin);
            let part_end = end.min(self.end_ns(window, slice));
            self.put_in(window, slice, class, (part_end - begin) * mw);
            begin = part_end;
        }
    }

    /// Adds the demand of a read that waits for power and would draw `mw`.
    pub(super) fn hold_up_read(&mut self, [from, until]: [u64; 2], mw: u64) {
        let mut begin = from;
        while begin < until {
            let window = begin / self.window_ns;
            let part_end = until.min((window + 1) * self.window_ns);
            self.open_window(window).held_up_pj += (part_end - begin) * mw;
            begin = part_end;
        }
    }

    /// Returns a window; for one that is over, the first open one.
    fn open_window(&mut self, number: u64) -> &mut Window {
        let index = number.saturating_sub(self.first) as usize;
        if index >= self.open.len() {
            self.open.resize(index + 1, Window::default());
        }
        &mut self.open[index]
    }

    fn put_in(&mut self, window: u64, slice: usize, class: usize, pj: u64) {
        let window = self.open_window(window);
        window.slices[slice][class] += pj;
        window.all[class] += pj;
    }
}
