"""Which nodes run: CHOOSE, and the options -choose_from, -choose_until and -choose_only.

Nodes that are not chosen are *left out*: they count as done from the start.  All choices of an
extent count as one, and a node runs if each of these includes it:

- FROM: the nodes named, and all that depend on them;
- UNTIL: all but what comes after the nodes named, and is not needed for one of them;
- ONLY: the nodes named, and all that they depend on.

Nodes that are done are not left out, so that a rescue file still calls them DONE.  FINAL,
PROVISIONER and SERVICE nodes run in every run of a DAG, also here.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from condor_pydagman.errors import UsageError
from condor_pydagman.features.common import rows
from condor_pydagman.graph.apply import IN_THE_SUBMITTED_FILE, Applied
from condor_pydagman.graph.building import Building, advice, fail
from condor_pydagman.graph.model import DONE, LEFT_OUT, Dag, FeatureData
from condor_pydagman.language.hints import nearest
from condor_pydagman.language.lines import normal
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import ORDINARY_KINDS, NodeKind

FROM, UNTIL, ONLY = EXTENTS = ("FROM", "UNTIL", "ONLY")


@rows.Row(
    "CHOOSE",
    "Which nodes run: these and what depends on them, all that does not come after them, or"
    " these and what they need.",
    after="SITE_MATCHED",
    in_rescue=True,
)
class Choose(NamedTuple):
    """CHOOSE: which nodes run; `extent` is FROM, UNTIL or ONLY, names may be patterns."""

    line: int
    extent: str = rows.one_of(EXTENTS)
    names: tuple[str, ...] = rows.names("names of nodes", "<node1> [<node2> ...]")

    def __str__(self) -> str:
        return f"{self.extent} {' '.join(self.names)}"


MAX_COMPARED = 20_000  # names among which one like a misspelt one is looked for
MAX_NAME = 200  # characters of a misspelt one
_PLACE = re.compile(r"\{.*?\}")  # of a variable, in the name of a sweep
_PATTERN = re.compile(r"[*?\[]")


class ChoicesOfDag(FeatureData):
    """The CHOOSE lines of a DAG."""

    place = -1

    def __init__(self) -> None:
        self.choices: list[Choose] = []

    def lines(self, dag: Dag) -> Iterator[Choose]:
        """As of `FeatureData`."""
        return self.rescue_lines()

    def rescue_lines(self) -> Iterator[Choose]:
        """As of `FeatureData`."""
        return iter(self.choices)

    @property
    def why_left_out(self) -> str:
        """As of `FeatureData`."""
        return f"CHOOSE {'; '.join(map(str, self.choices))}" if self.choices else ""


def choices_of(dag: Dag) -> list[Choose]:
    """What CHOOSE lines choose, or options in their place."""
    return ChoicesOfDag.of(dag).choices


def choose(building: Building, command: Choose) -> None:
    """CHOOSE."""
    if building.scope.outer is not None:
        fail(
            "CHOOSE can't be used in a splice",
            "it is about a whole DAG: put it into the DAG file, with S+A for node A of splice S",
        )
    names = tuple(building.scope.full(name) for name in command.names)
    for given, name in zip(command.names, names):
        try:
            chosen(building.dag, name)
        except UsageError as error:
            fail(str(error), _advice(building, given), at=given)
    ChoicesOfDag.put(building.dag).choices.append(command._replace(line=0, names=names))


def _advice(building: Building, name: str) -> str:
    """What to write instead of a name that stands for no node."""
    scope = building.scope
    if scope.munge + name in scope.splices:
        return f"{name} is a splice: write {name}+* for its nodes"
    if scope.munge + name in scope.sets:
        return f"{name} is a sweep: write {_PLACE.sub('*', name)} for its nodes"
    if normal(name) in (FROM, UNTIL, ONLY):
        return f"{name} begins a line of its own: CHOOSE {name} ..."
    return advice(building.dag, scope, name) or "a name, or a pattern with *, ? and [...]"


def chosen(dag: Dag, name: str) -> Sequence[int]:
    """The nodes of that name, or whose names match it: `*`, `?` and `[...]` as in a shell.

    Raises:
        UsageError: there are none, or one that runs in any case.
    """
    node = dag.ids.get(name)
    found = [node] if node is not None else _matching(dag, name)
    if not found:
        near = nearest(name[:MAX_NAME], dag.names[:MAX_COMPARED])
        meant = f"; did you mean {near}?" if near else ""
        raise UsageError(f"No node is called {name[:MAX_NAME]}{meant}")
    for node in found:
        kind = NodeKind(dag.kinds[node])
        if kind not in ORDINARY_KINDS:
            raise UsageError(f"{kind.name} node {dag.names[node]} runs in any case")
    return found


def _matching(dag: Dag, pattern: str) -> list[int]:
    if not _PATTERN.search(pattern):
        return []
    matches = re.compile(fnmatch.translate(pattern)).match
    kinds = dag.kinds
    return [
        node
        for node, name in enumerate(dag.names)
        if kinds[node] in ORDINARY_KINDS and matches(name)
    ]


def listed(extent: str, texts: Iterable[str]) -> list[Choose]:
    """The choice that an option means: texts with names and commas between them; none if empty."""
    names = (name.strip() for text in texts for name in text.split(","))
    found = tuple(name for name in names if name)
    return [Choose(0, extent, found)] if found else []


def leave_out(dag: Dag, choices: Sequence[Choose]) -> int:
    """Mark the nodes of a finished Dag that the choices do not include; returns how many.

    The choices are the Dag's from now on.

    Raises:
        UsageError: a name stands for no node, or no node is chosen.
    """
    ChoicesOfDag.put(dag).choices = list(choices)
    if not choices:
        return 0
    runs = _chosen_by_all(dag, choices)
    left = 0
    for node, kind in enumerate(dag.kinds):
        if not runs[node] and kind in ORDINARY_KINDS and not dag.flags[node] & DONE:
            dag.flags[node] |= DONE | LEFT_OUT
            left += 1
    return left


def _chosen_by_all(dag: Dag, choices: Iterable[Choose]) -> bytearray:
    """By vertex, whether the choices of each extent include it."""
    named: dict[str, dict[int, None]] = {}
    for choice in choices:
        for name in choice.names:
            named.setdefault(choice.extent, {}).update(dict.fromkeys(chosen(dag, name)))
    runs = bytearray(b"\1") * dag.vertex_count
    for extent, nodes in named.items():
        included = _INCLUDED[extent](dag, nodes)
        runs = bytearray(map(int.__and__, runs, included))
    if not any(runs[: len(dag)]):
        raise UsageError("No node is chosen by all of " + "; ".join(map(str, choices)))
    return runs


def _after(dag: Dag, nodes: Iterable[int]) -> bytearray:
    return _reached(dag.vertex_count, nodes, dag.successors)


def _before(dag: Dag, nodes: Iterable[int]) -> bytearray:
    return _reached(dag.vertex_count, nodes, dag.predecessors)


def _not_beyond(dag: Dag, nodes: Iterable[int]) -> bytearray:
    """All but what is after these and not before one of them."""
    after, before = _after(dag, nodes), _before(dag, nodes)
    return bytearray(not late or early for late, early in zip(after, before))


def _reached(
    vertices: int, nodes: Iterable[int], neighbours: Callable[[int], Sequence[int]]
) -> bytearray:
    """1 for each vertex that can be reached, the first ones among them."""
    marks = bytearray(vertices)
    todo = list(nodes)
    for vertex in todo:
        marks[vertex] = 1
    while todo:
        for vertex in neighbours(todo.pop()):
            if not marks[vertex]:
                marks[vertex] = 1
                todo.append(vertex)
    return marks


_INCLUDED = {FROM: _after, UNTIL: _not_beyond, ONLY: _before}


APPLIED = (Applied(Choose, choose, refused=IN_THE_SUBMITTED_FILE),)
