"""`ssdlab methods`: the review methods."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from ssdlab.cli.output import print_json, print_line, print_table

if TYPE_CHECKING:
    from pydantic import JsonValue

    from ssdlab.results.schema import MethodInfo

SCHEMA = "ssdlab.methods/1"
_WIDTH = 100


def methods(name: str | None = None, /, *, json: bool = False) -> None:
    """List the methods, or tell all of one: its prose, parameters, defaults, units, source.

    Parameters
    ----------
    name
        One method; without it, all of them.
    json
        Print it as JSON, schema ssdlab.methods/1.
    """
    from ssdlab.methods import all_methods, find_method

    found = [find_method(name).info()] if name else [method.info() for method in all_methods()]
    if json:
        print_json({"schema": SCHEMA, "methods": [info.model_dump(mode="json") for info in found]})
    elif name:
        _print_one(found[0])
    else:
        rows: list[tuple[Any, ...]] = [
            (info.name, "writes" if info.destructive else "reads only", info.prose.partition("\n")[0])
            for info in found
        ]
        print_table(rows)


def _print_one(info: MethodInfo) -> None:
    print_line(
        f"{info.name}, version {info.version}: {'writes' if info.destructive else 'reads only'}", "bold"
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
        unit = f" {each.unit}" if each.unit else ""
        quick = f"; quick: {_value(each.quick)}{unit}" if each.quick != each.default else ""
        print_line(f"  {each.name} = {_value(each.default)}{unit}{quick}")
        for line in textwrap.wrap(each.reason, _WIDTH):
            print_line(f"      {line}", "dim")


def _value(value: JsonValue) -> str:
    if isinstance(value, list):
        return ",".join(_value(each) for each in value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) else str(value)
