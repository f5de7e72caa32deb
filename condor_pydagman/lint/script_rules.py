"""Findings about SCRIPT lines: words that look like macros, and that scripts get as they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator

from condor_pydagman.graph.model import DONE, Dag
from condor_pydagman.lint.findings import Findings

CODE = "DAG418"
_LIKE_MACRO = re.compile(r"\$\((\w+)\)|\{(\w+)\}")


def check_scripts(dag: Dag, findings: Findings) -> None:
    """Look for the keys of a node's VARS in the arguments of its scripts; a line is told once."""
    seen: dict[tuple[str, str, str], list[int]] = {}
    for node, scripts in dag.scripts.items():
        if node not in dag.variables or dag.flags[node] & DONE:
            continue
        for kind, script in scripts.items():
            for word in _like_macros(dag, node, script.command):
                seen.setdefault((kind.value, script.command, word), []).append(node)
    for (kind_word, _, word), nodes in seen.items():
        name, more = dag.names[nodes[0]], len(nodes) - 1
        others = f" and {more} other node{'s' if more > 1 else ''}" if more else ""
        message = f"the {kind_word} script of node {name}{others} gets {word} unexpanded"
        words = ("SCRIPT", kind_word, name)
        findings.add(CODE, message, place=dag.place(nodes[0]), node=name, words=words)


def _like_macros(dag: Dag, node: int, command: str) -> Iterator[str]:
    if "$(" not in command and "{" not in command:
        return
    keys = {variable.key.lower() for variable in dag.variables.get(node, ())} | {"job", "retry"}
    for found in _LIKE_MACRO.finditer(command):
        if (found[1] or found[2]).lower() in keys:
            yield found[0]
