"""RUN_IF and PUBLISH: long chains, rescue files, and what is known of conditions and of published
values.  When nodes are decided, and on what, is in `run_if.scene` and in that of PUBLISH."""

from __future__ import annotations

from condor_pydagman.engine import actions as do
from condor_pydagman.engine.gated_nodes import GATE
from condor_pydagman.engine.node_states import Anew, Cause, State
from condor_pydagman.engine.nodes import Nodes
from condor_pydagman.features.publish.commands import PublishedOfDag
from condor_pydagman.features.publish.run import JobAttributes, Publish, read_pairs
from condor_pydagman.features.run_if.run import (
    ConditionResult,
    ConditionsEvaluated,
    EvaluateConditions,
)
from condor_pydagman.features.skipping.commands import SkippedOfDag
from condor_pydagman.vocabulary import EventKind
from tests import make
from tests.features.run_if.scenes import evaluated
from tests.make import QUIET


def test_a_long_chain_is_skipped_without_recursion() -> None:
    names = [f"N{number}" for number in range(3000)]
    chain = "; ".join(f"{one} -> {two}" for one, two in zip(names, names[1:]))
    harness = make.EngineHarness(f"{chain}\nRUN_IF N0 false", QUIET)
    harness.engine.check = None
    harness.begin()
    harness.tell(*map(evaluated, harness.asked(EvaluateConditions)))
    assert harness.read_back()[-1] == do.Exit(0)


def test_the_answer_to_an_earlier_question_does_not_count() -> None:
    harness = make.harness_of("A -> X\nRUN_IF X true", QUIET)
    harness.run_node("A", 1)
    (wanted,) = harness.asked(EvaluateConditions)[0].wanted
    harness.tell(ConditionsEvaluated([ConditionResult(wanted.node, wanted.number - 1, 0, "")]))
    assert not harness.ever(do.AppendJournalRecord)


def test_an_answer_that_comes_with_that_to_an_earlier_question_counts() -> None:
    harness = make.harness_of("A -> X Y\nRUN_IF X true\nRUN_IF Y true", QUIET)
    harness.run_node("A", 1)
    x, y = (one for asked in harness.asked(EvaluateConditions) for one in asked.wanted)
    late = ConditionResult(x.node, x.number - 1, 0, "")
    harness.tell(ConditionsEvaluated([late, ConditionResult(y.node, y.number, 1, "")]))
    assert [one.node for one in harness.ever(do.AppendJournalRecord)] == [y.node]


def test_what_a_rescue_file_is_told() -> None:
    harness = make.harness_of("A B -> X\nRUN_IF X Failed == 0", QUIET)
    harness.run_node("A", 1)
    harness.run_node("B", 2, value=1)
    lines = [one.rescue_lines for one in harness.engine.node_reports()]
    assert lines == [("NODE_RESULT A [ ExitCode = 0; Retries = 0 ]",), (), ()]


def test_what_a_rescue_file_says_counts() -> None:
    made = make.dag("""
        A -> X; B -> Y -> Z; C
        RUN_IF X Parents.A.n == 3 && Parents.A.ExitCode == 0
        RUN_IF Z Skipped == 1
        DONE A
        DONE B
        DONE Y
    """)
    SkippedOfDag.put(made).skipped[made.ids["B"]] = None
    PublishedOfDag.put(made).results[made.ids["A"]] = "[ n = 3; ExitCode = 0; ]"
    harness = make.EngineHarness(made, QUIET).begin()
    harness.happens(*map(evaluated, harness.asked(EvaluateConditions)))
    assert harness.state("X") == State.READY
    assert harness.state("Z") == State.DONE  # Y is done, and was not skipped


def test_pairs_of_a_text() -> None:
    assert read_pairs('a=1\nb="x=y"\n\nrubbish\n') == [("a", "1"), ("b", '"x=y"')]


# What is known of conditions and of what nodes have published.


def publishing() -> Publish:
    harness = make.EngineHarness("A -> X\nPUBLISH A ATTRIBUTES Memory", QUIET)
    found = harness.engine.run.features["publish"]
    assert isinstance(found, Publish)
    return found


def test_whose_attributes_an_event_has() -> None:
    known = publishing()
    shared = known.run.job_table.open(0, 6, 0, 3)
    known.jobs_seen(0, shared)
    event = make.of_job(EventKind.JOB_AD_INFORMATION, 6, 3)
    assert (known.node_of(event), known.node_of(event._replace(proc=4))) == (0, None)


def test_attributes_of_jobs_are_those_of_the_last_event() -> None:
    known = publishing()
    known.add(0, 0, JobAttributes((("MEMORY", "1"), ("x", "2")), False), ("Memory",))
    known.add(0, 0, JobAttributes((("memory", "3"),), True), ("Memory",))
    assert known.values == {0: {"Memory": "3"}}
    known.begins_anew(0, Anew.RUN)
    assert known.values == {}


def test_attributes_that_come_when_the_node_is_done_are_too_late() -> None:
    harness = make.harness_of("A -> X\nPUBLISH A ATTRIBUTES Memory", QUIET)
    harness.take("A", 1)
    harness.tell(make.terminated(1))
    at_the_end = int(EventKind.JOB_TERMINATED)
    for value in (4, 5):
        event = make.of_job(EventKind.JOB_AD_INFORMATION, 1, text=f"Memory={value}\n")
        harness.tell(event._replace(value=at_the_end))
    assert harness.engine.run.features["publish"].values == {0: {"Memory": "4"}}


def nodes() -> Nodes:
    return Nodes(make.dag("A B -> X -> Y; A -> Z\nRUN_IF X true"))


def test_parents_are_counted_however_they_end() -> None:
    found = nodes()
    a, b, x = (found.dag.ids[name] for name in "ABX")
    assert found.gated.pop_changed() == [x]
    assert (found.unfinished_parents(x), found.waiting[x]) == (2, GATE + 2)
    found.move(a, Cause.MARKED_DONE, 0)
    found.move(b, Cause.ANCESTOR_FAILED, 0)
    assert found.unfinished_parents(x) == 0
    assert found.gated.pop_changed() == [x]
    found.move(b, Cause.FREED, 0)
    assert found.unfinished_parents(x) == 1
