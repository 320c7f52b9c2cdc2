//! Bounds of the features that not every drive has.

use super::check::{Check, count, positive, require, share};
use super::features::LIMIT_MS;
use super::{
    Graded, Medium, Placement, Power, Profile, ProfileError, Retry, SlcCache, SlcMode, SlcWhenFull,
    Spread, Thermal, Throttle,
};
use crate::profile::spec::{PowerSpec, UNIT_BYTES};

const THROTTLE_POINTS: usize = 3;

impl Profile {
    pub(super) fn check_features(&self) -> Check {
        self.check_company()?;
        if let Some(slc) = &self.slc_cache {
            self.check_slc(slc)?;
        }
        if let Some(power) = &self.power {
            power.check()?;
            power.check_idle_states(self.link.protocol.value)?;
        }
        if let Some(thermal) = &self.thermal {
            let Some(power) = &self.power else {
                let why = "heat comes from power: [power] is missing";
                return Err(ProfileError::new("thermal", "without a power model", why));
            };
            thermal.check(power)?;
        }
        if let Some(spread) = &self.spread {
            spread.check()?;
        }
        if let Some(dies) = self.mapping.as_ref().and_then(|m| m.stripe_dies.as_ref()) {
            let all = self.geometry()?.dies();
            require(
                dies.value > 0 && all.is_multiple_of(dies.value),
                "mapping.stripe_dies",
                dies.value,
                &format!("must divide the number of dies, {all}"),
            )?;
        }
        if let Some(kib) = self.mapping.as_ref().and_then(|m| m.unit_kib.as_ref()) {
            self.check_mapping_unit(kib.value)?;
        }
        if let Some(size) = self.mapping.as_ref().and_then(|m| m.cache_mib.as_ref()) {
            positive("mapping.cache_mib", size.value, 65_536.0)?;
        }
        if let Some(size) = self.mapping.as_ref().and_then(|m| m.changes_mib.as_ref()) {
            positive("mapping.changes_mib", size.value, 65_536.0)?;
        }
        let after = self.wear.as_ref();
        if let Some(erases) = after.and_then(|wear| wear.static_after_erases.as_ref()) {
            count("wear.static_after_erases", erases.value, 1_000_000)?;
        }
        if let Some(housekeeping) = &self.housekeeping {
            let (every, pause) = (&housekeeping.every_mib, &housekeeping.pause_ms);
            positive("housekeeping.every_mib", every.value, 1e6)?;
            positive("housekeeping.pause_ms", pause.value, 1e4)?;
            let often = "must be at least 1: a write brings one stop at most";
            require(
                every.value >= 1.0,
                "housekeeping.every_mib",
                every.value,
                often,
            )?;
        }
        if let Some(idle) = &self.idle {
            positive("idle.after_ms", idle.after_ms.value, 1e9)?;
            share("idle.free_pct", idle.free_pct.value, 50.0)?;
        }
        Ok(())
    }

    /// Checks which features can be combined.
    fn check_company(&self) -> Check {
        let only = |present: bool, field: &str, with: &str, why: &str| {
            require(!present, field, format!("beside {with}"), why)
        };
        let mapping = self.mapping.as_ref();
        let parts = [
            ("slc_cache", self.slc_cache.is_some()),
            ("wear", self.wear.is_some()),
            ("idle", self.idle.is_some()),
            ("controller.move_us", self.controller.move_us.is_some()),
            ("housekeeping", self.housekeeping.is_some()),
        ];
        if let Medium::Xpoint(_) = self.medium()? {
            let why = "a medium that is written in place has none of it";
            for (field, present) in parts {
                only(present, field, "[xpoint]", why)?;
            }
            return only(mapping.is_some(), "mapping", "[xpoint]", why);
        }
        if self.merged_streams() {
            let why = "what is folded goes to collection's own stream";
            let merged = "collection.streams = merged";
            only(self.slc_cache.is_some(), "slc_cache", merged, why)?;
        }
        let placement = mapping.and_then(|mapping| mapping.placement.as_ref());
        if placement.is_some_and(|placement| placement.value == Placement::StaticCwdp) {
            let with = "mapping.placement = static-cwdp";
            let why = "it is modelled with dynamic placement only";
            for (field, present) in parts {
                only(present, field, with, why)?;
            }
            let striped = mapping.is_some_and(|mapping| mapping.stripe_dies.is_some());
            only(striped, "mapping.stripe_dies", with, why)?;
            let parity = mapping.is_some_and(|mapping| mapping.parity_dies.is_some());
            only(parity, "mapping.parity_dies", with, why)?;
            let collection = self.collection.as_ref();
            let marks = collection.is_some_and(|c| c.marks_kib.is_some());
            only(marks, "collection.marks_kib", with, why)?;
            let merged = self.merged_streams();
            only(merged, "collection.streams = merged", with, why)?;
            let larger = self.mapping_unit_bytes() > UNIT_BYTES;
            only(larger, "mapping.unit_kib", with, why)?;
            let cache = mapping.is_some_and(|mapping| mapping.cache_mib.is_some());
            return only(cache, "mapping.cache_mib", with, why);
        }
        Ok(())
    }

