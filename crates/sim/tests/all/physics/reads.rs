//! Reads: latency of a single read, throughput of many, and queueing.

use std::collections::BTreeMap;

use sim::drive::Drive;
use sim::ftl::Greedy;
use sim::profile::spec::DriveSpec;
use workload::Op;
use workload::random::mix;

use crate::drives::loops::{Seen, random, sequential};
use crate::drives::{Flash, MIB, UNIT, assert_within, filled, lone_read_ns};
use crate::physics::{spec, with};

fn reads(spec: &DriveSpec, depth: u32, ios: u64) -> Seen {
    random(&mut filled(spec), spec.user_bytes, 100, depth, ios)
}

#[test]
fn alone_a_read_is_the_sum_of_its_parts() {
    let nvme = spec();
    let sata = with(|spec| {
        spec.host.queue_limit = Some(32);
        spec.host.half_duplex = true;
        spec.host.unit_link_ns_x1024 = 7_300 * 1024;
        spec.host.command_ns = 20_000;
    });
    for spec in [nvme, sata] {
        let got = reads(&spec, 1, 2000).mean_ns();
        assert_within("depth-1 read, ns", got, lone_read_ns(&spec) as f64, 1e-9);
    }
    let pages = with(|spec| spec.timing.read_ns = [40_000, 60_000, 110_000, 0]);
    let mean_ns = lone_read_ns(&pages) - 40_000 + (40_000 + 60_000 + 110_000) / 3;
    let got = reads(&pages, 1, 50_000).mean_ns();
    assert_within(
        "depth-1 read of three page types, ns",
        got,
        mean_ns as f64,
        0.01,
    );
}

#[test]
fn at_last_the_scarcest_part_is_always_busy() {
    let spec = spec();
    let dies = spec.geometry.dies();
    let channels = f64::from(spec.geometry.channels);
    let array_s = spec.timing.read_ns[0] as f64 / 1e9;
    for (what, spec, bound) in [
        ("dies", spec, f64::from(dies) / array_s),
        (
            "channels",
            with(|spec| spec.timing.unit_transfer_ns = 60_000),
            channels / (60_000.0 + 300.0) * 1e9,
        ),
        (
            "cores",
            with(|spec| (spec.host.cores, spec.host.read_core_ns) = (2, 20_000)),
            2.0 / 20_000.0 * 1e9,
        ),
        (
            "link",
            with(|spec| spec.host.unit_link_ns_x1024 = 10_000 * 1024),
            1.0 / 10_000.0 * 1e9,
        ),
    ] {
        let got = reads(&spec, 64 * dies, 200_000).steady_iops();
        assert_within(
            &format!("random read IOPS bound by {what}"),
            got,
            bound,
            0.01,
        );
    }
}

/// Distribution of queue lengths at the dies, each sorted from the longest, in a drive where only array reads take time.
type Queues = BTreeMap<Vec<u32>, f64>;

/// Mean number of busy dies with `depth` reads in flight, each at a random die.
///
/// All reads take the same time and start together, so all busy dies finish at once, and each finished read is replaced at a
/// random die. This is a finite Markov chain ("repeated balls into bins": Becchetti, Clementi, Natale, Pasquale and Posta, SPAA
/// 2015). Iteration finds its stationary distribution, exact up to rounding.
fn busy_dies(dies: u32, depth: u32) -> f64 {
    let mut queues = Queues::new();
    let mut all_at_one = vec![0; dies as usize];
    all_at_one[0] = depth;
    queues.insert(all_at_one, 1.0);
    let mut busy = 0.0;
    for _ in 0..10_000 {
        let (next, now_busy) = step(&queues, dies);
        // Stationary: the mean no longer changes. A chain of a single state runs through all the steps.
        let settled = f64::abs(now_busy - busy) < 1e-12;
        (queues, busy) = (next, now_busy);
        if settled && queues.len() > 1 {
            break;
        }
    }
    busy
}

/// Advances by one read time. Returns the new distribution and the mean number of dies that were busy.
fn step(queues: &Queues, dies: u32) -> (Queues, f64) {
    // Keyed by the number of finished reads, which must be replaced.
    let mut ended: BTreeMap<usize, Queues> = BTreeMap::new();
    let mut mean = 0.0;
    for (queue, &share) in queues {
        let busy = queue.iter().filter(|&&reads| reads > 0).count();
        mean += busy as f64 * share;
        let left = queue.iter().map(|reads| reads.saturating_sub(1)).collect();
        *ended.entry(busy).or_default().entry(left).or_default() += share;
    }
    let highest = dies as usize;
    let mut drawn = Queues::new();
    // States with the most reads to replace start; after each draw, states with one read less join.
    for to_draw in (0..=highest).rev() {
        for (queue, share) in ended.remove(&to_draw).unwrap_or_default() {
            *drawn.entry(queue).or_default() += share;
        }
        if to_draw > 0 {
            drawn = draw_one(&drawn, dies);
        }
    }
    (drawn, mean)
}

