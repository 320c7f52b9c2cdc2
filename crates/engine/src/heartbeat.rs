//! A thread that only sleeps and wakes, and records every late wake-up with counts that explain it.
//!
//! When a whole process is stopped (a signal, a frozen cgroup, a debugger, a suspended host, a paused virtual machine),
//! none of its threads can see it. Its I/Os take as long as the stop, and nothing else shows why. A thread that sleeps
//! until a given time sees afterwards that it woke late.
//!
//! A thread that lacked a CPU also wakes late. But then the scheduler has counted it as ready and waiting, or the
//! hypervisor has counted the CPU as stolen. This module records these counts; Python judges them.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Release};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use workload::units::SECOND_NS;

use crate::error::EngineError;
use crate::sys::{boottime_ns, monotonic_ns, sleep_until, wait_while, wake_all};

/// Longest time for one reading. A slower reading is repeated, because its parts must belong to one moment.
const READING_NS: u64 = 1_000_000;
/// Most readings taken in a row; if all of them are too slow, the last is used.
const READINGS: u32 = 100;
/// Room for the lines of `/proc/stat` about processors, which come first.
const STAT_BYTES: usize = 64 << 10;
/// Column of stolen time in such a line; column 0 is the processor's name.
const STOLEN_COLUMN: usize = 8;

/// A sleep of the thread that lasted too long, or that contained a suspend. Times are those of [`monotonic_ns`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// When the sleep began.
    pub began_ns: u64,
    /// When the sleep was to end.
    pub due_ns: u64,
    /// When the sleep ended.
    pub ended_ns: u64,
    /// Lower bound of the time that the host was suspended, which `CLOCK_MONOTONIC` leaves out.
    pub suspended_ns: u64,
    /// Time in which the thread ran, or was ready and waited for a CPU; `None` if the kernel does not count it.
    pub ready_ns: Option<u64>,
    /// Most time that the hypervisor took from any one CPU, as far as it reports that.
    pub stolen_ns: u64,
}

/// The running thread, which ends when this value is dropped.
#[derive(Debug)]
pub struct Heartbeat {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    /// Number of beats that were asked for.
    asked: AtomicU32,
    /// Value of `asked` before the last beat.
    beaten: AtomicU32,
    /// 1 if the thread is to end.
    ended: AtomicU32,
    gaps: Mutex<Vec<Gap>>,
}

