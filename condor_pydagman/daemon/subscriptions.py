"""Hands clients who want events over to processes of their own, which follow the logs.

However slow or silent a client is, it holds up its own process and nothing of DAGMan.  A pair of
sockets connects DAGMan to each process: when one side has gone, the other one sees the end of it.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
from typing import Any

from condor_pydagman.adapters import detached_process

MAX_PROCESSES = 16
_MODULE = "condor_pydagman.monitor.subscription"


class Subscriptions:
    """The clients of a DAG who are told of events."""

    def __init__(self, dag_file: str) -> None:
        self._dag = os.path.abspath(dag_file)
        self._lines: list[socket.socket] = []  # to a process each

    def refusal(self) -> str:
        """Why there can't be one more client; '' if there can."""
        self._lines = [line for line in self._lines if not _has_gone(line)]
        if len(self._lines) >= MAX_PROCESSES:
            return f"{MAX_PROCESSES} clients are told of events already"
        return ""

    def start(self, connection: socket.socket, identity: Any, since: str, *, before: bool) -> None:
        """Tell the client at `connection`, which is closed here, of events.

        Args:
            identity: of its request.
            since: id of the last event that it knows; '' for the beginning of the run.
            before: whether events from before now are told as well.

        Raises:
            OSError: no process can be started.
        """
        mine, its = socket.socketpair()
        order = {"dag": self._dag, "identity": identity, "since": since, "before": before}
        with connection, its:
            inherited = (connection.fileno(), its.fileno())
            try:
                detached_process.start(_MODULE, json.dumps(order).encode(), inherited)
            except OSError:
                mine.close()
                raise
        mine.setblocking(False)
        self._lines.append(mine)

    def close(self) -> None:
        """DAGMan goes: the processes tell their clients, and end."""
        for line in self._lines:
            line.close()
        self._lines.clear()


def _has_gone(line: socket.socket) -> bool:
    with contextlib.suppress(BlockingIOError):
        if not line.recv(1):
            line.close()
            return True
    return False
