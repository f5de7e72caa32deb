"""CHAINS: nodes that run behind others in one bundle."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.node_settings import NodeSettings
from condor_pydagman.engine.node_states import State
from condor_pydagman.engine.views import node_reports
from condor_pydagman.features.bundle.chains import Chains, Room, why_apart
from condor_pydagman.features.bundle.messages import Collect, Collected, LookAt, Prepare
from condor_pydagman.features.growth.piece import PieceText
from condor_pydagman.features.growth.run import PieceOffered
from condor_pydagman.features.steering.run import NodesSteered
from condor_pydagman.features.steering.settings_text import settings_text
from condor_pydagman.features.steering.steer_commands import NodeCommand
from condor_pydagman.graph.building import BuildOptions
from condor_pydagman.vocabulary import NodeStatus
from tests import make
from tests.features.bundle.bundled import (
    BundledDag,
    begun,
    bundled,
    settled,
    states,
    submitted,
    unbundled,
)
from tests.pieces import piece_of

CHAIN = "A; B; C; A -> B; B -> C\nBUNDLE b CHAINS ALL_NODES"
LONG = 100
WIDE = Room(LONG)


def followed(text: str, heads: str, room: Room = WIDE, done: str = "", apart: str = "") -> str:
    """The nodes of a bundle with these heads, in their order."""
    dag = make.dag(text)
    chains = Chains(
        dag,
        room,
        lambda node: dag.names[node] not in apart,
        lambda node: dag.names[node] in done,
    )
    return "".join(dag.names[n] for n in chains.with_followers(dag.ids[one] for one in heads))


@pytest.mark.parametrize(
    ("text", "heads", "found"),
    [
        ("A; B; C; A -> B; B -> C", "A", "ABC"),
        ("A B; C D; A -> C; B -> D", "AB", "ACBD"),  # one chain after the other
        ("A B; C; D; A B -> C; C -> D", "AB", "ABCD"),  # two that meet
        ("A B; C; A B -> C", "A", "A"),  # one of its parents is elsewhere
        ("A; B C; A -> B C", "A", "A"),  # free slots would run both at once
        ("A; B C; D; A -> B C; B C -> D", "A", "A"),
    ],
)
def test_who_follows(text: str, heads: str, found: str) -> None:
    assert followed(text, heads) == found


def test_those_that_are_done_need_not_be_in_the_bundle() -> None:
    assert followed("A B; C; A B -> C", "A", done="B") == "AC"


def test_who_may_not_join_ends_the_chain() -> None:
    assert followed("A; B; C; A -> B; B -> C", "A", apart="B") == "A"


@pytest.mark.parametrize(
    ("room", "found"),
    [
        (Room(LONG, 2), "ABCD"),  # as many as run side by side
        (Room(LONG, 1, 0.1), "ABCD"),  # sooner than by a job's start for each step
        (Room(LONG, 1, 2.0), "A"),
        (Room(3, 2), "ABC"),
        (Room(2, 2), "A"),
    ],
)
def test_a_fan_joins_if_it_is_no_slower(room: Room, found: str) -> None:
    assert followed("A; B C; D; A -> B C; B C -> D", "A", room)[: len(found)] == found
    assert len(followed("A; B C; D; A -> B C; B C -> D", "A", room)) <= room.most


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A -> B; B -> C", "ABC"),
        ("A -> B C; X -> C", "A"),  # C would wait for the end of B as well
        ("A -> B; B -> C; A B C X -> Z", "ABC"),  # Z waits for that in any case
    ],
)
def test_nobody_waits_long_for_files_that_come_home_with_the_job(text: str, found: str) -> None:
    home = WIDE._replace(comes_home=True)
    assert followed(text, "A", home) == found
    assert followed(text, "A", home._replace(longest_s=0.3)) == followed(text, "A")
    assert followed(text, "A")[:2] == "AB"


def test_a_chain_is_cut_where_there_is_no_more_room() -> None:
    assert followed("A; B; C; A -> B; B -> C", "A", Room(2)) == "AB"


def test_a_chain_may_have_any_number_of_nodes() -> None:
    """A preview follows it to its end: in a tenth of a second, not some minutes."""
    names = [f"N{number}" for number in range(20_000)]
    edges = [f"{one} -> {two}" for one, two in zip(names, names[1:])]
    dag = make.dag("; ".join([*names, *edges]))
    chains = Chains(dag, Room(len(names)), lambda _: True, lambda _: False)
    assert chains.with_followers([0]) == list(range(len(names)))


@pytest.mark.parametrize(
    ("heads", "length", "task_s", "steps"),
    [
        (8, 20, 5.0, 0),  # a slot for each
        (9, 20, 5.0, 5),
        (9, 20, 0.0, 0),  # nothing is known of times
        (9, 20, 0.05, 0),  # all of it takes less than a job more
        (9, 20, 0.06, 5),
        (16, 4, 0.1, 0),
        (30, 4, 5.0, 3),
    ],
)
def test_chains_are_cut_if_that_wins_more_than_jobs_cost(
    heads: int, length: int, task_s: float, steps: int
) -> None:
    assert Room(LONG, task_s=task_s).cut(heads, length, slots=8).steps == steps


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("", ""),
        ("SCRIPT PRE B s", "it has a PRE script"),
        ("SCRIPT POST A s", "node A before it has a POST script"),
        ("SCRIPT POST B s", ""),
        ("ABORT-DAG-ON A 0", "node A before it ends the DAG if it returns 0"),
        ("ABORT-DAG-ON A 1", ""),
        ("SAVE_POINT_FILE B", "it has a SAVE_POINT_FILE"),
        ("RUN_IF B A.Status =?= 0", "more decides whether it runs than that"),
        ("CACHE B INPUTS x", "it has a CACHE"),
        ("EXTEND A more.dag", "the DAG may grow"),
    ],
)
def test_what_keeps_a_node_apart(line: str, why: str) -> None:
    dag = make.dag(f"A; B; A -> B\n{line}")
    found = why_apart(dag, dag.ids["B"])
    assert found.startswith(why)
    assert bool(found) == bool(why)


# In a run.


def part(names: str) -> LogEvent:
    """The record of a bundle whose job runs: which nodes it does not run any more."""
    return unbundled(1, names)._replace(retry=1)


def chained(text: str = CHAIN, **how: Any) -> BundledDag:
    harness = settled(text, **how)
    return harness


def test_a_chain_is_one_bundle() -> None:
    harness = chained()
    assert bundled(harness) == [["A", "B", "C"]]
    (prepare,) = harness.ever(Prepare)
    assert prepare.after == ((), (1,), (2,))
    (look,) = harness.ever(LookAt)
    assert [[one.node for one in some] for some in (look.nodes, look.followers)] == [[0], [1, 2]]
    assert harness.bundles.details(1) == "runs behind the nodes before it in bundle 1"
    harness.taken(1, 7)
    assert states(harness, "A", State.SUBMITTED)
    assert states(harness, "BC", State.WAITING)
    report = harness.engine.report()
    assert (report.queued, report.unready) == (1, 2)
    assert [one.status for one in node_reports(harness.engine.run)] == [
        *(NodeStatus.SUBMITTED, NodeStatus.NOT_READY, NodeStatus.NOT_READY)
    ]
    harness.same_replay()


def results(harness: BundledDag, values: Mapping[str, int]) -> None:
    """The job ends, and brings these home."""
    harness.ends(7)
    (asked,) = harness.asked(Collect)
    assert asked.behind == sum(
        harness.engine.run.nodes.states[node] == State.WAITING for node in asked.nodes
    )
    harness.home(values)


def test_all_have_ended_well() -> None:
    harness = chained()
    harness.taken(1, 7)
    results(harness, {"A": 0, "B": 0, "C": 0})
    assert states(harness, "ABC", State.DONE)
    assert harness.asked(do.Exit) == [do.Exit(0)]
    harness.same_replay()


def test_a_step_that_fails_leaves_those_behind_it_unrun() -> None:
    harness = chained(f"{CHAIN}\nRETRY B 1")
    harness.taken(1, 7)
    results(harness, {"A": 0, "B": 1})
    assert states(harness, "A", State.DONE)
    assert bundled(harness) == [["B", "C"]]  # the retry, with what follows
    harness.taken(2, 8)
    harness.same_replay()


def test_a_step_that_fails_for_good_makes_those_behind_it_futile() -> None:
    harness = chained()
    harness.taken(1, 7)
    results(harness, {"A": 0, "B": 1})
    assert states(harness, "B", State.FAILED)
    assert states(harness, "C", State.FUTILE)


def test_a_lost_job_gives_back_what_had_begun() -> None:
    harness = chained()
    harness.taken(1, 7)
    harness.ends(7, -9)
    harness.home({"A": 0}, suspects="B")
    assert states(harness, "A", State.DONE)
    assert "B" in submitted(harness)  # alone: it may be why
    assert states(harness, "C", State.WAITING)
    assert not harness.bundles.members.behind
    harness.same_replay()


def test_what_can_not_run_behind_others_after_all_is_left_out_first() -> None:
    harness = begun(CHAIN)
    harness.without = [3]
    harness.settle()
    assert [one.text for one in harness.ever(do.SubmitJob)] == ["job 1"]
    said = [one.text for one in harness.ever(do.Say) if one.text.startswith("Submitting bundle")]
    assert said == ["Submitting bundle 1 of 2 nodes: A, B"]
    assert set(harness.bundles.members.behind) == {1}
    harness.taken(1, 7)
    results(harness, {"A": 0, "B": 0})
    assert states(harness, "AB", State.DONE)
    assert "C" in submitted(harness)
    harness.same_replay()


@pytest.mark.parametrize("stop", [inputs.Halt("somebody says so"), inputs.DagRemoved()])
def test_nothing_is_submitted_that_was_stopped_when_some_had_been_left_out(stop: Any) -> None:
    harness = begun(CHAIN)
    harness.without = [3]
    (look,) = harness.asked(LookAt)
    harness.tell(*harness.answers(look))
    harness.read_back()
    (prepare,) = harness.asked(Prepare)
    left_out = harness.echo(harness.tell(*harness.answers(prepare)))
    harness.tell(stop)
    harness.happens(*left_out)
    assert not harness.ever(do.SubmitJob)


def test_released_ones_wait_for_their_parents_elsewhere() -> None:
    harness = settled("A D; B; A -> B\nBUNDLE b CHAINS SIZE 9 ALL_NODES", is_live=True)
    assert bundled(harness) == [["A", "B", "D"]]
    harness.taken(1, 7)
    harness.wait(1)
    (asked,) = harness.asked(Collect)
    assert asked.behind == 1
    harness.tell(Collected(1, "events"))
    harness.happens(part("B"))
    assert not harness.bundles.members.behind
    assert states(harness, "B", State.WAITING)
    harness.same_replay()


def test_nodes_of_a_chain_are_not_steered() -> None:
    harness = chained()
    harness.taken(1, 7)
    for node in range(3):
        assert "bundle 1" in harness.bundles.obstacle_to_steer(node)


def test_a_node_of_a_chain_gets_no_other_parent() -> None:
    """It would run before that one in its bundle, and the log would tell that it had."""
    harness = chained()
    text = PieceText("p", {"p": "JOB X x\nPARENT X CHILD C\n"}, BuildOptions())
    harness.tell(PieceOffered(1, piece_of(harness.dag, text, "f" * 32), "ann"))
    (answer,) = harness.asked(do.Grown)
    assert answer.error.startswith("node C can't get another parent now: it is in bundle 1 with")


def test_what_a_person_sets_may_keep_a_node_apart_that_was_not() -> None:
    harness = chained("A; B; A -> B\nBUNDLE b WAIT 100 CHAINS ALL_NODES")
    for names, wanted in (("B", NodeSettings(timeout=(9, None, None))), ("AB", NodeSettings(3))):
        nodes = [harness.dag.ids[name] for name in names]
        harness.happens(NodesSteered(1, NodeCommand.SET, nodes, "ann", settings_text(wanted)))
    harness.wait(101)
    harness.settle()
    assert harness.submits() == ["A"]
    assert not harness.ever(Prepare)


def test_a_chain_keeps_one_place_of_its_category() -> None:
    text = f"{CHAIN}\nCATEGORY ALL_NODES x\nMAXJOBS x 1"
    harness = chained(text, is_live=True)
    harness.taken(1, 7)
    assert harness.engine.run.categories.free(0) == 0
    harness.wait(1)
    (asked,) = harness.asked(Collect)
    harness.tell(Collected(1, "events"))
    harness.happens(*harness.told(asked, {"A": 0})[:-1], part(""))
    assert states(harness, "A", State.DONE)
    assert states(harness, "B", State.SUBMITTED)
    assert harness.engine.run.categories.free(1) == 0
    harness.same_replay()


def test_without_chains_nobody_follows() -> None:
    harness = chained(CHAIN.replace(" CHAINS", ""))
    assert not bundled(harness)
    assert submitted(harness) == ["A"]
    (look,) = harness.ever(LookAt)
    assert not look.followers


def test_each_node_is_looked_at_once_however_many_ways_lead_to_it() -> None:
    """Of layers that wait for all of the one before there are more ways than can be walked."""
    layers = [" ".join(f"N{layer}x{number}" for number in range(4)) for layer in range(40)]
    edges = [f"{above} -> {below}" for above, below in zip(layers, layers[1:])]
    text = "; ".join([*layers, *edges]) + "\nBUNDLE b CHAINS ALL_NODES"
    harness = begun(text)
    followers = harness.bundles.waiting.followers
    (look,) = harness.ever(LookAt)
    assert sorted(one.node for one in look.followers) == list(range(4, 160))
    for node in range(4, 160):
        followers.seen(node, "k")
    assert followers.to_look_at([0]) == []


@pytest.mark.parametrize(("number", "joins"), [(500, True), (501, False)])
def test_a_node_with_very_many_parents_joins_none(number: int, joins: bool) -> None:
    names = " ".join(f"N{one}" for one in range(number))
    dag = make.dag(f"{names}; E; {names} -> E")
    why = why_apart(dag, dag.ids["E"])
    assert why == ("" if joins else "it waits for more than 500 nodes")
