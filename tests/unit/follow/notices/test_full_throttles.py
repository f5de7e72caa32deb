"""Nodes that wait because a throttle, or a shared limit, is full."""

from __future__ import annotations

from typing import Any

import pytest

from condor_pydagman.explain.known_facts import Facts
from condor_pydagman.explain.load import retry_delay_left
from condor_pydagman.follow.notice import Notice
from condor_pydagman.follow.notices.throttles import throttle_notices
from condor_pydagman.follow.run_model import DagState, Halted
from condor_pydagman.follow.tally import Taken
from condor_pydagman.vocabulary import NodeStatus
from tests.unit.explain import NOW, attempt, facts_of, known, script, texts, without_jobs

FIVE = "".join(f"JOB {name} a.sub\n" for name in "ABCDE")
QUEUED = (NodeStatus.SUBMITTED, [attempt()])


def findings(facts: Facts) -> list[Notice]:
    return list(throttle_notices(known(facts)))


def limited(facts: Facts, **limits: int) -> Facts:
    facts.run.limits.update({f"DAGMan_{name}": value for name, value in limits.items()})
    return facts


def test_max_jobs_and_where_it_was_set() -> None:
    places = {"DAGMan_MaxJobs": "-MaxJobs 2, command line of DAGMan"}
    facts = facts_of(FIVE, {"A": QUEUED, "B": QUEUED}, limit_places=places)
    assert not findings(limited(facts, MaxJobs=3, MaxIdle=3))
    (found,) = findings(limited(facts, MaxJobs=2))
    assert found.sentence == (
        "MaxJobs is reached: 2 nodes with jobs in the queue, the limit is 2; nodes C, D"
        " and E are waiting because of that."
    )
    assert texts(found) == ["-MaxJobs 2, command line of DAGMan: 2"]
    assert found.advice == ("To change the limit now: condor_qedit 3 DAGMan_MaxJobs N",)


def test_a_full_queue_of_the_schedd() -> None:
    facts = facts_of(FIVE, {"A": QUEUED})
    facts.run.queue_full = "more jobs than MAX_JOBS_PER_OWNER allows"
    (found,) = findings(facts)
    assert found.sentence.startswith("The schedd's queue is full (MAX_JOBS_PER_OWNER; DAGMan's own")
    assert "more jobs than MAX_JOBS_PER_OWNER allows" in texts(found)[0]


def test_the_job_ad_knows_the_newest_limit() -> None:
    facts = limited(facts_of(FIVE, {"A": QUEUED}, ad={"DAGMan_MaxJobs": 1}), MaxJobs=9)
    assert findings(facts)[0].nodes == ("B", "C", "D", "E")


def test_max_idle_counts_jobs_that_neither_run_nor_are_held() -> None:
    states = {
        "A": (NodeStatus.SUBMITTED, [attempt(procs=5, running=1, held=1, ended_procs=1)]),
        "B": (NodeStatus.SUBMITTED, [attempt(running=1)]),
    }
    facts = facts_of(FIVE, states)
    assert not findings(limited(facts, MaxIdle=3))
    (found,) = findings(limited(facts, MaxIdle=2))
    assert "MaxIdle is reached: 2 jobs idle" in found.sentence


def test_scripts() -> None:
    text = FIVE + "".join(f"SCRIPT {kind} {name} x\n" for kind in ("PRE", "POST") for name in "ABC")
    facts = facts_of(text, {
        "A": (NodeStatus.PRERUN, [without_jobs(pre=script(None))]),
        "D": (NodeStatus.POSTRUN, [attempt(value=0, post=script(None))]),
        "E": (NodeStatus.POSTRUN, [attempt(value=0)]),
    })  # fmt: skip
    pre, post = findings(limited(facts, MaxPreScripts=1, MaxPostScripts=1))
    assert "1 PRE script running, the limit is 1; nodes B and C are waiting" in pre.sentence
    assert "1 POST script running, the limit is 1; node E is waiting" in post.sentence


def test_categories() -> None:
    text = FIVE + "CATEGORY A big\nCATEGORY B big\nMAXJOBS big 1\n"
    (found,) = findings(facts_of(text, {"A": QUEUED}))
    assert found.sentence.startswith("Category big is full: 1 node of it in the queue, MAXJOBS")
    assert found.nodes == ("B",)


def test_of_nodes_that_share_a_job_places_are_counted() -> None:
    text = FIVE + "CATEGORY ALL_NODES big\nMAXJOBS big 2\n"
    states = {"A": QUEUED, "B": QUEUED, "C": QUEUED}
    shared = Taken(1, {"big": 2})
    facts = limited(facts_of(text, states, taken=shared), MaxJobs=1)
    jobs, category = findings(facts)
    assert jobs.sentence.startswith("MaxJobs is reached: 1 job of 3 nodes queued, the limit is 1;")
    assert category.sentence.startswith(
        "Category big is full: 2 places taken by 3 nodes of it in the queue, MAXJOBS big 2"
    )
    assert not findings(limited(facts._replace(taken=Taken(1, {"big": 1})), MaxJobs=2))


@pytest.mark.parametrize("fields", [{"state": DagState.FAILED}, {"state": DagState.HELD}])
def test_only_a_dag_that_goes_on_waits_for_throttles(fields: Any) -> None:
    facts = limited(facts_of(FIVE, {"A": QUEUED}, **fields), MaxJobs=1)
    assert not findings(facts)
    halted = limited(facts_of(FIVE, {"A": QUEUED}), MaxJobs=1)
    halted.run.halts.append(Halted(NOW - 5))
    assert not findings(halted)


def test_without_the_dag_file_a_node_is_ready_if_the_log_says_so() -> None:
    facts = facts_of(None, {"A": QUEUED, "B": (NodeStatus.READY, [without_jobs(pre=script(0))])})
    assert findings(limited(facts, MaxJobs=1))[0].nodes == ("B",)


@pytest.mark.parametrize(
    ("line", "number", "left"),
    [
        ("RETRY A 9", 0, 0),
        ("RETRY A 9 DELAY 60", 0, 50),
        ("RETRY A 9 DELAY 60 BACKOFF 2", 2, 230),
        ("RETRY A 9 DELAY 60 BACKOFF 2 MAX-DELAY 100", 2, 90),
        ("RETRY A 9 DELAY 5", 0, 0),
    ],
)
def test_the_delay_of_retry(line: str, number: int, left: float) -> None:
    text = FIVE + line + "\n"
    facts = facts_of(text, {"A": (NodeStatus.READY, [attempt(number, 1)])})
    assert facts.dag is not None
    found = retry_delay_left(facts.dag, 0, facts.run.nodes["A"], NOW)
    assert left <= found <= 1.15 * left + 6  # DAGMan spreads them


def test_a_node_that_waits_for_its_delay_does_not_wait_for_a_throttle() -> None:
    facts = facts_of(
        "JOB A a.sub\nJOB B b.sub\nRETRY A 9 DELAY 60\n",
        {"A": (NodeStatus.READY, [attempt(0, 1)]), "B": QUEUED},
    )
    assert not findings(limited(facts, MaxJobs=1))
