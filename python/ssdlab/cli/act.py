"""`ssdlab act`: configuration files of Aerospike ACT."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ssdlab.cli.kinds import Count, RunText, Settings
from ssdlab.cli.output import print_json, print_line
from ssdlab.model.errors import UsageError

if TYPE_CHECKING:
    from ssdlab.formats.act.config import ActConfig, IndexConfig, StorageConfig
    from ssdlab.methods.results.act import ActResult
    from ssdlab.results.run_folder import RunFolder

SCHEMA = "ssdlab.act-config/1"


def show(file: Path, /, *, index: bool = False, json: bool = False) -> None:
    """Tell what a configuration file of ACT says, and the load that ACT derives from it.

    Parameters
    ----------
    file
        The file.
    index
        It is one of act_index; without, of act_storage.
    json
        Print JSON, schema ssdlab.act-config/1.
    """
    _print(_read(file, index), json=json)


def config(
    *,
    file: Path | None = None,
    run: RunText = None,
    index: bool = False,
    load: Count = 1,
    device: Annotated[tuple[str, ...], Parameter(metavar="DRIVE", negative=())] = (),
    set: Settings = (),
    output: Path | None = None,
    library: Path | None = None,
    json: bool = False,
) -> None:
    """Write a configuration file for the original ACT: of defaults, of another file, or of a run.

    It has every option, in ACT's own order and without comments, so that it reads back as the same.

    Parameters
    ----------
    file
        Begin with this file's options.
    run
        Begin with the options of this run of act or act-index.
    index
        Write one for act_index; without, for act_storage. A run says it by itself.
    load
        N of Nx: the two rates so many times.
    device
        Drive that the file names, which ACT will overwrite. May be given several times.
    set
        Set an option: --set record-bytes=4096. May be given several times.
    output
        Write it here, not to stdout. A file that exists is not overwritten.
    library
        Folder of runs; by default ssdlab/runs in the XDG data folder.
    json
        Print JSON, schema ssdlab.act-config/1.
    """
    from ssdlab.formats.act.config_file import changed, write_config

    if file is not None and run is not None:
        raise UsageError("--file and --run are two beginnings", "give one of them")
    begun = config_of_run(act_run(run, library)[1]) if run is not None else _read(file, index)
    made = changed(begun, _settings(set), load=load, devices=device)
    if output is not None:
        write_new(output, write_config(made))
    if json:
        _print(made, json=True)
    elif output is None:
        print_line(write_config(made).rstrip("\n"))
    else:
        print_line(f"written: {output}")


def _read(file: Path | None, index: bool) -> StorageConfig | IndexConfig:
    from ssdlab.formats.act.config import IndexConfig, StorageConfig
    from ssdlab.formats.act.config_file import config_of

    program: type[StorageConfig | IndexConfig] = IndexConfig if index else StorageConfig
    return program() if file is None else config_of(file, program)


def act_run(run: str, library: Path | None) -> tuple[RunFolder, ActResult]:
    """Return a finished run of act or act-index."""
    from ssdlab.cli.ordering import library_of
    from ssdlab.methods.results.act import ActResult
    from ssdlab.methods.results.outcome import read_result
    from ssdlab.results.run_folder import RunFolder
    from ssdlab.results.store import find_run

    folder = RunFolder(find_run(run, library_of(library)))
    folder.verify()
    result = read_result(folder)
    if not isinstance(result, ActResult):
        raise UsageError(f"run {run} is no finished run of act or act-index", "name one that is", run=run)
    return folder, result


def config_of_run(result: ActResult) -> StorageConfig | IndexConfig:
    """Return the options that a run had, as the original takes them."""
    from ssdlab.formats.act.config import IndexConfig, StorageConfig

    options: dict[str, Any] = dict(result.config)
    return IndexConfig(**options) if result.program == "act_index" else StorageConfig(**options)


def _settings(words: tuple[str, ...]) -> dict[str, str]:
    from ssdlab.cli.ordering import settings

    return {name.replace("_", "-"): value for name, value in settings(words).items()}


def write_new(path: Path, text: str) -> None:
    """Write a file that does not exist yet."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise UsageError(f"{path} exists", "remove it, or name another", path=str(path)) from error
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error}", "name another", path=str(path)) from error


def _print(made: ActConfig, *, json: bool) -> None:
    from ssdlab.formats.act.config import options
    from ssdlab.formats.act.rates import derived, echo

    if not json:
        print_line(echo(made).rstrip("\n"))
        return
    print_json(
        {
            "schema": SCHEMA,
            "program": made.program,
            "device_names": list(made.device_names),
            "options": options(made),
            "derived": derived(made),
        }
    )
