"""CACHE: what is asked about nodes, and what a log or a rescue file says of them.  Which nodes run
again is in `cache.scene`."""

from __future__ import annotations

import pytest

from condor_pydagman.engine import inputs
from condor_pydagman.engine.engine import Engine
from condor_pydagman.engine.node_states import SKIPPED, Cause, State
from condor_pydagman.engine.state import Mode
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.features.cache.commands import Cache, cached_of
from condor_pydagman.features.cache.result_sums import CHANGED
from condor_pydagman.features.cache.run import LookUpCached
from condor_pydagman.graph.model import DONE, USER_DONE
from tests import make
from tests.features.cache.cached import Store, all_cached, caching
from tests.make import QUIET


def ran(text: str, store: Store) -> str:
    """The nodes that a whole run of a DAG submits."""
    return " ".join(caching(all_cached(text), store).run_all())


def test_many_nodes_on_both_sides_of_a_line_are_no_other_thing_than_single_lines() -> None:
    store = Store()
    ran("A B -> C D", store)
    assert ran("A -> C; B -> C; A -> D; B -> D", store) == ""


def test_a_submission_that_was_not_decided_is_believed() -> None:
    dag = make.EngineHarness(all_cached("A -> B"), QUIET)
    dag.log = [make.submit("A", 5), make.terminated(5)]
    again = dag.restart()
    assert again.states() == "A=DONE B=WAITING"
    (action,) = again.asked(LookUpCached)
    assert action.wanted[0][2:4] == ("", "what its parent A has made is not known")


def test_it_waits_all_the_same_for_what_else_holds_the_node_back() -> None:
    """The end of the log is lost, and with it which site the node's group had."""
    dag = make.EngineHarness(all_cached("A\nSITE_GROUP g NODES A"), QUIET).restart()
    dag.tell(inputs.QueueListed((inputs.QueuedJob(1, 0, "A", 0),)))
    assert dag.states() == "A=WAITING"
    dag.tell(make.record("SITE_MATCHED", "A", value=1)._replace(text="ad s"))
    assert dag.states() == "A=SUBMITTED"


@pytest.mark.parametrize(("flags", "runs"), [(DONE, False), (DONE | USER_DONE, True)])
def test_a_parent_that_a_rescue_file_calls_done_has_what_it_last_made(
    flags: int, runs: bool
) -> None:
    store = Store()
    ran("A -> B", store)
    of = all_cached("A -> B")
    of.flags[of.ids["A"]] |= flags
    dag = caching(of, store)
    assert dag.state("B") == (State.SUBMITTING if runs else State.DONE)


def test_many_nodes_are_told_of_in_one_line() -> None:
    store = Store()
    text = " ".join(f"N{number};" for number in range(500)) + "Z"
    dag = caching(all_cached(text), store)
    assert [len(action.wanted) for action in dag.ever(LookUpCached)] == [200, 200, 101]
    assert dag.said("CACHE: of 501 nodes each is to run: it has never been done (N0 N1 ")
    assert not dag.said("CACHE: node N3 ")


def test_a_dag_without_it_has_none() -> None:
    dag = make.harness_of("A -> B", QUIET)
    assert "cache" not in dag.engine.run.features
    assert cached_of(make.dag("A\nCACHE A")) == {0: Cache(0, "", named=True)}


# Questions about nodes with a CACHE command.


def engine(mode: Mode = Mode.RUN) -> Engine:
    return Engine(
        all_cached("A -> B; X", but="X"), QUIET, Throttles(), mode=mode, given={"cache": {"A": "r"}}
    )


def test_what_is_asked_about_a_node_without_parents() -> None:
    (action,) = make.EngineHarness(all_cached("A -> B"), QUIET).begin().asked(LookUpCached)
    assert action.wanted == ((0, 1, f"{0:032x}", CHANGED, False),)


def test_which_nodes_are_looked_up_first() -> None:
    cache = engine().run.features["cache"]
    assert [cache.seen_to_run(node) for node in range(3)] == [True, False, False]
    assert [cache.holds_back(node, ready=False) for node in range(3)] == [False, True, False]
    assert not engine(Mode.DRY_RUN).run.features["cache"].holds_back(0, ready=False)


@pytest.mark.parametrize(("flags", "result"), [(DONE, "r"), (DONE | USER_DONE, ""), (0, "")])
def test_what_a_node_has_made(flags: int, result: str) -> None:
    run = engine().run
    result_of = run.features["cache"].result_of
    assert result_of(0) == ""
    run.nodes.move(0, Cause.MARKED_DONE, 0.0)
    run.dag.flags[0] |= flags
    assert result_of(0) == result
    run.nodes.mark(0, SKIPPED)
    assert result_of(0) == "skipped r"
    run.nodes.move(2, Cause.MARKED_DONE, 0.0)
    assert result_of(2) == ""
