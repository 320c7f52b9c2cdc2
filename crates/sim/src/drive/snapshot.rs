//! Saves a drive's state to a file, and computes a digest of the state.
//!
//! A file consists of a magic word, the format number, a header in JSON, the state in postcard's encoding with large tables
//! as plain bytes, and the BLAKE3 hash of all this. The hash is checked before any content is used: a file that is truncated,
//! has a flipped bit or belongs to another drive is refused and leaves the drive as it was.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use crate::drive::any_drive::AnyDrive;

/// Format number. It increases whenever a part of a drive's state is added, is removed or changes its meaning.
pub const FORMAT: u32 = 19;
const MAGIC: &[u8; 8] = b"SSDstate";
const HASH_BYTES: usize = blake3::OUT_LEN;
/// Bytes of magic word, format number and header length.
const PREFIX_BYTES: usize = MAGIC.len() + 4 + 4;
/// Most bytes of a table that a digest covers; a larger table is sampled evenly.
const SAMPLED_BYTES: usize = 1 << 20;
/// Bytes per sample of a large table.
const LINE_BYTES: usize = 64;

/// What identifies a drive: names of settings (`"profile"`, `"scale"`, `"seed"`) with their values as text. A state can only
/// be read for a drive with the same identity.
pub type Identity = BTreeMap<String, String>;

/// Why a state cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// The file does not start with the magic word.
    #[error("it is not the state of a simulated drive")]
    NotAState,
    /// The file was written by a version with another format.
    #[error("its format is {found}, and this version reads {known}")]
    Format {
        /// Format number of the file.
        found: u32,
        /// Format number that this version reads.
        known: u32,
    },
    /// The file was cut short, or bytes of it have changed.
    #[error("it is torn or corrupt: {why}")]
    Corrupt {
        /// The check that failed.
        why: String,
    },
    /// The state belongs to another drive.
    #[error("{setting} is {found} there, but {asked} was requested")]
    Differs {
        /// Name of the setting that differs.
        setting: String,
        /// Value in the file.
        found: String,
        /// Value for the requested drive.
        asked: String,
    },
    /// The state could not be written.
    #[error("{0}")]
    Io(#[from] io::Error),
}

impl StateError {
    /// Returns advice to the user, in one line.
    pub fn advice(&self) -> &'static str {
        match self {
            Self::NotAState => "name another file: this one is left unchanged",
            Self::Format { .. } => {
                "use the version that wrote it, or start again with another file"
            }
            Self::Corrupt { .. } => {
                "delete it, so that the drive is recreated; or name another file"
            }
            Self::Differs { .. } => "name the drive as it was, or another file",
            Self::Io(_) => "check the file system, or name a file elsewhere",
        }
    }

    fn corrupt(why: &str) -> Self {
        Self::Corrupt {
            why: why.to_owned(),
        }
    }
}

/// Header of a state file.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    identity: Identity,
    /// Hash of the specification as the simulator derived it: another version may derive another drive from the same profile.
    parts: String,
    clock_ns: u64,
    digest: String,
}

