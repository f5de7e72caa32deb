"""What would be added to a DAG while it runs, as far as the files of its nodes tell now.

Nothing is run or written.  A node may write its file anew, and what a FEEDER gives nobody knows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from condor_pydagman.adapters.followed_files import owner_of
from condor_pydagman.errors import FileError
from condor_pydagman.features.feeder.commands import feeder_of
from condor_pydagman.features.feeder.progress import Progress
from condor_pydagman.features.growth.adapters.kept_pieces import read_whole
from condor_pydagman.features.growth.commands import Scatter, growth_of
from condor_pydagman.features.growth.piece_now import read_now
from condor_pydagman.graph.building import BuildOptions
from condor_pydagman.graph.model import DONE, Dag
from condor_pydagman.graph.problems import DagFileErrors
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import number_of

MAX_NAMED = 10  # nodes that are named


class Addition(NamedTuple):
    """What one node would add."""

    node: str  # its name
    by: str  # EXTEND or SCATTER
    file: str  # that it names
    # how many nodes the file would add as it is now; None if that is not known
    nodes: int | None = None
    names: tuple[str, ...] = ()  # of the first of them
    # why the file would be refused as it is now, '' if it would not, or is not there
    problem: str = ""


def outlook(dag: Dag, options: BuildOptions, most: int) -> list[Addition]:
    """What each node that is not done would add.

    Args:
        options: how DAG files are read.
        most: bytes that a piece may have.
    """
    nodes = [node for node in growth_of(dag).extensions if not dag.flags[node] & DONE]
    owner = owner_of(dag.files[0])
    return [
        _addition(dag, node, options, lambda path: read_whole(path, most, owner)) for node in nodes
    ]


def _addition(dag: Dag, node: int, options: BuildOptions, read: Callable[[str], str]) -> Addition:
    how = growth_of(dag).extensions[node]
    found = Addition(dag.names[node], "SCATTER" if isinstance(how, Scatter) else "EXTEND", how.file)
    try:
        piece = read_now(dag, node, read(how.file), read, options)
    except FileNotFoundError:
        return found
    except DagFileErrors as errors:
        return found._replace(problem=_first(errors))
    except (OSError, FileError) as error:
        return found._replace(problem=getattr(error, "strerror", None) or str(error))
    names = tuple(piece.dag.names[: min(piece.size, MAX_NAMED)])
    return found._replace(nodes=piece.size, names=names)


def _first(errors: DagFileErrors) -> str:
    first, more = errors.errors[0], len(errors.errors) + errors.lost - 1
    others = f" (and {more} more error{'s' if more > 1 else ''})" if more else ""
    word = f"{first.command}: " if first.command else ""
    return f"{first.file}:{first.place} {word}{first.message}{others}"


def told(dag: Dag, found: Sequence[Addition]) -> Iterator[str]:
    """The outlook in lines for people, that of a FEEDER included."""
    for one in found:
        yield f"{one.by}: node {one.node} {_would_add(one)}"
    if feeder_of(dag) is not None:
        yield f"FEEDER: {_would_feed(dag)}"


def _would_add(one: Addition) -> str:
    file = one.file
    if one.problem:
        return f"would fail, because DAGMan would refuse {file} as it is now: {one.problem}"
    if one.nodes is None:
        what = f"a node for each line of {file}" if one.by == "SCATTER" else f"what is in {file}"
        return f"adds {what}, which does not exist yet: the number is known when the node is done"
    names = ", ".join(one.names)
    more = f" and {one.nodes - len(one.names)} more" if one.nodes > len(one.names) else ""
    added = number_of(one.nodes, "node")
    return f"would add {added} by {file} as it is now{': ' * bool(names)}{names}{more}"


def _would_feed(dag: Dag) -> str:
    feeder, feeding = feeder_of(dag), Progress(dag)
    assert feeder is not None
    program = feeder.program
    if feeding.is_over:
        return f"{program} added {number_of(feeding.nodes, 'node')}, and does not run again"
    room = "" if feeding.room is None else f", {number_of(feeding.room, 'node')} at most"
    return (
        f"{program} would run whenever fewer than {feeder.below} nodes are left, and adds the"
        f" nodes that it writes{room}: the number is known only then"
    )
