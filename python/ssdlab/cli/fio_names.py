"""fio's names of what `ssdlab measure` calls otherwise, for whoever types them out of habit (fio(1))."""

from __future__ import annotations

_USE = {
    "readwrite": "--rw",
    "blocksize": "--bs",
    "bssplit": "--bs with weights, such as 4k:70,128k:30",
    "numjobs": "--threads",
    "iodepth": "--depth, with --engine uring",
    "iodepth_batch": "--batch, with --engine uring",
    "iodepth_batch_submit": "--batch, with --engine uring",
    "ioengine": "--engine: sync or uring",
    "rwmixread": "--read-pct",
    "rwmixwrite": "--read-pct, which is the share of reads: 100 less that of writes",
    "runtime": "--seconds",
    "timeout": "--seconds",
    "ramp_time": "--ramp",
    "io_size": "--bytes",
    "number_ios": "--bytes, as many times the block",
    "offset": "--span, such as 25%..50%",
    "random_distribution": "--pattern",
    "rate_iops": "--rate",
    "rate_process": "--arrival, with --rate",
    "thinktime": "--think, in seconds: fio's 100 is written 100us",
    "randseed": "--seed",
    "sync": "--dsync",
    "fsync": "--dsync, by which each write is durable before it completes",
    "fdatasync": "--dsync, by which each write is durable before it completes",
    "cpus_allowed": "--cpus",
    "numa_cpu_nodes": "--numa",
    "buffer_compress_percentage": "--compressible",
    "filesize": "--size, for a file that is made",
    "output_format": "--json",
}
_LEAVE_OUT = {
    "direct": "I/O is always direct",
    "buffered": "I/O is always direct",
    "invalidate": "I/O is always direct",
    "norandommap": "random I/O never keeps a map of what it has visited",
    "randrepeat": "a drive that is kept gets other draws each time; --seed repeats them",
    "time_based": "it is always measured for --seconds, or until --bytes",
    "group_reporting": "threads are always told together",
    "name": "there is one workload, and it needs no name",
    "refill_buffers": "what is written never repeats; --compressible makes part of it compress",
}
_ELSEWHERE = {
    "filename": "name the drive or the file as a word: ssdlab measure DRIVE",
    "directory": "name the file as a word: ssdlab measure FILE --size 4GiB",
    "verify": "measure checks no data; ssdlab run trim-validation reads back what a trim leaves",
    "write_lat_log": "--log-ios keeps a record of every I/O",
    "write_iops_log": "--json has the intervals, and --log-ios keeps a record of every I/O",
    "write_bw_log": "--json has the intervals, and --log-ios keeps a record of every I/O",
}


def of_fio(option: str) -> str | None:
    """Return what to do instead of an option of fio's name such as ``--numjobs``; None: it has none."""
    name = option.lstrip("-").replace("-", "_")
    if name in _USE:
        use, _, more = _USE[name].partition(",")
        return f"use {use} (fio's {name}){',' + more if more else ''}"
    if name in _LEAVE_OUT:
        return f"leave it out: {_LEAVE_OUT[name]}"
    return _ELSEWHERE.get(name)
