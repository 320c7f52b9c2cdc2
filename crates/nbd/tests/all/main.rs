//! All tests of the server of simulated drives beside its own modules, in one program: it is linked once.

mod limits;
mod sessions;
