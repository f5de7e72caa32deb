"""ENOUGH: when so many of some nodes are done, the rest is not needed (docs/decisions.md).

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
from condor_pydagman.engine import lifecycle, rerun
from condor_pydagman.engine.enough_records import REACHED
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.node_states import CLEANING, NOT_BEGUN, Cause, State
from condor_pydagman.engine.state import Mode, RunState
from condor_pydagman.vocabulary import JournalRecord

MAX_ASKED = 1000  # records of nodes that are on their way at once


# Records.


def work(run: RunState) -> None:
    """Write into the log what has been reached, and which nodes are not needed."""
    enough = run.enough
    if run.is_over or run.mode is not Mode.RUN:
        return
    counts = enough.counts
    for number in counts.pop_touched():
        if counts.is_idle(number):
            _ask_of_child(run, number)
        elif not (number in enough.reached or number in run.written.of(REACHED)):
            _write_if_reached(run, number)
    if counts.waiting:
        _ask_of_nodes(run)


def _write_if_reached(run: RunState, number: int) -> None:
    if run.enough.counts.is_reached(number):
        run.write(REACHED, number, _record(run, number))


def _record(run: RunState, number: int) -> do.AppendJournalRecord:
    counts = run.enough.counts
    done, total = counts.done[number], len(counts.members[number])
    node = counts.children.get(number, counts.members[number][0])
    text = f"{run.enough.line(number)}: {done} of {total} nodes are done"
    retry = run.nodes.retries.get(node, 0)
    return do.AppendJournalRecord(JournalRecord.ENOUGH, node, retry, number, text=text)


def _ask_of_child(run: RunState, number: int) -> None:
    """None of its parents is needed: neither is the node."""
    child = run.enough.counts.children.get(number)
    if child is not None and run.nodes.states[child] == State.WAITING:
        run.enough.counts.wait(child)


def _ask_of_nodes(run: RunState) -> None:
    """Write down which nodes, of which nothing has begun, are not needed."""
    enough = run.enough
    waiting = enough.counts.pop_waiting()
    for place, node in enumerate(waiting):
        if len(enough.asked) >= MAX_ASKED:
            enough.counts.wait(*waiting[place:])
            return
        if node not in enough.asked and _is_to_go(run, node):
            enough.ask(node)
            retry = run.nodes.retries.get(node, 0)
            run.journal(node, do.AppendJournalRecord(JournalRecord.NOT_NEEDED, node, retry))


def _is_to_go(run: RunState, node: int) -> bool:
    if run.nodes.states[node] != State.WAITING or run.nodes.marks[node] & CLEANING:
        return False
    number = run.dag.enough_of.get(node)
    idle = number is not None and run.enough.counts.is_idle(number)
    return idle or node in run.enough.unwanted


def is_due(run: RunState) -> bool:
    """Whether nodes have come to wait since `work`, of which some may not be needed."""
    if run.is_over or run.mode is not Mode.RUN:
        return False
    return bool(run.enough.counts.waiting) and len(run.enough.asked) < MAX_ASKED


# What they do.


def on_reached(run: RunState, node: int, event: LogEvent) -> None:
    """It has been read that enough are done."""
    enough, number = run.enough, event.value
    if not 0 <= number < len(enough.counts.members):
        run.say(f"Warning: ignoring the record of an ENOUGH that the DAG has not got: {event.text}")
        return
    run.written.drop(REACHED, number)
    if number in enough.reached or run.final_begun:
        return  # its record was written twice
    if not enough.counts.is_reached(number):
        enough.counts.touch(number)  # a person has let one of them run again
        return
    enough.reach(number, event.text)
    _give_up(run, number, enough.counts.members[number])
    left = sum(enough.unwanted.get(one) == number for one in enough.counts.members[number])
    run.say(f"{event.text}: {_said(run, number, left)}", 0)
    child = enough.counts.children.get(number)
    if child is not None:
        run.nodes.turns.open(child)
        lifecycle.start_all(run, [child])


def _said(run: RunState, number: int, left: int) -> str:
    if not left:
        return "no other is left"
    verb = "are removed" if run.dag.enoughs[number].effect == "REMOVE" else "start no more"
    return f"{left} that are left {verb}"


def _give_up(run: RunState, number: int, nodes: Iterable[int]) -> None:
    """These nodes are not needed, unless they are done."""
    over = []
    for node in nodes:
        state = State(run.nodes.states[node])
        if state == State.DONE:
            continue
        run.enough.give_up(node, number)
        if state in (State.FAILED, State.FUTILE):
            over.append(node)
        elif state in NOT_BEGUN:
            _drop(run, node, state)
        elif state == State.SUBMITTED:
            lifecycle.remove_unwanted(run, node, run.job_table.by_node[node])
    for node in over:
        lifecycle.set_aside(run, node, run.nodes.errors.get(node, ""))


def _drop(run: RunState, node: int, state: State) -> None:
    """The node, of which nothing has begun as far as the log knows, is not started."""
    if run.nodes.marks[node] & CLEANING:
        return
    rerun.leave_queues(run, node)
    if state == State.WAITING:
        run.enough.counts.wait(node)
    else:
        run.nodes.move(node, Cause.DROPPED, run.now)


def on_not_needed(run: RunState, node: int, _event: LogEvent) -> None:
    """It has been read that the node, of which nothing has begun, is not needed."""
    run.enough.answered(node)
    if run.nodes.states[node] in (State.WAITING, State.FUTILE):
        lifecycle.set_aside(run, node, "")


def grow(run: RunState, nodes: Sequence[int], children: Iterable[int]) -> None:
    """The DAG has got nodes; of these children some may have more parents."""
    enough, changed = run.enough, set(children)
    enough.counts.grow(run.dag, nodes, changed, run.nodes.states)
    for child in changed:
        enough.reopen(child)
    for node in nodes:
        for number in enough.counts.of.get(node, ()):
            if number in enough.reached:
                _give_up(run, number, (node,))
                break


def open_reached(run: RunState) -> bool:
    """In a dry run, in which nothing is written down: let nodes start of whose parents enough are
    done; returns whether there were any."""
    counts = run.enough.counts
    numbers = [number for number in counts.pop_touched() if counts.is_reached(number)]
    found = [counts.children[number] for number in numbers if number in counts.children]
    found = [child for child in found if child not in run.nodes.turns.opened]
    for child in found:
        run.nodes.turns.open(child)
    lifecycle.start_all(run, found)
    return bool(found)
