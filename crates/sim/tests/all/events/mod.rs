//! The whole drive against a model that follows every operation through a queue of events, on random small machines.
//!
//! The model is written from MODEL.md, beside this crate's sources, and shares no code with the simulator but the
//! specification of a drive. Its map takes the same decisions (the counts of both are compared), so that both are asked for the
//! same work in the same order, and differences are those of time alone.

// The figures are published by the tests that bound them.
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

/// `make test-slow` runs it. Where it fails, `MACHINE=n` looks at one, and `SHOW=20` at its first I/Os that differ. `DRAW=n`
/// draws other machines.
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
