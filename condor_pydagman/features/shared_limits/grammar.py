"""The command SHARED_LIMIT: nodes that keep to a limit which DAGs share.

Whether there is a limit of that name is found out when DAGMan starts: limits are defined in the
configuration, see `definitions`.
"""

from __future__ import annotations

from condor_pydagman.dagfile import rows
from condor_pydagman.dagfile.lexer import LineError, Words
from condor_pydagman.named_tuple import NamedTuple

_DEFINED = "PYDAGMAN_SHARED_LIMITS and ~/.condor/pydagman_limits define limits; this line uses one"
ALL_NODES, CATEGORY, NODES = ("ALL_NODES", "CATEGORY", "NODES")


def _refuse(word: str, words: Words) -> str:
    if word == "=":
        raise LineError("A limit can't be defined in a DAG file", words, hint=_DEFINED)
    return word


@rows.Row("SHARED_LIMIT", "Nodes that keep to a limit which several DAGs share.", after="CHOOSE")
class SharedLimit(NamedTuple):
    """SHARED_LIMIT: nodes that keep to a limit which DAGs share.

    `members` is ALL_NODES, CATEGORY or NODES; `names` are of the nodes, or of the category.
    """

    line: int
    limit: str = rows.name("name of the limit", sample="licenses")
    members: str = rows.variants(
        {
            ALL_NODES: None,
            CATEGORY: rows.names("name", "<category>", 1),
            NODES: rows.names("nodes", "<node1> [<node2> ...]"),
        },
        empty=(),
        refuse=_refuse,
    )
    names: tuple[str, ...] = ()
