//! The whole drive against an event-exact model, on random small machines.
//!
//! The model is written from MODEL.md and shares only the drive's specification with the simulator. Its map takes the same
//! decisions, and the counts of both are compared. Both therefore get the same work in the same order, and can differ in time
//! only.

// Tests print the figures that they check.
#![allow(clippy::print_stdout)]

mod agenda;
mod buffer;
mod compare;
mod drive;
mod flash;
mod host;
mod load;
mod machines;
mod map;
mod parts;
mod path;
mod stops;

use compare::compare;

#[test]
fn random_small_machines_agree() {
    compare(6..10);
}

#[test]
fn machines_with_mapping_units_agree() {
    compare(50..54);
}

#[test]
fn machines_that_collect_between_marks_and_stop_agree() {
    compare(90..93);
}

#[test]
fn machines_with_a_narrow_path_agree() {
    compare(71..73);
}

/// `make test-slow` runs this test. After a failure, `MACHINE=n` runs one machine and `SHOW=20` prints its first I/Os that
/// differ. `DRAW=n` draws other machines.
#[cfg(feature = "campaign")]
#[test]
fn a_hundred_and_twenty_random_small_machines_agree() {
    let machines = match std::env::var("MACHINE") {
        Ok(one) => {
            let one = one.parse().unwrap();
            one..one + 1
        }
        Err(_) => 0..120,
    };
    compare(machines);
}
