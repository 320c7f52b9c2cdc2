//! Bounds of a profile. A value that no drive can have is refused with its field and the reason.

use super::{Collection, Flash, Medium, Profile, ProfileError, Rule, Xpoint};
use crate::profile::spec::{UNIT, UNIT_BYTES};

pub(super) type Check = Result<(), ProfileError>;

pub(super) fn require(holds: bool, field: &str, value: impl std::fmt::Display, why: &str) -> Check {
    if holds {
        Ok(())
    } else {
        Err(ProfileError::new(field, value, why))
    }
}

pub(super) fn count(field: &str, value: u32, limit: u32) -> Check {
    let why = format!("must be 1 to {limit}");
    require((1..=limit).contains(&value), field, value, &why)
}

/// Checks a time, rate or size: above 0, and within reason.
pub(super) fn positive(field: &str, value: f64, limit: f64) -> Check {
    let why = format!("must be above 0 and at most {limit}");
    require(value > 0.0 && value <= limit, field, value, &why)
}

pub(super) fn share(field: &str, value: f64, limit: f64) -> Check {
    let why = format!("must be 0 to {limit} %");
    require((0.0..=limit).contains(&value), field, value, &why)
}

impl Profile {
    /// Checks what does not depend on the size.
    pub(super) fn check(&self) -> Check {
        require(
            !self.name.is_empty(),
            "name",
            "\"\"",
            "a profile needs a name",
        )?;
        let block = self.logical_block_bytes.value;
        require(
            block == 512 || block == UNIT_BYTES,
            "logical_block_bytes",
            block,
            "must be 512 or 4096",
        )?;
        match self.medium()? {
            Medium::Flash(flash, collection) => {
                flash.check()?;
                flash.check_timing()?;
                collection.check()?;
            }
            Medium::Xpoint(xpoint) => xpoint.check()?,
        }
        self.check_capacity()?;
        let controller = &self.controller;
        count("controller.cores", controller.cores.value, 256)?;
        positive("controller.read_us", controller.read_us.value, 1e6)?;
        positive("controller.write_us", controller.write_us.value, 1e6)?;
        positive("link.bandwidth_mb_s", self.link.bandwidth_mb_s.value, 1e6)?;
        positive("link.command_us", self.link.command_us.value, 1e6)?;
        if let Some(turnaround) = &self.link.turnaround_us {
            positive("link.turnaround_us", turnaround.value, 1e6)?;
        }
        if let Some(commands) = &controller.commands {
            count("controller.commands", commands.value, 65_536)?;
        }
        if let Some(data) = &controller.data_mb_s {
            positive("controller.data_mb_s", data.value, 1e6)?;
        }
        if let Some(moves) = &controller.move_us {
            positive("controller.move_us", moves.value, 1e3)?;
        }
        if let Some(commit) = &self.buffer.commit_us {
            positive("buffer.commit_us", commit.value, 1e6)?;
        }
        self.check_read_ahead()?;
        if let Some(contexts) = &self.buffer.write_contexts {
            count("buffer.write_contexts", contexts.value, 1024)?;
        }
        positive("buffer.size_mib", self.buffer.size_mib.value, 65_536.0)?;
        self.check_features()?;
        self.check_contradictions()
    }

    fn check_read_ahead(&self) -> Check {
        let controller = &self.controller;
        if let Some(streams) = &controller.read_streams {
            count("controller.read_streams", streams.value, 1024)?;
            require(
                controller.read_ahead_kib.is_some(),
                "controller.read_streams",
                streams.value,
                "says nothing without controller.read_ahead_kib",
            )?;
        }
        let Some(kib) = &controller.read_ahead_kib else {
            return Ok(());
        };
        count("controller.read_ahead_kib", kib.value, 65_536)?;
        require(
            kib.value.is_multiple_of(4),
            "controller.read_ahead_kib",
            kib.value,
            "must be a multiple of 4",
        )
    }

    fn check_capacity(&self) -> Check {
        let raw = self.geometry()?.raw_bytes();
        let user = self.capacity_bytes.value;
        require(
            user > 0 && user.is_multiple_of(UNIT),
            "capacity_bytes",
            user,
            "must be a multiple of 4096 above 0",
        )?;
        let why = format!("spare below zero: the medium has {raw} bytes in all");
        require(user < raw, "capacity_bytes", user, &why)
    }
}

