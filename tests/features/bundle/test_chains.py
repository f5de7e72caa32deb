"""CHAINS: nodes that run behind others in one bundle."""

from __future__ import annotations

import pytest

from condor_pydagman.engine import actions as do
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.node_states import State
from condor_pydagman.features.bundle.apart import why_apart
from condor_pydagman.features.bundle.chains import Chains, Room
from condor_pydagman.features.bundle.messages import Collect, Collected, Look, LookAt
from condor_pydagman.features.growth.piece import PieceText
from condor_pydagman.features.growth.run import PieceOffered
from condor_pydagman.graph.building import BuildOptions
from tests import make
from tests.features.bundle.bundled import (
    begun,
    settled,
    states,
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


def test_a_node_of_a_chain_gets_no_other_parent() -> None:
    """It would run before that one in its bundle, and the log would tell that it had."""
    harness = settled(CHAIN)
    text = PieceText("p", {"p": "JOB X x\nPARENT X CHILD C\n"}, BuildOptions())
    harness.tell(PieceOffered(1, piece_of(harness.dag, text, "f" * 32), "ann"))
    (answer,) = harness.asked(do.Grown)
    assert answer.error.startswith("node C can't get another parent now: it is in bundle 1 with")


def test_a_chain_keeps_one_place_of_its_category() -> None:
    text = f"{CHAIN}\nCATEGORY ALL_NODES x\nMAXJOBS x 1"
    harness = settled(text, is_live=True)
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


def test_each_node_is_looked_at_once_however_many_ways_lead_to_it() -> None:
    """Of layers that wait for all of the one before there are more ways than can be walked."""
    layers = [" ".join(f"N{layer}x{number}" for number in range(4)) for layer in range(40)]
    edges = [f"{above} -> {below}" for above, below in zip(layers, layers[1:])]
    text = "; ".join([*layers, *edges]) + "\nBUNDLE b CHAINS ALL_NODES"
    harness = begun(text)
    kinds = harness.bundles.waiting.kinds
    (look,) = harness.ever(LookAt)
    assert sorted(one.node for one in look.followers) == list(range(4, 160))
    for node in range(4, 160):
        kinds.found_follower(Look(node, "k"))
    assert kinds.followers_to_look_at([0]) == []


@pytest.mark.parametrize(("number", "joins"), [(500, True), (501, False)])
def test_a_node_with_very_many_parents_joins_none(number: int, joins: bool) -> None:
    names = " ".join(f"N{one}" for one in range(number))
    dag = make.dag(f"{names}; E; {names} -> E")
    why = why_apart(dag, dag.ids["E"])
    assert why == ("" if joins else "it waits for more than 500 nodes")
