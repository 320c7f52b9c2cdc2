"""`ssdlab completion`, and the words that complete the names of methods, drives and runs.

A shell calls `ssdlab __complete WORDS`; cyclopts answers it with the functions `methods`, `drives` and
`runs`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from ssdlab.cli.output import print_json, print_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cyclopts.completion import CompletionContext

SCHEMA = "ssdlab.completion/1"

_ANY_WORD = """if [[ " $all_commands " =~ " $word " ]]; then"""
_BEGINS = '"${cur}"*'
_BEGINS_AFTER_COLON = '"${cur#:}"*'
_WORD_IN_ITS_PLACE = """if [[ " $all_commands " =~ " $word " && {place} ]]; then"""


def completion(shell: Literal["bash", "zsh", "fish"], /, *, json: bool = False) -> None:
    """Print a shell completion script for this version's commands and options.

    Names of methods, simulated drives and runs are looked up at the time of completion.

    bash: `ssdlab completion bash >~/.local/share/bash-completion/completions/ssdlab`

    zsh: `ssdlab completion zsh >_ssdlab`, in a folder of `$fpath`

    fish: `ssdlab completion fish >~/.config/fish/completions/ssdlab.fish`

    Parameters
    ----------
    shell
        The shell.
    json
        Print the script in JSON, schema ssdlab.completion/1.
    """
    from ssdlab.cli.commands import build_app

    script = build_app().generate_completion(shell=shell)
    script = mended(script) if shell == "bash" else script
    if json:
        print_json({"schema": SCHEMA, "shell": shell, "script": script})
    else:
        print_line(script)


def mended(script: str) -> str:
    """Return cyclopts' bash script with three corrections for ssdlab's arguments.

    The original treats the name of a command as a command at any place. But in ``ssdlab run trace
    sim:tiny-test``, `trace` is a method, and `sim` begins the name of a drive. Bash splits this name at its
    colon. Where the original knows no word, the corrected script offers file names: most drives and runs are
    files.
    """
    from ssdlab.cli.commands import GROUPS

    groups = " ".join(GROUPS)
    place = (
        f'( ${{#cmd_path[@]}} -eq 0 || ( ${{#cmd_path[@]}} -eq 1 && " {groups} " =~ " ${{cmd_path[0]}} " ) )'
    )
    script = script.replace(_ANY_WORD, _WORD_IN_ITS_PLACE.format(place=place))
    script = script.replace(_BEGINS, _BEGINS_AFTER_COLON)
    return script.replace("complete -F ", "complete -o default -F ")


OFFERED = 100
"""Maximum runs offered, newest first."""


def methods(_: CompletionContext) -> Mapping[str, str]:
    """Offer methods and suites with their summaries."""
    from ssdlab.lab.folders import REGISTRY
    from ssdlab.lab.found import SUITES, methods_of_others

    listed = {**REGISTRY, **SUITES}
    return {name: each.line for name, each in listed.items()} | {
        name: each.title for name, each in methods_of_others().methods.items()
    }


def drives(context: CompletionContext) -> list[str]:
    """Offer simulated drives. Bash splits words at a colon, so after `sim:` offer only the part after it."""
    from ssdlab.drives.simulated.profiles import profiles
    from ssdlab.model.capabilities import SIMULATED_PREFIX

    before = [token.value for token in context.argument.tokens]
    typed = "".join((*before[-2:], context.incomplete)) if ":" in (*before[-1:], context.incomplete) else ""
    prefix = "" if typed.startswith(SIMULATED_PREFIX) else SIMULATED_PREFIX
    return [f"{prefix}{name}" for name in profiles()]


def runs(context: CompletionContext) -> list[str]:
    """Offer `last`, then the newest runs of the library."""
    from ssdlab.host.defaults import library_folder
    from ssdlab.results.store import run_folders

    named = context.get("--library")
    library = library_folder(named.raw if named is not None and named.raw else None)
    return ["last", *(folder.name for folder in reversed(run_folders(library)[-OFFERED:]))]


MethodName = Annotated[str, Parameter(completer=methods)]
DriveText = Annotated[str, Parameter(completer=drives)]
RunName = Annotated[str, Parameter(completer=runs)]
