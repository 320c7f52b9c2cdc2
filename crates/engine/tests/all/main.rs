//! All tests of the engine beside its own modules, in one program: it is linked once.

mod closed_loop;
mod control;
mod failures;
mod open_loop;
mod recorded;
mod scratch;
mod start;
mod targets;
mod writes;
