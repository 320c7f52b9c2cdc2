//! All integration tests of the crate in one program, so that it is linked once.

mod accounting;
mod collector;
mod drain;
mod histogram;
mod log;
mod properties;
mod summary;
