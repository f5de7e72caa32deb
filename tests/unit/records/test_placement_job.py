"""The submit description of a DATA node's job."""

from __future__ import annotations

from condor_pydagman.placement.requests import Allocate, Transfer
from condor_pydagman.placement.urls import parse_url
from condor_pydagman.records.placement_job import WorkerCommand, description, job_text

TRANSFER = Transfer(parse_url("http://me:geheim@h/a"), parse_url("/b"))
COMMAND = WorkerCommand("/opt/my python/p", ("transfer", "--order"))


def test_the_description() -> None:
    text = job_text(COMMAND, "/d/it's $(x).order", "/d/o", "my.log", [TRANSFER], [("A", 'b "c')])
    assert text.splitlines() == [
        "universe = local",
        "executable = /opt/my python/p",
        "arguments = \"'transfer' '--order' '/d/it''s $(DOLLAR)(x).order'\"",
        'environment = "\'A=b ""c\'"',
        "output = /d/o",
        "error = /d/o",
        'My.PlacementState = "request_received"',
        "My.PlacementRequests = 1",
        "description = transfer a",
        "log = my.log",
    ]


def test_what_the_queue_shows() -> None:
    assert description([]) == "data placement"
    assert description([TRANSFER, TRANSFER, Allocate("h", "1")]) == "transfer 2, allocate 1"
    assert description([TRANSFER._replace(source=parse_url("/x/$(y)"))]) == "transfer 1"
