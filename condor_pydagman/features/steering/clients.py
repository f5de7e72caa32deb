"""Takes requests from the local socket, gives them to the engine in parts, and answers.

A request of thousands of nodes is handed to the engine PART nodes at a time, one part in a pass of
the loop, so that log events and other requests get their turn in between.
"""

from __future__ import annotations

import contextlib
import json
import os
import pwd
import socket
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from condor_pydagman import __version__
from condor_pydagman.adapters import detached_process
from condor_pydagman.daemon.run import DagRun
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.report import Report
from condor_pydagman.errors import FileError, PoolError
from condor_pydagman.feature_table import part
from condor_pydagman.features.common.adapters.request_socket import (
    VERSION,
    Client,
    RequestSocket,
    answer_line,
)
from condor_pydagman.features.growth.commands import Piece
from condor_pydagman.features.growth.run import HELPER, PieceOffered, ReadOffer
from condor_pydagman.features.steering.adapters import system_log
from condor_pydagman.features.steering.messages import (
    MAX_GROUPS,
    MAX_NAMES,
    RequestError,
    Wanted,
    read_request,
    refusals,
    user_word,
)
from condor_pydagman.features.steering.run import DagSteered, NodesSteered
from condor_pydagman.features.steering.selection import SelectionError, one_of_each_group
from condor_pydagman.features.steering.steer_commands import COMMANDS, NodeCommand
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import message

PART = 200  # nodes that are handed to the engine at once
MAX_PARTS = 10_000  # that wait; then no request for nodes is taken
_LOOKS = ("info", "names", "groups", "events")  # commands that change nothing
_MAX_IN_SYSLOG = 500  # characters of a request
ANSWER_TIMEOUT_S = 20.0  # that the schedd may take before a client is answered


class _Asked(NamedTuple):
    """A request that has not been answered.

    `nodes`: how many it is for.
    """

    client: Client
    wanted: Wanted
    nodes: int = 0


class _Part(NamedTuple):
    """A command for nodes of these names, which may have left the DAG when its turn comes."""

    command: NodesSteered
    names: Sequence[str]


class _Unanswered(NamedTuple):
    """An answer that waits for the schedd until `deadline_at` (monotonic): the command is obeyed
    whether or not the schedd answers, of which `send` is told."""

    deadline_at: float
    send: Callable[[bool], None]


def _in_words(wanted: Wanted) -> str:
    """What is asked, for logs."""
    nodes, options = wanted.selector, wanted.options
    words = [wanted.command.value if isinstance(wanted.command, NodeCommand) else wanted.command]
    words += [nodes.kind, json.dumps(nodes.value)] if nodes else []
    if isinstance(options, str):
        words.append(options)
    else:
        words += [f"{name} {value}" for name, value in options.items()]
    return message(" ".join(words).rstrip())


