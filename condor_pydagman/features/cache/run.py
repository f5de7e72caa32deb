"""Nodes with a CACHE command: they do not run if nothing has changed since they were last done.

When such a node's turn has come it is looked up, outside of the engine: its description and files,
what its parents have made, and the store of earlier runs.  What is found is written into the nodes
log and takes effect when it has been read back: the node is done, or runs, and then what it makes
has a new name.  When it has ended well the store is told, with that name.

A node that is to run anew (a person wants it, or its group has left its site) runs whatever the
store says.  Retries are of a node of which it is decided that it runs.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from itertools import islice

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import lifecycle
from condor_pydagman.engine.feature import Feature
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.node_states import CLEANING, SKIPPED, Anew, Cause, State
from condor_pydagman.engine.run_records import Kind
from condor_pydagman.engine.state import RunState
from condor_pydagman.features.cache.commands import CachedOfDag
from condor_pydagman.features.cache.facts import MAX_NAMED, by_reason
from condor_pydagman.features.cache.result_sums import CHANGED, ResultSums
from condor_pydagman.graph.grow import Growth
from condor_pydagman.graph.model import DONE, USER_DONE
from condor_pydagman.named_tuple import NamedTuple

HELPER = "cache"


class CachedWanted(NamedTuple):
    """A node with a CACHE command whose turn has come."""

    node: int
    number: int
    # what the results of its parents come to; '' if that is not known, so that it runs
    parents: str
    why: str  # the reason to give if `parents` differs from that of its last run; '' if none
    anew: bool = False  # it runs even if nothing has changed


class LookUpCached(NamedTuple):
    """Find out whether nodes are to run, or nothing has changed since they were last done.
    Answered by CachedFound."""

    wanted: tuple[CachedWanted, ...]


class KeepCached(NamedTuple):
    """Nodes have ended well: keep that, with the names of what they have made.  Answered by
    CachedKept."""

    kept: tuple[tuple[int, str], ...]


class CachedResult(NamedTuple):
    """What was found out about a node with a CACHE command."""

    node: int
    number: int
    hit: bool  # nothing has changed since it was last done; else it is to run
    result: str  # name of what it has made, or will make
    why: str = ""  # the reason why it has to run; if `hit`, by whom that was said, if by a person


class CachedFound(NamedTuple):
    """Answer to LookUpCached, or to a part of it."""

    results: Sequence[CachedResult]


class CachedKept(NamedTuple):
    """Answer to KeepCached: it is kept, or can't be."""

    nodes: Sequence[int]


CACHED = Kind("what a node was found to be in the cache")  # by node
MAX_ASKED = 200  # nodes that one request has
MAX_PARENTS = 1000  # searched for one that has run, to name it as the reason
NO_CHANGE = "nothing has changed since the last run"


class Decided(NamedTuple):
    """A node whose turn has come is not run again (`hit`), or runs; and why it does."""

    node: int
    hit: bool
    why: str


