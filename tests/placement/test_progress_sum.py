"""Sums over placements."""

from __future__ import annotations

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.placement.attempt_lines import ProgressSum
from condor_pydagman.placement.worker import AttemptEnd
from condor_pydagman.records.placement_event import FAILED
from tests.placement.helpers import transfer


def test_the_job_s_ad_has_no_secrets() -> None:
    made = ProgressSum()
    fault = Fault(FaultKind.SERVER, 'no "x" of ftp://me:geheim@h/a')
    made.add(AttemptEnd("k", transfer("/a", "/b"), FAILED, 1, 0.1, fault=fault))
    assert made.attributes([])["PlacementLastFault"] == '"no \\"x\\" of ftp://***@h/a"'