impl Flash {
    fn check(&self) -> Check {
        let flash = self;
        count("flash.channels", flash.channels.value, 64)?;
        count("flash.dies_per_channel", flash.dies_per_channel.value, 64)?;
        count("flash.planes", flash.planes.value, 16)?;
        count("flash.page_kib", flash.page_kib.value, 64)?;
        require(
            flash.page_kib.value.is_multiple_of(4),
            "flash.page_kib",
            flash.page_kib.value,
            "must be a multiple of 4, the mapping unit",
        )?;
        count("flash.pages_per_block", flash.pages_per_block.value, 65_536)?;
        count("flash.bits_per_cell", flash.bits_per_cell.value, 5)?;
        require(
            flash
                .pages_per_block
                .value
                .is_multiple_of(flash.bits_per_cell.value),
            "flash.pages_per_block",
            flash.pages_per_block.value,
            &format!(
                "must be a multiple of flash.bits_per_cell, which is {}: a word line has one page for each bit",
                flash.bits_per_cell.value
            ),
        )?;
        count(
            "flash.blocks_per_plane",
            flash.blocks_per_plane.value,
            1 << 20,
        )?;
        let dies = u64::from(flash.channels.value * flash.dies_per_channel.value);
        let planes = dies * u64::from(flash.planes.value);
        let units = planes * u64::from(flash.page_kib.value / 4 * flash.pages_per_block.value);
        let why = format!(
            "with {planes} planes in all a superblock has {units} units of 4 KiB: at most {} can be told apart",
            u32::MAX
        );
        let pages = flash.pages_per_block.value;
        require(
            u32::try_from(units).is_ok(),
            "flash.pages_per_block",
            pages,
            &why,
        )
    }

    fn check_timing(&self) -> Check {
        let flash = self;
        let reads = &flash.read_us.value;
        require(
            (1..=4).contains(&reads.len()),
            "flash.read_us",
            format!("{reads:?}"),
            "must name 1 to 4 page types",
        )?;
        for &read in reads {
            positive("flash.read_us", read, 1e6)?;
        }
        positive("flash.program_us", flash.program_us.value, 1e6)?;
        positive("flash.erase_ms", flash.erase_ms.value, 1e3)?;
        positive("flash.bus_mt_s", flash.bus_mt_s.value, 1e5)?;
        share("flash.bus_overhead_pct", flash.bus_overhead_pct.value, 50.0)?;
        positive("flash.command_us", flash.command_us.value, 1e3)?;
        if let Some(suspend) = &flash.suspend_us {
            positive("flash.suspend_us", suspend.value, 1e4)?;
        }
        flash.check_pauses()?;
        positive(
            "flash.deferral_limit_ms",
            flash.deferral_limit_ms.value,
            1e4,
        )
    }
}

impl Flash {
    fn check_pauses(&self) -> Check {
        let times = [
            ("flash.pulse_us", &self.pulse_us),
            ("flash.erase_suspend_us", &self.erase_suspend_us),
            ("flash.resume_us", &self.resume_us),
        ];
        let suspends = |field, present: bool| {
            let why = "says nothing without flash.suspend_us: this flash cannot suspend";
            require(!present || self.suspend_us.is_some(), field, "present", why)
        };
        for (field, figure) in times {
            suspends(field, figure.is_some())?;
            if let Some(us) = figure {
                positive(field, us.value, 1e5)?;
            }
        }
        suspends("flash.suspends", self.suspends.is_some())?;
        let most = self.suspends.as_ref();
        most.map_or(Ok(()), |most| count("flash.suspends", most.value, 1 << 20))
    }
}

impl Collection {
    fn check(&self) -> Check {
        share("collection.reserve_pct", self.reserve_pct.value, 50.0)?;
        if let Some(reads) = &self.reads_at_once {
            count("collection.reads_at_once", reads.value, 4096)?;
        }
        self.check_marks()?;
        match self.rule.value {
            Rule::DChoices(d) => count("collection.rule.d-choices", d, 1024),
            _ => Ok(()),
        }
    }
}

impl Collection {
    fn check_marks(&self) -> Check {
        let with = [
            ("collection.quantum_kib", self.quantum_kib.is_some()),
            ("collection.catch_up_pct", self.catch_up_pct.is_some()),
        ];
        for (field, given) in with {
            let how = if given { "present" } else { "missing" };
            let why = "goes with collection.marks_kib, and that with it";
            require(given == self.marks_kib.is_some(), field, how, why)?;
        }
        let sizes = [
            ("collection.marks_kib", &self.marks_kib),
            ("collection.quantum_kib", &self.quantum_kib),
        ];
        for (field, figure) in sizes {
            let Some(kib) = figure else { continue };
            count(field, kib.value, 1 << 20)?;
            let why = "must be a multiple of 4: what is placed are units of 4 KiB";
            require(kib.value.is_multiple_of(4), field, kib.value, why)?;
        }
        self.catch_up_pct.as_ref().map_or(Ok(()), |pct| {
            let why = "must be 101 to 1000 % of what each write owes";
            let field = "collection.catch_up_pct";
            require((101..=1000).contains(&pct.value), field, pct.value, why)
        })
    }
}

impl Xpoint {
    fn check(&self) -> Check {
        count("xpoint.channels", self.channels.value, 64)?;
        count("xpoint.dies_per_channel", self.dies_per_channel.value, 64)?;
        count("xpoint.die_mib", self.die_mib.value, 1 << 20)?;
        positive("xpoint.read_us", self.read_us.value, 1e6)?;
        positive("xpoint.write_us", self.write_us.value, 1e6)?;
        positive("xpoint.bus_mt_s", self.bus_mt_s.value, 1e5)?;
        share("xpoint.bus_overhead_pct", self.bus_overhead_pct.value, 50.0)?;
        positive("xpoint.command_us", self.command_us.value, 1e3)?;
        positive(
            "xpoint.deferral_limit_ms",
            self.deferral_limit_ms.value,
            1e4,
        )
    }
}
