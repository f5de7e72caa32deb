"""One DAG as its files tell it, with a number for each node: read in a thread, never in the loop.

`look` reads what is new; what it returns never changes, so it can be handed to the loop.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Callable

from condor_pydagman import feature_table
from condor_pydagman.explain.fact_collection import submit_command
from condor_pydagman.follow.run_model import Attempt, NodeRun, Run
from condor_pydagman.follow.shown_states import BY_FLAGS, KEYS, Shown, shown_state
from condor_pydagman.follow.tally import Tally
from condor_pydagman.graph.model import Dag
from condor_pydagman.monitor.found_dag import FoundDag
from condor_pydagman.monitor.outside_facts import OutsideFacts
from condor_pydagman.monitor.watched_dag import WatchedDag
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.names import logged_name
from condor_pydagman.web.access import Refused


class SitesOfGroups(NamedTuple):
    """Where all groups are at a moment: for the marks in the picture, told in differences.

    It never changes, so that clients can compare what they know with what is known now.
    """

    # of the sites, in the order of their colours; later ones are added at the end
    names: Sequence[str]
    of: Sequence[int]  # by group, the number of its site from 1 on; 0 if it has none
    nodes: Sequence[int]  # how many nodes are at each site

    def news(self, known: SitesOfGroups | None) -> dict[str, Any]:
        """What a client that knows `known` has to be told."""
        told: dict[str, Any] = {"names": self.names, "nodes": self.nodes}
        is_same = known is not None and len(known.of) == len(self.of)
        if known is None or not is_same or known.names != self.names[: len(known.names)]:
            return {**told, "of": self.of}
        pairs = zip(known.of, self.of)
        changes = [[group, now] for group, (was, now) in enumerate(pairs) if was != now]
        return {**told, "changes": changes}


NOWHERE = SitesOfGroups((), (), ())  # of a DAG that has no groups any more


class Snapshot(NamedTuple):
    """What a look has found."""

    # as `condor_pydagman watch --json` prints it, and `states`: nodes by KEYS, `limits`: throttles
    # by their names in the job ad, `partial`: only the end was read of a huge log
    overview: dict[str, Any]
    found: FoundDag  # the DAG, as it is known by now
    changes: Sequence[tuple[int, int]]  # numbers of nodes and their states, each node once
    states: bytes | None  # of all nodes, if they are to be read anew; else None
    over: bool  # whether the DAG has ended, and nothing more will come
    names: Sequence[str]  # of all nodes; another list than before if `states` is given
    places: SitesOfGroups | None = None  # of the groups that run at sites; None if the DAG has none


class DagReader:
    """A DAG that somebody looks at.

    Args:
        found: the DAG.
        schedd, outside: see WatchedDag.
    """

    def __init__(
        self,
        found: FoundDag,
        schedd: Callable[[int], Mapping[str, Any]],
        outside: OutsideFacts | None = None,
    ) -> None:
        self._watched = WatchedDag(found, whole=True, schedd=schedd, outside=outside)
        self.names: Sequence[str] = []  # of the nodes, by number
        self.states = bytearray()  # of the nodes, by number, as in `shown_states.KEYS`
        # kept by tables (`tables.Rows`): what their names come from, and the order of these
        self.orders: dict[type, tuple[object, Sequence[int]]] = {}
        self._counts = [0] * len(KEYS)
        self._keys: Sequence[str] = []
        self._number: Mapping[str, int] | None = None  # where no DAG tells it
        self._known: tuple[object, ...] = ()
        self._marks: Callable[[Run], SitesOfGroups] | None = None
        self._places: SitesOfGroups | None = None

    @property
    def dag(self) -> Dag | None:
        """The graph; None if the DAG files can't be read."""
        return self._watched.dag

    @property
    def run(self) -> Run:
        """What has happened, as of the last look."""
        return self._watched.tally.run

    @property
    def tally(self) -> Tally:
        """The same, and how many nodes are in which state."""
        return self._watched.tally

    @property
    def found(self) -> FoundDag:
        """The DAG's files."""
        return self._watched.found

    def node_run(self, number: int) -> NodeRun | None:
        """What has happened to a node; None if nothing has."""
        return self.run.nodes.get(self._keys[number])

    def brief(self, number: int) -> dict[str, Any]:
        """A node in a list of some."""
        state = KEYS[self.states[number]]
        return {"number": number, "name": self.names[number], "state": state}

    def attempts(self, number: int) -> Sequence[Attempt]:
        """Those at a node, oldest first."""
        run = self.node_run(number)
        return run.attempts if run is not None else ()

    def last_attempt(self, number: int) -> Attempt | None:
        """The last one; None if it has not been started."""
        attempts = self.attempts(number)
        return attempts[-1] if attempts else None

    def check(self, number: int) -> None:
        """Refuse what is no number of a node.

        Raises:
            Refused: it is none.
        """
        if not 0 <= number < len(self.names):
            raise Refused(404, f"there is no node {number}: the DAG has {len(self.names)}")

    def find(self, name: str) -> int | None:
        """The number of the node with this name, as the logs have it."""
        if self._number is not None:
            return self._number.get(name)
        return self.dag.find(name) if self.dag is not None else None

    def look(self) -> Snapshot:
        """Read what is new.

        Raises:
            PydagmanError: a file can't be read.
            OSError: the same.
        """
        seen = self._watched.look()
        known = self.dag, self.run, len(self.run.nodes)
        if known == self._known:
            changes = self._changes()
            states = None
        else:
            self._begin()
            changes, states = [], bytes(self.states)
            self._known = known
        places = self._marks(self.run) if self._marks is not None else None
        if places != self._places:  # another one is news
            self._places = places
        overview = seen.as_json()
        overview["states"] = dict(zip(KEYS, self._counts))
        overview["partial"] = not self.run.complete
        overview["limits"] = dict(self.run.limits)
        over = self._watched.over
        if over:
            overview["again"] = submit_command(self.found, here="")
        return Snapshot(overview, self.found, changes, states, over, self.names, self._places)

    def _begin(self) -> None:
        """All anew."""
        dag = self.dag
        runs = self.run.nodes
        if dag is not None:
            self.names, self._number = dag.names, None
            self._keys = list(map(logged_name, dag.names))
        else:
            self.names = self._keys = list(runs)
            self._number = {name: number for number, name in enumerate(self._keys)}
        self._watched.changed()
        self.states = bytearray(map(self._state, range(len(self._keys)), map(runs.get, self._keys)))
        groups = dag.groups if dag is not None else ()
        self._marks = feature_table.offered("page", "marks")[0](groups) if groups else None
        self._places = None
        self._counts = [self.states.count(state) for state in range(len(KEYS))]

    def _state(self, number: int, node: NodeRun | None) -> Shown:
        if node is not None:
            return shown_state(node)
        return Shown(BY_FLAGS[self.dag.flags[number]]) if self.dag is not None else Shown.WAITING

    def _changes(self) -> list[tuple[int, int]]:
        """Nodes that are in another state than at the last look."""
        changes: list[tuple[int, int]] = []
        for node in self._watched.changed():
            number = self.find(node.name)
            if number is None:
                continue
            state, was = self._state(number, node), self.states[number]
            if state != was:
                self.states[number] = state
                self._counts[was] -= 1
                self._counts[state] += 1
                changes.append((number, state))
        return changes
