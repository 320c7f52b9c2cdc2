"""`ssdlab completion`: the script with which a shell completes commands and options."""

from __future__ import annotations

from typing import Literal

from ssdlab.cli.output import print_json, print_line

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
    from ssdlab.cli import build_app

    script = build_app().generate_completion(shell=shell)
    script = mended(script) if shell == "bash" else script
    if json:
        print_json({"schema": SCHEMA, "shell": shell, "script": script})
    else:
        print_line(script)


def mended(script: str) -> str:
    """Return cyclopts' script for bash without what does not fit here.

    It takes a command's name for a command anywhere; but in ``ssdlab run trace sim:tiny-test``, `trace` is a
    method and `sim` begins a drive, whose colon is a separate word to bash. Where it knows no word, file
    names are offered: most drives and runs are files.
    """
    from ssdlab.cli.commands import GROUPS

    groups = " ".join(GROUPS)
    place = (
        f'( ${{#cmd_path[@]}} -eq 0 || ( ${{#cmd_path[@]}} -eq 1 && " {groups} " =~ " ${{cmd_path[0]}} " ) )'
    )
    script = script.replace(_ANY_WORD, _WORD_IN_ITS_PLACE.format(place=place))
    script = script.replace(_BEGINS, _BEGINS_AFTER_COLON)
    return script.replace("complete -F ", "complete -o default -F ")
