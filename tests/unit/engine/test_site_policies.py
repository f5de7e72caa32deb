"""When a group is taken back: idle or held jobs, failures, sites without ads, expressions."""

from __future__ import annotations

from typing import Any

from condor_pydagman.engine import inputs
from condor_pydagman.engine.actions import AppendJournalRecord
from condor_pydagman.sites.policy import SitePolicy
from condor_pydagman.vocabulary import EventKind, JournalRecord
from tests import make
from tests.unit.engine.matched import Matched, matched


def one_job(**policy: Any) -> Matched:
    """A group whose only job is in the queue at site s."""
    harness = matched("A; Z", "s:1 t:1", groups={"g": "A"}, policies={"g": SitePolicy(**policy)})
    harness.take("Z", 9)
    harness.answer()
    harness.take("A", 1)
    return harness


def taken_back_for(harness: Matched) -> str:
    """Why the group is being taken back, '' if it is not."""
    harness.back()
    if "LEAVING" not in harness.groups():
        return ""
    (said,) = [
        say.text for say in harness.all if hasattr(say, "text") and "is taken back" in say.text
    ]
    return str(said).partition(": ")[2]


def test_a_job_that_is_idle_for_too_long() -> None:
    harness = one_job(idle=60)
    harness.wait(59)
    assert taken_back_for(harness) == ""
    harness.wait(1)
    assert taken_back_for(harness) == "job 1.0 of node A has been idle for 60 s"


def test_a_job_that_runs_is_not_idle() -> None:
    harness = one_job(idle=60)
    harness.tell(make.of_job(EventKind.EXECUTE, 1))
    harness.wait(100)
    assert taken_back_for(harness) == ""
    harness.tell(make.of_job(EventKind.JOB_EVICTED, 1))
    harness.wait(59)
    assert taken_back_for(harness) == ""
    harness.wait(1)
    assert taken_back_for(harness) != ""


def test_a_restart_does_not_set_the_clock_back() -> None:
    harness = one_job(idle=60)
    harness.wait(50)
    other = harness.restart()
    assert other.engine.next_deadline() == harness.now + 10


def test_a_job_whose_submission_the_log_has_lost_is_idle() -> None:
    harness = matched("A", "s:1", groups={"g": "A"}, policies={"g": SitePolicy(idle=60)})
    harness.answer()
    later = harness.restart()
    later.tell(inputs.QueueListed((inputs.QueuedJob(1, 0, "A", 0),)))
    later.read_back()
    later.wait(59)
    assert not later.ever(AppendJournalRecord)[1:]
    (taken_back,) = (one for one in later.wait(1) if isinstance(one, AppendJournalRecord))
    assert taken_back.record is JournalRecord.SITE_TAKEN_BACK
    assert taken_back.text == "job 1.0 of node A has been idle for 60 s"


def test_a_job_that_is_known_to_run_is_not_idle_when_it_is_adopted() -> None:
    harness = one_job(idle=60)
    harness.tell(make.of_job(EventKind.EXECUTE, 1))
    harness.tell(make.record(JournalRecord.ADOPTED, "A", value=1, cluster=1))
    harness.wait(100)
    assert taken_back_for(harness) == ""


def test_a_job_that_is_held_for_too_long() -> None:
    harness = one_job(held=30)
    harness.wait(100)
    harness.tell(make.of_job(EventKind.JOB_HELD, 1))
    harness.wait(29)
    harness.tell(make.of_job(EventKind.JOB_RELEASED, 1))
    harness.tell(make.of_job(EventKind.JOB_HELD, 1))
    harness.wait(29)
    assert taken_back_for(harness) == ""
    harness.wait(1)
    assert taken_back_for(harness) == "job 1.0 of node A has been on hold for 30 s"


def test_a_site_whose_ad_is_gone() -> None:
    harness = one_job(gone=120)
    for gone in (False, True, True):
        harness.wait(60)
        harness.tell(inputs.SitesMatched((), ["t"] if gone else ["s", "t"]))
        assert taken_back_for(harness) == ""
    harness.wait(60)
    assert taken_back_for(harness) == "its site has had no ad for 120 s"


def test_an_ad_that_comes_back() -> None:
    harness = one_job(gone=120)
    for there in (["t"], ["t", "s"], ["t"], ["t"]):
        harness.wait(60)
        harness.tell(inputs.SitesMatched((), there))
        assert taken_back_for(harness) == ""


def test_a_place_that_others_have_got() -> None:
    harness = one_job()
    harness.tell(inputs.SitesMatched((), ["s"], without_room=[0]))
    assert taken_back_for(harness) == (
        "others have got its place while DAGMan's job was not in the queue"
    )


def test_an_expression_that_becomes_true() -> None:
    harness = one_job(rematch_if="TARGET.Bad")
    harness.wait(60)
    harness.answer(unfit=(0,))
    assert taken_back_for(harness) == "TARGET.Bad is true"


def test_without_a_policy_nothing_is_taken_back() -> None:
    harness = one_job()
    harness.tell(make.of_job(EventKind.JOB_HELD, 1))
    harness.wait(100_000)
    assert taken_back_for(harness) == ""
    assert harness.groups() == "g=MATCHED@s"
