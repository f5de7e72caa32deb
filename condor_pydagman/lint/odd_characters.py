"""Findings about quotes, dashes and blanks that word processors and web pages put in the place of
those on the keyboard: in values of VARS and in SCRIPT lines they reach the program as they are."""

from __future__ import annotations

from collections.abc import Iterator

from condor_pydagman.graph.model import DONE, Dag
from condor_pydagman.language.hints import odd_character
from condor_pydagman.lint.findings import Findings, nodes_named

CODE = "DAG420"


def odd(text: str) -> str:
    """What is odd about a text; '' if nothing is."""
    return "" if text.isascii() else odd_character(text).partition(" means nothing")[0]


def check_characters(dag: Dag, findings: Findings) -> None:
    """Look at what people have typed; the same is told once."""
    seen: dict[tuple[str, str, str], list[tuple[int, tuple[str, ...]]]] = {}
    for node, where, text, line in _typed(dag):
        what = odd(text)
        if what:
            seen.setdefault((where, text, what), []).append((node, line))
    for (where, _, what), found in seen.items():
        node, line = found[0]
        message = f"{where} of {nodes_named(dag, node, len(found))} has {what}"
        findings.of_node(CODE, dag, node, message, *line)


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
