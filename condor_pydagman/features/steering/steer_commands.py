"""What a person can ask of a running DAG: each command once.

From this table come the requests that DAGMan takes (`messages`), the commands of
`condor_pydagman steer`, and what the page offers, whose server tells it.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from condor_pydagman.named_tuple import NamedTuple

RETRY = "retry"  # option of CANCEL
DESCENDANTS = "descendants"  # option of RERUN
MAX_NUMBER = 2**31 - 1


class NodeCommand(Enum):
    """What can be asked of nodes (docs/steering.md); the value stands in the nodes log, too."""

    CANCEL = "cancel"  # its jobs are removed, and it fails
    HOLD = "hold"
    RELEASE = "release"
    RERUN = "rerun"  # it has ended, and is to run anew
    DONE = "done"  # somebody has done what it was to do
    SKIP = "skip"  # it is not to run, and counts as done
    SET = "set"  # another priority or number of retries
    REMATCH = "rematch"  # its group of nodes leaves its site, and is matched to another one


class Option(NamedTuple):
    """A value that a command takes, by its name in requests."""

    name: str
    kind: type
    line: str = ""  # on the command line: `--option METAVAR` or METAVAR; '' if it is not there
    help: str = ""
    least: int = -MAX_NUMBER  # of a number

    @property
    def expected(self) -> str:
        """What kind of value it is."""
        lowest = f"{self.least}{', no limit,' * (self.least == 0)}"
        numbers = f"a whole number from {lowest} to {MAX_NUMBER}"
        return {str: "a string", bool: "true or false", int: numbers}.get(self.kind, "an object")

    def takes(self, value: Any) -> bool:
        """Whether a value of a request is of this kind; true is no number."""
        if type(value) is int and self.kind is int:
            return self.least <= value <= MAX_NUMBER
        return type(value) is self.kind


class Command(NamedTuple):
    """A command of nodes, or of the DAG."""

    name: str
    help: str = ""  # of the command line; '' if it is not there
    options: tuple[Option, ...] = ()
    of: str = "nodes"  # or "group", "dag"
    done: str = ""  # what has become of nodes, behind "3 nodes"
    effect: str = ""  # what it does to `{nodes}`, for the page; '' if that can't ask for it
    loses_work: bool = False  # whether jobs that run are lost by it
    button: str = ""  # on the page; '' if there is none
    confirm: str = ""  # the button of its dialog; '' as `button`
    asks: bool = False  # whether the page has a dialog though no work is lost
    states: tuple[str, ...] = ()  # of a single node to which it makes sense; DAGMan decides

    @property
    def known(self) -> str:
        """Its options, for messages."""
        return f"it takes {', '.join(one.name for one in self.options) or 'none'}"

    def option(self, name: str) -> Option | None:
        """The option of that name."""
        return next((one for one in self.options if one.name == name), None)


_IN_QUEUE = ("idle", "running", "held")
_UNSTARTED = ("waiting", "ready", "retry")
_SETTINGS = (
    Option("priority", int, "--priority N", "higher runs first"),
    Option("retries", int, "--retries N", "as RETRY", 0),
    Option("timeout", str, "--timeout LIMITS", 'as TIMEOUT: "QUEUED 1h RUNNING 30m"'),
    Option("new_category", str, "--new-category NAME", "as CATEGORY; must exist in the DAG"),
    Option("vars", dict, "--var NAME=VALUE", "as VARS; can be repeated"),
)
_LIMITS = tuple(
    Option(name, int, line, "0: no limit", 0)
    for name, line in (
        *((name, f"--{name} N") for name in ("jobs", "idle", "pre", "post")),
        *(("hold", ""), ("submits", "")),
    )
)
_TABLE = (
    Command(
        "cancel",
        "remove the nodes' jobs; the nodes fail, without retries",
        (Option(RETRY, bool, "--retry", "retry the nodes if they have retries left"),),
        done="cancelled",
        effect="The jobs of {nodes} are removed, and {they} fail{s}, without retries.",
        loses_work=True,
        button="Cancel",
        confirm="Yes, cancel",
        states=(*_UNSTARTED, "pre", *_IN_QUEUE, "post"),
    ),
    Command(
        "hold",
        "put the nodes' jobs on hold",
        done="put on hold",
        effect="The jobs of {nodes} are put on hold: running jobs stop, and start again when they"
        " are released.",
        loses_work=True,
        button="Hold",
        states=("idle", "running"),
    ),
    Command(
        "release",
        "release the nodes' jobs",
        done="released",
        effect="The jobs of {nodes} are released.",
        button="Release",
        states=("held",),
    ),
    Command(
        "rerun",
        "run nodes again that failed or are done",
        (
            Option(
                DESCENDANTS, bool, "--descendants", "also run again all nodes that depend on them"
            ),
        ),
        done="run again",
        effect="{nodes} run{s} again, with all retries.",
        button="Run again",
        states=("done", "failed"),
    ),
    Command(
        "done",
        "mark nodes as done, because their work was done in another way",
        done="marked done",
        effect="{nodes} count{s} as done without running; nodes that wait for {them} can start.",
        button="Mark done",
        confirm="Mark as done",
        asks=True,
        states=(*_UNSTARTED, "failed"),
    ),
    Command(
        "skip",
        "skip nodes that have not started; they count as done",
        done="skipped",
        effect="{nodes} {are} skipped, and count{s} as done.",
        button="Skip",
        asks=True,
        states=_UNSTARTED,
    ),
    Command(
        "rematch",
        "move groups of nodes to other sites, where they start over",
        of="group",
        done="told to leave its site",
        effect="{group} leaves its site. Its jobs are removed, its clean-up node runs there if it"
        " has one, and all its nodes start over at another site, including those that are done.",
        loses_work=True,
        button="Rematch",
        asks=True,
    ),
    Command(
        "set",
        "set priority, retries, timeouts, category or VARS of nodes that have not started",
        _SETTINGS,
        done="changed",
        effect="The changes to {nodes} apply from the next submission on.",
        button="Set…",
        confirm="Set values",
    ),
    Command(
        "halt",
        "start nothing new; jobs in the queue continue",
        (Option("reason", str, "--reason", "reason to write into .dagman.out"),),
        of="dag",
        effect="DAGMan starts nothing new; jobs in the queue continue.",
        button="Halt",
        confirm="Halt the DAG",
    ),
    Command(
        "resume",
        "resume a halted DAG",
        of="dag",
        effect="The DAG continues.",
        button="Resume",
        confirm="Resume the DAG",
    ),
    Command("limits", "set throttles", _LIMITS, of="dag", effect="The throttles are changed."),
    Command(
        "priority",
        "set the priority that is added to that of every node, including jobs in the queue",
        (Option("value", int, "N", "as -Priority of condor_submit_dag"),),
        of="dag",
        effect="The priority of all jobs of the DAG changes, including those in the queue.",
    ),
    Command(
        "cancel-all",
        "end the DAG as condor_rm does: rescue file, remove all jobs, FINAL node",
        of="dag",
        effect="The DAG ends: DAGMan writes a rescue file, removes all its jobs, and runs the FINAL"
        " node.",
        loses_work=True,
        button="Remove the DAG",
        asks=True,
    ),
    Command(
        "add",
        "add the nodes and edges of a DAG file to the DAG",
        (Option("file", str, "FILE", "a DAG file; - for standard input"), Option("text", str)),
        of="dag",
    ),
    Command(
        "names",
        "list node names that start with a text, for shell completion: 1,000 at most",
        (Option("prefix", str, "TEXT", "how the names start"),),
        of="dag",
    ),
    Command(
        "info",
        "show which DAGMan runs the DAG, whether it is halted, and its throttles",
        of="dag",
    ),
    Command("groups", of="dag"),
    Command("events", options=(Option("since", str), Option("before", bool)), of="dag"),
)
COMMANDS = {command.name: command for command in _TABLE}
