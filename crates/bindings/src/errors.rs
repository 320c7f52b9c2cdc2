//! Turns errors of the Rust crates into exceptions of `ssdlab.model.errors`, with their facts as fields.
//!
//! Python alone defines the exception classes; this file only says which class an error belongs to.

use std::path::Path;

use engine::EngineError;
use metrics::LogError;
use nbd::ServeError;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sim::flash::NO_MEMORY;
use sim::snapshot::StateError;
use sim::{ProfileError, SimError};
use workload::SpecError;
use workload::recording::RecordingError;

/// Error numbers of the operating system, under the names that Python's `errno` uses.
mod errno {
    pub(super) const EPERM: i32 = 1;
    pub(super) const ENOENT: i32 = 2;
    pub(super) const EACCES: i32 = 13;
    pub(super) const EBUSY: i32 = 16;
    pub(super) const EROFS: i32 = 30;
}

/// An exception of `ssdlab.model.errors` that is still to be created.
struct Raised<'py> {
    class: &'static str,
    what: String,
    advice: String,
    facts: Bound<'py, PyDict>,
}

impl Raised<'_> {
    fn into_error(self) -> PyErr {
        let py = self.facts.py();
        let made = py
            .import("ssdlab.model.errors")
            .and_then(|errors| errors.getattr(self.class))
            .and_then(|class| class.call((self.what, self.advice), Some(&self.facts)));
        made.map_or_else(|error| error, PyErr::from_value)
    }
}

/// Returns the exception for a workload that contradicts itself.
pub(crate) fn spec(py: Python<'_>, error: &SpecError) -> PyErr {
    let facts = PyDict::new(py);
    let filled = facts
        .set_item("field", &error.field)
        .and_then(|()| facts.set_item("value", &error.value))
        .and_then(|()| facts.set_item("bound", &error.bound));
    let advice = format!("{} {}", error.field, error.bound);
    let raised = Raised {
        class: "UsageError",
        what: error.to_string(),
        advice,
        facts,
    };
    filled.map_or_else(|error| error, |()| raised.into_error())
}

/// Returns the exception for JSON that is not a workload: an unknown field, a missing field, or a value of another type.
pub(crate) fn not_a_workload(py: Python<'_>, error: &serde_json::Error) -> PyErr {
    Raised {
        class: "UsageError",
        what: format!("not a workload: {error}"),
        advice: "Make the workload with ssdlab.Workload, which knows the fields".to_owned(),
        facts: PyDict::new(py),
    }
    .into_error()
}

/// Returns the exception for a file that is not a recording.
pub(crate) fn records(py: Python<'_>, error: &RecordingError) -> PyErr {
    Raised {
        class: "HostError",
        what: error.to_string(),
        advice: "Recreate the file of records from its trace".to_owned(),
        facts: PyDict::new(py),
    }
    .into_error()
}

/// Returns the exception for an error of the engine; `device` becomes one of its facts.
pub(crate) fn engine(py: Python<'_>, error: &EngineError, device: Option<&Path>) -> PyErr {
    if let EngineError::Spec(error) = error {
        return spec(py, error);
    }
    let facts = PyDict::new(py);
    let filled = engine_facts(&facts, error, device);
    let raised = Raised {
        class: class_of(error),
        what: error.to_string(),
        advice: sentence(error.advice()),
        facts,
    };
    filled.map_or_else(|error| error, |()| raised.into_error())
}

fn class_of(error: &EngineError) -> &'static str {
    match error {
        EngineError::NotADrive { .. }
        | EngineError::Unaligned { .. }
        | EngineError::BeyondEnd { .. }
        | EngineError::ReadOnly { .. }
        | EngineError::Cpu { .. }
        | EngineError::Recording { .. }
        | EngineError::Open {
            errno: errno::ENOENT,
            ..
        } => "UsageError",
        EngineError::Open {
            errno: errno::EPERM | errno::EACCES | errno::EBUSY | errno::EROFS,
            ..
        } => "Refused",
        EngineError::Open { .. } | EngineError::Io(_) => "DriveError",
        EngineError::Panicked { .. } => "LabError",
        _ => "HostError",
    }
}

