"""Asks a running DAGMan through its local socket (docs/steering.md)."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Generator, Mapping, Sequence
from typing import Any, Union

from condor_pydagman.engine.report import GroupReport
from condor_pydagman.errors import FileError, UsageError
from condor_pydagman.features.common.adapters import request_socket
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.timers import ANSWER_TIMEOUT_S

_READ_BYTES = 65536
_MOST_BYTES = 256 << 20  # of an answer

StrPath = Union[str, "os.PathLike[str]"]
Events = Generator[Mapping[str, Any], None, None]


class SteeringAnswer(NamedTuple):
    """What has become of a request.

    Attributes:
        done: for how many nodes it is in force (or would be, if it was dry); 1 for the DAG itself.
        refused: the nodes that it does not fit, each with the reason; 1,000 at most.
        refused_count: how many nodes were refused in all.
        fields: the whole answer; after a `rerun`, `descendants` says how many descendants run again
            too.
    """

    done: int
    refused: tuple[tuple[str, str], ...]
    refused_count: int
    fields: Mapping[str, Any]


def steer(
    dag: StrPath,
    command: str,
    names: Sequence[str] = (),
    *,
    pattern: str = "",
    state: str = "",
    category: str = "",
    group: str = "",
    dry: bool = False,
    **options: Any,
) -> SteeringAnswer:
    """Ask something of nodes of a running DAG, or of the DAG.

    Args:
        dag: its first DAG file.
        command: as of `condor_pydagman steer`.
        names, pattern, state, category, group: which nodes; one of them.
        dry: change nothing; tell what would be refused.
        options: of the command, as requests have them (docs/steering.md); `vars` is a dictionary,
            `file` an absolute path.

    Raises:
        FileError: no DAGMan of the caller's runs this DAG on this machine.
        UsageError: the request is wrong; the message of DAGMan says why.
    """
    chosen = _selector(names, pattern=pattern, state=state, category=category, group=group)
    request = {"version": 1, "id": 1, "command": command, "options": options, "dry": dry}
    if chosen is not None:
        request["nodes"] = chosen
    fields = _asked(os.fspath(dag), request)
    if "error" in fields:
        raise UsageError(str(fields["error"]))
    refused = tuple((str(one["node"]), str(one["reason"])) for one in fields.get("refused", ()))
    count = int(fields.get("refused_count", len(refused)))
    return SteeringAnswer(int(fields.get("done", 0)), refused, count, fields)


def groups_of(dag: StrPath) -> list[GroupReport]:
    """The groups of nodes of a running DAG that run at one site.

    Raises:
        FileError, UsageError: as of `steer`.
    """
    fields = steer(dag, "groups").fields
    return [GroupReport(**one) for one in fields["groups"]]


def limits_trouble_of(dag: StrPath) -> str:
    """Why a running DAG can't have places of shared limits; '' if it can.

    Raises:
        FileError, UsageError: as of `steer`.
    """
    return str(steer(dag, "info").fields.get("limits_trouble", ""))


def subscribe(dag: StrPath, since: str = "", *, before: bool = True) -> Events:
    """What happens in a running DAG, until it has ended: the fields of each event, as
    `condor_pydagman events` prints them.

    Args:
        dag: its first DAG file.
        since: `id` of the last event that is known; '' for the beginning of the run.
        before: whether what happened before the call is told as well.

    Raises:
        FileError: no DAGMan of the caller's runs this DAG on this machine, or it has gone before
            the end of the DAG.
        UsageError: `since` is no id, or too many programs are subscribed.
    """
    path = os.fspath(dag)
    options = {"since": since, "before": before}
    request = {"version": 1, "id": 1, "command": "events", "options": options}
    with _connected(path) as connection, connection.makefile("rwb") as stream:
        stream.write(json.dumps(request).encode() + b"\n")
        stream.flush()
        connection.settimeout(None)
        for line in iter(lambda: stream.readline(_MOST_BYTES), b""):
            told = _read(line)
            if "event" in told:
                yield told
            elif "error" in told:
                raise UsageError(str(told["error"]))
            elif told.get("ended"):
                return
    raise FileError(f"the DAGMan of {path} is gone; continue with `since` when it is back")


def _selector(names: Sequence[str], **others: str) -> dict[str, Any] | None:
    if isinstance(names, str):  # not a node for each of its letters
        raise UsageError(f"names is a list of names: [{names!r}]")
    given: dict[str, Any] = {name: value for name, value in others.items() if value}
    if names:
        given["names"] = list(names)
    if len(given) > 1:
        raise UsageError(f"select nodes by only one of {', '.join(given)}")
    return given or None


def _asked(dag: str, request: Mapping[str, Any]) -> Mapping[str, Any]:
    with _connected(dag) as connection:
        try:
            connection.sendall(json.dumps(request).encode() + b"\n")
            line = _line(connection)
        except socket.timeout:
            raise FileError(f"DAGMan has not answered for {ANSWER_TIMEOUT_S:.0f} s") from None
        except OSError as error:
            raise FileError(f"DAGMan closed the connection: {error.strerror or error}") from None
    if not line:
        raise FileError("DAGMan has ended, or too many programs are connected to it")
    return _read(line)


def _read(line: bytes) -> Mapping[str, Any]:
    """An answer; root may ask a DAGMan of another user, who can say anything."""
    try:
        answer = json.loads(line)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        raise FileError("what has answered is no DAGMan")
    return answer


def _connected(dag: str) -> socket.socket:
    connection = request_socket.connected(dag, ANSWER_TIMEOUT_S)
    if connection is None:
        taken = request_socket.existing(dag, os.geteuid())
        held = "; somebody else's program holds names of its socket" if taken else ""
        raise FileError(
            f"no DAGMan of yours runs {dag} on this machine, or it is the stock one or an older"
            f" version; condor_pydagman ls lists your DAGs{held}"
        )
    return connection


def _line(connection: socket.socket) -> bytes:
    found, until = bytearray(), time.monotonic() + ANSWER_TIMEOUT_S
    while not found.endswith(b"\n"):
        data = connection.recv(_READ_BYTES)
        if not data or len(found) > _MOST_BYTES:
            return b""
        if time.monotonic() > until:
            raise socket.timeout
        found += data
    return bytes(found)
