//! The I/Os and arrivals of a table of workloads never change.
//!
//! A changed digest means that a seed no longer gives the sequence that it gave in older results. If the
//! change is intended, regenerate the file and record it in the change log:
//!
//! ```sh
//! REMAKE_GOLDEN=1 cargo test -p ssdlab-workload --test all golden
//! ```

use std::fmt::Write as _;
use std::path::PathBuf;

use crate::workloads::{stream, workload};
use serde_json::Value;
use workload::spec::{Span, Stream};
use workload::{Plan, StreamPlan};

const IOS: u64 = 10_000;

/// 64-bit FNV-1a over the bytes of the words, lowest byte first.
struct Digest(u64);

impl Digest {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, word: u64) {
        for byte in word.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

fn ios_digest(plan: &StreamPlan, source: u32) -> u64 {
    let mut digest = Digest::new();
    let mut generator = plan.generator(source);
    for _ in 0..IOS {
        let io = generator.next();
        digest.add(io.op as u64);
        digest.add(io.offset);
        digest.add(u64::from(io.length));
    }
    digest.0
}

fn arrivals_digest(plan: &StreamPlan, source: u32) -> Option<u64> {
    let mut digest = Digest::new();
    let mut schedule = plan.schedule(source)?;
    for _ in 0..IOS {
        digest.add(schedule.next());
    }
    Some(digest.0)
}

/// Changes to a plain stream on a drive whose size, as usual, is not a power of two.
const TABLE: &[(&str, &str)] = &[
    ("uniform", "{}"),
    ("uniform mix 70", r#"{"ops": {"mix": {"read_pct": 70}}}"#),
    ("uniform sizes", r#"{"block": [SIZES]}"#),
    (
        "uniform sector trim",
        r#"{"ops": "trim", "block": [{"bytes": 512, "weight": 1}]}"#,
    ),
    (
        "sequential",
        r#"{"pattern": {"sequential": {"cursors": null}}}"#,
    ),
    (
        "sequential sizes",
        r#"{"pattern": {"sequential": {"cursors": null}}, "block": [SIZES], "ops": {"mix": {"read_pct": 50}}}"#,
    ),
    ("zipf 0.5", r#"{"pattern": {"zipf": {"theta_milli": 500}}}"#),
    ("zipf 1", r#"{"pattern": {"zipf": {"theta_milli": 1000}}}"#),
    (
        "zipf 1.1 mix 30",
        r#"{"pattern": {"zipf": {"theta_milli": 1100}}, "ops": {"mix": {"read_pct": 30}}}"#,
    ),
    (
        "zipf 1.1 sizes",
        r#"{"pattern": {"zipf": {"theta_milli": 1100}}, "block": [SIZES]}"#,
    ),
    ("bands", r#"{"pattern": {"bands": [BANDS]}}"#),
    (
        "bands sizes",
        r#"{"pattern": {"bands": [BANDS]}, "block": [SIZES]}"#,
    ),
    (
        "segments",
        r#"{"pattern": {"segments": {"count": 3, "length_bytes": 262144, "stride_bytes": 393216}}}"#,
    ),
    (
        "stepped sizes ratio",
        r#"{"pattern": {"stepped": {"step_bytes": 512}}, "block": [SIZES], "ops": {"ratio": {"reads": 2, "writes": 1}}}"#,
    ),
    (
        "even",
        r#"{"arrival": {"open": {"process": "even", RATE}}}"#,
    ),
    (
        "poisson",
        r#"{"arrival": {"open": {"process": "poisson", RATE}}}"#,
    ),
    (
        "poisson 300k",
        r#"{"arrival": {"open": {"process": "poisson", "rate": {"num": 300000, "den": 1}, "backlog_ns": 1}}}"#,
    ),
    (
        "act6",
        r#"{"arrival": {"open": {"process": "act6", RATE}}}"#,
    ),
    (
        "act2019",
        r#"{"arrival": {"open": {"process": {"act2019": {"queues": 2}}, RATE}}}"#,
    ),
    (
        "bursts",
        r#"{"arrival": {"bursts": {"bytes": 1048576, "every_ns": 333}}}"#,
    ),
];

/// Replacements for the words in capitals in the table.
const WORDS: &[(&str, &str)] = &[
    (
        "SIZES",
        r#"{"bytes": 4096, "weight": 70}, {"bytes": 131072, "weight": 30}"#,
    ),
    (
        "BANDS",
        r#"{"access_weight": 80, "span_weight": 20}, {"access_weight": 20, "span_weight": 80}"#,
    ),
    (
        "RATE",
        r#""rate": {"num": 2000, "den": 85}, "backlog_ns": 1"#,
    ),
];

fn changed(changes: &str) -> Stream {
    let plain = Stream {
        span: Span {
            start: 4096,
            length: 480_103_981_056 - 4096,
        },
        workers: 4,
        ..stream()
    };
    let spelt_out = |text: String, (word, json): &(&str, &str)| text.replace(word, json);
    let changes = WORDS.iter().fold(changes.to_owned(), spelt_out);
    let changes: serde_json::Map<String, Value> = serde_json::from_str(&changes).unwrap();
    let mut stream = serde_json::to_value(plain).unwrap();
    for (field, value) in changes {
        stream[field] = value;
    }
    serde_json::from_value(stream).unwrap()
}

fn digests() -> String {
    let mut text = String::from("# workload | source | digest of I/Os | digest of arrivals\n");
    for (name, changes) in TABLE {
        let plan = Plan::new(&workload(42, changed(changes))).expect(name);
        let plan = plan.stream(0);
        for source in [0, plan.sources() - 1] {
            let ios = ios_digest(plan, source);
            let arrivals = arrivals_digest(plan, source);
            let arrivals = arrivals.map_or("-".into(), |digest| format!("{digest:016x}"));
            writeln!(text, "{name} | {source} | {ios:016x} | {arrivals}").unwrap();
            if plan.sources() == 1 {
                break;
            }
        }
    }
    text
}

#[test]
fn sequences_are_as_they_were() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/digests.txt");
    let now = digests();
    if std::env::var_os("REMAKE_GOLDEN").is_some() {
        std::fs::write(&path, &now).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap();
    for (now, stored) in now.lines().zip(stored.lines()) {
        assert_eq!(now, stored, "see the head of this file");
    }
    assert_eq!(now.lines().count(), stored.lines().count());
}
