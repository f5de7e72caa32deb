"""Steers DAGs for the page, by the local socket of their DAGMan (docs/steering.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from condor_pydagman.adapters import request_client
from condor_pydagman.adapters.request_client import SteeringAnswer
from condor_pydagman.engine.report import GroupReport
from condor_pydagman.errors import PydagmanError
from condor_pydagman.monitor.found_dag import FoundDag
from condor_pydagman.web.steering_seam import LIMITS, Answer, Controls, Request

SHOWN = 50  # refused nodes that the page is told of
_OTHER_NAMES = {"category": "new_category"}  # of options, in the protocol of DAGMan
# What a command does, for one node or for several, and whether work is lost by it.
_EFFECTS: Mapping[str, tuple[str, bool]] = {
    "cancel": ("The jobs of {nodes} are removed, and {they} fail{s}, without retries.", True),
    "hold": (
        "The jobs of {nodes} are put on hold: running jobs stop, and start again when they are"
        " released.",
        True,
    ),
    "release": ("The jobs of {nodes} are released.", False),
    "rerun": ("{nodes} run{s} again, with all retries.", False),
    "done": (
        "{nodes} count{s} as done without running; nodes that wait for {them} can start.",
        False,
    ),
    "skip": ("{nodes} {are} skipped, and count{s} as done.", False),
    "rematch": (
        "{group} leaves its site. Its jobs are removed, its clean-up node runs there if it has one,"
        " and all its nodes start over at another site, including those that are done.",
        True,
    ),
    "set": ("The changes to {nodes} apply from the next submission on.", False),
    "halt": ("DAGMan starts nothing new; jobs in the queue continue.", False),
    "resume": ("The DAG continues.", False),
    "limits": ("The throttles are changed.", False),
    "priority": (
        "The priority of all jobs of the DAG changes, including those in the queue.",
        False,
    ),
    "cancel-all": (
        "The DAG ends: DAGMan writes a rescue file, removes all its jobs, and runs the FINAL node.",
        True,
    ),
}
_CANCEL_WITH_RETRIES = "The jobs of {nodes} are removed; {they} {are} retried if retries are left."
_RERUN_DESCENDANTS = " All nodes that depend on {them} run again too."


class SocketSteering:
    """See `steering_seam.Steering`."""

    def controls(self, dag: FoundDag) -> Controls:
        """Whether this DAG can be steered now."""
        try:
            told = request_client.steer(dag.paths.primary, "info").fields
        except PydagmanError as error:
            return Controls(False, str(error))
        limits = {name: int(told["limits"][name]) for name in LIMITS}
        return Controls(True, limits={**limits, "priority": int(told["priority"])})

    def steer(self, dag: FoundDag, request: Request) -> Answer:
        """Do what is asked for.

        Raises:
            PydagmanError: nothing of it is done; the message says why.
        """
        if request.dry and not request.nodes:
            return Answer(1, **_effect(request, 1))
        found = request_client.steer(
            dag.paths.primary,
            request.command,
            **_selector(request.nodes),
            dry=request.dry,
            **{_OTHER_NAMES.get(name, name): value for name, value in request.options.items()},
        )
        return _answer(request, found)

    def groups(self, dag: FoundDag) -> Sequence[GroupReport]:
        """What DAGMan says of groups that run at sites.

        Raises:
            PydagmanError: it does not answer.
        """
        return request_client.groups_of(dag.paths.primary)


def _selector(nodes: Mapping[str, Any]) -> dict[str, Any]:
    if "pattern" in nodes:
        return {"pattern": "".join(map(_either_case, nodes["pattern"]))}
    return {kind: value for kind, value in nodes.items() if kind != "numbers"}


def _either_case(letter: str) -> str:
    """What stands in a pattern of DAGMan for a letter of the page's search, which takes capitals
    and small letters for the same, and brackets for themselves."""
    lower, upper = letter.lower(), letter.upper()
    if letter == "[" or (lower != upper and len(lower) == len(upper) == 1):
        return f"[{lower}{upper}]"
    return letter


def _answer(request: Request, found: SteeringAnswer) -> Answer:
    refused = [
        {"node": node, "state": "", "reason": reason} for node, reason in found.refused[:SHOWN]
    ]
    effect = _effect(request, found.done)
    return Answer(found.done, refused, found.refused_count, **effect)


def _effect(request: Request, count: int) -> dict[str, Any]:
    text, loses_work = _EFFECTS[request.command]
    if request.options.get("descendants"):
        text, loses_work = text + _RERUN_DESCENDANTS, True
    if request.options.get("retry"):
        text = _CANCEL_WITH_RETRIES
    if not count:
        return {"effect": "Nothing changes.", "loses_work": False}
    one = {"nodes": "1 node", "they": "it", "them": "it", "are": "is", "s": "s"}
    many = {"nodes": f"{count:,} nodes", "they": "they", "them": "them", "are": "are", "s": ""}
    name = request.nodes.get("group")
    group = f"Group {name}" if name else "The nodes' group"
    effect = text.format(group=group, **(one if count == 1 else many))
    return {"effect": effect, "loses_work": loses_work}
