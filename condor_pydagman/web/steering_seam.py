"""What the server needs of whatever steers DAGs: a protocol, so that it can be given another one.

A request comes from the page as JSON; `read_request` takes nothing that it does not know.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Protocol, Union

from condor_pydagman.engine.report import GroupReport
from condor_pydagman.monitor.found_dag import FoundDag
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.web.access import Refused

MAX_NAMED = 100_000  # nodes in a request
MAX_TEXT = 10_000  # characters of a name, pattern or reason
LIMITS = ("jobs", "idle", "pre", "post")

_Shape = Mapping[str, Union[type, tuple[type, ...]]]
_NODE_COMMANDS: Mapping[str, _Shape] = {
    "cancel": {"retry": bool},
    "hold": {},
    "release": {},
    "rerun": {"descendants": bool},
    "done": {},
    "skip": {},
    "rematch": {},
    "set": {"priority": int, "retries": int, "timeout": str, "category": str, "vars": dict},
}
_DAG_COMMANDS: Mapping[str, _Shape] = {
    "halt": {"reason": str},
    "resume": {},
    "limits": dict.fromkeys(LIMITS, int),
    "priority": {"value": int},
    "cancel-all": {},
}
_SELECTORS: _Shape = {
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
    """What somebody wants of a DAG.

    Attributes:
        command: `cancel`, `hold`, ...
        nodes: one of names, pattern, state, category, group; {} for a command on the DAG.
        options: of the command.
        seen: version of the states that the person saw; -1 if that is not told.
        dry: only say what it would do.
    """

    command: str
    nodes: Mapping[str, Any]
    options: Mapping[str, Any]
    seen: int = -1
    dry: bool = False


class Answer(NamedTuple):
    """What has been done, or would be.

    Attributes:
        done: how many nodes, or 1 for a command on the DAG.
        refused: some of the nodes that it can't be done with: node, state, reason.
        refused_count: how many there are.
        effect: a sentence that says what it does.
        loses_work: whether jobs that run are lost by it.
    """

    done: int
    refused: Sequence[Mapping[str, str]] = ()
    refused_count: int = 0
    effect: str = ""
    loses_work: bool = False

    def as_json(self) -> dict[str, Any]:
        """The fields by name."""
        return {**self._asdict(), "refused": list(self.refused)}


class Steering(Protocol):
    """Steers DAGs.  All methods may block; they are called in a thread of their own."""

    def controls(self, dag: FoundDag) -> Controls:
        """Whether this DAG can be steered now."""

    def steer(self, dag: FoundDag, request: Request) -> Answer:
        """Do what is asked for.

        Raises:
            PydagmanError: nothing of it is done; the message says why.
        """

    def groups(self, dag: FoundDag) -> Sequence[GroupReport]:
        """What its DAGMan says of groups that run at sites; () if it is not asked.

        Raises:
            PydagmanError: it does not answer.
        """


class NoSteering:
    """Where nothing can be steered."""

    _WHY = "this version of condor_pydagman can't steer DAGs from the page"

    def controls(self, dag: FoundDag) -> Controls:
        """It never can."""
        return Controls(False, self._WHY)

    def steer(self, dag: FoundDag, request: Request) -> Answer:
        """Refuses."""
        raise Refused(503, self._WHY)

    def groups(self, dag: FoundDag) -> Sequence[GroupReport]:
        """Nobody is asked."""
        return ()


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
    shape = _NODE_COMMANDS.get(word) or _DAG_COMMANDS.get(word) or {}
    if word not in _NODE_COMMANDS and word not in _DAG_COMMANDS:
        known = ", ".join([*_NODE_COMMANDS, *_DAG_COMMANDS])
        raise Refused(400, f"there is no command {_shown(word)}; the commands are {known}")
    _check(options, shape, f" of {word}")
    if word in _NODE_COMMANDS:
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


def _check(fields: Mapping[str, Any], shape: _Shape, of: str) -> None:
    """Each field is known and of its type; true is no number here."""
    for name, value in fields.items():
        if name not in shape:
            known = ", ".join(shape) or "none"
            raise Refused(400, f"there is no field {_shown(name)}{of}; there are: {known}")
        if value is None and not of and name in ("nodes", "options"):
            continue
        if type(value) is not shape[name]:
            raise Refused(400, f"the field {name}{of} has a value of the wrong type")
        if isinstance(value, str) and len(value) > MAX_TEXT:
            raise Refused(400, f"the field {name}{of} is too long")


def _shown(text: object) -> str:
    return repr(text)[:100]
