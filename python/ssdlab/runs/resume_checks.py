"""Checks before a run is resumed: method, parameters and drive must be those that it started with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ssdlab.host.chain import difference
from ssdlab.lab.found import find_method
from ssdlab.model.errors import LabError, Refused, UsageError
from ssdlab.model.printable import quoted
from ssdlab.results.journal import boot_id
from ssdlab.runs.consent_record import Given, can_be_reset, chain_now, goes_by_name, layer_of
from ssdlab.runs.provenance import drive_info

if TYPE_CHECKING:
    from ssdlab.drives.base import Drive
    from ssdlab.lab.method import Method, Params
    from ssdlab.results.schema import DriveInfo, Manifest


def resumable_method(manifest: Manifest) -> tuple[Method, Params]:
    """Return the method of a run and its parameters.

    Raises
    ------
    Refused
        The method is not installed, or this ssdlab has another version of it or other parameters.
    """
    package = manifest.tool.get("plugin")
    began = f"the package that started it, {package}" if package else "the ssdlab that started it"
    try:
        known = find_method(manifest.method.name)
    except UsageError as error:
        if package is None:
            raise
        raise Refused(
            f"run {manifest.run_id} needs method {manifest.method.name} of package {package}, "
            "which is not installed",
            "install that package and resume again",
            method=manifest.method.name,
            package=package,
        ) from error
    if known.version != manifest.method.version:
        raise Refused(
            f"run {manifest.run_id} was started with version {manifest.method.version} of "
            f"{known.name}; this ssdlab has version {known.version}",
            f"resume with {began}, or start a new run",
            begun=manifest.method.version,
            known=known.version,
        )
    try:
        return known, known.params.model_validate(manifest.params)
    except LabError as error:
        raise Refused(
            f"run {manifest.run_id} has other parameters than this ssdlab's {known.name}: {error.what}",
            f"resume with {began}, or start a new run",
        ) from error


def check_drive(
    manifest: Manifest,
    drive: Drive,
    *,
    formatted: bool = False,
    given: Given | None = None,
) -> None:
    """Refuse a drive that is not the one on which a run started.

    Parameters
    ----------
    manifest, drive
        The run, and the drive as it is now.
    formatted
        Whether the run itself has changed the drive's block size.
    given
        The valid consent, with the drive as attached then; None if it was renewed or never recorded.

    Raises
    ------
    Refused
        With the fact that differs.
    """
    now_there = drive_info(manifest.drive.text, drive)
    for name in ("id",) if formatted else ("id", "capacity_bytes", "logical_block_bytes"):
        then, found = getattr(manifest.drive, name), getattr(now_there, name)
        if then != found:
            raise Refused(
                f"run {manifest.run_id} was started on another drive: its {name} was {then}, not {found}",
                "attach that drive under the same name, or start a new run",
                fact=name,
                begun=then,
                found=found,
            )
    if manifest.drive.capabilities.on_file_system:
        _check_file(manifest, now_there.identity)
    if given is not None:
        check_attached(given, now_there, "run", manifest.run_id)


def check_attached(given: Given, found: DriveInfo, noun: str, run_id: str, *, resumed: bool = True) -> None:
    """Refuse another drive that now has the name of the drive with consent.

    Parameters
    ----------
    given, found
        The drive then and now, with the same identifier and size.
    noun, run_id
        What is resumed, a run or a suite, and its id.
    resumed
        Whether the drive was closed in between; False between the parts of a suite.

    Raises
    ------
    Refused
        Another drive was attached, or a layer below it was replaced.
    """
    differs = _attached_anew(given, found)
    if differs is None and resumed and given.allowed.get("writing") and can_be_reset(found):
        differs = "it may have been reset since, which the kernel does not count"
    if differs is not None:
        raise Refused(
            f"{noun} {run_id} was not started on what is now {found.text}: {differs}",
            "start a new run; or, if all data on this drive may be lost, name it again: "
            f"ssdlab resume {run_id} --destroy {quoted(found.id)}",
            reason="replaced",
            target=found.text,
        )


def _attached_anew(given: Given, found: DriveInfo) -> str | None:
    now_there = chain_now(found)
    if given.chain is None or now_there is None:
        return None
    then, current = layer_of(given.chain), layer_of(now_there)
    if then.start != current.start:
        return difference(replace(then, diskseq=current.diskseq), current)
    same_boot = given.boot_id == boot_id()
    if not same_boot or (not goes_by_name(given.drive) and not then.below):
        return None  # kernel numbers change at boot; a drive with its own identifier may be plugged in again
    return difference(then, current)


def _check_file(manifest: Manifest, found: Mapping[str, object]) -> None:
    """Refuse another file of the same size at the path of the run's file."""
    facts = ["inode", "birth_ns"]
    # Device numbers change at each boot.
    if manifest.sessions and manifest.sessions[-1].boot_id == boot_id():
        facts.append("file_device")
    begun = manifest.drive.identity
    for fact in facts:
        then, now_there = begun.get(fact), found.get(fact)
        if then is not None and now_there is not None and then != now_there:
            raise Refused(
                f"{manifest.drive.text} is not the file that run {manifest.run_id} was started on: "
                "it was replaced",
                "restore the run's file, or start a new run",
                fact=fact,
                begun=then,
                found=now_there,
            )
