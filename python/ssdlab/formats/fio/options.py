"""How each fio option in a job file is handled.

An option is *honoured* if ssdlab makes the same load as fio, *ignored* if the load is the same without it,
and *refused* if the load would differ. In the table, `name=value` gives the value of a refused option that
changes nothing, usually its default. That value is accepted.

Names and aliases are those of fio 3.33 and of its development branch in 2026.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ssdlab.model.options import BUFFERED

Fate = Literal["honoured", "ignored", "refused"]

TABLE: dict[Fate, dict[str, str]] = {
    "honoured": {
        "the load": "rw bs ba bssplit bsrange iodepth iodepth_batch ioengine hipri rwmixread rwmixwrite "
        "norandommap random_distribution percentage_random randrepeat randseed rate rate_iops rate_process "
        "thinktime sync fsync fdatasync end_fsync fsync_on_close direct buffered numjobs loops cpus_allowed "
        "cpus_allowed_policy buffer_compress_percentage",
        "where, how much and how long": "size io_size offset offset_increment number_ios runtime time_based "
        "ramp_time startdelay stonewall wait_for exitall",
        "how the file is read": "name kb_base include",
        "always so in ssdlab": "thread refill_buffers softrandommap iodepth_batch_complete_max overwrite",
    },
    "ignored": {
        "the command names the drive": "filename directory filename_format unique_filename filetype",
        "ssdlab prints and keeps results": "description group_reporting new_group stats per_job_logs "
        "write_bw_log write_lat_log write_iops_log write_hist_log bwavgtime iopsavgtime log_avg_msec "
        "log_entries log_hist_msec log_hist_coarseness log_window_value log_offset log_prio log_issue_time "
        "log_compression log_compression_cpus log_store_compressed log_alternate_epoch "
        "log_alternate_epoch_clock_id block_error_percentiles clat_percentiles lat_percentiles "
        "slat_percentiles percentile_list significant_figures disk_util unified_rw_reporting unit_base "
        "error_dump job_start_clock_id write_iolog comm",
        "ssdlab records every latency, by its own clock": "gtod_reduce gtod_cpu disable_lat disable_clat "
        "disable_slat disable_bw_measurement clocksource",
        "I/O is always direct": "invalidate fadvise_hint",
        "the drive exists, and is neither created nor removed": "create_serialize create_fsync "
        "create_on_open "
        "allow_file_create allow_mounted_write fallocate openfiles file_service_type unlink "
        "unlink_each_loop",
        "ssdlab chooses the offsets": "random_generator",
        "ssdlab has its own buffers and submission": "mem iomem_align hugepage-size lockmem fixedbufs "
        "registerfiles nonvectored libaio_vectored userspace_reap",
        "ssdlab does not verify data": "do_verify verify_fatal verify_dump verify_async verify_async_cpus "
        "verify_pattern verify_pattern_interval verify_interval verify_offset verify_backlog "
        "verify_backlog_batch verify_state_save verify_state_load verifysort verifysort_nr "
        "verify_write_sequence verify_header_seed verify_policy experimental_verify verify_mode",
    },
    "refused": {
        BUFFERED: "uncached=0",
        "ssdlab flushes after a number of writes, or at the end": "sync_file_range end_syncfs=0 "
        "write_barrier=0",
        "jobs would wait for each other's flow": "flow=0 flow_id flow_watermark flow_sleep",
        "random and sequential I/O cannot be mixed in one direction": "percentage_sequential=0 "
        "bs_is_seq_rand=0 rw_sequencer=sequential random_sequence_stride rwmixcycle",
        "blocks begin and end at block boundaries": "bs_unaligned=0",
        "its random pass differs from ssdlab's --precondition one-pass": "sprandom=0 spr_num_regions "
        "spr_op spr_cs",
        "several files cannot be used in turn": "opendir nrfiles=1 lockfile=none",
        "the size of the drive is fixed": "file_append=0 filesize fill_device=0 offset_align=0 ramp_size "
        "num_range=1",
        "it changes how I/O is submitted": "iodepth_low serialize_overlap=0 io_submit_mode=inline "
        "iodepth_batch_complete_min=1 sqthread_poll=0 sqthread_poll_cpu force_async=0 nowait=0 "
        "hipri_percentage=100 cmdprio_percentage=0 cmdprio_class cmdprio cmdprio_hint cmdprio_bssplit",
        "threads do not spin between I/Os": "thinktime_spin=0 thinkcycles=0",
        "thinktime follows each I/O only": "thinktime_blocks=1 thinktime_blocks_type=complete "
        "thinktime_iotime=0",
        "the load would depend on measurements": "rate_min=0 rate_iops_min=0 max_latency=0 "
        "latency_target=0 latency_window latency_percentile latency_run=0 steadystate steadystate_duration "
        "steadystate_ramp_time steadystate_check_interval rate_ignore_thinktime=0 rate_cycle",
        "use --on-error for failed I/O": "continue_on_error=none ignore_error exitall_on_error=0",
        "ssdlab does not read data back": "verify=0 verify_only=0 trim_percentage=0 trim_verify_zero=0 "
        "trim_backlog=0 "
        "trim_backlog_batch verify_bytchk=0",
        "ssdlab's data does not repeat": "scramble_buffers=1 zero_buffers=0 buffer_pattern "
        "buffer_compress_chunk "
        "dedupe_percentage=0 dedupe_global dedupe_mode dedupe_working_set_percentage",
        "use ssdlab run trace to replay a trace": "read_iolog read_iolog_chunked replay_no_stall "
        "replay_redirect replay_scale replay_align replay_time_scale replay_skip merge_blktrace_file "
        "merge_blktrace_scalars merge_blktrace_iters",
        "ssdlab does not support zones or placement here": "zonemode=none zonesize=0 zonecapacity=0 "
        "zonerange=0 zoneskip=0 read_beyond_wp=0 max_open_zones=0 job_max_open_zones=0 ignore_zone_limits=0 "
        "zone_reset_threshold zone_reset_frequency recover_zbd_write_error write_zone_remainder fdp=0 "
        "dataplacement=none plid_select plids dp_scheme",
        "ssdlab runs no commands and changes no user": "exec_prerun exec_postrun uid gid profile",
        "use ssdlab's options for host and drive, such as --scheduler": "ioscheduler prio=0 "
        "prioclass=0 priohint=0 nice=0 cgroup cgroup_weight cgroup_nodelete numa_mem_policy cpumask "
        "numa_cpu_nodes gpu_dev_id",
        "it only prepares; a job must measure": "create_only=0 pre_read=0",
        "ssdlab builds its own NVMe commands": "cmd_type md_per_io_size=0 pi_act pi_chk apptag apptag_mask "
        "cdb_len write_mode=write read_mode=read deac=0 readfua=0 writefua=0 sg_write_mode stream_id "
        "write_hint=none atomic=0",
        "ssdlab cannot choose which job ends the others": "exit_what",
    },
}

ALIASES = {
    "readwrite": "rw",
    "iodepth_batch_submit": "iodepth_batch",
    "iodepth_batch_complete": "iodepth_batch_complete_min",
    "io_limit": "io_size",
    "fill_fs": "fill_device",
    "fileoffset": "offset",
    "blocksize": "bs",
    "blockalign": "ba",
    "blocksize_range": "bsrange",
    "blocksize_unaligned": "bs_unaligned",
    "allrandrepeat": "randrepeat",
    "nr_files": "nrfiles",
    "timeout": "runtime",
    "iomem": "mem",
    "mem_align": "iomem_align",
    "data_placement": "dataplacement",
    "fdp_pli_select": "plid_select",
    "fdp_pli": "plids",
    "ratemin": "rate_min",
    "ratecycle": "rate_cycle",
    "wait_for_previous": "stonewall",
    "log_max_value": "log_window_value",
    "log_unix_epoch": "log_alternate_epoch",
    "disable_bw": "disable_bw_measurement",
    "ss": "steadystate",
    "ss_dur": "steadystate_duration",
    "ss_ramp": "steadystate_ramp_time",
    "ss_interval": "steadystate_check_interval",
}


@dataclass(frozen=True)
class Rule:
    """How an option is handled, why, and the value that is accepted because it changes nothing."""

    fate: Fate
    why: str
    harmless: str | None = None


def _rules() -> dict[str, Rule]:
    found = {}
    for fate, reasons in TABLE.items():
        for why, names in reasons.items():
            for each in names.split():
                name, equals, value = each.partition("=")
                found[name] = Rule(fate, why, value if equals else None)
    return found


RULES = _rules()
"""Rules by fio's own option name; resolve an alias with `ALIASES` first."""
