"""Parts of sentences: lists of names."""

from __future__ import annotations

from collections.abc import Sequence

from condor_pydagman.follow.notices.facts import Nodes
from condor_pydagman.names import BUNDLE
from condor_pydagman.printable import number_of, printable

MAX_NAMES = 3  # of nodes in a sentence


def names_of(names: Sequence[str], most: int = MAX_NAMES) -> str:
    """`A`, `A and B`, `A, B, C and 14 more`."""
    shown = [printable(name) for name in names[:most]]
    if len(names) > most:
        return f"{', '.join(shown)} and {len(names) - most} more"
    if len(shown) < 2:
        return "".join(shown)
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


def nodes_named(names: Sequence[str], most: int = MAX_NAMES) -> str:
    """`node A`, `nodes A and B`, `17 nodes (A, B, C and 14 more)`; bundles, which are in the queue
    as nodes are: `bundles 7 and 8`, behind the nodes."""
    bundles = [name.partition(" ")[2] for name in names if name.startswith(f"{BUNDLE} ")]
    if bundles:
        nodes = [name for name in names if not name.startswith(f"{BUNDLE} ")]
        which = f"{BUNDLE}{'s' * (len(bundles) > 1)} {names_of(bundles, most)}"
        return f"{nodes_named(nodes, most)} and " * bool(nodes) + which
    if len(names) > most:
        return f"{len(names)} nodes ({names_of(names, most)})"
    return f"node{'s' * (len(names) > 1)} {names_of(names, most)}"


def some_nodes(nodes: Nodes) -> str:
    """As `nodes_named`, of nodes of which perhaps only the first are known by name."""
    if not nodes.names:
        return number_of(nodes.number, "node")
    if nodes.number <= len(nodes.names):
        return nodes_named(nodes.names)
    shown = [printable(name) for name in nodes.names[:MAX_NAMES]]
    more = f"{', '.join(shown)} and {nodes.number - len(shown):,} more"
    return f"{number_of(nodes.number, 'node')} ({more})"


def capitalized(sentence: str) -> str:
    """With a capital letter at the beginning, all else as it is."""
    return sentence[:1].upper() + sentence[1:]
