//! Profiles: impossible ones are refused, and every part of a profile shows in what its drive does.

mod bounds;
mod contradictions;
mod features;
mod flushes;
mod links_and_dies;

use metrics::Measurement;
use serde_json::json;
use sim::{AnyDrive, Options, Profile, Size, Unattended};
use workload::Workload;

const TINY: &str = include_str!("../../../../python/ssdlab/profiles/tiny-test.toml");
const SATA: &str = include_str!("../../../../python/ssdlab/profiles/sata-tlc-enterprise.toml");

/// The error for a profile with one figure replaced.
fn refusal(key: &str, value: &str) -> String {
    let mut lines: Vec<String> = TINY.lines().map(str::to_owned).collect();
    let line = lines
        .iter_mut()
        .rfind(|line| line.starts_with(&format!("{key} = ")))
        .unwrap();
    *line = format!("{key} = {{ value = {value}, source = \"chosen\" }}");
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
            "multiple of flash.bits_per_cell",
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
        ("rule", "\"best\"", "collection.rule", "unknown variant"),
        (
            "bits_per_cell",
            "5",
            "flash.pages_per_block is 768",
            "flash.bits_per_cell, which is 5",
        ),
        (
            "reserve_pct",
            "40.0",
            "capacity_bytes",
            "collection.reserve_pct of 40 %",
        ),
        (
            "program_us",
            "20.0",
            "the transfer of a word line of all planes is 130",
            "flash.program_us of 20 us",
        ),
        ("cores", "-1", "controller.cores is -1", "a whole number"),
        (
            "cores",
            "\"4\"",
            "controller.cores is \"4\"",
            "expected a whole number that is not negative",
        ),
        ("erase_ms", "true", "flash.erase_ms is true", "a number"),
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
            "[controller]\niops = { value = 1, source = \"chosen\" }",
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
            "flash.erase_ms.source is \"guess\": unknown variant",
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
fn a_fitted_figure_says_to_what_and_no_other_does() {
    let erase = |rest: &str| {
        let from = "erase_ms = { value = 5.0, source = \"recalled\" }";
        Profile::parse(&TINY.replacen(from, &format!("erase_ms = {{ value = 5.0, {rest} }}"), 1))
    };
    for (rest, why) in [
        ("source = \"fitted\"", "does not say to what: add fitted_to"),
        (
            "source = \"fitted\", fitted_to = \" \"",
            "does not say to what",
        ),
        (
            "source = \"recalled\", fitted_to = \"a rating\"",
            "only a figure with source = \"fitted\"",
        ),
    ] {
        let said = erase(rest).unwrap_err().to_string();
        assert!(
            said.starts_with("flash.erase_ms is 5") && said.contains(why),
            "{rest}: {said}"
        );
    }
    let fitted = erase("source = \"fitted\", fitted_to = \"rated writes\"").unwrap();
    let flash = fitted.flash.as_ref().unwrap();
    assert_eq!(flash.erase_ms.fitted_to.as_deref(), Some("rated writes"));
    // Tables in lists are checked too.
    let thermal =
        bounds::THERMAL.replacen("source = \"chosen\" }\n[[", "source = \"fitted\" }\n[[", 9);
    let said = Profile::parse(&format!("{TINY}{}{thermal}", bounds::POWER)).unwrap_err();
    assert_eq!(said.field, "thermal.throttle.cap_w");
}

#[test]
fn flash_is_near_the_table_of_its_generation() {
    let table = sim::profile::generations();
    assert!(
        table
            .iter()
            .all(|each| each.program_us() > 0.0 && !each.source.is_empty())
    );
    let named = TINY.replacen(
        "[flash]",
        "[flash]\nnand = { value = \"64l-tlc-bics\", source = \"chosen\" }",
        1,
    );
    let with = |from: &str, to: &str| {
        let text = named.replacen(from, to, 1);
        assert_ne!(text, named, "{from}");
        Profile::parse(&text).map_err(|error| error.to_string())
    };
    assert_eq!(
        Profile::parse(&named).unwrap().generation().unwrap().name,
        "64l-tlc-bics"
    );
    assert!(
        with(
            "program_us = { value = 1700.0",
            "program_us = { value = 2210.0"
        )
        .is_ok()
    );
    for (from, to, why) in [
        (
            "program_us = { value = 1700.0",
            "program_us = { value = 2211.0",
            "flash.program_us is 2211: more than 30 % from the 1700 us",
        ),
        (
            "bus_mt_s = { value = 800.0",
            "bus_mt_s = { value = 466.0",
            "flash.bus_mt_s is 466: more than 30 % from the 667 MT/s",
        ),
        (
            "64l-tlc-bics",
            "65l",
            "flash.nand is 65l: no generation of that name; there are 21nm",
        ),
        (
            "64l-tlc-bics",
            "64l-qlc-imft",
            "flash.bits_per_cell is 3: 64l-qlc-imft has 4",
        ),
    ] {
        let said = with(from, to).unwrap_err();
        assert!(said.contains(why), "{to}: {said}");
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
        refused.to_string().contains("the largest that does is 256"),
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

/// A closed loop over the first `bytes` of a drive, until `amount` bytes have been transferred.
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
