//! All integration tests of the simulator in one program, so that it is linked once.

mod drives;
mod events;
mod options;
mod oracle;
mod physics;
mod profiles;
mod recorded;
mod reviews;
mod runner;
mod scale;
mod state;
mod theory;
