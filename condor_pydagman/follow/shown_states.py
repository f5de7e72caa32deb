"""The states of nodes that people see: one table for terminal, pictures, reports and page.

Finer than `NodeStatus`: what is in the queue runs, waits or is held, and a node that counts as done
may not have run.  Colours can be distinguished by people with colour blindness (blue, orange,
green, purple that differ in lightness), and each state has a sign and a character of its own too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import IntEnum

from condor_pydagman.engine.node_states import NOT_NEEDED, SKIPPED
from condor_pydagman.follow.run_model import DagState, NodeRun
from condor_pydagman.graph.model import DONE, LEFT_OUT
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import NodeStatus


class Shown(IntEnum):
    """A state of a node, in the order of a node's life: also that of legends, and of sorting."""

    WAITING = 0
    READY = 1
    PRE = 2
    IDLE = 3
    RUNNING = 4
    HELD = 5
    POST = 6
    RETRY = 7
    DONE = 8
    SKIPPED = 9
    CACHED = 10
    NOT_NEEDED = 11
    LEFT_OUT = 12
    FAILED = 13
    FUTILE = 14


class Paint(NamedTuple):
    """Colours: of a sign's ground and of bars, and of boxes; the same in the dark."""

    strong: str
    body: str
    dark_strong: str
    dark_body: str


class Look(NamedTuple):
    """A row of the table."""

    key: str  # its name in JSON, in the addresses of the page and in style sheets
    word: str  # what people read
    meaning: str  # of the word, in a few words
    status: NodeStatus  # the published state that it belongs to
    counted: str  # the key under which `watch --json` and bars of few states count it
    mark: str  # a character that tells it without colours
    ascii_mark: str  # the same where there is only ASCII
    terminal: str  # its style in a terminal, as the package rich has it
    paint: Paint
    sign: str  # a path in a square of 12, drawn as lines; one that ends in Z is filled too


_CIRCLE = "M6 1.6A4.4 4.4 0 1 0 6.01 1.6"

