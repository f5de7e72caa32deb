"""What happens in a DAG, as DAGMan tells it through its local socket."""

from __future__ import annotations

import os
import time

from condor_pydagman.adapters.request_client import Events, StrPath
from condor_pydagman.adapters.request_client import subscribe as subscribed
from condor_pydagman.errors import PydagmanError
from condor_pydagman.features.common.adapters import request_socket
from condor_pydagman.follow.run_model import DagState
from condor_pydagman.monitor.found_dag import find_dag
from condor_pydagman.timers import ANSWER_TIMEOUT_S

_LOOK_S = 0.5  # between looks whether DAGMan has started
_STARTING_LOOKS = 120  # until a DAGMan that has started listens; one of stock's never does


def subscribe(dag: StrPath, since: str = "", *, before: bool = True) -> Events:
    """What happens in a DAG until it has ended: the fields of each event, as `condor_pydagman
    events` prints them.  Of a DAG whose job waits in the queue, what happens once it has started.

    Args:
        dag: its first DAG file.
        since: `id` of the last event that is known; '' for the beginning of the run.
        before: whether what has happened so far is told as well.

    Raises:
        FileError: no DAGMan of the caller's runs this DAG on this machine and none waits to, or it
            has gone before the end of the DAG.
        UsageError: `since` is no id, or too many are told of events.
    """
    path = os.fspath(dag)
    looks = _STARTING_LOOKS
    while looks and not _is_served(path):
        state = _state_of_coming(path)
        if state is None:
            break
        looks = _STARTING_LOOKS if state in (DagState.IDLE, DagState.HELD) else looks - 1
        time.sleep(_LOOK_S)
    yield from subscribed(path, since, before=before)


def _is_served(path: str) -> bool:
    connection = request_socket.connected(path, ANSWER_TIMEOUT_S)
    if connection is not None:
        connection.close()
    return connection is not None


def _state_of_coming(path: str) -> DagState | None:
    """The state of a DAG whose DAGMan is in the queue, or has no lock yet; None of others."""
    try:
        found = find_dag(path)
    except PydagmanError:
        return None
    return found.state if found.ad or found.state is DagState.UNKNOWN else None
