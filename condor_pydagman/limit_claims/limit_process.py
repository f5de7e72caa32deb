"""The process that makes rounds about shared limits for DAGMan, and the socket that wakes it.

So a lock which somebody holds, or a schedd which hangs, holds up nothing else.  It is forked for
the first round, and leaves when there is nothing to do.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
from collections.abc import Callable, Sequence
from typing import Any, Union

from condor_pydagman.adapters.child_queue import ChildQueue, Serve, Then, reason_of
from condor_pydagman.errors import PydagmanError
from condor_pydagman.limit_claims.directory import LimitsDirectory, socket_address
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.shared_limits.definitions import Kind, Limit
from condor_pydagman.shared_limits.rounds import Demand, Grant
from condor_pydagman.shared_limits.stakes import Stakes

TIMEOUT_S = 60.0  # for a round; a lock that others hold is given up before
STAYS_S = 20.0  # without a round, after which the process leaves


class TakePlaces(NamedTuple):
    """Make a round.  Result: Places, or why there is none, in words."""

    demands: Sequence[Demand]


class WaitForWake(NamedTuple):
    """From now on, say whenever others want a round to be made.  Result, each time: None."""


class Places(NamedTuple):
    """What a round has come to; see `shared_limits.rounds.Outcome`.

    Attributes:
        said: what is to be told of it.
    """

    grants: list[Grant]
    contested: bool
    again_s: float | None
    said: list[str]


Result = Union[Places, str]


class Rounds(NamedTuple):
    """What the process has for making rounds.

    Attributes:
        directory: the shared one.
        limits: gives the limits by name, and what is to be told of them.
        dag: the DAG file, for people.
    """

    directory: LimitsDirectory
    limits: Callable[[], tuple[dict[str, Limit], list[str]]]
    dag: str


class LimitProcess(ChildQueue):
    """Hands rounds over to a child; see `adapters.schedd_process.Helper`.

    Args:
        make: makes Rounds, in the child; it may raise PydagmanError.
        keep: called here before each round, gives the name of the own file; it may raise
            PydagmanError.
        epoll: becomes readable when the child has answered or has ended, or others wake us.
        clock: monotonic seconds.
        warn: is told what is unusual.
    """

    def __init__(
        self,
        make: Callable[[], Rounds],
        keep: Callable[[], str],
        epoll: select.epoll,
        clock: Callable[[], float],
        warn: Callable[[str], None],
    ) -> None:
        super().__init__(
            "ask for places of shared limits",
            epoll,
            clock,
            warn,
            timeout_s=TIMEOUT_S,
            died="the process that asks for places of shared limits has died",
            late=f"no answer within {TIMEOUT_S:.0f} s",
        )
        self._make = make
        self._keep, self._own_name = keep, ""
        self._rounds: Rounds | None = None  # in the child
        self._wake: Then | None = None
        self.address = os.urandom(8).hex()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        self._socket.bind(socket_address(self.address))
        epoll.register(self._socket.fileno(), select.EPOLLIN)

    def next_deadline(self) -> float | None:
        """When to call `results` though nothing is readable, monotonic seconds."""
        return self._clock() if self._results else super().next_deadline()

    def ask(self, request: TakePlaces | WaitForWake, then: Then) -> None:
        """Make a round, or wait to be woken; `then` is given the result later."""
        if isinstance(request, WaitForWake):
            self._wake = then
        else:
            super().ask(request, then)

    def results(self) -> list[tuple[Then, Any]]:
        """The rounds that have been made."""
        self._hear()
        return super().results()

    def end(self) -> None:
        """Give up."""
        super().end()
        if self._socket.fileno() >= 0:
            self._epoll.unregister(self._socket.fileno())
            self._socket.close()

    def _hear(self) -> None:
        heard = False
        with contextlib.suppress(OSError):
            for _ in range(100):
                self._socket.recv(1)
                heard = True
        if heard and self._wake is not None:
            self._results.append((self._wake, None))

    def _begin(self) -> None:
        try:
            self._own_name = self._keep()
        except PydagmanError as error:
            self._found(str(error))
            return
        super()._begin()

    def _server(self) -> Serve:
        return self._serve

    def _message(self, request: TakePlaces) -> tuple[Any, float]:
        return [self.address, self._own_name, list(request.demands)], STAYS_S

    def _result(self, request: TakePlaces, answer: dict[str, Any]) -> Result:
        return answer["error"] if "error" in answer else _places(answer["places"])

    def _serve(self, request: list[Any]) -> dict[str, Any]:
        address, own_name, demands = request
        try:
            if self._rounds is None:
                self._rounds = self._make()
            self._rounds.directory.own_name = own_name
            return {"places": make_round(self._rounds, address, [_demand(*one) for one in demands])}
        except PydagmanError as error:
            return {"error": str(error)}
        except Exception as error:  # whatever it is, it is told
            return {"error": reason_of(error)}


def make_round(rounds: Rounds, address: str, demands: Sequence[Demand]) -> Places:
    """Make a round for demands whose limits are given by name.

    Raises:
        PydagmanError: that can't be done.
    """
    by_name, said = rounds.limits()
    keyed = [
        one._replace(limits=tuple(_key(name, by_name) for name in one.limits)) for one in demands
    ]
    limits = {limit.key: limit for limit in by_name.values()}
    outcome = rounds.directory.round(Stakes(rounds.dag, address, {}), limits, keyed)
    names = {key: limit.name for key, limit in limits.items()}
    grants = [
        grant._replace(full=(names[grant.full[0]], grant.full[1]) if grant.full else None)
        for grant in outcome.grants
    ]
    return Places(grants, outcome.contested, outcome.again_s, said)


def _key(name: str, limits: dict[str, Limit]) -> str:
    limit = limits.get(name.lower())
    return limit.key if limit is not None else name.lower()


def _demand(
    limits: list[str],
    used: list[int],
    kept: list[int],
    nodes: int,
    pre: int,
    post: int,
    ahead: int,
) -> Demand:
    four = [(one[0], one[1], one[2], one[3]) for one in (used, kept)]
    return Demand(tuple(limits), four[0], four[1], nodes, pre, post, ahead)


def _places(told: list[Any]) -> Places:
    grants, contested, again_s, said = told
    return Places([_grant(*grant) for grant in grants], contested, again_s, said)


def _grant(places: list[int], starts: int, full: list[Any] | None) -> Grant:
    jobs, idle, pre, post = places
    return Grant((jobs, idle, pre, post), starts, (full[0], Kind(full[1])) if full else None)
