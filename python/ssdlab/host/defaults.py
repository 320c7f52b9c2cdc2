"""The defaults of library, rig file, theme and meter.

Options take precedence. For the library alone, the variable `SSDLAB_LIBRARY` comes next. Other options have
no variable, or else a shell's start file could consent to data loss. `config.toml` comes last.

Defaults are resolved here, not by the command line (cyclopts' `env_var` and `config`). One reason is that
Python, completion and proposed commands must find the same library. The other is that a given value can be
refused where a default is ignored: a meter with a simulated drive, and `measure --library` without `--save`.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field, ValidationInfo

from ssdlab.host.documents import read_toml, user_path, with_name
from ssdlab.host.user_folders import config_folder, data_folder
from ssdlab.model.errors import LabError, UsageError
from ssdlab.model.frozen import Frozen
from ssdlab.model.meter_text import AnyMeter

LIBRARY_VARIABLE = "SSDLAB_LIBRARY"
CHANGES = Path(".catalogue") / "changes"
"""Folder within a library for notes of changes that are under way (`ssdlab.results.settling`)."""


def _within_its_folder(value: object, info: ValidationInfo) -> object:
    """Return a path relative to the folder of the file that names it."""
    assert isinstance(info.context, Path)
    if not isinstance(value, str) or not value:
        raise ValueError("not the name of a file or folder")
    return info.context / user_path(value)


_OwnPath = Annotated[Path, BeforeValidator(_within_its_folder)]


class Defaults(Frozen):
    """The content of `config.toml`; all entries are optional."""

    noun: ClassVar[str] = "entry of config.toml"

    library: _OwnPath | None = Field(None, description="folder of runs, as --library")
    rig: _OwnPath | None = Field(None, description="file that describes the test platform, as --rig")
    theme: _OwnPath | None = Field(None, description="theme of pages and pictures, as --theme")
    meter: AnyMeter | None = Field(
        None, description="power meter on the drive, as --meter, if the rig file has none"
    )


def config_path() -> Path:
    return config_folder() / "config.toml"


def read_defaults() -> Defaults:
    """Read `config.toml`.

    Raises
    ------
    UsageError, HostError
        The file cannot be read, or is invalid; the error names it.
    """
    path = config_path()
    content = read_own_toml(path, "configuration")
    try:
        return Defaults.model_validate(content, context=path.parent)
    except UsageError as error:
        raise with_name(error, path) from None


def read_own_toml(path: Path, noun: str) -> dict[str, Any]:
    """Return the content of a file of this user's configuration folder; empty if there is none.

    Raises
    ------
    UsageError, HostError
        The file exists and cannot be read.
    """
    # The file is optional. A link that leads nowhere counts as a file, which then cannot be read.
    return read_toml(path, noun, "correct it, or move it away") if os.path.lexists(path) else {}


def default_library() -> Path:
    """Return the default library: `SSDLAB_LIBRARY`, else that of `config.toml`, else one in the data folder.

    Raises
    ------
    UsageError, HostError
        `SSDLAB_LIBRARY` or `config.toml` is invalid.
    """
    if named := os.environ.get(LIBRARY_VARIABLE):
        try:
            return user_path(named).absolute()
        except UsageError as error:
            error.what = f"{LIBRARY_VARIABLE}: {error.what}"
            raise
    return read_defaults().library or data_folder() / "runs"


def library_folder(named: str | Path | None) -> Path:
    return default_library() if named is None else user_path(named).absolute()


def is_default_library(folder: Path) -> bool:
    try:
        return folder == default_library()
    except LabError:  # config.toml became invalid during a run: naming the library is always right
        return False


def library_words(library: Path) -> str:
    """Return the library option of a proposed command; empty for the default library."""
    return "" if is_default_library(library) else f" --library {shlex.quote(str(library))}"
