//! Figures that cannot both be true of one drive.

use super::TINY;
use super::bounds::{MAPPING, POWER, SLC, THERMAL, XPOINT, changed};
use sim::Profile;

fn refusal(text: &str) -> String {
    Profile::parse(text).unwrap_err().to_string()
}

/// A small drive with this figure of its suspension.
fn suspended(key: &str, value: &str) -> String {
    let line = format!("{key} = {{ value = {value}, source = \"chosen\" }}\nsuspend_us");
    let others = TINY.lines().filter(|line| !line.starts_with(key));
    let others = others.collect::<Vec<&str>>().join("\n");
    others.replacen("suspend_us", &line, 1)
}

/// A small drive that collects between marks, with a reserve and one change of the marks.
fn marked(reserve_pct: &str, (from, to): (&str, &str)) -> String {
    let reserve = format!("reserve_pct = {{ value = {reserve_pct}, source = \"chosen\" }}");
    let lines = TINY.lines().map(|line| match line.split(' ').next() {
        Some("reserve_pct") => format!("{reserve}\n{}", MARKS.replacen(from, to, 1)),
        _ => line.to_owned(),
    });
    lines.collect::<Vec<String>>().join("\n")
}

const MARKS: &str = "marks_kib = { value = 256, source = \"chosen\" }
quantum_kib = { value = 64, source = \"chosen\" }
catch_up_pct = { value = 150, source = \"chosen\" }";

#[test]
fn collection_between_marks_says_how_far_they_are_apart_and_how_it_works() {
    assert!(Profile::parse(&marked("0.5", ("", ""))).is_ok());
    for (change, field) in [
        (
            ("marks_kib = { value = 256, source = \"chosen\" }\n", ""),
            "collection.quantum_kib",
        ),
        (
            ("quantum_kib = { value = 64, source = \"chosen\" }\n", ""),
            "collection.quantum_kib",
        ),
        (
            ("\ncatch_up_pct = { value = 150, source = \"chosen\" }", ""),
            "collection.catch_up_pct",
        ),
        (("value = 256", "value = 254"), "collection.marks_kib"),
        (("value = 256", "value = 0"), "collection.marks_kib"),
        (("value = 64", "value = 0"), "collection.quantum_kib"),
        (("value = 64", "value = 66"), "collection.quantum_kib"),
        (("value = 64", "value = 260"), "collection.quantum_kib"),
        (("value = 150", "value = 100"), "collection.catch_up_pct"),
        (("value = 150", "value = 1001"), "collection.catch_up_pct"),
    ] {
        let error = refusal(&marked("0.5", change));
        assert!(error.contains(field), "{change:?}: {error}");
    }
}

#[test]
fn marks_are_no_further_apart_than_what_is_free_and_what_the_buffer_holds() {
    let error = refusal(&marked("0.01", ("", "")));
    assert!(
        error.contains("collection.marks_kib is 256") && error.contains("reserve_pct of 0.01"),
        "{error}"
    );
    let error = refusal(&marked("0.5", ("value = 256", "value = 1048576")));
    assert!(
        error.contains("collection.marks_kib") && error.contains("buffer.size_mib"),
        "{error}"
    );
}

#[test]
fn what_is_never_suspended_has_no_time_to_be() {
    let text = suspended("pulse_us", "60.0");
    assert!(Profile::parse(&text).is_ok());
    let without: Vec<&str> = text
        .lines()
        .filter(|line| !line.starts_with("suspend_us"))
        .collect();
    let error = refusal(&without.join("\n"));
    assert!(
        error.contains("flash.pulse_us") && error.contains("flash.suspend_us"),
        "{error}"
    );
}

// A list with one line for each contradiction.
#[allow(clippy::too_many_lines)]
#[test]
fn a_profile_that_contradicts_itself_is_refused_with_both_figures() {
    let tiny = |tables: &str| format!("{TINY}{tables}");
    let dynamic =
        changed(SLC, "mode", "\"dynamic\"") + "pct_of_empty = { value = 5, source = \"chosen\" }\n";
    let idle = "[idle]\nafter_ms = { value = 500.0, source = \"chosen\" }\nfree_pct = { value = 13.0, source = \"chosen\" }\n";
    let heat = changed(&[POWER, THERMAL].concat(), "states_w", "[3.9, 3.0]");
    let heat = heat.replacen("cap_w = { value = 4.0", "cap_w = { value = 3.95", 1);
    let units = format!("{MAPPING}unit_kib = {{ value = 16, source = \"chosen\" }}\n");
    let tags = changed(TINY, "protocol", "\"ahci\"").replacen(
        "[controller]\n",
        "[controller]\ncommands = { value = 128, source = \"chosen\" }\n",
        1,
    );
    for (text, one, other) in [
        (
            tags,
            "controller.commands is 128 commands",
            "link.protocol of 32 commands (of sata and ahci)",
        ),
        // A word line of two planes takes 130 us on an 800 MT/s bus.
        (
            changed(TINY, "program_us", "100.0"),
            "130.2",
            "flash.program_us of 100 us",
        ),
        (
            changed(TINY, "bus_mt_s", "50.0"),
            "2084.",
            "flash.program_us of 1700 us",
        ),
        (
            changed(TINY, "read_us", "[60.0, 1800.0]"),
            "flash.read_us is 1800 us",
            "flash.program_us of 1700 us",
        ),
        (
            changed(TINY, "read_us", "[130.0, 60.0, 60.0]"),
            "flash.read_us of a lower page is 130 us",
            "twice flash.read_us of a page above it of 120 us",
        ),
        (
            changed(TINY, "read_us", "[60.0, 60.0, 60.0, 60.0]"),
            "flash.read_us is 4",
            "flash.bits_per_cell of 3",
        ),
        (
            changed(TINY, "suspend_us", "1800.0"),
            "flash.suspend_us is 1800 us",
            "flash.program_us of 1700 us",
        ),
        (
            TINY.replacen("erase_ms = { value = 5.0", "erase_ms = { value = 1.5", 1),
            "flash.program_us is 1700 us",
            "flash.erase_ms of 1500 us",
        ),
        (
            changed(TINY, "bandwidth_mb_s", "0.001"),
            "one die is programmed is 57.8",
            "link.bandwidth_mb_s of 0.001 MB/s",
        ),
        (
            changed(&tiny(SLC), "bits_per_cell", "1"),
            "slc_cache.size_gb is 0.4",
            "flash.bits_per_cell of 1",
        ),
        (
            tiny(&changed(POWER, "idle_mw", "9000")),
            "power.states_w is 8 W",
            "power.idle_mw of 9000",
        ),
        (
            tiny(&changed(
                &changed(&[POWER, THERMAL].concat(), "states_w", ""),
                "idle_mw",
                "9000",
            )),
            "thermal.throttle.until_c is 66",
            "power.idle_mw of 9000",
        ),
        (
            suspended("pulse_us", "1701.0"),
            "flash.pulse_us is 1701 us",
            "flash.program_us of 1700 us",
        ),
        (
            suspended("erase_suspend_us", "5001.0"),
            "flash.erase_suspend_us is 5001 us",
            "flash.erase_ms of 5000 us",
        ),
        (
            suspended("resume_us", "1701.0"),
            "flash.resume_us is 1701 us",
            "flash.program_us of 1700 us",
        ),
        (
            tiny("[mapping]\nparity_dies = { value = 1000, source = \"chosen\" }\n"),
            "mapping.parity_dies is 1000 dies",
            "dies_per_channel of ",
        ),
        (
            changed(TINY, "deferral_limit_ms", "0.01"),
            "flash.suspend_us is 20 us",
            "flash.deferral_limit_ms of 10 us",
        ),
        (
            changed(TINY, "bus_mt_s", "5000.0"),
            "flash.bus_mt_s is 5000 MT/s",
            "the fastest bus of 4800 MT/s",
        ),
        (
            changed(TINY, "bandwidth_mb_s", "300000.0"),
            "link.bandwidth_mb_s is 300000 MB/s",
            "link.protocol of 256000 MB/s",
        ),
        (
            changed(TINY, "size_mib", "20000.0"),
            "buffer.size_mib is 20000 MiB",
            "capacity_bytes of 16384 MiB",
        ),
        (
            tiny(&changed(SLC, "size_gb", "18.0")),
            "slc_cache.size_gb is 18 GB",
            "capacity_bytes of 17.18 GB",
        ),
        (
            tiny(&dynamic),
            "slc_cache.size_gb is 0.4 GB",
            "of an empty drive of 0.329 GB",
        ),
        (
            tiny(&changed(SLC, "program_us", "1701.0")),
            "slc_cache.program_us is 1701 us",
            "flash.program_us of 1700 us",
        ),
        (
            tiny(&changed(SLC, "program_us", "40.0")),
            "43.4",
            "slc_cache.program_us of 40 us",
        ),
        // No value above 0 is shown as 0, and no two different values as the same.
        (
            changed(TINY, "bandwidth_mb_s", "1e-9"),
            "one die is programmed is 57.8",
            "link.bandwidth_mb_s of 1e-9 MB/s",
        ),
        (
            suspended("pulse_us", "1700.00001"),
            "flash.pulse_us is 1700.00001 us",
            "flash.program_us of 1700 us",
        ),
        (
            changed(TINY, "read_us", "[5000.0]"),
            "flash.read_us is 5000 us",
            "flash.program_us of 1700 us",
        ),
        (
            tiny(&changed(
                &changed(SLC, "read_us", "59.0"),
                "program_us",
                "58.0",
            )),
            "slc_cache.read_us is 59 us",
            "slc_cache.program_us of 58 us",
        ),
        (
            tiny(&changed(SLC, "read_us", "61.0")),
            "slc_cache.read_us is 61 us",
            "flash.read_us of 60 us",
        ),
        (
            tiny(&changed(MAPPING, "cache_mib", "17.0")),
            "mapping.cache_mib is 17 MiB",
            "of 16 MiB",
        ),
        (
            changed(&tiny(MAPPING), "reserve_pct", "0.08"),
            "collection.reserve_pct is 0.08",
            "mapping.cache_mib: the map, 0.085",
        ),
        (
            tiny(&changed(&units, "cache_mib", "5.0")),
            "mapping.cache_mib is 5 MiB",
            "a map (of capacity_bytes and mapping.unit_kib) of 4 MiB",
        ),
        (tiny(idle), "idle.free_pct is 13 %", "of 12."),
        (
            tiny(&changed(POWER, "states_w", "[8.0, 1.4]")),
            "power.states_w is 1.4 W",
            "1.5 W idle",
        ),
        (
            tiny(&heat),
            "thermal.throttle.cap_w is 3.95 W",
            "power.states_w of 3.9 W",
        ),
        (
            changed(XPOINT, "write_us", "0.9").replacen(
                "read_us = { value = 1.8",
                "read_us = { value = 0.5",
                1,
            ),
            "the transfer of 4 KiB is 1 us",
            "xpoint.write_us of 0.9 us",
        ),
    ] {
        let said = refusal(&text);
        assert!(said.contains(one) && said.contains(other), "{one}: {said}");
    }
}

#[test]
fn a_limit_counts_what_the_controller_draws_at_work() {
    let active = "active_mw = { value = 600, source = \"chosen\" }\n";
    let states = |watts: &str| changed(&format!("{POWER}{active}"), "states_w", watts);
    assert!(Profile::parse(&format!("{TINY}{}", states("[2.306]"))).is_ok());
    let said = refusal(&format!("{TINY}{}", states("[2.2]")));
    assert!(
        said.contains("1.5 W idle, 0.6 W for the controller and 0.2 W for one die"),
        "{said}"
    );
}

#[test]
fn one_write_frontier_goes_without_a_cache_and_without_planes() {
    let line = "streams = { value = \"merged\", source = \"chosen\" }\nreserve_pct";
    let merged = TINY.replacen("reserve_pct", line, 1);
    assert!(Profile::parse(&merged).is_ok());
    let error = refusal(&format!("{merged}{SLC}"));
    assert!(
        error.contains("slc_cache is beside collection.streams = merged"),
        "{error}"
    );
    let planes = "[mapping]\nplacement = { value = \"static-cwdp\", source = \"chosen\" }\n";
    let error = refusal(&format!("{merged}{planes}"));
    assert!(
        error.contains("collection.streams = merged is beside mapping.placement = static-cwdp"),
        "{error}"
    );
}

#[test]
fn planes_collect_for_themselves_and_without_marks() {
    let marks = marked("0.5", ("", ""));
    let planes = "\n[mapping]\nplacement = { value = \"static-cwdp\", source = \"chosen\" }\n";
    let error = refusal(&format!("{marks}{planes}"));
    assert!(
        error.contains("collection.marks_kib is beside mapping.placement = static-cwdp"),
        "{error}"
    );
}

/// Returns each line with a number, and the profile with that number replaced.
fn each_figure(text: &str, value: &str) -> Vec<(String, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let number = |line: &str| {
        let (before, rest) = line.split_once("value = ")?;
        let end = rest.find([',', ' '])?;
        rest[..end].parse::<f64>().ok()?;
        Some(format!("{before}value = {value}{}", &rest[end..]))
    };
    let mut all = Vec::new();
    for at in 0..lines.len() {
        if let Some(other) = number(lines[at]) {
            let mut changed: Vec<&str> = lines.clone();
            changed[at] = &other;
            all.push((other.clone(), changed.join("\n")));
        }
    }
    all
}

#[test]
fn no_figure_of_any_size_makes_a_profile_panic_and_none_that_is_no_size_is_taken() {
    let flash = format!("{TINY}{}", [SLC, POWER, THERMAL, MAPPING].concat());
    for whole in [flash.as_str(), XPOINT] {
        Profile::parse(whole).unwrap();
        for value in [
            "nan",
            "inf",
            "-inf",
            "-1",
            "-1.0",
            "1e300",
            "9223372036854775807",
        ] {
            let figures = each_figure(whole, value);
            assert!(figures.len() > 15);
            for (line, text) in figures {
                let said = Profile::parse(&text);
                // The ambient temperature may be below zero.
                let cold = line.starts_with("ambient_c = { value = -1");
                assert!(cold || said.is_err(), "{line} is taken");
            }
        }
        // Some figures may be 0 or very small.
        for value in ["0", "0.0", "1e-300", "1", "4294967295"] {
            for (_, text) in each_figure(whole, value) {
                let _ = Profile::parse(&text);
            }
        }
    }
}

#[test]
fn flash_larger_than_can_be_counted_is_refused() {
    let mut text = TINY.to_owned();
    for (key, most) in [
        ("channels", "64"),
        ("dies_per_channel", "64"),
        ("planes", "16"),
        ("page_kib", "64"),
        ("pages_per_block", "65535"),
    ] {
        text = changed(&text, key, most);
    }
    let said = refusal(&text);
    assert!(
        said.contains("flash.pages_per_block is 65535") && said.contains("65536 planes"),
        "{said}"
    );
}

#[test]
fn no_drive_of_ours_contradicts_itself() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/ssdlab/profiles");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|kind| kind == "toml") {
            let said = Profile::parse(&std::fs::read_to_string(&path).unwrap());
            assert!(said.is_ok(), "{}: {said:?}", path.display());
            seen += 1;
        }
    }
    assert!(seen > 20);
}
