//! Where clients come in: a socket of the file system that only its owner can use, or a port of this host's loopback.

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

/// Connections that may wait to be let in.
const BACKLOG: i32 = 64;
/// Longest path of a socket.
const MAX_PATH_BYTES: usize = 107;

/// Where to listen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A socket of the file system.
    Unix(PathBuf),
    /// A port of 127.0.0.1; 0 for one that is free.
    Loopback(u16),
}

/// An open door; a socket of the file system is removed with it.
#[derive(Debug)]
pub struct Listener {
    socket: OwnedFd,
    address: Address,
    /// Device and inode of the socket that was made: what another put in its place is not ours to remove.
    made: Option<(u64, u64)>,
}

impl Listener {
    /// Listens. A socket that nobody listens behind any more is replaced.
    ///
    /// # Errors
    /// Something else is there already, or it cannot be made.
    pub fn open(address: Address) -> Result<Self, ServeError> {
        match address {
            Address::Unix(path) => unix(path),
            Address::Loopback(port) => loopback(port).map_err(|source| ServeError::Listen {
                address: format!("port {port} of 127.0.0.1"),
                source,
            }),
        }
    }

    /// Where it listens: the port that was found, if any would do.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// The next client; `None` if it went away again.
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
            // Nothing can be done about one that cannot be removed; the next server says that it is there.
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
    // One server at a time looks, and takes the place: another that looked as well would remove what the first has made.
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    let turn = fs::File::open(folder.unwrap_or(Path::new(".")));
    if let Ok(turn) = &turn {
        // Where there are no locks there is no turn either.
        let _ = flock(turn, FlockOperation::LockExclusive);
    }
    if is_left_behind(&path) {
        // What cannot be removed is found to be there.
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

/// Whether a socket of ours is there whose server was killed.
fn is_left_behind(path: &Path) -> bool {
    let ours = fs::symlink_metadata(path)
        .is_ok_and(|found| found.file_type().is_socket() && found.uid() == geteuid().as_raw());
    ours && matches!(knock(path), Err(rustix::io::Errno::CONNREFUSED))
}

/// Whoever listens is not disturbed: of another type of socket the kernel says only that, or that nobody listens.
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
    // Before it has a name: there is no moment at which others could connect.
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
