//! A restored drive continues exactly as the saved one would have; other states are refused.

use proptest::prelude::*;
use sim::profile::spec::UNIT_BYTES;
use sim::snapshot::{Identity, StateError};
use sim::{AnyDrive, Options, Profile, Size, Unattended, snapshot};
use workload::Workload;

const TINY: &str = include_str!("../../../../python/ssdlab/profiles/tiny-test.toml");
const UNIT: u64 = UNIT_BYTES as u64;
/// Mapping units of 16 KiB: each I/O writes a part.
const LARGER_UNITS: &str = "[mapping]\nunit_kib = { value = 16, source = \"chosen\" }\n";
/// A map that lies mostly in flash.
const MAP_IN_FLASH: &str = "[mapping]\ncache_mib = { value = 0.25, source = \"chosen\" }\n";
/// A drive that may draw little more than its idle power.
const LIMITED: &str = r#"
[power]
idle_mw = { value = 1500, source = "chosen" }
die_read_mw = { value = 120, source = "recalled" }
die_program_mw = { value = 200, source = "recalled" }
die_erase_mw = { value = 100, source = "recalled" }
transfer_nj = { value = 600.0, source = "recalled" }
command_uj = { value = 1.5, source = "recalled" }
link_pj_per_byte = { value = 120.0, source = "recalled" }
window_ms = { value = 1.0, source = "recalled" }
states_w = { value = [2.0], source = "chosen" }
"#;

fn drive(rule: &str, scale: u32, seed: u64) -> AnyDrive {
    drive_of("", rule, scale, seed)
}

/// The same with additional tables.
fn drive_of(tables: &str, rule: &str, scale: u32, seed: u64) -> AnyDrive {
    let asked = format!("rule = {{ value = {rule}");
    let text = TINY.replace("rule = { value = \"greedy\"", &asked);
    assert!(
        rule == "\"greedy\"" || text != TINY,
        "the profile's rule is changed"
    );
    let profile = Profile::parse(&format!("{text}{tables}")).expect("the profile is good");
    let size = Size {
        scale,
        ..Size::default()
    };
    AnyDrive::new(&profile, size, seed).expect("the size is good")
}

fn identity() -> Identity {
    [("profile", "tiny-test"), ("scale", "4"), ("seed", "1")]
        .map(|(setting, value)| (setting.to_owned(), value.to_owned()))
        .into()
}

fn kept(drive: &AnyDrive) -> Vec<u8> {
    let mut file = Vec::new();
    snapshot::write(drive, &identity(), &mut file).expect("memory takes it");
    file
}

fn taken_up(drive: &AnyDrive) -> AnyDrive {
    snapshot::read(&kept(drive), &identity(), drive).expect("it is the same drive")
}

/// A number of I/Os on a part of the drive.
fn some_ios(
    drive: &AnyDrive,
    share: (u64, u64),
    ops: &str,
    pattern: &str,
    ios: u64,
    seed: u64,
) -> Workload {
    let units = drive.user_bytes() / UNIT;
    let (start, end) = (units * share.0 / 100 * UNIT, units * share.1 / 100 * UNIT);
    let writes = ops.contains("mix") && !ops.contains("100");
    let flush_every = if writes { "100" } else { "null" };
    let text = format!(
        r#"{{ "seed": {seed}, "interval_ns": 10000000, "ramp_ns": 0, "streams": [{{ "name": "s", "ops": {ops},
        "block": [{{ "bytes": 4096, "weight": 1 }}], "pattern": {pattern}, "span": {{ "start": {start}, "length": {} }},
        "workers": 4, "depth": 4, "engine": "uring", "batch": null, "polled": false, "arrival": {{ "closed": {{ "think_ns": 0 }} }},
        "compressible_pct": 0, "direct": true, "dsync": false, "flush_every": {flush_every}, "cpus": [],
        "stop": {{ "time_ns": null, "bytes": null, "ios": {ios}, "span_once": false }}, "log_ios": false }}] }}"#,
        end - start
    );
    serde_json::from_str(&text).expect("a workload")
}

