"""Shell completion of words from the library and this installation.

A shell calls `ssdlab __complete WORDS`, which cyclopts answers with these functions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cyclopts.completion import CompletionContext

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
    """Offer simulated drives; to bash, where a colon ends a word, only what follows it."""
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
