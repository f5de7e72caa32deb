"""Findings about the request files of DATA nodes: everything that can be known before they run."""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Optional

from condor_pydagman.data_requests.request_ads import is_request
from condor_pydagman.data_requests.request_macros import Macros
from condor_pydagman.data_requests.request_order import out_of_order, same_destination
from condor_pydagman.data_requests.request_text import is_pattern_to_file, read_requests
from condor_pydagman.data_requests.requests import Allocate, Transfer
from condor_pydagman.errors import DagFileError
from condor_pydagman.graph.model import DONE, NOOP, Dag
from condor_pydagman.lint.findings import Findings, World, content
from condor_pydagman.vocabulary import NodeKind

# Macros that DAGMan sets for every node, with what they may be.
_OWN = {
    **dict.fromkeys(("RETRY", "DAG_STATUS", "FAILED_COUNT"), "0"),
    **dict.fromkeys(("DAG_PARENT_NAMES", "SUBMIT_FILE", "JOB"), "name"),
    "DAGManJobId": "1",
}
_UNKNOWN_YET = re.compile(r"\$env\s*\(|\$\(\s*match_", re.IGNORECASE)
# Code, line and what is wrong there; the error if it can't be read.
_Problem = tuple[str, int, str, Optional[DagFileError]]
_OF_MATCH = re.compile(r"\$\(\s*(MATCH_\w+)", re.IGNORECASE)


class _AnyVariable(Mapping[str, str]):
    """An environment in which every variable is set: nobody knows that of the worker."""

    def __getitem__(self, name: str) -> str:
        return "1"

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def check_requests(dag: Dag, world: World, findings: Findings) -> None:
    """Read the request of every DATA node; a file that several nodes name is blamed once a line."""
    seen: set[tuple[str, int, str]] = set()
    for node, kind in enumerate(dag.kinds):
        if kind not in (NodeKind.DATA, NodeKind.FINAL) or dag.flags[node] & (DONE | NOOP):
            continue
        text = _text(dag, node, world)
        if text is None or not is_request(kind, text):
            continue
        macros, name = macros_of(dag, node, text), _name(dag, node)
        first = request_problem(text, name, macros)
        if first is None:
            found: list[_Problem] = [(*remark, None) for remark in _remarks(text, macros, world)]
        else:
            found = [("DAG309", one.line, one.message, one) for one in (first, *first.others)]
        for problem in found:
            if (name, *problem[1:3]) not in seen:
                seen.add((name, *problem[1:3]))
                _add(dag, node, problem, findings)


def request_problem(text: str, name: str, macros: Mapping[str, str]) -> DagFileError | None:
    """What is wrong with the text of a request file; None if nothing is."""
    try:
        read_requests(text, name, Macros({**_OWN, **macros}, _AnyVariable()))
    except DagFileError as error:
        return error
    return None


def _remarks(text: str, macros: Mapping[str, str], world: World) -> Iterator[tuple[str, int, str]]:
    """What is wrong with requests that can be read: code, line, and a clause."""
    placements = read_requests(text, "", Macros({**_OWN, **macros}, _AnyVariable())).placements
    for line, what in out_of_order(placements):
        yield "DAG313", line, what
    is_known = not _UNKNOWN_YET.search(" ".join((text, *macros.values())))
    for one in placements:
        if isinstance(one, Transfer) and is_pattern_to_file(one):
            what = f"{one.source} is a pattern, but {one.destination} does not end in /"
            yield "DAG315", one.line, what
        if isinstance(one, Allocate) and is_known and (why := world.space_problem(one)):
            yield "DAG314", one.line, f"the allocation {one.allocation_id}: {why}"
    for line, first in same_destination(placements):
        yield "DAG316", line, f"its destination is that of the request in line {first}"


def _text(dag: Dag, node: int, world: World) -> str | None:
    with suppress(Exception):  # running the node will show why, or another rule says so
        return content(dag, world, dag.directories.get(node, ""), dag.submits[node])
    return None


def _name(dag: Dag, node: int) -> str:
    submit = dag.submits[node]
    if submit in dag.descriptions:
        return f"the request of node {dag.names[node]}"
    return os.path.join(dag.directories.get(node, ""), submit)


def macros_of(dag: Dag, node: int, text: str) -> dict[str, str]:
    """The macros that VARS sets for a node's request, and those that a match to a site will."""
    known = {one.key: one.value for one in dag.variables.get(node, ())}
    if dag.group_of(node) is not None:
        matched = (name for one in (text, *known.values()) for name in _OF_MATCH.findall(one))
        known.update(dict.fromkeys(matched, "1"))
    return known


def _add(dag: Dag, node: int, problem: _Problem, findings: Findings) -> None:
    code, line, what, error = problem
    message, hint = f"the request of node {dag.names[node]}: {what}", error.hint if error else ""
    if dag.submits[node] in dag.descriptions:
        findings.of_node(code, dag, node, f"line {line} of {message}", hint=hint)
        return
    findings.add(code, message, place=f"{_name(dag, node)}:{max(line, 1)}", hint=hint)
    if error:
        findings.add_excerpt(code, error)
