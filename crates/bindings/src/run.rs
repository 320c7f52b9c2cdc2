//! The one place where Python waits for a run.
//!
//! The run has threads of its own. The calling thread sleeps detached from the interpreter, so that other Python
//! threads go on. It wakes every 50 ms to check for signals, show progress and have closed rows judged. Any exception
//! raised meanwhile stops the run. It is raised again only when nothing is in flight any more.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use engine::{Control, EngineError, Options};
use metrics::LogWriter;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use serde_json::{Value, json};
use workload::Workload;

use crate::deadline::Deadline;
use crate::host::build;
use crate::measurement::Measurement;
use crate::progress::Snapshot;
use crate::row::Row;
use crate::signals::EndingSignals;
use crate::target::Target;
use crate::{errors, workloads};

/// How often signals, progress and rows are checked.
const TICK: Duration = Duration::from_millis(50);

/// Run a workload to its end and return what was measured; other Python threads go on meanwhile.
#[pyfunction]
#[pyo3(signature = (
    target, workload_json, *, log_path = None, keep_interval_histograms = false, on_tick = None, until = None, header = None,
    deadline = None, past_failures = false
))]
// The arguments of the stub, and `py`.
#[allow(clippy::too_many_arguments)]
pub(crate) fn run(
    py: Python<'_>,
    target: &Target,
    workload_json: &str,
    log_path: Option<PathBuf>,
    keep_interval_histograms: bool,
    on_tick: Option<Bound<'_, PyAny>>,
    until: Option<Bound<'_, PyAny>>,
    header: Option<&str>,
    deadline: Option<PyRef<'_, Deadline>>,
    past_failures: bool,
) -> PyResult<Measurement> {
    let workload = workloads::parse(py, workload_json)?;
    let held = target.held(py)?;
    let header = log_header(&workload, header)?;
    let log = log_path
        .map(LogWriter::create)
        .transpose()
        .map_err(|error| errors::log(py, &error))?;
    let options = Options {
        log,
        header,
        keep_interval_histograms,
        past_failures,
        ..Options::default()
    };
    let deadline = deadline.map(|each| each.held());
    let watch = Watch::new(py, &workload, on_tick, until, deadline);
    let device = target.path().to_owned();
    let asked = workload.clone();
    let (watched, ended) = watch.over(py, move |control, _nudge| {
        engine::run(&held, &asked, control, options)
    })?;
    let outcome = ended.unwrap_or_else(|message| Err(EngineError::Panicked { message }));
    let failure = outcome
        .as_ref()
        .err()
        .map(|error| errors::engine(py, error, Some(&device)));
    let measured = match outcome {
        Ok(outcome) => Some(outcome),
        Err(error) => error.into_measured(),
    };
    let measurement = measured
        .map(|outcome| Measurement::of_run(py, outcome, workload))
        .transpose()?;
    conclude(py, watched, failure, measurement)
}

/// Returns the header of a run's log: enough to read the log back without anything else.
pub(crate) fn log_header(workload: &Workload, owner: Option<&str>) -> PyResult<Value> {
    let owner: Option<Value> = owner
        .map(serde_json::from_str)
        .transpose()
        .map_err(|error| PyValueError::new_err(format!("header is not JSON: {error}")))?;
    Ok(json!({ "workload": workload, "build": build(), "owner": owner }))
}

/// Returns the measurement, or the exception, which carries what was measured until then.
pub(crate) fn conclude(
    py: Python<'_>,
    watched: PyResult<()>,
    failure: Option<PyErr>,
    measurement: Option<Measurement>,
) -> PyResult<Measurement> {
    let raised = match (watched, failure) {
        (Err(raised), _) => Some(errors::stopped(py, raised)),
        (Ok(()), failure) => failure,
    };
    match (raised, measurement) {
        (None, Some(measurement)) => Ok(measurement),
        (Some(raised), measurement) => {
            let measurement = measurement
                .map(|measured| Bound::new(py, measured))
                .transpose()?;
            Err(errors::carrying(
                py,
                raised,
                measurement.map(Bound::into_any),
            ))
        }
        (None, None) => unreachable!("a run gives a measurement or an error"),
    }
}

/// Wakes the waiting side before its next tick, because rows have closed and a run waits for their verdict.
pub(crate) type Nudge = Sender<()>;

/// A run on its own thread.
struct Job<T> {
    thread: JoinHandle<T>,
    done: Receiver<()>,
}

