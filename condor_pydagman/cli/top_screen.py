"""The screen of `condor_pydagman top`: the table, refreshed in place, and its keys."""

from __future__ import annotations

import contextlib
import curses
import textwrap
import time
from collections.abc import Callable, Sequence
from typing import Any

from condor_pydagman.cli.dag_table import IN_QUEUE, Choice, chosen
from condor_pydagman.cli.text_table import table
from condor_pydagman.errors import PoolError
from condor_pydagman.monitor.queued_dags import QueuedDag
from condor_pydagman.printable import number_of, printable

# Columns that a narrow terminal does without, the first one first.
_SPARED = ("cpu", "memory", "rate", "age", "ready", "last", "idle", "running")
_KEYS = "< > sort  r reverse  / search  arrows scroll  q quit"
_ESCAPE, _ENTER, _ERASE = 27, (10, 13, curses.KEY_ENTER), (8, 127, curses.KEY_BACKSPACE)
Look = Callable[[], Sequence[QueuedDag]]


class View:
    """What the person has chosen to see, which keys change."""

    def __init__(self, sort: str) -> None:
        self.how = Choice(sort)
        self.first = 0  # of the rows that are shown
        self.typing = False  # whether keys are the text that is searched
        self.over = False

    def press(self, key: int, page: int) -> None:
        """Take a key; `page` is how many rows the screen has."""
        if self.typing:
            self._type(key)
            return
        moves = {curses.KEY_UP: -1, curses.KEY_DOWN: 1, curses.KEY_PPAGE: -page,
                 curses.KEY_NPAGE: page, curses.KEY_HOME: -self.first}  # fmt: skip
        if key in moves:
            self.first = max(self.first + moves[key], 0)
        elif key in (ord("<"), ord(">")):
            names = list(IN_QUEUE)
            place = names.index(self.how.sort) + (1 if key == ord(">") else -1)
            self.how = self.how._replace(sort=names[place % len(names)])
        elif key == ord("r"):
            self.how = self.how._replace(is_reversed=not self.how.is_reversed)
        elif key == ord("/"):
            self.typing, self.how = True, self.how._replace(text="")
        self.over = key == ord("q")

    def _type(self, key: int) -> None:
        text = self.how.text
        if key in _ENTER or key == _ESCAPE:
            self.typing = False
            text = "" if key == _ESCAPE else text
        elif key in _ERASE:
            text = text[:-1]
        elif 32 <= key < 127:
            text += chr(key)
        self.how, self.first = self.how._replace(text=text), 0


def run(look: Look, none: Callable[[], str], sort: str, interval_s: float) -> None:
    """Show the table until `q` is pressed; `none` gives what is said if it is empty."""
    curses.wrapper(_run, look, none, View(sort), interval_s)


def _run(screen: Any, look: Look, none: Callable[[], str], view: View, interval_s: float) -> None:
    with contextlib.suppress(curses.error):  # some terminals can't
        curses.use_default_colors()
        curses.curs_set(0)
    dags: Sequence[QueuedDag] = ()
    problem, due = "", 0.0
    while not view.over:
        if time.monotonic() >= due:
            try:
                dags = look()
                problem = "" if dags else none()
            except PoolError as error:
                problem = str(error)
            due = time.monotonic() + interval_s
        _draw(screen, dags, view, problem)
        screen.timeout(max(int((due - time.monotonic()) * 1000), 0))
        key = screen.getch()
        if key >= 0:
            view.press(key, screen.getmaxyx()[0] - 3)


def _draw(screen: Any, dags: Sequence[QueuedDag], view: View, problem: str) -> None:
    height, width = screen.getmaxyx()
    rows, page = chosen(dags, IN_QUEUE, view.how), max(height - 3, 1)
    view.first = min(view.first, max(len(rows) - page, 0))
    head, *lines = table_within(width - 1, rows, time.time())
    lines = lines if dags else textwrap.wrap(problem, max(width - 1, 1))
    screen.erase()
    _put(screen, 0, problem if dags and problem else summary(dags, view.how))
    _put(screen, 1, head, curses.A_REVERSE)
    for number, line in enumerate(lines[view.first : view.first + page]):
        _put(screen, 2 + number, line)
    _put(screen, height - 1, f"/{view.how.text}" if view.typing else _KEYS, curses.A_DIM)
    screen.refresh()


def table_within(width: int, rows: Sequence[QueuedDag], now: float) -> list[str]:
    """The table, without columns for which `width` has no room beside the path of each DAG."""
    shown = dict(IN_QUEUE)
    for word in ("", *_SPARED):
        shown.pop(word, None)
        lines = table(list(shown.values()), rows, now, width)
        if max(map(len, lines)) <= width:
            break
    return lines


def summary(dags: Sequence[QueuedDag], how: Choice) -> str:
    """The first line: how many DAGs there are, and how they are shown."""
    total, done = (sum(getattr(dag, name) for dag in dags) for name in ("total", "done"))
    jobs = sum(dag.jobs_running for dag in dags), sum(dag.jobs_held for dag in dags)
    order = f"by {how.sort}{', reversed' if how.is_reversed else ''}"
    found = f", with {how.text!r}" if how.text else ""
    return (
        f"{time.strftime('%H:%M:%S')}  {number_of(len(dags), 'DAG')}, {done} of {total} nodes done,"
        f" jobs: {jobs[0]} running, {jobs[1]} held; {order}{found}"
    )


def _put(screen: Any, line: int, text: str, style: int = 0) -> None:
    height, width = screen.getmaxyx()
    shown = printable(text).encode(screen.encoding, "backslashreplace").decode(screen.encoding)
    with contextlib.suppress(curses.error):  # a small window, or wide characters
        if line < height:
            screen.addnstr(line, 0, shown, width - 1, style)
