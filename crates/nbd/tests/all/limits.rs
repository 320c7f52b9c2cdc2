//! More clients than places: who waits, who has to leave, and who is left alone.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use nbd::client::Ask;
use nbd::protocol::command;
use nbd::{Address, Backing, Client, Contents, Cost, Export, Limits, Listener, Server};

const MIB: u64 = 1 << 20;
/// Far longer than a round trip on a busy host, and far shorter than the time limit of a negotiation (10 s).
const IDLE: Duration = Duration::from_millis(800);
const LIMITS: Limits = Limits {
    connections: 3,
    idle: IDLE,
    patience: Duration::from_secs(8),
};

fn server(address: Address, limits: Limits, backing: Backing) -> Server {
    let export = Export {
        name: "drive".to_owned(),
        description: "a drive for tests".to_owned(),
        size_bytes: 64 * MIB,
        block_bytes: 512,
    };
    let listener = Listener::open(address).expect("there is nothing yet");
    let contents = Contents::seeded(0, 0);
    Server::start(
        listener,
        export,
        contents,
        backing,
        Cost::fixed(0, 0),
        limits,
    )
    .expect("threads can be had")
}

fn null_drive(limits: Limits) -> Server {
    server(a_path(), limits, Backing::Fixed(0))
}

fn a_path() -> Address {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("nbd-limits-{}-{count}", std::process::id());
    Address::Unix(PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name))
}

/// Returns a connection on which no read waits longer than clients wait for a place.
fn knock(server: &Server) -> OwnedFd {
    let longest = Some(LIMITS.patience);
    match server.address() {
        Address::Unix(path) => {
            let stream = UnixStream::connect(path).expect("it listens");
            stream.set_read_timeout(longest).expect("it is not zero");
            stream.into()
        }
        Address::Loopback(port) => {
            let stream = TcpStream::connect(("127.0.0.1", *port)).expect("it listens");
            stream.set_read_timeout(longest).expect("it is not zero");
            stream.into()
        }
    }
}

/// Returns a client that has negotiated and asked for nothing yet.
fn client(server: &Server) -> Client {
    Client::connect(knock(server)).expect("there is a place")
}

fn read(client: &mut Client) {
    client.send(&Ask::read(0, 0, 512).to_bytes()).expect("sent");
    assert_eq!(client.reply().expect("a reply"), (0, 0));
    client.receive(512).expect("with data");
}

/// Ways in which a client can hold a place without using it.
#[derive(Debug, Clone, Copy)]
enum Stall {
    /// The client has not even completed the negotiation.
    Handshake,
    /// The client has asked for nothing.
    Silent,
    /// The client has sent half of a request.
    Request,
    /// The client has sent half of a write's data.
    Payload,
    /// The client takes none of the data that it asked for.
    Replies,
}

/// The open connection of a client that stalls.
#[derive(Debug)]
enum Held {
    Raw(UnixStream),
    Agreed(Client),
}

impl Stall {
    fn hold(self, server: &Server) -> Held {
        if matches!(self, Self::Handshake) {
            let mut raw = UnixStream::from(knock(server));
            raw.read_exact(&mut [0; 18]).expect("a greeting");
            raw.write_all(&[0, 0]).expect("half of the flags");
            return Held::Raw(raw);
        }
        let mut client = client(server);
        let ask = Ask::read(1, 0, 4 * MIB as u32);
        let words = match self {
            Self::Handshake | Self::Silent => Vec::new(),
            Self::Request => ask.to_bytes()[..14].to_vec(),
            Self::Payload => {
                let kind = command::WRITE;
                let write = Ask { kind, ..ask }.to_bytes();
                [write, vec![0; MIB as usize]].concat()
            }
            Self::Replies => ask.to_bytes(),
        };
        client.send(&words).expect("the server takes it");
        Held::Agreed(client)
    }

    /// Returns whether the server hung up rather than kept silent; replies that were on their way come first.
    fn is_dropped(held: Held) -> bool {
        let began = Instant::now();
        let ended = match held {
            Held::Raw(mut raw) => matches!(raw.read(&mut [0; 64]), Ok(0) | Err(_)),
            Held::Agreed(mut client) => client.receive(8 * MIB as usize).is_err(),
        };
        ended && began.elapsed() < LIMITS.patience
    }
}

fn the_next_is_served_in_place_of(stall: Stall, address: Address) {
    let server = server(address, LIMITS, Backing::Fixed(0));
    let held: Vec<_> = (0..3)
        .map(|_| {
            let held = stall.hold(&server);
            // A busy host reads some time later what was sent, and the first client has to be idle for longest.
            thread::sleep(IDLE / 4);
            held
        })
        .collect();
    let began = Instant::now();
    let mut late = client(&server);
    read(&mut late);
    assert!(began.elapsed() < LIMITS.patience, "{stall:?}");
    let totals = server.totals();
    assert_eq!((totals.idle, totals.turned_away), (1, 0), "{stall:?}");
    let mut held = held.into_iter();
    // The first client has been idle for longest.
    assert!(held.next().is_some_and(Stall::is_dropped), "{stall:?}");
    drop((held, late));
    let totals = server.stop().expect("it ends").totals;
    assert_eq!((totals.connections, totals.idle), (4, 1), "{stall:?}");
}

