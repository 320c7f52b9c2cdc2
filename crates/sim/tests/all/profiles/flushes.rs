//! Latency of flushes on the drives of the bundled profiles.

use metrics::Quantile;
use serde_json::json;
use sim::profile::spec::DriveSpec;
use sim::{AnyDrive, Profile, Size};
use workload::Workload;

use crate::drives::{UNIT, assert_within};
use crate::profiles::measured;

const TLC: &str = include_str!("../../../../../python/ssdlab/profiles/nvme-tlc-client.toml");
const QLC: &str = include_str!("../../../../../python/ssdlab/profiles/nvme-qlc-client.toml");
const DRAMLESS: &str = include_str!("../../../../../python/ssdlab/profiles/dramless-client.toml");
const SAFE: &str = include_str!("../../../../../python/ssdlab/profiles/nvme-tlc-enterprise.toml");

/// Flushes of a run: a hundred lie beyond the 99th percentile.
const FLUSHES: u64 = 10_000;

/// Sequential writes of one unit each, with a flush after every `every` of them.
fn in_order(every: u64) -> Workload {
    let text = json!({
        "seed": 1, "interval_ns": 1_000_000_000, "ramp_ns": 0,
        "streams": [{
            "name": "main", "ops": {"mix": {"read_pct": 0}},
            "block": [{"bytes": UNIT, "weight": 1}], "pattern": {"sequential": {"cursors": null}},
            "span": {"start": 0, "length": every * FLUSHES * UNIT}, "workers": 1, "depth": 1,
            "engine": "sync", "batch": null, "polled": false, "arrival": {"closed": {"think_ns": 0}},
            "compressible_pct": 0, "direct": true, "dsync": false, "flush_every": every, "cpus": [],
            "stop": {"time_ns": null, "bytes": null, "ios": every * FLUSHES, "span_once": false},
            "log_ios": false
        }]
    });
    serde_json::from_value(text).unwrap()
}

/// The closed form of MODEL.md ("Durability") for `units` units in the open word line, on a die whose programs take `factor`
/// times as long.
fn flush_ns(spec: &DriveSpec, units: u64, factor: f64) -> f64 {
    let (host, timing, options) = (&spec.host, &spec.timing, &spec.options);
    let command_ns = host.command_ns + host.write_core_ns;
    if spec.power_loss_protection {
        return command_ns as f64;
    }
    let per_page = u64::from(spec.geometry.planes * spec.geometry.page_bytes) / UNIT;
    let bus_ns = units.div_ceil(per_page) * timing.command_ns + units * timing.unit_transfer_ns;
    let program_ns = options.slc.map_or(timing.program_ns, |slc| slc.program_ns);
    (command_ns + bus_ns + options.commit_ns) as f64 + program_ns as f64 * factor
}

/// 99th percentile of the flushes of a new drive, measured and by the closed form with the 99th percentile of the block
/// factors.
fn p99_and_model(text: &str, every: u64, spread: bool) -> (f64, f64) {
    let mut profile = Profile::parse(text).unwrap();
    profile.spread = profile.spread.filter(|_| spread);
    let size = Size {
        scale: 16,
        ..Size::default()
    };
    let spec = profile.spec(size).unwrap();
    let mut drive = AnyDrive::new(&profile, size, 0).unwrap();
    let flushes = measured(&mut drive, &in_order(every)).flush();
    assert_eq!((flushes.done, flushes.service.count()), (FLUSHES, FLUSHES));
    let sigma = spec.options.spread.map_or(0.0, |spread| {
        f64::from(spread.block_sigma_milli).hypot(f64::from(spread.die_sigma_milli)) / 1000.0
    });
    let p99 = flushes.service.quantile_ns(Quantile::P99).unwrap() as f64;
    (p99, flush_ns(&spec, every, (2.326 * sigma).exp()))
}

#[test]
fn p99_follows_the_closed_form() {
    for (name, text) in [
        ("tlc", TLC),
        ("qlc", QLC),
        ("dramless", DRAMLESS),
        ("safe", SAFE),
    ] {
        for every in [1, 4] {
            let (p99, model) = p99_and_model(text, every, false);
            assert_within(&format!("{name} {every}, alike"), p99, model, 1e-9);
            // A few hundred blocks are written, so their factors are a small sample.
            let (p99, model) = p99_and_model(text, every, true);
            assert_within(&format!("{name} {every}"), p99, model, 0.02);
        }
    }
}