    fn check_mapping_unit(&self, kib: u32) -> Check {
        require(
            [4, 8, 16, 32, 64].contains(&kib),
            "mapping.unit_kib",
            kib,
            "must be 4, 8, 16, 32 or 64",
        )?;
        let geometry = self.geometry()?;
        let (planes, page) = (geometry.planes, geometry.page_bytes / 1024);
        let whole = planes * page;
        require(
            whole.is_multiple_of(kib),
            "mapping.unit_kib",
            kib,
            &format!(
                "must divide the page of all planes, {whole} KiB (flash.planes of {planes}, flash.page_kib of {page})"
            ),
        )
    }

    fn check_slc(&self, slc: &SlcCache) -> Check {
        let bits = self.flash.as_ref().map_or(1, |f| f.bits_per_cell.value);
        require(
            bits > 1,
            "slc_cache.size_gb",
            slc.size_gb.value,
            &format!(
                "contradicts flash.bits_per_cell of {bits}: this flash holds one bit a cell anyway"
            ),
        )?;
        positive("slc_cache.size_gb", slc.size_gb.value, 1e6)?;
        positive("slc_cache.read_us", slc.read_us.value, 1e6)?;
        positive("slc_cache.program_us", slc.program_us.value, 1e6)?;
        match (slc.mode.value, &slc.pct_of_empty) {
            (SlcMode::Static, Some(pct)) => {
                let why = "a static cache does not depend on what is empty";
                require(false, "slc_cache.pct_of_empty", pct.value, why)
            }
            (SlcMode::Dynamic, None) => {
                let why = "a dynamic cache needs to know how much of what is empty it may use";
                require(false, "slc_cache.pct_of_empty", "missing", why)
            }
            (SlcMode::Dynamic, Some(pct)) => count("slc_cache.pct_of_empty", pct.value, 100),
            (SlcMode::Static, None) => {
                let folds = slc.when_full.value == SlcWhenFull::Fold || self.idle.is_some();
                let why = "writes that go past a full static cache leave it full: without [idle] it is never folded";
                require(folds, "slc_cache.when_full", "direct", why)
            }
        }
    }
}

/// Upper bounds on power: more than any slot supplies, and several times what the currents of a die add up to.
const HIGHEST_MW: u32 = 100_000;
const HIGHEST_DIE_MW: u32 = 2_000;

impl Power {
    /// Additional power of the controller at work, in mW.
    pub(super) fn active_mw(&self) -> u32 {
        self.active_mw.as_ref().map_or(0, |active| active.value)
    }

    pub(super) fn limit_ms(&self) -> f64 {
        self.limit_ms.as_ref().map_or(LIMIT_MS, |limit| limit.value)
    }

