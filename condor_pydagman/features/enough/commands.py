"""ENOUGH: which nodes it is about, how many of them are enough, and what is wrong with it;
NOT_NEEDED: the nodes that an earlier run did not need.

How many nodes there are is known when all files have been read.  Members are found by their names,
so that nodes by which the DAG grows are among them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from condor_pydagman.features.common import rows
from condor_pydagman.features.common.rows import row_of
from condor_pydagman.features.run_if.commands import conditions_of
from condor_pydagman.graph.apply import IN_THE_SUBMITTED_FILE, OF_THE_WHOLE, Applied, unchanged
from condor_pydagman.graph.building import Building, fail
from condor_pydagman.graph.joins import joins, parents_of
from condor_pydagman.graph.model import AT_ONCE, DONE, Dag, FeatureData
from condor_pydagman.graph.modify import category_name
from condor_pydagman.graph.problems import ProcessingError
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import first_of
from condor_pydagman.vocabulary import ORDINARY_KINDS

ALL_NODES, CATEGORY, PARENTS = ("ALL_NODES", "CATEGORY", "PARENTS")
REMOVE, WAIT = EFFECTS = ("REMOVE", "WAIT")


@rows.Row(
    "ENOUGH",
    "What is left of these nodes is not needed any more when so many of them are done.",
    after="CACHE",
)
class Enough(NamedTuple):
    """ENOUGH: what is left of some nodes is not needed when so many of them, or percent, are done.

    Attributes:
        members: ALL_NODES, CATEGORY or PARENTS.
        name: name of the splice ('' for the whole DAG, or the splice with the line), of the
            category, or of the node whose parents are meant.
        limit: how many, or percent of them.
        effect: REMOVE or WAIT.
    """

    line: int
    members: str = rows.variants(
        {
            ALL_NODES: rows.option("OF", rows.name("name", "<splice>", sample="S"), ""),
            CATEGORY: rows.name("name", "<category>", sample="big"),
            PARENTS: rows.node(),
        }
    )
    name: str = ""
    limit: int = rows.share("number of nodes that are enough", 1)
    percent: bool = False
    effect: str = rows.one_of(EFFECTS, REMOVE)


@rows.Row(
    "NOT_NEEDED",
    "A node that was not needed any more, as in a rescue file.",
    after="ENOUGH",
    in_rescue=True,
)
class NotNeeded(NamedTuple):
    """NOT_NEEDED: the node was not needed any more, since an ENOUGH was reached; of a rescue
    file."""

    line: int
    node: str = rows.node()


class EnoughsOfDag(FeatureData):
    """The ENOUGH lines of a DAG."""

    by_node = ("enough_of", "not_needed")
    not_run = "not_needed"
    place = 2

    def __init__(self) -> None:
        self.enoughs: list[Enough] = []
        self.lines_at: list[str] = []
        self.enough_of: dict[int, int] = {}  # by node, the number of the one about its parents
        # nodes that are done because an earlier run did not need them any more
        self.not_needed: dict[int, None] = {}

    def numbered(self, new: Sequence[int]) -> EnoughsOfDag:
        """As of `FeatureData`."""
        found = super().numbered(new)
        found.enoughs, found.lines_at = self.enoughs[:], self.lines_at[:]
        return found

    def grow(self, more: EnoughsOfDag) -> None:
        """As of `FeatureData`."""
        known = len(self.enoughs)
        self.enoughs += more.enoughs
        self.lines_at += more.lines_at
        self.enough_of.update((node, known + one) for node, one in more.enough_of.items())

    def lines(self, dag: Dag) -> Iterator[Enough]:
        """As of `FeatureData`."""
        return iter(self.enoughs)

    def done_line(self, dag: Dag, node: int) -> NotNeeded | None:
        """As of `FeatureData`."""
        return NotNeeded(0, dag.names[node]) if node in self.not_needed else None

    def categories(self) -> Iterator[str]:
        """As of `FeatureData`."""
        return (enough.name for enough in self.enoughs if enough.members == CATEGORY)

    def mistakes(
        self, dag: Dag, outer: Dag | None = None, *, grows: bool = False
    ) -> Iterator[ProcessingError]:
        """Lines that name nobody, or more nodes than there are."""
        grows = grows or dag.may_grow()
        for number, enough in enumerate(self.enoughs):
            found = _mistake(dag, enough, grows=grows)
            if found is not None:
                file, _, line = self.lines_at[number].rpartition(":")
                error = ProcessingError(found[0], file=file, line=int(line), hint=found[1])
                error.place, error.text = error.line, words(enough)
                yield error


def enoughs_of(dag: Dag) -> Sequence[Enough]:
    """The ENOUGH lines of a DAG."""
    return EnoughsOfDag.of(dag).enoughs


def enough(building: Building, command: Enough) -> None:
    """ENOUGH."""
    dag, name = building.dag, command.name
    found = EnoughsOfDag.put(dag)
    if command.members == PARENTS:
        node = building.needed(name)
        building.refuse_special(node, "ENOUGH PARENTS")
        if node in found.enough_of:
            fail(
                f"Node {building.shown(node)} has an ENOUGH PARENTS already",
                "take one of the two lines away",
                at=name,
            )
        found.enough_of[node] = len(found.enoughs)
        dag.decided[node] = AT_ONCE
        name = dag.names[node]
    elif command.members == CATEGORY:
        name = category_name(building, name)
    else:
        name = (building.scope.prefix + building.scope.munge * bool(name) + name).rstrip("+")
    found.enoughs.append(command._replace(line=0, name=building.text(name)))
    found.lines_at.append(f"{dag.places.file}:{command.line}")


def not_needed(building: Building, command: NotNeeded) -> None:
    """NOT_NEEDED, of rescue files."""
    node = building.needed(command.node)
    building.refuse_special(node, "NOT_NEEDED")
    building.dag.flags[node] |= DONE
    EnoughsOfDag.put(building.dag).not_needed[node] = None


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
    return row_of("ENOUGH").write(enough)


def _mistake(dag: Dag, enough: Enough, *, grows: bool) -> tuple[str, str] | None:
    """What is wrong, and what to do."""
    child = dag.ids[enough.name] if enough.members == PARENTS else -1
    if child in conditions_of(dag):
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
        return f"the splices are {first_of(known)}" if known else "the DAG has no splices"
    known = sorted(set(dag.categories.values()))
    return f"the categories are {first_of(known)}" if known else "the DAG has no categories"


def _refuse(command: Enough) -> None:
    if command.members != PARENTS:
        fail(
            f"ENOUGH {command.members} can't be added to a DAG that runs",
            f"{OF_THE_WHOLE}; new nodes can have ENOUGH PARENTS",
            at=command.members,
        )


APPLIED = (
    Applied(Enough, enough, of_new="ENOUGH PARENTS", refuse=_refuse, of_job=unchanged),
    Applied(NotNeeded, not_needed, refused=IN_THE_SUBMITTED_FILE, says_done=True),
)