/// The result of a run, without host facts.
fn ran(drive: &mut AnyDrive, workload: &Workload) -> String {
    let outcome = drive
        .run(workload, &mut Unattended, Options::default())
        .expect("it runs");
    let measured = outcome.measurement;
    format!(
        "{:?} {:?} {}",
        measured.rows, outcome.cursors, outcome.zero_ns
    )
}

#[derive(Debug, Clone)]
enum Step {
    Ios(&'static str, &'static str, u64, u64),
    Trim(u64, u64),
    Idle(u64),
    Flush,
    Purge,
}

fn step() -> impl Strategy<Value = Step> {
    let write = r#"{ "mix": { "read_pct": 0 } }"#;
    let mixed = r#"{ "mix": { "read_pct": 70 } }"#;
    prop_oneof![
        4 => (prop_oneof![Just(write), Just(mixed), Just("\"trim\"")],
              prop_oneof![Just("\"uniform\""), Just(r#"{ "sequential": { "cursors": null } }"#)],
              1_u64..20_000, any::<u64>()).prop_map(|(ops, pattern, ios, seed)| Step::Ios(ops, pattern, ios, seed)),
        2 => (0_u64..100, 0_u64..100).prop_map(|(a, b)| Step::Trim(a.min(b), a.max(b))),
        1 => (0_u64..1_000_000_000).prop_map(Step::Idle),
        1 => Just(Step::Flush),
        1 => Just(Step::Purge),
    ]
}

fn apply(drive: &mut AnyDrive, step: &Step) -> String {
    match *step {
        Step::Ios(ops, pattern, ios, seed) => {
            let workload = some_ios(drive, (10, 90), ops, pattern, ios, seed);
            return ran(drive, &workload);
        }
        Step::Trim(from, to) => {
            let units = drive.user_bytes() / UNIT;
            drive.trim(units * from / 100 * UNIT, units * (to - from) / 100 * UNIT);
        }
        Step::Idle(ns) => drive.idle(ns),
        Step::Flush => drive.flush(),
        Step::Purge => drive.purge(),
    }
    String::new()
}

fn fill(drive: &mut AnyDrive) {
    let all = drive.user_bytes() / UNIT;
    let workload = some_ios(
        drive,
        (0, 100),
        r#"{ "mix": { "read_pct": 0 } }"#,
        r#"{ "sequential": { "cursors": null } }"#,
        all,
        1,
    );
    ran(drive, &workload);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn taking_up_what_was_kept_equals_going_on(
        rule in prop_oneof![Just("\"greedy\""), Just("\"fifo\""), Just("\"cost-benefit\""), Just("{ d-choices = 4 }")],
        seed in any::<u64>(),
        tables in prop_oneof![Just(""), Just(LARGER_UNITS), Just(MAP_IN_FLASH), Just(LIMITED)],
        filled in any::<bool>(),
        before in proptest::collection::vec(step(), 0..4),
        after in proptest::collection::vec(step(), 1..4),
    ) {
        let mut straight = drive_of(tables, rule, 4, seed);
        if filled {
            fill(&mut straight);
        }
        for step in &before {
            apply(&mut straight, step);
        }
        let mut other = taken_up(&straight);
        prop_assert_eq!(snapshot::digest(&straight), snapshot::digest(&other));
        for step in &after {
            prop_assert_eq!(apply(&mut straight, step), apply(&mut other, step));
        }
        prop_assert_eq!(straight.counters(), other.counters());
        prop_assert!(kept(&straight) == kept(&other), "the whole state is the same, to the byte");
    }
}

#[test]
fn a_changed_byte_anywhere_is_refused() {
    let mut drive = drive("\"greedy\"", 4, 1);
    fill(&mut drive);
    let file = kept(&drive);
    let everywhere = (0..file.len())
        .step_by(20_011)
        .chain(0..200)
        .chain(file.len() - 40..file.len());
    for at in everywhere {
        let mut changed = file.clone();
        changed[at] ^= 1 << (at % 8);
        assert!(
            snapshot::read(&changed, &identity(), &drive).is_err(),
            "byte {at}"
        );
    }
}

#[test]
fn a_file_cut_short_or_with_more_behind_it_is_refused() {
    let drive = drive("\"greedy\"", 4, 1);
    let file = kept(&drive);
    for length in (0..file.len()).step_by(20_021).chain(0..100) {
        let torn = snapshot::read(&file[..length], &identity(), &drive);
        assert!(
            matches!(torn, Err(StateError::Corrupt { .. })),
            "{length} bytes: {torn:?}"
        );
    }
    let longer = [&file[..], &[0]].concat();
    let read = snapshot::read(&longer, &identity(), &drive);
    assert!(matches!(read, Err(StateError::Corrupt { .. })));
}

#[test]
fn what_is_no_state_or_of_another_format_is_told() {
    let drive = drive("\"greedy\"", 4, 1);
    let read = snapshot::read(b"[flash]\nchannels = 4\n", &identity(), &drive);
    assert!(matches!(read, Err(StateError::NotAState)));
    let mut newer = kept(&drive);
    newer[8..12].copy_from_slice(&(snapshot::FORMAT + 1).to_le_bytes());
    let read = snapshot::read(&newer, &identity(), &drive);
    assert!(matches!(read, Err(StateError::Format { found, .. }) if found == snapshot::FORMAT + 1));
}

#[test]
fn a_state_of_another_drive_is_refused_by_what_differs() {
    let drive = drive("\"greedy\"", 4, 1);
    let file = kept(&drive);
    for (setting, value) in [
        ("profile", "other"),
        ("scale", "2"),
        ("seed", "2"),
        ("spare", "0.25"),
    ] {
        let mut asked = identity();
        asked.insert(setting.to_owned(), value.to_owned());
        let Err(StateError::Differs {
            setting: told,
            found,
            asked,
        }) = snapshot::read(&file, &asked, &drive)
        else {
            panic!("{setting} was not told");
        };
        assert_eq!((told.as_str(), asked.as_str()), (setting, value));
        assert_ne!(found, value);
    }
    let mut less = identity();
    less.remove("seed");
    let read = snapshot::read(&file, &less, &drive);
    assert!(matches!(read, Err(StateError::Differs { setting, .. }) if setting == "seed"));
}

#[test]
fn a_state_that_the_simulator_would_make_otherwise_now_is_refused() {
    let file = kept(&drive("\"greedy\"", 4, 1));
    for other in [drive("\"greedy\"", 2, 1), drive("\"fifo\"", 4, 1)] {
        assert!(snapshot::read(&file, &identity(), &other).is_err());
    }
}

#[test]
fn one_io_more_is_another_digest() {
    let mut drive = drive("\"greedy\"", 4, 1);
    fill(&mut drive);
    let before = snapshot::digest(&drive);
    assert_eq!(before, snapshot::digest(&drive.clone()));
    let read = some_ios(
        &drive,
        (0, 100),
        r#"{ "mix": { "read_pct": 100 } }"#,
        "\"uniform\"",
        1,
        1,
    );
    ran(&mut drive, &read);
    let after = snapshot::digest(&drive);
    assert_ne!(before, after);
    drive.idle(1);
    assert_ne!(after, snapshot::digest(&drive));
}

/// The names of a drive's parts. A failure means that the saved state has changed: raise [`snapshot::FORMAT`] if a release had
/// the old format, and put the new hash here.
#[test]
fn the_format_has_a_new_number_when_a_state_has_other_parts() {
    let text = ["", MAP_IN_FLASH, LIMITED].map(|tables| {
        let drive = drive_of(tables, "\"greedy\"", 4, 1);
        format!("{drive:?}")
    });
    let text = text.concat();
    let mut names: Vec<&str> = text
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| word.starts_with(char::is_alphabetic))
        .collect();
    names.dedup();
    let hash = blake3::hash(names.join(" ").as_bytes()).to_hex();
    assert_eq!(
        (snapshot::FORMAT, &hash[..16]),
        (19, "a67475069574b52a"),
        "{}",
        names.join(" ")
    );
}
