//! Reads: alone, many at once, and how many there can be.

use std::collections::BTreeMap;

use sim::drive::Drive;
use sim::ftl::Greedy;
use sim::profile::spec::DriveSpec;
use workload::Op;
use workload::random::mix;

use crate::drives::loops::{Seen, random, sequential};
use crate::drives::{Flash, MIB, UNIT, assert_within, filled, lone_read_ns};
use crate::physics::{spec, with};

/// Random reads of a filled drive.
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

/// Reads in a drive where nothing but the array takes time, as how many wait at each die, the longest queue first.
type Queues = BTreeMap<Vec<u32>, f64>;

/// Mean number of busy dies when `depth` reads are always in flight, each at a die drawn anew.
///
/// All reads take the same time and start together, so all dies end one at the same instant, and what ended is drawn again:
/// a Markov chain of finitely many states ("repeated balls into bins": Becchetti, Clementi, Natale, Pasquale and Posta, SPAA
/// 2015). Its stationary distribution is found by iteration, exactly but for rounding.
fn busy_dies(dies: u32, depth: u32) -> f64 {
    let mut queues = Queues::new();
    let mut all_at_one = vec![0; dies as usize];
    all_at_one[0] = depth;
    queues.insert(all_at_one, 1.0);
    let mut busy = 0.0;
    for _ in 0..10_000 {
        let (next, now_busy) = step(&queues, dies);
        // Twice, because a state may be left and come again.
        let settled = f64::abs(now_busy - busy) < 1e-12;
        (queues, busy) = (next, now_busy);
        if settled && queues.len() > 1 {
            break;
        }
    }
    busy
}

/// One read time later, and how many dies were busy in it.
fn step(queues: &Queues, dies: u32) -> (Queues, f64) {
    // By how many have ended and are to be drawn again.
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
    // Those with the most to draw begin; after each draw those with one less join them.
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

/// Each state with one read more, at a die drawn at random.
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
            // The first of those that are alike: the queues stay in order.
            longer[first] += 1;
            *drawn.entry(longer).or_default() += share * alike as f64 / f64::from(dies);
            first += alike;
        }
    }
    drawn
}

#[test]
fn few_reads_keep_as_many_dies_busy_as_chance_has_it() {
    // One die, or one read: what cannot be otherwise.
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

/// Mean ns that a request waits for its turn, M/G/1: requests come at random, one in `every`, and take one of `times` each.
/// Pollaczek and Khinchine; Kleinrock, Queueing Systems, vol. 1, 5.7.
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
        // What dies let through comes a little more evenly than at random.
        let of_dies = wait_ns(every * f64::from(spec.geometry.dies()), &pages);
        let expected = of_dies + wait_ns(every, &[crossing]);
        let what = format!("mean wait at {load} of the channel, ns");
        assert_within(&what, waited / ios as f64, expected, 0.06);
    }
}
