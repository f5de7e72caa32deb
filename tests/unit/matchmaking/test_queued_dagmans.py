"""The name of a schedd, by the id of its job."""

from __future__ import annotations

import socket

from condor_pydagman.matchmaking.queued_dagmans import schedd_name


def test_the_schedd_of_a_job() -> None:
    assert schedd_name("ap.example.org#12.0#1700000000") == "ap.example.org"
    assert schedd_name(None) == schedd_name("") == socket.gethostname()
