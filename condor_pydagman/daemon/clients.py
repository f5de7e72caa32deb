"""What stock's commands ask of a running DAGMan, over the command socket, becomes inputs of the
engine.

A client of the command socket knows the address from the job ad (DAG_Address), and the secret from
the schedd, which tells it the job's owner alone.  The secret is what the schedd has put into
CONDOR_SECURITY_SESSION; whoever has it is trusted (manual: "htcondor dag").  It is never written
anywhere.
"""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Callable, Mapping

from condor_pydagman.adapters.cedar import Ad, Value, value
from condor_pydagman.adapters.control_socket import Request, Settings
from condor_pydagman.daemon.run import DagRun
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.errors import PoolError
from condor_pydagman.printable import message
from condor_pydagman.records.own_ad import HALTED, LIMITS
from condor_pydagman.timers import REPLY_TIMEOUT_S
from condor_pydagman.vocabulary import SECRET, DagStatus

_HALT, _RESUME, _THROTTLES = 1, 2, 3  # values of DagCommand
_MAX_LIMIT = 2**31 - 1  # of a throttle


class _PendingReply:
    """A reply to a client that waits until the job ad has the new value, or until `deadline_at`
    (monotonic): DAGMan has obeyed the command whether or not the schedd answers."""

    def __init__(self, deadline_at: float, request: Request, answer: dict[str, Value]) -> None:
        self.deadline_at = deadline_at
        self.sent = False
        self._request = request
        self._answer = answer

    def send(self) -> None:
        """Send the reply, once."""
        if not self.sent:
            self.sent = True
            self._request.reply(self._answer)


class Control:
    """The command socket of one run, if it has one."""

    def __init__(self, run: DagRun) -> None:
        self._run = run
        self._socket = run.contact.socket if run.contact is not None else None
        self._secret = os.environ.get(SECRET, "")
        self._requests: deque[tuple[inputs.Input, Request]] = deque()
        self._pending_replies: deque[_PendingReply] = deque()
        self._unpublished: dict[str, str] = {}  # what the job ad is still to be told
        self._news: dict[str, str] = {}  # what `announce` tells it

    def open(self) -> list[inputs.Input]:
        """Returns what people have told an earlier DAGMan of this job."""
        run = self._run
        if not run.job.cluster:
            return []
        if run.contact is not None:
            self._news.update(run.contact.unpublished)
        halted = was_halted(run.job.ad) if run.recovering else False
        if halted is None:
            run.out.say("Warning: can't tell whether a command had halted the DAG; it goes on")
        else:
            self._news[HALTED] = "true" if halted else "false"
        return [inputs.Halt(restored=True)] if halted else []

    def announce(self) -> None:
        """Tell the job ad whether a command halts the DAG, and what else it is to know of us.

        That takes the schedd some milliseconds, for which the first node need not wait.  (It has
        been told already where clients are listened to, see `contact`.)
        """
        if self._news:
            self._publish(self._news)
            self._news = {}

    @property
    def rests(self) -> bool:
        """See `ports.Control`."""
        waits = self._requests or self._pending_replies or self._unpublished
        return not waits and (self._socket is None or self._socket.rests)

    @property
    def listening(self) -> Settings | None:
        """Where commands are listened for."""
        return None if self._socket is None else self._socket.where

    def descriptors(self) -> tuple[tuple[int, ...], int]:
        """Those of sockets that listen: for commands, and the local one (-1: none)."""
        return () if self._socket is None else self._socket.descriptors(), -1

    def fileno(self) -> int:
        """Readable when a client wants something; -1 if there is no socket."""
        return -1 if self._socket is None else self._socket.fileno()

    def next_deadline(self) -> float | None:
        """When `read_requests` is to be called though no client is ready (monotonic clock)."""
        if self._socket is None:
            return None
        deadline = self._socket.next_deadline()
        if not self._pending_replies:
            return deadline
        until = self._pending_replies[0].deadline_at
        return until if deadline is None else min(deadline, until)

    def read_requests(self) -> list[inputs.Input]:
        """Read requests of clients; returns them as inputs, to be replied to when handled."""
        if self._socket is None:
            return []
        now = self._run.clock.monotonic()
        while self._pending_replies and (  # those that have waited long enough for the schedd
            self._pending_replies[0].sent or self._pending_replies[0].deadline_at <= now
        ):
            self._pending_replies.popleft().send()
        wanted: list[inputs.Input] = []
        for request in self._socket.work(self._run.out.say):
            refusal = refused(request.ad, self._secret)
            if refusal is not None:
                request.reply(refusal)
                continue
            an_input = parsed_command(request.ad)
            self._requests.append((an_input, request))
            wanted.append(an_input)
        return wanted

    def input_handled(self, an_input: inputs.Input) -> None:
        """The engine has handled the input: reply to the client that sent it."""
        if not self._requests or self._requests[0][0] is not an_input:
            return
        request = self._requests.popleft()[1]
        answer: dict[str, Value] = {"Result": True, "Trusted": True}
        report = self._run.engine.report()
        if isinstance(an_input, inputs.Resume) and report.halts.by_file:
            answer["Result"] = False
            answer["ErrorString"] = f"Still halted: remove the halt file {self._run.paths.halt}"
        if isinstance(an_input, inputs.LimitsWanted):
            answer.update({name: getattr(report.limits, LIMITS[name]) for name in LIMITS})
            request.reply(answer)
        else:
            halted = report.halts.by_command or report.halts.paused
            pending_reply = _PendingReply(
                self._run.clock.monotonic() + REPLY_TIMEOUT_S, request, answer
            )
            self._pending_replies.append(pending_reply)
            self._publish({HALTED: "true" if halted else "false"}, pending_reply.send)

    def answer(self, answer: do.Steered | do.Grown) -> None:
        """See `ports.Control`; over this socket nobody asks for that."""

    def retry_publishing(self) -> None:
        """To be called now and then: the schedd may have been away."""
        if self._unpublished:
            self._publish({})

    def _publish(
        self, changes: dict[str, str], answered: Callable[[], None] = lambda: None
    ) -> None:
        """Into the job ad, before the client is told that it is done."""
        again = bool(self._unpublished)
        self._unpublished.update(changes)
        sent = dict(self._unpublished)

        def done(error: PoolError | None) -> None:
            if error is None:
                left = self._unpublished.items() - sent.items()
                self._unpublished = dict(left)
            elif not again:
                self._run.out.say(f"Warning: can't update the DAGMan job's ad: {error.reason}")
            answered()

        self._run.job_ad.edit(sent, done)


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


def parsed_command(request: Ad) -> inputs.Halt | inputs.Resume | inputs.LimitsWanted:
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
        **{name: min(max(n, 0), _MAX_LIMIT) for name, n in limits.items() if n is not None}
    )


def _no(reason: str, *, trusted: bool = False) -> dict[str, Value]:
    return {"Result": False, "Trusted": trusted, "ErrorString": reason}


def _number(request: Ad, name: str) -> int | None:
    """An attribute as ClassAds give a number: of truth values and reals too."""
    found = value(request, name)
    if found is None or isinstance(found, str) or not math.isfinite(found):
        return None
    return int(found)
