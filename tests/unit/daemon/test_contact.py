"""The address of the command socket is in the job ad before there is a nodes log."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from condor_pydagman.adapters import cedar
from condor_pydagman.daemon.clients import Control
from condor_pydagman.errors import PoolError
from condor_pydagman.vocabulary import SECRET
from tests.unit.daemon.starts import Place, Schedd

LOG = Path("t.dag.nodes.log")
AD = {"Owner": "ann", "JobRunCount": 1, "JobBatchId": "7.0", "JobBatchName": "b"}
NO_ANSWER = PoolError("no answer", transient=True)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.setenv(SECRET, "scheduler-universe-7.0#[]0123")
    place = Place(monkeypatch, tmp_path, Schedd(AD))
    place.set_job_id(7)
    place.schedd.look = LOG.exists
    yield place
    for socket in place.sockets:
        socket.close()


def news(place: Place, run: object) -> dict[str, str]:
    """What is told the job ad when the DAG has begun."""
    control = Control(run)  # type: ignore[arg-type]
    control.open()
    place.schedd.edits.clear()
    place.schedd.answers = [None]
    control.announce()
    place.schedd.deliver()
    place.schedd.deliver()
    return place.schedd.edits


def test_the_job_ad_has_the_address_before_there_is_a_nodes_log(place: Place) -> None:
    place.schedd.answers = [None]
    run = place.prepare()
    assert place.schedd.seen == [False]
    assert LOG.exists()
    assert run.contact is not None
    assert run.contact.socket is not None
    assert place.schedd.edits == {"DAG_Address": f'"{run.contact.socket.address}"'}
    assert f"DaemonCore: command socket at {run.contact.socket.address}" in place.said()
    assert news(place, run) == {"PYDAGMAN_HaltedByCommand": "false"}


def test_an_address_that_the_schedd_did_not_take_is_told_again(place: Place) -> None:
    place.schedd.answers = [NO_ANSWER]
    run = place.prepare()
    assert LOG.exists()
    assert set(news(place, run)) == {"PYDAGMAN_HaltedByCommand", "DAG_Address"}


def test_a_signal_ends_the_wait_for_a_schedd_that_hangs(place: Place) -> None:
    signals = iter([False, False, True])
    run = place.prepare(has_to_leave=lambda: next(signals))
    assert LOG.exists()
    assert run.contact is not None
    assert "DAG_Address" in run.contact.unpublished


def test_without_cryptography_there_is_no_command_socket_and_the_log_tells_how_to_get_it(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cedar, "is_installed", lambda: False)
    place.schedd.ad = {**AD, "DAG_Address": "<192.0.2.1:9618>"}
    place.schedd.answers = [None]
    run = place.prepare()
    control = Control(run)
    assert control.open() == []
    assert (control.fileno(), control.next_deadline(), control.read_requests()) == (-1, None, [])
    assert place.schedd.edits == {"DAG_Address": "undefined"}  # an earlier DAGMan's
    assert place.schedd.seen == [False]
    (line,) = (line for line in place.said().splitlines() if "command socket" in line)
    assert "Warning: no command socket, htcondor dag can't reach this DAGMan: " in line
    assert line.endswith("-m pip install cryptography")


def test_without_a_secret_nothing_is_told(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SECRET)
    run = place.prepare()
    assert run.contact is not None
    assert run.contact.socket is None
    assert not place.schedd.edits


@pytest.mark.parametrize("words", [(), ("-SetupOnly",)])
def test_who_has_no_job_or_runs_nothing_has_no_command_socket(
    place: Place, words: tuple[str, ...]
) -> None:
    place.set_job_id(7 if words else 0)
    contact = place.prepare(*words).contact
    assert contact is not None
    assert (contact.socket, contact.unpublished) == (None, {})