/// Adds one read to each state, at a random die.
fn draw_one(queues: &Queues, dies: u32) -> Queues {
    let mut drawn = Queues::new();
    for (queue, share) in queues {
        let mut first = 0;
        while first < queue.len() {
            let alike = queue[first..]
                .iter()
                .take_while(|&&n| n == queue[first])
                .count();
            let mut longer = queue.clone();
            // Lengthening the first of equal queues keeps the queues sorted.
            longer[first] += 1;
            *drawn.entry(longer).or_default() += share * alike as f64 / f64::from(dies);
            first += alike;
        }
    }
    drawn
}

#[test]
fn few_reads_keep_as_many_dies_busy_as_chance_has_it() {
    // With one die or one read there is only one possible result.
    assert_within("one die", busy_dies(1, 5), 1.0, 1e-9);
    assert_within("one read", busy_dies(8, 1), 1.0, 1e-9);
    for (dies_per_channel, depth) in [
        (1, 4),
        (2, 2),
        (2, 4),
        (2, 8),
        (2, 16),
        (2, 32),
        (4, 8),
        (4, 16),
    ] {
        let mut spec = Flash {
            channels: 2,
            dies_per_channel,
            pages_per_block: 6,
            superblocks: 200,
            user_pct: 87,
        }
        .spec();
        (spec.timing.unit_transfer_ns, spec.timing.command_ns) = (0, 0);
        (spec.host.command_ns, spec.host.read_core_ns) = (0, 0);
        spec.host.unit_link_ns_x1024 = 0;
        let dies = spec.geometry.dies();
        let got = reads(&spec, depth, 500_000).steady_iops();
        let expected = busy_dies(dies, depth) / (spec.timing.read_ns[0] as f64 / 1e9);
        assert_within(
            &format!("IOPS of {depth} reads on {dies} dies"),
            got,
            expected,
            0.01,
        );
    }
}

#[test]
fn a_read_of_what_was_never_written_does_not_see_the_flash() {
    let spec = spec();
    let mut drive = Drive::new(&spec, Greedy);
    sequential(&mut drive, 0, MIB);
    drive.wait_until(drive.idle_at());
    let start = drive.now();
    let got = drive.submit(start, Op::Read, 2 * MIB, 4096) - start;
    let (host, link_ns) = (&spec.host, spec.host.unit_link_ns_x1024 / 1024);
    assert_eq!(got, host.command_ns + host.read_core_ns + link_ns);
    assert_eq!(drive.flash_counts().reads, 0);
}

#[test]
fn littles_law_holds() {
    let spec = spec();
    let drive = filled(&spec);
    for (read_pct, depth, ios) in [
        (100, 1, 100_000),
        (100, 32, 300_000),
        (0, 16, 300_000),
        (70, 32, 2_000_000),
        (100, 128, 300_000),
    ] {
        let seen = random(&mut drive.clone(), spec.user_bytes, read_pct, depth, ios);
        let by_law = seen.steady_iops() * seen.mean_of_second_half_ns() / 1e9;
        let mean_latencies = seen.ios.len() as f64 / by_law;
        assert!(mean_latencies > 1000.0, "too short to say");
        let what = format!("IOPS times latency, {read_pct} % reads");
        assert_within(&what, by_law, f64::from(depth), 0.001);
    }
}

/// Mean waiting time in ns of an M/G/1 queue: a request arrives at random, one in `every` ns on average, and takes one of
/// `times`. Pollaczek and Khinchine; Kleinrock, Queueing Systems, vol. 1, 5.7.
fn wait_ns(every: f64, times: &[u64]) -> f64 {
    let moment = |power| {
        let all = times.iter().map(|&ns| (ns as f64).powi(power));
        all.sum::<f64>() / times.len() as f64
    };
    moment(2) / (2.0 * (every - moment(1)))
}

#[test]
fn reads_that_come_at_random_wait_as_long_as_queues_make_them() {
    let pages = [40_000, 60_000, 110_000];
    let flash = Flash {
        channels: 1,
        dies_per_channel: 64,
        pages_per_block: 6,
        superblocks: 64,
        user_pct: 87,
    };
    let mut spec = flash.spec();
    spec.timing.read_ns[..3].copy_from_slice(&pages);
    (spec.host.cores, spec.host.read_core_ns) = (64, 100);
    spec.host.unit_link_ns_x1024 = 100 * 1024;
    let crossing = spec.timing.command_ns + spec.timing.unit_transfer_ns;
    let alone = lone_read_ns(&spec) - pages[0] + pages.iter().sum::<u64>() / 3;
    let mut drive = filled(&spec);
    for load in [0.5, 0.7, 0.85] {
        let every = crossing as f64 / load;
        let (mut due, mut waited, ios) = (drive.now() as f64, 0.0, 400_000);
        for n in 0..ios {
            let random = (mix(1, n) >> 11) as f64 / (1_u64 << 53) as f64;
            due -= every * (1.0 - random).ln();
            let unit = mix(2, n) % (spec.user_bytes / UNIT);
            let end = drive.submit(due as u64, Op::Read, unit * UNIT, UNIT as u32);
            waited += end as f64 - due - alone as f64;
        }
        drive.wait_until(drive.idle_at());
        // Reads leave the dies a little more evenly than at random.
        let of_dies = wait_ns(every * f64::from(spec.geometry.dies()), &pages);
        let expected = of_dies + wait_ns(every, &[crossing]);
        let what = format!("mean wait at {load} of the channel, ns");
        assert_within(&what, waited / ios as f64, expected, 0.06);
    }
}
