//! Latency, bandwidth, saturation and energy against closed forms, without variation and retries.

// Tests print the figures that they check.
#![allow(clippy::print_stdout)]

mod controller;
mod energy;
mod in_parallel;
mod reads;
mod told_later;
mod writes;

use sim::profile::spec::DriveSpec;

use crate::drives::Flash;

/// A TLC drive with 8 channels and 32 dies. One erase in eight is charged, as if blocks were eight times as large.
fn spec() -> DriveSpec {
    let flash = Flash {
        channels: 8,
        dies_per_channel: 4,
        pages_per_block: 6,
        superblocks: 256,
        user_pct: 87,
    };
    DriveSpec {
        erase_every: 8,
        ..flash.spec()
    }
}

fn with(change: impl FnOnce(&mut DriveSpec)) -> DriveSpec {
    let mut spec = spec();
    change(&mut spec);
    spec
}