impl<T: Send + 'static> Job<T> {
    fn start(
        control: &Arc<Control>,
        run: impl FnOnce(&Arc<Control>, &Nudge) -> T + Send + 'static,
    ) -> Self {
        let control = Arc::clone(control);
        // Dropping the sender wakes the waiting side, even after a panic.
        let (nudge, done) = channel::<()>();
        let thread = thread::spawn(move || run(&control, &nudge));
        Self { thread, done }
    }

    /// Sleeps detached for a tick, or until nudged. Returns whether the run goes on.
    fn goes_on(&mut self, py: Python<'_>) -> bool {
        let done = &mut self.done;
        py.detach(move || done.recv_timeout(TICK)) != Err(RecvTimeoutError::Disconnected)
    }

    /// Waits for the end of the run, whatever signals arrive, because buffers must outlive the I/O in flight.
    fn join(self, py: Python<'_>) -> Result<T, String> {
        let panicked = |payload: Box<dyn std::any::Any + Send>| {
            let text = payload.downcast_ref::<&str>().map(ToString::to_string);
            text.or_else(|| payload.downcast_ref::<String>().cloned())
                .unwrap_or_else(|| "unknown".to_owned())
        };
        py.detach(|| self.thread.join()).map_err(panicked)
    }
}

/// State of the calling thread, which it uses on every tick.
pub(crate) struct Watch<'py> {
    control: Arc<Control>,
    names: Arc<[String]>,
    on_tick: Option<Bound<'py, PyAny>>,
    until: Option<Until<'py>>,
}

/// A condition on the closed rows that ends a run.
struct Until<'py> {
    condition: Bound<'py, PyAny>,
    /// All rows that have closed so far.
    rows: Bound<'py, PyList>,
}

impl<'py> Watch<'py> {
    pub(crate) fn new(
        py: Python<'py>,
        workload: &Workload,
        on_tick: Option<Bound<'py, PyAny>>,
        until: Option<Bound<'py, PyAny>>,
        deadline: Option<Arc<engine::Deadline>>,
    ) -> Self {
        let control = if until.is_some() {
            Control::judging()
        } else {
            Control::new()
        };
        let names = workload
            .streams
            .iter()
            .map(|stream| stream.name.clone())
            .collect();
        let until = until.map(|condition| Until {
            condition,
            rows: PyList::empty(py),
        });
        Self {
            control: Arc::new(control.until(deadline)),
            names,
            on_tick,
            until,
        }
    }

    /// Starts a run and waits for its end. Returns the exception raised meanwhile, if any. Also returns the result of
    /// the run, or the message of its panic.
    pub(crate) fn over<T: Send + 'static>(
        &self,
        py: Python<'py>,
        run: impl FnOnce(&Arc<Control>, &Nudge) -> T + Send + 'static,
    ) -> PyResult<(PyResult<()>, Result<T, String>)> {
        let signals = EndingSignals::catch(py)?;
        let mut job = Job::start(&self.control, run);
        let watched = self.until_done(py, &mut job);
        let ended = job.join(py);
        if watched.is_err() {
            // A second Ctrl-C while I/O drains says nothing new, and must not hide the measurement.
            let _ = py.check_signals();
        }
        signals.restore(py)?;
        Ok((watched, ended))
    }

    /// Ticks until the run is done. An exception stops the run first.
    fn until_done<T: Send + 'static>(&self, py: Python<'py>, job: &mut Job<T>) -> PyResult<()> {
        while job.goes_on(py) {
            self.tick(py).inspect_err(|_| self.control.stop())?;
        }
        // A signal that arrives with the end of the run is still an interruption.
        py.check_signals()
    }

    fn tick(&self, py: Python<'py>) -> PyResult<()> {
        py.check_signals()?;
        if let Some(on_tick) = &self.on_tick {
            on_tick.call1((Snapshot::new(self.control.progress(), &self.names),))?;
        }
        self.judge()
    }

    /// Asks the condition once for each newly closed row, in order. The first row that it accepts is the last of the result.
    fn judge(&self) -> PyResult<()> {
        let Some(until) = &self.until else {
            return Ok(());
        };
        let closed = self.control.take_rows();
        if closed.is_empty() {
            return Ok(());
        }
        let mut last = None;
        for row in closed {
            let index = row.index;
            until.rows.append(Row::new(row, &self.names))?;
            if until.condition.call1((&until.rows,))?.is_truthy()? {
                last = Some(index);
                break;
            }
        }
        self.control.verdict(last);
        Ok(())
    }
}
