"""Where clients reach this DAGMan: its command socket, and the address in the job ad.

Clients wait for the nodes log, then they ask the schedd for the address, so the job ad has it
before there is a nodes log, as under the stock program.  That is one call of the schedd, which is
made while the DAG is read.
"""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from condor_pydagman.adapters import cedar, control_socket
from condor_pydagman.adapters.control_socket import ControlSocket
from condor_pydagman.adapters.outlog import OutLog
from condor_pydagman.adapters.schedd_requests import EditOwnAd
from condor_pydagman.config import Config
from condor_pydagman.dagman_job.options import DagmanOptions
from condor_pydagman.errors import PoolError
from condor_pydagman.records.own_ad import ADDRESS
from condor_pydagman.timers import CONTACT_TIMEOUT_S, SIGNAL_LOOK_S
from condor_pydagman.vocabulary import SECRET

if TYPE_CHECKING:
    from condor_pydagman.daemon import ports


_LACKING = "Warning: no command socket, htcondor dag can't reach this DAGMan"


class Contact:
    """The command socket of one DAGMan.

    Args:
        own_ad: the ad of DAGMan's job, as it was at the start.
    """

    def __init__(self, socket: ControlSocket | None, own_ad: Mapping[str, object]) -> None:
        self.socket = socket  # None if there is none
        # what the job ad is still to be told, texts of expressions
        self.unpublished: dict[str, str] = {}
        self._awaited = False
        if socket is not None:
            self.unpublished[ADDRESS] = f'"{socket.address}"'
        elif own_ad.get(ADDRESS):
            # An earlier DAGMan's: whoever listens there now must not be told our secret.
            self.unpublished[ADDRESS] = "undefined"

    def publish(self, schedd: ports.Schedd) -> None:
        """Begin to tell the job ad."""
        if self.unpublished:
            self._awaited = True
            schedd.ask(EditOwnAd(dict(self.unpublished)), self._answered)

    def _answered(self, error: PoolError | None) -> None:
        self._awaited = False
        if error is None:
            self.unpublished.clear()

    def wait(self, schedd: ports.Schedd, has_to_leave: Callable[[], bool]) -> None:
        """Wait until the job ad has been told, or DAGMan has to leave, or the schedd hangs."""
        if not self._awaited:
            return
        until = time.monotonic() + CONTACT_TIMEOUT_S
        poll = select.poll()
        poll.register(schedd.fileno(), select.POLLIN)
        schedd.deliver()
        while self._awaited and time.monotonic() < until and not has_to_leave():
            poll.poll(SIGNAL_LOOK_S * 1000)
            schedd.deliver()


def open_contact(
    options: DagmanOptions, config: Config, own_ad: Mapping[str, object], out: OutLog
) -> Contact:
    """Listen, unless that is not wanted or not possible, which is told."""
    socket = None
    if config.disable_port or options.port == 0:
        out.say("DaemonCore: No command port requested.")
    elif not os.environ.get(SECRET):
        out.say("No command socket: the schedd gave no secret, so we could trust no one")
    else:
        socket = _listen(options.port, out)
    return Contact(socket, own_ad)


def _listen(port: int | None, out: OutLog) -> ControlSocket | None:
    if not cedar.is_installed():
        out.say(f"{_LACKING}: {cedar.missing_library_message()}")
        return None
    try:
        socket = ControlSocket(control_socket.settings(port))
    except OSError as error:
        out.say(f"{_LACKING}: {error.strerror or error}")
        return None
    out.say(f"DaemonCore: command socket at {socket.address}")
    return socket
