//! Profiles with impossible links, dies, cells or power states are refused.

use sim::profile::{PowerSetting, Settings};
use sim::{Profile, Size};

use super::TINY;
use super::bounds::{POWER, changed};

fn refusal(text: &str) -> String {
    Profile::parse(text).unwrap_err().to_string()
}

#[test]
fn a_link_of_sata_carries_no_more_than_its_bits() {
    let sata = TINY.replacen("value = \"nvme\"", "value = \"sata\"", 1);
    assert!(Profile::parse(&changed(&sata, "bandwidth_mb_s", "560.0")).is_ok());
    let error = refusal(&changed(&sata, "bandwidth_mb_s", "3200.0"));
    assert!(
        error.contains("link.bandwidth_mb_s is 3200 MB/s") && error.contains("of 600 MB/s"),
        "{error}"
    );
}

#[test]
fn array_reads_are_named_for_each_page_of_a_cell_or_for_all() {
    for (reads, said) in [
        ("[60.0]", None),
        ("[48.0, 60.0, 72.0]", None),
        (
            "[50.0, 100.0]",
            Some("contradicts flash.read_us of 2 page types"),
        ),
        (
            "[50.0, 60.0, 70.0, 80.0]",
            Some("contradicts flash.bits_per_cell of 3 bits"),
        ),
    ] {
        let lines = TINY.lines().map(|line| match line {
            line if line.starts_with("read_us = { value = [") => {
                format!("read_us = {{ value = {reads}, source = \"chosen\" }}")
            }
            line => line.to_owned(),
        });
        let parsed = Profile::parse(&lines.collect::<Vec<String>>().join("\n"));
        match said {
            None => assert!(parsed.is_ok(), "{reads}: {parsed:?}"),
            Some(said) => {
                let error = parsed.unwrap_err().to_string();
                assert!(error.contains(said), "{error}");
            }
        }
    }
}

#[test]
fn power_that_cannot_be_is_refused_with_its_field_and_why() {
    for (tables, key, value, field, why) in [
        (
            POWER,
            "states_w",
            "[1.6]",
            "power.states_w",
            "below what the drive draws",
        ),
        (
            POWER,
            "states_w",
            "[5.0, 8.0]",
            "power.states_w",
            "must fall",
        ),
        (POWER, "states_w", "[]", "power.states_w", "1 to 32"),
        // One die can work beside the 40th that is kept back: 1.5 W, and 40/39 of 0.2 W.
        (
            POWER,
            "states_w",
            "[1.705]",
            "power.states_w",
            "at least 1.706 W",
        ),
        (POWER, "idle_mw", "0", "power.idle_mw", "must be 1"),
        (
            POWER,
            "die_program_mw",
            "2001",
            "power.die_program_mw",
            "to 2000",
        ),
        (
            POWER,
            "die_erase_mw",
            "2001",
            "power.die_erase_mw",
            "at most 2000",
        ),
        (POWER, "window_ms", "0.0", "power.window_ms", "0.1 to 100"),
    ] {
        let said = refusal(&format!("{TINY}{}", changed(tables, key, value)));
        assert!(
            said.starts_with(field) && said.contains(why),
            "{key} = {value}: {said}"
        );
    }
}

#[test]
fn a_power_setting_is_a_state_or_a_limit_that_the_drive_can_keep() {
    let profile = Profile::parse(&format!("{TINY}{POWER}")).unwrap();
    let cap = |setting| {
        let mut spec = profile.spec(Size::default()).unwrap();
        let power = Some(setting);
        let settings = Settings {
            power,
            ..Settings::default()
        };
        profile.set(&mut spec, settings)?;
        Ok::<_, sim::ProfileError>(spec.options.power.unwrap().cap_mw)
    };
    assert_eq!(cap(PowerSetting::State(1)).unwrap(), Some(3000));
    assert_eq!(cap(PowerSetting::Watts(2.5)).unwrap(), Some(2500));
    for (setting, why) in [
        (PowerSetting::State(2), "power states 0 to 1"),
        (
            PowerSetting::Watts(1.4),
            "below what the drive draws: 1.5 W idle",
        ),
        (PowerSetting::Watts(1.6), "0.2 W for one die"),
        (PowerSetting::Watts(f64::NAN), "below"),
    ] {
        let said = cap(setting).unwrap_err().to_string();
        assert!(said.starts_with("power is") && said.contains(why), "{said}");
    }
    let plain = Profile::parse(TINY).unwrap();
    let said = plain.cap_mw(PowerSetting::Watts(10.0)).unwrap_err();
    assert!(said.to_string().contains("no power model"), "{said}");
}
