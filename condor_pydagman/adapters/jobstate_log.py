"""Writes jobstate.log: only ever adds lines, none twice, and loses none while the disk is full.

A workflow system above DAGMan follows this file, but the DAG does not depend on it: what can't be
written now is kept and written later.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from condor_pydagman.adapters import files
from condor_pydagman.errors import FileError
from condor_pydagman.records.jobstate import History, read

KEPT_MAX = 100_000  # lines kept while the file can't be written
PAUSE = 1.0  # seconds between two tries to write them


class JobstateLog:
    """The jobstate.log of one DAG.

    Args:
        path: '' if the DAG has none; then nothing is written.
        say: takes a line for the user.

    Attributes:
        history: what the file says already.
    """

    def __init__(self, path: str = "", say: Callable[[str], None] = lambda text: None) -> None:
        self._path = path
        self._say = say
        self._kept: list[str] = []
        self._lost = 0
        self._trouble = ""
        self._next_try = 0.0
        self.history = History()
        self._read()

    def _read(self) -> None:
        if not self._path:
            return
        try:
            text = files.read_text(self._path, own=True)
        except (OSError, FileError):
            return  # if it can't be written either, that will be told
        self.history = read(text.split("\n"))  # names may hold other line separators
        if text and not text.endswith("\n"):
            self._kept.append("\n")  # somebody died, or a disk was full, in the middle of a line

    def add(self, *lines: str) -> None:
        """Add lines, newlines included."""
        if self._path:
            self._kept += lines
            if time.monotonic() >= self._next_try:
                self.write()

    def write(self) -> None:
        """Write what has been kept, if it can be written now."""
        if not self._kept:
            return
        try:
            files.append_lines(self._path, self._kept)
        except FileError as error:
            self._next_try = time.monotonic() + PAUSE
            self._forget_some()
            if str(error) != self._trouble:
                self._trouble = str(error)
                self._say(f"Warning: {error}; its lines are kept, to be written later")
            return
        self._next_try = 0.0
        self._kept.clear()
        if self._trouble:
            self._trouble = ""
            missing = f", but for {self._lost} lines that are lost" if self._lost else ""
            self._say(f"{self._path} can be written again, and has been{missing}")
            self._lost = 0

    def _forget_some(self) -> None:
        surplus = len(self._kept) - KEPT_MAX
        if surplus > 0:
            del self._kept[:surplus]
            self._lost += surplus
