"""All clients of a running DAGMan: stock's commands by the command socket, and the local socket.

What serves the local socket is loaded when the first client comes, since most DAGMans have none.
"""

from __future__ import annotations

import json
import select
from typing import Any

from condor_pydagman.adapters.request_socket import RequestSocket
from condor_pydagman.daemon.control import Control
from condor_pydagman.daemon.run import DagRun
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.errors import FileError
from condor_pydagman.features import SERVES_CLIENTS, part


class Clients:
    """Both sockets as one source of the loop; see `ports.Control`."""

    def __init__(self, run: DagRun) -> None:
        self._run = run
        self._control = Control(run)
        self._socket: RequestSocket | None = None
        self._local: Any = None  # what serves the local socket
        self._epoll = select.epoll()

    def open(self) -> list[inputs.Input]:
        """See `ports.Control`."""
        earlier = self._control.open()
        self._listen()
        for fd in (self._control.fileno(), -1 if self._socket is None else self._socket.fileno()):
            if fd >= 0:
                self._epoll.register(fd, select.EPOLLIN)
        return earlier

    def _listen(self) -> None:
        try:
            self._socket = RequestSocket(self._run.paths.primary)
        except OSError as error:
            reason = error.strerror or error
            self._run.out.say(f"Warning: condor_pydagman steer can't reach this DAGMan: {reason}")

    def announce(self) -> None:
        """See `ports.Control`."""
        self._control.announce()

    def fileno(self) -> int:
        """Readable when a client wants something."""
        return self._epoll.fileno()

    def next_deadline(self) -> float | None:
        """See `ports.Control`."""
        times = [self._control.next_deadline()]
        if self._local is not None:
            times.append(self._local.next_deadline())
        return min((time for time in times if time is not None), default=None)

    def read_requests(self) -> list[inputs.Input]:
        """See `ports.Control`."""
        found = self._control.read_requests()
        if self._socket is not None:
            self._socket.work()
            if self._socket.ready and self._local is None:
                self._serve_local(self._socket)
            if self._local is not None:
                found += self._local.taken(self._socket.lines())
        return found

    def _serve_local(self, socket: RequestSocket) -> None:
        """For the first client; if that is not possible any more, it is told why."""
        try:
            made = part(SERVES_CLIENTS, "clients").LocalClients
        except FileError as error:
            answer = json.dumps({"version": 1, "id": None, "error": str(error)})
            for client, _ in socket.lines():
                socket.answer(client, answer.encode() + b"\n")
            return
        self._local = made(self._run, socket)

    def input_handled(self, an_input: inputs.Input) -> None:
        """See `ports.Control`."""
        self._control.input_handled(an_input)
        if self._local is not None and self._local.has_asked(an_input):
            if isinstance(an_input, (inputs.Halt, inputs.Resume)):
                self._control.publish_halt()
            self._local.input_handled()

    def steered(self, answer: do.Steered) -> None:
        """See `ports.Control`."""
        if self._local is not None:
            self._local.steered(answer)

    def grown(self, answer: do.Grown) -> None:
        """See `ports.Control`."""
        if self._local is not None:
            self._local.grown(answer)

    def retry_publishing(self) -> None:
        """See `ports.Control`."""
        self._control.retry_publishing()
