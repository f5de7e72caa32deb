"""Commands for single nodes: which fit which states, which nodes they are for, and what is set.
What they do is in `steering.scene`."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from condor_pydagman.engine import actions as do
from condor_pydagman.engine.node_settings import (
    MAX_BYTES,
    NodeSettings,
    categories_in_force,
    retry_in_force,
    variables_in_force,
)
from condor_pydagman.engine.node_states import Cause, State, shown
from condor_pydagman.engine.nodes import Nodes
from condor_pydagman.engine.state import RunState
from condor_pydagman.feature_table import part
from condor_pydagman.features.common import rerun
from condor_pydagman.features.steering.preconditions import Words, obstacle, read_text, record_text
from condor_pydagman.features.steering.run import DagSteered, NodesSteered
from condor_pydagman.features.steering.selection import SelectionError, chosen
from condor_pydagman.features.steering.settings_text import (
    read_settings,
    recorded_bytes,
    settings_text,
)
from condor_pydagman.features.steering.settings_text import shown as shown_settings
from condor_pydagman.features.steering.steer_commands import NodeCommand
from condor_pydagman.features.timeout.commands import Timeout
from condor_pydagman.features.timeout.run import timeout_in_force
from condor_pydagman.graph.model import Retry, Variable
from condor_pydagman.vocabulary import (
    STATE_WORDS,
    NodeStatus,
)
from tests import make
from tests.unit.engine.steered import steered

C = NodeCommand


# What may be asked of a node in which state, and the text of a record.


S = State
BUSY = {S.PRE_RUN, S.PRE_UNCONFIRMED, S.SUBMITTING, S.UNKNOWN, S.SUBMIT_UNCONFIRMED, S.SUBMITTED}
BUSY |= {S.POST_WAIT, S.POST_RUN, S.POST_UNCONFIRMED, S.RESULT, S.GROWING}
WAITS = {S.WAITING, S.PRE_WAIT, S.READY, S.RETRY_WAIT}
ALLOWED = {
    (C.CANCEL, ""): BUSY | WAITS,
    (C.CANCEL, "retry"): {S.SUBMITTED},
    (C.HOLD, ""): {S.SUBMITTED},
    (C.RELEASE, ""): {S.SUBMITTED},
    (C.RERUN, ""): {S.DONE, S.FAILED},
    (C.DONE, ""): WAITS | {S.FAILED},
    (C.SKIP, ""): WAITS,
    (C.REMATCH, ""): set(State),  # its group's state counts
    (C.SET, '{"priority":1}'): WAITS | {S.DONE, S.FAILED, S.FUTILE},
}


def test_every_command_is_in_the_table() -> None:
    assert {command for command, _ in ALLOWED} == set(NodeCommand)


@pytest.mark.parametrize(("asked", "state"), list(itertools.product(ALLOWED, State)))
def test_commands_and_states(asked: tuple[NodeCommand, str], state: State) -> None:
    why = obstacle(asked[0], state, asked[1])
    assert bool(why) == (state not in ALLOWED[asked]), why
    assert (
        not why or shown(state) in why or "already" in why or "ancestor" in why or "it has" in why
    )


@pytest.mark.parametrize("words", [Words("ann", C.CANCEL, "retry begun"), Words("b@c", C.SKIP)])
def test_a_text_is_read_back(words: Words) -> None:
    assert read_text(record_text(words)) == words


@pytest.mark.parametrize("text", ["", "ann", "ann teleport", "cancel"])
def test_other_texts_are_not_known(text: str) -> None:
    assert read_text(text) is None


# Which nodes a person means.


@pytest.fixture
def nodes() -> Nodes:
    found = Nodes(make.dag("align_1 align_2; sum\nCATEGORY align_1 big"))
    found.move(2, Cause.MARKED_DONE, 0.0)
    return found


def test_by_each_kind(nodes: Nodes) -> None:
    assert chosen(nodes, "names", ("sum", "align_1", "sum"), nodes.dag.categories) == [2, 0]
    assert chosen(nodes, "pattern", "align_*", nodes.dag.categories) == [0, 1]
    assert chosen(nodes, "state", "done", nodes.dag.categories) == [2]
    assert chosen(nodes, "state", "failed", nodes.dag.categories) == []
    assert chosen(nodes, "category", "big", nodes.dag.categories) == [0]


@pytest.mark.parametrize(
    ("kind", "value", "words"),
    [
        ("names", ("aling_1",), "no node 'aling_1'; did you mean align_1"),
        ("names", ("x" * 100_000,), "; `add` adds what the DAG files have got since"),
        ("pattern", "b*", "no node's name matches 'b*'"),
        ("pattern", "?" * 100_000, "at most 1000 characters"),
        ("state", "dead", "no state 'dead'; the states are waiting"),
        ("category", "small", "no node has the category 'small'; those with nodes are big"),
    ],
)
def test_what_is_not_there(nodes: Nodes, kind: str, value: Any, words: str) -> None:
    with pytest.raises(SelectionError) as error:
        chosen(nodes, kind, value, nodes.dag.categories)
    assert words in str(error.value)


def test_a_misspelt_name_is_found_among_many() -> None:
    many = Nodes(make.dag("; ".join(f"step{number}" for number in range(300))))
    for name in ("stpe299", "step29g", "tep299", "step2999"):
        with pytest.raises(SelectionError, match="did you mean step29"):
            chosen(many, "names", (name,), {})


def test_what_this_python_takes_for_no_pattern(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python 3.9 makes this of [[-!], which newer ones match."""
    monkeypatch.setattr("fnmatch.translate", lambda _: r"[\[-!]")
    with pytest.raises(SelectionError, match="is no pattern: bad character range"):
        chosen(nodes, "pattern", "[[-!]", nodes.dag.categories)


