"""Starts the processes that hand events to programs and URLs: one for each NOTIFY of the DAG or of
the knob PYDAGMAN_NOTIFY.

They are not DAGMan's children, and not of its process family, which the schedd ends when DAGMan
ends: they tell of that end.  DAGMan looks once a minute whether they live.
"""

from __future__ import annotations

import json
import os
import select
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from condor_pydagman.adapters import detached_process, files
from condor_pydagman.adapters.user_programs import program_path
from condor_pydagman.features.notify.commands import (
    Notification,
    notifications_of,
    read_notification,
)
from condor_pydagman.graph.model import Dag
from condor_pydagman.language.lexer import LineError, Words
from condor_pydagman.printable import message

_MODULE = "condor_pydagman.monitor.notifier"


class Notifiers:
    """The processes of a DAG; what goes wrong with them is said, and that is all.

    Args:
        primary: the first DAG file, relative to the working directory.
        dag: has NOTIFY lines, or none.
        knob: PYDAGMAN_NOTIFY.
        say: adds a line to `.dagman.out`.
    """

    def __init__(self, primary: str, dag: Dag, knob: str, say: Callable[[str], None]) -> None:
        self._say = say
        of_dag = notifications_of(dag)
        try:
            wanted = [*of_dag, *of_knob(knob)]
        except LineError as error:
            say(f"Warning: PYDAGMAN_NOTIFY is ignored: {error.message} in '{error.line}'")
            wanted = [*of_dag]
        self._orders = dict(enumerate(_orders(primary, wanted), 1))
        self._pipes: dict[int, int] = {}  # from their standard errors

    def start(self) -> None:
        """Start one for each notification."""
        for number, order in self._orders.items():
            _warn_of_program(number, order, self._say)
            self._start(number)

    def check(self) -> None:
        """Start those again that have ended."""
        for number in self._orders:
            reason = self._reason(number) if number in self._pipes else "it could not be started"
            if reason:
                what = f"the process of NOTIFY {number} is gone: {reason}"
                self._say(f"Warning: {what}; starting another")
                self._start(number)

    def end(self) -> None:
        """The DAG ends: let another process for each go on if the first one is killed."""
        self.check()
        for number in list(self._pipes):
            self._start(number, stands_by=True)

    def _start(self, number: int, *, stands_by: bool = False) -> None:
        """Start one, and keep the pipe by which its end is seen."""
        order = {**self._orders[number], "number": number, "stands_by": stands_by}
        ends = told = -1
        try:
            ends, told = os.pipe()
            # As long as there is this file, something is to be delivered.
            path = f"{order['dag']}.notify.{number}"
            if not stands_by:
                os.close(files.open_own(path, os.O_RDWR | os.O_CREAT, 0o600))
            detached_process.start(_MODULE, json.dumps(order).encode(), errors=told)
            self._pipes[number], ends = ends, self._pipes.get(number, -1)
        except OSError as error:
            self._say(f"Warning: can't start the process of NOTIFY {number}: {error.strerror}")
        finally:
            for descriptor in (told, ends):
                if descriptor >= 0:
                    os.close(descriptor)

    def _reason(self, number: int) -> str:
        """Why a process has ended; '' if it has not."""
        pipe, poll = self._pipes[number], select.poll()
        poll.register(pipe, 0)
        if not poll.poll(0):
            return ""
        text = os.read(pipe, 1 << 16).decode("utf-8", "replace").strip()
        return message(text.rpartition("\n")[2]) or "it was probably killed"


def _warn_of_program(number: int, order: dict[str, Any], say: Callable[[str], None]) -> None:
    """Say that a program is not where it is looked for; it may still come."""
    if order["program"]:
        name = order["program"][0]
        path = os.path.join(os.path.dirname(order["dag"]), program_path(name))
        if not os.access(path, os.X_OK):
            what = "can't be executed" if os.path.exists(path) else "does not exist"
            say(f"Warning: NOTIFY {number}: {os.path.normpath(path)} {what}")


def of_knob(text: str) -> list[Notification]:
    """The notifications of PYDAGMAN_NOTIFY, separated by semicolons.

    Raises:
        LineError: one can't be read.
    """
    return [read_notification(Words(part.strip())) for part in text.split(";") if part.strip()]


def _orders(primary: str, notifications: Iterable[Notification]) -> Iterator[dict[str, Any]]:
    for _, kinds, to, target in notifications:
        is_url = to == "URL"
        yield {
            "dag": os.path.abspath(primary),
            "kinds": kinds,
            "program": [] if is_url else target.split(),
            "url": target if is_url else "",
        }
