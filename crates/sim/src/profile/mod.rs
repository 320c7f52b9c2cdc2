//! A drive profile in TOML: physical parameters only, each with its unit in the key and its source beside it.
//!
//! ```
//! use sim::profile::{Profile, Size};
//! # let text = include_str!("../../../../python/ssdlab/profiles/tiny-test.toml");
//! let profile = Profile::parse(text)?;
//! let spec = profile.spec(Size::default())?;
//! assert_eq!(spec.user_bytes, 16 << 30);
//! # Ok::<(), sim::profile::ProfileError>(())
//! ```

mod check;
mod check_features;
mod check_made;
mod contradictions;
mod features;
mod figure;
mod generations;
mod idle_states;
mod making;
mod parts;
mod scaling;
mod settings;
mod spare;
pub mod spec;

use serde::{Deserialize, Serialize};

use crate::profile::spec::{DriveSpec, TrimRule};

pub use features::{
    Graded, Housekeeping, Idle, IdleState, Mapping, Placement, Power, Retry, SlcCache, SlcMode,
    SlcWhenFull, Spread, Thermal, Throttle, Wear,
};
pub use figure::{Figure, Source};
pub use generations::{Generation, generations};
pub use parts::{Buffer, Collection, Controller, Flash, Link, Protocol, Rule, Streams, Xpoint};
pub use scaling::Size;
pub use settings::{PowerSetting, Settings};

/// Why a profile is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field} is {value}: {why}")]
pub struct ProfileError {
    /// The field with its tables, such as `flash.planes`.
    pub field: String,
    /// The value of the field.
    pub value: String,
    /// What is wrong with the value.
    pub why: String,
}

impl ProfileError {
    pub(crate) fn new(field: &str, value: impl std::fmt::Display, why: impl Into<String>) -> Self {
        Self {
            field: field.to_owned(),
            value: value.to_string(),
            why: why.into(),
        }
    }
}

/// The profile of a drive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// The name of the drive in reports.
    pub name: String,
    /// Other, shorter names.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// What the profile stands for, in one line.
    pub about: String,
    /// Capacity for user data.
    pub capacity_bytes: Figure<u64>,
    /// Unit of offsets and lengths.
    pub logical_block_bytes: Figure<u32>,
    /// How the drive treats trim commands. Absent: it honours them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trim: Option<Figure<TrimRule>>,
    /// The link to the host.
    pub link: Link,
    /// The controller.
    pub controller: Controller,
    /// The write buffer.
    pub buffer: Buffer,
    /// The flash. A drive has either this or `xpoint`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flash: Option<Flash>,
    /// Garbage collection in the flash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collection: Option<Collection>,
    /// A medium without erase and garbage collection, in place of flash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xpoint: Option<Xpoint>,
    /// Flash that is written with one bit per cell for a time. Absent: no SLC cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slc_cache: Option<SlcCache>,
    /// What the drive draws. Absent: no power model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<Power>,
    /// How the drive heats up; needs `power`. Absent: no thermal model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thermal: Option<Thermal>,
    /// Variation among dies and blocks, and read retries. Absent: no variation and no retries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<Spread>,
    /// Where data is placed, and how much of the map is in memory. Absent: dynamic placement, and the whole map.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mapping: Option<Mapping>,
    /// Wear levelling. Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wear: Option<Wear>,
    /// Background work when there are no commands. Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle: Option<Idle>,
    /// Firmware work that stops the drive. Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub housekeeping: Option<Housekeeping>,
}

/// The storage medium.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Medium<'a> {
    /// Flash and its garbage collection.
    Flash(&'a Flash, &'a Collection),
    /// A medium that is written in place.
    Xpoint(&'a Xpoint),
}