def test_each_state_has_a_word() -> None:
    assert set(STATE_WORDS.values()) == set(NodeStatus)


# What a person sets for nodes that have not begun.


def test_what_is_set_and_what_is_too_long() -> None:
    harness = steered("A; B\nCATEGORY A a\nMAXJOBS a 1")
    long = settings_text(NodeSettings(variables=(("x", "1" * MAX_BYTES),)))
    assert "set fewer at once" in harness.refusal(C.SET, "B", long)
    harness.ask(C.SET, "B", settings_text(NodeSettings(category="a")))
    assert harness.engine.feature("steering").chosen("category", "a") == [0, 1]


def test_a_setting_of_a_later_version_is_passed_over() -> None:
    harness = steered("A")
    harness.tell(make.record("STEERED", "A")._replace(text='ann set {"color":"red"}'))
    assert harness.said("is not known to this version")


# What a person sets for nodes: its text in the nodes log, and what is in force then.


_NUMBERS = some.none() | some.integers(0, 9)


@given(
    some.builds(
        NodeSettings,
        priority=some.none() | some.integers(-5, 5),
        retries=_NUMBERS,
        timeout=some.none() | some.tuples(_NUMBERS, _NUMBERS, _NUMBERS),
        category=some.none() | some.text(min_size=1),
        variables=some.lists(some.tuples(some.text(), some.text())).map(tuple),
    )
)
def test_it_is_read_back(settings: NodeSettings) -> None:
    text = settings_text(settings)
    assert text.isascii()
    assert text.isprintable()
    assert read_settings(text) == settings


@pytest.mark.parametrize("text", ["", "{", "[]", "7", '{"color":"red"}', '{"timeout":5}', "null"])
def test_what_a_later_version_says_is_not_read(text: str) -> None:
    assert read_settings(text) is None


