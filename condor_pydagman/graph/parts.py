"""What single commands say, as the Dag has it: a record for each kind.

`graph.model` hands them on; nothing else need import this module.
"""

from __future__ import annotations

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
