"""ENOUGH: what an earlier run did not need, and what a rescue file tells.  When it is reached, and
what becomes of the rest, is in `enough.scene`."""

from __future__ import annotations

from condor_pydagman.engine import actions as do
from condor_pydagman.engine.node_states import State
from condor_pydagman.features.enough.commands import Enough, EnoughsOfDag
from condor_pydagman.features.enough.counts import FOLLOWS, EnoughCounts
from tests import make
from tests.make import QUIET


def test_an_earlier_run_did_not_need_it() -> None:
    dag = make.dag("""
        A B C; C -> X; A C -> Y
        ENOUGH ALL_NODES 2
        DONE A
        DONE B
        DONE C
    """)
    EnoughsOfDag.put(dag).not_needed[dag.ids["C"]] = None
    harness = make.EngineHarness(dag, QUIET).begin()
    harness.read_back()
    not_needed = [one.name for one in harness.engine.node_reports() if one.not_needed]
    assert not_needed == ["C", "X", "Y"]
    assert [one.code for one in harness.ever(do.Exit)] == [0]


def test_a_rescue_file_tells_what_a_condition_could_ask_of_the_parents() -> None:
    harness = make.harness_of("A B C D -> M\nENOUGH PARENTS M 3", QUIET)
    harness.run_node("A", 1)
    first, *others = [one.rescue_lines for one in harness.engine.node_reports()]
    assert first == ("NODE_RESULT A [ ExitCode = 0; Retries = 0 ]",)
    assert set(others) == {()}


# When what is left of the parents can't be enough any more.


def counts(enough: Enough) -> EnoughCounts:
    dag = make.dag("""
        A B C D -> M
        CATEGORY A c
        CATEGORY B c
        CATEGORY C c
        CATEGORY D c
    """)
    EnoughsOfDag.put(dag).enoughs = [enough]
    if enough.members == "PARENTS":
        EnoughsOfDag.put(dag).enough_of[dag.ids[enough.name]] = 0
    return EnoughCounts(dag)


def test_when_enough_parents_can_not_be_done_any_more() -> None:
    found = counts(Enough(0, "PARENTS", "M", 3))
    found.moved(0, State.WAITING, State.FAILED)
    assert not found.pop_hopeless()
    found.moved(1, State.WAITING, State.FUTILE)
    assert found.pop_hopeless() == [4]
    assert not found.pop_hopeless()
    found.doubt()
    assert found.pop_hopeless() == [4]


def test_nodes_not_needed_can_not_be_waited_for() -> None:
    found = counts(Enough(0, "PARENTS", "M", 3))
    found.moved(0, State.WAITING, State.FAILED)
    assert not found.pop_hopeless()
    found.mark(1, FOLLOWS)
    found.moved(1, State.WAITING, State.DONE)
    assert found.pop_hopeless() == [4]
