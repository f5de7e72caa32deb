"""Findings about macros in the names of files of CACHE and PUBLISH.

With a macro that nothing sets a node of CACHE runs each time, and one of PUBLISH fails when it has
run.  They are looked for when all VARS lines are known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from condor_pydagman.dagfile.file_macros import expanded, known_macros, unset_macros
from condor_pydagman.dagfile.hints import nearest
from condor_pydagman.graph.model import DONE, Dag
from condor_pydagman.lint.findings import Findings

CODE = "DAG416"
_AT_RUN_TIME = {"CACHE": "", "PUBLISH": "0"}  # what $(RETRY) is, which only a run of a node has
_BRACES = re.compile(r"(?<!\$)\{([A-Za-z_]\w*)\}")


def names_of_files(dag: Dag, node: int) -> Iterator[tuple[str, str]]:
    """The files that CACHE and PUBLISH lines name for a node, each with the word of its line."""
    cached, published = dag.cached.get(node), dag.published.get(node)
    if cached is not None:
        yield from (("CACHE", file) for file in (*cached.inputs, *cached.outputs))
    if published is not None and published.file:
        yield "PUBLISH", published.file


def check_file_macros(dag: Dag, findings: Findings) -> None:
    """Look at the names of all nodes; what is wrong with one is told once, with the first node."""
    seen: dict[tuple[str, str, str, str], list[int]] = {}
    for node in sorted({*dag.cached, *dag.published}):
        if dag.flags[node] & DONE:
            continue
        variables = [(one.key, one.value) for one in dag.variables.get(node, ())]
        for word, file in names_of_files(dag, node):
            if "$" not in file and "{" not in file:
                continue
            for what, hint in _mistakes(dag.names[node], word, file, variables):
                seen.setdefault((word, file, what, hint), []).append(node)
    for (word, file, what, hint), nodes in seen.items():
        name, more = dag.names[nodes[0]], len(nodes) - 1
        others = f" and {more} other node{'s' if more > 1 else ''}" if more else ""
        message = f"{word} of node {name}{others} names {file}: {what}"
        place = dag.place(nodes[0])
        findings.add(CODE, message, place=place, node=name, words=(word, name), hint=hint)


def _mistakes(
    name: str, word: str, file: str, variables: list[tuple[str, str]]
) -> Iterator[tuple[str, str]]:
    """What is wrong with the name of a file, and what to do."""
    known, keys = known_macros(name, variables), [key for key, _ in variables]
    retry = _AT_RUN_TIME[word]
    if retry:
        known["retry"] = retry
    for macro in dict.fromkeys(unset_macros(expanded(file, known))):
        meant = nearest(macro, ("JOB", *keys))
        hint = f"did you mean $({meant})?" if meant else f"set it with VARS: {macro}=..."
        if macro.upper() == "RETRY":
            hint = "the files that a node reads must not depend on the number of its attempt"
        yield f"nothing sets $({macro})", hint
    for key in dict.fromkeys(_BRACES.findall(file)):
        if key in keys:
            yield f"{{{key}}} is not a macro there", f"use $({key}), which VARS or SWEEP sets"