impl Profile {
    /// Reads a profile and checks it at its full size.
    ///
    /// # Errors
    /// Invalid TOML, an unknown or missing key, or an impossible value.
    pub fn parse(text: &str) -> Result<Self, ProfileError> {
        let profile: Self = toml::from_str(text).map_err(|error| of_toml(text, &error))?;
        let table = toml::from_str(text).map_err(|error| of_toml(text, &error))?;
        figure::check_fits(&table)?;
        profile.spec(Size::default())?;
        Ok(profile)
    }

    /// Returns the parts of a drive of this profile at a size.
    ///
    /// # Errors
    /// An impossible value, or a size that this profile cannot have.
    pub fn spec(&self, size: Size) -> Result<DriveSpec, ProfileError> {
        self.check()?;
        let spec = self.make(size)?;
        self.check_spec(&spec)?;
        Ok(spec)
    }

    /// Returns the storage medium.
    ///
    /// # Errors
    /// The profile has two media, or none.
    pub(crate) fn medium(&self) -> Result<Medium<'_>, ProfileError> {
        let missing = |field, why| Err(ProfileError::new(field, "missing", why));
        match (&self.flash, &self.collection, &self.xpoint) {
            (Some(flash), Some(collection), None) => Ok(Medium::Flash(flash, collection)),
            (None, None, Some(xpoint)) => Ok(Medium::Xpoint(xpoint)),
            (Some(_), None, None) => missing("collection", "flash needs a way to win space back"),
            (None, _, None) => missing("flash", "a drive needs a medium: [flash] or [xpoint]"),
            (_, _, Some(_)) => Err(ProfileError::new(
                "xpoint",
                "beside [flash] or [collection]",
                "a drive has one medium, and this one is never collected",
            )),
        }
    }
}

fn of_toml(text: &str, error: &toml::de::Error) -> ProfileError {
    let line = error
        .span()
        .map_or(0, |span| text[..span.start].matches('\n').count() + 1);
    let message = error.message().replace('\n', ", ");
    let why = in_words(message.replace("struct Figure", "{ value = ..., source = ... }"));
    let of_a_value = ["invalid type", "invalid value", "unknown variant"]
        .iter()
        .any(|kind| why.starts_with(kind));
    let span = error.span().filter(|_| of_a_value);
    let named = span.and_then(|span| Some((field_at(text, span.start)?, &text[span])));
    match named {
        Some((field, value)) => ProfileError::new(&field, value, format!("{why} (line {line})")),
        None => ProfileError::new("profile", format!("not one (line {line})"), why),
    }
}

/// Replaces Rust types in a parser's message by words that the author of a profile knows.
fn in_words(mut why: String) -> String {
    const WORDS: [(&str, &str); 7] = [
        ("u8", "a whole number that is not negative"),
        ("u16", "a whole number that is not negative"),
        ("u32", "a whole number that is not negative"),
        ("u64", "a whole number that is not negative"),
        ("f64", "a number"),
        ("a boolean", "true or false"),
        ("a sequence", "a list"),
    ];
    for (kind, words) in WORDS {
        if why.ends_with(&format!("expected {kind}")) {
            why.truncate(why.len() - kind.len());
            why.push_str(words);
        }
    }
    why
}

/// Returns the field whose value begins at byte `at` of a TOML text, with its table, and with the part of the figure if that is
/// not its value. `None`: the line has no key.
fn field_at(text: &str, at: usize) -> Option<String> {
    let before = &text[..at];
    let line = before.rsplit('\n').next()?;
    let (key, _) = line.split_once('=')?;
    let inner = line.rsplit(['{', ',']).next()?.trim_end_matches([' ', '=']);
    let part = match inner.trim() {
        part @ ("source" | "note" | "fitted_to") => format!(".{part}"),
        _ => String::new(),
    };
    let header = |line: &str| {
        Some(
            line.trim()
                .strip_prefix('[')?
                .trim_matches(['[', ']'])
                .to_owned(),
        )
    };
    let table = before.lines().rev().skip(1).find_map(header);
    let key = key.trim();
    Some(table.map_or_else(
        || format!("{key}{part}"),
        |table| format!("{table}.{key}{part}"),
    ))
}