    fn check(&self) -> Check {
        count("power.idle_mw", self.idle_mw.value, HIGHEST_MW)?;
        if let Some(active) = &self.active_mw {
            count("power.active_mw", active.value, HIGHEST_MW)?;
        }
        count("power.die_read_mw", self.die_read_mw.value, HIGHEST_DIE_MW)?;
        count(
            "power.die_program_mw",
            self.die_program_mw.value,
            HIGHEST_DIE_MW,
        )?;
        let erase = self.die_erase_mw.value;
        require(
            erase <= HIGHEST_DIE_MW,
            "power.die_erase_mw",
            erase,
            &format!("must be at most {HIGHEST_DIE_MW}"),
        )?;
        at_most("power.transfer_nj", self.transfer_nj.value, 1e6)?;
        at_most("power.command_uj", self.command_uj.value, 1e6)?;
        at_most("power.link_pj_per_byte", self.link_pj_per_byte.value, 1e6)?;
        let window = self.window_ms.value;
        require(
            (0.1..=100.0).contains(&window),
            "power.window_ms",
            window,
            "must be 0.1 to 100",
        )?;
        let limit = self.limit_ms();
        let why = format!("must be power.window_ms, {window}, to 10000");
        require(
            (window..=10_000.0).contains(&limit),
            "power.limit_ms",
            limit,
            &why,
        )?;
        let Some(states) = &self.states_w else {
            return Ok(());
        };
        let listed = format!("{:?}", states.value);
        require(
            !states.value.is_empty() && states.value.len() <= 32,
            "power.states_w",
            &listed,
            "must name 1 to 32 power states",
        )?;
        require(
            states.value.is_sorted_by(|a, b| a > b),
            "power.states_w",
            &listed,
            "must fall from state to state",
        )?;
        let check = |&watts: &f64| self.check_cap("power.states_w", watts);
        states.value.iter().try_for_each(check)
    }

    /// Checks that a limit is enough for the idle power, the controller and one working die.
    pub(super) fn check_cap(&self, field: &str, watts: f64) -> Check {
        let fixed = self.idle_mw.value + self.active_mw();
        let dies = [
            self.die_read_mw.value,
            self.die_program_mw.value,
            self.die_erase_mw.value,
        ];
        let one_die = dies.into_iter().max().unwrap_or(0);
        let lowest_mw = PowerSpec::lowest_cap_mw(fixed.into(), one_die.into());
        let idle = f64::from(self.idle_mw.value) / 1000.0;
        let controller = match self.active_mw() {
            0 => String::new(),
            active => format!(", {} W for the controller", f64::from(active) / 1000.0),
        };
        let active_name = match self.active_mw() {
            0 => String::new(),
            active => format!(", power.active_mw of {active}"),
        };
        let one_die = f64::from(one_die) / 1000.0;
        let lowest = lowest_mw as f64 / 1000.0;
        let why = format!(
            "below what the drive draws: {idle} W idle{controller} and {one_die} W for one die at work (power.idle_mw of {}{active_name} and power.die_*_mw), and a 39th of that for work that is uneven; at least {lowest} W",
            self.idle_mw.value,
        );
        require(watts >= lowest, field, format!("{watts} W"), &why)?;
        at_most(field, watts, 1000.0)
    }
}

impl Thermal {
    fn check(&self, power: &Power) -> Check {
        let ambient = self.ambient_c.value;
        require(
            (-40.0..=85.0).contains(&ambient),
            "thermal.ambient_c",
            ambient,
            "must be -40 to 85",
        )?;
        let resistance = self.resistance_k_per_w.value;
        positive("thermal.resistance_k_per_w", resistance, 1e3)?;
        let constant = self.time_constant_s.value;
        positive("thermal.time_constant_s", constant, 1e5)?;
        require(
            constant * 1000.0 >= power.window_ms.value,
            "thermal.time_constant_s",
            constant,
            &format!(
                "must be at least power.window_ms of {} ms",
                power.window_ms.value
            ),
        )?;
        require(
            self.throttle.len() <= THROTTLE_POINTS,
            "thermal.throttle",
            format!("a list of {}", self.throttle.len()),
            "there can be 3 points",
        )?;
        let idle_c = ambient + resistance * f64::from(power.idle_mw.value) / 1000.0;
        let mut before: Option<&Throttle> = None;
        for point in &self.throttle {
            point.check(power, idle_c, before)?;
            before = Some(point);
        }
        let Some(graded) = &self.graded else {
            return Ok(());
        };
        require(
            self.throttle.is_empty(),
            "thermal.graded",
            "there",
            "goes without points (thermal.throttle)",
        )?;
        graded.check(power, idle_c)
    }
}

