"""The command line: `ssdlab COMMAND ...`, one file per command, loaded only when it is asked for.

To add a command: write ``cli/NAME.py`` with one function whose parameters are typed and documented, whose
docstring begins with what it does, and which raises `LabError` for what goes wrong; name it in `COMMANDS`. It
prints through `ssdlab.cli.output`, takes ``json: bool = False`` if it returns data, and returns None or an
exit status.

Exit statuses: 0 done (and passed), 1 verdict failed, 2 bad usage or refused, 3 drive or host failed,
70 internal error, 130 stopped by a signal. An error is one line what and one line what to do, on stderr; with
``--json`` it is an object on stdout as well.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from cyclopts import App


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
    "methods": Command(
        "ssdlab.cli.methods:methods", "the review methods, or one with its prose and parameters"
    ),
    "plan": Command("ssdlab.cli.plan:plan", "steps, duration and bytes written of a method; touches nothing"),
    "run": Command("ssdlab.cli.run:run", "run a method on a drive"),
    "resume": Command("ssdlab.cli.resume:resume", "go on with a run that was interrupted"),
    "watch": Command("ssdlab.cli.watch:watch", "look on at a run from another terminal"),
    "measure": Command("ssdlab.cli.measure:measure", "one workload now, like a fio line"),
    "job": Command("ssdlab.cli.job:job", "run a sequence of steps of your own from a TOML file"),
    "purge": Command("ssdlab.cli.purge:purge", "erase a drive to its fresh state, and prove it"),
    "show": Command("ssdlab.cli.show:show", "the result of a run"),
    "note": Command("ssdlab.cli.note:note", "add a dated note to a run"),
    "report": Command("ssdlab.cli.report:report", "write the report page of one or more runs"),
    "sim list": Command("ssdlab.cli.sim:list_profiles", "the profiles of simulated drives"),
    "sim show": Command("ssdlab.cli.sim:show", "a profile, each figure with its source"),
    "sim serve": Command("ssdlab.cli.sim_serve:serve", "a simulated drive in real time, over NBD"),
    "sim check": Command("ssdlab.cli.sim_check:check", "a profile's ratings against what its drive does"),
    "conditions show": Command("ssdlab.cli.conditions:show", "the settings of a drive that runs can ask for"),
    "conditions restore": Command(
        "ssdlab.cli.conditions:restore", "put back what runs that died have left set"
    ),
    "act config": Command("ssdlab.cli.act:config", "write a configuration file for the original ACT"),
    "act log": Command("ssdlab.cli.act_log:log", "a run as the log that ACT would have printed of it"),
    "act show": Command("ssdlab.cli.act:show", "what a configuration file of ACT means: options and load"),
    "trace show": Command("ssdlab.cli.trace:show", "what is in a trace: I/Os, devices, times, bad lines"),
    "trace record": Command("ssdlab.cli.trace:record", "record what is asked of a block device"),
    "completion": Command("ssdlab.cli.completion:completion", "completion for bash, zsh or fish"),
    "library rebuild": Command(
        "ssdlab.cli.library:rebuild", "make the library's catalogue anew from its runs"
    ),
}
"""Every command, in the order of the help text. Two words make a group."""

GROUPS = {
    "act": "configuration files of Aerospike ACT",
    "conditions": "settings of drive and host",
    "library": "the folder of runs",
    "sim": "simulated drives",
    "trace": "recorded workloads",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit status.

    Parameters
    ----------
    arguments
        Without the program's name; those of this process by default.
    """
    # Start-up makes no garbage to speak of, and looking for plug-ins of pydantic reads the metadata of every
    # installed package: together a quarter of the time until the first I/O.
    gc.set_threshold(100_000)
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from ssdlab.cli.failures import guarded

    words = list(sys.argv[1:] if arguments is None else arguments)
    return guarded(lambda: _dispatch(words), as_json="--json" in words)


def build_app(asked: str = "") -> App:
    """Return the command line with every command by name; a command's module is imported when it is used.

    Parameters
    ----------
    asked
        The command that is going to be used: its help is its own docstring, not its line in the list.
    """
    from cyclopts import App, Parameter

    from ssdlab.cli.version import version

    app = App(
        name="ssdlab",
        help="SSD review lab: published review methods on real drives and files, each number with its proof.",
        version=version,
        help_format="markdown" if asked else "plaintext",  # a list alone has no markup to read
        default_parameter=Parameter(negative=(), show_default=_shown_default),
        result_action="return_value",
        suppress_keyboard_interrupt=False,  # a signal is told as any other end, and as JSON where asked
    )
    app["--help"].help, app["--version"].help = "this message", "version and build"
    groups = {name: App(name=name, help=summary, sort_key=len(COMMANDS)) for name, summary in GROUPS.items()}
    for order, (name, command) in enumerate(COMMANDS.items()):
        group, _, word = name.rpartition(" ")
        home = groups[group] if group else app
        home.command(
            command.place, name=word, help=None if name == asked else command.summary, sort_key=order
        )
    for group_app in groups.values():
        app.command(group_app)
    return app


def _shown_default(value: object) -> str | None:
    """Return a default as the help tells it; that nothing is set goes without saying."""
    return None if value in (None, False, (), "") else str(value)


def _dispatch(words: list[str]) -> int:
    from ssdlab.cli.leftovers import name_leftovers

    name_leftovers(words)
    app = build_app(next((name for name in COMMANDS if words[: name.count(" ") + 1] == name.split()), ""))
    result = app(words, exit_on_error=False, print_error=False)
    return result if isinstance(result, int) else 0
