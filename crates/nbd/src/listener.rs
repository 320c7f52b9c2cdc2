//! Where clients connect: a Unix socket that only its owner can use, or a loopback port of this host.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, Mode, fchmod, flock};
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, accept_with, bind, connect, listen,
    socket_with, sockopt,
};
use rustix::process::geteuid;

use crate::error::ServeError;

/// Connections that may wait to be accepted.
const BACKLOG: i32 = 64;
/// Longest path of a Unix socket, in bytes.
const MAX_PATH_BYTES: usize = 107;

/// Address to listen on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A Unix socket at this path.
    Unix(PathBuf),
    /// A port of 127.0.0.1; 0 chooses a free port.
    Loopback(u16),
}

/// A listening socket. A Unix socket is removed when the listener is dropped.
#[derive(Debug)]
pub struct Listener {
    socket: OwnedFd,
    address: Address,
    /// Device and inode of the socket that was created, so that a file that somebody else put in its place is not removed.
    made: Option<(u64, u64)>,
}

impl Listener {
    /// Starts to listen. Replaces a Unix socket on which nobody listens any more.
    ///
    /// # Errors
    /// Something else already exists at the path, or the socket cannot be created.
    pub fn open(address: Address) -> Result<Self, ServeError> {
        match address {
            Address::Unix(path) => unix(path),
            Address::Loopback(port) => loopback(port).map_err(|source| ServeError::Listen {
                address: format!("port {port} of 127.0.0.1"),
                source,
            }),
        }
    }

    /// Returns the address. If any free port would do, this is the port that was found.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Accepts the next client. Fails if the client has gone away again.
    pub(crate) fn accept(&self) -> io::Result<OwnedFd> {
        let socket = accept_with(&self.socket, SocketFlags::CLOEXEC)?;
        if matches!(self.address, Address::Loopback(_)) {
            sockopt::set_tcp_nodelay(&socket, true)?;
        }
        Ok(socket)
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Address::Unix(path) = &self.address
            && self.made.is_some()
            && identity(path) == self.made
        {
            // Nothing can be done about a socket that cannot be removed; the next server reports that it exists.
            let _ = fs::remove_file(path);
        }
    }
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    let found = fs::symlink_metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}

fn unix(path: PathBuf) -> Result<Listener, ServeError> {
    let length = path.as_os_str().len();
    if length > MAX_PATH_BYTES {
        return Err(ServeError::SocketPathTooLong { path, length });
    }
    // One server at a time checks the path and takes it. Otherwise a second server could remove the socket that the
    // first has created.
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    let turn = fs::File::open(folder.unwrap_or(Path::new(".")));
    if let Ok(turn) = &turn {
        // Where the file system has no locks, nothing prevents this race.
        let _ = flock(turn, FlockOperation::LockExclusive);
    }
    if is_left_behind(&path) {
        // If the removal fails, the check below finds the path occupied.
        let _ = fs::remove_file(&path);
    }
    if fs::symlink_metadata(&path).is_ok() {
        return Err(ServeError::SocketExists(path));
    }
    match unix_socket(&path) {
        Ok(socket) => Ok(Listener {
            socket,
            made: identity(&path),
            address: Address::Unix(path),
        }),
        Err(rustix::io::Errno::ADDRINUSE) => Err(ServeError::SocketExists(path)),
        Err(error) => Err(ServeError::Listen {
            address: path.display().to_string(),
            source: error.into(),
        }),
    }
}

/// Returns whether the path is a socket of this user whose server was killed.
fn is_left_behind(path: &Path) -> bool {
    let ours = fs::symlink_metadata(path)
        .is_ok_and(|found| found.file_type().is_socket() && found.uid() == geteuid().as_raw());
    ours && matches!(knock(path), Err(rustix::io::Errno::CONNREFUSED))
}

/// Tries to connect without disturbing whoever listens: to a socket of another type the kernel reports only that
/// mismatch, or that nobody listens.
fn knock(path: &Path) -> rustix::io::Result<()> {
    let socket = socket_with(
        AddressFamily::UNIX,
        SocketType::DGRAM,
        SocketFlags::CLOEXEC,
        None,
    )?;
    connect(&socket, &SocketAddrUnix::new(path)?)
}

fn unix_socket(path: &Path) -> rustix::io::Result<OwnedFd> {
    let socket = socket_with(
        AddressFamily::UNIX,
        SocketType::STREAM,
        SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
        None,
    )?;
    // Before the socket has a name, so that at no moment others could connect.
    fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
    bind(&socket, &SocketAddrUnix::new(path)?)?;
    listen(&socket, BACKLOG)?;
    Ok(socket)
}

fn loopback(port: u16) -> io::Result<Listener> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    listener.set_nonblocking(true)?;
    let found = listener.local_addr()?.port();
    Ok(Listener {
        socket: listener.into(),
        address: Address::Loopback(found),
        made: None,
    })
}