impl Heartbeat {
    /// Starts the thread. It wakes every `period` and records sleeps that lasted longer by `least` or contained a
    /// suspend.
    ///
    /// # Errors
    /// [`EngineError::Setup`] if the thread cannot be created.
    pub fn start(period: Duration, least: Duration) -> Result<Self, EngineError> {
        let shared = Arc::new(Shared::default());
        let beating = Arc::clone(&shared);
        let ns = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let (period_ns, least_ns) = (ns(period), ns(least));
        let thread = std::thread::Builder::new()
            .name("heartbeat".to_owned())
            .spawn(move || beating.beat(period_ns, least_ns))
            .map_err(|error| EngineError::setup("starting the heartbeat", error))?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// Returns the late sleeps recorded since the last call. Wakes the thread first, so that the current sleep is
    /// recorded too.
    #[must_use]
    pub fn gaps(&self) -> Vec<Gap> {
        let wanted = self.ask();
        loop {
            let beaten = self.shared.beaten.load(Acquire);
            if beaten.wrapping_sub(wanted) < u32::MAX / 2 {
                break;
            }
            wait_while(&self.shared.beaten, beaten);
        }
        std::mem::take(&mut *self.shared.gaps())
    }

    fn ask(&self) -> u32 {
        let wanted = self.shared.asked.fetch_add(1, AcqRel).wrapping_add(1);
        wake_all(&self.shared.asked);
        wanted
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.shared.ended.store(1, Release);
        self.ask();
        if let Some(thread) = self.thread.take() {
            // The thread returns nothing, and a panic has already printed its message.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn gaps(&self) -> std::sync::MutexGuard<'_, Vec<Gap>> {
        self.gaps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn beat(&self, period_ns: u64, least_ns: u64) {
        let mut counters = Counters::open();
        let mut last = counters.read();
        let mut asked = 0;
        while self.ended.load(Acquire) == 0 {
            let due_ns = last.at_ns.saturating_add(period_ns);
            sleep_until(due_ns, &self.asked, asked);
            asked = self.asked.load(Acquire);
            let now = counters.read();
            let gap = Gap {
                stolen_ns: 0,
                ..last.until(due_ns, &now)
            };
            if now.at_ns.saturating_sub(due_ns) > least_ns || gap.suspended_ns > 0 {
                let stolen_ns = counters.stolen_since_last();
                self.gaps().push(Gap { stolen_ns, ..gap });
            } else if counters.steals {
                counters.stolen_since_last();
            }
            last = now;
            self.beaten.store(asked, Release);
            wake_all(&self.beaten);
        }
    }
}

/// Counts read at one moment.
#[derive(Clone, Copy, Debug, Default)]
// Each name needs its unit.
#[allow(clippy::struct_field_names)]
struct Reading {
    at_ns: u64,
    /// Lower and upper bound of how far `CLOCK_BOOTTIME` was ahead; the two clocks are read one after the other.
    ahead_ns: (u64, u64),
    ready_ns: Option<u64>,
}

impl Reading {
    fn until(&self, due_ns: u64, later: &Self) -> Gap {
        Gap {
            began_ns: self.at_ns,
            due_ns,
            ended_ns: later.at_ns,
            suspended_ns: later.ahead_ns.0.saturating_sub(self.ahead_ns.1),
            ready_ns: self
                .ready_ns
                .zip(later.ready_ns)
                .map(|(before, after)| after.saturating_sub(before)),
            stolen_ns: 0,
        }
    }
}

/// Where the counts come from. The thread that they describe holds the files open.
#[derive(Debug)]
struct Counters {
    schedstat: Option<File>,
    stat: Option<File>,
    text: Box<[u8]>,
    stolen_ns: Vec<u64>,
    /// Whether any time was ever stolen. If not, no hypervisor reports stolen time, and reading `/proc/stat` at each
    /// beat would be useless. The kernel takes long to produce that file on a host with many CPUs.
    steals: bool,
}

impl Counters {
    fn open() -> Self {
        let mut counters = Self {
            schedstat: File::open("/proc/thread-self/schedstat").ok(),
            stat: File::open("/proc/stat").ok(),
            text: vec![0; STAT_BYTES].into(),
            stolen_ns: Vec::new(),
            steals: false,
        };
        counters.stolen_since_last();
        counters
    }

    /// Reads all counts at one moment. If the thread waited for a CPU between two counts, only one would include the
    /// wait.
    fn read(&self) -> Reading {
        let mut reading = Reading::default();
        for _ in 0..READINGS {
            let before_ns = monotonic_ns();
            let ready_ns = self.ready_ns();
            let boot_ns = boottime_ns();
            let at_ns = monotonic_ns();
            reading = Reading {
                at_ns,
                ahead_ns: (
                    boot_ns.saturating_sub(at_ns),
                    boot_ns.saturating_sub(before_ns),
                ),
                ready_ns,
            };
            if at_ns - before_ns < READING_NS {
                break;
            }
        }
        reading
    }

    fn ready_ns(&self) -> Option<u64> {
        let mut bytes = [0; 128];
        let length = self.schedstat.as_ref()?.read_at(&mut bytes, 0).ok()?;
        ready_of(std::str::from_utf8(&bytes[..length]).ok()?)
    }

    /// Returns the most time stolen from any one CPU since the last call.
    fn stolen_since_last(&mut self) -> u64 {
        let read = |file: &File| file.read_at(&mut self.text, 0).ok();
        let length = self.stat.as_ref().and_then(read).unwrap_or(0);
        let now = stolen_of(&self.text[..length]);
        let most = now
            .iter()
            .zip(&self.stolen_ns)
            .map(|(after, before)| after.saturating_sub(*before))
            .max();
        self.steals |= now.iter().any(|&ns| ns > 0);
        self.stolen_ns = now;
        most.unwrap_or(0)
    }
}

/// Returns time on a CPU plus time ready for one, from a line of `schedstat`.
fn ready_of(text: &str) -> Option<u64> {
    let mut columns = text.split_whitespace().map(str::parse::<u64>);
    Some(columns.next()?.ok()? + columns.next()?.ok()?)
}

/// Returns the time stolen from each CPU, from the text of `/proc/stat`.
fn stolen_of(text: &[u8]) -> Vec<u64> {
    let tick_ns = SECOND_NS / rustix::param::clock_ticks_per_second().max(1);
    text.split(|&byte| byte == b'\n')
        .take_while(|line| line.starts_with(b"cpu"))
        .filter(|line| line.get(3).is_some_and(u8::is_ascii_digit))
        .filter_map(|line| std::str::from_utf8(line).ok())
        .map(|line| {
            let ticks = line.split_whitespace().nth(STOLEN_COLUMN);
            ticks.and_then(|text| text.parse::<u64>().ok()).unwrap_or(0) * tick_ns
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_is_noted_by_then() {
        let none_is_short =
            Heartbeat::start(Duration::from_millis(1), Duration::ZERO).expect("a thread");
        let before_ns = monotonic_ns();
        std::thread::sleep(Duration::from_millis(20));
        let gaps = none_is_short.gaps();
        assert!(!gaps.is_empty());
        for gap in &gaps {
            assert!(gap.began_ns < gap.due_ns && gap.due_ns <= gap.ended_ns);
            assert!(gap.ended_ns <= monotonic_ns() && gap.ended_ns >= before_ns);
            assert_eq!(gap.suspended_ns, 0);
        }
        assert!(gaps.is_sorted_by_key(|gap| gap.began_ns));
    }

    #[test]
    fn a_beat_that_was_asked_for_is_no_gap() {
        let beat = Heartbeat::start(Duration::from_secs(3600), Duration::ZERO).expect("a thread");
        assert_eq!(beat.gaps(), []);
        assert_eq!(beat.gaps(), []);
    }

    #[test]
    fn a_suspend_is_what_lies_between_the_bounds_of_two_readings() {
        let reading = |at_ns, least, most| Reading {
            at_ns,
            ahead_ns: (least, most),
            ready_ns: Some(at_ns / 10),
        };
        let gap = reading(1000, 50, 70).until(1500, &reading(2000, 900, 905));
        let expected = Gap {
            began_ns: 1000,
            due_ns: 1500,
            ended_ns: 2000,
            suspended_ns: 830,
            ready_ns: Some(100),
            stolen_ns: 0,
        };
        assert_eq!(gap, expected);
        let awake = reading(1000, 50, 70).until(1500, &reading(2000, 65, 90));
        assert_eq!(awake.suspended_ns, 0);
    }

    #[test]
    fn the_kernels_texts_are_read() {
        assert_eq!(ready_of("100 23 7\n"), Some(123));
        assert_eq!(ready_of("100"), None);
        let stat = "cpu  1 2 3 4 5 6 7 30 0 0\ncpu0 1 2 3 4 5 6 7 10 0 0\ncpu1 1 2 3 4 5 6 7 20 0 0\nintr 9 9 9 9 9 9 9 9 9\n";
        let tick_ns = SECOND_NS / rustix::param::clock_ticks_per_second();
        assert_eq!(stolen_of(stat.as_bytes()), [10 * tick_ns, 20 * tick_ns]);
    }
}
