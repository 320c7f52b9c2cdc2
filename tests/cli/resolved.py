"""What a reader makes of marks in the terminal: by the legend below each stands for a label."""

from __future__ import annotations

import re

from ssdlab.results.qualifiers import CATALOGUE

_BEHIND = re.compile(r"(?<=\S) ([a-zA-Z](?:[a-zA-Z]|\d+/\d+|,)*)(?= {2,}|$)", re.MULTILINE)
_ONE = re.compile(r"([a-zA-Z])(?:(\d+)/(\d+))?")


def legend_of(shown: str) -> dict[str, str]:
    """By mark the entry of the legend, in one line."""
    found: dict[str, str] = {}
    labels = {kind.label for kind in CATALOGUE.values()}
    at = ""
    for line in shown.splitlines():
        entry = re.match(r"([a-zA-Z])  ([^:]+): ", line)
        if entry is not None and entry[2] in labels:
            at = entry[1]
            assert at not in found, "explained once"
            found[at] = line.partition("  ")[2]
        elif at and line.startswith("   "):
            found[at] += f" {line.strip()}"
        else:
            at = ""
    return found


def resolved(shown: str) -> str:
    """Output with labels in the place of marks, and each entry of the legend in one line."""
    legend = legend_of(shown)

    def told(match: re.Match[str]) -> str:
        words = []
        for letter, count, runs in _ONE.findall(match[1]):
            if letter not in legend:
                return match[0]
            label = legend[letter].partition(":")[0]
            words.append(f"{label} in {count} of {runs} runs" if runs else label)
        return f" ({', '.join(words)})"

    lines = shown.splitlines()
    ends = [at for at, line in enumerate(lines) if legend and re.match(f"[{''.join(legend)}]  ", line)]
    if not ends:
        return shown
    below = len(lines)
    for at in range(ends[-1] + 1, len(lines)):
        if not lines[at].startswith("   "):
            below = at
            break
    body = _BEHIND.sub(told, "\n".join(lines[: ends[0]]))
    return "\n".join([body, *legend.values(), *lines[below:]])
