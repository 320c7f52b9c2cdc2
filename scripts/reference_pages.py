#!/usr/bin/env python3
"""Write docs/reference from the code: methods, suites, commands, warnings, qualifiers, fio, plug-in names.

Run by `make reference`. Nothing in these pages is typed twice: prose is the docstring that `ssdlab methods`
prints, parameters are those that a run takes, options those that the command line takes.
"""

from __future__ import annotations

import ast
import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyclopts import Group
from cyclopts.help import create_parameter_help_panel

from ssdlab import plugin
from ssdlab.cli.commands import COMMANDS, GROUPS, HEADINGS, build_app
from ssdlab.cli.methods import value_text
from ssdlab.drives.ratings import METRICS
from ssdlab.formats.fio.options import TABLE
from ssdlab.lab.folders import REGISTRY
from ssdlab.lab.found import SUITES, find_method
from ssdlab.lab.suites import all_suites
from ssdlab.model.warning_texts import CATALOGUE
from ssdlab.results import qualifiers, tables

if TYPE_CHECKING:
    from ssdlab.lab.method import Method, Params
    from ssdlab.lab.suites.suite import Suite
    from ssdlab.results.schema import ParameterInfo

ROOT = Path(__file__).parents[1] / "docs" / "reference"
MARK = "<!-- Made by `make reference` from the code; do not edit. -->\n\n"
GROUPED = (
    ("Reviews of server and client drives", ""),
    ("SNIA's Performance Test Specification (PTS)", "ssdlab.methods.pts"),
    ("Aerospike's certification test (ACT)", "ssdlab.methods.act"),
)
"""Headings of the list of methods, and the folder whose methods stand under each; empty: all others."""
PLUGIN = (
    ("A method and its parameters", "lab.lab lab.method lab.declared model.frozen"),
    ("Verbs, and what they found", "lab.verbs"),
    ("Workloads", "lab.parts.workloads model.arrival model.pattern model.workload"),
    ("Steady state and searches", "lab.parts lab.presented.steady results.drive_states"),
    ("Traces", "lab.traces"),
    (
        "Results and figures",
        "lab.kinds results.metric results.evidence results.qualifiers results.kind results.points",
    ),
    ("Findings and tables", "results.claim results.cells lab.presented results.remarks"),
    ("Sections and charts of the page", "report"),
    ("Drives and what a run has stored", "drives model.power_features model.summary results model.warnings"),
    ("Meters", "power model.meter_text"),
    ("Errors", "model.errors"),
    ("Units", "model"),
)
"""Headings of the plug-in interface, and the modules whose names stand under each; the first that fits."""
PLUGIN_PAGES = {
    "plugin": ("The plug-in interface", PLUGIN[:6]),
    "plugin-page": ("The plug-in interface: findings, pages and meters", PLUGIN[6:]),
}
UNITS = (
    ("*_kiops_per_w", "kIOPS/W", "higher"),
    ("*_mb_s_per_w", "MB/s/W", "higher"),
    ("act_score_per_w", "x/W", "higher"),
    ("act_score_w", "W", "lower"),
    ("act_*", "x", "higher"),
    ("*_j_per_gb", "J/GB", "lower"),
    ("*_depth", "I/Os", "lower"),
    ("*_times", "times", "lower"),
    ("*_iops", "IOPS", "higher"),
    ("*_mb_s", "MB/s", "higher"),
    ("*_ns", "ns", "lower"),
    ("*_us", "us", "lower"),
    ("*_w", "W", "lower"),
    ("*_j", "J", "lower"),
    ("*_s", "s", "lower"),
    ("trim_recovered", "%", "higher"),
    ("rate_under_*", "IOPS", "higher"),
    ("pts_iops_*", "IOPS", "higher"),
    ("pts_throughput_*", "MB/s", "higher"),
    ("pts_latency_*", "µs", "lower"),
)
"""A figure's name ends with its unit. Names of a grid of cells begin with what all of its cells are in."""
GRID = (("pts_demand_intensity_*", "pts_composite_*"), ("", "IOPS", "higher"), ("_art", "µs", "lower"))
"""Figures of the demand tests: of each point its rate, and its mean response time (ART)."""


