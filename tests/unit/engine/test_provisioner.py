"""The PROVISIONER node: nothing else starts before it says so."""

from __future__ import annotations

from condor_pydagman.engine import actions as do
from condor_pydagman.engine.inputs import ProvisionerAnswer
from condor_pydagman.graph.model import DONE, Dag, Retry
from tests import make
from tests.make import QUIET

TEXT = "A -> B\nPROVISIONER P n.sub"
P = 5  # cluster of its job


def asked(of: Dag | str = TEXT) -> make.EngineHarness:
    """Its job is in the queue and is asked for."""
    harness = make.EngineHarness(of, QUIET).begin()
    harness.take("P", P)
    return harness


def go(harness: make.EngineHarness) -> make.EngineHarness:
    """It gives the go-ahead."""
    harness.happens(ProvisionerAnswer(2))
    return harness


def test_a_late_answer_of_an_attempt_that_has_failed_is_no_go_ahead() -> None:
    of = make.dag(TEXT)
    of.retries[of.ids["P"]] = Retry(1)  # no file says that today
    harness = asked(of)
    harness.tell(make.terminated(P, value=1))
    harness.take("P", P + 1)
    harness.tell(ProvisionerAnswer(2))
    assert not harness.ever(do.AppendJournalRecord)
    harness.wait(100.0)
    assert harness.ever(do.QueryProvisioner)[-1] == do.QueryProvisioner(P + 1)
    assert go(harness).submits() == ["A"]


def test_a_provisioner_that_is_done_in_a_rescue_file() -> None:
    of = make.dag("A\nPROVISIONER P n.sub")
    of.flags[of.ids["P"]] |= DONE  # no file says that today
    harness = make.EngineHarness(of).begin()
    assert harness.submits() == ["A"]
