"""A DAG that grows for ever lets go of what is done, a piece at a time, so that memory is bounded.

When more nodes that were added are done than are to be kept (PYDAGMAN_KEPT_GROWN_NODES), pieces
whose nodes are all done, and on which nothing in the DAG depends any more, are named in a record of
the nodes log.  They leave the DAG when that has been read back, live and in recovery mode alike: a
name that is free then may be used again.  Their nodes go on to be counted as done.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import islice

from condor_pydagman.engine import actions as do
from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.engine.node_states import State
from condor_pydagman.engine.run_records import Kind
from condor_pydagman.engine.state import OF_NODE, RunState
from condor_pydagman.features.growth.commands import PieceContents, growth_of
from condor_pydagman.features.growth.let_go import let_go, numbers, waits_for
from condor_pydagman.printable import number_of
from condor_pydagman.vocabulary import NO_NODE

LET_GO = Kind("pieces that leave the DAG")  # by the text of the record
MAX_GONE = 1000  # names of nodes that are remembered, as their jobs may be in the queue yet
_SHARE, _SHARE_WHILE_READING = 10, 25  # per cent of those that are kept
MAX_PIECES = 70  # in one record, which has room for so many numbers
LOOKED_AT = 4  # nodes that are looked at for each that is added, and
LOOKED_AT_LEAST = 100  # whatever the size of a piece


class LettingGo:
    """The pieces that are kept."""

    def __init__(self, run: RunState) -> None:
        self._run = run
        # how many nodes the DAG files have given; they come first, and stay
        self.of_files = len(run.dag) - sum(piece.size for piece in growth_of(run.dag).pieces)
        # numbers of the pieces that have not been let go; those looked at first come first
        self.kept: deque[int] = deque()
        self.has_grown = False  # whether a piece has come to be in force since `work` was called
        self._grown_by = 0  # nodes since pieces were last looked at, and one for a piece
        # the nodes of pieces that a record lets go of which has not been read back
        self.leaving: frozenset[int] = frozenset()
        self.gone: dict[str, None] = {}  # names of the nodes that were let go last

    def grow_by(self, nodes: int) -> None:
        """A piece with so many nodes is in force."""
        self.has_grown = True
        self._grown_by += nodes + 1

    @property
    def is_written(self) -> bool:
        """Whether a record is on its way."""
        return bool(self._run.written.of(LET_GO))

    def work(self, *, waits: bool) -> None:
        """Let go of pieces, if too many nodes are kept; `waits`: pieces are being read."""
        if self.is_written:
            return
        self.has_grown = False
        if self._is_due(waits=waits):
            added, self._grown_by = self._grown_by, 0
            found = self._found(added)
            if found:
                self._write(found)

    def _write(self, pieces: Sequence[int]) -> None:
        text, contents = " ".join(map(str, pieces)), growth_of(self._run.dag).contents
        self.leaving = frozenset(node for number in pieces for node in contents[number].nodes)
        record = do.AppendJournalRecord("LET_GO", NO_NODE, 0, 0, text=text)
        self._run.write(LET_GO, text, record)

    def _is_due(self, *, waits: bool) -> bool:
        """Whether the DAG has grown, and many more nodes are kept than are to be.

        What is being read for the DAG as it is must be read anew then, so that is waited for, not
        for ever.
        """
        run = self._run
        most = run.config.kept_grown_nodes
        if not most or run.written.holding or run.phase is not Phase.RUNNING or run.is_over:
            return False
        feeder = run.features.get("feeder")
        waits |= feeder is not None and feeder.asked
        share = _SHARE_WHILE_READING if waits else _SHARE
        return self.kept_done() - most > most * share // 100

    def _found(self, added: int) -> list[int]:
        """Pieces of which to let go, after so many nodes were added."""
        surplus = self.kept_done() - self._run.config.kept_grown_nodes
        left = LOOKED_AT_LEAST + LOOKED_AT * added
        found: list[int] = []
        looked = 0
        for number in self.kept:
            if surplus <= 0 or left <= 0 or len(found) == MAX_PIECES:
                break
            looked += 1
            contents = growth_of(self._run.dag).contents[number]
            left -= len(contents.nodes) + 1
            if self._is_over(contents) and self._is_quiet(contents.nodes):
                found.append(number)
                surplus -= max(len(contents.nodes), 1)
        self.kept.rotate(-looked)  # others come first now
        return found

    def kept_done(self) -> int:
        """How many of the nodes that were added are done and kept."""
        done = self._run.nodes.states.count(State.DONE, self.of_files)
        return done - len(self._run.dag.free)

    def _is_over(self, contents: PieceContents) -> bool:
        """Whether nothing in the DAG depends on the nodes of a piece any more.

        It follows from the nodes log alone: a replay comes to the same.
        """
        run, states = self._run, self._run.nodes.states
        if any(states[node] != State.DONE for node in contents.nodes):
            return False
        own = set(contents.nodes)
        for node in contents.nodes:
            if any(is_needed(node) for is_needed in run.hooks.is_needed):
                return False
            if not own.issuperset(run.nodes.gated.children_waiting(node)):
                return False
        return all(states[node] == State.DONE for node in waits_for(run.dag, contents))

    def _is_quiet(self, nodes: Sequence[int]) -> bool:
        """Whether nothing of done nodes is on its way."""
        run, written = self._run, self._run.written.of(OF_NODE)
        return not any(
            node in run.job_table.by_node
            or node in written
            or not all(may_leave(node) for may_leave in run.hooks.may_leave)
            for node in nodes
        )

    def on_record(self, text: str) -> set[str]:
        """The record has been read: the pieces leave the DAG, unless a person has nodes run anew.
        Returns the names of their nodes."""
        run = self._run
        if run.written.drop(LET_GO, text):  # an earlier one may have been written twice
            self.leaving = frozenset()
        names: set[str] = set()
        count = 0
        for number in numbers(text):
            contents = growth_of(run.dag).contents.get(number)
            if contents is not None and self._is_over(contents):
                self.kept.remove(number)
                names.update(run.dag.names[node] for node in contents.nodes)
                self._remember([run.dag.names[node] for node in contents.nodes])
                let_go(run.dag, number)
                self._forget(contents)
                count += len(contents.nodes)
        done = number_of(count, "node")
        run.say(f"{done} done and removed from memory, {self.kept_done()} kept")
        return names

    def _remember(self, names: Sequence[str]) -> None:
        self.gone.update(dict.fromkeys(names))
        for name in list(islice(self.gone, max(0, len(self.gone) - MAX_GONE))):
            del self.gone[name]

    def _forget(self, contents: PieceContents) -> None:
        run = self._run
        run.nodes.let_go(contents.nodes, contents.junctions)
        for node in contents.nodes:
            run.job_table.forget(node)
            run.written.drop(OF_NODE, node)
            run.retrying.let_go(node)
            run.scripts.let_go(node)
            run.submission.let_go(node)
            run.save_points.forget(node)
            run.jobstate_lines.forget(node)
            run.settings.pop(node, None)
            run.categories.let_go(node)
            run.query.let_go(node)
            for node_left in run.hooks.node_left:
                node_left(node)