def pages() -> dict[str, str]:
    """Return every page by its path below docs/reference."""
    methods = {name: find_method(name) for name in REGISTRY}
    made = {"methods/README.md": _methods_list(methods), "suites.md": _suites_page(all_suites())}
    made |= {f"methods/{name}.md": _method_page(method) for name, method in methods.items()}
    made["commands/README.md"] = _commands_list()
    made |= {f"commands/{word}.md": _command_page(word) for word in _words()}
    made |= {"warnings.md": _warnings_page(), "qualifiers.md": _qualifiers_page()}
    made |= {"fio-options.md": _fio_options_page(), "tables.md": _tables_page()}
    made |= {f"{page}.md": _plugin_page(page) for page in PLUGIN_PAGES}
    return {path: MARK + text for path, text in made.items()}


def main() -> int:
    """Write all pages, and remove those of methods and commands that are gone."""
    shutil.rmtree(ROOT, ignore_errors=True)
    for path, text in pages().items():
        page = ROOT / path
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text, encoding="utf-8")
    return 0


def _methods_list(methods: dict[str, Method]) -> str:
    lines = [
        "# Methods",
        "",
        "A method is a question, a procedure and a rule for the answer, from a published source.",
        "`ssdlab methods NAME` prints its text and parameters. [Methodology](../../methodology.md) explains",
        "what all methods share; [suites](../suites.md) are several methods on one drive.",
    ]
    for heading, folder in GROUPED:
        others = [other for _, other in GROUPED if other]
        within = [
            name
            for name, each in REGISTRY.items()
            if (
                each.place.startswith(f"{folder}.") if folder else not any(map(each.place.startswith, others))
            )
        ]
        lines += ["", f"## {heading}", "", "| method | writes | what it answers |", "|---|---|---|"]
        lines += [
            _row(
                f"[{name}]({name}.md)",
                "yes" if methods[name].info().destructive else "no",
                REGISTRY[name].line,
            )
            for name in within
        ]
    return "\n".join(lines) + "\n"


def _method_page(method: Method) -> str:
    info = method.info()
    line, sections = sections_of(info.prose)
    needs = [*info.needs, *(f"{name} {value}" for name, value in info.conditions.items())]
    if method.asks_drive:
        needs.append("a drive that reports power states (no file)")
    lines = [
        f"# {info.name}",
        "",
        f"**{info.title}.** {line}",
        "",
        f"Version {info.version}. {'Writes to the drive' if info.destructive else 'Reads only'}, "
        f"with default parameters. Needs: {', '.join(needs)}.",
    ]
    for heading, text in sections:
        lines += ["", f"## {heading}", "", text]
    lines += ["", "## Example", "", *_example(info.name, writes=info.destructive)]
    lines += [
        "",
        "## Parameters",
        "",
        "Set with `--set NAME=VALUE`. An empty cell under *quick* is the default.",
    ]
    lines += ["", "| parameter | default | quick | accepts | meaning |", "|---|---|---|---|---|"]
    schema = method.params.model_json_schema()["properties"]
    lines += [_parameter_row(each, method.params, schema[each.name]) for each in info.parameters]
    lines += ["", "## Headline figures", ""]
    lines += ["A star stands for a value of a parameter, or for a cell. Figures of power need a meter.", ""]
    lines += ["| figure | unit | better | compared with the rating of |", "|---|---|---|---|"]
    lines += list(_figure_rows(info.name))
    lines += ["", "What may qualify a figure: [methodology](../../methodology.md#evidence-with-each-figure)."]
    return "\n".join(lines) + "\n"


