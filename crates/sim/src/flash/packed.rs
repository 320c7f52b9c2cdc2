//! How large tables are kept: their numbers as bytes in a row, lowest byte first, not each for itself.

use std::fmt;
use std::marker::PhantomData;

use bytemuck::Pod;
use serde::de::{Error, Visitor};
use serde::{Deserializer, Serializer};

/// A number that tables are made of.
pub(crate) trait Number: Pod {
    const BYTES: usize;

    /// The number as it lies in a file, or back: nothing changes where the lowest byte comes first anyway.
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

/// Serialises a table as bytes.
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

/// Reads a table back.
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
