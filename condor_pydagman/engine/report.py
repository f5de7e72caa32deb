"""Reports of the engine's state: the only source of the numbers that files and ads show.

Rescue files, node status files, metrics, job-ad attributes, DOT files and the status table are all
written from a `Report` and `NodeReport`s, never from the engine's insides.
"""

from __future__ import annotations

from typing import Any

from condor_pydagman.engine.node_settings import NodeSettings
from condor_pydagman.engine.node_states import NOT_NEEDED, SKIPPED, UNWANTED
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import DagStatus, NodeStatus

MAX_FAILED_FIRST = 6


class Deferrals(NamedTuple):
    """How often a node or a script had to wait for a throttle."""

    max_jobs: int = 0
    max_idle: int = 0
    category: int = 0
    pre: int = 0
    post: int = 0
    hold: int = 0


class Halts(NamedTuple):
    """What keeps the DAG halted: the halt file, a command, a command that pauses it, itself."""

    by_file: bool = False
    by_command: bool = False
    paused: bool = False
    by_rule: bool = False

    @property
    def halted(self) -> bool:
        """Whether anything keeps the DAG halted."""
        return self.by_file or self.by_command or self.paused or self.by_rule


class Shown(NamedTuple):
    """What a feature shows of the whole DAG.

    `field` names it in the node status file, `attribute` in the job ad, `metric` in the metrics
    file; '' if it is not there.  A `value` of '' stands for nothing.  `answer` is what clients that
    ask DAGMan are told, under that name in lower case.
    """

    field: str
    value: str | int
    attribute: str = ""
    metric: str = ""
    answer: Any = None


class OwnJobs(NamedTuple):
    """Jobs of a feature's own that are in the queue; `in_doubt`: of some nobody knows whether they
    have left it."""

    idle: int
    held: int
    running: int
    in_doubt: bool = False


class Report(NamedTuple):
    """Counts of the whole DAG.  Nodes first (as in the status table), then job procs.

    `procs_completed` includes `procs_failed`, and both include procs that were aborted.  Jobs of
    features are among those that are idle, held and running.  `limits`
    are the throttles in force, `priority` is what is added to each node's own.
    """

    total: int
    done: int
    pre: int
    queued: int
    post: int
    ready: int
    unready: int
    failed: int
    futile: int
    hold_scripts: int
    dag_status: DagStatus
    in_recovery: bool
    procs_submitted: int
    procs_idle: int
    procs_held: int
    procs_running: int
    procs_completed: int
    deferrals: Deferrals
    procs_failed: int = 0
    limits: Throttles = Throttles()
    halts: Halts = Halts()
    priority: int = 0
    shown: tuple[Shown, ...] = ()
    last_end_at: float = 0.0  # of a node, seconds since the epoch; 0.0 if none has ended
    refusals: int = 0  # submissions that the schedd has not taken
    resubmitting: int = 0  # nodes that are submitted again after one
    retrying: int = 0  # nodes that wait for the delay of their next run
    throttled: bool = False  # whether a throttle forbids another submission
    retries: int = 0  # that nodes have taken
    failed_first: tuple[str, ...] = ()  # names of nodes, the first MAX_FAILED_FIRST that failed
    # for how long jobs have waited, been held and run, seconds summed over procs; and the last runs
    # of those that failed
    idle_s: float = 0.0
    held_s: float = 0.0
    running_s: float = 0.0
    wasted_s: float = 0.0


class NodeReport(NamedTuple):
    """One node, as the node status file, rescue file and failure dump show it.

    `retries_done` counts retries taken so far; `procs_*` are those in the queue now;
    `error` tells why it failed; `job` is `cluster.proc.subproc` of its last job, '' if none;
    `details` is for people, of a node that waits for something out of the ordinary; `settings` what
    a person has set, None if nothing; `site` is that of its group, '' if it has none; `marks`
    are those of `node_states`; `anew` says that a rescue DAG is to decide on it again;
    `rescue_lines` is what a rescue file says of it beside that it is done.
    """

    node: int
    name: str
    status: NodeStatus
    waiting_parents: int
    retries_done: int
    return_value: int
    procs_queued: int
    procs_held: int
    proc_running: bool
    error: str
    job: str
    details: str = ""
    settings: NodeSettings | None = None
    site: str = ""
    marks: int = 0
    anew: bool = False
    rescue_lines: tuple[str, ...] = ()

    @property
    def skipped(self) -> bool:
        """Whether the node is done without having run."""
        return bool(self.marks & SKIPPED)

    @property
    def not_needed(self) -> bool:
        """Whether it is, or will be, done without having ended well."""
        return bool(self.marks & (NOT_NEEDED | UNWANTED))


class GroupReport(NamedTuple):
    """A group of nodes that runs at one site.

    `state` is a name of `GroupState`; `site` is '' if it has none; `round` counts the sites that it
    has been matched to; `done` how many of its `total` nodes are done; `since` is when it began to
    wait for a site, 0 if it does not; `reason` why it has none, `found` when that was found last.
    """

    name: str
    state: str
    site: str
    round: int
    total: int
    done: int
    since: float = 0.0
    reason: str = ""
    found: float = 0.0
