"""What is said of nodes that wait for shared limits."""

from __future__ import annotations

from condor_pydagman.features.shared_limits.overview import DagPart, LimitRow, LimitsAsked
from condor_pydagman.features.shared_limits.shown import notices
from condor_pydagman.follow.notices.facts import Facts
from condor_pydagman.follow.run_model import DagState, Run


def part(name: str, cluster: int, taken: int, waiting: int = 0) -> DagPart:
    return DagPart(name, "ann", cluster, taken, waiting, 940.0 if waiting else 0.0, True)


def facts_with(asked: LimitsAsked) -> Facts:
    of = {"shared_limits": asked}
    return Facts("t.dag", DagState.RUNNING, 1000.0, Run(), cluster=7, of=of)


def said(*parts: DagPart, kind: str = "JOBS") -> list[str]:
    taken, waiting = sum(one.taken for one in parts), sum(one.waiting for one in parts)
    row = LimitRow("tape", kind, 1000, False, taken, waiting, parts)
    facts = Facts(
        "t.dag",
        DagState.RUNNING,
        1000.0,
        Run(),
        cluster=7,
        of={"shared_limits": LimitsAsked((row,))},
    )
    return [finding.sentence for finding in notices(facts)]


def test_who_has_how_much_of_the_limit() -> None:
    parts = (part("a.dag", 1, 400), part("b.dag", 2, 350), part("c.dag", 3, 200))
    assert said(*parts, part("t.dag", 7, 50, 1200)) == [
        "1,200 nodes are waiting for the shared limit tape: 1,000 of 1,000 jobs are in use, 400 by"
        " a.dag, 350 by b.dag, 200 by c.dag, the rest by 1 other DAG."
    ]
    assert said(part("t.dag", 7, 0, 1), kind="PRE") == [
        "1 PRE script is waiting for the shared limit tape: 0 of 1,000 PRE scripts are in use."
    ]


def test_a_limit_that_the_dag_does_not_name() -> None:
    row = LimitRow("tape", "JOBS", 9, False, 9, 1, (part("t.dag", 7, 9, 1),))
    (notice,) = notices(facts_with(LimitsAsked((row,), applied=("tape",))))
    assert notice.sentence == (
        "1 node is waiting for the shared limit tape, which is applied by the administrator: 9 of 9"
        " jobs are in use, 9 by this DAG."
    )


def test_a_dag_that_does_not_wait_is_told_nothing() -> None:
    assert said(part("t.dag", 7, 50), part("a.dag", 1, 3, 5)) == []


def test_why_no_places_can_be_had() -> None:
    facts = facts_with(LimitsAsked(trouble="it is locked"))
    (finding,) = notices(facts)
    assert finding.cause == "limit.trouble"
    assert finding.sentence == (
        "DAGMan can't use the shared limits, so no node that is subject to one can"
        " start: it is locked."
    )
