//! Serves a simulated drive over NBD until a signal arrives.

use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use metrics::Quantile;
use nbd::clock::AfterPause;
use nbd::{
    Address, Alert, Backing, Calibration, Contents, Cost, Export, Limits, Listener, ServeError,
    Server, Summary,
};
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use serde::Serialize;

use crate::signals::EndingSignals;
use crate::simulated::SimulatedDrive;
use crate::{errors, json};

/// How often signals are checked.
const TICK: Duration = Duration::from_millis(50);

/// Where a drive is served, and at what cost.
#[derive(Debug, Serialize)]
struct Ready {
    socket: Option<PathBuf>,
    port: Option<u16>,
    depth_1_iops: f64,
    ceiling_iops: f64,
    measured_cost_ns: u64,
    cost_ns: u64,
    cost_after_pauses: Vec<PausedCost>,
    cost_per_mib_ns: u64,
    processors_kept_awake: bool,
    max_connections: usize,
    idle_limit_ns: u64,
}

/// Python callbacks of a running server.
struct Tell<'a, 'py> {
    /// Called when clients can connect.
    ready: Option<&'a Bound<'py, PyAny>>,
    /// Called when idle clients were dropped, with their number since the start.
    idle: Option<&'a Bound<'py, PyAny>>,
}

/// Cost of a command whose reply comes `pause_ns` after the previous reply.
#[derive(Debug, Serialize)]
struct PausedCost {
    pause_ns: u64,
    cost_ns: u64,
}

#[derive(Debug, Serialize)]
struct Served {
    ios: u64,
    reads: u64,
    writes: u64,
    trims: u64,
    flushes: u64,
    read_bytes: u64,
    written_bytes: u64,
    refused: u64,
    late: u64,
    dropped: u64,
    lateness_p50_ns: Option<u64>,
    lateness_p99_ns: Option<u64>,
    lateness_max_ns: Option<u64>,
    peak_iops: f64,
    elapsed_ns: u64,
    connections: u64,
    turned_away: u64,
    idle: u64,
    violations: u64,
    broken: u64,
}

impl Served {
    fn new(summary: &Summary) -> Self {
        let totals = summary.totals;
        let lateness = &summary.lateness;
        Self {
            ios: totals.ios(),
            reads: totals.reads,
            writes: totals.writes,
            trims: totals.trims,
            flushes: totals.flushes,
            read_bytes: totals.read_bytes,
            written_bytes: totals.written_bytes,
            refused: totals.refused,
            late: totals.late,
            dropped: totals.dropped,
            lateness_p50_ns: lateness.quantile_ns(Quantile::P50),
            lateness_p99_ns: lateness.quantile_ns(Quantile::P99),
            lateness_max_ns: lateness.max_ns(),
            peak_iops: summary.peak_iops,
            elapsed_ns: summary.elapsed_ns,
            connections: totals.connections,
            turned_away: totals.turned_away,
            idle: totals.idle,
            violations: totals.violations,
            broken: totals.broken,
        }
    }
}

