//! All integration tests of the crate in one program, so that it is linked once.

mod apart;
mod distribution;
mod extremes;
mod generator;
mod golden;
mod recording;
mod schedule;
mod spec;
mod validate;
mod workloads;
