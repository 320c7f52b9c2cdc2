//! Variable-length numbers of the payloads: seven bits per byte, least significant first; the top
//! bit of a byte tells that more bytes follow.

pub(crate) fn put(bytes: &mut Vec<u8>, value: impl Into<u128>) {
    let mut rest = value.into();
    while rest >= 0x80 {
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
}

/// Reads a payload from its start. Every method returns `None` if the remaining bytes do not hold
/// the value.
#[derive(Debug)]
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn wide(&mut self) -> Option<u128> {
        let mut value = 0u128;
        for shift in (0..u128::BITS).step_by(7) {
            let byte = self.byte()?;
            let part = u128::from(byte & 0x7f);
            if part.leading_zeros() < shift {
                return None;
            }
            value |= part << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
        self.wide()?.try_into().ok()
    }

    pub(crate) fn index(&mut self) -> Option<usize> {
        self.wide()?.try_into().ok()
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        Some(self.take(1)?[0])
    }

    pub(crate) fn take(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(taken)
    }

    /// Returns `value` if the whole payload has been read.
    pub(crate) fn end<T>(&self, value: T) -> Option<T> {
        self.0.is_empty().then_some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_number_comes_back(value: u128, narrow: u64) {
            let mut bytes = Vec::new();
            put(&mut bytes, value);
            put(&mut bytes, narrow);
            let mut reader = Reader(&bytes);
            prop_assert_eq!(reader.wide(), Some(value));
            prop_assert_eq!(reader.number(), Some(narrow));
            prop_assert_eq!(reader.end(()), Some(()));
        }

        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>) {
            let mut reader = Reader(&bytes);
            while reader.wide().is_some() {}
        }
    }

    #[test]
    fn a_number_beyond_128_bits_is_refused() {
        let mut bytes = vec![0xff; 18];
        bytes.push(0x04);
        assert_eq!(Reader(&bytes).wide(), None);
        *bytes.last_mut().unwrap() = 0x03;
        assert_eq!(Reader(&bytes).wide(), Some(u128::MAX));
    }
}
