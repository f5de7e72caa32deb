"""Findings that need no files but the Dag: cycles, nodes that never run, categories, idle lines."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
from itertools import chain

from condor_pydagman.feature_table import part
from condor_pydagman.graph.cycle import describe_cycle, find_cycle
from condor_pydagman.graph.model import DONE, JOIN, LEFT_OUT, NOOP, Dag, Retry
from condor_pydagman.lint.findings import Findings, nodes_named
from condor_pydagman.lint.odd_characters import check_characters
from condor_pydagman.printable import does, first_of, number_of
from condor_pydagman.vocabulary import MAX_FINAL_EXIT_CODE, NodeKind, ScriptKind

MAX_NAMED = 5
_PREFIX = re.compile("^warning: ", re.IGNORECASE)
_LIKE_MACRO = re.compile(r"\$\((\w+)\)|\{(\w+)\}")  # in a SCRIPT line, where it stays as it is
_NO_OPTIONS = Retry(0)[2:]  # of RETRY, beyond UNLESS-EXIT
# Warnings of the builder that have a code of their own here.
_COVERED_BY_RULES = ("Warning: category ", "Warning: exit code 0 for a PRE_SKIP")


def check_graph(dag: Dag, findings: Findings) -> None:
    """Look at everything that needs no file."""
    for warning in dag.warnings:
        if not warning.startswith(_COVERED_BY_RULES):
            findings.add("DAG106", _PREFIX.sub("", " ".join(warning.split())))
    check_cycles(dag, findings)
    _blocked(dag, findings)
    _done_too_early(dag, findings)
    _categories(dag, findings)
    _isolated(dag, findings)
    _pre_skips(dag, findings)
    _retries_and_aborts(dag, findings)
    for name in dag.features:
        rules = part(name, "lint")
        if hasattr(rules, "check"):
            rules.check(dag, findings)
    _scripts(dag, findings)
    check_characters(dag, findings)
    _not_of_stock(dag, findings)


def closing_edge(dag: Dag, cycle: Sequence[int]) -> tuple[str, str, str]:
    """PARENT, and the names of a parent and its child on a cycle."""
    return "PARENT", dag.names[cycle[-1]], dag.names[cycle[0]]


def check_cycles(dag: Dag, findings: Findings) -> None:
    """Look for nodes that wait for themselves."""
    cycle = find_cycle(dag)
    if not cycle:
        return
    message = f"these nodes wait for each other: {describe_cycle(dag, cycle)}"
    findings.of_node("DAG201", dag, cycle[0], message, *closing_edge(dag, cycle))
    behind = [node for node in _never_free(dag) if node not in set(cycle)]
    _never_run(findings, "DAG202", dag, behind, "on or behind a cycle")


def _never_run(findings: Findings, code: str, dag: Dag, nodes: list[int], why: str) -> None:
    """One finding: what holds them all is mended once."""
    if nodes:
        named = first_of([dag.names[node] for node in nodes], MAX_NAMED)
        what = f"{number_of(len(nodes), 'node')} never {does(len(nodes), 'run')}, {why}"
        findings.of_node(code, dag, nodes[0], f"{what}: {named}")


def _never_free(dag: Dag) -> list[int]:
    """Nodes that wait for themselves; a DONE node waits for none."""
    waiting = dag.edges.predecessor_counts()
    for node, flags in enumerate(dag.flags):
        if flags & DONE:
            waiting[node] = 0
    free = array("i", (vertex for vertex in dag.vertices() if not waiting[vertex]))
    while free:
        for child in dag.successors(free.pop()):
            if waiting[child] > 0:
                waiting[child] -= 1
                if not waiting[child]:
                    free.append(child)
    return [n for n in range(len(dag)) if waiting[n] and not dag.flags[n] & JOIN]


def _blocked(dag: Dag, findings: Findings) -> None:
    """Categories with a limit of 0: DAGMan takes it literally, and waits for ever."""
    closed = {category for category, limit in dag.category_limits.items() if limit == 0}
    members: dict[str, list[int]] = {}
    for node, category in dag.categories.items():
        if category in closed and not dag.flags[node] & (DONE | NOOP):
            members.setdefault(category, []).append(node)
    for category, nodes in members.items():
        message = f"category {category} has MAXJOBS 0: {number_of(len(nodes), 'node')} of it never"
        message += f" {does(len(nodes), 'run')}, and the DAG never ends"
        findings.of_node("DAG203", dag, nodes[0], message, "MAXJOBS", category)
    blocked = {node for nodes in members.values() for node in nodes}
    why = "waiting for a category with MAXJOBS 0"
    _never_run(findings, "DAG204", dag, _behind(dag, blocked), why)


def _behind(dag: Dag, blocked: set[int]) -> list[int]:
    """Nodes that wait for one of `blocked`, directly or not; DONE nodes wait for none."""
    if not blocked:
        return []
    seen = bytearray(dag.vertex_count)
    for node in blocked:
        seen[node] = 1
    reached = array("i", sorted(blocked))
    while reached:
        for child in dag.successors(reached.pop()):
            if not seen[child] and not (child >= 0 and dag.flags[child] & DONE):
                seen[child] = 1
                reached.append(child)
    found = (n for n in range(len(dag)) if seen[n] and n not in blocked)
    return [node for node in found if not dag.flags[node] & JOIN]


def _done_too_early(dag: Dag, findings: Findings) -> None:
    nodes = len(dag)
    if not any(flags & DONE for flags in dag.flags):
        return
    early = bytearray(dag.vertex_count)  # 1: some parent is not done
    joins = [node for node in range(nodes) if dag.flags[node] & JOIN]
    for node in range(nodes):
        if not dag.flags[node] & (DONE | JOIN):
            for child in dag.successors(node):
                early[child] = 1
    for vertex in (*joins, *dag.edges.junctions()):
        if early[vertex]:
            for child in dag.successors(vertex):
                early[child] = 1
    for node in range(nodes):
        if early[node] and dag.flags[node] & (DONE | LEFT_OUT) == DONE:
            message = f"node {dag.names[node]} is DONE, but a parent of it is not"
            findings.of_node("DAG205", dag, node, message)


def _categories(dag: Dag, findings: Findings) -> None:
    first: dict[str, int] = {}
    for node, category in dag.categories.items():
        first.setdefault(category, node)
    used = set(chain.from_iterable(data.categories() for data in dag.all_features()))
    for category, node in first.items():
        if category not in dag.category_limits and category not in used:
            message = f"category {category} has no MAXJOBS, so it limits nothing"
            findings.of_node("DAG206", dag, node, message, "CATEGORY")
    for category, limit in dag.category_limits.items():
        if category not in first:
            message = f"no node is in category {category}, so MAXJOBS {limit} limits nothing"
            findings.add("DAG207", message, words=("MAXJOBS", category))


def _isolated(dag: Dag, findings: Findings) -> None:
    """Nodes without edges, where they are an exception."""
    inside = [n for n in range(len(dag)) if dag.kinds[n] in (NodeKind.JOB, NodeKind.SUBDAG)]
    alone = [n for n in inside if not dag.has_parents(n) and not dag.has_children(n)]
    if len(alone) == len(inside) or (len(alone) > 1 and 10 * len(alone) > len(inside)):
        return
    for node in alone:
        message = f"node {dag.names[node]} has neither parents nor children"
        findings.of_node("DAG208", dag, node, message)


def _pre_skips(dag: Dag, findings: Findings) -> None:
    for node, value in dag.pre_skips.items():
        if value == 0:
            message = f"PRE_SKIP 0 of node {dag.names[node]} has no effect: exit code 0 is success"
            findings.of_node("DAG403", dag, node, message, "PRE_SKIP")
        if dag.script(node, ScriptKind.PRE) is None:
            message = f"node {dag.names[node]} has PRE_SKIP {value}, but no PRE script"
            findings.of_node("DAG404", dag, node, message, "PRE_SKIP")


def _retries_and_aborts(dag: Dag, findings: Findings) -> None:
    for node, retry in dag.retries.items():
        if retry.limit == 0:
            findings.of_node("DAG405", dag, node, f"RETRY 0 of node {dag.names[node]}", "RETRY")
        if retry[2:] != _NO_OPTIONS:
            _retry_options(dag, node, retry, findings)
    for node, abort in dag.aborts.items():
        if abort.status == 0:
            message = f"the DAG is aborted when node {dag.names[node]} succeeds (ABORT-DAG-ON 0)"
            findings.of_node("DAG406", dag, node, message, "ABORT_DAG_ON")
    check_aborts(dag, findings)


def check_aborts(dag: Dag, findings: Findings) -> None:
    """Look for an ABORT-DAG-ON after which the schedd starts the DAG again."""
    for node, abort in dag.aborts.items():
        code = abort.status & 0xFF if abort.exit_code is None else abort.exit_code
        if code > MAX_FINAL_EXIT_CODE:
            message = f"ABORT-DAG-ON {abort.status} of node {dag.names[node]} ends DAGMan with exit"
            message += f" code {code}, so the schedd restarts it"
            findings.of_node("DAG419", dag, node, message, "ABORT_DAG_ON")


def _retry_options(dag: Dag, node: int, retry: Retry, findings: Findings) -> None:
    name, messages = dag.names[node], []
    if not retry.delay and retry.backoff != 1:
        messages.append("has BACKOFF, but no DELAY")
    if not retry.delay and retry.max_delay:
        messages.append("has MAX-DELAY, but no DELAY")
    if retry.delay and 0 < retry.max_delay < retry.delay:
        messages.append(f"has a DELAY of {retry.delay} s and a MAX-DELAY of {retry.max_delay} s")
    if retry.only_if and set(retry.unless_exit) - set(retry.only_if):
        messages.append("has UNLESS-EXIT for values that are not in its ONLY-IF")
    for message in messages:
        findings.of_node("DAG408", dag, node, f"RETRY of node {name} {message}", "RETRY")
    both = sorted(set(retry.only_if) & set(retry.unless_exit))
    if both:
        values = ",".join(map(str, both))
        message = f"RETRY of node {name} has {values} in ONLY-IF and in UNLESS-EXIT"
        findings.of_node("DAG409", dag, node, message, "RETRY")


def _not_of_stock(dag: Dag, findings: Findings) -> None:
    """Once: who wrote one such line knows of the others."""
    for node, retry in dag.retries.items():
        if len(retry.unless_exit) > 1 or retry[2:] != _NO_OPTIONS:
            name = dag.names[node]
            message = f"RETRY of node {name} has options that the stock condor_dagman does not have"
            findings.of_node("DAG411", dag, node, message, "RETRY")
            break
    limited = (
        (node, kind, script.defer)
        for node, scripts in dag.scripts.items()
        for kind, script in scripts.items()
        if script.defer.is_limited
    )
    for number, (node, kind, defer) in enumerate(limited):
        of = f"DEFER of the {kind.value} script of node {dag.names[node]}"
        words = "SCRIPT", kind.value, dag.names[node]
        if not defer.seconds and not defer.times and not defer.total:
            findings.of_node("DAG408", dag, node, f"{of} has a time of 0, which stays 0", *words)
        if not number:
            message = f"{of} has options that the stock condor_dagman does not have"
            findings.of_node("DAG411", dag, node, message, *words)


def _scripts(dag: Dag, findings: Findings) -> None:
    """Keys of a node's VARS in the arguments of its scripts; a line is told once."""
    seen: dict[tuple[str, str, str], list[int]] = {}
    for node, scripts in dag.scripts.items():
        if node not in dag.variables or dag.flags[node] & DONE:
            continue
        for kind, script in scripts.items():
            for word in _like_macros(dag, node, script.command):
                seen.setdefault((kind.value, script.command, word), []).append(node)
    for (kind_word, _, word), nodes in seen.items():
        first, named = nodes[0], nodes_named(dag, nodes[0], len(nodes))
        message = f"the {kind_word} script of {named} gets {word} unexpanded"
        findings.of_node("DAG418", dag, first, message, "SCRIPT", kind_word, dag.names[first])


def _like_macros(dag: Dag, node: int, command: str) -> Iterator[str]:
    keys = {variable.key.lower() for variable in dag.variables.get(node, ())} | {"job", "retry"}
    for found in _LIKE_MACRO.finditer(command):
        if (found[1] or found[2]).lower() in keys:
            yield found[0]
