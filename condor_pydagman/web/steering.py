"""Steers DAGs for the page, by the local socket of their DAGMan (docs/steering.md).

A request comes from the page as JSON; `read_request` takes nothing that it does not know.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from condor_pydagman.adapters import request_client
from condor_pydagman.engine.report import GroupReport
from condor_pydagman.errors import PydagmanError
from condor_pydagman.feature_table import SERVES_CLIENTS, own
from condor_pydagman.monitor.found_dag import FoundDag
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.web.access import Refused

MAX_NAMED = 100_000  # nodes in a request
MAX_TEXT = 10_000  # characters of a name, pattern or reason
MAX_REFUSED = 50  # nodes that the page is told of
_Types = Mapping[str, type]
# Of which the page has something, by name.
COMMANDS: Mapping[str, Any] = {
    name: command
    for name, command in (own(SERVES_CLIENTS, "steer_commands", "COMMANDS") or {}).items()
    if command.effect
}
LIMITS = [
    option.name
    for name, command in COMMANDS.items()
    for option in command.options
    if name == "limits" and option.line
]
_CANCEL_WITH_RETRIES = "The jobs of {nodes} are removed; {they} {are} retried if retries are left."
_RERUN_DESCENDANTS = " All nodes that depend on {them} run again too."
_SELECTORS: _Types = {
    "names": list,
    "pattern": str,
    "state": str,
    "category": str,
    "group": str,
    "numbers": list,
}


class Controls(NamedTuple):
    """Whether a DAG can be steered; `why_not` in a sentence.

    `limits`: throttles and priority in force, as its DAGMan says; {} if it has not said.
    """

    can: bool
    why_not: str = ""
    limits: Mapping[str, int] = MappingProxyType({})


class Request(NamedTuple):
    """What somebody wants of a DAG."""

    command: str  # `cancel`, `hold`, ..
    # one of names, pattern, state, category, group; {} for a command on the DAG
    nodes: Mapping[str, Any]
    options: Mapping[str, Any]  # of the command
    seen: int = -1  # version of the states that the person saw; -1 if that is not told
    dry: bool = False  # only say what it would do


class Answer(NamedTuple):
    """What has been done, or would be."""

    done: int  # how many nodes, or 1 for a command on the DAG
    # some of the nodes that it can't be done with: node, state, reason
    refused: Sequence[Mapping[str, str]] = ()
    refused_count: int = 0  # how many there are
    effect: str = ""  # a sentence that says what it does
    loses_work: bool = False  # whether jobs that run are lost by it


class Steering:
    """Steers DAGs.  All methods may block; they are called in a thread of their own."""

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
            **request.options,
        )
        refused = [
            {"node": node, "state": "", "reason": reason}
            for node, reason in found.refused[:MAX_REFUSED]
        ]
        return Answer(found.done, refused, found.refused_count, **_effect(request, found.done))

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


def _effect(request: Request, count: int) -> dict[str, Any]:
    command = COMMANDS[request.command]
    text, loses_work = command.effect, command.loses_work
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


_FIELDS = {bool: "flag", dict: "vars", int: "number", str: "text"}


def buttons() -> dict[str, Any]:
    """What the page offers, by name of the command, with the fields of the options."""
    return {
        name: {
            **{field: getattr(one, field) for field in ("of", "button", "asks", "states")},
            "confirm": one.confirm or one.button,
            "help": one.help,
            "options": [
                {"name": option.name, "kind": _FIELDS[option.kind], "help": option.help}
                for option in one.options
            ],
        }
        for name, one in COMMANDS.items()
        if one.button
    }


def read_request(message: Any) -> Request:
    """A request of the page.

    Raises:
        Refused: it has something that is not known, or lacks something.
    """
    if not isinstance(message, dict):
        raise Refused(400, "a command must be a JSON object")
    _check(message, {"command": str, "nodes": dict, "options": dict, "seen": int, "dry": bool}, "")
    word = message.get("command", "")
    nodes, options = message.get("nodes") or {}, message.get("options") or {}
    command = COMMANDS.get(word)
    if command is None:
        known = ", ".join(COMMANDS)
        raise Refused(400, f"there is no command {_shown(word)}; the commands are {known}")
    _check(options, {one.name: one.kind for one in command.options}, f" of {word}")
    if command.of != "dag":
        _check_nodes(nodes)
    elif nodes:
        raise Refused(400, f"{word} is for the whole DAG: it takes no nodes")
    return Request(word, nodes, options, message.get("seen", -1), message.get("dry", False))


def _check_nodes(nodes: Mapping[str, Any]) -> None:
    _check(nodes, _SELECTORS, " of nodes")
    if len(nodes) != 1:
        raise Refused(400, f"select nodes by one of {', '.join(_SELECTORS)}")
    ((kind, value),) = nodes.items()
    if not isinstance(value, list):
        return
    of = str if kind == "names" else int
    if len(value) > MAX_NAMED:
        raise Refused(400, f"at most {MAX_NAMED} nodes can be named at once")
    if not all(type(one) is of for one in value):
        raise Refused(400, f"{kind} is a list of {'strings' if of is str else 'numbers'}")


def _check(fields: Mapping[str, Any], types: _Types, of: str) -> None:
    """Each field is known and of its type; true is no number here."""
    for name, value in fields.items():
        if name not in types:
            known = ", ".join(types) or "none"
            raise Refused(400, f"there is no field {_shown(name)}{of}; there are: {known}")
        if value is None and not of and name in ("nodes", "options"):
            continue
        if type(value) is not types[name]:
            raise Refused(400, f"the field {name}{of} has a value of the wrong type")
        if isinstance(value, str) and len(value) > MAX_TEXT:
            raise Refused(400, f"the field {name}{of} is too long")


def _shown(text: object) -> str:
    return repr(text)[:100]