LOOKS: Mapping[Shown, Look] = {
    Shown.WAITING: Look(
        "waiting", "waiting", "waiting for its parents", NodeStatus.NOT_READY, "waiting",
        "·", ".", "bright_black", Paint("#8a9099", "#f5f6f8", "#6b737e", "#262b32"),
        "M6 3.4A2.6 2.6 0 1 0 6.01 3.4",
    ),
    Shown.READY: Look(
        "ready", "ready", "can run; it waits for a throttle or for its turn",
        NodeStatus.READY, "ready",
        "░", ":", "white", Paint("#4ba6d6", "#e6f4fb", "#4ba6d6", "#1d3543"),
        "M2.3 6H9.4M6.4 3L9.4 6L6.4 9",
    ),
    Shown.PRE: Look(
        "pre", "PRE script", "at its PRE script", NodeStatus.PRERUN, "pre",
        "<", "<", "cyan", Paint("#b8649a", "#f8eaf3", "#c277a6", "#3c2735"),
        "M3 2.8V9.2M5.4 3L9.6 6L5.4 9Z",
    ),
    Shown.IDLE: Look(
        "idle", "idle", "its jobs are waiting in the queue", NodeStatus.SUBMITTED, "idle",
        "▒", "~", "yellow", Paint("#c99700", "#fdf5d9", "#c99700", "#3b3417"),
        f"{_CIRCLE}M6 3.6V6.2L7.8 7.4",
    ),
    Shown.RUNNING: Look(
        "running", "running", "a job is running", NodeStatus.SUBMITTED, "running",
        "▓", "=", "blue", Paint("#0064a8", "#d5e8f7", "#2f8fd0", "#163350"),
        "M4 2.4L9.8 6L4 9.6Z",
    ),
    Shown.HELD: Look(
        "held", "held", "a job is on hold until someone releases it", NodeStatus.SUBMITTED, "held",
        "h", "h", "bold magenta", Paint("#7a5534", "#f0e6dc", "#b98b5f", "#38291c"),
        "M4 2.8V9.2M8 2.8V9.2",
    ),
    Shown.POST: Look(
        "post", "POST script", "at its POST script", NodeStatus.POSTRUN, "post",
        ">", ">", "cyan", Paint("#8a4a9e", "#f1e5f5", "#a46cb8", "#33243a"),
        "M2.4 3L6.6 6L2.4 9ZM9 2.8V9.2",
    ),
    Shown.RETRY: Look(
        "retry", "waiting for retry", "failed and will be retried", NodeStatus.READY, "ready",
        "r", "r", "white", Paint("#d98014", "#fdecd6", "#e0962f", "#40290e"),
        "M9.6 6A3.7 3.7 0 1 1 8.4 3.2M8.8 1.2V3.6H6.4",
    ),
    Shown.DONE: Look(
        "done", "done", "finished successfully", NodeStatus.DONE, "done",
        "█", "#", "green", Paint("#008060", "#d9f0e7", "#159a78", "#143a30"),
        "M2.2 6.4L4.8 9L9.8 3.2",
    ),
    Shown.SKIPPED: Look(
        "skipped", "skipped", "counts as done, but was not run", NodeStatus.DONE, "done",
        "s", "s", "green", Paint("#6b8420", "#eef4dd", "#93b04a", "#2b3517"),
        "M1.8 8.6C2.6 2.2 8.4 2.2 9.4 7.6M9.8 4.6L9.5 8L6.3 7.2",
    ),
    Shown.CACHED: Look(
        "cached", "cached", "done before, and nothing has changed since", NodeStatus.DONE, "done",
        "c", "c", "green", Paint("#0f8f96", "#d9f1f2", "#2fb3b8", "#123639"),
        "M2.6 4.2H9.4M2.6 7.8H9.4",
    ),
    Shown.NOT_NEEDED: Look(
        "not_needed", "not needed", "counts as done: enough others are", NodeStatus.DONE, "done",
        "n", "n", "green", Paint("#5f7a68", "#e6eee9", "#86a593", "#26322b"),
        "M1.8 6H7.4M5 3.4L7.6 6L5 8.6M9.8 2.6V9.4",
    ),
    Shown.LEFT_OUT: Look(
        "left_out", "left out", "not chosen for this run; counts as done", NodeStatus.DONE, "done",
        "o", "o", "green", Paint("#9a8f7d", "#f4f1ea", "#8c8170", "#2e2a23"),
        "M2.6 6H9.4",
    ),
    Shown.FAILED: Look(
        "failed", "failed", "failed, and is not retried automatically", NodeStatus.ERROR, "failed",
        "x", "x", "bold red", Paint("#c8400a", "#fde0d2", "#e8622c", "#4d2213"),
        "M2.8 2.8L9.2 9.2M9.2 2.8L2.8 9.2",
    ),
    Shown.FUTILE: Look(
        "futile", "futile", "can't run, because an ancestor failed", NodeStatus.FUTILE, "futile",
        "-", "-", "bright_black", Paint("#4f4a45", "#dcd9d5", "#9a938b", "#37332f"),
        f"{_CIRCLE}M3 9L9 3",
    ),
}  # fmt: skip
# The state of nodes whose colour and sign stand for a DAG that is in a state (`DagState`).
OF_DAGS: Mapping[DagState, Shown] = {
    DagState.NOT_STARTED: Shown.WAITING,
    DagState.IDLE: Shown.IDLE,
    DagState.RUNNING: Shown.RUNNING,
    DagState.HALTED: Shown.IDLE,
    DagState.HELD: Shown.HELD,
    DagState.INTERRUPTED: Shown.FAILED,
    DagState.SUCCEEDED: Shown.DONE,
    DagState.FAILED: Shown.FAILED,
    DagState.REMOVED: Shown.FAILED,
    DagState.UNKNOWN: Shown.WAITING,
}
MIXED = Paint("#5d6673", "#ffffff", "#8b95a3", "#20252b")  # of boxes whose nodes differ

