"""The text that a box shows when the mouse points at it."""

from __future__ import annotations

from collections.abc import Iterator

from condor_pydagman.follow.shown_states import LOOKS, Shown
from condor_pydagman.graph.model import Dag
from condor_pydagman.picture.shapes import amount_words
from condor_pydagman.picture.sketch import Box, Fold
from condor_pydagman.picture.states import States
from condor_pydagman.picture.text import number, plain, shortened
from condor_pydagman.vocabulary import NodeKind

_MAX_LINE = 200
_MAX_VALUE = 60
_MAX_VARIABLES = 6
_MEMBERS_IN_TITLE = 8
_MAX_SITES = 8


def details(dag: Dag, states: States, box: Box) -> list[str]:
    """Lines of text, the full name first; every line is bounded and safe for XML."""
    if box.fold is Fold.NODE or (box.fold is Fold.DOT and len(box.members) == 1):
        lines = list(_of_node(dag, states, box.members[0])) if box.members else ["junction"]
    elif box.fold is Fold.DOT:
        lines = [f"{number(box.things)} joins" if box.things > 1 else _JUNCTION]
    else:
        lines = list(_of_fold(dag, states, box))
    if box.is_wrong:
        lines.append("contains a cycle: nodes that wait for each other")
    return [lines[0], *(shortened(line, _MAX_LINE) for line in lines[1:])]


_JUNCTION = "every node above is a parent of every node below"


def _of_node(dag: Dag, states: States, node: int) -> Iterator[str]:
    yield plain(dag.names[node])
    state = LOOKS[Shown(states.of[node])].word
    yield f"{state}: {states.details[node]}" if node in states.details else state
    if node in states.sites:
        yield f"site: {plain(states.sites[node])}"
    group = dag.group_of(node)
    if group is not None:
        yield f"group: {plain(dag.groups[group].name)}"
    kind = NodeKind(dag.kinds[node])
    if kind != NodeKind.JOB:
        yield f"{kind.name} node"
    if node in dag.subdags:
        yield f"DAG file: {dag.subdags[node]}"
    elif dag.submits[node]:
        yield f"submit: {dag.submits[node]}"
    if node in dag.directories:
        yield f"directory: {dag.directories[node]}"
    if dag.is_noop(node):
        yield "NOOP: no job is submitted"
    if dag.place(node):
        yield f"defined at {dag.place(node)}"
    yield from _settings(dag, node)


def _settings(dag: Dag, node: int) -> Iterator[str]:
    for kind, script in dag.scripts.get(node, {}).items():
        yield f"{kind.value} script: {script.command}"
    for of_feature in dag.features.values():
        yield from (shortened(text, 2 * _MAX_VALUE) for text in of_feature.told(node))
    if node in dag.retries:
        yield f"retries: {dag.retries[node].limit}"
    if node in dag.priorities:
        yield f"priority: {dag.priorities[node]}"
    if node in dag.categories:
        yield f"category: {dag.categories[node]}"
    if node in dag.aborts:
        yield f"aborts the DAG on exit code {dag.aborts[node].status}"
    variables = dag.variables.get(node, ())
    for variable in variables[:_MAX_VARIABLES]:
        yield f"{variable.key} = {shortened(variable.value, _MAX_VALUE)}"
    if len(variables) > _MAX_VARIABLES:
        yield f"and {len(variables) - _MAX_VARIABLES} more VARS"


def _of_fold(dag: Dag, states: States, box: Box) -> Iterator[str]:
    yield plain(box.label)
    what = {
        Fold.SPLICE: "a splice",
        Fold.ALIKE: "alike",
        Fold.CHAIN: "one after the other",
        Fold.LAYERS: "several layers of the DAG",
    }[box.fold]
    yield f"{amount_words(box)}, {what}"
    for state in Shown:
        if box.counts[state]:
            yield f"{number(box.counts[state])} {LOOKS[state].word}"
    for site, count in box.sites.most_common(_MAX_SITES):
        yield f"{number(count)} at {plain(site)}"
    if len(box.sites) > _MAX_SITES:
        yield f"and {len(box.sites) - _MAX_SITES} more sites"
    if box.groups:
        count = len(box.groups)
        yield f"in {number(count)} group{'s' if count > 1 else ''} that run at one site each"
    for node in box.members[:_MEMBERS_IN_TITLE]:
        state = Shown(states.of[node])
        name = shortened(dag.names[node], _MAX_VALUE)
        yield f"  {name}" + (f" (failed {states.details.get(node, '')})" if state == Shown.FAILED
                             else "")  # fmt: skip
    more = box.nodes - len(box.members[:_MEMBERS_IN_TITLE])
    if more > 0:
        yield f"  and {number(more)} more"
