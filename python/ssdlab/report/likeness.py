"""What makes runs of one method alike: a page ranks only these, and says in what the others differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ssdlab.results.catalogue_row import size_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ssdlab.results.schema import Manifest

_WHEN_LIKE = ("method version", "parameters", "--quick", "engine", "scale of the simulated drive", "tool")


def likeness(manifest: Manifest) -> tuple[object, ...]:
    """Return what is the same of runs that are alike, one for each of the words of `differences`."""
    params = tuple(sorted((name, str(value)) for name, value in manifest.params.items() if name != "engine"))
    tool = tuple(sorted((name, str(value)) for name, value in manifest.tool.items()))
    scale, _ = size_of(manifest)
    return (manifest.method.version, params, manifest.quick, manifest.engine, scale, tool)


def differences(manifests: Iterable[Manifest]) -> tuple[str, ...]:
    """Return in what runs of one method differ; empty: they are alike."""
    keys = [likeness(each) for each in manifests]
    return tuple(name for name, *values in zip(_WHEN_LIKE, *keys, strict=True) if len(set(values)) > 1)