/// Serve a drive until a signal arrives, and return what was served.
#[pyfunction]
#[pyo3(signature = (
    drive, *, name, capacity_bytes, logical_block_bytes, socket = None, port = None, data = None, contents_seed = None,
    memory_bytes = 4 << 30, cost_ns = None, on_ready = None, on_idle = None
))]
// The arguments of the stub, and `py`; Python passes objects by value.
#[allow(clippy::too_many_arguments, clippy::needless_pass_by_value)]
pub(crate) fn serve<'py>(
    py: Python<'py>,
    drive: Option<&SimulatedDrive>,
    name: &str,
    capacity_bytes: u64,
    logical_block_bytes: u32,
    socket: Option<PathBuf>,
    port: Option<u16>,
    data: Option<PathBuf>,
    contents_seed: Option<u64>,
    memory_bytes: u64,
    cost_ns: Option<u64>,
    on_ready: Option<Bound<'py, PyAny>>,
    on_idle: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let address = match (socket, port) {
        (Some(path), None) => Address::Unix(path),
        (None, Some(port)) => Address::Loopback(port),
        _ => return Err(PyValueError::new_err("give either socket or port")),
    };
    let contents = match (data, contents_seed) {
        (None, None) => Ok(Contents::in_memory(memory_bytes)),
        (None, Some(seed)) => Ok(Contents::seeded(seed, memory_bytes)),
        (Some(path), None) => Contents::in_file(&path, capacity_bytes, memory_bytes),
        _ => return Err(PyValueError::new_err("give either data or contents_seed")),
    };
    let export = Export {
        name: name.to_owned(),
        description: format!("simulated drive {name}"),
        size_bytes: capacity_bytes,
        block_bytes: logical_block_bytes,
    };
    let backing = drive.map_or(Backing::Fixed(0), |drive| {
        Backing::Simulated(drive.shared())
    });
    // Held from before the calibration until the end.
    let alert = Alert::ask();
    let started = contents
        .and_then(|contents| py.detach(|| start(address, export, contents, backing, cost_ns)));
    let (server, calibration, cost) = started.map_err(|error| errors::serving(py, &error))?;
    let ready = ready(server.address(), &calibration, &cost, &alert);
    let tell = Tell {
        ready: on_ready.as_ref(),
        idle: on_idle.as_ref(),
    };
    let raised = until_signal(py, &server, &ready, &tell);
    let summary = py.detach(|| server.stop());
    // A second Ctrl-C while replies drain says nothing new.
    let _ = py.check_signals();
    raised?;
    let summary = summary.map_err(|error| errors::serving(py, &error))?;
    json::to_python(py, &Served::new(&summary))
}

fn start(
    address: Address,
    export: Export,
    contents: Contents,
    backing: Backing,
    cost_ns: Option<u64>,
) -> Result<(Server, Calibration, Cost), ServeError> {
    let listener = Listener::open(address)?;
    let calibration = Calibration::measure(listener.address())?;
    let measured = calibration.cost.clone();
    let per_mib_ns = measured.per_mib_ns();
    let cost = cost_ns.map_or(measured, |given_ns| Cost::fixed(given_ns, per_mib_ns));
    let server = Server::start(
        listener,
        export,
        contents,
        backing,
        cost.clone(),
        Limits::default(),
    )?;
    Ok((server, calibration, cost))
}

/// Waits detached for a signal, which ends the server. Any other exception is returned.
fn until_signal(
    py: Python<'_>,
    server: &Server,
    ready: &Ready,
    tell: &Tell<'_, '_>,
) -> PyResult<()> {
    let signals = EndingSignals::catch(py)?;
    let raised = wait(py, server, ready, tell);
    signals.restore(py)?;
    match raised {
        Err(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) => Ok(()),
        other => other,
    }
}

fn wait(py: Python<'_>, server: &Server, ready: &Ready, tell: &Tell<'_, '_>) -> PyResult<()> {
    if let Some(on_ready) = tell.ready {
        on_ready.call1((json::to_python(py, ready)?,))?;
    }
    let mut told = 0;
    loop {
        py.check_signals()?;
        let idle = server.totals().idle;
        if idle > told
            && let Some(on_idle) = tell.idle
        {
            on_idle.call1((idle,))?;
            told = idle;
        }
        py.detach(|| thread::sleep(TICK));
    }
}

fn ready(address: &Address, calibration: &Calibration, cost: &Cost, alert: &Alert) -> Ready {
    let limits = Limits::default();
    let (socket, port) = match address {
        Address::Unix(path) => (Some(path.clone()), None),
        Address::Loopback(port) => (None, Some(*port)),
    };
    Ready {
        socket,
        port,
        depth_1_iops: calibration.depth_1_iops,
        ceiling_iops: calibration.ceiling_iops,
        measured_cost_ns: calibration.cost.of(0),
        cost_ns: cost.of(0),
        cost_after_pauses: after_pauses(cost),
        cost_per_mib_ns: cost.per_mib_ns(),
        processors_kept_awake: alert.is_granted(),
        max_connections: limits.connections,
        idle_limit_ns: limits.idle.as_nanos() as u64,
    }
}

fn after_pauses(cost: &Cost) -> Vec<PausedCost> {
    let told = |point: &AfterPause| PausedCost {
        pause_ns: point.pause_ns,
        cost_ns: point.command_ns,
    };
    cost.by_pause().iter().map(told).collect()
}