/// Writes a drive's state to `out`. The caller must make the file durable and move it into place.
///
/// # Errors
/// [`StateError::Io`] if writing to `out` fails.
pub fn write(drive: &AnyDrive, identity: &Identity, out: impl Write) -> Result<(), StateError> {
    let header = Header {
        identity: identity.clone(),
        parts: parts(drive),
        clock_ns: drive.now_ns(),
        digest: digest(drive),
    };
    let header = serde_json::to_vec(&header).map_err(io::Error::from)?;
    let mut out = Hashing {
        out,
        hasher: blake3::Hasher::new(),
    };
    out.write_all(MAGIC)?;
    out.write_all(&FORMAT.to_le_bytes())?;
    out.write_all(&(header.len() as u32).to_le_bytes())?;
    out.write_all(&header)?;
    encode(drive, &mut out)?;
    let Hashing { mut out, hasher } = out;
    out.write_all(hasher.finalize().as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Reads a state that [`write`](write()) wrote for the drive with this identity. `drive` must have the same profile and size;
/// its own state does not matter and is not changed.
///
/// # Errors
/// Any [`StateError`] except [`StateError::Io`].
pub fn read(file: &[u8], identity: &Identity, drive: &AnyDrive) -> Result<AnyDrive, StateError> {
    let (header, state) = verified(file)?;
    if let Some(differs) = difference(&header.identity, identity) {
        return Err(differs);
    }
    let parts = parts(drive);
    if header.parts != parts {
        return Err(StateError::Differs {
            setting: "what the simulator makes of the profile".to_owned(),
            found: header.parts,
            asked: parts,
        });
    }
    let (state, rest) = postcard::take_from_bytes(state)
        .map_err(|error| StateError::corrupt(&error.to_string()))?;
    if !rest.is_empty() {
        return Err(StateError::corrupt("there is more in it than a drive has"));
    }
    drive
        .with_state(state)
        .ok_or_else(|| StateError::corrupt("it is of a drive of another kind"))
}

/// Returns a digest of a drive's state, in hexadecimal. It covers all counters, clocks and queues, the figures of every
/// superblock, and a sample of the map, so it takes about a millisecond however large the drive is. Two drives that were made
/// alike and then diverged have different digests.
pub fn digest(drive: &AnyDrive) -> String {
    let mut sampling = Sampling {
        hasher: blake3::Hasher::new(),
    };
    // Writing to a hasher cannot fail.
    let _ = encode(drive, &mut sampling);
    hex(&sampling.hasher)
}

fn parts(drive: &AnyDrive) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(format!("{:?}", drive.spec()).as_bytes());
    hex(&hasher)
}

/// Returns 128 bits of the hash, which are enough because nobody tries to forge a collision.
fn hex(hasher: &blake3::Hasher) -> String {
    hasher.finalize().to_hex()[..32].to_owned()
}

fn encode(drive: &AnyDrive, out: &mut impl Write) -> io::Result<()> {
    let mut kept = Ok(());
    let mut out = Keeping {
        out,
        failure: &mut kept,
    };
    let encoded = postcard::to_io(&drive.state(), &mut out).map(|_| ());
    kept?;
    encoded.map_err(io::Error::other)
}

fn verified(file: &[u8]) -> Result<(Header, &[u8]), StateError> {
    if !file.starts_with(&MAGIC[..file.len().min(MAGIC.len())]) {
        return Err(StateError::NotAState);
    }
    if file.len() < PREFIX_BYTES + HASH_BYTES {
        return Err(StateError::corrupt("it ends before its header"));
    }
    let found = number(&file[MAGIC.len()..]);
    if found != FORMAT {
        return Err(StateError::Format {
            found,
            known: FORMAT,
        });
    }
    let (content, hash) = file.split_at(file.len() - HASH_BYTES);
    if blake3::hash(content).as_bytes() != hash {
        return Err(StateError::corrupt(
            "its checksum is not that of its content",
        ));
    }
    let length = number(&content[MAGIC.len() + 4..]) as usize;
    let (header, state) = content[PREFIX_BYTES..]
        .split_at_checked(length)
        .ok_or_else(|| StateError::corrupt("it ends within its header"))?;
    let header =
        serde_json::from_slice(header).map_err(|error| StateError::corrupt(&error.to_string()))?;
    Ok((header, state))
}

fn number(bytes: &[u8]) -> u32 {
    let mut number = [0; 4];
    number.copy_from_slice(&bytes[..4]);
    u32::from_le_bytes(number)
}

fn difference(found: &Identity, asked: &Identity) -> Option<StateError> {
    let value = |of: &Identity, setting: &String| {
        let value = of.get(setting).cloned();
        value.unwrap_or_else(|| "not set".to_owned())
    };
    found
        .keys()
        .chain(asked.keys())
        .find(|setting| found.get(*setting) != asked.get(*setting))
        .map(|setting| StateError::Differs {
            setting: setting.clone(),
            found: value(found, setting),
            asked: value(asked, setting),
        })
}

/// Passes bytes on and hashes them.
struct Hashing<W> {
    out: W,
    hasher: blake3::Hasher,
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Hashes bytes, but only a sample of large tables.
struct Sampling {
    hasher: blake3::Hasher,
}

impl Write for Sampling {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() <= SAMPLED_BYTES {
            self.hasher.update(bytes);
            return Ok(bytes.len());
        }
        let lines = bytes.len() / LINE_BYTES;
        let stride = lines.div_ceil(SAMPLED_BYTES / LINE_BYTES);
        for line in bytes.chunks(LINE_BYTES).step_by(stride) {
            self.hasher.update(line);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Passes bytes on and keeps an I/O error, which the encoder discards.
struct Keeping<'a, W> {
    out: &'a mut W,
    failure: &'a mut io::Result<()>,
}

impl<W: Write> Write for Keeping<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes).map_err(|error| {
            let told = io::Error::from(error.kind());
            *self.failure = Err(error);
            told
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
