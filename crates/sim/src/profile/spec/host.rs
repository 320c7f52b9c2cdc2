//! The link to the host.

use serde::{Deserialize, Serialize};

/// Host link, command queue and controller cores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostSpec {
    /// Commands that the device holds at once (SATA and AHCI: 32); further commands wait in the host. `None`: no bound that
    /// matters.
    pub queue_limit: Option<u32>,
    /// Time of the host's software and of the command's way to the device and back, in ns.
    pub command_ns: u64,
    /// Link time of one unit of 4 KiB, in ns times 1024.
    pub unit_link_ns_x1024: u64,
    /// Whether data crosses in one direction at a time, as on SATA.
    pub half_duplex: bool,
    /// Controller cores.
    pub cores: u32,
    /// Core time of a read command, in ns.
    pub read_core_ns: u64,
    /// Core time of a write command, in ns.
    pub write_core_ns: u64,
}