def sections_of(prose: str) -> tuple[str, list[tuple[str, str]]]:
    """Return the first line of a prose, and its sections: headings that stand out, with what is indented."""
    line, _, rest = prose.partition("\n\n")
    found = re.findall(r"^(\S.*)\n((?:    .*\n|\n)+)", f"{rest}\n", re.MULTILINE)
    return " ".join(line.split()), [
        (head, re.sub(r"^    ", "", text, flags=re.M).strip()) for head, text in found
    ]


def _example(name: str, *, writes: bool) -> list[str]:
    consent = " --destroy ID" if writes else ""
    return [
        "```console",
        f"$ ssdlab run {name} sim:tiny-test --quick",
        "```",
        "",
        f"On a real drive, with its plan first: `ssdlab plan {name} /dev/nvme0n1`, then",
        f"`ssdlab run {name} /dev/nvme0n1{consent}`.",
    ]


def _parameter_row(info: ParameterInfo, params: type[Params], schema: dict[str, Any]) -> str:
    default, quick = (f"{value_text(of)} {info.unit_of(of)}".strip() for of in (info.default, info.quick))
    if isinstance(info.default, list):
        default, quick = (text.replace(",", ", ") for text in (default, quick))
    same = info.quick == info.default
    return _row(f"`{info.name}`", default, "" if same else quick, _accepts(schema), info.reason)


