"""The table of all commands, the parser made from it, and the program's version."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from cyclopts import App


def version() -> str:
    """Return version and build profile of the native part: `0.2.0 (release)`."""
    import ssdlab._core as _core

    build = _core.build_info()
    return f"{build['version']} ({build['profile']})"


class Command(NamedTuple):
    """A command's function, as `module:function`, and its summary in the list of commands."""

    place: str
    summary: str


COMMANDS: dict[str, Command] = {
    "demo": Command("ssdlab.cli.demo:demo", "review a simulated or real drive quickly, and write the report"),
    "doctor": Command("ssdlab.cli.host:doctor", "check what this host can measure"),
    "drives": Command(
        "ssdlab.cli.drives:drives",
        "list the drives of this host, or show one in detail",
    ),
    "meters": Command("ssdlab.cli.host:meters", "list the power meters with their readings"),
    "methods": Command("ssdlab.cli.methods:methods", "list the review methods, or describe one"),
    "plan": Command(
        "ssdlab.cli.plan:plan", "show a method's steps, duration and writes, without touching a drive"
    ),
    "run": Command("ssdlab.cli.run:run", "run a method on a drive"),
    "resume": Command("ssdlab.cli.run:resume", "resume a run that was interrupted"),
    "watch": Command("ssdlab.cli.watch:watch", "follow a run from another terminal"),
    "measure": Command("ssdlab.cli.measure:measure", "run one workload now, like a fio command"),
    "job": Command("ssdlab.cli.run:job", "run your own sequence of steps, or a fio job file"),
    "purge": Command("ssdlab.cli.purge:purge", "purge a drive to its fresh state, and verify it"),
    "import": Command("ssdlab.cli.library:import_results", "import fio results into the library as runs"),
    "show": Command("ssdlab.cli.runs:show", "show the result of a run"),
    "runs": Command("ssdlab.cli.runs:runs", "list the runs of the library, newest first"),
    "last": Command("ssdlab.cli.runs:last", "print the folder of the newest run"),
    "rank": Command("ssdlab.cli.rank:rank", "rank drives by one figure, in comparable runs"),
    "compare": Command("ssdlab.cli.compare:compare", "compare two sets of runs, in CI as a gate"),
    "changes": Command("ssdlab.cli.rank:changes", "find where a figure changed in a series of runs"),
    "tag": Command("ssdlab.cli.runs:tag", "tag a run with words to find it by"),
    "rm": Command("ssdlab.cli.library:rm", "move runs to the trash, or restore them"),
    "note": Command("ssdlab.cli.runs:note", "add a dated note to a run"),
    "report": Command("ssdlab.cli.report:report", "write the report page of one or more runs"),
    "figures": Command("ssdlab.cli.report:figures", "write the charts of runs as PNG, SVG or PDF files"),
    "theme": Command("ssdlab.cli.report:theme", "print the default theme of reports and pictures, as TOML"),
    "export": Command(
        "ssdlab.cli.report:export", "export the numbers of runs as a workbook, CSV, Parquet or OCP records"
    ),
    "schema": Command("ssdlab.cli.schema:schema", "print the JSON Schema of what ssdlab reads and writes"),
    "sim list": Command("ssdlab.cli.sim:list_profiles", "list the profiles of simulated drives"),
    "sim show": Command("ssdlab.cli.sim:show", "show a profile, each value with its source"),
    "sim serve": Command("ssdlab.cli.sim_serve:serve", "serve a simulated drive in real time, over NBD"),
    "sim check": Command("ssdlab.cli.sim:check", "check a profile's simulated drive against its ratings"),
    "conditions show": Command("ssdlab.cli.conditions:show", "show the drive settings that runs can change"),
    "conditions restore": Command(
        "ssdlab.cli.conditions:restore", "restore settings that crashed runs left changed"
    ),
    "act bundle": Command("ssdlab.cli.act:bundle", "write an ACT run for publication"),
    "act config": Command("ssdlab.cli.act:config", "write a configuration file for the original ACT"),
    "act log": Command("ssdlab.cli.act:log", "print a run as an ACT log"),
    "act show": Command("ssdlab.cli.act:show", "show the options and load of an ACT configuration"),
    "trace show": Command(
        "ssdlab.cli.trace:show", "show what is in a trace: I/Os, devices, times, bad lines"
    ),
    "trace record": Command("ssdlab.cli.trace:record", "record the I/Os to a block device"),
    "fleet inventory": Command(
        "ssdlab.cli.fleet_host:inventory", "record this host's drives, for the fleet and Slurm"
    ),
    "fleet plan": Command(
        "ssdlab.cli.fleet:plan", "make a sealed plan for many drives, without touching them"
    ),
    "fleet run": Command("ssdlab.cli.fleet:run", "run a fleet plan, here or on Slurm"),
    "fleet status": Command("ssdlab.cli.fleet:status", "show the state of each job of a plan"),
    "fleet watch": Command("ssdlab.cli.fleet:watch", "follow a plan until its jobs end"),
    "fleet resume": Command("ssdlab.cli.fleet:resume", "continue a plan where it stopped"),
    "fleet cancel": Command("ssdlab.cli.fleet:cancel", "stop the jobs of a plan, to resume them later"),
    "fleet report": Command("ssdlab.cli.fleet:report", "compare all drives of one model, and find outliers"),
    "fleet check": Command("ssdlab.cli.fleet_host:check", "check this host's drives against its inventory"),
    "fleet scripts": Command("ssdlab.cli.fleet_host:scripts", "write the scripts that Slurm runs on a host"),
    "fleet release": Command("ssdlab.cli.fleet_host:release", "let plans take failed drives again"),
    "fleet job": Command("ssdlab.cli.fleet_host:job", "run one job of a plan on this host (for back ends)"),
    "completion": Command("ssdlab.cli.completion:completion", "print shell completion for bash, zsh or fish"),
    "library rebuild": Command("ssdlab.cli.library:rebuild", "rebuild the library's catalogue from its runs"),
    "library verify": Command(
        "ssdlab.cli.library:verify", "check every run of the library against its seals"
    ),
    "library pack": Command("ssdlab.cli.library:pack", "pack runs into one archive"),
    "library unpack": Command("ssdlab.cli.library:unpack", "unpack an archive of runs into the library"),
}
"""All commands by name. In a name of two words, the first is a key of `GROUPS`."""
GROUPS = {
    "act": "read and write configurations, logs and certificates of Aerospike ACT",
    "conditions": "show and restore drive settings",
    "fleet": "measure and compare many drives on many hosts",
    "library": "check, pack and unpack the folder of runs",
    "sim": "list, show, serve and check simulated drives",
    "trace": "record workloads, and show what is in a trace",
}
HEADINGS = {
    "First steps": "demo doctor drives methods",
    "Measure": "plan run resume watch measure job purge import",
    "Results": "show runs last rank compare changes tag note rm library",
    "Pages and files": "report figures theme export schema",
    "Drives and workloads": "sim trace conditions meters",
    "More": "fleet act completion --help --version",
}
"""Headings of the list of commands, and the commands below each, in order of display."""


