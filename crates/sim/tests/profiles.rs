//! Profiles: what no drive can be is refused, and every part of a profile shows in what its drive does.

#[path = "profiles/bounds.rs"]
mod bounds;
#[path = "profiles/features.rs"]
mod features;

use metrics::Measurement;
use serde_json::json;
use sim::{AnyDrive, Options, Profile, Size, Unattended};
use workload::Workload;

const TINY: &str = include_str!("../../../python/ssdlab/profiles/tiny-test.toml");
const SATA: &str = include_str!("../../../python/ssdlab/profiles/sata-tlc-enterprise.toml");

/// What parsing says when one figure is another.
fn refusal(key: &str, value: &str) -> String {
    let mut lines: Vec<String> = TINY.lines().map(str::to_owned).collect();
    let line = lines
        .iter_mut()
        .rfind(|line| line.starts_with(&format!("{key} = ")))
        .unwrap();
    *line = format!("{key} = {{ value = {value}, source = \"fitted\" }}");
    Profile::parse(&lines.join("\n")).unwrap_err().to_string()
}

#[test]
fn what_cannot_be_is_refused_with_the_field_and_why() {
    for (key, value, field, why) in [
        ("channels", "0", "flash.channels", "must be 1 to 64"),
        ("page_kib", "6", "flash.page_kib", "multiple of 4"),
        (
            "pages_per_block",
            "767",
            "flash.pages_per_block",
            "multiple of bits_per_cell",
        ),
        (
            "capacity_bytes",
            "20480000000",
            "capacity_bytes",
            "spare below zero",
        ),
        (
            "capacity_bytes",
            "19701760000",
            "capacity_bytes",
            "no spare is left",
        ),
        ("program_us", "-1.0", "flash.program_us", "above 0"),
        ("erase_ms", "nan", "flash.erase_ms", "above 0"),
        ("read_us", "[]", "flash.read_us", "1 to 4 page types"),
        ("size_mib", "0.1", "buffer.size_mib", "two word lines"),
        (
            "logical_block_bytes",
            "520",
            "logical_block_bytes",
            "512 or 4096",
        ),
        ("rule", "\"best\"", "profile", "unknown variant"),
        (
            "rule",
            "{ d-choices = 0 }",
            "collection.rule.d-choices",
            "must be 1",
        ),
    ] {
        let said = refusal(key, value);
        assert!(
            said.starts_with(field) && said.contains(why),
            "{key} = {value}: {said}"
        );
    }
}

#[test]
fn unknown_keys_and_missing_units_and_sources_are_refused() {
    for (from, to, why) in [
        ("program_us", "program", "unknown field `program`"),
        (
            "[controller]",
            "[controller]\niops = { value = 1, source = \"fitted\" }",
            "unknown field `iops`",
        ),
        (
            "erase_ms = { value = 5.0, source = \"recalled\" }",
            "",
            "missing field `erase_ms`",
        ),
        (
            "erase_ms = { value = 5.0, source = \"recalled\" }",
            "erase_ms = { value = 5.0 }",
            "missing field `source`",
        ),
        (
            "erase_ms = { value = 5.0, source = \"recalled\" }",
            "erase_ms = { value = 5.0, source = \"guess\" }",
            "unknown variant",
        ),
    ] {
        let said = Profile::parse(&TINY.replacen(from, to, 1))
            .unwrap_err()
            .to_string();
        assert!(
            said.contains(why) && said.contains("line"),
            "{from}: {said}"
        );
    }
}

#[test]
fn scale_keeps_spare_dies_and_superblocks() {
    let profile = Profile::parse(SATA).unwrap();
    let whole = profile.spec(Size::default()).unwrap();
    for scale in [4, 16, 64] {
        let small = profile.spec(Size { scale, spare: None }).unwrap();
        assert_eq!(small.geometry.dies(), whole.geometry.dies());
        assert_eq!(small.geometry.superblocks, whole.geometry.superblocks);
        assert_eq!(
            small.geometry.raw_bytes() * u64::from(scale),
            whole.geometry.raw_bytes()
        );
        assert_eq!(small.erase_every, whole.erase_every * scale);
        assert!(whole.user_bytes - small.user_bytes * u64::from(scale) < u64::from(scale) * 4096);
    }
    let refused = profile
        .spec(Size {
            scale: 3,
            spare: None,
        })
        .unwrap_err();
    assert!(
        refused.to_string().contains("the largest that does is 128"),
        "{refused}"
    );
    let spare = profile
        .spec(Size {
            scale: 64,
            spare: Some(0.28),
        })
        .unwrap();
    let ratio = 1.0 - spare.user_bytes as f64 / spare.geometry.raw_bytes() as f64;
    assert!((ratio - 0.28).abs() < 1e-5, "{ratio}");
}

/// A closed loop over the first `bytes` of a drive, until it has moved `amount` bytes.
fn closed_loop(bytes: u64, sequential: bool, read_pct: u32, workers: u32, amount: u64) -> Workload {
    let block = if sequential { 131_072 } else { 4096 };
    let pattern = if sequential {
        json!({"sequential": {"cursors": null}})
    } else {
        json!("uniform")
    };
    let workload = json!({
        "seed": 1, "interval_ns": 1_000_000_000, "ramp_ns": 0,
        "streams": [{
            "name": "main", "ops": {"mix": {"read_pct": read_pct}},
            "block": [{"bytes": block, "weight": 1}], "pattern": pattern,
            "span": {"start": 0, "length": bytes / 131_072 * 131_072}, "workers": workers, "depth": 1,
            "engine": "sync", "batch": null, "polled": false, "arrival": {"closed": {"think_ns": 0}},
            "compressible_pct": 0, "direct": true, "dsync": false, "flush_every": null, "cpus": [],
            "stop": {"time_ns": null, "bytes": amount, "ios": null, "span_once": false}, "log_ios": false
        }]
    });
    serde_json::from_value(workload).unwrap()
}

fn measured(drive: &mut AnyDrive, workload: &Workload) -> Measurement {
    drive
        .run(workload, &mut Unattended, Options::default())
        .unwrap()
        .measurement
}
