"""What tells the queues of a machine's schedds apart."""

from __future__ import annotations

from condor_pydagman.features.common.adapters.queued_dagmans import queue_name


def test_the_schedd_of_a_job() -> None:
    assert queue_name("ap.example.org#12.0#1700000000").startswith("ap.example.org ")
    same = queue_name("ap.example.org#13.0#1700000001")
    assert queue_name("ap.example.org#12.0#1700000000") == same