def test_what_is_set_later_goes_before() -> None:
    first = NodeSettings(1, 2, (3, None, 5), "a", (("x", "1"), ("y", "2")))
    later = NodeSettings(retries=0, timeout=(None, 4, 0), variables=(("y", "3"), ("z", "4")))
    pairs = (("x", "1"), ("y", "3"), ("z", "4"))
    assert first.merged(later) == NodeSettings(1, 0, (3, 4, 0), "a", pairs)
    assert first.merged(NodeSettings()) == first


def test_what_is_in_force() -> None:
    settings = NodeSettings(retries=0, timeout=(None, 4, 0), category="b")
    assert retry_in_force(Retry(3, delay=7), settings) == Retry(0, delay=7)
    assert retry_in_force(None, NodeSettings()) is None
    assert timeout_in_force(Timeout(1, 2, 3), settings) == Timeout(1, 4, 0)
    assert timeout_in_force(Timeout(1), None) == Timeout(1)
    assert categories_in_force({0: "a", 1: "a"}, {1: settings}) == {0: "a", 1: "b"}
    variables = variables_in_force([Variable("k", "old", True)], [("k", "new"), ("l", "2")])
    assert variables == (Variable("k", "new", True), Variable("l", "2", False))


def test_values_of_vars_are_not_shown() -> None:
    settings = NodeSettings(5, 0, (60, None, None), "big", (("password", "secret"),))
    assert shown_settings(settings) == (
        "priority 5, retries 0, category big, timeout queued 60 s, VARS password"
    )


def test_bytes_of_the_log_are_counted_with_escapes() -> None:
    assert recorded_bytes("ä", 'x"\\') == 2 + 3 + 2


# Nodes that have ended run anew: what is taken back, and what is in the way.


@pytest.mark.parametrize("end", ["", "the last has not ended"])
def test_of_many_nodes_each_is_looked_at_once(end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A chain of 2,000 would take seconds, in which nothing else is done."""
    length = 50
    harness = steered(" -> ".join(f"N{number}" for number in range(length)) + "; D")
    harness.take("D", 99)
    for number in range(length - 1):
        harness.run_node(f"N{number}", number + 1)
    if end:
        harness.take(f"N{length - 1}", length)
    else:
        harness.run_node(f"N{length - 1}", length)
    looks: list[int] = []
    released = rerun._released

    def counted(run: RunState, node: int) -> Iterable[int]:
        looks.append(node)
        return released(run, node)

    monkeypatch.setattr(rerun, "_released", counted)
    wanted = NodesSteered(0, C.RERUN, range(length - 1), "ann", "descendants")
    refused = harness.engine.feature("steering").refused(wanted)
    assert len(looks) <= 2 * length
    assert len(refused) == (length - 1 if end else 0)
    assert all(f"its descendant N{length - 1} has not ended" in why for _, why in refused)
    assert end or len(harness.engine.feature("steering").descending(wanted, [])) == length


def test_what_is_asked_of_the_whole_dag_is_journaled_and_obeyed_by_others() -> None:
    harness = make.EngineHarness("A", make.QUIET).begin()
    part("steering", "run")
    harness.tell(DagSteered("ann", "halt reason tea"))
    (record,) = harness.asked(do.AppendJournalRecord)
    assert (record.record, record.text) == ("DAG_STEERED", "ann halt reason tea")
    harness.tell(*make.appended(harness.dag, record))
    assert not harness.engine.report().halts.halted
    assert not harness.engine.run.written.awaited


@pytest.mark.parametrize(("value", "is_in_force"), [(2**31 - 1, True), (2**31, False)])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_record_with_a_priority_that_no_command_takes(
    value: int, sign: int, is_in_force: bool
) -> None:
    harness = make.EngineHarness("A", make.QUIET).begin()
    record = make.record("DAG_STEERED", "", value=9)._replace(
        text=f"x priority value {sign * value}"
    )
    harness.tell(record)
    assert harness.engine.run.dag_priority == (sign * value if is_in_force else 0)
    assert harness.said("is not obeyed: it is not a whole number from -2147483647") != is_in_force
