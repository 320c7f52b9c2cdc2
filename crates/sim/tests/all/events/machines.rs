//! Random small machines.

use sim::profile::spec::{
    DriveOptions, DriveSpec, Geometry, HostSpec, HousekeepingSpec, Marks, Pauses, Timing,
};
use workload::random::mix;

/// Random numbers for one machine and one purpose.
pub struct Draw {
    seed: u64,
    n: u64,
}

/// `DRAW=n` draws other machines.
fn others() -> u64 {
    std::env::var("DRAW").map_or(0, |draw| draw.parse().unwrap())
}

impl Draw {
    pub fn new(seed: u64) -> Self {
        Self {
            seed: mix(0x0AC1 + others(), seed),
            n: 0,
        }
    }

    pub fn between(&mut self, from: u64, to: u64) -> u64 {
        self.n += 1;
        from + mix(self.seed, self.n) % (to - from + 1)
    }

    pub fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.between(0, all.len() as u64 - 1) as usize]
    }
}

fn geometry(draw: &mut Draw) -> Geometry {
    let bits_per_cell = draw.between(1, 4) as u32;
    Geometry {
        channels: draw.between(1, 4) as u32,
        dies_per_channel: draw.between(1, 4) as u32,
        planes: draw.one_of(&[1, 2, 4]),
        page_bytes: draw.one_of(&[4096, 8192, 16384]),
        pages_per_block: bits_per_cell * draw.between(3, 8) as u32,
        bits_per_cell,
        superblocks: draw.between(120, 240) as u32,
    }
}

fn timing(draw: &mut Draw, geometry: &Geometry) -> Timing {
    let lower = draw.between(20_000, 80_000);
    let bus_mb_s = draw.between(200, 1200);
    Timing {
        read_ns: std::array::from_fn(|page| lower + lower * page as u64 / 4),
        program_ns: u64::from(geometry.bits_per_cell) * draw.between(200_000, 700_000),
        erase_ns: draw.between(2_000_000, 8_000_000),
        unit_transfer_ns: 4_300_000 / bus_mb_s,
        command_ns: draw.between(100, 500),
        suspend_ns: draw.one_of(&[None, Some(5_000), Some(20_000), Some(50_000)]),
        deferral_limit_ns: draw.between(3_000_000, 30_000_000),
        pauses: Pauses::default(),
    }
}

fn host(draw: &mut Draw) -> HostSpec {
    let sata = draw.between(0, 2) == 0;
    let link_mb_s = if sata {
        550
    } else {
        draw.one_of(&[1500, 3200, 6400])
    };
    HostSpec {
        queue_limit: if sata {
            Some(32)
        } else {
            draw.one_of(&[None, None, Some(8), Some(48)])
        },
        command_ns: draw.between(4_000, 20_000),
        unit_link_ns_x1024: 4096 * 1024 * 1000 / link_mb_s,
        half_duplex: sata,
        cores: draw.between(1, 4) as u32,
        read_core_ns: draw.between(1_000, 8_000),
        write_core_ns: draw.between(1_000, 10_000),
    }
}

/// Options that not every machine has: striped placement, and frames of a command.
fn options(draw: &mut Draw, spec: &DriveSpec) -> DriveOptions {
    let dies = spec.geometry.dies();
    let stripes: Vec<u32> = (1..=dies).filter(|&of| dies.is_multiple_of(of)).collect();
    DriveOptions {
        stripe_dies: draw.one_of(&stripes),
        turnaround_ns: draw.between(0, 6_000),
        ..DriveOptions::default()
    }
}

fn pauses(draw: &mut Draw) -> Pauses {
    Pauses {
        pulse_ns: draw.one_of(&[0, 40_000, 90_000]),
        erase_suspend_ns: draw.one_of(&[None, Some(100_000), Some(500_000)]),
        resume_ns: draw.one_of(&[0, 0, 60_000, 200_000]),
        at_most: draw.one_of(&[None, None, Some(3), Some(12)]),
    }
}

