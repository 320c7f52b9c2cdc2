//! What serving costs on this host at this moment, and what it can do at most: drives that take no time, or always the
//! same, served to a client in the same process over the same kind of socket, by the code that serves everybody. The client
//! takes its replies as the library does on which the usual clients rest.

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
/// Long enough for thousands of round trips, short enough not to be waited for.
const SPAN: Duration = Duration::from_millis(250);
/// Times of drives that keep a client waiting, ns: where processors go to rest, and beyond. The first one keeps nobody waiting.
const WAITS_NS: [u64; 7] = [0, 25_000, 50_000, 100_000, 200_000, 500_000, 2_000_000];
/// Each of them is measured so many times, by turns and on other processors: a moment in which the host is busy is a part of what is
/// measured of each, and not all that is known of one.
const TURNS: usize = 4;
/// In each turn dozens of round trips, even of the longest wait.
const TURN_SPAN: Duration = Duration::from_millis(30);
/// Round trips that are not counted: caches, and the host's clock rate.
const WARM_UP: u32 = 200;

/// What was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// What a command costs.
    pub cost: Cost,
    /// Reads of 4 KiB a second at depth 1: one client, one connection.
    pub depth_1_iops: f64,
    /// The same at depth 32.
    pub ceiling_iops: f64,
}

impl Calibration {
    /// Measures; takes less than two seconds.
    ///
    /// # Errors
    /// Sockets or threads cannot be had.
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

/// The usual round trip of 4 KiB for each time that a drive keeps its client waiting, ns.
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

/// Where both sides run: on a processor each, if there are two. A server that stays awake leaves its own to nobody, so its clients are on
/// others; that the kernel puts both on one for a while, where each wakes the other in half the time, says nothing of them.
#[derive(Debug, Clone, Copy, Default)]
struct Sides {
    server: Option<usize>,
    client: Option<usize>,
}

impl Sides {
    /// Other processors each turn.
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

/// The calling thread runs there from now on. Where that is not allowed, the kernel says where.
fn run_on(processor: Option<usize>) {
    if let Some(processor) = processor {
        let mut set = CpuSet::new();
        set.set(processor);
        let _ = sched_setaffinity(None, &set);
    }
}

/// Serves a drive that always takes the same time to a client that measures it.
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
            // When it has measured the client is gone, and its connection with it: that is the server's end.
            Client::connect_structured(ours).and_then(|mut client| measure(&mut client))
        })?;
        let measured = client
            .join()
            .unwrap_or_else(|_| Err(io::Error::other("the measuring thread panicked")));
        // What became of the server the client has seen.
        drop(server.join());
        measured
    })
}

/// The usual round trip of much data, ns, and the most I/Os a second.
fn of_null_drive(client: &mut Client) -> io::Result<(u64, f64)> {
    for _ in 0..WARM_UP {
        round_trip(client, SMALL_BYTES)?;
    }
    let large_ns = usual(round_trips(client, LARGE_BYTES, SPAN)?);
    Ok((large_ns, rate_at_depth(client)?))
}

/// The first quartile: on a host at rest that is next to the median, and what a busy moment adds is not the cost of serving.
fn usual(mut taken: Vec<u64>) -> u64 {
    let quarter = taken.len() / 4;
    *taken.select_nth_unstable(quarter).1
}

/// What round trips take, one after the other, ns; one at least.
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

/// Reads a second with 32 in flight, each followed by the next as soon as it is there.
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

/// The two ends of a connection of the kind that clients will have.
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
