//! All tests of the simulator beside its own modules, in one program: it is linked once.

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
