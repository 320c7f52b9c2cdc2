//! Latency, bandwidth, saturation and energy against closed forms, with spread and retries off.

// The figures of a test that fails.
#![allow(clippy::print_stdout)]

mod controller;
mod energy;
mod in_parallel;
mod reads;
mod told_later;
mod writes;

use sim::profile::spec::DriveSpec;

use crate::drives::Flash;

/// A TLC drive of 8 channels and 32 dies; an erase for every eight of its blocks, as if they were as large as eight.
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
