"""Findings about quotes, dashes and blanks that word processors and web pages put in the place of
those on the keyboard: in values of VARS and in SCRIPT lines they reach the program as they are."""

from __future__ import annotations

from collections.abc import Iterator

from condor_pydagman.graph.model import DONE, Dag
from condor_pydagman.language.hints import odd_character
from condor_pydagman.lint.findings import Findings

CODE = "DAG420"


def odd(text: str) -> str:
    """What is odd about a text; '' if nothing is."""
    return "" if text.isascii() else odd_character(text).partition(" means nothing")[0]


def check_characters(dag: Dag, findings: Findings) -> None:
    """Look at what people have typed; the same is told once."""
    seen: dict[tuple[str, ...], list[int]] = {}
    words: dict[tuple[str, ...], tuple[str, ...]] = {}
    for node, where, text, line in _typed(dag):
        what = odd(text)
        if what:
            key: tuple[str, ...] = (where, text, what)
            words.setdefault(key, line)
            seen.setdefault(key, []).append(node)
    for key, nodes in seen.items():
        name, more = dag.names[nodes[0]], len(nodes) - 1
        others = f" and {more} other node{'s' if more > 1 else ''}" if more else ""
        message = f"{key[0]} of node {name}{others} has {key[2]}"
        place = dag.place(nodes[0])
        findings.add(CODE, message, place=place, node=name, words=words[key])


def _typed(dag: Dag) -> Iterator[tuple[int, str, str, tuple[str, ...]]]:
    for node, name in enumerate(dag.names):
        if not name.isascii():
            yield node, "the name", name, ()
    for node, variables in dag.variables.items():
        if not dag.flags[node] & DONE:
            for one in variables:
                yield node, f"VARS {one.key}", one.value, ("VARS", dag.names[node], one.key)
    for node, scripts in dag.scripts.items():
        for kind, script in scripts.items():
            line = ("SCRIPT", kind.value, dag.names[node])
            yield node, f"the {kind.value} script", script.command, line
