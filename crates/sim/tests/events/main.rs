//! The whole drive against a model that follows every operation through a queue of events, on random small machines.
//!
//! The model is written from DESIGN.md, "Timing of the simulated drive", and shares no code with the simulator but the
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

use compare::{Case, compare};

#[test]
fn random_small_machines_agree() {
    compare(0..4);
}

#[test]
#[ignore = "a campaign"]
fn all() {
    compare(0..50);
}

#[test]
#[ignore = "one machine, for whoever looks for the cause of a difference"]
fn one() {
    let seed = std::env::var("MACHINE").unwrap().parse().unwrap();
    println!("{:#?}", Case::drawn(seed).spec);
    compare(seed..seed + 1);
}