/// Returns the machine of a number. Every other one has options, and two of four have conditions on suspension.
pub fn machine(seed: u64, draw: &mut Draw) -> DriveSpec {
    let mut spec = plain(draw);
    if !seed.is_multiple_of(2) {
        spec.options = options(&mut Draw::new(!seed), &spec);
    }
    if seed % 4 > 1 {
        spec.timing.pauses = pauses(&mut Draw::new(!seed / 3));
    }
    if (PLAIN_UNITS..NARROW_PATH).contains(&seed) {
        mapping_units(&mut Draw::new(!seed / 5), &mut spec);
    }
    if seed >= COLLECTING {
        collecting(&mut Draw::new(!seed / 13), &mut spec);
    } else if seed >= NARROW_PATH {
        narrow_path(&mut Draw::new(!seed / 11), &mut spec);
    }
    spec
}

/// From this number on, mapping units have several units.
pub const PLAIN_UNITS: u64 = 50;
/// From this number on, units are plain again, and the data path bounds writes.
const NARROW_PATH: u64 = 70;
/// From this number on, collection has marks and uses cores, and the firmware stops; the path is wide again.
const COLLECTING: u64 = 90;

fn collecting(draw: &mut Draw, spec: &mut DriveSpec) {
    let superblock = spec.geometry.units_per_superblock();
    spec.reserve = 6;
    let apart_units = draw.between(u64::from(superblock) / 8, u64::from(superblock)) as u32;
    spec.options.marks = Some(Marks {
        apart_units,
        quantum_units: draw.between(1, u64::from(apart_units).div_ceil(2)) as u32,
        catch_up_pct: draw.between(110, 300) as u32,
    });
    spec.options.move_core_ns = draw.between(500, 8_000);
    spec.options.housekeeping = Some(HousekeepingSpec {
        seed: draw.between(0, 1_000_000),
        every_units: draw.between(500, 3_000) as u32,
        pause_ns: draw.between(200_000, 2_000_000),
    });
}

/// A path as slow as the dies bounds host writes; one twice as fast bounds them together with moves.
fn narrow_path(draw: &mut Draw, spec: &mut DriveSpec) {
    let geometry = &spec.geometry;
    let flash_ns =
        spec.timing.program_ns / u64::from(geometry.units_per_program() * geometry.dies());
    spec.options.data_unit_ns_x1024 = draw.one_of(&[flash_ns / 2, flash_ns, 2 * flash_ns]) * 1024;
}

/// A mapping unit that divides a page, and a number of them that the buffer can hold in part.
fn mapping_units(draw: &mut Draw, spec: &mut DriveSpec) {
    spec.geometry.page_bytes = 16384;
    let page = spec.geometry.units_per_read();
    let units: Vec<u32> = [2, 4, 8, 16]
        .into_iter()
        .filter(|&units| page.is_multiple_of(units))
        .collect();
    spec.options.mapping_units = draw.one_of(&units);
    spec.options.write_contexts = draw.one_of(&[1, 3, 8, 20]);
    let held = spec.options.write_contexts * spec.options.mapping_units;
    let lines = u64::from(spec.geometry.units_per_program() * spec.geometry.dies());
    let buffer_units = lines * draw.between(15, 80) / 10 + 16 + u64::from(held);
    spec.buffer_bytes = buffer_units * 4096;
    let user_pct = 100 - draw.between(7, 30);
    spec.user_bytes = spec.geometry.raw_bytes() / 4096 * user_pct / 100 / 64 * 64 * 4096;
}

fn plain(draw: &mut Draw) -> DriveSpec {
    let geometry = geometry(draw);
    let timing = timing(draw, &geometry);
    let host = host(draw);
    let spare_pct = draw.between(7, 30);
    let lines = u64::from(geometry.units_per_program() * geometry.dies());
    // From little more than the word lines being filled and programmed, up to many for each die.
    let buffer_units = lines * draw.between(15, 80) / 10 + 16;
    DriveSpec {
        geometry,
        timing,
        host,
        user_bytes: geometry.raw_bytes() / 4096 * (100 - spare_pct) / 100 / 64 * 64 * 4096,
        buffer_bytes: buffer_units * 4096,
        reserve: 4,
        power_loss_protection: true,
        logical_block_bytes: 4096,
        erase_every: 1,
        options: DriveOptions::default(),
    }
}
