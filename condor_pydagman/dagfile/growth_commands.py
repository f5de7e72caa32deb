"""The commands by which a DAG grows while it runs; `commands`, which has all, exports them."""

from __future__ import annotations

from condor_pydagman.named_tuple import NamedTuple

FEEDER_TIMEOUT_S = 3600
FEEDER_RETRIES = 5


class ExtendLine(NamedTuple):
    """EXTEND: the commands of a DAG file are added to the DAG when the node has ended well.

    Attributes:
        between: whether the new nodes stand between the node and its children.
        directory: of the new nodes; '' for that of the file with the line.
        prefix: what their names begin with; None: as names of this file.
        trusted: whether the file may have every command.
    """

    line: int
    node: str
    file: str
    between: bool = True
    directory: str = ""
    prefix: str | None = None
    trusted: bool = False


class ScatterLine(NamedTuple):
    """SCATTER: a node for each line of a file is added when the node has ended well.

    Attributes:
        pattern: of the nodes' names.
        pairs: variables of the nodes, with {item} and so on in their values.
        directory, prefix: as of EXTEND.
        retries: of each of the nodes, as of RETRY.
    """

    line: int
    node: str
    file: str
    pattern: str
    submit: str
    pairs: tuple[tuple[str, str], ...] = ()
    directory: str = ""
    prefix: str | None = None
    retries: int = 0


class FeederLine(NamedTuple):
    """FEEDER: a program whose output is added to the DAG while few nodes are left.

    Attributes:
        below: it runs when fewer nodes than this have not ended.
        program: its file and its arguments, as they are written.
        at_most: nodes that it may add in all; 0 for no limit.
        timeout_s: seconds that it may run.
        retries: how often it runs again after a failure, in a row.
    """

    line: int
    below: int
    program: str
    at_most: int = 0
    timeout_s: int = FEEDER_TIMEOUT_S
    retries: int = FEEDER_RETRIES


class LetGoLine(NamedTuple):
    """LET_GO: what has been let go of that had been added to the DAG, in a rescue file.

    Attributes: as of `graph.parts.LetGo`.
    """

    line: int
    number: int
    nodes: int
    fed: int
    fed_nodes: int
    last: bool = False
    adders: tuple[str, ...] = ()


class GrownLine(NamedTuple):
    """GROWN: what had been added to the DAG, in a rescue file."""

    line: int
    number: int
    digest: str
