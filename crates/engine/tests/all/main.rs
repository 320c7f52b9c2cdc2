//! All integration tests of the engine in one program, so that it is linked once.

mod closed_loop;
mod control;
mod failures;
mod open_loop;
mod recorded;
mod scratch;
mod start;
mod targets;
mod writes;
