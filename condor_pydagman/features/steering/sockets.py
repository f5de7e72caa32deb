"""Both sockets of a DAGMan as one source of the loop: the command socket, and the local socket over
which people's programs ask.

What serves the local socket is loaded when the first client comes, since most DAGMans have none.
"""

from __future__ import annotations

import select
from typing import Any

from condor_pydagman.daemon.clients import Control
from condor_pydagman.daemon.run import DagRun
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.errors import FileError
from condor_pydagman.feature_table import SERVES_CLIENTS, part
from condor_pydagman.features.common.adapters.request_socket import RequestSocket, answer_line
from condor_pydagman.records.own_ad import HALTED


class Clients(Control):
    """See `ports.Control`."""

    def __init__(self, run: DagRun, listener: int = -1) -> None:
        super().__init__(run)
        self._listener = listener  # the local socket, if it listens already; -1: it does not
        self._local_socket: RequestSocket | None = None
        self._local: Any = None  # what serves it
        self._epoll = select.epoll()

    def open(self) -> list[inputs.Input]:
        """See `ports.Control`."""
        restored, run = super().open(), self._run
        try:
            self._local_socket = RequestSocket(run.paths.primary, self._listener)
        except OSError as error:
            reason = error.strerror or error
            run.out.say(f"Warning: condor_pydagman steer can't reach this DAGMan: {reason}")
        for fd in (super().fileno(), self._local_socket.fileno() if self._local_socket else -1):
            if fd >= 0:
                self._epoll.register(fd, select.EPOLLIN)
        return restored

    @property
    def rests(self) -> bool:
        """See `ports.Control`."""
        parts = (self._local_socket, self._local)
        return super().rests and all(part is None or part.rests for part in parts)

    def descriptors(self) -> tuple[tuple[int, ...], int]:
        """See `ports.Control`."""
        command, _ = super().descriptors()
        local = self._local_socket
        return command, -1 if local is None else local.listener.fileno()

    def fileno(self) -> int:
        """Readable when a client wants something."""
        return self._epoll.fileno()

    def next_deadline(self) -> float | None:
        """See `ports.Control`."""
        times = [super().next_deadline()]
        if self._local is not None:
            times.append(self._local.next_deadline())
        return min((time for time in times if time is not None), default=None)

    def read_requests(self) -> list[inputs.Input]:
        """See `ports.Control`."""
        found = super().read_requests()
        if self._local_socket is not None:
            self._local_socket.work()
            if self._local_socket.ready and self._local is None:
                self._serve_local(self._local_socket)
            if self._local is not None:
                found += self._local.taken(self._local_socket.lines())
        return found

    def _serve_local(self, socket: RequestSocket) -> None:
        """For the first client; if that is not possible any more, it is told why."""
        reason = "this installation lacks what serves clients of DAGMan"
        try:
            found = part(SERVES_CLIENTS, "clients")
        except FileError as error:
            found, reason = None, str(error)
        if found is not None:
            self._local = found.LocalClients(self._run, socket)
            return
        for client, _ in socket.lines():
            socket.answer(client, answer_line(None, {"error": reason}))

    def input_handled(self, an_input: inputs.Input) -> None:
        """See `ports.Control`."""
        super().input_handled(an_input)
        if self._local is not None and self._local.has_asked(an_input):
            if isinstance(an_input, (inputs.Halt, inputs.Resume)):  # the next DAGMan is to know
                halts = self._run.engine.report().halts
                self._publish({HALTED: "true" if halts.by_command or halts.paused else "false"})
            self._local.input_handled()

    def answer(self, answer: do.Steered | do.Grown) -> None:
        """See `ports.Control`."""
        if self._local is not None:
            tell = self._local.steered if isinstance(answer, do.Steered) else self._local.grown
            tell(answer)
