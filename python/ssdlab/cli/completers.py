"""Words that only this library and this installation know, offered while a command is typed.

A shell asks by `ssdlab __complete WORDS`, which cyclopts answers by what stands here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cyclopts.completion import CompletionContext

OFFERED = 100
"""So many runs are offered, the newest: more are no help."""


def methods(_: CompletionContext) -> Mapping[str, str]:
    """Offer methods and suites, each with its line."""
    from ssdlab.lab.folders import REGISTRY
    from ssdlab.lab.found import SUITES, methods_of_others

    listed = {**REGISTRY, **SUITES}
    return {name: each.line for name, each in listed.items()} | {
        name: each.title for name, each in methods_of_others().methods.items()
    }


def drives(context: CompletionContext) -> list[str]:
    """Offer simulated drives; to bash, for which a colon ends a word, the rest of their names."""
    from ssdlab.drives.simulated.profiles import profiles
    from ssdlab.model.capabilities import SIMULATED_PREFIX

    before = [token.value for token in context.argument.tokens]
    typed = "".join((*before[-2:], context.incomplete)) if ":" in (*before[-1:], context.incomplete) else ""
    prefix = "" if typed.startswith(SIMULATED_PREFIX) else SIMULATED_PREFIX
    return [f"{prefix}{name}" for name in profiles()]


def runs(context: CompletionContext) -> list[str]:
    """Offer runs of the library, the newest first, and `last`."""
    from ssdlab.host.defaults import library_folder
    from ssdlab.results.store import run_folders

    named = context.get("--library")
    library = library_folder(named.raw if named is not None and named.raw else None)
    return ["last", *(folder.name for folder in reversed(run_folders(library)[-OFFERED:]))]


MethodName = Annotated[str, Parameter(completer=methods)]
DriveText = Annotated[str, Parameter(completer=drives)]
RunName = Annotated[str, Parameter(completer=runs)]
