"""CACHE: which nodes run again, what is asked about them, and that a replay comes to the same."""

from __future__ import annotations

import pytest

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.engine import Engine
from condor_pydagman.engine.node_states import SKIPPED, Cause, State
from condor_pydagman.engine.state import Mode
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.features.cache.commands import Cache, cached_of
from condor_pydagman.features.cache.result_sums import CHANGED
from condor_pydagman.features.cache.run import (
    CachedFound,
    CachedResult,
    KeepCached,
    LookUpCached,
)
from condor_pydagman.features.run_if.run import (
    ConditionResult,
    ConditionsEvaluated,
    EvaluateConditions,
)
from condor_pydagman.features.steering.steer_commands import NodeCommand
from condor_pydagman.graph.model import DONE, USER_DONE
from tests import make
from tests.features.cache.cached import Caching, Store, all_cached, caching
from tests.make import QUIET

DIAMOND = "A -> B C; B C -> D; D -> E F; X"


def ran(text: str, store: Store) -> str:
    """The nodes that a whole run of a DAG submits."""
    return " ".join(caching(all_cached(text), store).run_all())


def test_nothing_runs_again_if_nothing_has_changed() -> None:
    store = Store()
    assert ran(DIAMOND, store) == "A X B C D E F"
    dag = caching(all_cached(DIAMOND), store)
    assert dag.asked(do.Exit) == [do.Exit(0)]
    assert not dag.ever(do.SubmitNode)
    assert dag.said("CACHE: node A is done already: nothing has changed since the last run")
    (report, *_) = dag.engine.node_reports()
    assert report.details == "cached: nothing has changed since it was last done"


@pytest.mark.parametrize(
    ("changed", "again"),
    [("A", "A B C D E F"), ("C", "C D E F"), ("F", "F"), ("X E", "X E"), ("B C", "B C D E F")],
)
def test_what_has_changed_runs_and_what_depends_on_it(changed: str, again: str) -> None:
    store = Store()
    ran(DIAMOND, store)
    store.changed.update(changed.split())
    assert ran(DIAMOND, store) == again
    assert ran(DIAMOND, store) == ""


def test_many_nodes_on_both_sides_of_a_line_are_no_other_thing_than_single_lines() -> None:
    store = Store()
    ran("A B -> C D", store)
    assert ran("A -> C; B -> C; A -> D; B -> D", store) == ""


def test_a_node_that_joins_stands_for_the_nodes_before_it() -> None:
    store, text = Store(), "A B -> J -> K -> C D\nJOB J n.sub NOOP\nJOB K n.sub NOOP"
    assert ran(text, store) == "A B C D"
    assert ran(text, store) == ""
    store.changed.add("B")
    assert ran(text, store) == "B C D"


def test_a_parent_without_a_cache_command_has_its_children_run() -> None:
    store = Store()
    for _ in range(2):
        dag = caching(all_cached("A -> B -> C; D", but="A"), store)
        dag.run_all()
        assert dag.said("CACHE: node B is to run: ") and dag.state("C") == State.DONE
        assert len(dag.ever(do.SubmitNode)) == (4 if not dag.said("node D is done") else 3)
    assert dag.said("CACHE: node B is to run: its parent A has no CACHE")
    assert dag.said("CACHE: node C is to run: its parent B has run")


def test_a_node_that_did_not_end_well_runs_again() -> None:
    store = Store()
    dag = caching(all_cached("A -> B"), store)
    dag.run("A", 1)
    dag.run("B", 2, value=1)
    assert dag.asked(do.Exit)[0].code == 1
    again = caching(all_cached("A -> B"), store)
    assert again.states() == "A=DONE B=SUBMITTING"
    assert again.said("CACHE: node B is to run: it did not end well when it last ran")


def test_what_is_decided_is_in_force_when_its_record_has_been_read() -> None:
    dag = Caching(all_cached("A -> B"), QUIET)
    dag.begin()
    (action,) = dag.asked(LookUpCached)
    (wanted,) = action.wanted
    assert wanted == (0, 1, f"{0:032x}", CHANGED, False)
    dag.tell(CachedFound([CachedResult(0, 1, True, "r1")]))
    details = [report.details for report in dag.engine.node_reports()]
    assert details == ["it is found out whether it has to run (CACHE)", ""]
    (record,) = dag.asked(do.AppendJournalRecord)
    assert (record.record, record.value, record.text) == ("CACHED", 1, "r1")
    assert dag.state("A") == State.WAITING
    assert not dag.asked(do.Exit)
    assert dag.wait(61)[0] == record  # it was lost
    dag.read_back()
    assert dag.states() == "A=DONE B=WAITING"
    again = dag.restart()
    assert [one.node for one in again.asked(LookUpCached)[0].wanted] == [1]


