"""ENOUGH: which nodes it is about, how many of them are enough, and what is wrong with it; and the
NOT_NEEDED lines of rescue files.

They are ours.  How many nodes there are is known when all files have been read.  Members are found
by their names, so that nodes by which the DAG grows are among them.
"""

from __future__ import annotations

from collections.abc import Iterator

from condor_pydagman.dagfile import commands
from condor_pydagman.dagfile.enough_lines import ALL_NODES, CATEGORY, PARENTS, write_enough
from condor_pydagman.graph import model
from condor_pydagman.graph.building import Building, fail
from condor_pydagman.graph.joins import joins, parents_of
from condor_pydagman.graph.model import AT_ONCE, Dag, Enough
from condor_pydagman.graph.modify import category_name
from condor_pydagman.graph.problems import ProcessingError
from condor_pydagman.vocabulary import ORDINARY_KINDS


def enough(building: Building, command: commands.EnoughLine) -> None:
    """ENOUGH."""
    dag, name = building.dag, command.name
    if command.members == PARENTS:
        node = building.needed(name)
        building.refuse_special(node, "ENOUGH PARENTS")
        if node in dag.enough_of:
            fail(
                f"Node {building.shown(node)} has an ENOUGH PARENTS already",
                "take one of the two lines away",
                at=name,
            )
        dag.enough_of[node] = len(dag.enoughs)
        dag.decided[node] = AT_ONCE
        name = dag.names[node]
    elif command.members == CATEGORY:
        name = category_name(building, name)
    else:
        name = (building.scope.prefix + building.scope.munge * bool(name) + name).rstrip("+")
    dag.enoughs.append(Enough(*command[1:])._replace(name=building.text(name)))
    dag.places.note_enough(command.line)


def not_needed(building: Building, command: commands.NotNeeded) -> None:
    """NOT_NEEDED, of rescue files."""
    node = building.needed(command.node)
    building.refuse_special(node, "NOT_NEEDED")
    building.dag.flags[node] |= model.DONE | model.NOT_NEEDED
    building.dag.has_not_needed = True


# What is known when all files have been read.


def members(dag: Dag, enough: Enough) -> list[int]:
    """The nodes that it counts, in DAG order."""
    if enough.members == PARENTS:
        return sorted(parents_of(dag, dag.ids[enough.name]))
    if enough.members == CATEGORY:
        return sorted(node for node in dag.categories if is_member(dag, enough, node))
    return [node for node in range(len(dag)) if is_member(dag, enough, node)]


def is_member(dag: Dag, enough: Enough, node: int) -> bool:
    """Whether a node is one of them, unless the ENOUGH is about parents."""
    if dag.kinds[node] not in ORDINARY_KINDS or enough.members == PARENTS or joins(dag, node):
        return False
    if enough.members == CATEGORY:
        return dag.categories.get(node) == enough.name
    return not enough.name or dag.names[node].startswith(f"{enough.name}+")


def goal(enough: Enough, nodes: int) -> int:
    """How many of so many `nodes` are enough."""
    return max(-(-enough.limit * nodes // 100), 1) if enough.percent else enough.limit


def words(enough: Enough) -> str:
    """The line, for people."""
    return write_enough(commands.EnoughLine(0, *enough))


def mistakes(dag: Dag, *, outer_grows: bool = False) -> Iterator[ProcessingError]:
    """ENOUGH lines that name nobody, or more nodes than there are, in a DAG or in a piece of one,
    which may grow itself."""
    grows = outer_grows or bool(dag.extensions) or dag.feeder is not None
    for number, enough in enumerate(dag.enoughs):
        found = _mistake(dag, enough, grows=grows)
        if found is not None:
            file, _, line = dag.places.enoughs[number].rpartition(":")
            error = ProcessingError(found[0], file=file, line=int(line), hint=found[1])
            error.place, error.text = error.line, words(enough)
            yield error


def _mistake(dag: Dag, enough: Enough, *, grows: bool) -> tuple[str, str] | None:
    """What is wrong, and what to do."""
    child = dag.ids[enough.name] if enough.members == PARENTS else -1
    if child in dag.conditions:
        return (
            f"Node {enough.name} has a RUN_IF and an ENOUGH PARENTS",
            "take one of the two away: a RUN_IF such as Done >= 3 waits for the end of all parents",
        )
    nodes = len(members(dag, enough))
    if grows:
        return None  # there may be more
    if not nodes:
        return f"No node is meant by {_whom(enough)}", _nobody(dag, enough)
    if goal(enough, nodes) > nodes:
        return (
            f"{enough.limit} nodes are to be enough, but there are {nodes}: {_whom(enough)}",
            f"expected a number from 1 to {nodes}, or a share such as 50%",
        )
    return None


def _whom(enough: Enough) -> str:
    if enough.members == PARENTS:
        return f"the parents of node {enough.name}"
    if enough.members == CATEGORY:
        return f"category {enough.name}"
    return f"the nodes of splice {enough.name}" if enough.name else "all nodes of the DAG"


def _nobody(dag: Dag, enough: Enough) -> str:
    if enough.members == PARENTS:
        return "give the node parents with a PARENT line"
    if enough.members == ALL_NODES:
        known = sorted(splice.name for splice in dag.splices)
        return f"the splices are {_some(known)}" if known else "the DAG has no splices"
    known = sorted(set(dag.categories.values()))
    return f"the categories are {_some(known)}" if known else "the DAG has no categories"


def _some(names: list[str]) -> str:
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"{', '.join(names[:5])}{more}"
