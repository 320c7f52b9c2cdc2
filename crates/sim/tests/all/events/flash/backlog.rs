//! What the flash has yet to program, and when it will have, as things stand.

use super::{Cargo, Die, Doing, Flash, What, Work};

impl Flash {
    /// Units of the host in programs that were given and have not ended, and when the last of these to end does as things stand.
    pub fn backlog(&self, now: u64) -> Option<(u64, u64)> {
        let ends = self
            .host_programs
            .iter()
            .map(|&number| self.expected_end(number, now));
        Some((self.host_units, ends.max()?))
    }

    /// When each die will be free of what it was given, and each channel.
    pub fn free_at(&self, now: u64) -> (Vec<u64>, Vec<u64>) {
        let never = |_: &Work| false;
        let dies = self.dies.iter();
        let channels = self.channels.iter().map(|channel| {
            let crossing = channel.crossing.map_or(now, |(_, ends_ns)| ends_ns);
            let front = channel.front.iter().map(|piece| Cargo::Read(*piece));
            let waiting = front.chain(channel.behind.iter().copied());
            crossing + waiting.map(|cargo| self.cargo_ns(cargo)).sum::<u64>()
        });
        (
            dies.map(|die| self.done_until(die, now, never)).collect(),
            channels.collect(),
        )
    }

    /// When a program ends if no more reads come.
    fn expected_end(&self, last: usize, now: u64) -> u64 {
        let die = self.programs[last].die;
        let crossed = now + self.crossing_ns(last, now);
        let is_it = |work: &Work| matches!(work.what, What::Program(number) if number == last);
        let free = self.done_until(&self.dies[die as usize], now, is_it);
        free.max(crossed + self.timing.program_ns)
    }

    /// When a die will have done what it was given, to the first work of which this is true.
    fn done_until(&self, d: &Die, now: u64, is_last: impl Fn(&Work) -> bool) -> u64 {
        let mut free = match d.doing {
            Doing::Nothing => now,
            Doing::Sensing(_) | Doing::Working { .. } => d.ends_ns,
        };
        free += d
            .reads
            .iter()
            .map(|read| self.timing.read_ns[read.place.page_type])
            .sum::<u64>();
        let working = usize::from(matches!(d.doing, Doing::Working { .. }));
        for (n, work) in d.behind.iter().enumerate() {
            if n >= working {
                free += work.rest_ns;
            }
            if is_last(work) {
                break;
            }
        }
        free
    }

    /// How long until the last page of a program has crossed, if no reads come.
    fn crossing_ns(&self, program: usize, now: u64) -> u64 {
        let left = self.programs[program].units_left;
        if left == 0 {
            return 0;
        }
        let channel = &self.channels[self.channel_of(self.programs[program].die)];
        let mut wait = channel.crossing.map_or(0, |(_, ends_ns)| ends_ns - now);
        for piece in &channel.front {
            wait += self.cargo_ns(Cargo::Read(*piece));
        }
        let mut seen = channel.crossing.map_or(0, |(cargo, _)| {
            u32::from(matches!(cargo, Cargo::Program { number, .. } if number == program))
        });
        for &cargo in &channel.behind {
            if seen == left {
                break;
            }
            seen += u32::from(matches!(cargo, Cargo::Program { number, .. } if number == program));
            wait += self.cargo_ns(cargo);
        }
        wait
    }
}
