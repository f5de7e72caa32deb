"""Findings about macros in the names of files of a feature: CACHE, PUBLISH.

With a macro that nothing sets a node of CACHE runs each time, and one of PUBLISH fails when it has
run.  They are looked for when all VARS lines are known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from condor_pydagman.features.common.file_macros import expanded, known_macros, unset_macros
from condor_pydagman.graph.model import DONE, Dag
from condor_pydagman.language.hints import nearest
from condor_pydagman.lint.findings import Findings, nodes_named

CODE = "DAG416"
_BRACES = re.compile(r"(?<!\$)\{([A-Za-z_]\w*)\}")


def check_file_macros(
    dag: Dag,
    findings: Findings,
    word: str,
    files: Mapping[int, Iterable[str]],
    *,
    at_run_time: bool = False,
) -> None:
    """Look at the names of files; what is wrong with one is told once, with the first node.

    Args:
        dag: the DAG.
        findings: get what is found.
        word: of the lines that name them.
        files: by node, the names.
        at_run_time: $(RETRY) has a value, since the node has run by then.
    """
    seen: dict[tuple[str, str, str], list[int]] = {}
    for node in sorted(files):
        if dag.flags[node] & DONE:
            continue
        variables = [(one.key, one.value) for one in dag.variables.get(node, ())]
        for file in files[node]:
            if "$" not in file and "{" not in file:
                continue
            for what, hint in _mistakes(dag.names[node], file, variables, at_run_time):
                seen.setdefault((file, what, hint), []).append(node)
    for (file, what, hint), nodes in seen.items():
        message = f"{word} of {nodes_named(dag, nodes[0], len(nodes))} names {file}: {what}"
        findings.of_node(CODE, dag, nodes[0], message, word, hint=hint)


def _mistakes(
    name: str, file: str, variables: list[tuple[str, str]], at_run_time: bool
) -> Iterator[tuple[str, str]]:
    """What is wrong with the name of a file, and what to do."""
    known, keys = known_macros(name, variables), [key for key, _ in variables]
    if at_run_time:
        known["retry"] = "0"
    for macro in dict.fromkeys(unset_macros(expanded(file, known))):
        meant = nearest(macro, ("JOB", *keys))
        hint = f"did you mean $({meant})?" if meant else f"set it with VARS: {macro}=..."
        if macro.upper() == "RETRY":
            hint = "the files that a node reads must not depend on the number of its attempt"
        yield f"nothing sets $({macro})", hint
    for key in dict.fromkeys(_BRACES.findall(file)):
        if key in keys:
            yield f"{{{key}}} is not a macro there", f"use $({key}), which VARS or SWEEP sets"
