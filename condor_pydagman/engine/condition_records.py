"""What is known of the conditions of a run, and of what nodes have published for them: data and its
bookkeeping, as in `run_records`."""

from __future__ import annotations

from collections.abc import Container, Sequence

from condor_pydagman.engine.node_states import LEADS, SKIPPED
from condor_pydagman.engine.nodes import Nodes
from condor_pydagman.engine.run_records import Journal, Kind
from condor_pydagman.graph.model import Dag
from condor_pydagman.named_tuple import NamedTuple

MAX_PARTS = 100  # records for what one node has published


CONDITION = Kind("what a condition has come to")  # by node
RESULT = Kind("what a node has published")  # by node


class Conditions:
    """The conditional nodes of a run.  Written by its methods alone.

    Attributes:
        asked: nodes whose condition is being evaluated, and the numbers of their requests.
        skipped: nodes that were skipped; whether children follow whose parents all were.
        leads: whether there is any of which children follow.
        why: what the result of a node's condition was found by, in words.
    """

    __slots__ = ("_journal", "_marks", "_nodes", "_number", "asked", "leads", "skipped", "why")

    def __init__(self, dag: Dag, journal: Journal, nodes: Nodes) -> None:
        self._nodes = dag.conditions
        self._marks = nodes
        self._number = 0
        self.asked: dict[int, int] = {}
        self._journal = journal
        self.skipped: dict[int, bool] = {}
        self.leads = False
        self.why: dict[int, str] = {}

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self._nodes)

    @property
    def unread(self) -> Container[object]:
        """Nodes of which the result is on its way to the log and back."""
        return self._journal.of(CONDITION)

    def ask(self, node: int) -> int:
        """The node's condition is being evaluated; returns the number of the request."""
        self._number += 1
        self.asked[node] = self._number
        return self._number

    def answered(self, node: int, number: int) -> bool:
        """The result is there; whether it is the one that is waited for."""
        if self.asked.get(node) != number:
            return False
        del self.asked[node]
        return True

    def skip(self, node: int, leads: bool) -> None:
        """The node is skipped."""
        self.skipped[node] = leads
        self.leads |= leads
        self._marks.mark(node, SKIPPED | LEADS if leads else SKIPPED)

    def decided(self, node: int, why: str) -> None:
        """It has been read in the log what the node's condition has come to, by which values."""
        self.asked.pop(node, None)
        self._journal.drop(CONDITION, node)
        self.why[node] = why

    def forget(self, node: int) -> None:
        """What was decided of the node counts no more."""
        self.asked.pop(node, None)
        self._journal.drop(CONDITION, node)
        self.skipped.pop(node, None)
        self._marks.unmark(node, SKIPPED | LEADS)
        self.why.pop(node, None)


class JobAttributes(NamedTuple):
    """Attributes of a job, as event 028 has them: names and ClassAd literals.

    `final`: the event is of the job's end.
    """

    pairs: tuple[tuple[str, str], ...]
    final: bool


class Results:
    """What nodes have published.  Written by its methods alone.

    Attributes:
        values: by node, ClassAd literals by name.
        restored: by node, a ClassAd with what an earlier run of the DAG knew of it.
        until: nodes that ended well and whose results are to come, and when attributes of their
            jobs are waited for no more (seconds since the epoch).
        asked: nodes whose file is being read.
        fresh: nodes that have just begun to wait.
        told: nodes of which the log has all that their file had.
        late: nodes of which no attributes are waited for any more.
    """

    __slots__ = (
        *("_ends", "_jobs", "_parts", "asked", "_journal", "fresh", "late", "restored", "told"),
        *("until", "values"),
    )

    def __init__(self, dag: Dag, journal: Journal) -> None:
        self.values: dict[int, dict[str, str]] = {}
        self.restored = dict(dag.results)
        self.until: dict[int, float] = {}
        self.asked: set[int] = set()
        self._journal = journal
        self.fresh: list[int] = []
        self.told: set[int] = set()
        self.late: set[int] = set()
        self._jobs: dict[tuple[int, int], int] = {}  # by cluster and proc, -1 for any
        self._ends: dict[int, set[int]] = {}  # by node, procs of whose end event 028 has told
        self._parts: dict[int, dict[int, str]] = {}

    @property
    def unread(self) -> Container[object]:
        """Nodes of which what a file had in it is on its way to the log and back."""
        return self._journal.of(RESULT)

    def opened(self, node: int, cluster: int, only: int | None) -> None:
        """The node's jobs are in the queue."""
        self._jobs[cluster, -1 if only is None else only] = node

    def node_of(self, cluster: int, proc: int) -> int | None:
        """Whose attributes an event 028 has."""
        found = self._jobs.get((cluster, -1))
        return self._jobs.get((cluster, proc)) if found is None else found

    def add(self, node: int, proc: int, attributes: JobAttributes, names: Sequence[str]) -> None:
        """Attributes of a job of the node: those that it publishes are kept."""
        wanted = {name.lower(): name for name in names}
        values = self.values.setdefault(node, {})
        for name, literal in attributes.pairs:
            if name.lower() in wanted:
                values[wanted[name.lower()]] = literal
        if attributes.final:
            self._ends.setdefault(node, set()).add(proc)

    def ends_told(self, node: int) -> int:
        """Of how many ends of jobs of the node event 028 has told."""
        return len(self._ends.get(node, ()))

    def wait(self, node: int, until: float) -> None:
        """The node has ended well, and its results are to come."""
        self.until[node] = until
        self.fresh.append(node)

    def pop_fresh(self) -> list[int]:
        """The nodes that have begun to wait since the last call."""
        found, self.fresh = self.fresh, []
        return found

    def ask(self, node: int) -> None:
        """Its file is being read."""
        self.asked.add(node)

    def answered(self, node: int) -> bool:
        """Its file has been read; whether that was waited for."""
        waited = node in self.asked
        self.asked.discard(node)
        return waited

    def add_part(self, node: int, number: int, parts: int, text: str) -> bool:
        """A record has a part of what the node's file had; whether all of them have been read."""
        known = self._parts.setdefault(node, {})
        known[number] = text
        return len(known) >= parts

    def pop_parts(self, node: int) -> list[str]:
        """The texts of its records, in their order."""
        parts = self._parts.pop(node, {})
        return [parts[number] for number in sorted(parts)]

    def set_values(self, node: int, pairs: Sequence[tuple[str, str]]) -> None:
        """What the node's file had in it is in force."""
        self.values.setdefault(node, {}).update(pairs)
        self.told.add(node)
        self._journal.drop(RESULT, node)

    def give_up(self, node: int) -> None:
        """No attributes are waited for any more."""
        self.late.add(node)
        self._journal.drop(RESULT, node)

    def conclude(self, node: int) -> None:
        """The node waits for its results no more."""
        self.until.pop(node, None)
        self.asked.discard(node)
        self._journal.drop(RESULT, node)
        self._parts.pop(node, None)

    def forget(self, node: int) -> None:
        """The node is to run anew."""
        self.conclude(node)
        self.told.discard(node)
        self.late.discard(node)
        self.values.pop(node, None)
        self.restored.pop(node, None)
        self._ends.pop(node, None)

    def let_go(self, nodes: Sequence[int]) -> None:
        """These nodes have left the DAG."""
        for node in nodes:
            self.forget(node)
        if self._jobs:
            gone = frozenset(nodes)
            self._jobs = {job: whose for job, whose in self._jobs.items() if whose not in gone}
