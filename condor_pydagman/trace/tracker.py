"""What features are given to take in what the nodes log tells of them.

The module `trace` of a feature has `RECORDS`, by kinds of journal records the functions that take
those in; a record may be in the log twice.  It may have, too:

- `LINES`: by kinds of lines of `.dagman.out` the functions that take them into a run.
- `site_of(run, plan)`: where a node runs whose attempt begins; '' if it does not say.
- `before_failed(tracker, node, attempt, time)`: an attempt has failed.  True: something else has
  become of the node.
- `overview(tally, ad, *, running)`: its fields of an Overview, by name.
- `opened(dag, run)`: nodes that wait for no parent any more, whether or not all have ended.
- `OPENS`: kinds of events after which there may be more of these.
- `limits_parents(dag)`: what finds nodes that can't run, as too few of their parents can be done;
  None if there is no such limit (`futile.FutileNodes`).
- `was_unneeded(dag, node)`: whether an earlier run did not need a node.
- `may_grow(tally, ad)`: whether there may be more nodes to come, nobody knows how many.
- `has_grown(dag, run)`: whether a run has more nodes than the DAG, as it was read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Optional, Protocol

from condor_pydagman.records.own_events import RecordRead
from condor_pydagman.trace.dag_events import DagEvent
from condor_pydagman.trace.run_history import NodePlan, NodeRun, Run
from condor_pydagman.vocabulary import JournalRecord, NodeStatus


class Tracker(Protocol):
    """What is done with it; `trace.node_tracker` has the tracker.

    Attributes:
        run: is kept up to date.
        plans: what the DAG says of each node; empty if that is not known.
    """

    run: Run
    plans: Mapping[str, NodePlan]

    def say(self, event: DagEvent) -> None:
        """Send an event of the whole DAG."""

    def tell(self, name: str, time: float, node: NodeRun, job: str = "", **data: Any) -> None:
        """Send an event about the node."""

    def node(self, name: str) -> NodeRun:
        """The node of that name, which may be new."""

    def plan(self, node: NodeRun) -> NodePlan:
        """What the DAG says of a node."""

    def set_status(self, node: NodeRun, status: NodeStatus, time: float, **data: Any) -> None:
        """The node comes into a state."""

    def not_needed(self, node: NodeRun, why: str, time: float) -> None:
        """It is skipped."""

    def failed(self, node: NodeRun, time: float, value: int | None, why: str) -> None:
        """Its attempt has failed."""


# Of the tracker, the node that the record names, if any, the record, and its time.
Take = Callable[[Tracker, Optional[NodeRun], RecordRead, float], None]
Records = Mapping[JournalRecord, Take]
