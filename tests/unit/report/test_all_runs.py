"""All runs of a DAG as one history."""

from __future__ import annotations

from condor_pydagman.follow.run_model import NodeRun, Run, Start
from condor_pydagman.report.all_runs import Repeated, TimeLost, all_runs, ends, repeated, time_lost
from condor_pydagman.report.attempt_table import RUN, rows
from condor_pydagman.report.spans import spans
from condor_pydagman.vocabulary import NodeStatus
from tests.unit.report.runs import attempt, make_dag, make_run


def earlier() -> Run:
    """900 to 950: A has run for 10 s and B for 20 s, both well; D has failed; E is of this only."""
    run = Run()
    run.begun, run.ended, run.last, run.exit_code = 900.0, 950.0, 950.0, 1
    run.starts = [Start(900.0)]
    for name, ran, value in (("A", 10, 0), ("B", 20, 0), ("D", 5, 2), ("E", 1, 0)):
        run.nodes[name] = NodeRun(name)
        run.nodes[name].attempts = [attempt(0, 905, 910, 910 + ran, value)]
    return run


def test_the_last_run_with_the_attempts_of_all() -> None:
    last = make_run()
    seen = all_runs([earlier()], last, None)
    whole = seen.whole
    assert (whole.begun, whole.ended, len(whole.starts)) == (900.0, 1040.0, 2)
    assert {name: len(node.attempts) for name, node in whole.nodes.items()} == {
        "A": 2, "B": 3, "C": 1, "D": 2, "E": 1
    }  # fmt: skip
    assert whole.nodes["D"].status is NodeStatus.ERROR
    assert len(last.nodes["A"].attempts) == 1


def test_what_was_lost_and_what_was_repeated() -> None:
    seen = all_runs([earlier()], make_run(), None)
    # of the last run A runs 6 s, B 4 s and 3 s, C 1 s, D 10 s
    assert time_lost(seen, 1040.0) == TimeLost(50.0, 90.0, 60.0, 10.0 + 20 + 4 + 5)
    assert repeated(seen, 1040.0) == [
        Repeated("B", (1, 2), 3, 24.0),
        Repeated("A", (1, 2), 2, 10.0),
        Repeated("D", (1, 2), 2, 5.0),
    ]
    alone = all_runs([], make_run(), None)
    assert time_lost(alone, 1040.0) == TimeLost(0.0, 40.0, 24.0, 4.0)
    assert not repeated(alone, 1040.0)


def test_nodes_that_run_in_each_run_anyhow() -> None:
    dag = make_dag("JOB B b.sub\nJOB D d.sub\nFINAL A a.sub\n")
    seen = all_runs([earlier()], make_run(), dag)
    assert [one.node for one in repeated(seen, 1040.0)] == ["B", "D"]
    assert time_lost(seen, 1040.0).again == 20 + 4 + 5


def test_the_end_of_a_run() -> None:
    first, last = earlier(), make_run()
    first.ended = last.ended = 0.0
    assert ends(all_runs([first], last, None), 1099.0) == [950.0, 1099.0]


def test_an_attempt_of_an_earlier_run_has_failed_if_its_job_has() -> None:
    seen = all_runs([earlier()], make_run(), None)
    found = [(row["node"], row["attempt"], row["status"], row[RUN])
             for row in rows(seen.whole, None, 1040.0, seen.numbers)]  # fmt: skip
    assert found == [
        ("A", 0, "DONE", 1), ("A", 0, "DONE", 2),
        ("B", 0, "DONE", 1), ("B", 0, "ERROR", 2), ("B", 1, "DONE", 2),
        ("C", 0, "DONE", 2),
        ("D", 0, "ERROR", 1), ("D", 0, "ERROR", 2),
        ("E", 0, "NOT_READY", 1),
    ]  # fmt: skip
    failed = [span.node for span in spans(seen.whole, 1040.0) if span.failed]
    assert failed == ["D", "E", "B", "D"]
