"""Which nodes start before any job or script can have written a file that they need.

What is missing for these is an error; for others it may still come.
"""

from __future__ import annotations

from condor_pydagman.graph.model import DONE, Dag
from condor_pydagman.vocabulary import NodeKind, ScriptKind


class FirstNodes:
    """Tells of a DAG; what is done in it runs no more, and writes nothing."""

    def __init__(self, dag: Dag) -> None:
        self._dag = dag
        self._provisioned = dag.kinds.find(NodeKind.PROVISIONER) >= 0
        self._some_are_done = any(flags & DONE for flags in dag.flags)

    def starts_first(self, node: int) -> bool:
        """Whether no node, and no other kind of node, runs before this one."""
        dag = self._dag
        return (
            not self._provisioned
            and dag.kinds[node] in (NodeKind.JOB, NodeKind.DATA, NodeKind.SUBDAG)
            and not self._is_preceded(node)
        )

    def job_is_first(self, node: int) -> bool:
        """Whether not even a PRE script runs before the node's job."""
        return self._dag.script(node, ScriptKind.PRE) is None and self.starts_first(node)

    def _is_preceded(self, node: int) -> bool:
        dag = self._dag
        if not self._some_are_done:
            return dag.has_parents(node)
        return any(not dag.flags[parent] & DONE for parent in dag.parents(node))
