//! Operations as array indices and as names; tallies are kept per operation (the *direction* of an
//! I/O).

use workload::Op;

/// All operations, in the order of every per-operation array of this crate.
pub const OPS: [Op; 3] = [Op::Read, Op::Write, Op::Trim];

/// Position of an operation in [`OPS`].
#[inline]
pub(crate) const fn index(op: Op) -> usize {
    match op {
        Op::Read => 0,
        Op::Write => 1,
        Op::Trim => 2,
    }
}

/// Serialised as `read`, `write` or `trim`.
pub(crate) mod by_name {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use workload::Op;

    const NAMES: [&str; 3] = ["read", "write", "trim"];

    // serde hands the field over by reference.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    pub(crate) fn serialize<S: Serializer>(op: &Op, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(NAMES[super::index(*op)])
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Op, D::Error> {
        let name = String::deserialize(from)?;
        let found = NAMES.iter().position(|known| *known == name);
        found
            .map(|i| super::OPS[i])
            .ok_or_else(|| D::Error::unknown_variant(&name, &NAMES))
    }
}