class Cache(Feature):
    """The nodes of a run with a CACHE command."""

    name = "cache"
    # value: 1 nothing has changed, 0 it runs; text: name of its result, why
    attempt_records = (("CACHED", "on_record"),)
    replies = ((CachedFound, "on_found"), (CachedKept, "on_kept"))

    def __init__(self, run: RunState) -> None:
        super().__init__(run)
        # by name of a node, the name of what it had last made before this run
        self.known: Mapping[str, str] = run.given.get(self.name, {})
        # nodes whose turn has come, and of which nothing has been asked
        self.due: dict[int, None] = {}
        # nodes that are being looked up, and the numbers of their requests
        self.asked: dict[int, int] = {}
        # by node of which it is decided whether it runs, the name of what it has made or is to
        # make; '' if it has none
        self.made: dict[int, str] = {}
        self.cached: dict[int, str] = {}  # nodes that are done without having run, and why if told
        self.keeping: set[int] = set()  # nodes that have ended well, which is being written
        self._of_dag = CachedOfDag.of(run.dag)
        self._number = 0
        self._ended: dict[int, str] = {}
        self._news: list[Decided] = []
        self._sums = ResultSums(run.dag, self.result_of)

    # The turn of a node.

    def holds_back(self, node: int, ready: bool) -> bool:
        """A node whose turn has come must not start before it is looked up."""
        if ready or not self._is_undecided(node) or self.run.is_rehearsal:
            return False
        if self.run.nodes.marks[node] & CLEANING:
            return False
        self._came_up(node)
        return True

    def _came_up(self, node: int) -> None:
        self._drop(node)
        self.due[node] = None

    def _drop(self, node: int) -> None:
        self.due.pop(node, None)
        self.asked.pop(node, None)
        self.run.written.drop(CACHED, node)

    def seen_to_run(self, node: int) -> bool:
        """The node runs, though the log does not show that this was decided."""
        if not self._is_open(node):
            return False
        self._drop(node)
        self.made[node] = ""
        return True

    def _is_undecided(self, node: int) -> bool:
        """Whether it is to be decided yet if the node runs."""
        return node in self._of_dag.cached and node not in self.made

    def _is_open(self, node: int) -> bool:
        """Whether the node's turn has come, and it is to be decided whether it runs."""
        nodes = self.run.nodes
        waiting = nodes.states[node] == State.WAITING
        return waiting and self._is_undecided(node) and nodes.may_start(node)

    def _is_wanted(self, node: int) -> bool:
        return self._is_open(node) and not self.run.is_closed_to(node)

    @property
    def _unread(self) -> Container[object]:
        """Nodes of which what was found is on its way to the log and back."""
        return self.run.written.of(CACHED)

    def is_deciding(self, node: int) -> bool:
        """Whether the node is being looked up, or what was found is on its way."""
        return node in self.asked or node in self._unread

    # What is asked for.

    def at_starts(self, over: bool) -> None:
        """Look up nodes whose turn has come, and have it kept that others have ended well."""
        if over:
            return
        if not self._unread:  # else more is about to be told
            self._tell()
        self._keep()
        if self.due and not (self.run.is_over or self.run.starts_nothing):
            self._ask()

    def _keep(self) -> None:
        settings = self.run.settings
        # With VARS set by a person, a result is not what the DAG file describes.
        ended = [
            one
            for one in self._ended.items()
            if one[0] not in settings or not settings[one[0]].variables
        ]
        self._ended = {}
        for begin in range(0, len(ended), MAX_ASKED):
            some = ended[begin : begin + MAX_ASKED]
            self.keeping.update(node for node, _ in some)
            self.run.emit(do.Ask(HELPER, KeepCached(tuple(some))))

    def _ask(self) -> None:
        run = self.run
        due = []
        came_up, self.due = list(self.due), {}
        for node in came_up:
            if any(is_deciding(node) for is_deciding in run.hooks.is_deciding):
                self._came_up(node)  # another feature is still deciding: ask again later
            elif self._is_wanted(node):
                due.append(node)
        for begin in range(0, len(due), MAX_ASKED):
            wanted = tuple(self._wanted(node) for node in due[begin : begin + MAX_ASKED])
            run.emit(do.Ask(HELPER, LookUpCached(wanted)))

    def under_way(self, halted: bool) -> bool:
        """Whether the DAG goes on because of a node that is looked up or kept, though none runs."""
        if halted or self.asked or self._unread or self._ended or self.keeping:
            return not halted
        return any(self._is_wanted(node) for node in self.due)

    # What a node is looked up with.

    def _wanted(self, node: int) -> CachedWanted:
        self._number += 1
        number = self.asked[node] = self._number
        settings = self.run.settings.get(node)
        if settings is not None and settings.variables:
            return CachedWanted(node, number, "", "a person has set VARS of it")
        found = self._sums.of(node)
        if found.unknown >= 0:
            return CachedWanted(node, number, "", self._why_unknown(found.unknown))
        parents, anew = f"{found.number:032x}", bool(self.run.nodes.retries.get(node, 0))
        return CachedWanted(node, number, parents, self._why_changed(node), anew)

    def _why_unknown(self, parent: int) -> str:
        name = self.run.dag.names[parent]
        if parent in self._of_dag.cached:
            return f"what its parent {name} has made is not known"
        return f"its parent {name} has no CACHE"

    def _why_changed(self, node: int) -> str:
        dag, made, cached = self.run.dag, self.made, self.cached
        parents = islice(dag.parents(node), MAX_PARENTS)
        ran = next((one for one in parents if one in made and one not in cached), None)
        return CHANGED if ran is None else f"its parent {dag.names[ran]} has run"

    def result_of(self, node: int) -> str:
        """The name of what a node has made, '' if it is not known.

        Nodes without a CACHE command have no name for what they make.
        """
        nodes, dag = self.run.nodes, self.run.dag
        if nodes.states[node] != State.DONE or node not in self._of_dag.cached:
            return ""
        result = self.made.get(node)
        if result is not None:
            return result
        known = self.known.get(dag.names[node], "")
        if nodes.marks[node] & SKIPPED:
            return f"skipped {known}"  # a name that no run ever has
        flags = dag.flags[node]
        return known if flags & DONE and not flags & USER_DONE else ""  # else a person has done it

    # The answer, and the record of it.

    def on_found(self, answer: CachedFound) -> None:
        """Nodes have been looked up."""
        run = self.run
        for node, number, hit, result, why in answer.results:
            if self.asked.get(node) != number:
                continue
            del self.asked[node]
            if not self._is_open(node):
                continue
            if run.written.holding:
                self._came_up(node)  # a pending record may change what it was found by
                continue
            retry = run.nodes.retries.get(node, 0)
            text = f"{result} {why}".rstrip()
            record = do.AppendJournalRecord("CACHED", node, retry, int(hit), text=text)
            run.write(CACHED, node, record)

    def on_record(self, node: int, event: LogEvent) -> None:
        """What was found of the node has been read: it is done, or starts."""
        run = self.run
        run.written.drop(CACHED, node)
        if not self._is_open(node):
            return
        result, _, why = event.text.partition(" ")
        hit = event.value == 1
        self._drop(node)
        self.made[node] = result
        self._news.append(Decided(node, hit, why))
        if not hit:
            lifecycle.start_all(run, [node])
            return
        self.cached[node] = why
        run.nodes.move(node, Cause.MARKED_DONE, run.now)
        for done in run.hooks.done:
            done(node, False)
        lifecycle.start_all(run, run.nodes.release_children(node))

    def _tell(self) -> None:
        """Say what has been decided; once of many nodes of which the same is to be said."""
        run, all_names = self.run, self.run.dag.names
        news, self._news = self._news, []
        hits = ((all_names[one.node], one.why or NO_CHANGE) for one in news if one.hit)
        runs = ((all_names[one.node], one.why) for one in news if not one.hit)
        told = [(f"done already: {why}", names) for why, names in by_reason(hits).items()]
        told += [(f"to run: {why}", names) for why, names in by_reason(runs).items()]
        for what, names in told:
            if len(names) <= MAX_NAMED:
                for name in names:
                    run.say(f"CACHE: node {name} is {what}")
            else:
                some = " ".join(names[:MAX_NAMED])
                run.say(f"CACHE: of {len(names)} nodes each is {what} ({some} ...)")

    # What becomes of a node.

    def done(self, node: int, ran: bool) -> None:
        """The node has ended well: its result is to be kept."""
        result = self.made.get(node)
        if ran and result and node not in self.cached:
            self._ended[node] = result

    def on_kept(self, answer: CachedKept) -> None:
        """It is kept that nodes have ended well."""
        self.keeping.difference_update(answer.nodes)

    def begins_anew(self, node: int, why: Anew) -> None:
        """What was decided of the node counts no more, but for a retry: what its parents make may
        change."""
        if why is Anew.RETRY:
            return
        self._drop(node)
        self._ended.pop(node, None)
        self.made.pop(node, None)
        self.cached.pop(node, None)
        self._sums.forget()

    def grown(self, growth: Growth, children: Sequence[int]) -> None:
        """Nodes may have other parents."""
        self._sums.forget()

    # What others see.

    def details(self, node: int) -> str:
        """Whether the node is done without having run, or that is being found out."""
        if node in self.cached:
            return f"cached: {self.cached[node] or 'nothing has changed since it was last done'}"
        if self.is_deciding(node):
            return "it is found out whether it has to run (CACHE)"
        return ""

    def validate(self) -> None:
        """Nodes that did not have to run are done."""
        nodes = self.run.nodes
        for node in self.cached:
            assert nodes.states[node] == State.DONE, nodes.move_history(node)
