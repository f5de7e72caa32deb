"""Which nodes are skipped: counted as done without having run.

RUN_IF and ENOUGH say so of single nodes.  Children of which all parents were skipped follow them,
but for those whose turn something else decides, and children of a node with ELSE DONE.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from condor_pydagman.engine import lifecycle
from condor_pydagman.engine.feature import Feature
from condor_pydagman.engine.node_states import LEADS, NOT_NEEDED, SKIPPED, Anew, Cause, State
from condor_pydagman.engine.state import RunState
from condor_pydagman.features.skipping.commands import SkippedOfDag
from condor_pydagman.graph.model import DONE


class Skipping(Feature):
    """The nodes that are skipped have the marks SKIPPED and, if their children follow, LEADS."""

    name = "skipping"

    def __init__(self, run: RunState) -> None:
        super().__init__(run)
        self._of_dag = SkippedOfDag.of(run.dag)
        self._leads = False  # whether any node ever had that mark
        self._followers: list[int] = []

    def mark(self, node: int, *, leads: bool) -> None:
        """The node is skipped, and leads its children or not."""
        self.run.nodes.mark(node, SKIPPED | LEADS if leads else SKIPPED)
        self._leads |= leads

    def begins(self) -> None:
        """Some were skipped by an earlier run."""
        run_if = self.run.features.get("run_if")
        for node in self._of_dag.skipped:
            if self.run.dag.flags[node] & DONE:
                self.mark(node, leads=run_if is None or run_if.skips_children(node))

    # Followers.

    def holds_back(self, node: int, ready: bool) -> bool:
        """It is skipped instead, if all its parents were."""
        if ready or not self._leads or not self._follows(node):
            return False
        self._followers.append(node)
        return True

    def _follows(self, node: int) -> bool:
        """A condition of its own decides alone, and a node without parents follows none."""
        run, marks = self.run, self.run.nodes.marks
        if node in run.nodes.gated.parents or not run.dag.has_parents(node):
            return False
        return all(marks[parent] & LEADS for parent in run.dag.parents(node))

    def started(self) -> None:
        """Skip those that follow."""
        if self._followers:
            followers, self._followers = self._followers, []
            self._go_on(followers)

    def skip(self, node: int, *, leads: bool) -> None:
        """Skip a node that waits; of any other nothing changes.

        Args:
            leads: children all of whose parents have been skipped like this are skipped, too.
        """
        if self.run.nodes.states[node] == State.WAITING:
            self._skip_one(node, leads=leads)
            self._go_on(self.run.nodes.release_children(node))

    def _go_on(self, nodes: Sequence[int]) -> None:
        """Of nodes that wait for no parent any more, skip those that follow, and those that follow
        them; start the others."""
        run = self.run
        todo, others = self._sorted(nodes)
        for node in todo:  # which grows meanwhile
            if run.nodes.states[node] == State.WAITING:
                self._skip_one(node, leads=True, follows=True)
                more, free = self._sorted(run.nodes.release_children(node))
                todo += more
                others += free
        run.nodes.mark_unreachable(run.now)
        lifecycle.start_all(run, others)

    def _sorted(self, nodes: Sequence[int]) -> tuple[list[int], list[int]]:
        """Those that follow, and the others."""
        todo: list[int] = []
        others: list[int] = []
        for node in nodes:
            closed = self.run.is_closed_to(node) or self.run.provisioner.holds_back(node)
            (todo if not closed and self._follows(node) else others).append(node)
        return todo, others

    def _skip_one(self, node: int, *, leads: bool, follows: bool = False) -> None:
        run, name = self.run, self.run.dag.names[node]
        marks = run.nodes.marks
        unneeded = follows and any(marks[one] & NOT_NEEDED for one in run.dag.parents(node))
        if unneeded:
            run.nodes.mark(node, NOT_NEEDED)
        run.nodes.move(node, Cause.MARKED_DONE, run.now)
        self.mark(node, leads=leads)
        for done in run.hooks.done:
            done(node, False)
        if unneeded:
            run.say(f"Node {name} is not needed: all its parents are not needed")
        elif follows:
            run.say(f"Node {name} is skipped: all its parents were skipped")

    # What it has come to counts no more.

    def begins_anew(self, node: int, _why: Anew) -> None:
        """It is to run."""
        self.run.nodes.unmark(node, SKIPPED | LEADS)

    def decided_anew(self) -> Collection[int]:
        """Nodes that were skipped because of what is to run again in a rescue DAG: parents that
        failed, or nodes of this kind."""
        run, marks, gated = self.run, self.run.nodes.marks, self.run.nodes.gated
        found: dict[int, None] = {}
        for node, own in enumerate(marks):
            if own & (SKIPPED | NOT_NEEDED) != SKIPPED:
                continue
            parents = gated.parents.get(node) or run.dag.parents(node)
            if any(run.nodes.states[one] in (State.FAILED, State.FUTILE) for one in parents):
                found[node] = None
        todo = list(found)
        for node in todo:  # which grows meanwhile
            for child in (*run.dag.children(node), *gated.children_waiting(node)):
                if marks[child] & (SKIPPED | NOT_NEEDED) == SKIPPED and child not in found:
                    found[child] = None
                    todo.append(child)
        return found

    # What others see.

    def details(self, node: int) -> str:
        """That it was skipped."""
        return "skipped" if self.run.nodes.marks[node] & SKIPPED else ""

    def validate(self) -> None:
        """What was skipped is done."""
        nodes = self.run.nodes
        for node, marks in enumerate(nodes.marks):
            assert not marks & SKIPPED or nodes.states[node] == State.DONE, nodes.move_history(node)
