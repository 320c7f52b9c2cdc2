//! All tests of the workload language beside its own modules, in one program: it is linked once.

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
