"""What every warning says: the catalogue of `warnings`, by code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["alarm", "note"]
"""Alarm: figures may mean less than they seem to. Note: what merely is so, by the drive or what was asked."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One kind of warning: what is said, why it matters, what to do. `{names}` are filled in with facts.

    `advice` is for `ssdlab measure` and may name its options; `in_step` says it of a step of a run, whose
    command has others; `simulated` says that where no host stands between thread and drive. Empty: the same.
    """

    what: str
    cause: str
    advice: str
    in_step: str = ""
    simulated: str = ""
    level: Level = "alarm"


CATALOGUE: dict[str, Entry] = {
    "paused": Entry(
        "ssdlab stood still {times}, {length} in all, first {when}; the figures include it",
        "a stop, a frozen cgroup, a suspended host or a paused virtual machine: I/Os become slow, late or "
        "dropped, and the drive rests",
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
        "the CPUs were {busy} busy, and {own} of their time went to this: other work may be the limit",
        "threads that wait for a CPU submit late and stamp completions late, whoever has it",
        "stop other work on this host, or take more cores; fewer threads change nothing",
    ),
    "run-queue-delay": Entry(
        "threads waited {delay} for a CPU per I/O on average, beside a p99 of {p99}: the host is in the tail",
        "the kernel's schedstat counts the time in which a thread could run and had no CPU",
        "stop other work on this host; where its own threads are more than its cores, use fewer",
    ),
    "rate-not-reached": Entry(
        "{achieved} of the {requested} I/Os a second asked for were done, {share}",
        "the drive or the host could not follow the schedule; latencies count from the schedule all the same",
        "lower --rate; where the host has CPU time left, allow more in flight with --threads or --depth",
        in_step="ask for a lower rate; where the host has CPU time left, allow more I/Os in flight",
        simulated="ask for a lower rate, or allow more I/Os in flight",
    ),
    "depth-not-reached": Entry(
        "{reached} I/Os were in flight on average, not the {asked} asked for",
        "I/Os returned before the next were submitted, so that the drive never saw the depth asked for",
        "read the figures as those of the lower depth; measure for longer, or use more threads",
    ),
    "host-between": Entry(
        "an I/O was in flight for only {share} of the time: the host had the rest",
        "with one I/O in flight the drive waits while a thread stamps one completion and submits the next",
        "read throughput as that of drive and host together; service times are still the drive's",
    ),
    "device-depth": Entry(
        "the block device had {reached} I/Os in flight on average; {due} had left the threads",
        "a file system, the scheduler, a small queue or a throttle held them between threads and device",
        "read the figures as those of fewer I/Os in flight; the bare device without a scheduler comes closer",
    ),
    "late": Entry(
        "{late} of {count} submitted over 1 ms after they were due",
        "all threads were waiting for the drive, or had no CPU; response holds the delay, service does not",
        "judge by response time; where the host has CPU time left, more --threads or --depth makes "
        "submission independent of completions",
        in_step="judge by response time; where the host has CPU time left, with more I/Os in flight "
        "submission waits less for completions",
        simulated="judge by response time; with more I/Os in flight submission waits less for completions",
    ),
    "dropped": Entry(
        "{count} never issued although due{waiting}",
        "the backlog of the open loop was full: the drive or the host is slower than the rate",
        "lower --rate, or raise --backlog; their response time counts as at least what they waited",
        in_step="ask for a lower rate; their response time counts as at least what they waited",
    ),
    "undone": Entry(
        "{count} due and not begun a second after the end",
        "the queue of the open loop had grown by then: the drive or the host is slower than the rate",
        "lower --rate; their response time counts as at least what they waited",
        in_step="ask for a lower rate; their response time counts as at least what they waited",
    ),
    "failed": Entry(
        "{count} failed ({errors})",
        "the drive, its link or the kernel returned errors; failed I/Os are in no latency figure",
        "look at the kernel log and at the drive's health before trusting any figure",
    ),
    "meter-gone": Entry(
        "nothing metered it: {why}",
        "the meter, or the way to it, failed in mid-run; the run went on without it",
        "see to the meter and run it again where its power counts; later measurements have none either",
    ),
    "meter-gap": Entry(
        "{meter} covers {covered} of the time that was measured: there is no figure of power",
        "samples are missing, and what was drawn meanwhile is not known",
        "see that the meter and its network keep up, or use a lower rate of samples",
    ),
    "meter-window": Entry(
        "{window} is under ten times the {bound} that {meter} may be off the clock: no figure of power",
        "what the meter counts at the edges of so short a time may not belong to it",
        "measure for longer, or use a meter with more samples a second",
        level="note",
    ),
    "meter-nothing": Entry(
        "the rails of {meter} add up to {watts} W: there is no figure of power",
        "a drive that works draws power: the meter is not in its supply, or its sign is turned round",
        "see which rails feed the drive, and name them: --meter {meter},rails=A+B",
    ),
    "meter-drift": Entry(
        "the clock of {meter} drifts by {drift} ppm",
        "samples are dated by the host, but a clock that is so far off may not sample at the rate it says",
        "compare the meter with another clock, and its energy with another meter",
    ),
    "meter-lost": Entry(
        "{lost} samples of {meter} were lost on the way",
        "the meter, its buffer or the network dropped them; the means leave that time out",
        "use a lower rate of samples, or a better way to the meter",
    ),
    "meter-order": Entry(
        "{count} samples of {meter} came out of order",
        "no later than samples before them, they are left out: nobody knows which of their times is right",
        "see to the meter's clock and its server; what they leave uncovered has no figure",
    ),
    "nothing-measured": Entry(
        "no I/O was counted: there is nothing to judge the drive by",
        "none completed in the time that counts: a pause or an arrival longer than the run, or only failures",
        "measure for longer with --seconds, or ask for I/Os closer together",
        in_step="let the step last longer, or ask for I/Os closer together",
    ),
    "few-samples": Entry(
        "only {count} done, so the higher percentiles are left out",
        "a percentile is given where at least 10 samples lie beyond it: p99 needs 1000, p99.9 needs 10,000",
        "measure for longer with --seconds",
        in_step="let the step last longer: by a full run, or by the times among the method's parameters",
        level="note",
    ),
    "scheduler": Entry(
        "the I/O scheduler of {device} is {scheduler}, not none",
        "a scheduler holds, merges and reorders I/Os, and costs CPU time for each",
        "switch it off: echo none > /sys/block/{device}/queue/scheduler",
    ),
    "write-cache-unknown": Entry(
        "whether {device} has its write cache on is not known",
        "with the cache on, a write completes before it is safe; figures of the two states do not compare",
        "find it out with the drive's own tool and note it beside the result",
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
        "the writes went through the page cache, so their own latency is that of memory",
        "a cached write reaches the drive later, or with the flush that follows it",
        "for the drive alone leave out --buffered; with --fdatasync 1 look at the flushes",
        in_step="for the drive alone leave out buffered; with a flush after each write look at the flushes",
    ),
    "unwritten-allowed": Entry(
        "reads of never-written parts were allowed: this measures the tool and the host, not the drive",
        "a read of what was never written is answered without touching the medium",
        "write the span first: --precondition fill",
        in_step="write the span first, with a fill",
    ),
    "written-unknown": Entry(
        "whether the blocks that were read had ever been written is not known",
        "a device does not tell, and reads of what was never written are answered without the medium",
        "write it first: --precondition fill; or be sure that the drive is full",
        in_step="write it first, with a fill; or be sure that the drive is full",
    ),
    "rotational": Entry(
        "the kernel says that {device} is a rotating disk",
        "a hard disk behaves unlike any SSD; virtual disks often say so by mistake",
        "check what the drive is; for a virtual disk, set queue/rotational to 0",
    ),
    "split": Entry(
        "the kernel splits each I/O of {block} into pieces of at most {limit} for {device}",
        "the drive sees more and smaller I/Os than were asked for",
        "use blocks of at most that size, or raise queue/max_sectors_kb where the hardware allows it",
        level="note",
    ),
    "queue-limit": Entry(
        "{in_flight}, but a queue of {device} holds {limit}: the others waited in the kernel",
        "what waits in the kernel counts as in flight and in the latency, and is not at the drive",
        "raise queue/nr_requests, or spread threads over CPUs of different queues",
    ),
    "drive-queue": Entry(
        "{in_flight}, but the drive holds {limit} at once: the others waited in the host",
        "its link carries no more; what waits in the host counts as in flight and in the latency",
        "take {limit} as the deepest queue of such a drive: more adds waiting and no work",
        level="note",
    ),
    "link": Entry(
        "the PCIe link of {device} runs at {link}",
        "a link below what drive and slot can do caps throughput",
        "check the slot, its lanes and the BIOS settings",
    ),
    "settings-left": Entry(
        "{what}",
        "a run that is killed cannot put back what it has set: this was measured with it",
        "{advice}",
    ),
    "kernel-view": Entry(
        "{what}",
        "the kernel takes the drive for another than it is: flushes may be left out, or blocks split",
        "read the figures of flushed and synchronous writes with that in mind",
    ),
    "condition-left": Entry(
        "{what}",
        "a setting that could not be put back holds for whatever uses the drive next",
        "put it back with ssdlab conditions restore, or blocks with metadata with nvme format",
    ),
    "unseen": Entry(
        "whether anybody else used the target meanwhile is not known: {what} could not be seen",
        "a user without privilege cannot look into the processes of others",
        "run as root, or with the capabilities that docs/safety.md names, to have it looked for",
        level="note",
    ),
    "debug-build": Entry(
        "the native part of ssdlab is a {profile} build",
        "without optimisation the tool itself costs several times as much per I/O",
        "build it with make setup, or with maturin develop --release",
    ),
    "steady-before-full": Entry(
        "{what} looks steady after only {fills} user capacities were written since the purge",
        "a drive that still has free blocks of the purge is fast and even: five rounds can be so long before "
        "it has been written over twice",
        "write more before the rounds, or let them go on; read the figures as those of a drive not full yet",
    ),
    "scaled-drive": Entry(
        "the drive is simulated at 1/{scale} of its size: {what}",
        "heat, the write buffer and the delay before idle work are those of the whole drive, and the same "
        "seconds or gigabytes are more of a smaller one",
        "take the drive at scale=1 where figures are held against those of a real one",
        level="note",
    ),
    "prepared": Entry(
        "the drive was {how}, which is not SNIA's preconditioning; {after}",
        "one random pass leaves the valid shares of long random writing, a placed state has them by theory; "
        "neither is what the specification asks for",
        "use a method with --precondition full for figures to be compared with SNIA's",
        level="note",
    ),
    "throttled": Entry(
        "the drive throttled itself for heat {when}: {temperature} at the end{limit}",
        "a drive that gets too hot does less until it has cooled: the figures are those of its cooling",
        "cool it as it will be cooled in use, or read the figures as those of a hot drive",
    ),
    "media-errors": Entry(
        "{what}, by the drive's own count",
        "it could not repair what it read: data may be lost, and its attempts to are in the tail",
        "look at its error log, and do not publish the figures of a drive that loses data",
    ),
    "link-errors": Entry(
        "{what}",
        "the link sends a broken transfer again, and its I/O waits for that",
        "check cable, slot and riser, and measure again",
    ),
    "drive-error": Entry(
        "{what}",
        "the kernel logged an error of the drive, even where its retry succeeded",
        "look at the kernel log and at the drive's health before trusting any figure",
    ),
    "unprepared": Entry(
        "the drive was not prepared as asked: {what}",
        "where a write failed the old data stands, so the state of the drive is not known",
        "prepare it again, and see the kernel log and the drive's health",
    ),
    "link-changed": Entry(
        "{what} during the measurement",
        "a link that is trained again loses transfers meanwhile, and may carry less from then on",
        "check cable, slot and riser, and measure again",
    ),
    "drive-reset": Entry(
        "{what}",
        "the kernel lost patience with the drive, or the drive its link: what was in flight began again",
        "find out why before trusting any figure; the kernel's log has the rest",
    ),
    "kernel-log": Entry(
        "{what}",
        "the kernel does not write of a drive that just works",
        "read the kernel's log around the time of the run",
    ),
    "drive-failing": Entry(
        "{what}",
        "a drive that raises its error flag asks to be replaced; it may limit itself to protect its data",
        "do not publish its figures as those of its model",
    ),
    "worn-out": Entry(
        "{what}",
        "flash that is worn out needs more attempts and keeps its data for less long",
        "say so beside the figures, or measure a drive that is not worn",
    ),
    "unanswered": Entry(
        "{what}",
        "a drive that stops answering while it works is busy, or gone",
        "look into the kernel's log; what happened to the drive from then on is not known",
    ),
    "incomplete": Entry(
        "the record of this run is not complete: it holds what was written before it was cut off",
        "a run that is killed leaves the rows that had reached its log",
        "measure again for a full result",
    ),
}
"""Everything that can be said, by code."""


def level_of(code: str) -> Level:
    """Return how grave a kind of warning is; one of a later ssdlab is an alarm."""
    return CATALOGUE[code].level if code in CATALOGUE else "alarm"