def _accepts(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return ", ".join(f"`{each}`" for each in schema["enum"] if each)
    within = schema.get("items", schema)
    low, high = (
        next((_number(within[key]) for key in keys if key in within), "")
        for keys in (("minimum", "ge", "exclusiveMinimum"), ("maximum",))
    )
    above = "over " if "exclusiveMinimum" in within else ""
    return f"{above}{low} to {high}" if low and high else f"{above or 'from '}{low}" if low else ""


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else f"{value:g}"


def _figure_rows(method: str) -> Iterator[str]:
    declared = REGISTRY[method]
    for name in declared.figures:
        rated = dict.fromkeys(METRICS[each.metric].title for each in declared.rated.get(name, ()))
        for ending, unit, better in GRID[1:] if name in GRID[0] else [("", *unit_of(name))]:
            yield _row(f"`{name}{ending}`", unit, better, ", ".join(rated))


def unit_of(figure: str) -> tuple[str, str]:
    """Return the unit of a headline figure, and which of two values is better."""
    found = ((unit, better) for pattern, unit, better in UNITS if fnmatchcase(figure, pattern))
    if (of := next(found, None)) is None:
        raise ValueError(f"UNITS has no unit of {figure}")
    return of


def _suites_page(suites: Iterable[Suite]) -> str:
    lines = [
        "# Suites and reviews",
        "",
        "A suite runs several [methods](methods/README.md) on one drive and reports them on one page.",
        "*Begins* is the state of the drive before a part. To change a suite, or to declare your own:",
        "[reviews](../reviews.md).",
        "",
        "| suite | what it is |",
        "|---|---|",
        *(_row(f"[{name}](#{name})", each.line) for name, each in SUITES.items()),
    ]
    for suite in suites:
        line, sections = sections_of(suite.prose)
        lines += ["", f"## {suite.name}", "", f"**{suite.title}.** {line}"]
        for heading, text in sections:
            lines += ["", f"**{heading}**", "", text]
        lines += ["", "| part | begins | set |", "|---|---|---|"]
        for part in suite.parts:
            label = part.label.replace(part.method, f"[{part.method}](methods/{part.method}.md)", 1)
            lines.append(_row(label, part.state, _settings(part.settings.items())))
        again = [(entry, part) for entry in suite.entries for part in suite.again((entry,))]
        if again:
            lines += ["", "| done again | with |", "|---|---|"]
            lines += [_row(part.label, _settings(part.variant.items())) for _, part in again]
    return "\n".join(lines) + "\n"


def _settings(values: Iterable[tuple[str, object]]) -> str:
    return ", ".join(f"`{name}={value}`" for name, value in values)


def _words() -> list[str]:
    """Return the first words of commands, each once: a page is of one."""
    return list(dict.fromkeys(name.split()[0] for name in COMMANDS))


def _commands_list() -> str:
    lines = [
        "# Commands",
        "",
        "What `ssdlab COMMAND --help` prints, a page for each command and for each group.",
    ]
    for heading, words in HEADINGS.items():
        lines += ["", f"## {heading}", "", "| command | what it does |", "|---|---|"]
        lines += [
            _row(f"[{word}]({word}.md)", GROUPS.get(word) or COMMANDS[word].summary)
            for word in words.split()
            if not word.startswith("-")
        ]
    return "\n".join(lines) + "\n"


def _command_page(word: str) -> str:
    if word not in GROUPS:
        return "\n".join([f"# ssdlab {word}", "", *_command(word)]) + "\n"
    lines = [f"# ssdlab {word}", "", f"{GROUPS[word][0].upper()}{GROUPS[word][1:]}."]
    for name in (each for each in COMMANDS if each.split()[0] == word):
        lines += ["", f"## ssdlab {name}", "", *_command(name)]
    return "\n".join(lines) + "\n"


def _command(name: str) -> Iterator[str]:
    """Yield what a command does, how it is called, and its options."""
    whole = build_app(name)
    app = whole
    for word in name.split():
        app = app[word]
    arguments = app.assemble_argument_collection(
        default_parameter=whole.default_parameter, parse_docstring=True
    )
    entries = create_parameter_help_panel(Group("options"), arguments, "plaintext").entries
    usage, rows = [], []
    for entry in sorted(entries, key=lambda each: each.positional_label is None):
        text = " ".join(entry.description.primary_renderable.plain.split())
        several = str(entry.metavar or "").endswith("...")
        if entry.positional_label:
            called = entry.positional_label + ("..." if several else "")
            usage.append(called if entry.required else f"[{called}]")
        else:
            called = ", ".join([*entry.positive_names, *entry.positive_shorts, *entry.negative_names])
            called += f" {entry.metavar}" if entry.metavar else ""
        if entry.choices:
            text += f" One of {', '.join(f'`{each}`' for each in entry.choices)}."
        if entry.default:
            text += f" [default: {entry.default}]"
        rows.append(_row(f"`{called}`", text))
    yield from (_described(app.help), "", "```text", " ".join(["ssdlab", name, *usage, "[OPTIONS]"]), "```")
    if rows:
        yield from ("", "| argument or option | meaning |", "|---|---|", *rows)


def _warnings_page() -> str:
    lines = [
        "# Warnings",
        "",
        "An *alarm* means that figures may be misleading. A *note* states a fact of the drive or the",
        "request. Each warning is printed and stored with the result, with what to do about it.",
        "",
        "| code | level | because |",
        "|---|---|---|",
        *(_row(f"`{code}`", entry.level, entry.cause) for code, entry in CATALOGUE.items()),
    ]
    return "\n".join(lines) + "\n"


def _qualifiers_page() -> str:
    uses = {qualifiers.ALL_USES: "anything", frozenset(): ""}
    lines = [
        "# Figure qualifiers",
        "",
        "What limits a figure, by code: [runs](../runs.md#figure-qualifiers) says where each is kept.",
        "",
        "| code | label | what it means | not used for | what to do |",
        "|---|---|---|---|---|",
    ]
    lines += [
        _row(
            f"`{code}`",
            kind.label,
            kind.sentence,
            uses.get(kind.forbids, ", ".join(sorted(kind.forbids))),
            kind.advice,
        )
        for code, kind in qualifiers.CATALOGUE.items()
    ]
    return "\n".join(lines) + "\n"


def _fio_options_page() -> str:
    lines = [
        "# Options of fio's job files",
        "",
        "What `ssdlab job` does with each option; names are those of fio 3.33 and of its master in 2026.",
        "In parentheses: the value of a refused option that is accepted, because it changes nothing. Aliases",
        "such as `readwrite`, `blocksize` and `timeout` are accepted. Any other option is refused.",
        "[fio's job files](../fio-jobs.md) explains how jobs are run.",
        "",
        "| | why | options |",
        "|---|---|---|",
    ]
    for fate, reasons in TABLE.items():
        lines += [
            _row(fate, why, ", ".join(map(_fio_option, names.split()))) for why, names in reasons.items()
        ]
    return "\n".join(lines) + "\n"


def _fio_option(entry: str) -> str:
    name, _, harmless = entry.partition("=")
    return f"`{name}`" + (f" ({harmless})" if harmless else "")


def _tables_page() -> str:
    lines = [
        "# Tables of a run",
        "",
        "A finished run has these Parquet files in its [folder](../runs.md#the-run-folder). A file is absent",
        "if the run has no such rows. Times are in ns. `NaN` or `NULL`: not known.",
    ]
    for table, (file, columns, order) in tables.TABLES.items():
        lines += ["", f"## `{file}`", "", f"A row is {tables.ROW_IS[table]}; sorted by {order}.", ""]
        lines += ["| column | type | meaning |", "|---|---|---|"]
        lines += [_row(f"`{name}`", kind, tables.MEANING[name]) for name, kind in columns.items()]
    return "\n".join(lines) + "\n"


def _plugin_page(page: str) -> str:
    title, here = PLUGIN_PAGES[page]
    groups: dict[str, list[tuple[str, str]]] = {heading: [] for heading, _ in PLUGIN}
    listed = Path(plugin.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    for module, own, name in re.findall(r"^from (\S+) import (\w+) as (\w+)$", listed, re.MULTILINE):
        place = module.removeprefix("ssdlab.")
        heading = next(
            heading
            for heading, modules in PLUGIN
            if any(f"{place}.".startswith(f"{each}.") for each in modules.split())
        )
        groups[heading].append((name, _headline(module, own)))
    lines = [
        f"# {title}",
        "",
        "Names of `ssdlab.plugin`. `help(ssdlab.plugin.NAME)` prints arguments, units and errors.",
        "[Writing a method](../writing-a-method.md) shows the usual ones at work.",
        *(f"[{other}]({name}.md)." for name, (other, _) in PLUGIN_PAGES.items() if name != page),
    ]
    for heading, _ in here:
        names = groups[heading]
        lines += ["", f"## {heading}", "", "| name | meaning |", "|---|---|"]
        lines += [_row(f"`{name}`", meaning.replace("``", "`")) for name, meaning in sorted(names)]
    return "\n".join(lines) + "\n"


def _headline(module: str, name: str) -> str:
    """Return the first line of what documents a name; of an alias or constant without it, its value."""
    within = find_spec(f"{module}.{name}") if find_spec(module).submodule_search_locations else None  # type: ignore[union-attr]
    tree = _parsed(f"{module}.{name}" if within else module)
    if within:
        return (ast.get_docstring(tree) or "").partition("\n")[0]
    for node, after in pairwise([*tree.body, ast.Pass()]):
        match node:
            case ast.ClassDef(name=own) | ast.FunctionDef(name=own) if own == name:
                return (ast.get_docstring(node) or "").partition("\n")[0]
            case ast.ImportFrom(module=str(source)) if name in (
                each.asname or each.name for each in node.names
            ):
                return _headline(source, name)
            case ast.Assign(targets=[ast.Name(id=own)]) | ast.AnnAssign(target=ast.Name(id=own)) if (
                own == name
            ):
                if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                    return str(after.value.value).partition("\n")[0]
                assert node.value is not None
                return f"`{ast.unparse(node.value)}`"
            case _:
                pass
    return f"`{getattr(plugin, name)!r}`"


def _parsed(module: str) -> ast.Module:
    found = find_spec(module)
    assert found is not None
    return ast.parse(Path(str(found.origin)).read_text(encoding="utf-8"))


def _described(docstring: str) -> str:
    before = re.split(r"\n\s*(?:Parameters|Returns|Raises)\n\s*-+\n", docstring)[0]
    return re.sub(r"^    ", "", before, flags=re.MULTILINE).strip()


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


if __name__ == "__main__":
    sys.exit(main())
