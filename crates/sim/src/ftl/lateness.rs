//! Collection by turns: it rests while the host uses up some room, and then makes up for it.

use serde::{Deserialize, Serialize};

/// Whether collection that may be late rests or makes up for it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Lateness {
    catches_up: bool,
}

impl Lateness {
    /// Told of the room that is there, in units: collection rests until less than `from` is left, and works until `to` is won.
    /// Returns whether it works.
    #[inline]
    pub(crate) fn works(&mut self, room: i64, from: i64, to: i64) -> bool {
        self.catches_up = room < if self.catches_up { to } else { from };
        self.catches_up
    }
}

#[cfg(test)]
mod tests {
    use super::Lateness;

    #[test]
    fn it_goes_to_and_fro_between_its_bounds() {
        let mut lateness = Lateness::default();
        let mut room = 100;
        let mut seen = Vec::new();
        for _ in 0..200 {
            // Each write takes one, and what collection moves for it wins three.
            room += if lateness.works(room, 80, 100) { 2 } else { -1 };
            seen.push(room);
        }
        assert_eq!(
            (seen.iter().min(), seen.iter().max()),
            (Some(&79), Some(&101))
        );
        let rises = seen.windows(2).filter(|pair| pair[0] < pair[1]).count();
        assert!(rises.abs_diff(seen.len() / 3) < 12, "{rises}");
    }

    #[test]
    fn within_its_bounds_it_goes_on_with_what_it_did() {
        let mut lateness = Lateness::default();
        assert!(!lateness.works(90, 80, 100));
        assert!(lateness.works(79, 80, 100));
        assert!(lateness.works(90, 80, 100));
        assert!(!lateness.works(100, 80, 100));
    }
}