class LocalClients:
    """What clients of the local socket want."""

    def __init__(self, run: DagRun, socket: RequestSocket) -> None:
        self._run = run
        self._socket = socket
        self._asked: dict[int, _Asked] = {}
        self._parts: deque[_Part] = deque()
        self._tried: list[tuple[int, str]] = []  # refused nodes of the dry request that is tried
        self._tried_again: set[int] = set()  # what it would have run again with its descendants
        self._offers: deque[inputs.Input] = deque()
        self._commands: deque[tuple[inputs.Input, _Asked]] = deque()
        self._unanswered: deque[_Unanswered] = deque()
        self._subscriptions = Subscriptions(run.paths.primary)
        self._number = 0
        self._users: dict[int, str] = {}  # who asks, by their numbers

    @property
    def rests(self) -> bool:
        """Whether nobody waits for anything."""
        waits = (self._asked, self._parts, self._offers, self._commands, self._unanswered)
        return not any(waits)

    def next_deadline(self) -> float | None:
        """When `taken` is to be called though no client has written (monotonic clock)."""
        if self._parts or self._offers or self._socket.ready:
            return 0.0
        return self._unanswered[0].deadline_at if self._unanswered else None

    def taken(self, lines: Iterable[tuple[Client, bytes]]) -> list[inputs.Input]:
        """Requests of clients, as inputs; of those of many nodes one part."""
        found: list[inputs.Input] = []
        now = self._run.clock.monotonic()
        while self._unanswered and self._unanswered[0].deadline_at <= now:
            self._unanswered.popleft().send(False)
        for client, line in lines:
            found += self._read(client, line)
        if self._parts:
            found += self._next_part()
        found += self._offers
        self._offers.clear()
        return found

    def _read(self, client: Client, line: bytes) -> list[inputs.Input]:
        try:
            wanted = read_request(line)
        except RequestError as error:
            self._answer(client, error.identity, {"error": error.reason})
            return []
        changes = not wanted.dry and wanted.command not in _LOOKS
        if changes and self._run.config.syslog_commands:
            system_log.tell(self._in_syslog(client, wanted))
        try:
            return self._inputs_of(_Asked(client, wanted))
        except (SelectionError, FileError) as error:
            self._answer(client, wanted.identity, {"error": str(error)})
            return []

    def _in_syslog(self, client: Client, wanted: Wanted) -> str:
        """Who asks for what, of which DAG."""
        dag = f"DAG {message(self._run.paths.primary)} of job {self._run.job.cluster}"
        return f"{self._who(client)} steers the {dag}: {_in_words(wanted)[:_MAX_IN_SYSLOG]}"

    def _next_part(self) -> list[inputs.Input]:
        """Of the request that came first; the engine only tells what it would refuse of a dry
        one."""
        command, names = self._parts.popleft()
        ids = self._run.dag.ids
        part = command._replace(nodes=[ids[name] for name in names if name in ids])
        asked = self._asked[part.request]
        if not asked.wanted.dry:
            return [part]
        refused = self._run.engine.feature("steering").refused(part)
        self._tried += refused
        self._tried_again |= self._run.engine.feature("steering").descending(
            part, (node for node, _ in refused)
        )
        if part.last:
            self._answer_dry(part.request)
        return []

    def has_asked(self, an_input: inputs.Input) -> bool:
        """Whether an input that the engine has handled is a command of theirs."""
        return bool(self._commands) and self._commands[0][0] is an_input

    def input_handled(self) -> None:
        """The engine has handled a command, and what is to be in the job ad is on its way: the
        client is answered when the schedd has it, since the next DAGMan reads it there."""
        an_input, asked = self._commands.popleft()
        told = {"done": 1, **self._state(self._run.engine.report())}
        if isinstance(an_input, inputs.Resume):  # in force of a brake when the log has it
            told["halted"] = "halt_file" in told
        answer = _Unanswered(
            self._run.clock.monotonic() + ANSWER_TIMEOUT_S,
            lambda recorded: self._answer(
                asked.client, asked.wanted.identity, {**told, "recorded": recorded}
            ),
        )
        if isinstance(an_input, inputs.DagRemoved):
            answer.send(True)  # DAGMan may be gone soon
            return
        self._unanswered.append(answer)
        self._run.job_ad.edit({}, lambda error: self._published(answer, error))

    def _published(self, answer: _Unanswered, error: PoolError | None) -> None:
        if answer in self._unanswered:
            self._unanswered.remove(answer)
            answer.send(error is None)

    def steered(self, answer: do.Steered) -> None:
        """A request for nodes, or for a priority, is in force."""
        asked = self._asked.pop(answer.request, None)
        if asked is not None:
            told = _done(answer.done, answer.descendants)
            if isinstance(asked.wanted.command, NodeCommand):
                told.update(refusals(self._named(answer.refused)))
            else:
                told.update(self._state(self._run.engine.report()), recorded=True)
            self._answer(asked.client, asked.wanted.identity, told)

    def grown(self, answer: do.Grown) -> None:
        """A piece is in force, or refused."""
        asked = self._asked.pop(answer.request, None)
        if asked is not None:
            told = {"error": answer.error} if answer.error else {"done": answer.nodes}
            self._answer(asked.client, asked.wanted.identity, told)

    def _add(self, asked: _Asked) -> None:
        """Have a piece read; it is offered to the engine when it has been."""
        wanted, options = asked.wanted, asked.wanted.options
        assert not isinstance(options, str)
        name, text = str(options.get("file", "")), options.get("text")
        self._number += 1
        number = self._number

        def tell(read: tuple[Piece | None, str]) -> None:
            piece, error = read
            if piece is None or wanted.dry:
                told = {"error": error} if piece is None else {"dry": True, "done": piece.size}
                self._answer(asked.client, wanted.identity, told)
            else:
                self._asked[number] = asked
                self._offers.append(self._steered(asked))
                self._offers.append(PieceOffered(number, piece, self._who(asked.client)))

        request = ReadOffer(name or "<text>", text, wanted.dry)
        self._run.helpers.ask(HELPER, request, tell)

    def _inputs_of(self, asked: _Asked) -> list[inputs.Input]:
        """What is to be given to the engine for a request at once."""
        wanted = asked.wanted
        part("steering", "run")
        if not isinstance(wanted.command, NodeCommand):
            return self._dag_command(asked)
        if wanted.command is NodeCommand.SET:
            part("timeout", "run")
        elif wanted.command is NodeCommand.REMATCH:
            part("sites", "run")
        assert wanted.selector is not None
        if len(self._parts) >= MAX_PARTS:
            raise SelectionError("too many requests are pending: try again later")
        nodes = self._run.engine.feature("steering").chosen(*wanted.selector)
        if wanted.command is NodeCommand.REMATCH:
            nodes = one_of_each_group(self._run.dag, nodes)
        self._number += 1
        self._asked[self._number] = _Asked(asked.client, wanted, len(nodes))
        assert isinstance(wanted.options, str)
        for begin in range(0, len(nodes) or 1, PART):
            last = begin + PART >= len(nodes)
            names = [self._run.dag.names[node] for node in nodes[begin : begin + PART]]
            command = NodesSteered(
                self._number, wanted.command, (), self._who(asked.client), wanted.options, last
            )
            self._parts.append(_Part(command, names))
        return []

    def _dag_command(self, asked: _Asked) -> list[inputs.Input]:
        wanted = asked.wanted
        options = wanted.options
        assert not isinstance(options, str)
        if wanted.command == "add":
            self._add(asked)
            return []
        if wanted.dry or wanted.command in ("info", "names", "groups"):
            self._answer(asked.client, wanted.identity, self._told(wanted.command, options))
            return []
        if wanted.command == "events":
            self._tell_events(asked)
            return []
        steered = self._steered(asked)
        self._run.out.say(f"{steered.by} asks for the DAG: {steered.words}")
        if wanted.command == "priority":
            self._number += 1
            self._asked[self._number] = asked
            return [steered._replace(request=self._number)]
        an_input: inputs.Input
        if wanted.command == "halt":
            an_input = inputs.Halt(message(str(options.get("reason", ""))))
        elif wanted.command == "resume":
            an_input = inputs.Resume()
        elif wanted.command == "cancel-all":
            an_input = inputs.DagRemoved(steered.by)
        else:
            an_input = inputs.LimitsWanted(**options)
        self._commands.append((an_input, asked))
        return [steered, an_input]

    def _steered(self, asked: _Asked) -> DagSteered:
        """A command for the whole DAG, for the nodes log."""
        return DagSteered(self._who(asked.client), _in_words(asked.wanted))

    def _tell_events(self, asked: _Asked) -> None:
        """A process of its own tells the client of events."""
        identity, options = asked.wanted.identity, asked.wanted.options
        assert not isinstance(options, str)
        refusal = self._subscriptions.refusal()
        if refusal:
            self._answer(asked.client, identity, {"error": refusal})
            return
        connection = self._socket.hand_over(asked.client)
        if connection is None:
            return
        since, before = options.get("since", ""), options.get("before", True)
        try:
            self._subscriptions.start(connection, identity, since, before=before)
        except OSError as error:
            self._run.out.say(f"Warning: can't tell a client of events: {error.strerror}")

    def _told(self, command: object, options: Mapping[str, Any]) -> dict[str, Any]:
        """What a command answers that changes nothing."""
        run = self._run
        if command == "names":
            prefix = str(options.get("prefix", ""))
            begin_so = (name for name in run.dag.names if name.startswith(prefix))
            return {"done": 1, "names": list(islice(begin_so, MAX_NAMES))}
        if command == "groups":
            sites = run.engine.features.get("sites")
            reports = sites.group_reports() if sites is not None else ()
            return {"done": 1, "groups": [one._asdict() for one in islice(reports, MAX_GROUPS)]}
        report = run.engine.report()
        return {
            "program": f"condor_pydagman {__version__}",
            "protocol": VERSION,
            "dag": run.paths.primary,
            "cluster": run.job.cluster,
            "pid": run.process.pid,
            "nodes": report.total,
            **self._state(report),
            **{one.field.lower(): one.answer for one in report.shown if one.answer},
        }

    def _state(self, report: Report) -> dict[str, Any]:
        """What commands for the whole DAG change; the halt file, if it keeps the DAG halted."""
        limits = {one.name: getattr(report.limits, one.name) for one in COMMANDS["limits"].options}
        told = {"halted": report.halts.halted, "limits": limits, "priority": report.priority}
        file = os.path.abspath(self._run.paths.halt)
        return {**told, "halt_file": file} if report.halts.by_file else told

    def _answer_dry(self, number: int) -> None:
        """What would be done."""
        asked, refused, again = self._asked.pop(number), self._tried, self._tried_again
        self._tried, self._tried_again = [], set()
        done = asked.nodes - len(refused)
        told = {"dry": True, **_done(done, max(0, len(again) - done))}
        told.update(refusals(self._named(refused)))
        self._answer(asked.client, asked.wanted.identity, told)

    def _named(self, refused: Sequence[tuple[int, str]]) -> list[tuple[str, str]]:
        names = self._run.dag.names
        return [(names[node], why) for node, why in refused]

    def _who(self, client: Client) -> str:
        """Only the DAG's own user and root are let in."""
        if client.uid not in self._users:
            try:
                name = pwd.getpwuid(client.uid).pw_name
            except KeyError:
                name = ""
            self._users[client.uid] = user_word(name, client.uid)
        return self._users[client.uid]

    def _answer(self, client: Client, identity: Any, fields: Mapping[str, Any]) -> None:
        self._socket.answer(client, answer_line(identity, fields))


