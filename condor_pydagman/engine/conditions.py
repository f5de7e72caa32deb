"""Nodes with a RUN_IF: when all their parents have ended, however they did, a condition decides.

The expression is evaluated outside of the engine, with what the engine knows of the parents then.
What it comes to is written into the nodes log and takes effect when it has been read back: the node
runs, is skipped, or fails since it can't be said.  An answer that was given before a person's
command changed what it was found by does not count: the condition is evaluated again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from condor_pydagman.dagfile.condition_text import PARENTS, renamed
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import lifecycle, views
from condor_pydagman.engine.condition_records import CONDITION
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.node_settings import categories_in_force
from condor_pydagman.engine.node_states import SKIPPED, State
from condor_pydagman.engine.state import Mode, RunState
from condor_pydagman.engine.steering_records import COMMAND
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import JournalRecord

HELPER = "conditions"
MAX_ASKED = 200  # conditions that one request has


class ConditionWanted(NamedTuple):
    """A condition that is to be evaluated.

    Attributes:
        number: of the request, which its answer is to have.
        expression: the ClassAd expression; of the names in it, those of `ad` have a value.
        ad: a ClassAd, as text.
        shown: parts of the expression, as people know them, and as they are in it.
    """

    node: int
    number: int
    expression: str
    ad: str
    shown: tuple[tuple[str, str], ...] = ()


class EvaluateConditions(NamedTuple):
    """Evaluate conditions.  Answered by ConditionsEvaluated, all of them, in one or several."""

    wanted: tuple[ConditionWanted, ...]


class ConditionResult(NamedTuple):
    """What a condition comes to: 1 for true, 0 for false, -1 if that can't be said.

    `text` says by which values, or why not; `number` is that of ConditionWanted.
    """

    node: int
    number: int
    value: int
    text: str


class ConditionsEvaluated(NamedTuple):
    """Answer to EvaluateConditions, or a part of it."""

    results: Sequence[ConditionResult]


# Ask.


def ask_if_due(run: RunState) -> None:
    """Have the conditions evaluated of nodes whose parents have all ended."""
    turns = run.nodes.turns
    for node in turns.changed:
        run.written.drop(CONDITION, node)  # what it was found by has changed
    if not turns.changed or run.is_over or run.starts_nothing or not run.provisioner.ready:
        return
    changed = turns.pop_changed()
    due = [node for node in changed if _is_due(run, node) and not run.is_closed_to(node)]
    if run.mode is Mode.DRY_RUN:  # nothing is known of parents that have not run
        for node in due:
            _start(run, node)
        return
    counted: dict[str, str] = {}
    for begin in range(0, len(due), MAX_ASKED):
        wanted = tuple(_wanted(run, node, counted) for node in due[begin : begin + MAX_ASKED])
        run.emit(do.Ask(HELPER, EvaluateConditions(wanted)))


def _is_open(run: RunState, node: int) -> bool:
    """Whether all parents of the node have ended, and nothing has been decided."""
    turns = run.nodes.turns
    waits = run.nodes.states[node] == State.WAITING and node not in turns.opened
    return waits and not turns.unfinished[node]


def _is_due(run: RunState, node: int) -> bool:
    return node in run.dag.conditions and _is_open(run, node) and node not in run.conditions.unread


def under_way(run: RunState) -> bool:
    """Whether the DAG goes on because of a condition, though no node runs."""
    conditions = run.conditions
    if not conditions:
        return False
    if conditions.asked or conditions.unread:
        return True
    if not run.provisioner.ready:  # it may never be
        return False
    return any(_is_due(run, node) for node in run.nodes.turns.changed)


# What a condition is evaluated with.


def _wanted(run: RunState, node: int, counted: dict[str, str]) -> ConditionWanted:
    """The expression with short names in place of those of nodes, which ClassAds would take for
    equal if they differ in upper and lower case only; and the ad in which these have values.

    `counted`: the categories whose nodes have been counted, which takes long.
    """
    short: dict[tuple[str, str], str] = {}
    expression, values, counts = renamed(
        run.dag.conditions[node].expression,
        lambda one: short.setdefault((one.what, one.name), f"n{len(short)}"),
    )
    parents = categories = ""
    for (what, name), to in short.items():
        if what == PARENTS:
            parents += f"{to}=[{_facts(run, run.dag.ids[name])}];"
        else:
            if name not in counted:
                counted[name] = _category(run, name)
            categories += f"{to}=[{counted[name]}];"
    ad = (
        f"[Parents=[{parents}];Category=[{categories}];"
        f"{_counts(run, run.nodes.turns.parents[node])};"
        f"Retries={run.nodes.retries.get(node, 0)}]"
    )
    shown = tuple(dict.fromkeys((*values, *zip(counts, counts))))
    return ConditionWanted(node, run.conditions.ask(node), expression, ad, shown)


def _facts(run: RunState, node: int) -> str:
    """What a condition can ask of a parent."""
    how = views.outcome(run, node)
    told = views.known_of(run, node) if how in ("DONE", "FAILED") else ""
    return f'{told}{";" * bool(told)}Outcome="{how}"'


def _counts(run: RunState, nodes: tuple[int, ...]) -> str:
    done = failed = skipped = futile = 0
    states, marks = run.nodes.states, run.nodes.marks
    for node in nodes:
        state = states[node]
        if marks[node] & SKIPPED:
            skipped += 1
        elif state == State.DONE:
            done += 1
        elif state == State.FAILED:
            failed += 1
        elif state == State.FUTILE:
            futile += 1
    return f"Done={done};Failed={failed};Skipped={skipped};Futile={futile};Total={len(nodes)}"


def _category(run: RunState, name: str) -> str:
    categories = categories_in_force(run.dag.categories, run.steering.settings)
    return _counts(run, tuple(node for node, one in categories.items() if one == name))


# The answer, and the record of it.


def on_evaluated(run: RunState, answer: ConditionsEvaluated) -> None:
    """What conditions have come to."""
    for node, number, value, text in answer.results:
        if not run.conditions.answered(node, number) or not _is_due(run, node):
            continue
        if run.written.of(COMMAND):  # what it was found by may be about to change
            run.nodes.turns.close(node)
            continue
        retry = run.nodes.retries.get(node, 0)
        record = do.AppendJournalRecord(JournalRecord.CONDITION, node, retry, value, text=text)
        run.write(CONDITION, node, record)


def on_record(run: RunState, node: int, event: LogEvent) -> None:
    """What the node's condition has come to has been read: it decides."""
    condition = run.dag.conditions.get(node)
    if condition is None or not _is_open(run, node):
        return
    run.conditions.decided(node, event.text)
    name, by = run.dag.names[node], f": {event.text}" if event.text else ""
    said = f"RUN_IF {condition.expression}"
    if event.value == 1:
        run.say(f"Node {name} is to run, since {said} is true{by}")
        _start(run, node)
    elif event.value == 0:
        run.say(f"Node {name} is skipped, since {said} is false{by}")
        lifecycle.skip(run, [node])
    else:
        place = run.dag.places.of_condition(node)
        where = f" at {place}" if place else ""
        lifecycle.fail(run, node, f"{said}{where} can't be evaluated{by}")


def _start(run: RunState, node: int) -> None:
    run.nodes.turns.open(node)
    lifecycle.start_all(run, [node])


REPLIES: dict[type, Any] = {ConditionsEvaluated: on_evaluated}
