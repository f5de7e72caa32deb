"""The schedd, asked by a process of its own: DAGMan's loop waits for no call of the bindings.

All those calls hold up the whole process, for minutes where a schedd or a credd hangs.  So a child
of DAGMan makes them, one after another; its answers are a source of the loop like others.  It never
submits for a DAGMan that is dead (see `child`).  A submit whose answer can't come any more is lost:
the job may be in the queue or not.

The child is forked before a large DAG is read, so that it is small.  While there is nothing to ask
it leaves: 200 idle DAGMans on an access point would pay for 200 of them.  A child that is forked
later takes some milliseconds, and copies what a large DAGMan changes meanwhile; there it stays.

A search of the history, which may take minutes, has a child of its own.  What the bindings need for
the ads of a long history they do not give back: so that child lives for one search, and the kernel
ends one that takes too long.

While the machine has no process for a child, requests wait: no node fails for that.
"""

from __future__ import annotations

import contextlib
import os
import select
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, TypeVar

from condor_pydagman.adapters import job_history, submit_checks
from condor_pydagman.adapters import schedd_requests as ask
from condor_pydagman.adapters.child import Call, Calls, Child, Then
from condor_pydagman.adapters.processes import error_text, memory_kb
from condor_pydagman.adapters.schedd import ScheddAdapter
from condor_pydagman.adapters.schedd_requests import (
    MESSAGE_KINDS,
    Listing,
    ListQueue,
    ListRemovable,
    LostReply,
    Remove,
    Request,
    Submit,
    SubmitResult,
)
from condor_pydagman.adapters.submit_checks import FirstList, remarks_of
from condor_pydagman.engine.actions import HoldJobs, SetJobPriorities
from condor_pydagman.engine.inputs import EndedJob
from condor_pydagman.errors import PoolError
from condor_pydagman.timers import CHILD_IDLE_S, GIVE_UP_S, HISTORY_TIMEOUT_S, LOOK_IDLE_S

MAX_ASKED = 2  # submits handed over to the child: one that it makes, and the next
MAX_NEXT_LENGTH = 8000  # characters of that one's description: it has to fit into a socket's buffer
LARGE_BYTES = 150_000_000  # resident memory of a DAGMan whose child stays

C = TypeVar("C", bound=Calls)


