"""Nodes that are skipped in simulated worlds, since a feature says so, and those that follow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.features.run_if.commands import conditions_of
from condor_pydagman.features.skipping.commands import SkippedOfDag
from condor_pydagman.graph.joins import parents_of
from tests.sim.parts import Part
from tests.sim.truth import Truth

if TYPE_CHECKING:
    from tests.sim.process import Process


class Followers(Part):
    """Nodes of which all parents were skipped."""

    @property
    def _truth(self) -> Truth:
        return self.world.oracles.truth

    def started(self, process: Process, *, recovering: bool) -> None:
        if not recovering:
            dag = self._truth.dag
            self._truth.skipped |= {dag.names[node] for node in SkippedOfDag.of(dag).skipped}
            _skip_followers(self._truth)  # at once: the first event may be that FINAL has begun

    def conclude(self, truth: Truth, event: LogEvent) -> None:
        _skip_followers(truth)

    def done_anew(self) -> set[str]:
        """Those that were skipped because of parents that a rescue DAG runs again."""
        truth = self._truth
        dag, found, grows = truth.dag, set[str](), True
        while grows:
            grows = False
            for name in truth.skipped - found:
                node = dag.ids[name]
                parents = parents_of(dag, node) if node in conditions_of(dag) else dag.parents(node)
                names = {dag.names[parent] for parent in parents}
                if names & found or not names <= truth.done:
                    found.add(name)
                    grows = True
        return found

    def not_run(self) -> set[str]:
        return self._truth.skipped


def _skip_followers(truth: Truth) -> None:
    dag, grows = truth.dag, bool(truth.skipped) and not truth.final_begun
    while grows:
        grows = False
        for node, name in enumerate(dag.names):
            parents = [dag.names[parent] for parent in dag.parents(node)]
            free = name not in truth.done and not dag.is_decided(node)
            if free and parents and all(_leads(truth, parent) for parent in parents):
                truth.skip(name)
                grows = True


def _leads(truth: Truth, name: str) -> bool:
    """Whether a node was skipped, and its children may be; a RUN_IF may say that they are not."""
    condition = conditions_of(truth.dag).get(truth.dag.ids[name])
    return name in truth.skipped and (condition is None or condition.skips_children)


PART = Followers
