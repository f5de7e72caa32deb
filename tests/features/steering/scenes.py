"""What a person asks of nodes, in scenes, and how it is answered."""

from __future__ import annotations

from condor_pydagman.engine import actions as do
from condor_pydagman.features.steering.run import DagSteered, NodesSteered
from condor_pydagman.features.steering.steer_commands import NodeCommand
from tests.scenes.phrases import Told, phrase
from tests.scenes.stage import Stage
from tests.scenes.words import Words, in_words

COMMANDS = "|".join(command.value for command in NodeCommand)


class Requests:
    """How many have been made."""

    count = 1


@phrase(f"({COMMANDS}) <text>")
def _steer(stage: Stage, command: str, text: str) -> Told:
    """Nodes, and perhaps an option or `{"retries":1}`; with `and more`, a part of a request."""
    text, more, _ = text.partition(" and more")
    words = text.split()
    names = [word for word in words if word in stage.harness.dag.ids]
    requests = stage.part(Requests)
    nodes = [stage.node(name) for name in names]
    options = " ".join(words[len(names) :])
    yield NodesSteered(requests.count, NodeCommand(command), nodes, "ann", options, last=not more)
    requests.count += not more


@phrase("the DAG gets priority <number>")
def _priority(stage: Stage, number: str) -> Told:
    """A person wants it."""
    requests = stage.part(Requests)
    yield DagSteered("ann", f"priority value {number}", requests.count)
    requests.count += 1


@in_words(do.SetJobPriorities)
def _job_priorities(words: Words, action: do.SetJobPriorities) -> str:
    return f"priority {action.priority} of {' '.join(map(words.owner, action.jobs))}"


@in_words(do.Steered)
def _steered(words: Words, answer: do.Steered) -> str:
    """`steered 2`, `steered 1 and 3 descendants`, or `refused A (why)`."""
    refused = "; ".join(why for _, why in answer.refused)
    names = " ".join(words.name(node) for node, _ in answer.refused)
    more = f" and {answer.descendants} descendants" * bool(answer.descendants)
    done = f"steered {answer.done}{more}" if answer.done or not refused else ""
    return ", ".join(filter(None, (done, f"refused {names} ({refused})" * bool(refused))))
