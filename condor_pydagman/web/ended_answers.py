"""The user's DAGs that have ended lately, by the schedd's history, asked by a process of its own.

A search of the history may take long: nobody waits for it, and it is not repeated until it has
taken a small part of the time.  What is known says as of when it is.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Sequence
from typing import Any

from condor_pydagman.errors import PoolError
from condor_pydagman.monitor.ended_dags import ended_dag
from condor_pydagman.web.queue_answers import Ad, output_of, plain

DAYS = 3
MOST = 200  # DAGs
FRESH_S = 30.0
SHARE = 20  # a search may take one part in so many of the time until the next
PATIENCE_S = 120.0


class EndedAnswers:
    """The ads of DAGMan jobs that have left the queue."""

    def __init__(self) -> None:
        self.ads: Sequence[Ad] = ()  # the newest first
        self.as_of = 0.0  # when the schedd was asked last, seconds since the epoch; 0.0 for never
        self.problem = ""  # why it has not answered
        self._next = 0.0  # by the monotonic clock
        self._asking: asyncio.Task[None] | None = None

    def refresh_soon(self) -> None:
        """Ask, if what is known is old; this does not wait for it."""
        is_busy = self._asking is not None and not self._asking.done()
        if not is_busy and time.monotonic() >= self._next:
            self._asking = asyncio.create_task(self._ask())

    def close(self) -> None:
        """Wait for no answer any more."""
        if self._asking is not None:
            self._asking.cancel()

    async def _ask(self) -> None:
        begun, now = time.monotonic(), time.time()
        try:
            text = await output_of("condor_pydagman.web.ended_answers", [], PATIENCE_S)
            self.ads, self.as_of, self.problem = json.loads(text), now, ""
        except PoolError as error:
            self.problem = str(error)
        except ValueError:
            self.problem = "can't read the answer of the schedd"
        ended = time.monotonic()
        self._next = ended + max(FRESH_S, SHARE * (ended - begun))


def ended_row(ad: Ad) -> dict[str, Any]:
    """What the list shows of a DAG that has ended, beside its name and the nodes in each state."""
    dag = ended_dag(ad)
    return {
        "file": os.path.basename(dag.dag),
        "directory": os.path.dirname(dag.dag),
        "cluster": dag.cluster,
        "total": dag.total,
        "done": dag.done,
        "started": dag.started or None,
        "ended": dag.ended,
        "took_s": dag.wall_s,
        "retries": dag.retries,
        "ran_s": dag.running_s,
        "wasted_s": dag.wasted_s,
        "failed_first": dag.failed_nodes,
    }


def main(words: Sequence[str]) -> int:
    """The child process: prints the ads as JSON."""
    from condor_pydagman.monitor.ended_dags import lately_ended_ads

    try:
        ads = lately_ended_ads(time.time() - DAYS * 86400, MOST)
    except PoolError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(json.dumps(list(map(plain, ads))))
    return 0
