"""Jobs that wait in the queue."""

from __future__ import annotations

from condor_pydagman.explain.jobs import idle_job_findings
from condor_pydagman.explain.known_facts import Clause, Fit
from condor_pydagman.follow.notice import Weight
from condor_pydagman.follow.notices.facts import IDLE, Facts, QueuedJob
from tests.unit.explain import NOW, facts_of, texts

TEXT = "JOB A a.sub\n"


def known(fit: Fit) -> Facts:
    jobs = (QueuedJob("7.0", "A", IDLE, NOW - 90),)
    return facts_of(TEXT, {}, jobs=jobs, fits=(fit,))


def test_no_machine_matches_though_each_clause_holds_for_some() -> None:
    clauses = Clause("A", 5), Clause("B", 3)
    (found,) = idle_job_findings(known(Fit(4, "7.0", ("A", "B"), 8, clauses=clauses)))
    assert "4 jobs of nodes A and B are idle, the oldest for" in found.sentence
    assert "no slot meets all parts of their Requirements" in found.sentence
    assert texts(found)[0] == "Requirements of 7.0: B holds for 3 of 8 slots"


def test_the_machines_refuse_the_job() -> None:
    (found,) = idle_job_findings(known(Fit(1, "7.0", ("A",), 8, willing=2)))
    assert "the Requirements of the 2 slots that the job matches refuse it" in found.sentence


def test_machines_that_match_are_busy_or_free() -> None:
    (busy,) = idle_job_findings(known(Fit(1, "7.0", ("A",), 8, able=2, willing=2)))
    assert busy.weight is Weight.WAITING
    assert "2 of 8 slots can run it; all are busy, or other users have priority" in busy.sentence
    (free,) = idle_job_findings(known(Fit(2, "7.0", ("A",), 8, able=2, willing=2, free=1)))
    assert "1 of 8 slots could run them now" in free.sentence


def test_partitionable_slots_are_called_so() -> None:
    (found,) = idle_job_findings(known(Fit(1, "7.0", ("A",), 1, 1, 1, partitionable=1)))
    assert "1 of 1 partitionable slot can run it; all are busy" in found.sentence
    (found,) = idle_job_findings(known(Fit(1, "7.0", ("A",), 8, 2, 2, partitionable=3)))
    assert "2 of 8 slots (3 of them partitionable) can run it" in found.sentence
    assert texts(found) == ["collector: 8 slots (3 of them partitionable), 2 match"]
