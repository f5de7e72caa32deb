"""Which nodes start before any job or script can have written a file that they need.

What is missing for these is an error; for others it may still come.
"""

from __future__ import annotations

from condor_pydagman.graph.model import DONE, Dag
from condor_pydagman.vocabulary import ORDINARY_KINDS, NodeKind, ScriptKind


class FirstNodes:
    """Tells of a DAG; what is done in it runs no more, and writes nothing."""

    def __init__(self, dag: Dag) -> None:
        self._dag = dag
        provisioned = NodeKind.PROVISIONER in dag.kinds
        self._kinds = {NodeKind.PROVISIONER} if provisioned else ORDINARY_KINDS
        self._some_are_done = any(flags & DONE for flags in dag.flags)

    def starts_first(self, node: int) -> bool:
        """Whether no node runs before this one, but for a SERVICE."""
        dag = self._dag
        if dag.kinds[node] not in self._kinds:
            return False
        if not self._some_are_done:
            return not dag.has_parents(node)
        return all(dag.flags[parent] & DONE for parent in dag.parents(node))

    def job_is_first(self, node: int) -> bool:
        """Whether not even a PRE script runs before the node's job."""
        return self._dag.script(node, ScriptKind.PRE) is None and self.starts_first(node)
