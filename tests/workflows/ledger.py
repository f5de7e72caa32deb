"""Proves from the ledger that the jobs wrote that a workflow ran as it should."""

from __future__ import annotations

import re
from collections.abc import Iterable

_LINE = re.compile(r"(\S+) (start|end) \d+(?:\.\d+)?\Z")


def check_ledger(
    edges: Iterable[tuple[str, str]], ledger_text: str, nodes: Iterable[str] = ()
) -> list[str]:
    """What is wrong with a run; an empty list if every node ran once and after its parents.

    The order of the lines counts, not their times: each was appended by one write, so one line
    stands before another only if it was written before it, whatever the clock did.

    Args:
        edges: from parent to child; every node named here must have run.
        ledger_text: lines `NODE start TIME` and `NODE end TIME`.
        nodes: all nodes, for those without edges; if given, no other may have run.
    """
    pairs = list(edges)
    listed = list(nodes)
    known = dict.fromkeys([*listed, *(node for pair in pairs for node in pair)])
    wrong: list[str] = []
    places = _places(ledger_text, wrong)
    for node in places:
        if listed and node not in known:
            wrong.append(f"{node} is not in the workflow, but ran")
    for node in dict.fromkeys([*known, *places]):
        wrong += _check_node(node, places.get(node, {}))
    for parent, child in pairs:
        ends = places.get(parent, {}).get("end")
        starts = places.get(child, {}).get("start")
        if ends and starts and min(starts) < min(ends):
            wrong.append(
                f"{child} started (line {min(starts)}) before its parent {parent} ended"
                f" (line {min(ends)})"
            )
    return wrong


def _places(text: str, wrong: list[str]) -> dict[str, dict[str, list[int]]]:
    """Numbers of the lines for each node and word."""
    places: dict[str, dict[str, list[int]]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        match = _LINE.match(line)
        if match is None:
            wrong.append(f"line {number} is not NODE start|end TIME: {line!r}")
            continue
        places.setdefault(match[1], {}).setdefault(match[2], []).append(number)
    return places


def _check_node(node: str, words: dict[str, list[int]]) -> list[str]:
    starts, ends = words.get("start", []), words.get("end", [])
    if not starts and not ends:
        return [f"{node} never ran"]
    wrong = []
    for word, lines in (("start", starts), ("end", ends)):
        if len(lines) != 1:
            wrong.append(f"{node} has {len(lines)} {word} lines instead of 1{_at(lines)}")
    if starts and ends and min(ends) < min(starts):
        wrong.append(f"{node} ended before it started{_at([min(ends), min(starts)])}")
    return wrong


def _at(lines: list[int]) -> str:
    return f" (lines {', '.join(map(str, lines))})" if lines else ""
