"""Profiles of simulated drives: those that ssdlab brings along, by name or alias, and any TOML file."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from ssdlab.model.errors import UsageError, unknown


def profiles() -> dict[str, str]:
    """Return the profiles that ssdlab brings along: name to TOML, in the order of names."""
    folder = resources.files("ssdlab") / "profiles"
    found = {
        entry.name.removesuffix(".toml"): entry.read_text(encoding="utf-8")
        for entry in folder.iterdir()
        if entry.name.endswith(".toml")
    }
    return dict(sorted(found.items()))


def shipped_ratings() -> dict[str, str]:
    """Return the ratings that ssdlab brings along: name of the profile to TOML."""
    folder = resources.files("ssdlab") / "profiles" / "ratings"
    return {
        entry.name.removesuffix(".toml"): entry.read_text(encoding="utf-8")
        for entry in sorted(folder.iterdir(), key=lambda entry: entry.name)
        if entry.name.endswith(".toml")
    }


def profile_text(name: str) -> str:
    """Return the TOML of a profile: one of ours by name or alias, or a file.

    Raises
    ------
    UsageError
        There is none of that name, or it cannot be read.
    """
    if is_path(name):
        try:
            return Path(name).expanduser().read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(
                f"{name} cannot be read as a profile: {error}", "name a TOML file, or see `ssdlab sim list`"
            ) from error
    known = profiles()
    if name not in known:
        by_alias = _aliases(known)
        if name not in by_alias:
            raise unknown("profile", name, known, elsewhere="see `ssdlab sim list`")
        name = by_alias[name]
    return known[name]


def is_path(name: str) -> bool:
    """Say whether a profile is named by its path, and not one of ours."""
    return "/" in name or name.endswith(".toml")


def _aliases(known: dict[str, str]) -> dict[str, str]:
    import tomllib

    return {
        str(alias): name for name, text in known.items() for alias in tomllib.loads(text).get("aliases", ())
    }
