"""What features are given to take in what the nodes log tells of them.

The module `shown` of a feature has `RECORDS`, by kinds of journal records the functions that take
those in; a record may be in the log twice.  It may have, too:

- `LINES`: by kinds of lines of `.dagman.out` the functions that take them into a run.
- `overview(tally, ad, *, running)`: its fields of an Overview, by name.
- `own_event(tracker, event)`: takes in an event of a job of the feature's own.
- `may_grow(tally, ad)`: whether there may be more nodes to come, nobody knows how many.

Of these, features are asked that the DAG or its logs have (`features.used_in`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Optional, Protocol

from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.follow.dag_events import DagEvent
from condor_pydagman.follow.run_model import Carrier, NodeRun, Run
from condor_pydagman.records.own_events import RecordRead


class Tracker(Protocol):
    """What is done with it (`follow.history.History`)."""

    run: Run  # is kept up to date

    def say(self, event: DagEvent) -> None:
        """Send an event of the whole DAG."""

    def tell(self, name: str, time: float, node: NodeRun, job: str = "", **data: Any) -> None:
        """Send an event about the node."""

    def because(self, node: NodeRun, **data: Any) -> None:
        """If the record brings the node into another state, this is told of it."""

    def carries(self, carrier: Carrier, event: LogEvent) -> None:
        """An event of the job that carries nodes."""

    def feature(self, name: str) -> Any:
        """The feature of the engine that follows the log, before it has taken the record; None if
        it has none of that name."""

    def group_of(self, node: NodeRun) -> str:
        """The group of nodes that run at one site which the node is in; '' if it is in none."""


# Of the tracker, the node that the record names, if any, the record, and its time.
Take = Callable[[Tracker, Optional[NodeRun], RecordRead, float], None]
Records = Mapping[str, Take]
