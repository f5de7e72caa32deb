"""Nodes with a RUN_IF: when all their parents have ended, however they did, a condition decides.

The expression is evaluated outside of the engine, with what the engine knows of the parents then.
What it comes to is written into the nodes log and takes effect when it has been read back: the node
runs, is skipped, or fails since it can't be said.  An answer that was given before a person's
command changed what it was found by does not count: the condition is evaluated again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from condor_pydagman.dagfile.condition_text import PARENTS, Reference, references, renamed
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import lifecycle, views
from condor_pydagman.engine.inputs import ConditionsEvaluated, LogEvent
from condor_pydagman.engine.node_settings import categories_in_force
from condor_pydagman.engine.node_states import State
from condor_pydagman.engine.run_records import CONFIRM_TIMEOUT_S
from condor_pydagman.engine.state import Mode, RunState
from condor_pydagman.vocabulary import JournalRecord

MAX_ASKED = 200  # conditions that one request has
_COUNTED = {State.DONE: "Done", State.FAILED: "Failed", State.FUTILE: "Futile"}
_COUNTS = ("Done", "Failed", "Skipped", "Futile")
_COUNT_WORD = re.compile(
    r'"(?:[^"\\]|\\.)*"'  # nothing in a text counts
    r"|(?<![\w.'])(Done|Failed|Skipped|Futile|Total)(?![\w.'])",
    re.IGNORECASE,
)


# Ask.


def ask_if_due(run: RunState) -> None:
    """Have the conditions evaluated of nodes whose parents have all ended."""
    conditions, turns = run.conditions, run.nodes.turns
    for node in turns.changed:
        conditions.unread.drop(node)  # what it was found by has changed
    for node, records in conditions.unread.overdue(run.now):
        conditions.unread.drop(node)
        if _is_open(run, node):
            _write(run, node, records)
    if not turns.changed or run.is_over or run.starts_nothing or not run.provisioner.ready:
        return
    changed = turns.pop_changed()
    due = [node for node in changed if _is_due(run, node) and not run.is_closed_to(node)]
    if run.mode is Mode.DRY_RUN:  # nothing is known of parents that have not run
        for node in due:
            _start(run, node)
        return
    for begin in range(0, len(due), MAX_ASKED):
        wanted = tuple(_wanted(run, node) for node in due[begin : begin + MAX_ASKED])
        run.emit(do.EvaluateConditions(wanted))


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


def next_time(run: RunState) -> float | None:
    """When a result is to be written once more."""
    return run.conditions.unread.next_time()


# What a condition is evaluated with.


def _wanted(run: RunState, node: int) -> do.ConditionWanted:
    """The expression with short names in place of those of nodes, which ClassAds would take for
    equal if they differ in upper and lower case only; and the ad in which these have values."""
    text = run.dag.conditions[node].expression
    parents: dict[str, str] = {}
    categories: dict[str, str] = {}

    def short(one: Reference) -> str:
        names = parents if one.what == PARENTS else categories
        return names.setdefault(one.name, f"n{len(names)}")

    expression = renamed(text, short)
    shown = [
        (text[one.start : one.stop], expression[other.start : other.stop])
        for one, other in zip(references(text), references(expression))
        if one.key
    ]
    shown += [(word, word) for word in _COUNT_WORD.findall(text) if word]
    ad = [
        "[",
        _ad("Parents", ((to, _facts(run, run.dag.ids[name])) for name, to in parents.items())),
        _ad("Category", ((to, _category(run, name)) for name, to in categories.items())),
        _counts(run, run.nodes.turns.parents[node]),
        f"Retries={run.nodes.retries.get(node, 0)}]",
    ]
    number = run.conditions.ask(node)
    return do.ConditionWanted(node, number, expression, "".join(ad), tuple(dict.fromkeys(shown)))


def _ad(name: str, members: Iterator[tuple[str, str]]) -> str:
    return f"{name}=[{''.join(f'{to}=[{facts}];' for to, facts in members)}];"


def _facts(run: RunState, node: int) -> str:
    """What a condition can ask of a parent."""
    how = views.outcome(run, node)
    told = views.known_of(run, node) if how in ("DONE", "FAILED") else ""
    return f'{told}{";" * bool(told)}Outcome="{how}"'


def _counts(run: RunState, nodes: tuple[int, ...]) -> str:
    found = dict.fromkeys(_COUNTS, 0)
    states, skipped = run.nodes.states, run.conditions.skipped
    for node in nodes:
        state = states[node]
        if node in skipped:
            found["Skipped"] += 1
        elif state in _COUNTED:
            found[_COUNTED[State(state)]] += 1
    return "".join(f"{name}={count};" for name, count in found.items()) + f"Total={len(nodes)};"


def _category(run: RunState, name: str) -> str:
    categories = categories_in_force(run.dag.categories, run.steering.settings)
    return _counts(run, tuple(node for node, one in categories.items() if one == name))


# The answer, and the record of it.


def on_evaluated(run: RunState, answer: ConditionsEvaluated) -> None:
    """What conditions have come to."""
    for node, number, value, text in answer.results:
        if not run.conditions.answered(node, number) or not _is_due(run, node):
            continue
        if run.steering.awaited:  # what it was found by may be about to change
            run.nodes.turns.close(node)
            continue
        retry = run.nodes.retries.get(node, 0)
        record = do.AppendJournalRecord(JournalRecord.CONDITION, node, retry, value, text=text)
        _write(run, node, (record,))


def _write(run: RunState, node: int, records: tuple[do.AppendJournalRecord, ...]) -> None:
    run.conditions.unread.add(node, run.now + CONFIRM_TIMEOUT_S, records)
    for record in records:
        run.emit(record)


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
