"""The commands of the DAG language: one class a command, as its line in a DAG file says it.

Those of a feature are in its own `commands`.

What a command means for the DAG is the business of `graph.build`; the words of the language are in
`language.keywords`, how the line of each is read and written in `language.syntax`.
"""

from __future__ import annotations

from typing import Any, Protocol

from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import NodeKind, ScriptKind


class Command(Protocol):
    """A command: a tuple with names, of which the first is the number of its line."""

    @property
    def line(self) -> int:
        """The number of its line, or of the first of its lines."""

    def __getitem__(self, index: slice) -> tuple[Any, ...]:
        """Some of its values."""


class NotDone(NamedTuple):
    """NOT_DONE: a JOB line calls the node DONE, and a person has run it anew; of a rescue file."""

    line: int
    node: str


# The commands by which a DAG grows while it runs.


class Job(NamedTuple):
    """JOB, FINAL, PROVISIONER, SERVICE, or DATA of the time of Stork: a node.

    `description` is the text of an inline submit description, None if `submit` is a file or the
    name of a SUBMIT-DESCRIPTION.
    """

    line: int
    name: str
    submit: str
    directory: str = ""
    noop: bool = False
    done: bool = False
    description: str | None = None
    kind: NodeKind = NodeKind.JOB


class Subdag(NamedTuple):
    """SUBDAG EXTERNAL: a node that is the run of another DAG file."""

    line: int
    name: str
    file: str
    directory: str = ""
    noop: bool = False
    done: bool = False


class Splice(NamedTuple):
    """SPLICE: the nodes of another DAG file become nodes of this one, their names prefixed."""

    line: int
    name: str
    file: str
    directory: str = ""


class Include(NamedTuple):
    """INCLUDE: the commands of another file, as if they stood here."""

    line: int
    file: str


class Connect(NamedTuple):
    """CONNECT: joins the PIN_OUTs of splice `parent` to the PIN_INs of splice `child`."""

    line: int
    parent: str
    child: str


class Pin(NamedTuple):
    """PIN_IN or PIN_OUT (`out`): puts the node on a numbered pin, from 1, of its splice."""

    line: int
    node: str
    number: int
    out: bool


class SubmitDescription(NamedTuple):
    """SUBMIT-DESCRIPTION: a submit description that several nodes can name."""

    line: int
    name: str
    description: str


class ParentChild(NamedTuple):
    """[WEAK] PARENT ... CHILD ...: every one of `children` waits for every one of `parents`.

    A weak child waits for the end of its parent only, be it a success or not.
    """

    line: int
    parents: tuple[str, ...]
    children: tuple[str, ...]
    weak: bool = False


class ScriptLine(NamedTuple):
    """SCRIPT: `command` is the raw rest of the line.

    Attributes:
        defer_times, defer_for: how often DEFER puts it off at most, and for how many seconds in
            all; 0 for no limit.
        defer_backoff, defer_max_delay: by how much the delay is multiplied each time, and the
            seconds that it does not grow beyond; 0 for no limit.
    """

    line: int
    node: str
    kind: ScriptKind
    command: str
    defer_status: int | None = None
    defer_seconds: int = 0
    debug_file: str = ""
    debug_stream: str = ""
    defer_times: int = 0
    defer_for: int = 0
    defer_backoff: float = 1.0
    defer_max_delay: int = 0


class RetryLine(NamedTuple):
    """RETRY: what is None is not in the line; times are in seconds (see `Retry`)."""

    line: int
    node: str
    limit: int
    unless_exit: tuple[int, ...] | None = None
    only_if: tuple[int, ...] | None = None
    delay: int | None = None
    backoff: float | None = None
    max_delay: int | None = None


class AbortDagOn(NamedTuple):
    """ABORT-DAG-ON: `exit_code` None where the line has no RETURN."""

    line: int
    node: str
    status: int
    exit_code: int | None = None


class Vars(NamedTuple):
    """VARS: `append` None where the line has neither PREPEND nor APPEND."""

    line: int
    node: str
    append: bool | None
    pairs: tuple[tuple[str, str], ...]


class Priority(NamedTuple):
    """PRIORITY: the bigger `value`, the earlier the node is submitted."""

    line: int
    node: str
    value: int


class PreSkip(NamedTuple):
    """PRE_SKIP: exit code of the PRE script that makes the node succeed at once."""

    line: int
    node: str
    exit_code: int


class ToleranceLine(NamedTuple):
    """TOLERANCE: how many procs (or percent of them) may fail before the node does.

    `fail_fast` None where the line has neither FAIL-FAST (True) nor WAIT (False).
    """

    line: int
    node: str
    limit: int
    percent: bool = False
    fail_fast: bool | None = None


class SavePointFile(NamedTuple):
    """SAVE_POINT_FILE: a save file is written when the node starts; '' for the default name."""

    line: int
    node: str
    file: str = ""


class Category(NamedTuple):
    """CATEGORY: puts the node into a category."""

    line: int
    node: str
    category: str


class MaxJobs(NamedTuple):
    """MAXJOBS: how many nodes of a category may be in the queue."""

    line: int
    category: str
    limit: int


class Done(NamedTuple):
    """DONE: the node need not run; the lines of a rescue file."""

    line: int
    node: str


class NodeStatusFile(NamedTuple):
    """NODE_STATUS_FILE: `interval` in seconds."""

    line: int
    file: str
    interval: int = 60
    always: bool = False


class JobstateLog(NamedTuple):
    """JOBSTATE_LOG: the file that Pegasus reads."""

    line: int
    file: str


class Dot(NamedTuple):
    """DOT: a picture of the DAG for Graphviz."""

    line: int
    file: str
    update: bool = False
    overwrite: bool = False
    include: str = ""


class Reject(NamedTuple):
    """REJECT: this DAG must not be run."""

    line: int


class ConfigFile(NamedTuple):
    """CONFIG: configuration for DAGMan; applied by condor_submit_dag."""

    line: int
    file: str


class SetJobAttr(NamedTuple):
    """SET_JOB_ATTR: `attribute` is a raw `key = value` for DAGMan's own job ad."""

    line: int
    attribute: str


class Env(NamedTuple):
    """ENV: DAGMan's own environment; `set` False means GET, `variables` is raw."""

    line: int
    set: bool
    variables: str
