"""What people ask of a DAG while it runs."""

from __future__ import annotations

from collections.abc import Sequence

from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import NodeCommand


class PriorityWanted(NamedTuple):
    """Another priority for the whole DAG, jobs in the queue included: it is added to each node's
    own, as -Priority is.  `restored`: a person had said so to the DAGMan before this one."""

    priority: int
    by: str = ""
    restored: bool = False


class NodesSteered(NamedTuple):
    """A person's command for nodes.  Answered by `actions.Steered`, when all of it is in force.

    Attributes:
        request: a number; a request of many nodes may come in parts with the same number.
        by: who asks, without blanks.
        options: "retry" of CANCEL: retries apply; "descendants" of RERUN: they run anew as well;
            the text of `NodeSettings` of SET; else ''.
        last: whether no other part of the request follows.
    """

    request: int
    command: NodeCommand
    nodes: Sequence[int]
    by: str
    options: str = ""
    last: bool = True