def test_the_end_waits_until_all_is_kept() -> None:
    dag = caching(all_cached("A"))
    dag.last = dag.run_node("A", 1)
    assert dag.asked(KeepCached) == [KeepCached(((0, "r1"),))]
    assert not dag.asked(do.Exit)
    dag.settle()
    assert dag.asked(do.Exit) == [do.Exit(0)]


def test_a_restart_has_it_kept_once_more() -> None:
    dag = caching(all_cached("A -> B"))
    dag.last = dag.run_node("A", 1)
    again = dag.restart()
    assert again.asked(KeepCached) == [KeepCached(((0, "r1"),))]


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


def test_scripts_do_not_run_with_a_node_that_does_not() -> None:
    store = Store()
    text = "A\nSCRIPT PRE A p\nSCRIPT POST A q"
    dag = caching(all_cached(text), store)
    dag.pre_ends("A")
    dag.last = dag.run_node("A", 1)
    dag.post_ends("A")
    dag.last = dag.all[-3:]
    dag.settle()
    again = caching(all_cached(text), store)
    assert not again.ever(do.RunScript)
    assert again.asked(do.Exit) == [do.Exit(0)]


def test_retries_are_of_a_node_that_is_to_run() -> None:
    store = Store()
    dag = caching(all_cached("A\nRETRY A 1"), store)
    dag.run("A", 1, value=1)
    assert dag.state("A") == State.SUBMITTING
    assert len(dag.ever(LookUpCached)) == 1
    dag.run("A", 2)
    assert ran("A\nRETRY A 1", store) == ""


def test_a_node_that_a_person_runs_again_really_runs() -> None:
    store = Store()
    ran("A -> B; Z", store)
    store.changed.add("Z")
    dag = caching(all_cached("A -> B; Z"), store)
    assert dag.states() == "A=DONE B=DONE Z=SUBMITTING"
    dag.ask(NodeCommand.RERUN, "A", "descendants")
    dag.settle()
    assert dag.states() == "A=READY B=WAITING Z=SUBMITTING"
    assert dag.run_all() == ["Z", "A", "B"]
    assert ran("A -> B; Z", store) == ""


def test_what_a_person_has_done_is_not_known() -> None:
    store = Store()
    ran("A -> B", store)
    store.changed.add("A")
    dag = caching(all_cached("A -> B; Z"), store)
    dag.run("A", 1, value=1)
    dag.ask(NodeCommand.DONE, "A")
    dag.settle()
    assert dag.run_all() == ["Z", "B"]


def test_vars_of_a_person_are_not_the_dags() -> None:
    store = Store()
    dag = caching(all_cached("A -> B"), store)
    dag.ask(NodeCommand.SET, "B", '{"variables":[["x","1"]]}')
    dag.run("A", 1)
    assert dag.said("CACHE: node B is to run: it has never been done")
    dag.run("B", 2)
    assert not store.kept["B"].done


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


def test_a_false_condition_comes_first() -> None:
    store = Store()
    of = all_cached("A -> B -> C\nRUN_IF B ELSE DONE false")
    dag = caching(of, store)
    dag.run("A", 1)
    (asked,) = dag.ever(EvaluateConditions)
    dag.tell(ConditionsEvaluated([ConditionResult(*asked.wanted[0][:2], 0, "")]))
    dag.settle()
    assert dag.states() == "A=DONE B=DONE C=SUBMITTING"
    assert "B" not in store.kept
    dag.run("C", 2)
    assert store.kept["C"].done


def test_a_halted_dag_looks_nothing_up() -> None:
    dag = Caching(all_cached("A -> B"), QUIET)
    dag.store = Store()
    dag.begin()
    dag.settle()
    dag.tell(inputs.Halt("somebody says so"))
    dag.run("A", 1)
    assert len(dag.ever(LookUpCached)) == 1
    assert not dag.ever(do.Exit)
    dag.tell(inputs.Resume())
    dag.settle()
    assert dag.state("B") == State.SUBMITTING


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
