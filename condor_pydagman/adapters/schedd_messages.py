"""Encodes requests to the schedd, and their results, in types that JSON has, for the connection
between DAGMan and the process that calls the schedd.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from condor_pydagman.adapters import schedd_requests as ask
from condor_pydagman.adapters.descriptions import Unreadable
from condor_pydagman.adapters.schedd_requests import LostReply, Request, SubmitResult
from condor_pydagman.engine.inputs import EndedJob, QueuedJob
from condor_pydagman.errors import PoolError

_KINDS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        ask.Submit,
        ask.ListRemovable,
        ask.Remove,
        ask.Hold,
        ask.Prioritize,
        ask.ListQueue,
        ask.ReadAttribute,
        ask.ReadLimits,
        ask.ReadOwnAd,
        ask.EditOwnAd,
    )
}


def request_message(request: Request) -> list[Any]:
    """Encode a request; of a Submit without the engine's action, which the process does not
    need."""
    fields: tuple[Any, ...] = request
    if isinstance(request, ask.Submit):
        fields = (None, *request[1:-1], dict(request.environment))
    return [type(request).__name__, *fields]


def request_of(message: list[Any]) -> Request:
    """Decode a request."""
    name, *fields = message
    if name == ask.Submit.__name__:
        fields[3] = ask.Checks(*fields[3])
    request: Request = _KINDS[name](*fields)
    return request


def result_message(result: Any) -> dict[str, Any]:
    """Encode a result."""
    if isinstance(result, SubmitResult):
        return {**result_message(result.outcome), "lines": list(result.lines)}
    if isinstance(result, PoolError):
        return {"error": [_kind(result), result.reason]}
    if isinstance(result, ask.FirstCommonInput):
        return {"first": result.token}
    return {"value": result}


def result_of(request: Request, message: dict[str, Any]) -> Any:
    """Decode the result of a request."""
    result = _result(request, message)
    return (
        SubmitResult(result, message.get("lines", ()))
        if isinstance(request, ask.Submit)
        else result
    )


def _result(request: Request, message: dict[str, Any]) -> Any:
    if "error" in message:
        kind, reason = message["error"]
        return _ERRORS[kind](reason)
    if "first" in message:
        return ask.FirstCommonInput(message["first"])
    read_value = _VALUE_READERS.get(type(request))
    return read_value(message["value"]) if read_value is not None else message["value"]


def _kind(error: PoolError) -> str:
    if isinstance(error, LostReply):
        return "lost"
    if isinstance(error, Unreadable):
        return "unreadable"
    return "transient" if error.transient else "permanent"


_ERRORS: dict[str, Callable[[str], PoolError]] = {
    "lost": LostReply,
    "unreadable": lambda _: Unreadable(),
    "transient": lambda reason: PoolError(reason, transient=True),
    "permanent": lambda reason: PoolError(reason, transient=False),
}


def _listing(value: Any) -> ask.Listing:
    jobs, ended = value
    return ask.Listing([QueuedJob(*job) for job in jobs], [EndedJob(*job) for job in ended])


_VALUE_READERS: dict[type, Callable[[Any], Any]] = {
    ask.Submit: lambda value: ask.Accepted(*value),
    ask.ListRemovable: lambda value: [QueuedJob(*job) for job in value],
    ask.ListQueue: _listing,
}
