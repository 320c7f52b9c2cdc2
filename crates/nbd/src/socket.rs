//! Sending and receiving on a connection, for any kind of socket.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{RecvFlags, SendFlags, recv, send};

/// Result of an attempt to send or receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moved {
    /// Number of bytes moved; 0 from a receive means that the peer has ended.
    Bytes(usize),
    /// Nothing can be moved at the moment.
    NotNow,
}

/// Sends what can be sent without waiting.
pub(crate) fn try_send(socket: &OwnedFd, data: &[u8]) -> io::Result<Moved> {
    moved(send(
        socket,
        data,
        SendFlags::NOSIGNAL | SendFlags::DONTWAIT,
    ))
}

/// Receives what has arrived, without waiting.
pub(crate) fn try_receive(socket: &OwnedFd, into: &mut [u8]) -> io::Result<Moved> {
    moved(recv(socket, into, RecvFlags::DONTWAIT).map(|(count, _)| count))
}

fn moved(result: rustix::io::Result<usize>) -> io::Result<Moved> {
    match result {
        Ok(count) => Ok(Moved::Bytes(count)),
        Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => Ok(Moved::NotNow),
        Err(error) => Err(error.into()),
    }
}

/// State of a socket after waiting.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Ready {
    /// Whether the socket can be received from or sent to, as asked.
    pub able: bool,
    /// Whether the peer is gone altogether.
    pub gone: bool,
}

/// Sleeps until the socket can be received from or sent to, as asked, or until `at_most` has passed.
pub(crate) fn wait(
    socket: &OwnedFd,
    [receive, send]: [bool; 2],
    at_most: Duration,
) -> io::Result<Ready> {
    let mut wanted = PollFlags::empty();
    wanted.set(PollFlags::IN, receive);
    wanted.set(PollFlags::OUT, send);
    let timeout = Timespec {
        tv_sec: at_most.as_secs() as i64,
        tv_nsec: i64::from(at_most.subsec_nanos()),
    };
    let mut polled = [PollFd::new(socket, wanted)];
    match poll(&mut polled, Some(&timeout)) {
        Ok(_) => {}
        Err(rustix::io::Errno::INTR) => return Ok(Ready::default()),
        Err(error) => return Err(error.into()),
    }
    let seen = polled[0].revents();
    Ok(Ready {
        able: seen.intersects(wanted),
        gone: seen.intersects(PollFlags::HUP | PollFlags::ERR),
    })
}

/// Returns whether the peer has ended without having sent anything.
pub(crate) fn is_gone(socket: &OwnedFd) -> bool {
    let mut byte = [0];
    match recv(socket, &mut byte, RecvFlags::PEEK | RecvFlags::DONTWAIT) {
        Ok((count, _)) => count == 0,
        Err(error) => !matches!(error, rustix::io::Errno::AGAIN | rustix::io::Errno::INTR),
    }
}
