//! A drive's state in a file, and a digest of it.
//!
//! A file is a magic word, the format's number, a header in JSON, the state in postcard's encoding with large tables as plain
//! bytes, and the BLAKE3 hash of all that. Nothing of it is used before all of it has been checked: a file that is torn, has
//! a flipped bit or belongs to another drive is refused and leaves the drive as it was.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use crate::drive::any_drive::AnyDrive;

/// Number of the format. It goes up whenever a part of a drive's state is added, removed or gets another meaning.
pub const FORMAT: u32 = 19;
const MAGIC: &[u8; 8] = b"SSDstate";
const HASH_BYTES: usize = blake3::OUT_LEN;
/// Magic word, format, and length of the header.
const PREFIX_BYTES: usize = MAGIC.len() + 4 + 4;
/// Of a larger table a digest takes so many bytes, evenly spread.
const SAMPLED_BYTES: usize = 1 << 20;
/// Bytes taken together.
const LINE_BYTES: usize = 64;

/// What decides which drive it is: name of a setting (`"profile"`, `"scale"`, `"seed"`) to its value as text. A state is only
/// good for the drive with the same.
pub type Identity = BTreeMap<String, String>;

/// Why a state cannot be taken up or kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// The file does not begin as a state does.
    #[error("it is not the state of a simulated drive")]
    NotAState,
    /// It was written by a version that keeps states otherwise.
    #[error("its format is {found}, and this version reads {known}")]
    Format {
        /// The file's format.
        found: u32,
        /// The format that is read here.
        known: u32,
    },
    /// It was cut short, or bytes of it have changed.
    #[error("it is torn or corrupt: {why}")]
    Corrupt {
        /// What does not fit.
        why: String,
    },
    /// It belongs to another drive.
    #[error("{setting} is {found} there, but {asked} was requested")]
    Differs {
        /// Which setting.
        setting: String,
        /// What the file says.
        found: String,
        /// What the drive says.
        asked: String,
    },
    /// It could not be written.
    #[error("{0}")]
    Io(#[from] io::Error),
}

impl StateError {
    /// What the reader can do, in one line.
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

/// What a file says before the state itself.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    identity: Identity,
    /// Hash of all the drive's parts as the simulator made them: the same profile may become another drive in another version.
    parts: String,
    /// The drive's clock.
    clock_ns: u64,
    digest: String,
}

/// Writes a drive's state. The caller makes it durable and puts it in place.
///
/// # Errors
/// [`StateError::Io`] of `out`.
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

/// Reads a state that [`write`](write()) wrote of the drive with this identity. `drive` is one of the same profile and size, in any
/// state; it stays as it is.
///
/// # Errors
/// All but [`StateError::Io`].
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

/// A digest of a drive's state, in hexadecimal: all counters, clocks and queues, the figures of every superblock, and a sample of
/// the map, so that it costs about a millisecond however large the drive is. Two drives that were made alike and then
/// went different ways differ in it.
pub fn digest(drive: &AnyDrive) -> String {
    let mut sampling = Sampling {
        hasher: blake3::Hasher::new(),
    };
    // A hasher takes everything.
    let _ = encode(drive, &mut sampling);
    hex(&sampling.hasher)
}

fn parts(drive: &AnyDrive) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(format!("{:?}", drive.spec()).as_bytes());
    hex(&hasher)
}

/// 128 bits are enough where nobody tries to make two alike.
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

/// Hashes what passes.
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

/// Hashes what comes, of large tables a part.
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

/// Keeps the reason of a failure, which the encoder forgets.
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