def _done(done: int, descendants: int) -> dict[str, Any]:
    return {"done": done, **({"descendants": descendants} if descendants else {})}


MAX_PROCESSES = 16
_MODULE = "condor_pydagman.monitor.subscription"


class Subscriptions:
    """The clients of a DAG who are told of events."""

    def __init__(self, dag_file: str) -> None:
        self._dag = os.path.abspath(dag_file)
        self._lines: list[socket.socket] = []  # to a process each

    def refusal(self) -> str:
        """Why there can't be one more client; '' if there can."""
        self._lines = [line for line in self._lines if not _has_gone(line)]
        if len(self._lines) >= MAX_PROCESSES:
            return f"{MAX_PROCESSES} clients are told of events already"
        return ""

    def start(self, connection: socket.socket, identity: Any, since: str, *, before: bool) -> None:
        """Tell the client at `connection`, which is closed here, of events.

        Args:
            identity: of its request.
            since: id of the last event that it knows; '' for the beginning of the run.
            before: whether events from before now are told as well.

        Raises:
            OSError: no process can be started.
        """
        mine, its = socket.socketpair()
        order = {"dag": self._dag, "identity": identity, "since": since, "before": before}
        with connection, its:
            inherited = (connection.fileno(), its.fileno())
            try:
                detached_process.start(_MODULE, json.dumps(order).encode(), inherited)
            except OSError:
                mine.close()
                raise
        mine.setblocking(False)
        self._lines.append(mine)

    def close(self) -> None:
        """DAGMan goes: the processes tell their clients, and end."""
        for line in self._lines:
            line.close()
        self._lines.clear()


def _has_gone(line: socket.socket) -> bool:
    with contextlib.suppress(BlockingIOError):
        if not line.recv(1):
            line.close()
            return True
    return False