impl Graded {
    fn check(&self, power: &Power, idle_c: f64) -> Check {
        let (from_c, to_c) = (self.from_c.value, self.to_c.value);
        let why = format!(
            "the drive is at {idle_c:.1} when idle (power.idle_mw of {}) and would never be without a limit",
            power.idle_mw.value
        );
        require(from_c > idle_c, "thermal.graded.from_c", from_c, &why)?;
        let why = format!("must be above from_c, {from_c}");
        require(to_c > from_c, "thermal.graded.to_c", to_c, &why)?;
        at_most("thermal.graded.to_c", to_c, 200.0)?;
        let (from_w, to_w) = (self.from_w.value, self.to_w.value);
        power.check_cap("thermal.graded.from_w", from_w)?;
        power.check_cap("thermal.graded.to_w", to_w)?;
        let why = format!("must be below from_w, {from_w}: a hot drive is allowed less");
        require(to_w < from_w, "thermal.graded.to_w", to_w, &why)
    }
}

impl Throttle {
    fn check(&self, power: &Power, idle_c: f64, before: Option<&Self>) -> Check {
        let (above, until, cap) = (self.above_c.value, self.until_c.value, self.cap_w.value);
        at_most("thermal.throttle.above_c", above, 200.0)?;
        let why = format!("must be below above_c, {above}");
        require(until < above, "thermal.throttle.until_c", until, &why)?;
        let why = format!(
            "the drive is at {idle_c:.1} when idle (power.idle_mw of {}) and would never leave this point",
            power.idle_mw.value
        );
        require(until > idle_c, "thermal.throttle.until_c", until, &why)?;
        power.check_cap("thermal.throttle.cap_w", cap)?;
        let Some(before) = before else {
            return Ok(());
        };
        let order = "points go by rising temperature and falling power: before it comes";
        let why = format!("{order} {}", before.above_c.value);
        require(
            above > before.above_c.value,
            "thermal.throttle.above_c",
            above,
            &why,
        )?;
        let why = format!("{order} {}", before.until_c.value);
        require(
            until >= before.until_c.value,
            "thermal.throttle.until_c",
            until,
            &why,
        )?;
        let why = format!("{order} {}", before.cap_w.value);
        require(
            cap < before.cap_w.value,
            "thermal.throttle.cap_w",
            cap,
            &why,
        )
    }
}

impl Spread {
    fn check(&self) -> Check {
        share("spread.block_sigma_pct", self.block_sigma_pct.value, 50.0)?;
        share("spread.die_sigma_pct", self.die_sigma_pct.value, 50.0)?;
        self.retry.as_ref().map_or(Ok(()), Retry::check)
    }
}

impl Retry {
    fn check(&self) -> Check {
        let whole = |field: &str, value: u32, limit: u32| {
            let why = format!("must be at most {limit}");
            require(value <= limit, field, value, &why)
        };
        let half = "must be at most 500000: a medium of which more than half of reads fail at first is worn out";
        let (field, retried) = ("spread.retry.per_million", self.per_million.value);
        require(retried <= 500_000, field, retried, half)?;
        if let Some(worn) = &self.per_million_per_1000_erases {
            let field = "spread.retry.per_million_per_1000_erases";
            whole(field, worn.value, 1_000_000)?;
        }
        count("spread.retry.at_most", self.at_most.value, 100)?;
        count("spread.retry.first_pct", self.first_pct.value, 10_000)?;
        whole("spread.retry.step_pct", self.step_pct.value, 10_000)
    }
}

/// Checks an amount that may be 0.
pub(super) fn at_most(field: &str, value: f64, limit: f64) -> Check {
    let why = format!("must be 0 to {limit}");
    require((0.0..=limit).contains(&value), field, value, &why)
}
