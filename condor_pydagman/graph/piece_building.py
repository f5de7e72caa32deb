"""A piece that is being read: a DAG whose lines may name nodes of the DAG that it is to be added
to.

Such a node gets a *stand-in* in the piece, which only edges may name.  All other names must be new.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from condor_pydagman.dagfile import commands
from condor_pydagman.dagfile.commands import Command
from condor_pydagman.dagfile.enough_lines import PARENTS
from condor_pydagman.graph.building import Building, BuildOptions, fail
from condor_pydagman.graph.model import NOOP, Dag
from condor_pydagman.vocabulary import ORDINARY_KINDS, NodeKind

_ONLY_AT_THE_START = {
    commands.Dot: "DOT",
    commands.NodeStatusFile: "NODE_STATUS_FILE",
    commands.JobstateLog: "JOBSTATE_LOG",
    commands.NotifyLine: "NOTIFY",
    commands.SiteGroupLine: "SITE_GROUP",
    commands.SitePolicyLine: "SITE_POLICY",
    commands.SiteMatched: "SITE_MATCHED",
    commands.Choose: "CHOOSE",
    commands.Skipped: "SKIPPED",
    commands.NodeResult: "NODE_RESULT",
    commands.BrakeLine: "BRAKE",
    commands.FeederLine: "FEEDER",
    commands.LetGoLine: "LET_GO",
    commands.NotDone: "NOT_DONE",
    commands.NotNeeded: "NOT_NEEDED",
}

# What a piece says of its own nodes only, and nobody can say of a node later.
_OF_NEW_NODES = {
    commands.RunIf: "RUN_IF",
    commands.Publish: "PUBLISH",
    commands.EnoughLine: "ENOUGH PARENTS",
    commands.Cache: "CACHE",
    commands.SharedLimit: "SHARED_LIMIT",
}

_OF_THE_WHOLE = (
    "it is about nodes that are in the DAG already: put it into the DAG file that is submitted,"
    " where it counts new nodes as well"
)

Begun = Callable[[int], bool]


class PieceDag(Dag):
    """The nodes of a piece; `outer` is the DAG that it is to be added to."""

    def __init__(self, outer: Dag) -> None:
        super().__init__()
        self.outer = outer

    def add_jobs(self, names: Sequence[str], submits: Iterable[str], lines: Iterable[int]) -> bool:
        """As `Dag.add_jobs`; a name of the other DAG is not new."""
        known = self.outer.ids.keys()
        return known.isdisjoint(names) and super().add_jobs(names, submits, lines)


class PieceBuilding(Building):
    """A piece under construction.

    Attributes:
        stand_ins: for each stand-in, its node in the other DAG.
    """

    def __init__(
        self,
        outer: Dag,
        options: BuildOptions,
        begun: Begun,
        *,
        anew: bool = False,
        join: int = 0,
        admitted: Callable[[Command], Command] | None = None,
    ) -> None:
        """`anew`: it has been read and added before, and what it names may have been let go;
        `join`: see `PieceText`; `admitted`: gives each command as it may be, or refuses it."""
        super().__init__(PieceDag(outer), options)
        self._joins = join
        self.stand_ins: dict[int, int] = {}
        self._anew = anew
        self._admitted = admitted
        self._outer = outer
        self._begun = begun
        self._word = ""  # of the command that is applied, if it is one of _OF_NEW_NODES

    def find(self, name: str) -> int | None:
        """The node that the file being read calls `name`, which may be one of the other DAG."""
        node = super().find(name)
        if node is None and self.scope.outer is None:
            full = self.scope.full(name)
            if full not in self.dag.ids:
                self._stand_in(full)
            node = super().find(name)
            if node is None and self.dag.ids.get(full) in self.stand_ins:
                node = self.dag.ids[full]
        return node

    def _stand_in(self, full: str) -> bool:
        """Make a stand-in for a node of the other DAG; false if there is none of that name."""
        known = self._outer.ids.get(full)
        if known is None:
            return False
        node = self.dag.add_node(full, "")
        self.stand_ins[node] = known
        self.dag.flags[node] = self._outer.flags[known] & NOOP  # perhaps it only joins lines
        if self._outer.kinds[known] not in ORDINARY_KINDS:
            self.special.add(node)
            self.dag.kinds[node] = self._outer.kinds[known]
        return True

    def outer_node(self, full: str) -> int:
        """The node of the other DAG of that full name, which is there."""
        return self._outer.ids[full]

    def is_there(self, full: str) -> bool:
        """Whether the other DAG has a node of that full name."""
        return full in self._outer.ids

    def is_gone(self, name: str) -> bool:
        """As of `Building`."""
        if not self._anew or self.find(name) is not None:
            return False
        here = self.scope.munge + name
        return here not in self.scope.splices and here not in self.scope.sweeps

    def needed(self, name: str) -> int:
        """The node of that name, which must be of this piece."""
        node = super().needed(name)
        if node in self.stand_ins:
            self._refuse(name)
        return node

    def nodes(self, name: str) -> Sequence[int]:
        """As `Building.nodes`, of this piece."""
        found = super().nodes(name)
        if self.stand_ins and found[0] in self.stand_ins:
            self._refuse(name)
        return found

    def _refuse(self, name: str) -> None:
        shown = self.scope.munge + name
        if self._word:
            fail(
                f"{self._word} can't be said of node {shown}, which is in the DAG already",
                "put it into the file that defines the node; here it can be said of new nodes",
                at=name,
            )
        fail(
            f"Node {shown} is in the DAG already: only PARENT lines may name it",
            "condor_pydagman steer set changes such nodes",
            at=name,
        )

    def numbers(self, names: Sequence[str]) -> Sequence[int] | None:
        """As `Building.numbers`, of nodes of this piece; None if one is not, too."""
        found = super().numbers(names)
        if found is None or not self.stand_ins or self.stand_ins.keys().isdisjoint(found):
            return found
        return None

    def all_numbers(self, lists: Iterable[Sequence[str]]) -> list[Sequence[int]] | None:
        """As `Building.all_numbers`, for lists of parents and of their children; they may be of the
        other DAG."""
        found = []
        for place, names in enumerate(lists):
            nodes = self._ends(self.full_names(names))
            if nodes is None or (place and any(map(self._has_begun, nodes))):
                return None
            found.append(nodes)
        return found

    def _ends(self, full: Sequence[str]) -> Sequence[int] | None:
        nodes = self.dag.numbers(full)
        if nodes is not None or self.scope.outer is not None:
            return nodes
        for name in set(full) - self.dag.ids.keys():
            if not self._stand_in(name):
                return None
        return self.dag.numbers(full)

    def _has_begun(self, node: int) -> bool:
        known = self.stand_ins.get(node)
        return known is not None and self._begun(known)

    def defined_at(self, full: str) -> str | None:
        """Where the node of that name is defined, in this piece or in the other DAG."""
        known = self._outer.ids.get(full)
        if known is not None:
            return self._outer.place(known) or "an unknown place"
        return super().defined_at(full)

    def join_name(self) -> str:
        """Full name of the next join node; those of the other DAG have the first numbers."""
        while True:
            name = super().join_name()
            if name not in self._outer.ids:
                return name

    def admit(self, command: Command) -> Command:
        """Refuse what a DAG can only be given when it begins, and what a job may not give it."""
        self._word = _OF_NEW_NODES.get(type(command), "")
        word = _ONLY_AT_THE_START.get(type(command))
        if isinstance(command, commands.Job) and command.kind not in ORDINARY_KINDS:
            word = NodeKind(command.kind).name
        if word is not None:
            fail(
                f"{word} can't be added to a DAG that runs",
                _OF_THE_WHOLE if word == "BRAKE" else "put it into the DAG file that is submitted",
                at=word,
            )
        if isinstance(command, commands.EnoughLine) and command.members != PARENTS:
            fail(
                f"ENOUGH {command.members} can't be added to a DAG that runs",
                f"{_OF_THE_WHOLE}; new nodes can have ENOUGH PARENTS",
                at=command.members,
            )
        return command if self._admitted is None else self._admitted(command)

    def admit_edges(self, children: Sequence[int]) -> None:
        """Refuse new parents of nodes that have begun."""
        for child in children:
            if self._has_begun(child):
                name = self.dag.names[child]
                fail(
                    f"Node {name} has begun: it can't get another parent",
                    "only nodes that have not begun can wait for new ones",
                    at=name,
                )
