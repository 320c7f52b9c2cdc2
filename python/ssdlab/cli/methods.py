"""`ssdlab methods`: list the review methods, or describe one."""

from __future__ import annotations

import textwrap
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ssdlab.cli.completion import MethodName
from ssdlab.cli.output import print_json, print_line, print_table, warn
from ssdlab.model.errors import UsageError
from ssdlab.model.units import and_listed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import JsonValue

    from ssdlab.lab.method import Method
    from ssdlab.lab.suites.suite import Suite

SCHEMA = "ssdlab.methods/1"
_WIDTH = 100


def methods(name: MethodName | None = None, /, *, toml: bool = False, json: bool = False) -> None:
    """List the methods and suites, or show one: its description, parameters, defaults, units and source.

    Parameters
    ----------
    name
        One method or suite [default: list all].
    toml
        Print the TOML declaration of a suite or review, to copy and change.
    json
        Print JSON, schema ssdlab.methods/1.
    """
    from ssdlab.lab.found import find_method
    from ssdlab.lab.suites import find_suite

    if toml:
        print(_toml(name, json=json), end="")
        return
    suite = None if name is None else find_suite(name)
    if suite is not None:
        _tell_suite(suite, json=json)
        return
    if name is not None:
        method = find_method(name)
        if json:
            print_json({"schema": SCHEMA, "methods": [_method_json(method)]})
        else:
            _print_one(method)
        return
    _tell_all(json=json)


def _toml(name: str | None, *, json: bool) -> str:
    """Return the declaration of a built-in suite.

    Raises
    ------
    UsageError
        No suite is named, it has no built-in declaration, or JSON is requested too.
    """
    from ssdlab.lab.found import SUITES, find_method
    from ssdlab.lab.suites import is_path, suite_text

    if json:
        raise UsageError("--toml and --json cannot be combined", "give one of them")
    if name in SUITES:
        return suite_text(name)
    having = f"name one that has a declaration: {', '.join(SUITES)}"
    if name is None:
        raise UsageError("--toml needs the name of a suite", having)
    if is_path(name):
        raise UsageError(f"{name} is already a file", f"copy that, or {having}", given=name)
    find_method(name)
    raise UsageError(
        f"{name} is a method: it is Python and has no TOML",
        f"see its parameters with ssdlab methods {name}, or {having}",
        given=name,
    )


def method_help(command: str, name: str) -> bool:
    """Show the method or suite `name` in answer to --help; return False if `name` is an option."""
    if name.startswith("-"):
        return False
    methods(name)
    print_line()
    print_line(f"Each parameter is set by --set NAME=VALUE. All options: ssdlab {command} --help", "dim")
    return True


def _tell_all(*, json: bool) -> None:
    from ssdlab.lab.folders import BROKEN, REGISTRY
    from ssdlab.lab.found import SUITES, all_methods, broken_methods, methods_of_others
    from ssdlab.lab.suites import all_suites

    others = methods_of_others()
    if json:
        print_json(
            {
                "schema": SCHEMA,
                "methods": [_method_json(each) for each in (*all_methods(), *others.methods.values())],
                "suites": [_suite_json(each) for each in all_suites()],
                "broken": [asdict(each) for each in (*broken_methods(), *others.broken)],
            }
        )
        return
    of_others = [_line_of(each) for each in others.methods.values()]
    ours, suites = (
        [(name, each.writes, each.line) for name, each in listed.items()] for listed in (REGISTRY, SUITES)
    )
    print_table(
        [
            (name, "writes" if writes else "reads only", line)
            for name, writes, line in (*ours, *of_others, *suites)
        ]
    )
    for each in (*BROKEN, *others.broken):
        warn(each.what)


def _line_of(method: Method) -> tuple[str, bool, str]:
    """Return name, destructiveness and summary, with package name, of a method from another package."""
    info = method.info()
    question, _, _ = info.prose.partition("\n")
    return info.name, info.destructive, f"{question} (package {method.package})"


def _method_json(method: Method) -> dict[str, JsonValue]:
    return {**method.info().model_dump(mode="json"), "package": method.package or None}


def _tell_suite(suite: Suite, *, json: bool) -> None:
    from ssdlab.lab.suites.declaration import inferred_of

    if json:
        print_json({"schema": SCHEMA, "methods": [], "suites": [_suite_json(suite)]})
        return
    info = suite.info()
    print_line(
        f"{info.name}, version {info.version}: {'writes' if info.destructive else 'reads only'}", "bold"
    )
    print_line()
    print_line(info.prose)
    print_line()
    print_line("Parts, in the order of a real drive (--set part.name=value):")
    rows = [
        (f"  {part.label}", f"initial state: {part.state}", _words(part.settings)) for part in suite.parts
    ]
    print_table(rows)
    for part in suite.parts:
        if part.inferred:
            print_line(inferred_of(part))
    again = [(entry, part) for entry in suite.entries for part in suite.again((entry,))]
    if again:
        print_line()
        print_line("Repeated in variants, on the first drive or those named:")
        print_table(
            [(f"  {part.label}", _words(part.variant), _drives(entry.drives)) for entry, part in again]
        )


def _words(values: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in values.items())


def _drives(drives: tuple[str | int, ...]) -> str:
    from ssdlab.lab.suites.suite import EVERY_DRIVE

    return "all drives" if EVERY_DRIVE in drives else f"drive {and_listed(list(map(str, drives)))}"


def _suite_json(suite: Suite) -> dict[str, Any]:
    info = suite.info()
    parts = [
        {
            "part": part.label,
            "method": part.method,
            "state": part.state,
            "settings": dict(part.settings),
            "full_size": part.absolute,
            "inferred": list(part.inferred),
        }
        for part in suite.parts
    ]
    again = [(entry, part) for entry in suite.entries for part in suite.again((entry,))]
    return {
        **info.model_dump(mode="json"),
        "parts": parts,
        "variant_parts": [
            {
                "part": part.label,
                "like": part.like,
                "variant": dict(part.variant),
                "drives": list(entry.drives),
            }
            for entry, part in again
        ],
        "span_bytes": suite.span_bytes,
        "quick_span_bytes": suite.quick_span_bytes,
    }


def _print_one(method: Method) -> None:
    info = method.info()
    whose = f", of package {method.package}" if method.package else ""
    print_line(
        f"{info.name}, version {info.version}{whose}: {'writes' if info.destructive else 'reads only'}",
        "bold",
    )
    print_line()
    print_line(info.prose)
    print_line()
    if info.needs:
        print_line(f"Needs: {', '.join(info.needs)}")
    if info.conditions:
        print_line(f"Requires: {', '.join(f'{key} {value}' for key, value in info.conditions.items())}")
    print_line("Parameters (--set name=value):")
    for each in info.parameters:
        default, quick = (
            f"{value_text(of)} {each.unit_of(of)}".rstrip() for of in (each.default, each.quick)
        )
        shorter = f"; quick: {quick}" if each.quick != each.default else ""
        print_line(f"  {each.name} = {default}{shorter}")
        for line in textwrap.wrap(each.reason, _WIDTH):
            print_line(f"      {line}", "dim")


def value_text(value: JsonValue) -> str:
    """Return a parameter's value as `--set` takes it; the items of a list are separated by commas."""
    if isinstance(value, list):
        return ",".join(value_text(each) for each in value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) else str(value)