#[test]
fn a_client_that_stalls_leaves_when_another_waits() {
    for stall in [
        Stall::Handshake,
        Stall::Silent,
        Stall::Request,
        Stall::Payload,
        Stall::Replies,
    ] {
        the_next_is_served_in_place_of(stall, a_path());
    }
}

#[test]
fn so_does_one_on_a_port() {
    the_next_is_served_in_place_of(Stall::Silent, Address::Loopback(0));
    the_next_is_served_in_place_of(Stall::Payload, Address::Loopback(0));
}

#[test]
fn idle_clients_stay_while_nobody_waits() {
    let server = null_drive(LIMITS);
    let mut clients: Vec<_> = (0..3).map(|_| client(&server)).collect();
    thread::sleep(IDLE * 3);
    clients.iter_mut().for_each(read);
    assert_eq!(server.stop().expect("it ends").totals.idle, 0);
}

#[test]
fn as_many_leave_as_wait() {
    let server = null_drive(LIMITS);
    let clients: Vec<_> = (0..3).map(|_| client(&server)).collect();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut late = client(&server);
                read(&mut late);
                // Leaves only after the other client was admitted too, because a place that became free would serve it as well.
                let by = Instant::now() + LIMITS.patience;
                while server.totals().connections < 5 && Instant::now() < by {
                    thread::sleep(Duration::from_millis(5));
                }
            });
        }
    });
    drop(clients);
    assert_eq!(server.stop().expect("it ends").totals.idle, 2);
}

#[test]
fn busy_clients_stay_and_who_waits_in_vain_is_turned_away() {
    // Longer limits, because a busy host may keep a client waiting between two requests too.
    let limits = Limits {
        idle: Duration::from_secs(3),
        patience: Duration::from_secs(4),
        ..LIMITS
    };
    let server = null_drive(limits);
    let mut busy: Vec<_> = (0..3).map(|_| client(&server)).collect();
    let mut late = UnixStream::from(knock(&server));
    late.set_nonblocking(true).expect("a socket");
    let by = Instant::now() + Duration::from_secs(20);
    while !matches!(late.read(&mut [0; 1]), Ok(0)) {
        assert!(Instant::now() < by, "nobody closed the connection");
        busy.iter_mut().for_each(read);
    }
    busy.iter_mut().for_each(read);
    let totals = server.stop().expect("it ends").totals;
    assert_eq!((totals.idle, totals.turned_away), (0, 1));
    assert_eq!(totals.connections, 3);
}

#[test]
fn who_waits_for_the_drive_is_not_idle() {
    let taken = IDLE * 4;
    let backing = Backing::Fixed(taken.as_nanos() as u64);
    let server = server(a_path(), LIMITS, backing);
    let mut clients: Vec<_> = (0..3).map(|_| client(&server)).collect();
    for client in &mut clients {
        let ask = Ask::read(0, 0, 512);
        client.send(&ask.to_bytes()).expect("sent");
    }
    thread::scope(|scope| {
        let late = scope.spawn(|| client(&server));
        for client in &mut clients {
            assert_eq!(client.reply().expect("the drive's time comes"), (0, 0));
            client.receive(512).expect("with data");
        }
        // From here on the three clients are idle.
        late.join().expect("it is served at last");
    });
}

#[test]
fn a_client_that_has_gone_away_costs_nobody_a_place() {
    let server = null_drive(LIMITS);
    let mut clients: Vec<_> = (0..3).map(|_| client(&server)).collect();
    drop(knock(&server));
    thread::sleep(IDLE * 2);
    clients.iter_mut().for_each(read);
    assert_eq!(server.stop().expect("it ends").totals.idle, 0);
}

#[test]
fn who_comes_when_as_many_wait_is_closed_at_once() {
    let limits = Limits {
        idle: Duration::from_secs(3600),
        ..LIMITS
    };
    let server = null_drive(limits);
    let places: Vec<_> = (0..3).map(|_| client(&server)).collect();
    let waiting: Vec<_> = (0..3).map(|_| knock(&server)).collect();
    let mut beyond = UnixStream::from(knock(&server));
    assert!(matches!(beyond.read(&mut [0; 1]), Ok(0)));
    assert_eq!(server.totals().turned_away, 1);
    drop(places);
    let mut first = waiting.into_iter().next().map(Client::connect);
    read(first.as_mut().expect("three").as_mut().expect("a place"));
}

/// A client that asks and takes no answers must not make the server collect answers in memory.
#[test]
fn a_client_that_takes_no_answer_to_its_options_is_read_no_further() {
    let server = null_drive(LIMITS);
    let mut client = UnixStream::from(knock(&server));
    client
        .set_write_timeout(Some(IDLE))
        .expect("it is not zero");
    client.write_all(&1_u32.to_be_bytes()).expect("its flags");
    // "IHAVEOPT", NBD_OPT_LIST, without data.
    let mut list = 0x4948_4156_454F_5054_u64.to_be_bytes().to_vec();
    list.extend(3_u32.to_be_bytes());
    list.extend(0_u32.to_be_bytes());
    let many = list.repeat(4096);
    let mut sent = 0;
    while sent < 64 * MIB {
        match client.write(&many) {
            Ok(count) => sent += count as u64,
            Err(_) => break,
        }
    }
    assert!(sent < 8 * MIB, "{sent} bytes were taken");
}
