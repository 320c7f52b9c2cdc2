//! Measures what serving costs on this host at this moment, and the highest rate that the server can reach.
//!
//! The calibration serves drives that take no time, or a fixed time, to a client in the same process. It uses the kind
//! of socket that clients will use, and the code that serves all clients. The client receives its replies like the
//! library on which common clients are built.

use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::activity::Activity;
use crate::awake::Places;
use crate::backing::Backing;
use crate::client::{Ask, Client};
use crate::clock::{AfterPause, Clock, Cost};
use crate::contents::Contents;
use crate::error::ServeError;
use crate::export::Export;
use crate::flight::SHARED_BYTES;
use crate::listener::Address;
use crate::room::Room;
use crate::session;
use crate::shared::Shared;
use crate::tally::Tally;

const SMALL_BYTES: u32 = 4096;
const LARGE_BYTES: u32 = 256 << 10;
const DEPTH: u64 = 32;
/// Long enough for thousands of round trips, short enough that nobody has to wait for it.
const SPAN: Duration = Duration::from_millis(250);
/// Times that the fixed drives take, in ns; the longer ones let processors enter idle states. The first drive takes no time.
const WAITS_NS: [u64; 7] = [0, 25_000, 50_000, 100_000, 200_000, 500_000, 2_000_000];
/// Number of measurements of each drive, taken in turns and on different processors. A moment in which the host is busy
/// thus affects a part of each drive's measurements, and not all measurements of one drive.
const TURNS: usize = 4;
/// Length of one measurement: more than a dozen round trips, even of the slowest drive.
const TURN_SPAN: Duration = Duration::from_millis(30);
/// Round trips that are not counted; they fill the caches and raise the processor's clock rate.
const WARM_UP: u32 = 200;

/// Result of a calibration.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// Cost of a command.
    pub cost: Cost,
    /// Reads of 4 KiB per second at queue depth 1: one client, one connection.
    pub depth_1_iops: f64,
    /// Reads of 4 KiB per second at queue depth 32.
    pub ceiling_iops: f64,
}

impl Calibration {
    /// Runs the calibration, which takes less than two seconds.
    ///
    /// # Errors
    /// [`ServeError::Calibration`] if sockets or threads cannot be created.
    pub fn measure(address: &Address) -> Result<Self, ServeError> {
        measure(address).map_err(ServeError::Calibration)
    }
}

fn measure(address: &Address) -> io::Result<Calibration> {
    let (large_ns, ceiling_iops) = served(address, 0, Sides::of_turn(0), of_null_drive)?;
    let usual_ns = usual_trips(address)?;
    let min_ns = usual_ns[0];
    let beyond = u64::from(LARGE_BYTES - SMALL_BYTES);
    let per_mib_ns = (large_ns.saturating_sub(min_ns) << 20) / beyond;
    let waited = WAITS_NS.iter().zip(usual_ns).skip(1);
    let waited: Vec<_> = waited
        .map(|(wait_ns, trip_ns)| AfterPause {
            pause_ns: trip_ns,
            command_ns: trip_ns.saturating_sub(*wait_ns),
        })
        .collect();
    Ok(Calibration {
        cost: Cost::measured(min_ns, &waited, per_mib_ns),
        depth_1_iops: 1e9 / min_ns as f64,
        ceiling_iops,
    })
}

/// Returns the usual round trip of 4 KiB in ns, for each time in [`WAITS_NS`].
fn usual_trips(address: &Address) -> io::Result<[u64; WAITS_NS.len()]> {
    let mut taken = WAITS_NS.map(|_| Vec::new());
    for turn in 0..TURNS {
        let sides = Sides::of_turn(turn);
        for (wait_ns, taken) in WAITS_NS.into_iter().zip(&mut taken) {
            let trips = |client: &mut Client| round_trips(client, SMALL_BYTES, TURN_SPAN);
            taken.append(&mut served(address, wait_ns, sides, trips)?);
        }
    }
    Ok(taken.map(usual))
}

/// Processors on which server and client run: one for each, if there are two. A server that stays awake keeps its
/// processor busy, so its clients run on others. The kernel may put both sides on one processor for a while, where each
/// wakes the other in half the time. Such a measurement would say nothing about real clients.
#[derive(Debug, Clone, Copy, Default)]
struct Sides {
    server: Option<usize>,
    client: Option<usize>,
}

impl Sides {
    /// Returns different processors for each turn.
    fn of_turn(turn: usize) -> Self {
        let Ok(allowed) = sched_getaffinity(None) else {
            return Self::default();
        };
        let all: Vec<usize> = (0..CpuSet::MAX_CPU)
            .filter(|&processor| allowed.is_set(processor))
            .collect();
        if all.len() < 2 {
            return Self::default();
        }
        Self {
            server: Some(all[turn % all.len()]),
            client: Some(all[(turn + 1) % all.len()]),
        }
    }
}

/// Moves the calling thread to `processor`. If that is not allowed, the kernel decides where the thread runs.
fn run_on(processor: Option<usize>) {
    if let Some(processor) = processor {
        let mut set = CpuSet::new();
        set.set(processor);
        let _ = sched_setaffinity(None, &set);
    }
}

