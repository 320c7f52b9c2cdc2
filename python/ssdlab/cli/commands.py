"""Every command: where it is, and its line in the help; and the version that the program tells."""

from __future__ import annotations

from typing import NamedTuple


def version() -> str:
    """Return version and build profile of the native part: `0.2.0 (release)`."""
    import ssdlab._core as _core

    build = _core.build_info()
    return f"{build['version']} ({build['profile']})"


class Command(NamedTuple):
    """Where a command is, and its line in the list of commands."""

    place: str
    summary: str


COMMANDS: dict[str, Command] = {
    "demo": Command(
        "ssdlab.cli.demo:demo", "a whole quick review of a simulated or real drive, with its report"
    ),
    "doctor": Command("ssdlab.cli.doctor:doctor", "what this host can and cannot measure"),
    "drives": Command(
        "ssdlab.cli.drives:drives", "every drive here with what guards it, or all that is known of one"
    ),
    "meters": Command("ssdlab.cli.meters:meters", "the power meters found here, and what they say now"),
    "methods": Command(
        "ssdlab.cli.methods:methods", "the review methods, or one with its prose and parameters"
    ),
    "plan": Command("ssdlab.cli.plan:plan", "steps, duration and bytes written of a method; touches nothing"),
    "run": Command("ssdlab.cli.run:run", "run a method on a drive"),
    "resume": Command("ssdlab.cli.resume:resume", "resume a run that was interrupted"),
    "watch": Command("ssdlab.cli.watch:watch", "follow a run from another terminal"),
    "measure": Command("ssdlab.cli.measure:measure", "one workload now, like a fio line"),
    "job": Command("ssdlab.cli.job:job", "run a sequence of steps of your own, or a fio job file"),
    "purge": Command("ssdlab.cli.purge:purge", "erase a drive to its fresh state, and prove it"),
    "import": Command("ssdlab.cli.importing:import_results", "results of fio as runs of the library"),
    "show": Command("ssdlab.cli.runs:show", "the result of a run"),
    "runs": Command("ssdlab.cli.runs:runs", "the runs of the library, newest first"),
    "last": Command("ssdlab.cli.runs:last", "the folder of the run that was begun last"),
    "rank": Command("ssdlab.cli.rank:rank", "drives by one figure, among runs that are alike"),
    "compare": Command("ssdlab.cli.compare:compare", "two sets of runs, figure by figure; a gate for CI"),
    "changes": Command("ssdlab.cli.changes:changes", "where a figure changed in a series of runs"),
    "tag": Command("ssdlab.cli.tag:tag", "give a run words to be found by"),
    "rm": Command("ssdlab.cli.library:rm", "move runs to the library's trash, or bring them back"),
    "note": Command("ssdlab.cli.tag:note", "add a dated note to a run"),
    "report": Command("ssdlab.cli.report:report", "write the report page of one or more runs"),
    "figures": Command("ssdlab.cli.pictures:figures", "the charts of runs as PNG, SVG or PDF files"),
    "theme": Command("ssdlab.cli.theme:theme", "the default house style of pages and pictures, as TOML"),
    "export": Command("ssdlab.cli.export:export", "the numbers of runs as a workbook, CSV or Parquet"),
    "schema": Command("ssdlab.cli.schema:schema", "the JSON Schema of what ssdlab reads and writes"),
    "sim list": Command("ssdlab.cli.sim:list_profiles", "the profiles of simulated drives"),
    "sim show": Command("ssdlab.cli.sim:show", "a profile, each figure with its source"),
    "sim serve": Command("ssdlab.cli.sim_serve:serve", "a simulated drive in real time, over NBD"),
    "sim check": Command("ssdlab.cli.sim_check:check", "a profile's ratings against what its drive does"),
    "conditions show": Command("ssdlab.cli.conditions:show", "the settings of a drive that runs can ask for"),
    "conditions restore": Command(
        "ssdlab.cli.conditions:restore", "put back what runs that died have left set"
    ),
    "act bundle": Command("ssdlab.cli.act:bundle", "what is published of a certificate"),
    "act config": Command("ssdlab.cli.act:config", "write a configuration file for the original ACT"),
    "act log": Command("ssdlab.cli.act:log", "a run as the log that ACT would have printed of it"),
    "act show": Command("ssdlab.cli.act:show", "what a configuration file of ACT means: options and load"),
    "trace show": Command("ssdlab.cli.trace:show", "what is in a trace: I/Os, devices, times, bad lines"),
    "trace record": Command("ssdlab.cli.trace:record", "record what is asked of a block device"),
    "fleet inventory": Command(
        "ssdlab.cli.fleet_host:inventory", "write what drives this host has, for the fleet and Slurm"
    ),
    "fleet plan": Command("ssdlab.cli.fleet:plan", "what many drives are to do, sealed; touches nothing"),
    "fleet run": Command("ssdlab.cli.fleet:run", "carry a fleet's plan out, here or on Slurm"),
    "fleet status": Command("ssdlab.cli.fleet:status", "where each job of a plan is"),
    "fleet watch": Command("ssdlab.cli.fleet:watch", "follow a plan until its jobs have ended"),
    "fleet resume": Command("ssdlab.cli.fleet:resume", "continue a plan where it stopped"),
    "fleet cancel": Command("ssdlab.cli.fleet:cancel", "end the jobs of a plan; they can be resumed"),
    "fleet report": Command(
        "ssdlab.cli.fleet:report", "the drives of one model beside each other, and which are unlike"
    ),
    "fleet check": Command(
        "ssdlab.cli.fleet_host:check", "whether this host's drives are as its inventory says"
    ),
    "fleet job": Command("ssdlab.cli.fleet_host:job", "do one job of a plan on this host; for back ends"),
    "completion": Command("ssdlab.cli.completion:completion", "completion for bash, zsh or fish"),
    "library rebuild": Command(
        "ssdlab.cli.library:rebuild", "make the library's catalogue anew from its runs"
    ),
    "library verify": Command("ssdlab.cli.library:verify", "hold every run of the library against its seals"),
    "library pack": Command("ssdlab.cli.library:pack", "write runs as one archive"),
    "library unpack": Command("ssdlab.cli.library:unpack", "put the runs of an archive into the library"),
}
"""Every command. Two words make a group."""
GROUPS = {
    "act": "configuration files of Aerospike ACT",
    "conditions": "settings of drive and host",
    "fleet": "many drives on many hosts",
    "library": "the folder of runs",
    "sim": "simulated drives",
    "trace": "recorded workloads",
}
HEADINGS = {
    "First steps": "demo doctor drives methods",
    "Measure": "plan run resume watch measure job purge import",
    "Results": "show runs last rank compare changes tag note rm library",
    "Pages and files": "report figures theme export schema",
    "Drives and workloads": "sim trace conditions meters",
    "More": "fleet act completion --help --version",
}
"""What the list of commands puts together, in its order."""
