"""What is taken of limits that DAGs share, asked by a process of its own.

Who has what may depend on the schedd, and HTCondor's bindings stop the whole process while they
wait for it (`queue_answers`).  Nothing is asked unless somebody looks at a DAG with SHARED_LIMIT.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence

from condor_pydagman.errors import PoolError
from condor_pydagman.features.shared_limits.listing import has_claim
from condor_pydagman.features.shared_limits.outside import LimitsInUse
from condor_pydagman.features.shared_limits.overview import DagPart, LimitRow
from condor_pydagman.web.queue_answers import output_of

FRESH_S = 5.0  # for which what the schedd and the claims say is shown again
SHARE = 20  # asking may take one part in so many of the time until the next
PATIENCE_S = 20.0  # for what asks for them


class LimitAnswers:
    """All shared limits, as they were when they were asked for last."""

    def __init__(self) -> None:
        # what DAGs have of them; for the thread for files
        self.facts = LimitsInUse(self._told, has_claim)
        self._rows: Sequence[LimitRow] = ()
        self._is_wanted = False  # since they were asked for last
        self._next = 0.0  # by the monotonic clock
        self._asking: asyncio.Task[None] | None = None

    def _told(self) -> Sequence[LimitRow]:
        self._is_wanted = True
        return self._rows

    def refresh_soon(self) -> None:
        """Ask for them, if a DAG needs them and they are old; this does not wait for it."""
        is_busy = self._asking is not None and not self._asking.done()
        if self._is_wanted and not is_busy and time.monotonic() >= self._next:
            self._is_wanted = False
            self._asking = asyncio.create_task(self._ask())

    async def _ask(self) -> None:
        begun = time.monotonic()
        try:
            text = await output_of("condor_pydagman.cli.pydagman", ["limits", "--json"], PATIENCE_S)
            self._rows = [_row(fields) for fields in json.loads(text)]
        except (PoolError, ValueError, TypeError, KeyError):
            self._rows = ()  # `condor_pydagman limits` tells why
        now = time.monotonic()
        self._next = now + max(FRESH_S, SHARE * (now - begun))


watcher = LimitAnswers


def _row(fields: dict[str, object]) -> LimitRow:
    row = LimitRow(**fields)  # type: ignore[arg-type]
    return row._replace(dags=tuple(DagPart(**one) for one in row.dags))  # type: ignore[arg-type]
