"""What follows a fault."""

from __future__ import annotations

from condor_pydagman.data_requests.faults import Fault, FaultKind, no_file
from condor_pydagman.data_requests.requests import Release, Transfer
from condor_pydagman.data_requests.settings import Settings
from condor_pydagman.data_requests.urls import parse_url
from condor_pydagman.placement.rules.attempts import (
    Candidate,
    Next,
    Policy,
    delay_s,
    follow_up,
    next_candidate,
    policy,
    ruled_out,
)

POLICY = Policy(3, 1, 60)
TRANSFER = Transfer(parse_url("http://h/a"), parse_url("/b"))
BUSY, MISSING = Fault(FaultKind.SERVER, "503"), Fault(FaultKind.MISSING, "404")


def test_transient_faults_are_tried_again_so_often() -> None:
    for retries in range(3):
        assert follow_up(BUSY, retries, POLICY, has_next=True) is Next.AGAIN
    assert follow_up(BUSY, 3, POLICY, has_next=True) is Next.NEXT_CANDIDATE
    assert follow_up(BUSY, 3, POLICY, has_next=False) is Next.GIVE_UP


def test_lasting_faults_are_not() -> None:
    assert follow_up(MISSING, 0, POLICY, has_next=True) is Next.NEXT_CANDIDATE
    assert follow_up(MISSING, 0, POLICY, has_next=False) is Next.GIVE_UP


def test_nothing_follows_a_stop() -> None:
    stopped = Fault(FaultKind.STOPPED, "stopped")
    assert follow_up(stopped, 0, POLICY, has_next=True) is Next.GIVE_UP


def test_a_lasting_fault_of_the_file_skips_the_other_ways_between_the_same_urls() -> None:
    candidates = [Candidate(TRANSFER, pair, way) for pair in (0, 1) for way in ("direct", "plugin")]
    module = Fault(FaultKind.MODULE, "x", transient=False)
    for fault, follower in ((MISSING, 2), (module, 1), (BUSY, 1)):
        assert next_candidate(candidates, 0, ruled_out(candidates, 0, fault)) == follower
    assert next_candidate(candidates, 3, {0, 1, 2, 3}) is None


def test_a_candidate_that_was_passed_over_comes_back() -> None:
    candidates = [Candidate(TRANSFER, pair, "direct") for pair in (0, 1)]
    assert next_candidate(candidates, 1, ruled_out(candidates, 1, MISSING)) == 0


def test_delays_double_up_to_the_longest() -> None:
    delays = [delay_s(BUSY, retry, POLICY, "key") for retry in range(100)]
    for retry, delay in enumerate(delays):
        whole = min(2.0**retry, 60)
        assert 0.75 * whole <= delay <= whole
    assert len({delay_s(BUSY, 5, POLICY, str(key)) for key in range(50)}) > 10


def test_a_server_says_how_long_to_wait() -> None:
    polite = Fault(FaultKind.SERVER, "503", retry_after_s=20)
    assert delay_s(polite, 0, POLICY, "key") == 20
    assert delay_s(Fault(FaultKind.SERVER, "503", retry_after_s=1e9), 0, POLICY, "key") == 60


def test_a_request_has_its_own_numbers() -> None:
    assert policy(TRANSFER, Settings()) == Policy(10, 1, 600)
    assert policy(TRANSFER._replace(max_retries=0, max_delay_s=5), Settings()) == Policy(0, 1, 5)
    assert policy(Release("h", "1", max_retries=2), Settings()).max_retries == 2


def test_no_other_way_takes_what_is_no_file() -> None:
    candidates = [
        Candidate(TRANSFER, 0, "direct"),
        Candidate(TRANSFER, 0, "plugin"),
        Candidate(TRANSFER, 1, "direct"),
    ]
    assert ruled_out(candidates, 0, no_file("http://a/b")) == {0, 1}
    assert ruled_out(candidates, 0, Fault(FaultKind.REQUEST, "odd")) == {0}
