"""Nodes that wait because a throttle, or a shared limit, is full."""

from __future__ import annotations

import pytest

from condor_pydagman.explain.load import retry_delay_left
from condor_pydagman.follow.notice import Notice
from condor_pydagman.follow.notices.facts import Facts
from condor_pydagman.follow.notices.throttles import throttle_notices
from condor_pydagman.follow.tally import Taken
from condor_pydagman.vocabulary import NodeStatus
from tests.unit.explain import NOW, attempt, facts_of, known, script, without_jobs

FIVE = "".join(f"JOB {name} a.sub\n" for name in "ABCDE")
QUEUED = (NodeStatus.SUBMITTED, [attempt()])


def findings(facts: Facts) -> list[Notice]:
    return list(throttle_notices(known(facts)))


def limited(facts: Facts, **limits: int) -> Facts:
    facts.run.limits.update({f"DAGMan_{name}": value for name, value in limits.items()})
    return facts


def test_the_job_ad_knows_the_newest_limit() -> None:
    facts = limited(facts_of(FIVE, {"A": QUEUED}, ad={"DAGMan_MaxJobs": 1}), MaxJobs=9)
    assert findings(facts)[0].nodes == ("B", "C", "D", "E")


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
