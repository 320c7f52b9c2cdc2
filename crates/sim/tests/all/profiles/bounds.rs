//! Impossible values in the optional tables are refused.

use super::TINY;
use sim::Profile;

pub const SLC: &str = r#"
[slc_cache]
mode = { value = "static", source = "chosen" }
size_gb = { value = 0.4, source = "chosen" }
when_full = { value = "fold", source = "chosen" }
read_us = { value = 30.0, source = "recalled" }
program_us = { value = 250.0, source = "recalled" }
"#;
pub const POWER: &str = r#"
[power]
idle_mw = { value = 1500, source = "chosen" }
die_read_mw = { value = 120, source = "recalled" }
die_program_mw = { value = 200, source = "recalled" }
die_erase_mw = { value = 100, source = "recalled" }
transfer_nj = { value = 600.0, source = "recalled" }
command_uj = { value = 1.5, source = "recalled" }
link_pj_per_byte = { value = 120.0, source = "recalled" }
window_ms = { value = 1.0, source = "recalled" }
states_w = { value = [8.0, 3.0], source = "chosen" }
"#;
pub const THERMAL: &str = r#"
[thermal]
ambient_c = { value = 30.0, source = "chosen" }
resistance_k_per_w = { value = 10.0, source = "chosen" }
time_constant_s = { value = 4.0, source = "chosen" }
[[thermal.throttle]]
above_c = { value = 70.0, source = "chosen" }
until_c = { value = 66.0, source = "chosen" }
cap_w = { value = 4.0, source = "chosen" }
[[thermal.throttle]]
above_c = { value = 75.0, source = "chosen" }
until_c = { value = 72.0, source = "chosen" }
cap_w = { value = 2.0, source = "chosen" }
"#;
/// The thermal model with a graded limit.
pub const GRADED: &str = r#"
[thermal]
ambient_c = { value = 30.0, source = "chosen" }
resistance_k_per_w = { value = 10.0, source = "chosen" }
time_constant_s = { value = 4.0, source = "chosen" }
[thermal.graded]
from_c = { value = 60.0, source = "chosen" }
from_w = { value = 6.0, source = "chosen" }
to_c = { value = 75.0, source = "chosen" }
to_w = { value = 2.0, source = "chosen" }
"#;
const SPREAD: &str = r#"
[spread]
block_sigma_pct = { value = 6.0, source = "recalled" }
die_sigma_pct = { value = 2.0, source = "recalled" }
[spread.retry]
per_million = { value = 1000, source = "chosen" }
at_most = { value = 5, source = "chosen" }
first_pct = { value = 100, source = "chosen" }
step_pct = { value = 50, source = "chosen" }
"#;
pub const MAPPING: &str = r#"
[mapping]
cache_mib = { value = 4.0, source = "chosen" }
"#;
const STOPS: &str = r#"
[housekeeping]
every_mib = { value = 16.0, source = "chosen" }
pause_ms = { value = 0.5, source = "chosen" }
"#;
const UNITS: &str = r#"
[mapping]
unit_kib = { value = 16, source = "chosen" }
"#;
const IDLE: &str = r#"
[idle]
after_ms = { value = 500.0, source = "chosen" }
free_pct = { value = 2.0, source = "chosen" }
"#;
const WEAR: &str = r#"
[wear]
dynamic = { value = true, source = "chosen" }
static_after_erases = { value = 50, source = "chosen" }
"#;
/// A whole profile with another medium.
pub const XPOINT: &str = r#"
name = "xp"
about = "a medium written in place"
capacity_bytes = { value = 14998831104, source = "chosen" }
logical_block_bytes = { value = 512, source = "chosen" }
[link]
protocol = { value = "nvme", source = "chosen" }
bandwidth_mb_s = { value = 3200.0, source = "physics" }
command_us = { value = 1.5, source = "recalled" }
[controller]
cores = { value = 1, source = "recalled" }
read_us = { value = 1.8, source = "recalled" }
write_us = { value = 1.8, source = "recalled" }
[buffer]
size_mib = { value = 1.0, source = "chosen" }
power_loss_protection = { value = true, source = "chosen" }
write_cache = { value = false, source = "physics", note = "there is none" }
[xpoint]
channels = { value = 7, source = "data-sheet" }
dies_per_channel = { value = 2, source = "chosen" }
die_mib = { value = 1024, source = "chosen" }
read_us = { value = 5.0, source = "recalled" }
write_us = { value = 5.5, source = "recalled" }
bus_mt_s = { value = 4096.0, source = "chosen" }
bus_overhead_pct = { value = 0.0, source = "chosen" }
command_us = { value = 0.1, source = "chosen" }
deferral_limit_ms = { value = 1.0, source = "chosen" }
"#;

/// Replaces the last figure of this key.
pub fn changed(text: &str, key: &str, value: &str) -> String {
    let start = format!("{key} = ");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let line = lines.iter_mut().rfind(|line| line.starts_with(&start));
    *line.unwrap() = match value {
        "" => String::new(),
        value => format!("{key} = {{ value = {value}, source = \"chosen\" }}"),
    };
    lines.join("\n") + "\n"
}

