"""What single commands say, as the Dag has it: a record for each kind.

`graph.model` hands them on; nothing else need import this module.
"""

from __future__ import annotations

from collections.abc import Sequence

from condor_pydagman.named_tuple import NamedTuple


class Script(NamedTuple):
    """A SCRIPT command: `command` is the raw rest of the line, split on blanks when it runs."""

    command: str
    defer_status: int | None = None
    defer_seconds: int = 0
    debug_file: str = ""
    debug_stream: str = ""


class Retry(NamedTuple):
    """A RETRY command; all but `limit` and a single `unless_exit` is ours, not stock DAGMan's.

    Attributes:
        limit: how many times the node runs again after a failure.
        unless_exit: return values of the node that are not retried.
        only_if: if there are any, only these are retried.
        delay: seconds before the first retry.
        backoff: by how much the delay is multiplied for each further retry, 1 or more.
        max_delay: seconds that the delay does not grow beyond; 0 for no limit.
    """

    limit: int
    unless_exit: tuple[int, ...] = ()
    only_if: tuple[int, ...] = ()
    delay: int = 0
    backoff: float = 1.0
    max_delay: int = 0


class Abort(NamedTuple):
    """An ABORT-DAG-ON command; `exit_code` None means the node's own return value."""

    status: int
    exit_code: int | None = None


class Tolerance(NamedTuple):
    """A TOLERANCE command: how many procs, or percent of them, may fail before the node does."""

    limit: int
    percent: bool = False
    fail_fast: bool | None = None


class Splice(NamedTuple):
    """A SPLICE command: the nodes `begin` to `end - 1` are of its file, nested splices included.

    `name` is the full one, without a last `+`.
    """

    name: str
    file: str
    directory: str
    begin: int
    end: int


class Extension(NamedTuple):
    """An EXTEND command; a SCATTER command, if it has a pattern.

    Attributes:
        file: the DAG file, or the list, that the node writes.
        between: whether the new nodes stand between the node and its children.
        directory: of the new nodes, '' for DAGMan's own.
        prefix: what the names of the new nodes begin with.
        pattern: of the new nodes' names.
        submit: submit description of the new nodes.
        pairs: their variables.
        retries: of each of them.
        trusted: whether the DAG file may have every command, see `graph.untrusted`.
    """

    file: str
    between: bool = True
    directory: str = ""
    prefix: str = ""
    pattern: str = ""
    submit: str = ""
    pairs: tuple[tuple[str, str], ...] = ()
    retries: int = 0
    trusted: bool = False


class Feeding(NamedTuple):
    """What the FEEDER gives at a time.

    Attributes:
        number: from 1.
        last: the FEEDER has said that there is no more.
    """

    number: int
    last: bool = False


class Feeder(NamedTuple):
    """A FEEDER command.

    Attributes:
        program: its file and its arguments, as they are written.
        below: it runs when fewer nodes than this have not ended.
        at_most: nodes that it may add in all; 0 for no limit.
        timeout_s: seconds that it may run.
        retries: how often it runs again after a failure, in a row.
        directory: where it runs, and its nodes do; '' for DAGMan's own.
        where: directory that names of files in its output are relative to.
        prefix: what the names of its nodes begin with.
    """

    program: str
    below: int
    at_most: int
    timeout_s: int
    retries: int
    directory: str = ""
    where: str = ""
    prefix: str = ""


class GrownPiece(NamedTuple):
    """What has been added to the DAG while it ran.

    Attributes:
        number: pieces are counted from 1.
        digest: of its text.
        node: name of the node that has added it; '' if a person or the FEEDER has, or if that node
            had been let go when a rescue DAG began.
        size: how many nodes it has brought.
        feeding: as of `graph.piece.Piece`.
    """

    number: int
    digest: str
    node: str = ""
    size: int = 0
    feeding: Feeding | None = None


class Brought(NamedTuple):
    """What a piece that is in force has brought.

    Attributes:
        nodes: its nodes.
        junctions: its junctions.
        children: names of nodes that were there and got parents which were there, too.
    """

    nodes: Sequence[int]
    junctions: Sequence[int]
    children: tuple[str, ...] = ()


class LetGo(NamedTuple):
    """What has been let go of that was added to the DAG while it ran: pieces, all nodes of which
    were done.

    Attributes:
        number: the highest number of such a piece; 0 if there is none.
        nodes: how many nodes they had.
        fed: the highest number of a feeding among them.
        fed_nodes: how many of the nodes the FEEDER had given.
        last: the FEEDER has said with one of them that there is no more.
        adders: nodes that are in the DAG and have added one of them.
    """

    number: int = 0
    nodes: int = 0
    fed: int = 0
    fed_nodes: int = 0
    last: bool = False
    adders: tuple[str, ...] = ()


NOTHING_LET_GO = LetGo()


class StatusFile(NamedTuple):
    """A NODE_STATUS_FILE command; `interval` in seconds."""

    file: str
    interval: int = 60
    always: bool = False


class DotFile(NamedTuple):
    """A DOT command."""

    file: str
    update: bool = False
    overwrite: bool = False
    include: str = ""
