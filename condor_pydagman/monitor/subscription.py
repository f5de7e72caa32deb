"""The process that tells one client of DAGMan's local socket of events, as they happen.

DAGMan hands the connection over and knows nothing more of it.  The process ends with the DAG, when
its client has gone or has not read for a while, or when DAGMan has gone.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import struct
import sys
from functools import partial
from typing import Any

from condor_pydagman.errors import PydagmanError
from condor_pydagman.features.common.adapters.request_socket import answer_line
from condor_pydagman.follow.dag_events import DagEvent
from condor_pydagman.monitor.dag_monitor import INTERVAL_S, DagMonitor
from condor_pydagman.monitor.found_dag import find_dag
from condor_pydagman.monitor.plan import read_small_plan
from condor_pydagman.named_tuple import NamedTuple

CONNECTION, DAGMAN = 3, 4  # descriptors: the client's, and the line to DAGMan
UNREAD_S = 60  # that a client may leave what it is told unread
_LAST_LOOKS = 4  # after DAGMan has gone: its last lines are in the logs then


class Order(NamedTuple):
    """What a client wants; see `features.steering.clients`."""

    dag: str
    identity: Any
    since: str
    before: bool


def main() -> int:
    """Do what the order on standard input says; returns the exit code."""
    order = Order(**json.load(sys.stdin))
    client, dagman = (socket.socket(fileno=fd) for fd in (CONNECTION, DAGMAN))
    client.setblocking(True)
    limit = struct.pack("ll", UNREAD_S, 0)
    client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)
    with contextlib.suppress(OSError):  # the client has gone, or does not read
        os.chdir(os.path.dirname(order.dag))
        try:
            last = Subscription(order, client, dagman).run()
        except PydagmanError as error:
            last = {"error": str(error)}
        client.sendall(answer_line(order.identity, last))
    return 0


class Subscription:
    """Tells a client of events.

    Args:
        order: what it wants.
        client: the connection.
        dagman: ends when DAGMan has gone.

    Raises:
        PydagmanError: the DAG can't be read, or `since` is no id.
    """

    def __init__(self, order: Order, client: socket.socket, dagman: socket.socket) -> None:
        found = find_dag(order.dag, ask=False)
        self._monitor = DagMonitor(
            found, since=order.since, read_plan=partial(read_small_plan, found)
        )
        self._client, self._dagman = client, dagman
        self._dagman_gone = False
        self._poll = select.poll()
        self._poll.register(client, select.POLLRDHUP)
        self._poll.register(dagman, select.POLLRDHUP)
        if not order.before and not order.since:
            for _ in self._monitor.blocks():
                pass

    def run(self) -> dict[str, Any]:
        """Tell, until there is nothing more to tell; returns the last message.

        Raises:
            OSError: the client has gone, or does not read.
        """
        looks = _LAST_LOOKS
        while looks:
            for events in self._monitor.blocks():
                self._tell(events)
            if self._monitor.over:
                return {"ended": True, "exit_code": self._monitor.run.exit_code}
            looks = looks - 1 if self._has_dagman_gone() else _LAST_LOOKS
        return {"ended": False, "reason": "DAGMan has gone: ask again when it is back"}

    def _tell(self, events: list[DagEvent]) -> None:
        if events:
            text = "".join(f"{event.to_json()}\n" for event in events)
            self._client.sendall(text.encode("utf-8", "backslashreplace"))

    def _has_dagman_gone(self) -> bool:
        """Wait for the next look.

        Raises:
            OSError: the client has gone.
        """
        ready = {fd for fd, _ in self._poll.poll(INTERVAL_S * 1000)}
        if self._client.fileno() in ready:
            raise BrokenPipeError
        if self._dagman_gone or self._dagman.fileno() not in ready:
            return self._dagman_gone
        self._poll.unregister(self._dagman)
        self._dagman_gone = True
        return True
