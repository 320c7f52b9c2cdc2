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

use crate::activity::Activity;
use crate::awake::Places;
use crate::backing::Backing;
use crate::client::{Ask, Client};
use crate::clock::{AfterPause, Clock, Cost};
use crate::contents::Contents;
use crate::error::ServeError;
use crate::export::Export;
use crate::listener::Address;
use crate::session::{self, Shared};
use crate::tally::Tally;

const SMALL_BYTES: u32 = 4096;
const LARGE_BYTES: u32 = 256 << 10;
const DEPTH: u64 = 32;
/// Long enough for thousands of round trips, short enough not to be waited for.
const SPAN: Duration = Duration::from_millis(250);
/// Times of drives that keep a client waiting, ns: where processors go to rest, and beyond.
const WAITS_NS: [u64; 6] = [25_000, 50_000, 100_000, 200_000, 500_000, 2_000_000];
/// Of each of these, hundreds of round trips.
const WAIT_SPAN: Duration = Duration::from_millis(80);
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
    /// Measures; takes about a second.
    ///
    /// # Errors
    /// Sockets or threads cannot be had.
    pub fn measure(address: &Address) -> Result<Self, ServeError> {
        measure(address).map_err(ServeError::Calibration)
    }
}

fn measure(address: &Address) -> io::Result<Calibration> {
    let (min_ns, per_mib_ns, ceiling_iops) = served(address, 0, of_null_drive)?;
    let waited = WAITS_NS.map(|wait_ns| {
        let trip = |client: &mut Client| usual_round_trip(client, SMALL_BYTES, WAIT_SPAN);
        served(address, wait_ns, trip).map(|trip_ns| AfterPause {
            pause_ns: trip_ns,
            command_ns: trip_ns.saturating_sub(wait_ns),
        })
    });
    let waited: Vec<_> = waited.into_iter().collect::<io::Result<_>>()?;
    Ok(Calibration {
        cost: Cost::measured(min_ns, &waited, per_mib_ns),
        depth_1_iops: 1e9 / min_ns as f64,
        ceiling_iops,
    })
}

/// Serves a drive that always takes the same time to a client that measures it.
fn served<T>(
    address: &Address,
    wait_ns: u64,
    measure: impl FnOnce(&mut Client) -> io::Result<T>,
) -> io::Result<T> {
    let (ours, theirs) = pair(address)?;
    let shared = fixed_drive(wait_ns);
    thread::scope(|scope| {
        let served = thread::Builder::new()
            .name("nbd-null".to_owned())
            .spawn_scoped(scope, || {
                session::serve(theirs, &shared, &Activity::starting_at(0));
            })?;
        let measured = Client::connect_structured(ours).and_then(|mut client| measure(&mut client));
        // The client is gone, and its connection with it.
        drop(served.join());
        measured
    })
}

/// Cost of a command, cost of a MiB, and the most I/Os a second.
fn of_null_drive(client: &mut Client) -> io::Result<(u64, u64, f64)> {
    for _ in 0..WARM_UP {
        round_trip(client, SMALL_BYTES)?;
    }
    let small_ns = usual_round_trip(client, SMALL_BYTES, SPAN)?;
    let large_ns = usual_round_trip(client, LARGE_BYTES, SPAN)?;
    let beyond = u64::from(LARGE_BYTES - SMALL_BYTES);
    let per_mib_ns = (large_ns.saturating_sub(small_ns) << 20) / beyond;
    Ok((small_ns, per_mib_ns, rate_at_depth(client)?))
}

/// The first quartile: on a host at rest that is next to the median, and what a busy moment adds is not the cost of serving.
fn usual_round_trip(client: &mut Client, length: u32, span: Duration) -> io::Result<u64> {
    let began = Instant::now();
    let mut taken = Vec::new();
    while began.elapsed() < span {
        taken.push(round_trip(client, length)?);
    }
    let quarter = taken.len() / 4;
    Ok(*taken.select_nth_unstable(quarter).1)
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
        contents: Contents::Seeded { seed: 0 },
        backing: Backing::Fixed(wait_ns),
        clock: Clock::starting_at(0),
        cost: Cost::fixed(0, 0),
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
