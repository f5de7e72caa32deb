"""Requests to a running DAGMan, and its answers: a line of JSON each (docs/steering.md).

A request is an object: `version`, `id` (any string or number, which the answer repeats), `command`,
`nodes` (which; for commands on nodes), `options`, `dry` (tell only what would be refused).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Union

from condor_pydagman.errors import FileError
from condor_pydagman.features.common.adapters.request_socket import VERSION
from condor_pydagman.features.steering.setting_options import SettingError, read_setting_options
from condor_pydagman.features.steering.settings_text import settings_text
from condor_pydagman.features.steering.steer_commands import COMMANDS, Command, NodeCommand
from condor_pydagman.named_tuple import NamedTuple

MAX_NAMES = 1000  # of an answer to `names`
MAX_VALUES = 120_000  # of a request: the loop of DAGMan waits while it is read
# Characters of the id of a request or an event.  Those who tell of events get both by a pipe, for
# which DAGMan would wait if they were longer.
MAX_ID = 1000
MAX_SHOWN_REFUSALS = 1000  # of an answer, which tells how many there are
MAX_GROUPS = 5_000  # of an answer to `groups`, of which a client may not have read 4 MB
SELECTORS = ("names", "pattern", "state", "category", "group")
# Characters that begin or separate values: how long it takes to read what they are of.
_COSTS = {b",": 1, b":": 4, b"[": 4, b"{": 4}

Identity = Union[str, int, None]


class RequestError(Exception):
    """A request that can't be understood; `identity` of it, if that is known."""

    def __init__(self, reason: str, identity: Identity = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.identity = identity


class Selector(NamedTuple):
    """Which nodes: one of SELECTORS, and its value: a list of names, or a string."""

    kind: str
    value: str | tuple[str, ...]


class Wanted(NamedTuple):
    """A request."""

    identity: Identity
    command: NodeCommand | str  # of nodes, or the word of one of the DAG
    selector: Selector | None
    options: str | Mapping[str, Any]  # of a NodeCommand as the engine takes them, else as they came
    dry: bool = False  # nothing is done


def read_request(line: bytes) -> Wanted:
    """Read a request.

    Raises:
        RequestError: it can't be understood; the reason says what was expected.
    """
    if sum(cost * line.count(mark) for mark, cost in _COSTS.items()) > MAX_VALUES:
        raise RequestError(f"a request has at most some {MAX_VALUES} names")
    try:
        message = json.loads(line)
        # of names that are not UTF-8 each byte is half a pair; other halves no file can hold
        json.dumps(message, ensure_ascii=False).encode("utf-8", "surrogateescape")
    except (ValueError, RecursionError):
        raise RequestError("a request is a line of JSON, of characters of Unicode") from None
    if not isinstance(message, dict):
        raise RequestError("a request is an object of JSON: {...}")
    identity = message.get("id")
    if not (identity is None or isinstance(identity, (str, int))):
        raise RequestError("id is a string or a number")
    if len(str(identity)) > MAX_ID:
        raise RequestError(f"id has at most {MAX_ID} characters")
    try:
        return _read(identity, message)
    except (RequestError, FileError) as error:  # or what reads it can't be loaded any more
        raise RequestError(str(error), identity) from None


def _read(identity: Identity, message: Mapping[str, Any]) -> Wanted:
    version = message.get("version", VERSION)
    if version != VERSION:
        raise RequestError(
            f"this DAGMan speaks version {VERSION} of the protocol, not {_shown(version)}"
        )
    word = message.get("command")
    options = message.get("options") or {}
    if not isinstance(options, dict):
        raise RequestError("options is an object of JSON: {...}")
    dry = message.get("dry", False)
    if not isinstance(dry, bool):
        raise RequestError("dry is true or false")
    known = COMMANDS.get(word) if isinstance(word, str) else None
    if known is None:
        words = ", ".join(COMMANDS)
        raise RequestError(f"there is no command {_shown(word)}; the commands are {words}")
    if known.of == "dag":
        if message.get("nodes"):
            raise RequestError(f"{word} is for the whole DAG: it takes no nodes")
        return Wanted(identity, known.name, None, _dag_options(known, options), dry)
    selector = _selector(message.get("nodes"))
    return Wanted(identity, NodeCommand(word), selector, _node_options(known, options), dry)


def _selector(nodes: Any) -> Selector:
    expected = f"nodes is an object with one of {', '.join(SELECTORS)}"
    if not isinstance(nodes, dict) or len(nodes) != 1:
        raise RequestError(expected)
    ((kind, value),) = nodes.items()
    if kind == "names":
        if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
            raise RequestError("names is a list of strings")
        return Selector(kind, tuple(value))
    if kind not in SELECTORS:
        raise RequestError(expected)
    if not isinstance(value, str):
        raise RequestError(f"{kind} is a string")
    return Selector(kind, value)


def _node_options(command: Command, options: Mapping[str, Any]) -> str:
    """The options as the engine takes them."""
    if command.name == NodeCommand.SET.value:
        try:
            return settings_text(read_setting_options(options))
        except SettingError as error:
            raise RequestError(str(error)) from None
    _check(command, options)
    return next((name for name, value in options.items() if value), "")


def _dag_options(command: Command, options: Mapping[str, Any]) -> Mapping[str, Any]:
    _check(command, options)
    if command.name == "add" and not options:
        raise RequestError("add takes text, or file, whose name begins with /: strings")
    if command.name == "priority" and not options:
        raise RequestError(f"priority takes value, {command.options[0].expected}")
    if len(options.get("since", "")) > MAX_ID:
        raise RequestError("since is the id of an event")
    return options


def _check(command: Command, options: Mapping[str, Any]) -> None:
    """All options are known, and their values of the right kind."""
    for name, value in options.items():
        option = command.option(name)
        if option is None:
            raise RequestError(f"{command.name} has no option {_shown(name)}; {command.known}")
        if not option.takes(value):
            raise RequestError(f"{name} is {option.expected}")


def _shown(value: Any) -> str:
    return repr(value)[:100]


def refusals(refused: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """The part of an answer about nodes that a command does not fit: name and reason."""
    shown = refused[:MAX_SHOWN_REFUSALS]
    return {
        "refused": [{"node": node, "reason": reason} for node, reason in shown],
        "refused_count": len(refused),
    }


def user_word(name: str, uid: int) -> str:
    """Who asks, as one word for the nodes log."""
    return name if re.fullmatch(r"[A-Za-z0-9_.@+-]{1,64}", name) else f"uid-{uid}"