def build_app(asked: str = "") -> App:
    """Build the parser with all commands; it imports the module of a command when that command is used.

    Parameters
    ----------
    asked
        The command about to run: its help is its docstring, not its summary in `COMMANDS`.
    """
    from cyclopts import App, Group, Parameter

    app = App(
        name="ssdlab",
        help=(
            "SSD review lab: published review methods on real and simulated drives, each number with its "
            "proof."
        ),
        version=version,
        help_format="markdown" if asked else "plaintext",  # only docstrings have markup
        default_parameter=Parameter(negative=(), show_default=_shown_default),
        result_action="return_value",
        suppress_keyboard_interrupt=False,  # `failures.guarded` reports signals, also as JSON
    )
    app["--help"].help, app["--version"].help = "this message", "version and build"
    for place, (heading, names) in enumerate(HEADINGS.items()):
        panel = Group(heading, sort_key=place)
        for order, name in enumerate(names.split()):
            if name.startswith("-"):
                app[name].group = panel
            elif name in GROUPS:
                group = App(name=name, help=GROUPS[name], group=panel, sort_key=order)
                for number, command in enumerate(COMMANDS):
                    if command.startswith(f"{name} "):
                        _add(group, command, asked, sort_key=number)
                app.command(group)
            else:
                _add(app, name, asked, group=panel, sort_key=order)
    return app


def _add(home: App, name: str, asked: str, **place: Any) -> None:  # noqa: ANN401 - cyclopts' own
    command = COMMANDS[name]
    summary = None if name == asked else command.summary
    home.command(command.place, name=name.rpartition(" ")[2], help=summary, **place)


def _shown_default(value: object) -> str | None:
    """Return a default as the help prints it, or None to print no default."""
    return None if value in (None, False, (), "") else str(value)
