//! Serialises large tables as one byte string each, lowest byte of a number first, instead of number by number.

use std::fmt;
use std::marker::PhantomData;

use bytemuck::Pod;
use serde::de::{Error, Visitor};
use serde::{Deserializer, Serializer};

/// An element of a table.
pub(crate) trait Number: Pod {
    const BYTES: usize;

    /// Converts between native order and lowest byte first, in either direction.
    fn in_file_order(self) -> Self;
}

impl Number for u32 {
    const BYTES: usize = 4;

    fn in_file_order(self) -> Self {
        self.to_le()
    }
}

impl Number for u64 {
    const BYTES: usize = 8;

    fn in_file_order(self) -> Self {
        self.to_le()
    }
}

pub(crate) fn serialize<N: Number, S: Serializer>(
    table: &[N],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    if cfg!(target_endian = "little") {
        return serializer.serialize_bytes(bytemuck::cast_slice(table));
    }
    let ordered: Vec<N> = table.iter().map(|n| n.in_file_order()).collect();
    serializer.serialize_bytes(bytemuck::cast_slice(&ordered))
}

pub(crate) fn deserialize<'de, N: Number, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<N>, D::Error> {
    deserializer.deserialize_bytes(Bytes(PhantomData))
}

struct Bytes<N>(PhantomData<N>);

impl<N: Number> Visitor<'_> for Bytes<N> {
    type Value = Vec<N>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "numbers of {} bytes each", N::BYTES)
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<N>, E> {
        if !bytes.len().is_multiple_of(N::BYTES) {
            return Err(E::invalid_length(bytes.len(), &self));
        }
        let mut table: Vec<N> = Vec::with_capacity(bytes.len() / N::BYTES);
        crate::flash::prefer_huge_pages(table.spare_capacity_mut());
        let numbers = bytes.chunks_exact(N::BYTES);
        table.extend(numbers.map(|n| bytemuck::pod_read_unaligned::<N>(n).in_file_order()));
        Ok(table)
    }
}