/// Serves a drive that always takes `wait_ns` to a client that measures it.
fn served<T: Send>(
    address: &Address,
    wait_ns: u64,
    sides: Sides,
    measure: impl FnOnce(&mut Client) -> io::Result<T> + Send,
) -> io::Result<T> {
    let (ours, theirs) = pair(address)?;
    let shared = fixed_drive(wait_ns);
    let thread = |name: &str| thread::Builder::new().name(name.to_owned());
    thread::scope(|scope| {
        let server = thread("nbd-null").spawn_scoped(scope, || {
            run_on(sides.server);
            session::serve(theirs, &shared, &Activity::starting_at(0));
        })?;
        let client = thread("nbd-client").spawn_scoped(scope, || {
            run_on(sides.client);
            // After the measurement the client is dropped and its connection closes, which ends the server's thread.
            Client::connect_structured(ours).and_then(|mut client| measure(&mut client))
        })?;
        let measured = client
            .join()
            .unwrap_or_else(|_| Err(io::Error::other("the measuring thread panicked")));
        // The client has already noticed if the server failed.
        drop(server.join());
        measured
    })
}

/// Returns the usual round trip of 256 KiB in ns, and the highest number of I/Os per second.
fn of_null_drive(client: &mut Client) -> io::Result<(u64, f64)> {
    for _ in 0..WARM_UP {
        round_trip(client, SMALL_BYTES)?;
    }
    let large_ns = usual(round_trips(client, LARGE_BYTES, SPAN)?);
    Ok((large_ns, rate_at_depth(client)?))
}

/// Returns the first quartile. On an idle host it is close to the median, and the delay of busy moments is no cost of serving.
fn usual(mut taken: Vec<u64>) -> u64 {
    let quarter = taken.len() / 4;
    *taken.select_nth_unstable(quarter).1
}

/// Returns the times of consecutive round trips, in ns; at least one.
fn round_trips(client: &mut Client, length: u32, span: Duration) -> io::Result<Vec<u64>> {
    let began = Instant::now();
    let mut taken = vec![round_trip(client, length)?];
    while began.elapsed() < span {
        taken.push(round_trip(client, length)?);
    }
    Ok(taken)
}

fn round_trip(client: &mut Client, length: u32) -> io::Result<u64> {
    let began = Instant::now();
    client.send(&Ask::read(0, 0, length).to_bytes())?;
    client.take_chunk()?;
    Ok(began.elapsed().as_nanos() as u64)
}

/// Returns the reads per second with 32 in flight: each completed read is followed at once by the next.
fn rate_at_depth(client: &mut Client) -> io::Result<f64> {
    let ask = Ask::read(0, 0, SMALL_BYTES).to_bytes();
    for _ in 0..DEPTH {
        client.send(&ask)?;
    }
    let began = Instant::now();
    let mut done = 0_u64;
    while began.elapsed() < SPAN {
        client.take_chunk()?;
        client.send(&ask)?;
        done += 1;
    }
    let taken = began.elapsed();
    for _ in 0..DEPTH {
        client.take_chunk()?;
    }
    Ok(done as f64 / taken.as_secs_f64())
}

fn fixed_drive(wait_ns: u64) -> Shared {
    Shared {
        export: Export {
            name: String::new(),
            description: String::new(),
            size_bytes: u64::from(LARGE_BYTES),
            block_bytes: SMALL_BYTES,
        },
        contents: Contents::seeded(0, 0),
        backing: Backing::Fixed(wait_ns),
        clock: Clock::starting_at(0),
        cost: Cost::fixed(0, 0),
        flight: Room::new(SHARED_BYTES),
        places: Places::of_this_host(),
        tally: Tally::default(),
        stopping: AtomicBool::new(false),
    }
}

/// Returns the two ends of a connection of the kind that clients will use.
fn pair(address: &Address) -> io::Result<(OwnedFd, OwnedFd)> {
    match address {
        Address::Unix(_) => {
            let (ours, theirs) = UnixStream::pair()?;
            Ok((ours.into(), theirs.into()))
        }
        Address::Loopback(_) => {
            let door = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
            let ours = TcpStream::connect(door.local_addr()?)?;
            let (theirs, _) = door.accept()?;
            ours.set_nodelay(true)?;
            theirs.set_nodelay(true)?;
            Ok((ours.into(), theirs.into()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_never_share_a_processor_and_each_turn_has_others() {
        let turns: Vec<Sides> = (0..TURNS).map(Sides::of_turn).collect();
        assert!(
            turns
                .iter()
                .all(|sides| sides.server.is_none() || sides.server != sides.client)
        );
        let moved = turns.windows(2).all(|two| two[0].server != two[1].server);
        assert!(moved || turns[0].server.is_none());
    }

    #[test]
    fn the_usual_time_is_the_first_quartile() {
        assert_eq!(usual(vec![90, 20, 30, 10, 80, 70, 60, 50]), 30);
        assert_eq!(usual(vec![7]), 7);
    }
}
