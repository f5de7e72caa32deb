"""The ENOUGH lines of a run: when so many of some nodes are done, the rest is not needed
(docs/decisions.md).

That it is reached is written into the nodes log, and in force when it has been read from there;
until then nothing new is started and the DAG does not end.  From then on its nodes that have not
ended are *unwanted*: nothing of them is started, and jobs in the queue are removed (REMOVE) or go
on (WAIT).  What has failed or is futile is not needed at once; what fails afterwards is not needed
either, whatever its retries; what ends well is done.

Of a node that has not begun, that it is not needed is written into the log, too: a replay can't
know otherwise whether its submission was on its way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import lifecycle
from condor_pydagman.engine.feature import Feature
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.jobs import Jobs
from condor_pydagman.engine.node_states import (
    ALONE,
    CANCELLED,
    CLEANING,
    NOT_BEGUN,
    NOT_NEEDED,
    STOPPED,
    UNWANTED,
    Anew,
    Cause,
    State,
)
from condor_pydagman.engine.report import Shown
from condor_pydagman.engine.run_records import Kind
from condor_pydagman.engine.state import Mode, RunState
from condor_pydagman.features.common import rerun
from condor_pydagman.features.enough.commands import REMOVE, EnoughsOfDag, words
from condor_pydagman.features.enough.counts import EARLIER, FOLLOWS, EnoughCounts
from condor_pydagman.graph.grow import Growth
from condor_pydagman.graph.model import DONE
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import UNNEEDED_WORDS


class EnoughRecord(NamedTuple):
    """An ENOUGH is reached: its line, and how many nodes were done then, in words."""

    line: str
    counts: str

    @property
    def text(self) -> str:
        """As the nodes log has it."""
        return f"{self.line}: {self.counts}"


def read_record(text: str) -> EnoughRecord:
    """The text of a record; without a line if it is none."""
    line, _, counts = text.rpartition(": ")
    return EnoughRecord(line, counts)


REACHED = Kind("ENOUGH that is reached", holds=True)  # by its number
MAX_ASKED = 1000  # records of nodes that are on their way at once


class Enough(Feature):
    """The ENOUGH lines of a run, by number."""

    name = "enough"
    # value: number of the ENOUGH; text: its line, how many nodes are done
    records = (("ENOUGH", "on_reached"),)
    # an ENOUGH is reached, and nothing of the node has begun
    attempt_records = (("NOT_NEEDED", "on_not_needed"),)

    def __init__(self, run: RunState) -> None:
        super().__init__(run)
        self._of_dag = EnoughsOfDag.of(run.dag)
        self.counts = EnoughCounts(run.dag, run.nodes.states)  # of their nodes
        # those that are in force, with what has been reached, in words
        self.reached: dict[int, str] = {}
        # nodes that are not to be started any more, and the ENOUGH that says so; what of them has
        # begun goes on to its end, or is removed
        self.unwanted: dict[int, int] = {}
        # nodes that are not needed, as a record says that is on its way to the log and back
        self.asked: set[int] = set()
        self.had_failed: dict[int, str] = {}  # why a node had failed that is not needed

    # Which nodes are not wanted, and which not needed.

    def begins(self) -> None:
        """An earlier run may not have needed some."""
        for node in self._of_dag.not_needed:
            if self.run.dag.flags[node] & DONE:
                self._not_needed(node, EARLIER)
                self.run.features["skipping"].mark(node, leads=True)

    def _not_needed(self, node: int, number: int) -> None:
        self.counts.mark(node, number)
        self.run.nodes.mark(node, NOT_NEEDED)

    def _unwanted(self, node: int, number: int) -> None:
        self.unwanted[node] = number
        removes = self._of_dag.enoughs[number].effect == REMOVE
        self.run.nodes.mark(node, UNWANTED | STOPPED if removes else UNWANTED)

    def _pop_unwanted(self, node: int) -> int:
        self.run.nodes.unmark(node, UNWANTED | STOPPED)
        return self.unwanted.pop(node, FOLLOWS)

    def node_moved(self, node: int, old: int, new: int) -> None:
        """Count it; what was not needed and is done no more is not to be started."""
        if new == State.DONE and self.run.nodes.marks[node] & NOT_NEEDED:
            self.asked.discard(node)
            if node not in self.counts.not_needed:  # it follows its parents
                self.counts.mark(node, self._pop_unwanted(node))
        number = self.counts.not_needed.get(node) if old == State.DONE else None
        if node in self.counts.of:
            self.counts.moved(node, old, new)
        if number is not None:
            self.counts.unmark(node)
            self.run.nodes.unmark(node, NOT_NEEDED)
            self.had_failed.pop(node, None)
            if number in self.reached:
                self._unwanted(node, number)

    def done(self, node: int, ran: bool) -> None:
        """It has ended well."""
        if ran:
            self._forget(node)

    def _forget(self, node: int) -> None:
        self._pop_unwanted(node)
        self.asked.discard(node)

    def begins_anew(self, node: int, why: Anew) -> None:
        """Whether enough of its parents are done is to be found out anew; who has it run wants
        it.  A record that is on its way is of the run before."""
        self.asked.discard(node)
        if why is Anew.BY_PERSON:
            self._forget(node)
        elif why is Anew.RUN and node in self.run.nodes.gated.parents:
            self._reopen(node)

    def _reopen(self, child: int) -> None:
        number = self._of_dag.enough_of.get(child)
        if number is not None:
            self.reached.pop(number, None)
            self.counts.touch(number)

    def pop_hopeless(self, anew: bool) -> list[int]:
        """Nodes of whose parents enough can't be done any more."""
        if anew:
            self.counts.doubt()
        return self.counts.pop_hopeless()

    # What becomes of them instead.

    def before_retry(self, node: int, error: str) -> str:
        """A node that is not wanted is not retried."""
        return error if self.run.nodes.marks[node] & UNWANTED else ""

    def before_ended(self, node: int, error: str) -> bool:
        """It is not needed, rather than failed."""
        if not error or self.run.nodes.marks[node] & (UNWANTED | CLEANING) != UNWANTED:
            return False
        self._set_aside(node, error)
        return True

    def jobs_seen(self, node: int, jobs: Jobs) -> None:
        """They were on their way."""
        self._remove(node, jobs)

    def _remove(self, node: int, jobs: Jobs) -> None:
        if self.run.nodes.marks[node] & STOPPED and jobs.cluster > 0:
            line = self._line(self.unwanted[node])
            lifecycle.remove_rest(self.run, jobs, f"{UNNEEDED_WORDS}: {line}")

    def _set_aside(self, node: int, error: str) -> None:
        """The node is not needed: it counts as done, with its last `error` if it had failed."""
        run, state = self.run, State(self.run.nodes.states[node])
        weak_are_released = state == State.FAILED and not run.nodes.marks[node] & ALONE
        if error:
            self.had_failed[node] = error
        self._not_needed(node, self._pop_unwanted(node))
        run.nodes.move(node, Cause.NOT_NEEDED, run.now)
        run.features["skipping"].mark(node, leads=True)
        for done in run.hooks.done:
            done(node, False)
        run.nodes.unmark(node, CANCELLED)
        lifecycle.forget_run(run, node)
        if state in (State.FAILED, State.FUTILE):
            run.nodes.forget_error(node)
            run.nodes.not_failed(node)
        had = f"; it had failed: {error}" if error else ""
        run.say(f"Node {run.dag.names[node]} is not needed: {self._why(node)}{had}")
        run.nodes.mark_unreachable(run.now)
        release = run.nodes.release_strong if weak_are_released else run.nodes.release_children
        lifecycle.start_all(run, release(node))

    # Records.

    def work(self) -> None:
        """Write into the log what has been reached, and which nodes are not needed."""
        if self.run.is_over or self.run.is_rehearsal:
            return
        known = {*self.reached, *self.run.written.of(REACHED)}
        for number in self.counts.pop_touched():
            if self.counts.is_idle(number):
                child = self.counts.children.get(number)
                if child is not None and self.run.nodes.states[child] == State.WAITING:
                    self.counts.wait(child)
            elif self.counts.is_reached(number) and number not in known:
                self.run.write(REACHED, number, self._record(number))
        if self.counts.waiting:
            self._ask_of_nodes()

    def _record(self, number: int) -> do.AppendJournalRecord:
        counts = self.counts
        done, total = counts.done[number], len(counts.members[number])
        node = counts.children.get(number, counts.members[number][0])
        text = EnoughRecord(self._line(number), f"{done} of {total} nodes are done").text
        retry = self.run.nodes.retries.get(node, 0)
        return do.AppendJournalRecord("ENOUGH", node, retry, number, text=text)

    def _ask_of_nodes(self) -> None:
        """Write down which nodes, of which nothing has begun, are not needed."""
        run = self.run
        waiting = self.counts.pop_waiting()
        for place, node in enumerate(waiting):
            if len(self.asked) >= MAX_ASKED:
                self.counts.wait(*waiting[place:])
                return
            if run.nodes.marks[node] & CLEANING:
                self.counts.wait(node)  # until that is over
            elif node not in self.asked and self._is_to_go(node):
                self.asked.add(node)
                retry = run.nodes.retries.get(node, 0)
                run.journal(node, do.AppendJournalRecord("NOT_NEEDED", node, retry))

    def _is_to_go(self, node: int) -> bool:
        nodes, number = self.run.nodes, self._of_dag.enough_of.get(node)
        idle = number is not None and self.counts.is_idle(number)
        return nodes.states[node] == State.WAITING and (idle or nodes.marks[node] & UNWANTED > 0)

    def deadline(self) -> float | None:
        """Now, if nodes have come to wait since `work`, of which some may not be needed."""
        if self.run.is_over or self.run.is_rehearsal:
            return None
        waits = any(not self.run.nodes.marks[node] & CLEANING for node in self.counts.waiting)
        return self.run.now if waits and len(self.asked) < MAX_ASKED else None

    def under_way(self, halted: bool) -> bool:
        """Whether the record of a node is on its way, or is to be written."""
        return bool(self.asked or self.counts.waiting)

    def is_deciding(self, node: int) -> bool:
        """Whether the record that it is not needed is on its way."""
        return node in self.asked

    # What they do.

    def on_reached(self, _node: int, event: LogEvent) -> None:
        """It has been read that enough are done."""
        run, number = self.run, event.value
        if not 0 <= number < len(self.counts.members):
            run.say(
                f"Warning: ignoring the record of an ENOUGH that the DAG has not got: {event.text}"
            )
            return
        run.written.drop(REACHED, number)
        if number in self.reached:
            return  # its record was written twice
        if not self.counts.is_reached(number):
            self.counts.touch(number)  # a person has let one of them run again
            return
        self.reached[number] = event.text
        members = self.counts.members[number]
        self._give_up(number, members)
        left = sum(self.unwanted.get(one) == number for one in members)
        run.say(f"{event.text}: {self._said(number, left)}", 0)
        child = self.counts.children.get(number)
        if child is not None:
            self._open(child)

    def _said(self, number: int, left: int) -> str:
        if not left:
            return "no other is left"
        removes = self._of_dag.enoughs[number].effect == REMOVE
        return f"{left} that are left {'are removed' if removes else 'start no more'}"

    def _open(self, child: int) -> None:
        self.run.nodes.gated.open(child)
        lifecycle.start_all(self.run, [child])

    def _give_up(self, number: int, nodes: Iterable[int]) -> None:
        """These nodes are not needed, unless they are done."""
        run, over = self.run, []
        for node in nodes:
            state = State(run.nodes.states[node])
            if state == State.DONE:
                continue
            self._unwanted(node, self.unwanted.get(node, number))
            if state in (State.FAILED, State.FUTILE):
                over.append(node)
            elif state in NOT_BEGUN:
                self._drop(node, state)
            elif state == State.SUBMITTED and node in run.job_table.by_node:
                self._remove(node, run.job_table.by_node[node])  # else its job is not its own
        for node in over:
            self._set_aside(node, run.nodes.errors.get(node, ""))

    def _drop(self, node: int, state: State) -> None:
        """The node, of which nothing has begun as far as the log knows, is not started."""
        if self.run.nodes.marks[node] & CLEANING:
            return
        rerun.leave_queues(self.run, node)
        if state == State.WAITING:
            self.counts.wait(node)
        else:
            self.run.nodes.move(node, Cause.DROPPED, self.run.now)

    def on_not_needed(self, node: int, _event: LogEvent) -> None:
        """It has been read that the node, of which nothing has begun, is not needed."""
        self.asked.discard(node)
        if self.run.nodes.states[node] in (State.WAITING, State.FUTILE):
            self._set_aside(node, "")

    def started(self) -> None:
        """In a dry run nothing is written down: let nodes start of whose parents enough are
        done."""
        if self.run.mode is not Mode.DRY_RUN:
            return
        counts, gated = self.counts, self.run.nodes.gated
        for number in counts.pop_touched():
            child = counts.children.get(number)
            if child is not None and counts.is_reached(number) and child not in gated.opened:
                self._open(child)

    # A DAG that grows.

    def grown(self, growth: Growth, children: Sequence[int]) -> None:
        """It has got nodes; of these children some may have more parents."""
        changed = set(children)
        self.counts.grow(self.run.dag, growth.nodes, changed, self.run.nodes.states)
        for child in changed:
            self._reopen(child)
        for node in growth.nodes:
            for number in self.counts.of.get(node, ()):
                if number in self.reached:
                    self._give_up(number, (node,))
                    break

    # What others see.

    def _line(self, number: int) -> str:
        return words(self._of_dag.enoughs[number])

    def _why(self, node: int) -> str:
        """Why a node is not needed."""
        number = self.counts.not_needed.get(node, FOLLOWS)
        if number == EARLIER:
            return "it was not in an earlier run"
        return "all its parents are not needed" if number == FOLLOWS else self._line(number)

    def details(self, node: int) -> str:
        """Why it is not needed, or will not be."""
        if node in self.counts.not_needed:
            error = self.had_failed.get(node, "")
            return f"not needed: {self._why(node)}{'; it had failed: ' * bool(error)}{error}"
        number = self.unwanted.get(node)
        return "" if number is None else f"not needed any more: {self._line(number)}"

    def shown(self) -> Iterable[Shown]:
        """Which lines are in force, and how many nodes are not needed."""
        if not self._of_dag.enoughs:
            return ()
        reached, not_needed = len(self.reached), len(self.counts.not_needed)
        return (
            Shown("Enough", "; ".join(self.reached.values())),
            Shown("", reached, metric="enough_reached"),
            Shown("NodesNotNeeded" if reached else "", not_needed, metric="nodes_not_needed"),
        )

    def validate(self) -> None:
        """The marks of nodes are as the lines want them."""
        for node, marks in enumerate(self.run.nodes.marks):
            assert bool(marks & NOT_NEEDED) == (node in self.counts.not_needed), (node, marks)
            assert bool(marks & UNWANTED) == (node in self.unwanted), (node, marks)