fn engine_facts(
    facts: &Bound<'_, PyDict>,
    error: &EngineError,
    device: Option<&Path>,
) -> PyResult<()> {
    facts.set_item("errno", error.errno())?;
    facts.set_item("device", device.map(|path| path.to_string_lossy()))?;
    match error {
        EngineError::Io(failure) => {
            facts.set_item("operation", failure.operation)?;
            facts.set_item("offset", failure.offset)?;
            facts.set_item("length", failure.length)?;
        }
        EngineError::Unaligned {
            stream,
            field,
            value,
            multiple_of,
        } => {
            facts.set_item("stream", stream)?;
            facts.set_item("field", field)?;
            facts.set_item("value", value)?;
            facts.set_item("multiple_of", multiple_of)?;
        }
        EngineError::BeyondEnd {
            stream,
            end,
            size_bytes,
        } => {
            facts.set_item("stream", stream)?;
            facts.set_item("end", end)?;
            facts.set_item("size_bytes", size_bytes)?;
        }
        _ => {}
    }
    Ok(())
}

/// Returns the exception for an error of a simulated drive.
pub(crate) fn simulation(py: Python<'_>, error: &SimError, drive: &str) -> PyErr {
    let facts = PyDict::new(py);
    let filled = facts
        .set_item("device", drive)
        .and_then(|()| sim_facts(&facts, error));
    let class = match error {
        SimError::Spec(error) => return spec(py, error),
        SimError::Log { .. } => "HostError",
        _ => "UsageError",
    };
    let raised = Raised {
        class,
        what: error.to_string(),
        advice: sentence(error.advice()),
        facts,
    };
    filled.map_or_else(|error| error, |()| raised.into_error())
}

fn sim_facts(facts: &Bound<'_, PyDict>, error: &SimError) -> PyResult<()> {
    match error {
        SimError::Unaligned {
            stream,
            field,
            value,
            multiple_of,
        } => {
            facts.set_item("stream", stream)?;
            facts.set_item("field", field)?;
            facts.set_item("value", value)?;
            facts.set_item("multiple_of", multiple_of)
        }
        SimError::BeyondEnd {
            stream,
            end,
            size_bytes,
        } => {
            facts.set_item("stream", stream)?;
            facts.set_item("end", end)?;
            facts.set_item("size_bytes", size_bytes)
        }
        SimError::Log { source, .. } => facts.set_item("errno", source.errno()),
        _ => Ok(()),
    }
}

/// Returns the exception for a drive that cannot be served.
pub(crate) fn serving(py: Python<'_>, error: &ServeError) -> PyErr {
    let class = match error {
        ServeError::SocketExists(_) | ServeError::DataInUse(_) | ServeError::NotContents { .. } => {
            "Refused"
        }
        ServeError::SocketPathTooLong { .. } => "UsageError",
        _ => "HostError",
    };
    Raised {
        class,
        what: error.to_string(),
        advice: sentence(error.advice()),
        facts: PyDict::new(py),
    }
    .into_error()
}

/// Returns the exception for a profile that no drive can have.
pub(crate) fn profile(py: Python<'_>, error: &ProfileError) -> PyErr {
    let facts = PyDict::new(py);
    let filled = facts
        .set_item("field", &error.field)
        .and_then(|()| facts.set_item("value", &error.value));
    // If two figures contradict each other, `field` is a description in words.
    let wrong = if error.field.contains(' ') {
        "one of the two"
    } else {
        &error.field
    };
    let raised = Raised {
        class: "UsageError",
        what: error.to_string(),
        advice: format!("Correct {wrong}; see ssdlab sim show for a profile that works"),
        facts,
    };
    filled.map_or_else(|error| error, |()| raised.into_error())
}

/// Returns the exception for a simulated drive whose map does not fit into memory.
pub(crate) fn no_memory(py: Python<'_>, bytes: u64) -> PyErr {
    let facts = PyDict::new(py);
    let filled = facts.set_item("needed_bytes", bytes);
    let raised = Raised {
        class: "HostError",
        what: format!(
            "{NO_MEMORY}: it needs about {} MB and what a run takes",
            bytes.div_ceil(1_000_000)
        ),
        advice: "Make it smaller with scale=N, or stop other work".to_owned(),
        facts,
    };
    filled.map_or_else(|error| error, |()| raised.into_error())
}

/// Returns the exception for using a simulated drive while a run has it.
pub(crate) fn busy(py: Python<'_>, drive: &str) -> PyErr {
    Raised {
        class: "UsageError",
        what: format!("the simulated drive {drive} is being run"),
        advice: "Wait for the run's end, or run a fork of the drive".to_owned(),
        facts: PyDict::new(py),
    }
    .into_error()
}

