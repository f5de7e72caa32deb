"""What is shown of bundles and of the nodes in them, as the logs tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from condor_pydagman.explain.explain_dag import explain_dag
from condor_pydagman.explain.explain_node import explain_node, life_of
from condor_pydagman.explain.explanation import Explanation
from condor_pydagman.features.bundle.shown import BundlesSeen, brief, overview, sections
from condor_pydagman.follow.carriers import with_jobs
from condor_pydagman.follow.failures import failure_of
from condor_pydagman.follow.notices.facts import HELD, Facts, QueuedJob
from condor_pydagman.follow.notices.held_jobs import logged_holds
from condor_pydagman.follow.overview import Dagman, Standing
from condor_pydagman.follow.run_model import COUNTS, DagState, Run
from condor_pydagman.follow.shown_states import Shown, shown_state
from condor_pydagman.follow.tally import Tally
from condor_pydagman.report.event_words import event_words
from condor_pydagman.report.html_report import Subject, html_report
from condor_pydagman.report.spans import job_parts
from tests.features.bundle.bundle_logs import FOUR, BundleLogs
from tests.unit.follow.bench import plan_of
from tests.unit.follow.test_overview import seen
from tests.unit.report.test_overview_text import text


@pytest.fixture
def logs(tmp_path: Path) -> BundleLogs:
    return BundleLogs(tmp_path)


def states(logs: BundleLogs) -> str:
    """Of the four nodes: I(dle), R(unning), H(eld), D(one) or another."""
    nodes = logs.follow(FOUR).nodes
    return "".join(shown_state(nodes[name]).name[0] for name in "ABCD")


def shown(logs: BundleLogs) -> dict[str, int]:
    found: dict[str, int] = overview(logs.tally(FOUR), {}, running=True)["bundles"]
    return found


def facts(logs: BundleLogs, more: str = "", **fields: object) -> Facts:
    dag = plan_of(FOUR + more).dag
    run = logs.follow(FOUR + more)
    known = Facts("t.dag", DagState.RUNNING, logs.now, run, dag=dag, held=held(run))
    return known._replace(nodes_log="t.log", **fields)


def held(run: Run) -> list[QueuedJob]:
    return list(logged_holds(with_jobs(run, run.in_queue.values())))


def of_dag(logs: BundleLogs, **fields: object) -> list[str]:
    return [one.sentence for one in explain_dag(facts(logs, **fields)).findings]


def of_node(logs: BundleLogs, name: str = "A", more: str = "") -> Explanation:
    return explain_node(facts(logs, more), name)


def said_of(logs: BundleLogs, name: str = "A") -> list[str]:
    return [one.sentence for one in of_node(logs, name).findings]


def life(logs: BundleLogs, name: str) -> list[str]:
    run = logs.follow(FOUR)
    return [moment.text for moment in life_of(run.nodes[name], run)]


def report(logs: BundleLogs) -> str:
    run = logs.follow(FOUR)
    subject = Subject("t.dag", "done", run, None, logs.now, str, lambda when, _: str(when))
    return "".join(html_report(subject))


# States and counts.


def test_nodes_stand_in_the_queue_as_the_job_of_their_bundle_does(logs: BundleLogs) -> None:
    logs.made()
    assert states(logs) == "IIII"
    logs.runs()
    assert states(logs) == "RRRR"
    logs.event(4, "Job was evicted.\n\t(0) CPU times\n", "211.000.000")
    assert states(logs) == "IIII"
    logs.hold(211)
    assert states(logs) == "HHHH"
    logs.event(13, "Job was released.\n\tvia condor_release\n", "211.000.000")
    assert states(logs) == "IIII"
    assert len(logs.follow(FOUR).standstills) == 1, "until its release nothing could go on"
    logs.runs()
    logs.terminate(211)
    assert states(logs) == "RRRR", "what they have come to is not at home"
    logs.task("A", 1)
    logs.task("B", 2, value=1)
    logs.over()
    assert states(logs)[:2] == "DF"
    assert states(logs)[2:] == "RR", "ready"
    assert not logs.follow(FOUR).carried


def test_who_has_ended_or_was_given_back_is_in_the_bundle_no_more(logs: BundleLogs) -> None:
    logs.made()
    logs.runs()
    assert "; results are known when a job ends" in text(seen(logs.tally(FOUR)))
    logs.task("A", 1)
    logs.given_back("C")
    assert shown(logs) == {"open": 1, "running": 1, "held": 0, "nodes": 2, "results": True}
    logs.submit("C", 212)
    assert states(logs) == "DRIR"


def test_a_node_that_is_retried_alone_is_not_in_its_bundle(logs: BundleLogs) -> None:
    logs.made()
    logs.runs()
    logs.task("A", 1, value=1)
    retried = FOUR + "RETRY A 1\n"
    logs.submit("A", 212)
    node = logs.follow(retried).nodes["A"]
    assert shown_state(node) is Shown.IDLE
    assert [one.carrier is not None for one in node.attempts] == [True, False]


def test_a_node_that_was_given_back_has_one_attempt(logs: BundleLogs) -> None:
    logs.made()
    logs.runs()
    logs.abort(211)
    logs.over("its job was removed")
    logs.made(number=8, cluster=212)
    logs.runs(212)
    (attempt,) = logs.follow(FOUR).nodes["A"].attempts
    assert attempt.carrier is not None
    assert attempt.carrier.name == "bundle 8"
    assert states(logs) == "RRRR"


def test_a_glance_names_bundles_that_run_longest_and_are_held(logs: BundleLogs) -> None:
    logs.made("A B")
    logs.made("C D", 8, 212)
    logs.runs()
    logs.hold(212)
    seen = Standing("t.dag", Dagman("running"), logs.tally(FOUR)).at(logs.now)
    assert (seen.counts["running"], seen.counts["held"], seen.counts["idle"]) == (2, 2, 0)
    assert [(one.node, one.job, one.host) for one in seen.longest] == [
        ("bundle 7", "211.0", "slot1_2@one")
    ]
    assert [(one.nodes, one.reason) for one in seen.held] == [(["bundle 8"], "no such file")]


def test_the_rate_holds_while_a_whole_bundle_has_not_come_home(logs: BundleLogs) -> None:
    names = [f"N{number}" for number in range(40)]
    dag = "".join(f"JOB {name} s\n" for name in names) + "BUNDLE b ALL_NODES\n"
    logs.made(" ".join(names[:20]))
    logs.made(" ".join(names[20:]), 8, 212)
    logs.runs()
    for number, name in enumerate(names[:20], 1):
        logs.task(name, number)
    logs.terminate(211)
    logs.over()
    logs.now += 30
    dagman = Dagman("running")
    assert Standing("", dagman, logs.tally(dag)).at(logs.now).remaining_s is not None
    logs.now += 1000
    assert Standing("", dagman, logs.tally(dag)).at(logs.now).remaining_s is None


# Explanations.


def test_the_bundles_that_run_are_a_finding(logs: BundleLogs) -> None:
    logs.made("A B")
    logs.made("C D", 8, 212)
    logs.runs(211)
    logs.runs(212, slot="slot1_3@two")
    logs.now += 10
    said = "4 nodes run in 2 bundles on slot1_2@one and slot1_3@two, the longest for 14 s."
    assert said in of_dag(logs)


def test_a_bundle_on_hold_is_a_problem_of_its_nodes(logs: BundleLogs) -> None:
    logs.made()
    logs.runs()
    logs.task("D", 4)
    logs.hold(211)
    said = "1 job of bundle 7 has been held for 5 s: its input files could not be transferred"
    logs.now += 5
    (found,) = (one for one in explain_dag(facts(logs)).findings if one.cause == "job.held")
    assert found.sentence.startswith(said)
    assert found.nodes == ("A", "B", "C"), "D has ended"
    assert (found.command, found.button) == ("condor_release 211.0", "")
    assert any(one.startswith(said) for one in said_of(logs))
    job = QueuedJob("211.0", "bundle 7", HELD, logs.now - 5, "no such file", 13)
    assert any(one.startswith(said) for one in of_dag(logs, held=(job,)))


def test_a_node_is_explained_by_its_bundle(logs: BundleLogs) -> None:
    logs.made()
    logs.now += 2
    waits = (
        "It is in bundle 7 (job 211.0) with 3 others, which has been waiting in the queue for 2 s."
    )
    assert waits in said_of(logs)
    logs.runs()
    logs.now += 3
    explained = of_node(logs)
    assert "is in the queue, in a job with others" in explained.headline
    runs = "It is in bundle 7 (job 211.0) with 3 others, which runs on slot1_2@one, for 3 s."
    assert [one.sentence for one in explained.findings] == [runs]


def test_the_life_of_a_node_tells_of_its_bundle(logs: BundleLogs) -> None:
    logs.made()
    logs.runs()
    logs.task("A", 1)
    logs.task("B", 2)
    assert life(logs, "B")[-1] == "ran for 2.0 s"
    logs.terminate(211)
    logs.over()
    assert life(logs, "B") == [
        "in bundle 7 (job 211.0) with 3 others",
        "running on slot1_2@one",
        "ended with exit code 0",
        "ran for 2.0 s of the 4.0 s of bundle 7",
    ]


def test_a_ready_node_waits_for_others_to_be_bundled_with(logs: BundleLogs) -> None:
    (said,) = said_of(logs)
    assert "It is to run with others in one job (BUNDLE b)" in said


def test_a_node_whose_output_is_missing_says_which(logs: BundleLogs) -> None:
    logs.made()
    logs.runs()
    logs.task("A", 1, value=1, why="its output x.txt is missing")
    said = "Node A failed: its job ended with exit code 1: its output x.txt is missing."
    assert said in of_dag(logs)
    assert said in said_of(logs)
    run = logs.follow(FOUR)
    assert failure_of(run.nodes["A"], run).brief == (1, "its output x.txt is missing")
    assert "its output x.txt is missing: exit code 1" in report(logs)


def test_a_ready_node_that_its_line_does_not_name_first_waits_by_that_line(
    logs: BundleLogs,
) -> None:
    dag = FOUR.replace("ALL_NODES", "NODES A B")
    known = Facts("t.dag", DagState.RUNNING, logs.now, logs.follow(dag), dag=plan_of(dag).dag)
    (found,) = explain_node(known, "B").findings
    assert "It is to run with others in one job (BUNDLE b)" in found.sentence


# Reports and events.


def test_a_report_has_the_wait_and_the_bundles(logs: BundleLogs) -> None:
    logs.made()
    logs.runs()
    logs.task("A", 1)
    logs.task("B", 2)
    logs.terminate(211)
    logs.over()
    run = logs.follow(FOUR)
    (attempt,) = run.nodes["B"].attempts
    assert [(kind, end - begin) for kind, begin, end in job_parts(attempt, logs.now)] == [
        ("idle", 6.0),
        ("run", 2.0),
    ]
    (section,) = sections(run, logs.now)
    assert section.rows == [
        (
            *("7", "4", "4.0 s", "4.0 s", "4.0 s", "100 %", "slot1_2@one"),
            "its job has ended with status 0",
        )
    ]
    assert "<b>1</b><span>job, 1 of them of several nodes" in report(logs)
    assert attempt.cpu_s == 0.5
    assert "<td class='text'>Memory (MB)</td><td></td><td>12</td><td>12</td>" in report(logs)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.034, "0.03 s"), (0.996, "1.00 s"), (1.26, "1.3 s"), (9.8, "9.8 s"), (61.0, "1 min 1 s")],
)
def test_short_times_are_told_more_exactly(seconds: float, text: str) -> None:
    assert brief(seconds) == text


def test_a_node_is_held_as_long_as_its_bundle_is(logs: BundleLogs) -> None:
    logs.made()
    logs.runs()
    logs.task("A", 1)
    logs.hold(211)
    logs.now += 60
    logs.event(13, "Job was released.\n\tvia condor_release\n", "211.000.000")
    logs.runs()
    logs.task("B", 2)
    parts = {
        name: [kind for kind, _, _ in job_parts(node.attempts[0], logs.now)]
        for name, node in logs.follow(FOUR).nodes.items()
    }
    assert parts == {
        "A": ["idle", "run"],
        "B": ["idle", "held", "idle", "run"],
        "C": ["idle", "held", "idle"],
        "D": ["idle", "held", "idle"],
    }


def test_events_of_bundles_are_told_in_words(logs: BundleLogs) -> None:
    logs.made()
    logs.runs()
    logs.hold(211)
    logs.abort(211, reason="DAG bundle")
    logs.over("its job was removed: DAG bundle")
    logs.follow(FOUR)
    told = [event for event in logs.events if event.name.startswith("bundle.")]
    assert [event_words(one) for one in told] == [
        "bundle 7: 4 nodes",
        "bundle 7 runs on slot1_2@one",
        "bundle 7 is held: no such file",
        "bundle 7 is over: its job was removed: DAG bundle",
    ]
    assert [one.job for one in told] == ["", "211.0", "211.0", "211.0"]


def test_of_a_dag_that_nobody_has_read_nodes_run_with_their_bundle(logs: BundleLogs) -> None:
    logs.made("A B C")
    logs.made("D E", 8, 212)
    logs.runs()
    logs.hold(212)
    logs.task("A", 1)
    run = logs.follow()
    run.counts = dict(zip(COUNTS, (5, 1, 0, 4, 0, 0, 0, 0, 0)))
    seen = Standing("", Dagman("running"), Tally(run)).at(logs.now)
    assert (seen.counts["running"], seen.counts["held"], seen.counts["idle"]) == (2, 2, 0)


def test_nodes_of_a_dag_that_nobody_has_read_are_of_one_job(logs: BundleLogs) -> None:
    logs.made()
    logs.runs()
    logs.task("A", 1)
    run = logs.follow()
    (attempt,) = run.nodes["A"].attempts
    assert attempt.carrier is BundlesSeen.of(run).bundles[7]
    assert Tally(run).run.carriers.keys() == {"bundle 7"}


# CHAINS.

LINE = "BUNDLE b CHAINS ALL_NODES\n"
OTHERWISE = (
    "its job asks for something else, or there was no room for it, or such nodes take longer than"
    " 20 s"
)
_POST = "POST Script terminated.\n\t(1) Normal termination (return value 0)\n    DAG Node: A\n"
CHAIN = FOUR.replace("BUNDLE b ALL_NODES\n", "PARENT A CHILD B\nPARENT B D CHILD C\n")


def chain(logs: BundleLogs, more: str = "") -> Facts:
    dag = CHAIN + more + LINE
    run = logs.follow(dag)
    return Facts("t.dag", DagState.RUNNING, logs.now, run, dag=plan_of(dag).dag, held=held(run))


def said_in_chain(logs: BundleLogs, name: str, more: str = "") -> list[str]:
    found = explain_node(chain(logs, more), name).findings
    return [one.sentence for one in found if one.cause == "node.state"]


def test_nodes_behind_others_do_not_stand_in_the_queue(logs: BundleLogs) -> None:
    logs.made()
    logs.runs()
    tally = logs.tally(CHAIN + LINE)
    assert overview(tally, {}, running=True)["bundles"]["nodes"] == 2
    counts = Standing("t.dag", Dagman("running"), tally).at(logs.now).counts
    assert (counts["running"], counts["waiting"]) == (2, 2)
    logs.task("A", 1)
    run = logs.follow(CHAIN + LINE)
    assert [shown_state(run.nodes[name]) for name in "ABCD"] == [
        *(Shown.DONE, Shown.RUNNING, Shown.WAITING, Shown.RUNNING)
    ]


def test_of_a_dag_that_nobody_has_read_no_more_run_than_dagman_says(logs: BundleLogs) -> None:
    logs.made()
    logs.runs()
    run = logs.follow()
    run.counts = dict(zip(COUNTS, (4, 0, 0, 2, 0, 0, 2, 0, 0)))
    counts = Standing("", Dagman("running"), Tally(run)).at(logs.now).counts
    assert (counts["running"], counts["idle"], counts["waiting"]) == (2, 0, 2)


def test_a_held_bundle_is_no_problem_of_nodes_behind_others(logs: BundleLogs) -> None:
    logs.made()
    logs.hold(211)
    (found,) = (one for one in explain_dag(chain(logs)).findings if one.cause == "job.held")
    assert found.nodes == ("A", "D")


def test_a_node_that_is_to_run_behind_others_says_so(logs: BundleLogs) -> None:
    logs.made()
    logs.runs()
    logs.now += 3
    behind = "It is to run behind {} in bundle 7 (job 211.0), which runs on slot1_2@one, for 3 s."
    assert said_in_chain(logs, "B") == [behind.format("A")]
    assert said_in_chain(logs, "C") == [behind.format("B and D")]
    logs.task("D", 4)
    assert said_in_chain(logs, "C") == [behind.format("B").replace("3 s", "5 s")]


def test_behind_a_node_that_runs_elsewhere_none_runs_in_the_bundle(logs: BundleLogs) -> None:
    logs.made()
    logs.runs()
    logs.task("A", 1, value=1)
    logs.submit("A", 212)
    for name in "BC":
        assert said_in_chain(logs, name, "RETRY A 1\n") == []


def test_a_node_that_was_given_back_runs_behind_none(logs: BundleLogs) -> None:
    logs.made()
    logs.runs()
    logs.given_back("B C")
    assert said_in_chain(logs, "B") == said_in_chain(logs, "C") == []
    logs.task("A", 1)
    (said,) = said_in_chain(logs, "B")
    assert said.endswith(" It was to run behind A in bundle 7, which has not run it.")


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ("SAVE_POINT_FILE B\n", "it has a SAVE_POINT_FILE"),
        ("SCRIPT POST A x\n", "node A before it has a POST script"),
        ("PRIORITY B 1\n", "node A before it has another PRIORITY."),
        ("SHARED_LIMIT x NODES A B\n", "it has a SHARED_LIMIT."),
        ("", f"{OTHERWISE}."),
        (
            "PARENT A CHILD C\nPARENT D CHILD B\n",
            f"{OTHERWISE}, or free slots were to run it sooner.",
        ),
    ],
)
def test_why_a_node_did_not_run_behind_the_one_before_it(
    logs: BundleLogs, more: str, why: str
) -> None:
    logs.made("A D")
    logs.runs()
    logs.task("A", 1)
    logs.task("D", 2)
    if "POST" in more:
        logs.event(16, _POST, "211.000.001")
    (said,) = said_in_chain(logs, "B", more)
    assert f" It did not run behind A in bundle 7: {why}" in said


def test_a_report_of_a_chain_has_the_times_of_its_nodes(logs: BundleLogs) -> None:
    logs.made("A B C")
    logs.runs()
    logs.task("A", 1)
    logs.task("B", 2)
    logs.task("C", 3)
    logs.terminate(211)
    logs.over()
    run = logs.follow(CHAIN.replace("PARENT B D", "PARENT B") + LINE)
    parts = {
        name: [(kind, end - begin) for kind, begin, end in job_parts(one, logs.now)]
        for name in "ABC"
        for one in run.nodes[name].attempts
    }
    ran = ("run", 2.0)
    assert parts == {
        "A": [("idle", 4.0), ran],
        "B": [("idle", 0.0), ran],
        "C": [("idle", 0.0), ran],
    }
    (section,) = sections(run, logs.now)
    assert section.rows[0][:6] == ("7", "3", "4.0 s", "6.0 s", "6.0 s", "100 %")
