//! Baseline for the engine: the leanest loops that issue 4 KiB random reads and keep a latency histogram. They have no
//! options and handle no failures.
//!
//! `bare sync|uring FILE IOS [DEPTH [BATCH]]` prints one JSON object.
#![allow(unsafe_code, clippy::print_stdout)]

use std::error::Error;
use std::fs::{File, OpenOptions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;

use engine::sys::{monotonic_ns, thread_usage};
use io_uring::{IoUring, opcode, types};
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};

const BLOCK_BYTES: usize = 4096;

/// Log-linear buckets, 64 per octave.
struct Buckets(Box<[u64; 4096]>);

impl Buckets {
    #[inline]
    fn record(&mut self, ns: u64) {
        let ns = ns.max(64);
        let octave = ns.ilog2();
        let index = (u64::from(octave - 6) << 6) + (ns >> (octave - 6));
        self.0[(index & 4095) as usize] += 1;
    }
}

/// A linear congruential generator; each draw returns the byte offset of one block.
struct Offsets {
    state: u64,
    blocks: u64,
}

impl Offsets {
    #[inline]
    fn next(&mut self) -> u64 {
        self.state = self
            .state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let block = (u128::from(self.state) * u128::from(self.blocks)) >> 64;
        block as u64 * BLOCK_BYTES as u64
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize, default: u64| arguments.get(i).map_or(Ok(default), |a| a.parse());
    let (kind, path) = match arguments.as_slice() {
        [kind, path, ..] => (kind.as_str(), path),
        _ => return Err("bare sync|uring FILE IOS [DEPTH [BATCH]]".into()),
    };
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_DIRECT)
        .open(path)?;
    let blocks = rustix::fs::seek(&file, rustix::fs::SeekFrom::End(0))? / BLOCK_BYTES as u64;
    let offsets = Offsets { state: 1, blocks };
    let ios = number(2, 1_000_000)?;
    let (depth, batch) = (number(3, 32)? as usize, number(4, 1)? as usize);
    let mut buckets = Buckets(
        vec![0; 4096]
            .into_boxed_slice()
            .try_into()
            .map_err(|_| "size")?,
    );

    let (usage, start) = (thread_usage(), monotonic_ns());
    match kind {
        "sync" => sync(&file, ios, offsets, &mut buckets)?,
        "uring" => uring(&file, ios, depth, batch, offsets, &mut buckets)?,
        other => return Err(format!("no loop {other:?}").into()),
    }
    let elapsed = monotonic_ns() - start;
    let used = thread_usage();
    let per_io = |ns: u64| ns as f64 / ios as f64;
    println!(
        "{{\"iops\": {:.0}, \"user_ns_per_io\": {:.1}, \"sys_ns_per_io\": {:.1}, \"recorded\": {}}}",
        ios as f64 / elapsed as f64 * 1e9,
        per_io(used.user_ns - usage.user_ns),
        per_io(used.sys_ns - usage.sys_ns),
        buckets.0.iter().sum::<u64>(),
    );
    Ok(())
}

fn memory(bytes: usize) -> Result<*mut u8, Box<dyn Error>> {
    let flags = MapFlags::PRIVATE | MapFlags::POPULATE;
    // SAFETY: a new anonymous mapping; it lives until the process ends.
    let base = unsafe {
        mmap_anonymous(
            std::ptr::null_mut(),
            bytes,
            ProtFlags::READ | ProtFlags::WRITE,
            flags,
        )?
    };
    Ok(base.cast())
}

fn sync(
    file: &File,
    ios: u64,
    mut offsets: Offsets,
    buckets: &mut Buckets,
) -> Result<(), Box<dyn Error>> {
    // SAFETY: a mapping of exactly this length that nothing else uses.
    let buffer = unsafe { std::slice::from_raw_parts_mut(memory(BLOCK_BYTES)?, BLOCK_BYTES) };
    for _ in 0..ios {
        let offset = offsets.next();
        let submit = monotonic_ns();
        rustix::io::pread(file, &mut *buffer, offset)?;
        buckets.record(monotonic_ns() - submit);
    }
    Ok(())
}

fn uring(
    file: &File,
    ios: u64,
    depth: usize,
    batch: usize,
    mut offsets: Offsets,
    buckets: &mut Buckets,
) -> Result<(), Box<dyn Error>> {
    let mut ring: IoUring = IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .build(depth as u32)?;
    let base = memory(depth * BLOCK_BYTES)?;
    let iovec = libc::iovec {
        iov_base: base.cast(),
        iov_len: depth * BLOCK_BYTES,
    };
    // SAFETY: the mapping lives until the process ends.
    unsafe { ring.submitter().register_buffers(&[iovec])? };
    ring.submitter().register_files(&[file.as_raw_fd()])?;
    ring.submitter().register_ring_fd()?;

    let mut submitted = vec![0_u64; depth];
    let mut free: Vec<usize> = (0..depth).collect();
    let (mut issued, mut done) = (0, 0);
    while done < ios {
        let now = monotonic_ns();
        let mut queue = ring.submission();
        while issued < ios {
            let Some(slot) = free.pop() else { break };
            submitted[slot] = now;
            let address = base.wrapping_add(slot * BLOCK_BYTES);
            let entry = opcode::ReadFixed::new(types::Fixed(0), address, BLOCK_BYTES as u32, 0)
                .offset(offsets.next())
                .build()
                .user_data(slot as u64);
            // SAFETY: each slot has its own memory, used by one I/O at a time.
            unsafe { queue.push(&entry)? };
            issued += 1;
        }
        drop(queue);
        ring.submit_and_wait(batch.min((issued - done) as usize))?;
        let now = monotonic_ns();
        for entry in ring.completion() {
            let slot = entry.user_data() as usize;
            buckets.record(now - submitted[slot]);
            free.push(slot);
            done += 1;
        }
    }
    Ok(())
}
