"""What the checker finds in BUNDLE lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from condor_pydagman.features.bundle.apart import waiting_inside
from condor_pydagman.features.bundle.chains_ahead import FREE_SLOTS, ONLY_ONE, OTHER_KIND
from condor_pydagman.features.bundle.commands import (
    BUNDLED,
    BY_OPTION,
    Bundle,
    BundleLine,
    bundle_lines_of,
    line_of_nodes,
)
from condor_pydagman.features.bundle.packing import MIN_SIZE
from condor_pydagman.features.bundle.tasks import NOT_READ
from condor_pydagman.graph.building import BuildOptions
from condor_pydagman.graph.model import Dag
from condor_pydagman.lint.findings import Code, Findings, Severity, World, nodes_named
from condor_pydagman.printable import does, number_of

CODES = {
    "DAG423": Code(
        Severity.INFO,
        "nodes of a BUNDLE that run alone",
        "docs/bundles.md says what can go together",
    ),
    "DAG424": Code(
        Severity.WARNING,
        "a BUNDLE with nodes that another one before it has taken",
        "the first line that means a node counts: put this line before the other, or name the node"
        " in one of them only",
    ),
    "DAG425": Code(
        Severity.WARNING,
        "a BUNDLE whose SIZE, PARALLEL or CHAINS has less effect than it seems to",
        "use numbers that SIZE, MAXJOBS and PYDAGMAN_MAX_BUNDLE_SIZE allow (docs/bundles.md)",
    ),
    "DAG426": Code(
        Severity.INFO,
        "nodes of a BUNDLE with CHAINS that can't run behind those that they wait for",
        "docs/bundles.md says what can run behind others",
    ),
}
_UNTOLD = (ONLY_ONE, OTHER_KIND, FREE_SLOTS)
_NONE_WAITS = "none of its nodes waits for another of them"
_FOR_CHAINS = "leave CHAINS out, or add the nodes that these wait for (docs/bundles.md)"


def check(dag: Dag, findings: Findings) -> None:
    """Look for lines, and options, that do less than they say."""
    taken: dict[int, str] = {}
    for line in bundle_lines_of(dag):
        if line.of.is_of_unused_category(dag):
            message = f"no node is in category {line.of.category}, so BUNDLE {line.name}"
            _add(findings, "DAG207", line, f"{message} has no effect")
            continue
        meant = list(line.of.among(dag, range(len(dag)), BUNDLED))
        before = [node for node in meant if node in taken]
        if before:
            _taken_before(dag, line, meant, before, list(map(taken.__getitem__, before)), findings)
        own = [node for node in meant if node not in taken]
        taken.update(dict.fromkeys(own, line.name))
        for severity, message in _narrower(dag, line, own):
            _add(findings, "DAG425", line, f"BUNDLE {line.name}: {message}", severity)


def _taken_before(
    dag: Dag,
    line: BundleLine,
    meant: Sequence[int],
    before: Sequence[int],
    by: Sequence[str],
    findings: Findings,
) -> None:
    """Nodes of a line belong to others; ALL_NODES and CATEGORY mean what others have left."""
    others = " and ".join(f"BUNDLE {name}" for name in dict.fromkeys(by))
    if len(before) == len(meant):
        message = f"BUNDLE {line.name} has no effect: its nodes belong to {others}"
    elif line.of.nodes is not None and not _is_splice(dag, line, meant):
        nodes = f"{nodes_named(dag, before[0], len(before))} {does(len(before), 'belong')}"
        message = f"{nodes} to {others}, not to BUNDLE {line.name}, which names "
        message += "it as well" if len(before) == 1 else "them as well"
    else:
        return
    if line.name != BY_OPTION:
        _add(findings, "DAG424", line, message)


def _is_splice(dag: Dag, line: BundleLine, meant: Sequence[int]) -> bool:
    """Whether the nodes of a line are all of a splice that can be bundled, as by ALL_NODES."""
    prefix = line.name[: line.name.rfind("+") + 1]
    jobs = (name for node, name in enumerate(dag.names) if dag.kinds[node] in BUNDLED)
    return bool(prefix) and sum(name.startswith(prefix) for name in jobs) == len(meant)


def _narrower(
    dag: Dag, line: BundleLine, nodes: Sequence[int]
) -> Iterator[tuple[Severity | None, str]]:
    """Why fewer nodes of a line run side by side than it says, or fewer than could."""
    if 0 < line.size < line.parallel:
        yield None, f"SIZE {line.size} is less than PARALLEL {line.parallel}"
    for category in sorted({dag.categories.get(node, "") for node in nodes}):
        limit = dag.category_limits.get(category, 0)
        maxjobs = f"MAXJOBS {category} {limit} is"
        if 0 < limit < line.parallel:
            yield None, f"{maxjobs} less than PARALLEL {line.parallel}"
        elif limit % line.parallel:
            places = number_of(limit % line.parallel, "place")
            left = f"bundles leave {places} of it empty"
            yield Severity.INFO, f"{maxjobs} no multiple of PARALLEL {line.parallel}: {left}"


def _add(
    findings: Findings,
    code: str,
    line: BundleLine,
    message: str,
    severity: Severity | None = None,
) -> None:
    findings.add(code, message, words=("BUNDLE", line.name), severity=severity)


def _check_knob(dag: Dag, world: World, findings: Findings) -> None:
    """Look for sizes that the knob does not allow."""
    config = world.config()
    if config is None:
        return
    most = config.max_bundle_size
    for line in bundle_lines_of(dag):
        if most < MIN_SIZE or line.size > most:
            what = "no bundles are made" if most < MIN_SIZE else f"SIZE {line.size} is cut"
            message = f"BUNDLE {line.name}: {what}, because PYDAGMAN_MAX_BUNDLE_SIZE is {most}"
            _add(findings, "DAG425", line, message)


def check_around(dag: Dag, world: World, findings: Findings, options: BuildOptions) -> None:
    """Look for sizes that are too large, and CHAINS without effect; tell which nodes run alone, or
    not behind others by CHAINS, and why, once for a reason."""
    _check_knob(dag, world, findings)
    lines = world.foreseen("bundle", dag)[1].get("bundles", {"lines": ()})["lines"]
    _tell_reasons(dag, "DAG423", "can't be bundled", lines, "alone", findings)
    _tell_reasons(dag, "DAG426", "can't run behind others in a bundle", lines, "apart", findings)
    line_of = line_of_nodes(dag, range(len(dag)))
    chained = {line_of[node].name for node in waiting_inside(dag, line_of)}
    for name in {line.name: None for line in line_of.values() if line.chains}:
        if name not in chained:
            message = f"CHAINS of BUNDLE {name} has no effect: {_NONE_WAITS}"
            findings.add("DAG425", message, words=("BUNDLE", name), hint=_FOR_CHAINS)


def _tell_reasons(
    dag: Dag, code: str, what: str, lines: Sequence[Any], kind: str, findings: Findings
) -> None:
    """Tell of nodes of that kind, with what they can't and why, but for what no change of the DAG
    would better, or another rule tells."""
    nodes: Counter[str] = Counter()
    firsts: dict[str, str] = {}  # by reason
    for one in (one for line in lines for one in line[kind]):
        why = one["why"]
        if why not in _UNTOLD and not why.startswith(NOT_READ):
            firsts.setdefault(why, one["first"])
            nodes[why] += one["nodes"]
    for why, first in firsts.items():
        node = dag.ids[first]
        message = f"{nodes_named(dag, node, nodes[why])} {what}: {why}"
        findings.of_node(code, dag, node, message)


def is_about(command: Bundle, words: Sequence[str], prefixes: Sequence[str]) -> bool:
    """Whether a line of the file is that of this full name; `prefixes` are those of the names in
    that file, the last one the full prefix."""
    return words[0] == prefixes[-1] + command.name
