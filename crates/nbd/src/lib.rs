//! A simulated drive in real time, served over NBD, so that any program that speaks NBD sees the drive's latencies.
//!
//! NBD is the network block device protocol: a client (fio, `nbdcopy`, qemu, the kernel) connects to a socket, agrees
//! with the server on an export, and sends reads and writes. Here the export is a drive of the `sim` crate. The drive
//! computes when a command completes. The server holds the reply until that moment on the wall clock, less the measured
//! cost of serving.
//!
//! # The parts
//!
//! * [`protocol`], [`negotiation`] and [`request`] turn bytes into messages and back. They do no I/O.
//! * [`session`] serves one connection on its own thread, which reads, holds and sends. A client that stalls delays
//!   nobody else. A session knows no listener.
//! * [`listener`] and [`server`] admit clients, give each a session, and end in order. [`Limits`] bound the clients: a
//!   client that finds all places taken waits, and a client that stays idle meanwhile is dropped.
//! * [`backing`] computes when a command completes, and [`flight`] limits the work in the drive. [`contents`] holds the
//!   data. [`clock`] and [`calibration`] determine how long before its completion a reply has to leave.
//! * [`client`] does only what a client must, for the calibration and for tests.
//!
//! # A server and a client
//!
//! ```
//! use std::os::unix::net::UnixStream;
//!
//! use nbd::{Address, Backing, Client, Contents, Cost, Export, Limits, Listener, Server, client::Ask};
//!
//! let socket = std::env::temp_dir().join(format!("nbd-doc-{}", std::process::id()));
//! let export = Export {
//!     name: "drive".into(), description: "one that takes no time".into(), size_bytes: 1 << 20, block_bytes: 512,
//! };
//! let listener = Listener::open(Address::Unix(socket.clone()))?;
//! let contents = Contents::in_memory(1 << 20);
//! let (backing, cost) = (Backing::Fixed(0), Cost::fixed(0, 0));
//! let server = Server::start(listener, export, contents, backing, cost, Limits::default())?;
//!
//! let mut client = Client::connect(UnixStream::connect(&socket)?.into())?;
//! assert_eq!(client.size_bytes(), 1 << 20);
//! client.send(&Ask::read(7, 0, 4096).to_bytes())?;
//! assert_eq!(client.reply()?, (7, 0), "the request's own mark, and no error");
//! assert_eq!(client.receive(4096)?, [0; 4096]);
//! drop(client);
//!
//! assert_eq!(server.stop()?.totals.reads, 1);
//! assert!(!socket.exists());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod activity;
pub mod alert;
pub mod awake;
pub mod backing;
pub mod calibration;
pub mod client;
pub mod clock;
pub mod contents;
mod data_file;
mod door;
mod error;
pub mod export;
pub mod flight;
mod input;
pub mod listener;
pub mod negotiation;
mod outbox;
pub mod protocol;
pub mod request;
pub mod room;
pub mod server;
pub mod session;
pub mod shared;
mod socket;
pub mod tally;
mod waiting;

pub use alert::Alert;
pub use backing::Backing;
pub use calibration::Calibration;
pub use client::Client;
pub use clock::Cost;
pub use contents::Contents;
pub use door::Limits;
pub use error::ServeError;
pub use export::Export;
pub use listener::{Address, Listener};
pub use server::{Server, Summary};
