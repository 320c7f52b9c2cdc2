//! Effects that reviews of real drives show, on simulated ones.

// Tests print the figures that they check.
#![allow(clippy::print_stdout)]

mod host_side;
mod power;
mod slc;
mod steady_state;

use std::sync::LazyLock;

use sim::drive::Drive;
use sim::ftl::{Ftl, Greedy};

use crate::drives::{REVIEWED, tortured};

/// A drive in the steady state of random writes, made once and cloned for each test.
static TORTURED: LazyLock<Drive<Ftl<Greedy>>> = LazyLock::new(|| tortured(&REVIEWED.spec()));
