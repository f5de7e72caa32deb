"""Nodes that wait because a throttle, or a shared limit, is full."""

from __future__ import annotations

from condor_pydagman.follow.notice import Notice
from condor_pydagman.follow.notices.facts import Facts, Load, Nodes, Throttled, queued
from condor_pydagman.follow.notices.throttles import throttle_notices
from tests.unit.explain import facts_of

FIVE = "".join(f"JOB {name} a.sub\n" for name in "ABCDE")
WAITING = Nodes(2, ["D", "E"])


def findings(facts: Facts, limit: int) -> list[Notice]:
    facts.run.limits["DAGMan_MaxJobs"] = limit
    return list(throttle_notices(facts))


def test_the_job_ad_knows_the_newest_limit() -> None:
    load = Load(Throttled(1, WAITING))
    facts = facts_of(FIVE, {}, load=load, ad={"DAGMan_MaxJobs": 1})
    assert findings(facts, 9)[0].nodes == ("D", "E")


def test_of_nodes_that_share_a_job_places_are_counted() -> None:
    def shared(places: int) -> Facts:
        load = Load(queued(3, 1, WAITING), categories={"big": queued(3, places, WAITING)})
        return facts_of(f"{FIVE}CATEGORY ALL_NODES big\nMAXJOBS big 2\n", {}, load=load)

    jobs, category = findings(shared(2), 1)
    assert jobs.sentence.startswith("MaxJobs is reached: 1 job of 3 nodes queued, the limit is 1;")
    assert category.sentence.startswith(
        "Category big is full: 2 places taken by 3 nodes of it in the queue, MAXJOBS big 2"
    )
    assert not findings(shared(1), 2)
