"""Puts the tables and charts of a run into docs/performance.md, between its markers.

A marker is a line `<!-- begin NAME -->`, and what is generated ends before `<!-- end NAME -->`.
NAME is `aims`, `run`, or the name of a group of rows.  All else in the page is written by hand.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from benchmarks import aims, charts, figures, peers_table, table

PAGE, CHARTS, NUMBERS = "performance.md", "charts", "charts/numbers.json"
_PART = re.compile(r"(<!-- begin ([\w ]+) -->\n).*?(<!-- end \2 -->)", re.S)


def write(docs: Path, told: dict[str, Any]) -> None:
    """Rewrite the page, its charts and its numbers.

    Args:
        docs: has the page.
        told: what a run gave, as written by --json.
    """
    made = charts.write(docs / CHARTS, told["numbers"])
    page = (docs / PAGE).read_text(encoding="utf-8")
    (docs / PAGE).write_text(filled(page, parts(told, made)), encoding="utf-8")
    text = json.dumps(told, indent=1, sort_keys=True)
    (docs / NUMBERS).write_text(f"{text}\n", encoding="utf-8")


def updated(earlier: dict[str, Any], told: dict[str, Any], steps: list[str]) -> dict[str, Any]:
    """The numbers of an earlier run, with those of these steps from a later one."""
    numbers = {subject: dict(found) for subject, found in earlier["numbers"].items()}
    for subject, found in told["numbers"].items():
        numbers.setdefault(subject, {}).update(found)
    kept = [one for one in earlier["failures"] if one.partition(",")[0] not in steps]
    again = {"date": told["machine"]["date"], "seconds": told["seconds"], "steps": steps}
    return {
        **earlier,
        "numbers": numbers,
        "failures": [*kept, *told["failures"]],
        "peers": {**earlier.get("peers", {}), **told.get("peers", {})},
        "again": [*earlier.get("again", []), again],
    }


def filled(page: str, texts: dict[str, str]) -> str:
    """The page with the texts between its markers; a part without a text was not measured."""

    def part(match: re.Match[str]) -> str:
        text = texts.get(match[2], "Not measured in this run.\n")
        return f"{match[1]}\n{text}\n{match[3]}"

    return _PART.sub(part, page)


def parts(told: dict[str, Any], made: list[charts.AnyChart]) -> dict[str, str]:
    """The text of each part, by its name."""
    results = told["numbers"]
    texts = {"aims": aims.render(results), "run": _run(told)}
    tables = {title: table.render(rows, results) for title, rows in figures.groups(results)}
    if peers_table.measured(results):
        tables[peers_table.GROUP] = peers_table.render(results, told.get("peers", {}))
    for title, text in tables.items():
        pictures = [
            f"![{chart.title}]({CHARTS}/{chart.file}.svg)\n"
            for chart in made
            if chart.group == title
        ]
        texts[title] = "\n".join([text, *pictures])
    return texts


def _run(told: dict[str, Any]) -> str:
    """What was measured, in a few lines."""
    machine, sizes = told["machine"], told["sizes"]
    lines = [
        f"{machine['date']}: {machine['system']}, {machine['cores']} cores, Python"
        f" {machine['python']}, HTCondor {machine['htcondor']} (pool, stock DAGMan and bindings),"
        f" all on one machine, whose load before was {machine['load before']}.",
        f"The run took {told['seconds'] / 60:.0f} minutes.",
        "",
        f"Chain of {sizes['chain']}; bags of {sizes['held']} held and {sizes['noop']} no-op jobs;"
        f" 1 → {sizes['fan']} → 1; {sizes['product']} with {sizes['product']}; workflows of"
        f" {sizes['workflow']} nodes; recovery of {sizes['recovery']:,}; idle for"
        f" {sizes['idle']:.0f} s; {sizes['dagmans']} DAGMans at once.",
        *_later_sizes(sizes),
        "",
        "Stock, tuned: " + ", ".join(f"`{n} = {v}`" for n, v in told["tuned"].items()) + ".",
    ]
    if told["knobs"]:
        lines.append("All: " + ", ".join(f"`{n} = {v}`" for n, v in told["knobs"].items()) + ".")
    for again in told.get("again", []):
        lines.append(
            f"\nMeasured again, {again['date']}, in {again['seconds'] / 60:.0f} minutes:"
            f" {', '.join(again['steps'])}."
        )
    lines += [f"\nFailed: {_short(failure)}" for failure in told["failures"]]
    return "\n".join(lines) + "\n"


def _short(failure: str) -> str:
    """The first line of a message, without the directories of this machine."""
    return re.sub(r"(?:/[\w.+-]+)+/", "", failure.partition("\n")[0])


def _later_sizes(sizes: dict[str, Any]) -> list[str]:
    """Those that numbers of earlier versions do not have."""
    if "crowd" not in sizes:
        return []
    return [
        f"CPU of DAGMan with {sizes['crowd']:,} no-op jobs.",
        f"Peers: chain of {sizes['peer_chain']:,} and bag of {sizes['peer_bag']:,}; where tasks are"
        f" jobs of HTCondor, {sizes['pool_chain']} and {sizes['noop']}.",
    ]
