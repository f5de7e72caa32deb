"""Rows of the page's table of nodes: each by the last attempt of its node."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from condor_pydagman.follow.run_model import Attempt
from condor_pydagman.follow.shown_states import KEYS
from condor_pydagman.report.node_list import reason_of
from condor_pydagman.report.spans import ran_s
from condor_pydagman.web.dag_reader import DagReader
from condor_pydagman.web.tables import Rows


class NodeRows(Rows):
    """All nodes of a DAG."""

    STATES = KEYS
    SORTS: ClassVar[Mapping[str, Callable[[NodeRows, int], float]]] = {
        "state": lambda rows, number: rows.reader.states[number],
        "attempt": lambda rows, number: rows.of_last(number, lambda last: last.number, -1),
        "runtime": lambda rows, number: rows.of_last(number, rows.runtime_s, -1.0),
        "started": lambda rows, number: rows.of_last(
            number, lambda last: last.started or last.submitted, 0.0
        ),
    }

    def __init__(self, reader: DagReader) -> None:
        super().__init__(reader, reader.names, reader.names)
        self._now = time.time()

    def row(self, number: int) -> dict[str, Any]:
        """What is shown of a node."""
        return row_of(self.reader, number, self._now)

    def state(self, number: int) -> str:
        """In which it is."""
        return KEYS[self.reader.states[number]]

    def of_last(self, number: int, what: Callable[[Attempt], float], none: float) -> float:
        """Something of its last attempt; `none` if it has had none."""
        last = self.reader.last_attempt(number)
        return none if last is None else what(last)

    def runtime_s(self, attempt: Attempt) -> float:
        """See `runtime_s`; 0 if no job has run."""
        return runtime_s(attempt, self._now) or 0.0


def row_of(reader: DagReader, number: int, now: float) -> dict[str, Any]:
    """A row, by the node's last attempt."""
    last = reader.last_attempt(number)
    node = reader.node_run(number)
    return {
        "number": number,
        "name": reader.names[number],
        "state": KEYS[reader.states[number]],
        "attempt": last.number if last is not None else None,
        "cluster": last.cluster or None if last is not None else None,
        "site": last.site if last is not None else "",
        "started": (last.started or None) if last is not None else None,
        "ended": ended_at(last) if last is not None else None,
        "runtime_s": runtime_s(last, now) if last is not None else None,
        "reason": reason_of(node, reader.run) if node is not None else "",
    }


def ended_at(attempt: Attempt) -> float | None:
    """When it was over, its POST script included; None while it goes on."""
    if not attempt.over:
        return None
    ends = [script.ended for script in (attempt.pre, attempt.post) if script is not None]
    return max([attempt.ended, *ends]) or None


def runtime_s(attempt: Attempt, now: float) -> float | None:
    """Seconds that its jobs ran, so far; None if none has."""
    return round(ran_s(attempt, now), 3) if attempt.started else None