class ScheddProcess(Calls):
    """Hands requests over to a child, and brings the results back; see `daemon.ports.Schedd`.

    Args:
        adapter: how the child asks.  Here it only keeps what children have found out.
        clock: monotonic seconds.
    """

    died = "the process that asks the schedd has died"
    late = "given up, as the jobs are to be removed"

    def __init__(self, adapter: ScheddAdapter, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__("ask the schedd", select.epoll(), clock, lambda text: adapter.warn(text))
        self._adapter = adapter
        self._leaves_at = 0.0  # CHILD_IDLE_S after the last request that is no look
        self._known: list[Any] = []  # what the child has found out, or has been told
        self._closed = False
        self._search = HistorySearch(adapter, self._epoll, clock)
        self._beside: list[Calls] = [self._search]

    def add(self, make: Callable[[select.epoll], C]) -> C:
        """From now on, bring back what this has done, too; returns it."""
        beside = make(self._epoll)
        self._beside.append(beside)
        return beside

    @property
    def ready(self) -> bool:
        """Whether `deliver` has a result at hand."""
        return bool(self._results)

    @property
    def busy(self) -> bool:
        """Whether something that was asked has not been answered yet."""
        return super().busy or self._search.busy

    def fileno(self) -> int:
        """Readable when a child has answered or has ended; the same at all times."""
        return self._epoll.fileno()

    def next_deadline(self) -> float | None:
        """When `deliver` is to be called though nothing is readable, monotonic seconds."""
        besides = (one.next_deadline() for one in self._beside)
        times = (super().next_deadline(), *besides)
        return min((time for time in times if time is not None), default=None)

    def memory(self) -> list[Any]:
        """What the adapter has found out."""
        return self._adapter.memory()

    def start(self) -> None:
        """Fork the child now, before there is much memory that it would share.

        Without a process it is tried again with the first request.
        """
        with contextlib.suppress(OSError):
            self._start()

    def ask(self, request: Request, then: Then) -> None:
        """Hand over a request; `then` is given its result by a later `deliver`."""
        assert not self._closed
        self._add([Call(request, then)])

    def deliver(self) -> None:
        """Call what waits for the results that have come."""
        self._results = self.results()
        for beside in self._beside:
            self._results.extend(beside.results())
        for _ in range(len(self._results)):
            if self._closed:  # by a `then` before: the others might ask again
                return
            then, result = self._results.pop(0)
            then(result)

    def rest(self) -> None:
        """End the child if it has nothing to do."""
        if not self.busy:
            self._end_child()

    def close(self) -> None:
        """End the children: nothing reaches the schedd any more that is not on its way."""
        self._closed = True
        self.end()
        for beside in self._beside:
            beside.end()

    def _send_next(self) -> None:
        """The removal of all jobs waits GIVE_UP_S at most for what the child does."""
        super()._send_next()
        is_held_up = bool(self._asked) and any(_removes_all(call.request) for call in self._waiting)
        if self._give_up_at is None and is_held_up:
            self._give_up_at = self._clock() + GIVE_UP_S

    def _send(self, child: Child, request: Request) -> None:
        if isinstance(request, Submit):
            request = Submit(None, *request[1:])  # the engine's action stays here
        child.send([request, self._news()], self._idle_s(request))

    def _idle_s(self, request: Request) -> float:
        """Seconds that the child is to wait for another request after this one."""
        now = self._clock()
        if not isinstance(request, ListQueue):
            self._leaves_at = now + CHILD_IDLE_S
        return max(LOOK_IDLE_S, self._leaves_at - now)

    def _has_room(self) -> bool:
        """It has the next submit at hand while it makes one: to wait for it would take about a
        tenth of the time of a submission."""
        if not self._asked:
            return True
        following = self._waiting[0].request
        return (
            len(self._asked) < MAX_ASKED
            and isinstance(self._asked[0].request, Submit)
            and isinstance(following, Submit)
            and len(following.text) <= MAX_NEXT_LENGTH
            and self._known == self._adapter.memory()
        )

    def _news(self) -> list[Any] | None:
        """What the child does not know yet; None if it knows all."""
        known, self._known = self._known, self._adapter.memory()
        return None if known == self._known else self._known

    def _made(self) -> Child:
        child = Child(self._serve, MESSAGE_KINDS, stays=_has_large_parent)
        self._known = self._adapter.memory()
        return child

    def _serve(self, message: list[Any]) -> list[Any]:
        """In the child: the result, all that it has found out (None if that is nothing new), and
        warnings."""
        adapter, warned = self._adapter, list[str]()
        adapter.warn = warned.append
        request, news = message
        if news is not None:
            adapter.remember(news)
        memory = adapter.memory()
        result = obey(adapter, request)
        found = adapter.memory()
        return [result, None if memory == found else found, warned]

    def _answered(self, call: Call, answer: list[Any]) -> None:
        request, (result, memory, warned) = call.request, answer
        if memory is not None:
            self._known = memory
            self._adapter.remember(memory)
        for text in warned:
            self._adapter.warn(text)
        if isinstance(request, ListQueue) and request.history and isinstance(result, Listing):
            self._search.want(result, call.then)
        else:
            super()._answered(call, result)

    def _lost(self, call: Call, reason: str) -> None:
        is_submit = isinstance(call.request, Submit)
        lost = SubmitResult(LostReply(reason)) if is_submit else PoolError(reason, transient=True)
        super()._answered(call, lost)


def _removes_all(request: Request) -> bool:
    return isinstance(request, (ListRemovable, Remove)) and not request.cluster


def _has_large_parent() -> bool:
    """Whether this is the child of a DAGMan with so much memory that another fork is dear."""
    try:
        return memory_kb(os.getppid())[0] << 10 > LARGE_BYTES
    except OSError:
        return False


def obey(adapter: ScheddAdapter, request: ask.Request) -> Any:
    """Perform a request; returns the result, or the PoolError that says why there is none.

    The history part of a ListQueue is done by `HistorySearch`.
    """
    try:
        return _HANDLERS[type(request)](adapter, request)
    except PoolError as error:
        return error


def _submit(adapter: ScheddAdapter, wanted: ask.Submit) -> ask.SubmitResult:
    lines: list[str] = []
    text, directory, checks = wanted.text, wanted.directory, wanted.checks
    outcome: ask.Accepted | ask.FirstCommonInput | PoolError
    try:
        if checks.one_proc and adapter.procs_of(text, directory) > 1:
            raise PoolError(ask.MULTIPLE_PROCS, transient=False)
        inspect = partial(_check_description, text, checks, lines)
        with _environment(wanted.environment):
            outcome = ask.Accepted(*adapter.submit(text, directory, inspect))
    except FirstList as first:
        outcome = ask.FirstCommonInput(first.token)
    except PoolError as error:
        outcome = error
    except ValueError as error:  # a value has no end
        outcome = PoolError(str(error), transient=False)
    except OSError as error:
        reason = f"can't read the submit file: {error.strerror or error}"
        outcome = PoolError(reason, transient=False)
    return ask.SubmitResult(outcome, lines)


@contextlib.contextmanager
def _environment(more: Mapping[str, str]) -> Iterator[None]:
    """Within, these variables are set as well."""
    before = {name: os.environ.get(name) for name in more}
    os.environ.update(more)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _check_description(text: str, checks: ask.Checks, lines: list[str], description: Any) -> None:
    """Raise and warn in the cases in which stock DAGMan does."""
    if checks.by_condor_submit:
        submit_checks.check_executable(description)
        by, before = "condor_submit", "From submit: WARNING: "
    else:
        submit_checks.check_common_input(description, checks.common_input)
        by, before = "DAGMAN", "Submit warning: Submit:0:"
    remarks = remarks_of(description, text, written=checks.written, name=checks.name, by=by)
    lines += [before + line.removeprefix("WARNING: ") for line in remarks]


_HANDLERS: dict[type, Callable[[ScheddAdapter, Any], Any]] = {
    ask.Submit: _submit,
    ask.ListRemovable: lambda adapter, wanted: adapter.removable(
        wanted.cluster, spare_services=wanted.spare_services, proc=wanted.proc
    ),
    ask.Remove: lambda adapter, wanted: adapter.remove(
        wanted.reason,
        wanted.cluster,
        spare_services=wanted.spare_services,
        ended=wanted.ended,
        proc=wanted.proc,
        force=wanted.force,
    ),
    HoldJobs: lambda adapter, wanted: adapter.hold(
        wanted.cluster, wanted.proc, wanted.reason, release=wanted.release
    ),
    SetJobPriorities: lambda adapter, wanted: adapter.prioritize(wanted.priority, wanted.jobs),
    ask.ListQueue: lambda adapter, _: adapter.listing(),
    ask.ReadAttribute: lambda adapter, wanted: adapter.attribute(wanted.cluster, wanted.name),
    ask.ReadOwnAd: lambda adapter, _: adapter.own_ad(),
    ask.EditOwnAd: lambda adapter, wanted: adapter.publish(
        wanted.attributes, durable=wanted.durable
    ),
}


class HistorySearch(Calls):
    """Makes listings of the queue whole, one after another.

    Args:
        adapter: how the child asks.
        epoll: becomes readable when a child has answered or has ended.
        clock: monotonic seconds.
    """

    died = "its answer ends in the middle"
    late = f"no answer within {HISTORY_TIMEOUT_S:.0f} s"

    def __init__(
        self, adapter: ScheddAdapter, epoll: select.epoll, clock: Callable[[], float]
    ) -> None:
        super().__init__("search the history", epoll, clock, lambda text: adapter.warn(text))
        self._adapter = adapter
        self._patience = job_history.Patience()

    def want(self, listing: Listing, then: Then) -> None:
        """Add what the history has to a listing of the queue."""
        call = Call(listing, then)
        if self._adapter.cluster:
            self._add([call])
        else:  # there is no run that the history could know
            super()._answered(call, listing)

    def _made(self) -> Child:
        return Child(self._serve, MESSAGE_KINDS, alarm_s=HISTORY_TIMEOUT_S)

    def _send(self, child: Child, _: Listing) -> None:
        child.send(None)

    def _serve(self, _: None) -> list[EndedJob] | PoolError:
        """In the child."""
        try:
            return self._adapter.ended_jobs()
        except Exception as error:  # no memory: it is told, whatever it is
            return PoolError(error_text(error), transient=True)

    def _lost(self, call: Call, reason: str) -> None:
        self._answered(call, PoolError(reason, transient=True))

    def _answered(self, call: Call, answer: list[EndedJob] | PoolError) -> None:
        self._end_child()
        verdict = self._patience.judge(answer)
        if isinstance(verdict, str):
            self._adapter.warn(verdict)
            verdict = []
        is_error = isinstance(verdict, PoolError)
        super()._answered(call, verdict if is_error else call.request._replace(ended=verdict))
