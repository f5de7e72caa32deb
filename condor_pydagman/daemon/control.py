"""Live control: what clients ask over the command socket becomes inputs of the engine.

A client knows the address from the job ad (DAG_Address), and the secret from the schedd, which
tells it the job's owner alone.  The secret is what the schedd has put into CONDOR_SECURITY_SESSION;
whoever has it is trusted (manual: "htcondor dag").  It is never written anywhere.
"""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Mapping

from condor_pydagman.adapters import control_socket
from condor_pydagman.adapters.cedar import Ad, Value, value
from condor_pydagman.adapters.control_socket import ControlSocket, Request
from condor_pydagman.daemon.run import Run
from condor_pydagman.engine import inputs
from condor_pydagman.errors import PoolError
from condor_pydagman.printable import message
from condor_pydagman.records.ad_attributes import ADDRESS, HALTED, LIMITS
from condor_pydagman.vocabulary import SECRET, DagStatus

_HALT, _RESUME, _THROTTLES = 1, 2, 3  # values of DagCommand
_MOST = 2**31 - 1  # the highest limit


class Control:
    """The command socket of one run, if it has one."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._socket: ControlSocket | None = None
        self._secret = os.environ.get(SECRET, "")
        self._port = run.options.port
        self._asked: deque[tuple[inputs.Input, Request]] = deque()
        self._unpublished: dict[str, str] = {}  # what the job ad is still to be told

    def open(self) -> list[inputs.Input]:
        """Listen, tell the job ad where; returns the halt of an earlier DAGMan of this job."""
        run = self._run
        if not run.cluster:
            return []
        halted = was_halted(run.own_ad) if run.recovering else False
        if halted is None:
            run.out.say("Warning: can't tell whether a command had halted the DAG; it goes on")
            changes = {}
        else:
            changes = {HALTED: "true" if halted else "false"}
        if run.config.disable_port or self._port == 0:
            run.out.say("DaemonCore: No command port requested.")
        elif not self._secret:
            run.out.say("No command socket: the schedd gave no secret, so we could trust no one")
        else:
            self._listen(changes)
        if self._socket is None and run.own_ad.get(ADDRESS):
            # An earlier DAGMan's: whoever listens there now must not be told our secret.
            changes[ADDRESS] = "undefined"
        self._publish(changes)
        return [inputs.Halt(restored=True)] if halted else []

    def _listen(self, changes: dict[str, str]) -> None:
        out = self._run.out
        try:
            self._socket = ControlSocket(control_socket.settings(self._port))
        except OSError as error:
            reason = error.strerror or error
            out.say(f"Warning: no command socket, htcondor dag can't reach this DAGMan: {reason}")
        else:
            out.say(f"DaemonCore: command socket at {self._socket.address}")
            changes[ADDRESS] = f'"{self._socket.address}"'

    def fileno(self) -> int:
        """Readable when a client wants something; -1 if there is no socket."""
        return -1 if self._socket is None else self._socket.fileno()

    def next_deadline(self) -> float | None:
        """When `take` is to be called though nobody wants anything (monotonic clock)."""
        return None if self._socket is None else self._socket.next_deadline()

    def take(self) -> list[inputs.Input]:
        """Serve whoever wants something; returns what clients want, to be answered when done."""
        if self._socket is None:
            return []
        wanted: list[inputs.Input] = []
        for request in self._socket.work(self._run.out.say):
            refusal = refused(request.ad, self._secret)
            if refusal is not None:
                request.reply(refusal)
                continue
            an_input = understood(request.ad)
            self._asked.append((an_input, request))
            wanted.append(an_input)
        return wanted

    def after(self, an_input: inputs.Input) -> None:
        """The engine has been told: answer the client that wanted it."""
        if not self._asked or self._asked[0][0] is not an_input:
            return
        request = self._asked.popleft()[1]
        answer: dict[str, Value] = {"Result": True, "Trusted": True}
        engine = self._run.engine
        if isinstance(an_input, inputs.LimitsWanted):
            answer.update({name: getattr(engine.limits, LIMITS[name]) for name in LIMITS})
        else:
            halted = engine.halted_by_command or engine.paused
            self._publish({HALTED: "true" if halted else "false"})
        if isinstance(an_input, inputs.Resume) and engine.halted:
            answer["Result"] = False
            answer["ErrorString"] = f"Still halted: remove the halt file {self._run.paths.halt}"
        request.reply(answer)

    def catch_up(self) -> None:
        """To be called now and then: the schedd may have been away."""
        if self._unpublished:
            self._publish({})

    def _publish(self, changes: dict[str, str]) -> None:
        """Into the job ad, before the client is told that it is done."""
        again = bool(self._unpublished)
        self._unpublished.update(changes)
        try:
            self._run.schedd.publish(self._unpublished)
        except PoolError as error:
            if not again:
                self._run.out.say(f"Warning: can't update the DAGMan job's ad: {error.reason}")
        else:
            self._unpublished.clear()


def was_halted(own_ad: Mapping[str, object]) -> bool | None:
    """Whether a command had halted the DAG of this job ad; None if the schedd did not give the ad.

    Of stock's DAGMan its status tells.
    """
    if not own_ad:
        return None
    halted = own_ad.get(HALTED)
    return own_ad.get("DAG_Status") == DagStatus.HALTED if halted is None else halted is True


def refused(request: Ad, secret: str) -> dict[str, Value] | None:
    """The answer to a request that is not to be obeyed, in stock's words; None if it is."""
    given = value(request, "Secret")
    if not secret:
        return _no("DAGMan has no command secret and trusts no one")
    if not isinstance(given, str):
        return _no("No contact secret provided in request")
    import hmac  # large, and most DAGMans are never called

    ours, theirs = (text.encode("utf-8", "surrogateescape") for text in (secret, given))
    if not hmac.compare_digest(ours, theirs):
        return _no("Invalid secret provided")
    number = _number(request, "DagCommand")
    if number is None:
        return _no("No DAG command provided in request", trusted=True)
    if number not in (_HALT, _RESUME, _THROTTLES):
        return _no(f"Unknown DAG command ({number}) provided", trusted=True)
    return None


def understood(request: Ad) -> inputs.Halt | inputs.Resume | inputs.LimitsWanted:
    """What a request that is to be obeyed asks for."""
    number = _number(request, "DagCommand")
    if number == _RESUME:
        return inputs.Resume()
    if number == _HALT:
        reason = value(request, "HaltReason")
        words = message(reason) if isinstance(reason, str) else ""
        return inputs.Halt(words, pause=bool(_number(request, "IsPause")))
    limits = {name: _number(request, attribute) for attribute, name in LIMITS.items()}
    return inputs.LimitsWanted(
        **{name: min(max(n, 0), _MOST) for name, n in limits.items() if n is not None}
    )


def _no(reason: str, *, trusted: bool = False) -> dict[str, Value]:
    return {"Result": False, "Trusted": trusted, "ErrorString": reason}


def _number(request: Ad, name: str) -> int | None:
    """An attribute as ClassAds give a number: of truth values and reals too."""
    found = value(request, name)
    if found is None or isinstance(found, str) or not math.isfinite(found):
        return None
    return int(found)
