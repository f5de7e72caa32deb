"""DAGMan's edits of its own job ad: one request at a time.

Attributes set meanwhile wait for the next request, which has only the newest value of each: a slow
schedd does not get a queue of outdated edits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Optional

from condor_pydagman.adapters.schedd_requests import EditOwnAd
from condor_pydagman.errors import PoolError

if TYPE_CHECKING:
    from condor_pydagman.daemon.ports import Schedd

# Called when the schedd has replied: None if the attributes are set, else the error.
Done = Callable[[Optional[PoolError]], None]


class JobAd:
    """Edits DAGMan's own job ad."""

    def __init__(self, schedd: Schedd) -> None:
        self._schedd = schedd
        self._sending = False
        self._waiting: dict[str, str] = {}
        self._durable = False
        self._callbacks: list[Done] = []

    def edit(self, changes: Mapping[str, str], done: Done, *, durable: bool = False) -> None:
        """Set attributes (texts of expressions), and call `done` when the schedd has answered.

        `durable`: the answer means that they are on the schedd's disk.
        """
        self._waiting.update(changes)
        self._callbacks.append(done)
        self._durable |= durable
        if not self._sending:
            self._send()

    def _send(self) -> None:
        request, callbacks = EditOwnAd(self._waiting, self._durable), self._callbacks
        self._waiting, self._callbacks, self._durable = {}, [], False
        self._sending = True
        self._schedd.ask(request, lambda result: self._answered(callbacks, result))

    def _answered(self, callbacks: list[Done], result: PoolError | None) -> None:
        self._sending = False
        if self._callbacks:  # before the callbacks, which may set more: keeps the order
            self._send()
        for done in callbacks:
            done(result)
