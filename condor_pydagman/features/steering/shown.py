"""What people ask of nodes and of the whole DAG, as the nodes log tells."""

from __future__ import annotations

from collections import deque

from condor_pydagman.features.steering.preconditions import BEGUN, read_text
from condor_pydagman.features.steering.steer_commands import RETRY, NodeCommand
from condor_pydagman.follow.dag_events import DagEvent
from condor_pydagman.follow.run_model import NodeRun, Run, Seen
from condor_pydagman.follow.tracker import Records, Tracker
from condor_pydagman.records.dagman_out import OutKind, OutLine
from condor_pydagman.records.own_events import RecordRead
from condor_pydagman.report.feature_words import Events
from condor_pydagman.vocabulary import NodeStatus

_ENDED = (NodeStatus.DONE, NodeStatus.ERROR)
_TOLD_BY_OUT = ("halt", "resume", "cancel-all")
_BUSY = (NodeStatus.PRERUN, NodeStatus.SUBMITTED, NodeStatus.POSTRUN)


class DagSteered(Seen):
    """What people have asked of the whole DAG."""

    def __init__(self) -> None:
        self.times = 0
        self.last: deque[tuple[float, str]] = deque(maxlen=5)  # when, and who asked what


def _steered(tracker: Tracker, node: NodeRun | None, read: RecordRead, time: float) -> None:
    """A person's command, which DAGMan obeys unless it comes too late."""
    words = read_text(read.text)
    if node is None or words is None:
        return
    command = words.command
    data = {"command": command.value, "by": words.by, "options": words.options}
    tracker.tell("node.steered", time, node, **data)
    options = (option for option in words.options.split(" ") if option != BEGUN)
    asked = " ".join((command.value, *options)).rstrip()
    tracker.run.interventions.add(time, words.by, asked, node=node.name)
    if command in (NodeCommand.DONE, NodeCommand.SKIP):
        is_skip = command is NodeCommand.SKIP
        how = "skipped" if is_skip else "marked done"
        tracker.because(node, skipped=is_skip, reason=f"{how} by {words.by}")
    elif command is NodeCommand.CANCEL and node.status not in _ENDED:
        tracker.because(node, reason=f"cancelled by {words.by}")
        if RETRY not in words.options.split() or node.status not in _BUSY:
            node.cancelled_by = node.cancelled_by or words.by


def _dag_steered(tracker: Tracker, _node: NodeRun | None, read: RecordRead, time: float) -> None:
    """A person's command for the DAG; of halts and ends `.dagman.out` tells more."""
    by, _, words = read.text.partition(" ")
    command, _, options = words.partition(" ")
    data = {"command": command, "by": by, "options": options}
    event = DagEvent("dag.steered", time, data=data)
    tracker.say(event)
    seen = DagSteered.put(tracker.run)
    seen.times += 1
    seen.last.append((time, EVENTS[event.name](event)))
    if command not in _TOLD_BY_OUT:
        tracker.run.interventions.add(time, by, words)


def _held_or_released(run: Run, line: OutLine) -> None:
    """Of these commands there is no record: they do not decide a state."""
    done, _, by = line.text.partition(", as ")
    what = NodeCommand.RELEASE if done == "released" else NodeCommand.HOLD
    by = by[: -len(" wants")]
    run.interventions.add(line.time, by, what.value, node=line.node)


LINES = {OutKind.STEERED: _held_or_released}
RECORDS: Records = {"STEERED": _steered, "DAG_STEERED": _dag_steered}


EVENTS: Events = {
    "node.steered": lambda event: f"{event.data['command']}, asked by {event.data['by']}",
    "dag.steered": lambda event: "{by} asks: {command} {options}".format(**event.data).rstrip(),
}
