"""The defaults: library, rig file, theme and meter.

Options take precedence. Next comes, only for the library, the variable `SSDLAB_LIBRARY`: with variables for
all options, a shell's start file could consent to data loss. Then comes `config.toml`. Defaults are resolved
here, not by the command line (cyclopts' `env_var` and `config`): Python, completion and proposed commands
must find the same library, and a default differs from a given value. A given meter is refused for a simulated
drive, and `measure --library` without `--save`.
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
"""Within a library: notes of changes that are under way (`ssdlab.results.settling`)."""


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
    """Return the path of this user's configuration file."""
    return config_folder() / "config.toml"


def read_defaults() -> Defaults:
    """Read `config.toml`.

    Raises
    ------
    UsageError, HostError
        It cannot be read, or is invalid; the error names the file.
    """
    path = config_path()
    content = read_own_toml(path, "configuration")
    try:
        return Defaults.model_validate(content, context=path.parent)
    except UsageError as error:
        raise with_name(error, path) from None


def read_own_toml(path: Path, noun: str) -> dict[str, Any]:
    """Return the content of a file of this user's configuration folder; empty if missing.

    Raises
    ------
    UsageError, HostError
        It is there, and cannot be read.
    """
    # Nobody need have one, and the folder may not be this user's. A link that leads nowhere is there.
    return read_toml(path, noun, "correct it, or move it away") if os.path.lexists(path) else {}


def default_library() -> Path:
    """Return the default library.

    Raises
    ------
    UsageError, HostError
        `SSDLAB_LIBRARY` or `config.toml` is wrong.
    """
    if named := os.environ.get(LIBRARY_VARIABLE):
        try:
            return user_path(named).absolute()
        except UsageError as error:
            error.what = f"{LIBRARY_VARIABLE}: {error.what}"
            raise
    return read_defaults().library or data_folder() / "runs"


def library_folder(named: str | Path | None) -> Path:
    """Return the named library, else the default one."""
    return default_library() if named is None else user_path(named).absolute()


def is_default_library(folder: Path) -> bool:
    """Whether a library is the default one."""
    try:
        return folder == default_library()
    except LabError:  # the file was spoilt while a run went on: it is named, which is right anyhow
        return False


def library_words(library: Path) -> str:
    """Return the library option of a proposed command: empty for the default library."""
    return "" if is_default_library(library) else f" --library {shlex.quote(str(library))}"