fn refusal(tables: &str) -> String {
    let said = Profile::parse(&format!("{TINY}{tables}"));
    said.unwrap_err().to_string()
}

#[test]
fn all_tables_together_are_a_drive() {
    let all = [SLC, POWER, THERMAL, SPREAD, MAPPING, IDLE, WEAR].concat();
    let text = format!("trim = {{ value = \"ignored\", source = \"chosen\" }}\n{TINY}{all}");
    let profile = Profile::parse(&text).unwrap();
    let again = serde_json::to_value(&profile).unwrap();
    assert_eq!(serde_json::from_value::<Profile>(again).unwrap(), profile);
    Profile::parse(XPOINT).unwrap();
}

#[test]
fn a_figure_that_cannot_be_is_refused_with_its_field_and_why() {
    let thermal = [POWER, THERMAL].concat();
    for (tables, key, value, field, why) in [
        (SLC, "size_gb", "0.0", "slc_cache.size_gb", "above 0"),
        (SLC, "size_gb", "2.0", "slc_cache.size_gb", "spare area"),
        (
            &thermal,
            "until_c",
            "65.0",
            "thermal.throttle.until_c",
            "rising temperature",
        ),
        (
            &thermal,
            "until_c",
            "80.0",
            "thermal.throttle.until_c",
            "below above_c",
        ),
        (
            &thermal,
            "until_c",
            "40.0",
            "thermal.throttle.until_c",
            "when idle",
        ),
        (
            &thermal,
            "cap_w",
            "5.0",
            "thermal.throttle.cap_w",
            "falling power",
        ),
        (
            &thermal,
            "cap_w",
            "1.0",
            "thermal.throttle.cap_w",
            "below what the drive draws",
        ),
        (
            &thermal,
            "time_constant_s",
            "0.0",
            "thermal.time_constant_s",
            "above 0",
        ),
        (THERMAL, "cap_w", "4.0", "thermal", "[power] is missing"),
        (
            SPREAD,
            "block_sigma_pct",
            "-1.0",
            "spread.block_sigma_pct",
            "0 to 50",
        ),
        (
            SPREAD,
            "per_million",
            "500001",
            "spread.retry.per_million",
            "at most 500000",
        ),
        (
            STOPS,
            "every_mib",
            "0.0",
            "housekeeping.every_mib",
            "above 0",
        ),
        (
            STOPS,
            "every_mib",
            "0.5",
            "housekeeping.every_mib",
            "at least 1",
        ),
        (
            STOPS,
            "pause_ms",
            "-1.0",
            "housekeeping.pause_ms",
            "above 0",
        ),
        (SPREAD, "at_most", "0", "spread.retry.at_most", "must be 1"),
        (MAPPING, "cache_mib", "0.0", "mapping.cache_mib", "above 0"),
        (IDLE, "after_ms", "-5.0", "idle.after_ms", "above 0"),
        (IDLE, "free_pct", "90.0", "idle.free_pct", "0 to 50"),
        (
            WEAR,
            "static_after_erases",
            "0",
            "wear.static_after_erases",
            "must be 1",
        ),
    ] {
        let said = refusal(&changed(tables, key, value));
        assert!(
            said.starts_with(field) && said.contains(why),
            "{key} = {value}: {said}"
        );
    }
}

#[test]
fn a_graded_limit_falls_with_temperature_and_stands_alone() {
    let graded = [POWER, GRADED].concat();
    Profile::parse(&format!("{TINY}{graded}")).unwrap();
    for (key, value, why) in [
        ("from_c", "40.0", "when idle"),
        ("to_c", "60.0", "above from_c, 60"),
        ("to_c", "300.0", "must be 0 to 200"),
        ("from_w", "1.0", "below what the drive draws"),
        ("to_w", "1.0", "below what the drive draws"),
        ("to_w", "6.0", "below from_w, 6"),
        ("from_w", "9.0", "power.states_w of 8 W"),
    ] {
        let said = refusal(&changed(&graded, key, value));
        assert!(
            said.starts_with(&format!("thermal.graded.{key} is")) && said.contains(why),
            "{key} = {value}: {said}"
        );
    }
    let points = THERMAL.split_once("[[").unwrap().1;
    let said = refusal(&format!("{graded}[[{points}"));
    assert!(
        said.starts_with("thermal.graded is there: goes without points"),
        "{said}"
    );
}

#[test]
fn a_mapping_unit_divides_the_page_of_all_planes() {
    for value in ["0", "12", "128"] {
        let said = refusal(&changed(UNITS, "unit_kib", value));
        let field = format!("mapping.unit_kib is {value}: must be 4, 8, 16, 32 or 64");
        assert!(said.starts_with(&field), "{said}");
    }
    let said = refusal(&changed(UNITS, "unit_kib", "64"));
    let why = "page of all planes, 32 KiB (flash.planes of 2, flash.page_kib of 16)";
    assert!(
        said.starts_with("mapping.unit_kib is 64") && said.contains(why),
        "{said}"
    );
}