/// Returns the exception for a state of another drive.
pub(crate) fn foreign_state(py: Python<'_>, drive: &str) -> PyErr {
    Raised {
        class: "UsageError",
        what: format!("the state is not one of this simulated drive, {drive}"),
        advice: "Restore what snapshot() of this drive, or of one forked from it, gave".to_owned(),
        facts: PyDict::new(py),
    }
    .into_error()
}

/// Returns the exception for a state that cannot be loaded or saved.
pub(crate) fn state(py: Python<'_>, error: &StateError, path: &Path) -> PyErr {
    let facts = PyDict::new(py);
    let filled = facts
        .set_item("path", path.as_os_str())
        .and_then(|()| state_facts(&facts, error));
    let (class, what) = match error {
        StateError::Io(_) => (
            "HostError",
            format!("the state {} cannot be kept: {error}", path.display()),
        ),
        _ => (
            "Refused",
            format!("{} cannot be taken up: {error}", path.display()),
        ),
    };
    let raised = Raised {
        class,
        what,
        advice: error.advice().to_owned(),
        facts,
    };
    filled.map_or_else(|error| error, |()| raised.into_error())
}

fn state_facts(facts: &Bound<'_, PyDict>, error: &StateError) -> PyResult<()> {
    let reason = match error {
        StateError::Io(error) => return facts.set_item("errno", error.raw_os_error()),
        StateError::Format { found, known } => {
            facts.set_item("found", found)?;
            facts.set_item("known", known)?;
            "state-format"
        }
        StateError::Differs {
            setting,
            found,
            asked,
        } => {
            facts.set_item("setting", setting)?;
            facts.set_item("found", found)?;
            facts.set_item("asked", asked)?;
            "state-differs"
        }
        StateError::NotAState => "no-state",
        _ => "state-corrupt",
    };
    facts.set_item("reason", reason)
}

/// Returns the exception for a simulation that panicked, which is a bug in this program.
pub(crate) fn panicked(py: Python<'_>, message: &str) -> PyErr {
    engine(
        py,
        &EngineError::Panicked {
            message: message.to_owned(),
        },
        None,
    )
}

/// Returns the exception for a log that cannot be created or read.
pub(crate) fn log(py: Python<'_>, error: &LogError) -> PyErr {
    let facts = PyDict::new(py);
    let (errno, advice) = match error {
        LogError::Io { errno, .. } => (*errno, "Check the path and its permissions"),
        LogError::NewerFormat { .. } => (
            None,
            "Read it with the version of ssdlab that wrote it, or a newer one",
        ),
        _ => (None, "Use the run's other attempts, or run the step again"),
    };
    let filled = facts.set_item("errno", errno);
    let raised = Raised {
        class: "HostError",
        what: error.to_string(),
        advice: advice.to_owned(),
        facts,
    };
    filled.map_or_else(|error| error, |()| raised.into_error())
}

/// Returns the exception for a target that has been closed.
pub(crate) fn closed(py: Python<'_>, path: &Path) -> PyErr {
    Raised {
        class: "UsageError",
        what: format!("{} is closed", path.display()),
        advice: "Open it again".to_owned(),
        facts: PyDict::new(py),
    }
    .into_error()
}

/// Returns what a stopped run raises: an interruption becomes `Interrupted`; any other exception stays as it is. The
/// caller has to say whether anything of the run is kept.
pub(crate) fn stopped(py: Python<'_>, error: PyErr) -> PyErr {
    if !error.is_instance_of::<PyKeyboardInterrupt>(py) {
        return error;
    }
    let interrupted = Raised {
        class: "Interrupted",
        what: "stopped by a signal; I/O in flight was drained".to_owned(),
        advice: "Run it again".to_owned(),
        facts: PyDict::new(py),
    }
    .into_error();
    interrupted.set_cause(py, Some(error));
    interrupted
}

/// Attaches the measurement to an exception of this package; any other exception stays as it is.
pub(crate) fn carrying(
    py: Python<'_>,
    error: PyErr,
    measurement: Option<Bound<'_, PyAny>>,
) -> PyErr {
    let ours = py
        .import("ssdlab.model.errors")
        .and_then(|errors| errors.getattr("LabError"))
        .and_then(|class| error.value(py).is_instance(&class));
    if let (Ok(true), Some(measurement)) = (ours, measurement)
        && let Err(failed) = error.value(py).setattr("measurement", measurement)
    {
        return failed;
    }
    error
}

/// Returns advice as Python's errors write it: with a capital letter.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}
