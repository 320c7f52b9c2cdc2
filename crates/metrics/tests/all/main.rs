//! All tests of the recorder beside its own modules, in one program: it is linked once.

mod accounting;
mod collector;
mod drain;
mod histogram;
mod log;
mod properties;
mod summary;
