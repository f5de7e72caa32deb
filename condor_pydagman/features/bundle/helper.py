"""Makes bundles, and brings home what their nodes have come to, in a process of its own.

Descriptions and results are files, and a file system that hangs is to hold up nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Union

from condor_pydagman.adapters import deleted_directories
from condor_pydagman.adapters.helper_process import Helper
from condor_pydagman.daemon.helpers import Foreseen
from condor_pydagman.engine.actions import SubmitNode
from condor_pydagman.features.bundle.adapters import collected, look, outlook, prepared, slots
from condor_pydagman.features.bundle.adapters.collected import CollectOrder
from condor_pydagman.features.bundle.adapters.look import LookOrder, look_order
from condor_pydagman.features.bundle.adapters.prepared import PrepareOrder
from condor_pydagman.features.bundle.messages import (
    Collect,
    Collected,
    Forget,
    Forgotten,
    Look,
    LookAt,
    LookedAt,
    Prepare,
    Prepared,
    SlotsSeen,
    SlotsWanted,
)
from condor_pydagman.features.bundle.tasks import NodeOrder
from condor_pydagman.names import logged_name
from condor_pydagman.records import job_description

if TYPE_CHECKING:
    from condor_pydagman.config import Config
    from condor_pydagman.daemon.helpers import Helpers
    from condor_pydagman.daemon.run import DagRun
    from condor_pydagman.graph.building import BuildOptions
    from condor_pydagman.graph.model import Dag

Order = Union[LookOrder, PrepareOrder, CollectOrder, Forget, SlotsWanted]


class BundleHelper(Helper):
    """See `Helper`."""

    purpose = "make bundles"
    died = "the process that makes bundles has died"
    late = "to read and write the files of bundles took more than {seconds} s"
    kinds = (
        *(LookOrder, NodeOrder, PrepareOrder, Prepare, CollectOrder, Collect, Forget, SlotsWanted),
        *(LookedAt, Look, Prepared, Collected, Forgotten, SlotsSeen),
    )
    timeout_s, stays_s = 600.0, 60.0

    def __init__(self, run: DagRun) -> None:
        self._run = run
        self._directory = os.path.join(run.process.directory, run.paths.bundles)
        self._looker = look.Looker(look.added_commands())
        self._known: dict[int, collected.Known] = {}

    def orders(self, request: LookAt | Prepare | Collect | Forget | SlotsWanted) -> Sequence[Order]:
        """With all that the process has to know of nodes."""
        if isinstance(request, LookAt):
            look = self._look((*request.followers, *request.nodes))
            return [look._replace(followers=len(request.followers))]
        if isinstance(request, Prepare):
            return [self._prepare(request)]
        if isinstance(request, Collect):
            return [self._collect(request)]
        return [request]

    def _look(self, nodes: Sequence[SubmitNode]) -> LookOrder:
        known = ((one.node, one.retry, one.priority, one.variables) for one in nodes)
        return look_order(self._run.dag, self._run.process.directory, known)

    def _prepare(self, request: Prepare) -> PrepareOrder:
        run, first = self._run, request.nodes[0]
        at = job_description.AtSubmission(
            first.retry, first.dag_status, first.failed_count, False, first.priority
        )
        before, after = job_description.added_lines(run.dag, first.node, run.workflow, at)
        asked, look = request._replace(nodes=()), self._look(request.nodes)
        return PrepareOrder(asked, self._directory, look, before, after)

    def _collect(self, request: Collect) -> CollectOrder:
        names = [logged_name(self._run.dag.names[node]) for node in request.nodes]
        return CollectOrder(request, self._directory, names, list(self._run.stamps))

    def give_up(self) -> None:
        """Nobody reads the files of bundles any more."""
        why = deleted_directories.delete_directory(self._directory)
        if why:
            self._run.out.say(f"Warning: {self._directory} is left as it is: {why}")

    def failed(self, order: Any, reason: str) -> Any:
        """Nodes run alone; results are brought home later."""
        if isinstance(order, LookOrder):
            return LookedAt([Look(one.number, "", reason) for one in order.nodes])
        if isinstance(order, PrepareOrder):
            return Prepared(order.asked.number, "", reason)
        if isinstance(order, CollectOrder):
            return Collected(order.asked.number, "", (), reason)
        if isinstance(order, Forget):
            return Forgotten(order.number)
        return SlotsSeen(0)

    # In the process.

    def serve(self, order: Order) -> Any:
        """Do it."""
        if isinstance(order, LookOrder):
            return LookedAt(self._looker.look_at(order))
        if isinstance(order, PrepareOrder):
            job = prepared.prepare(order, self._looker)
            return Prepared(order.asked.number, job.text, without=job.without)
        if isinstance(order, CollectOrder):
            known = self._known.setdefault(order.asked.number, collected.Known())
            return collected.collect(order, known)
        if isinstance(order, Forget):
            self._known.pop(order.number, None)
            collected.forget(self._directory, order.number)
            return Forgotten(order.number)
        return SlotsSeen(slots.known_slots())


def foresee(dag: Dag, config: Config, how: BuildOptions, *, checks_only: bool = False) -> Foreseen:
    """Which nodes would go together, and why others would not."""
    found = outlook.outlook(dag, config.max_bundle_size, asks_pool=not checks_only)
    lines = list(outlook.told(found))
    fields = {"bundles": outlook.as_json(found)}
    return Foreseen(lines, fields, several_in="bundles" * outlook.packs(found))


def open_helper(helpers: Helpers) -> BundleHelper:
    """The helper of a DAG with BUNDLE commands."""
    return BundleHelper(helpers.run)