KEYS = tuple(look.key for look in LOOKS.values())
WORDS: Mapping[str, str] = {look.key: look.word for look in LOOKS.values()}
# Done without having run to the end: they are counted as done.
NOT_RUN = (Shown.SKIPPED, Shown.CACHED, Shown.NOT_NEEDED, Shown.LEFT_OUT)
# What has an end, good or bad; it is left only if somebody wants it to run again.
FAILURES = (Shown.FAILED, Shown.FUTILE)
ENDED = (Shown.DONE, *NOT_RUN, *FAILURES)
# Whose colour a box of many nodes has if one is in it: what a person has to look at comes first.
WORST = (Shown.FAILED, Shown.HELD, Shown.FUTILE)
# The order of a bar: what is done, what is at work, what is to come, what won't.
BAR = (
    *(Shown.DONE, *NOT_RUN, Shown.RUNNING, Shown.IDLE, Shown.HELD, Shown.PRE, Shown.POST),
    *(Shown.RETRY, Shown.READY, Shown.WAITING, Shown.FAILED, Shown.FUTILE),
)
# Those that `watch` counts, by their keys, in the order of a bar.
COUNTED = tuple(LOOKS[state].key for state in BAR if LOOKS[state].counted == LOOKS[state].key)
_BY_STATUS = {
    status: next(state for state in Shown if LOOKS[state].status is status) for status in NodeStatus
}
_APART = SKIPPED | NOT_NEEDED
# The states of nodes before anything is known of a run, by their flags.
BY_FLAGS = bytes(
    Shown.WAITING if not flags & DONE else Shown.LEFT_OUT if flags & LEFT_OUT else Shown.DONE
    for flags in range(256)
)


def of_status(status: NodeStatus) -> Shown:
    """The state of a node of which no more is known."""
    return _BY_STATUS[status]


def shown_state(node: NodeRun) -> Shown:
    """The state of a node."""
    status = node.status
    if status is NodeStatus.DONE:
        return _done(node)
    if status is NodeStatus.SUBMITTED:
        attempt = node.attempts[-1].queued_as if node.attempts else None
        if attempt is None or attempt.running:
            return Shown.RUNNING
        return Shown.HELD if attempt.held else Shown.IDLE
    if status is NodeStatus.READY and node.attempts and node.attempts[-1].over:
        return Shown.RETRY
    return Shown.DONE if node.has_served else _BY_STATUS[status]


def _done(node: NodeRun) -> Shown:
    if node.cached:
        return Shown.CACHED
    marks = node.marks() & _APART
    if marks & NOT_NEEDED:
        return Shown.NOT_NEEDED
    if marks or node.told_skipped or node.is_pre_skipped:
        return Shown.SKIPPED
    return Shown.LEFT_OUT if node.is_left_out and not node.attempts else Shown.DONE


def why_done(node: NodeRun) -> str:
    """Why a node counts as done without having run to its end; '' if it has, or is not done."""
    if node.status is not NodeStatus.DONE:
        return ""
    state = _done(node)
    if state is Shown.SKIPPED:
        pre_skip = "its PRE script returned the value of PRE_SKIP"
        return node.why or (pre_skip if node.is_pre_skipped else "it was skipped in an earlier run")
    if state is Shown.CACHED:
        return node.why or LOOKS[state].meaning
    if state is Shown.NOT_NEEDED:
        return node.unneeded_by or "it was not needed in an earlier run"
    return "CHOOSE leaves it out" if state is Shown.LEFT_OUT else node.why


def in_words(counts: Mapping[str, int]) -> Iterator[str]:
    """`12 skipped` for each state of which there are nodes; counts by keys."""
    for state in BAR:
        key, word = LOOKS[state].key, LOOKS[state].word
        if counts.get(key):
            yield f"{counts[key]:,} {word}"


def done_of(counts: Mapping[str, int]) -> int:
    """How many nodes count as done; counts by keys."""
    return sum(counts.get(look.key, 0) for look in LOOKS.values() if look.counted == "done")


def class_of(state: Shown | None) -> str:
    """The CSS class of what is in a state; None is for what is in several."""
    return f"s-{LOOKS[state].key}" if state is not None else "s-mixed"


def paints() -> Iterator[tuple[str, Paint]]:
    """The colours of each CSS class."""
    for state, look in LOOKS.items():
        yield class_of(state), look.paint
    yield class_of(None), MIXED