#[test]
fn changes_of_a_map_have_a_part_of_its_memory() {
    let changes =
        |mib| format!("{MAPPING}changes_mib = {{ value = {mib}, source = \"chosen\" }}\n");
    for (tables, field, why) in [
        (changes("0.0"), "changes_mib is 0", "must be above 0"),
        (
            changes("4.5"),
            "changes_mib is 4.5 MiB",
            "cache_mib of 4 MiB",
        ),
        (
            MAPPING.replace("cache_mib", "changes_mib"),
            "changes_mib is 4",
            "mapping.cache_mib, which is missing",
        ),
    ] {
        let said = refusal(&tables);
        assert!(
            said.starts_with(&format!("mapping.{field}")) && said.contains(why),
            "{said}"
        );
    }
    Profile::parse(&format!("{TINY}{}", changes("4.0"))).unwrap();
}

#[test]
fn parts_of_units_leave_the_buffer_room_for_word_lines() {
    let held = "\nwrite_contexts = { value = 1024, source = \"chosen\" }\n[flash]\n";
    let text = TINY.replacen("\n[flash]\n", held, 1);
    Profile::parse(&text).unwrap();
    let said = Profile::parse(&format!("{text}{UNITS}"))
        .unwrap_err()
        .to_string();
    let why = "contradicts buffer.size_mib of 8: with the open word lines it must hold as many mapping units of 16384 bytes";
    assert!(
        said.starts_with("buffer.write_contexts is 1024") && said.contains(why),
        "{said}"
    );
    for contexts in ["0", "1025"] {
        let text = changed(&text, "write_contexts", contexts);
        let said = Profile::parse(&text).unwrap_err().to_string();
        let field = format!("buffer.write_contexts is {contexts}: must be 1 to 1024");
        assert!(said.starts_with(&field), "{said}");
    }
}

#[test]
fn what_does_not_go_together_is_refused() {
    let by_planes =
        "[mapping]\nplacement = { value = \"static-cwdp\", source = \"chosen\" }\n".to_owned();
    let dynamic = changed(SLC, "mode", "\"dynamic\"");
    let percent = "pct_of_empty = { value = 50, source = \"chosen\" }\n";
    let direct = changed(SLC, "when_full", "\"direct\"");
    for (tables, field, why) in [
        (dynamic.clone(), "slc_cache.pct_of_empty", "needs to know"),
        (
            format!("{SLC}{percent}"),
            "slc_cache.pct_of_empty",
            "static",
        ),
        (
            changed(&format!("{dynamic}{percent}"), "size_gb", "10.0"),
            "slc_cache.size_gb",
            "never gets so large",
        ),
        (direct, "slc_cache.when_full", "without [idle]"),
        (
            format!("{by_planes}{SLC}"),
            "slc_cache",
            "dynamic placement only",
        ),
        (
            format!("{by_planes}{IDLE}"),
            "idle",
            "dynamic placement only",
        ),
        (
            format!("{by_planes}{}", &UNITS[UNITS.find("unit").unwrap()..]),
            "mapping.unit_kib",
            "dynamic placement only",
        ),
        (
            format!("{MAPPING}iops = 3\n"),
            "profile",
            "unknown field `iops`",
        ),
        ("[cache]\n".to_owned(), "profile", "unknown field `cache`"),
        (
            "[mapping]\ncache_mib = 4\n".to_owned(),
            "mapping.cache_mib is 4: invalid type",
            "expected { value = ..., source = ... }",
        ),
        (
            XPOINT[XPOINT.find("[xpoint]").unwrap()..].to_owned(),
            "xpoint",
            "one medium",
        ),
    ] {
        let said = refusal(&tables);
        assert!(
            said.starts_with(field) && said.contains(why),
            "{tables}: {said}"
        );
    }
    for (text, field, why) in [
        (format!("{XPOINT}{SLC}"), "slc_cache", "written in place"),
        (format!("{XPOINT}{MAPPING}"), "mapping", "written in place"),
        (
            format!("{XPOINT}{STOPS}"),
            "housekeeping",
            "written in place",
        ),
        (
            XPOINT.replace(
                "[xpoint]",
                "[controller.move_us]\nvalue = 6.0\nsource = \"chosen\"\n[xpoint]",
            ),
            "controller.move_us",
            "written in place",
        ),
        (
            changed(XPOINT, "capacity_bytes", "15000000001"),
            "capacity_bytes",
            "multiple of 4096",
        ),
        (
            changed(XPOINT, "capacity_bytes", "15036710912"),
            "capacity_bytes",
            "spare below zero",
        ),
        (
            XPOINT[..XPOINT.find("[xpoint]").unwrap()].to_owned(),
            "flash",
            "needs a medium",
        ),
    ] {
        let said = Profile::parse(&text).unwrap_err().to_string();
        assert!(said.starts_with(field) && said.contains(why), "{said}");
    }
}
