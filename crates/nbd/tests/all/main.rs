//! All integration tests of the NBD server in one program, so that it is linked once.

mod limits;
mod sessions;
