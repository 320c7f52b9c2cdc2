"""The texts of all warnings, by code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["alarm", "note"]
"""Alarm: figures may be misleading. Note: a fact about drive or request, not a fault."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One kind of warning: what is wrong, why it matters, what to do. `{names}` are replaced by facts.

    `advice` is for `ssdlab measure` and may name its options. `in_step` replaces it for a step of a run,
    whose command has other options. `simulated` replaces it for a simulated drive. An empty text replaces
    nothing.
    """

    what: str
    cause: str
    advice: str
    in_step: str = ""
    simulated: str = ""
    level: Level = "alarm"


CATALOGUE: dict[str, Entry] = {
    "paused": Entry(
        "ssdlab was paused {times}, {length} in all, first {when}; the figures include it",
        "a SIGSTOP, frozen cgroup, suspended host or paused virtual machine: I/Os become slow, "
        "late or dropped, and the drive rests",
        "measure again without a Ctrl-Z or a debugger, on a host that stays awake (systemd-inhibit)",
        in_step="run it again without a Ctrl-Z or a debugger, on a host that stays awake (systemd-inhibit)",
    ),
    "host-limited": Entry(
        "the CPUs were {busy} busy with {threads} threads on {cores} cores: the host may be the limit",
        "threads that wait for a CPU submit late and stamp completions late",
        "use fewer threads with --engine uring and more depth, stop other work, or take more cores",
        in_step="stop other work, take more cores, or ask for fewer threads and more depth",
    ),
    "host-shared": Entry(
        "the CPUs were {busy} busy, only {own} by ssdlab: other work may be the limit",
        "threads that wait for a CPU submit late and stamp completions late, whichever process uses it",
        "stop other work on this host, or take more cores; fewer threads will not help",
    ),
    "run-queue-delay": Entry(
        "threads waited {delay} per I/O for a CPU on average, and p99 is {p99}: the host affects the tail",
        "the kernel's schedstat counts the time a thread was ready to run but had no CPU",
        "stop other work on this host; use no more threads than it has cores",
    ),
    "rate-not-reached": Entry(
        "{achieved} of the requested {requested} IOPS reached, {share}",
        "the drive or the host could not keep up with the schedule; response times still count from the "
        "scheduled start",
        "lower --rate; if the host has CPU time left, raise --threads or --depth",
        in_step="ask for a lower rate; if the host has CPU time left, allow more I/Os in flight",
        simulated="ask for a lower rate, or allow more I/Os in flight",
    ),
    "depth-not-reached": Entry(
        "{reached} I/Os were in flight on average, not the requested {asked}",
        "I/Os completed before the next were submitted: the drive never saw the requested depth",
        "treat the figures as those of the lower depth; measure for longer, or use more threads",
    ),
    "host-between": Entry(
        "an I/O was in flight for only {share} of the time: the host used the rest",
        "with one I/O in flight, the drive idles while a thread stamps a completion and submits the next I/O",
        "treat throughput as that of drive and host together; service times are still the drive's",
    ),
    "device-depth": Entry(
        "the block device had {reached} I/Os in flight on average; the threads had submitted {due}",
        "a file system, the scheduler, a small queue or a throttle held the rest back between "
        "threads and device",
        "treat the figures as those of fewer I/Os in flight; test the raw device without a scheduler",
    ),
    "late": Entry(
        "{late} of {count} submitted over 1 ms after they were due",
        "all threads were waiting for the drive, or had no CPU; response time includes the delay, "
        "service time does not",
        "judge by response time; if the host has CPU time left, raise --threads or --depth so "
        "that I/Os are submitted on time",
        in_step="judge by response time; if the host has CPU time left, allow more I/Os in flight so that "
        "they are submitted on time",
        simulated="judge by response time; allow more I/Os in flight so that they are submitted on time",
    ),
    "dropped": Entry(
        "{count} due but never issued{waiting}",
        "the backlog of the open loop was full: the drive or the host is slower than the rate",
        "lower --rate, or raise --backlog; a dropped I/O's wait is a lower bound of its response time",
        in_step="ask for a lower rate; a dropped I/O's wait is a lower bound of its response time",
    ),
    "undone": Entry(
        "{count} due but not started a second after the end",
        "the queue of the open loop had grown by then: the drive or the host is slower than the rate",
        "lower --rate; a dropped I/O's wait is a lower bound of its response time",
        in_step="ask for a lower rate; a dropped I/O's wait is a lower bound of its response time",
    ),
    "failed": Entry(
        "{count} failed ({errors})",
        "the drive, its link or the kernel returned errors; latency figures exclude failed I/Os",
        "check the kernel log and the drive's health before trusting any figure",
    ),
    "meter-gone": Entry(
        "no power reading: {why}",
        "the meter or its connection failed during the run, which continued without it",
        "check the meter, and run again if power matters; later measurements have none either",
    ),
    "meter-gap": Entry(
        "no power figure: {meter} covers {covered} of the measured time",
        "samples are missing: the power drawn in the gaps is unknown",
        "check that the meter and its network keep up, or lower the sample rate",
    ),
    "meter-window": Entry(
        "no power figure: {window} is under ten times the clock error of {meter}, {bound}",
        "at the edges of so short a window, samples may belong to other work",
        "measure for longer, or use a meter with a higher sample rate",
        level="note",
    ),
    "meter-nothing": Entry(
        "no power figure: the rails of {meter} add up to {watts} W",
        "a working drive draws power: the meter is not in its supply, or its polarity is reversed",
        "find out which rails feed the drive, and name them: --meter {meter},rails=A+B",
    ),
    "meter-drift": Entry(
        "the clock of {meter} drifts by {drift} ppm",
        "the host timestamps the samples, but so inaccurate a clock may not keep its stated sample rate",
        "check the meter's clock, and compare its energy with that of another meter",
    ),
    "meter-lost": Entry(
        "{lost} samples of {meter} were lost",
        "the meter, its buffer or the network dropped them; means exclude that time",
        "lower the sample rate, or use a better connection to the meter",
    ),
    "meter-order": Entry(
        "{count} samples of {meter} came out of order",
        "samples no later than the one before are left out: which time is right is unknown",
        "check the meter's clock and its server; time without samples has no figure",
    ),
    "nothing-measured": Entry(
        "no I/O was counted: there is no result",
        "no I/O completed in the measured time: they were due too rarely, or all failed",
        "measure for longer with --seconds, or ask for more I/Os a second",
        in_step="make the step longer, or ask for more I/Os a second",
    ),
    "few-samples": Entry(
        "only {count} done, so the higher percentiles are left out",
        "a percentile needs at least 10 samples beyond it: p99 needs 1000 I/Os, p99.9 needs 10,000",
        "measure for longer with --seconds",
        in_step="make the step longer: leave out --quick, or raise the method's time parameters",
        level="note",
    ),
    "scheduler": Entry(
        "the I/O scheduler of {device} is {scheduler}, not none",
        "a scheduler holds, merges and reorders I/Os, and costs CPU time for each",
        "switch it off: echo none > /sys/block/{device}/queue/scheduler",
    ),
    "write-cache-unknown": Entry(
        "unknown whether the write cache of {device} is on",
        "with the cache on, a write completes before it is durable; figures of the two states are "
        "not comparable",
        "find out with the drive's own tool, and note it with the result",
    ),
    "governor": Entry(
        "the CPU frequency governor is {governor}, not performance",
        "a CPU that clocks down while it waits for the drive adds its own wake-up time to each latency",
        "set it: cpupower frequency-set -g performance",
    ),
    "file-system": Entry(
        "the target is a file: its file system is part of the figures",
        "a file system maps, splits, journals and locks; it may also share the drive with other files",
        "for figures of the drive alone, test the block device",
        level="note",
    ),
    "buffered": Entry(
        "writes went through the page cache: their latency is that of memory",
        "a cached write reaches the drive later, or with the flush that follows it",
        "for the drive alone leave out --buffered; or add --fdatasync 1 and read the flush latency",
        in_step="for the drive alone leave out buffered; or flush after each write and read the "
        "flush latency",
    ),
    "unwritten-allowed": Entry(
        "reads of never-written parts were allowed: this measures the tool and the host, not the drive",
        "reads of never-written blocks are answered without touching the medium",
        "write the span first: --precondition fill",
        in_step="fill the span first",
    ),
    "written-unknown": Entry(
        "unknown whether the blocks read had ever been written",
        "devices do not report this, and reads of never-written blocks do not touch the medium",
        "write it first: --precondition fill; or make sure that the drive is full",
        in_step="fill it first, or make sure that the drive is full",
    ),
    "rotational": Entry(
        "the kernel reports {device} as a rotating disk",
        "a hard disk differs from any SSD; virtual disks often report this by mistake",
        "check what the drive is; for a virtual disk, set queue/rotational to 0",
    ),
    "split": Entry(
        "the kernel splits each I/O of {block} into pieces of at most {limit} for {device}",
        "the drive sees more and smaller I/Os than requested",
        "use blocks of at most that size, or raise queue/max_sectors_kb where the hardware allows it",
        level="note",
    ),
    "queue-limit": Entry(
        "{in_flight}, but a queue of {device} holds {limit}: the rest waited in the kernel",
        "I/Os waiting in the kernel count as in flight and in the latency, but are not at the drive",
        "raise queue/nr_requests, or spread threads over CPUs of different queues",
    ),
    "drive-queue": Entry(
        "{in_flight}, but the drive holds {limit} at once: the rest waited in the host",
        "its link carries no more; I/Os waiting in the host count as in flight and in the latency",
        "use a depth of at most {limit}: more adds waiting, not throughput",
        level="note",
    ),
    "link": Entry(
        "the PCIe link of {device} runs at {link}",
        "a link slower than drive and slot support limits throughput",
        "check the slot, its lanes and the BIOS settings",
    ),
    "settings-left": Entry(
        "{what}",
        "a killed run cannot restore settings: this was measured with its settings",
        "{advice}",
    ),
    "kernel-view": Entry(
        "{what}",
        "the kernel misreports the drive: it may skip flushes, or split blocks",
        "distrust the figures of flushed and synchronous writes",
    ),
    "condition-left": Entry(
        "{what}",
        "a setting that was not restored stays in force for the drive's next user",
        "restore it: ssdlab conditions restore; blocks with metadata: nvme format",
    ),
    "unseen": Entry(
        "unknown whether another process used the target: {what} could not be seen",
        "an unprivileged user cannot inspect other users' processes",
        "run as root, or with the capabilities named in docs/safety.md, to check for it",
        level="note",
    ),
    "debug-build": Entry(
        "the native part of ssdlab is a {profile} build",
        "an unoptimised tool costs several times as much CPU time per I/O",
        "build it with make setup, or with maturin develop --release",
    ),
    "steady-before-full": Entry(
        "{what} looks steady after only {fills} user capacities were written since the purge",
        "a drive with free blocks left by the purge is fast and even: five rounds can look steady "
        "before it was overwritten twice",
        "write more before the rounds, or allow more rounds; treat the figures as those of a "
        "drive that is not yet full",
    ),
    "scaled-drive": Entry(
        "the drive is simulated at 1/{scale} of its size: {what}",
        "heat, write buffer and idle delay are as at full size; a second or gigabyte counts for more on a "
        "smaller drive",
        "use scale=1 to compare figures with those of a real drive",
        level="note",
    ),
    "prepared": Entry(
        "the drive was {how}, which is not SNIA's preconditioning; {after}",
        "one random pass imitates long random writing, and a placed state computes its result; neither is "
        "in SNIA's specification",
        "use a method with --precondition full to compare figures with SNIA's",
        level="note",
    ),
    "throttled": Entry(
        "thermal throttling {when}: {temperature} at the end{limit}",
        "an overheated drive slows down until it has cooled: the figures are those of a throttled drive",
        "cool it as in use, or treat the figures as those of a hot drive",
        in_step="cool it as in use; figures marked throttled are those of a hot drive",
    ),
    "media-errors": Entry(
        "{what} (drive counter)",
        "the drive could not correct what it read: data may be lost, and its retries lengthen the tail",
        "check its error log, and do not publish the figures of a drive that loses data",
    ),
    "link-errors": Entry(
        "{what}",
        "the link repeats a corrupted transfer, which delays its I/O",
        "check cable, slot and riser, and measure again",
    ),
    "drive-error": Entry(
        "{what}",
        "the kernel logged an error of the drive, even if its retry succeeded",
        "check the kernel log and the drive's health before trusting any figure",
    ),
    "unprepared": Entry(
        "the drive was not prepared as requested: {what}",
        "where a write failed, the old data remains: the state of the drive is unknown",
        "prepare it again, and check the kernel log and the drive's health",
    ),
    "link-changed": Entry(
        "{what} during the measurement",
        "a link that retrains loses transfers, and may be slower afterwards",
        "check cable, slot and riser, and measure again",
    ),
    "drive-reset": Entry(
        "{what}",
        "a command timed out, or the drive lost its link: I/Os in flight were started again",
        "find the cause in the kernel log before trusting any figure",
    ),
    "kernel-log": Entry(
        "{what}",
        "the kernel logs nothing about a healthy drive",
        "read the kernel's log around the time of the run",
    ),
    "drive-failing": Entry(
        "{what}",
        "a drive that raises a critical warning needs replacing; it may slow down to protect its data",
        "do not publish its figures as those of its model",
    ),
    "worn-out": Entry(
        "{what}",
        "worn flash needs more read retries and retains data for less time",
        "state this with the figures, or measure a drive that is not worn",
    ),
    "unanswered": Entry(
        "{what}",
        "a drive that stops answering is busy, or gone",
        "check the kernel log; what happened to the drive afterwards is unknown",
    ),
    "incomplete": Entry(
        "the record of this run is incomplete: it ends where the run was interrupted",
        "a killed run leaves only the rows that had reached its log",
        "measure again for a full result",
    ),
}
"""Every kind of warning, by code."""


def level_of(code: str) -> Level:
    """Return the level of a warning; an unknown warning, from a newer ssdlab, is an alarm."""
    return CATALOGUE[code].level if code in CATALOGUE else "alarm"
