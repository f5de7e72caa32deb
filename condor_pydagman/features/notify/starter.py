"""Starts the processes that hand events to programs and URLs: one for each NOTIFY of the DAG or of
the knob PYDAGMAN_NOTIFY.

What becomes of them is no concern of DAGMan's.  They are no longer its children, and not of its
process family, which the schedd ends when DAGMan ends: they tell of that end.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from condor_pydagman.adapters import detached_process
from condor_pydagman.adapters.user_programs import program_path
from condor_pydagman.features.notify.commands import (
    Notification,
    notifications_of,
    read_notification,
)
from condor_pydagman.graph.model import Dag
from condor_pydagman.language.lexer import LineError, Words

_MODULE = "condor_pydagman.monitor.notifier"


def start(primary: str, dag: Dag, knob: str, say: Callable[[str], None]) -> None:
    """Start a process for each notification; what goes wrong is said, and that is all.

    Args:
        primary: the first DAG file, relative to the working directory.
        dag: has NOTIFY lines, or none.
        knob: PYDAGMAN_NOTIFY.
        say: adds a line to `.dagman.out`.
    """
    of_dag = notifications_of(dag)
    try:
        wanted = [*of_dag, *of_knob(knob)]
    except LineError as error:
        say(f"Warning: PYDAGMAN_NOTIFY is ignored: {error.message} in '{error.line}'")
        wanted = [*of_dag]
    for number, order in enumerate(_orders(primary, wanted), 1):
        _warn_of_program(number, order, say)
        try:
            detached_process.start(_MODULE, json.dumps({**order, "number": number}).encode())
        except OSError as error:
            say(f"Warning: can't start the process of NOTIFY {number}: {error.strerror}")


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
