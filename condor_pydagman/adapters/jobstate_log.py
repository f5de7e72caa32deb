"""Appends to jobstate.log: no line twice, and lines are kept while the disk is full.

A workflow system follows this file, but the DAG does not depend on it: lines that can't be written
now are kept and written later.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from condor_pydagman.adapters import files
from condor_pydagman.engine.actions import JobState
from condor_pydagman.errors import FileError
from condor_pydagman.graph.model import Dag
from condor_pydagman.records import jobstate
from condor_pydagman.records.jobstate import History, Tags, read
from condor_pydagman.timers import JOBSTATE_RETRY_S

MAX_KEPT_LINES = 100_000  # lines kept while the file can't be written


class JobstateLog:
    """The jobstate.log of one DAG.

    Args:
        path: of the file.
        say: called with a line for `.dagman.out`.
    """

    def __init__(self, path: str, say: Callable[[str], None] = lambda text: None) -> None:
        self._path = path
        self._say = say
        self._tags: Tags | None = None
        self._kept: list[str] = []
        self._dropped = 0
        self._error = ""
        self._next_try_at = 0.0
        self.history = History()  # what the file contained at the start
        self._read()

    def _read(self) -> None:
        try:
            text = files.read_text(self._path, own=True)
        except (OSError, FileError):
            return  # if writing fails as well, that is reported
        self.history = read(text.split("\n"))  # names may hold other line separators
        if text and not text.endswith("\n"):
            self._kept.append("\n")  # a crash or a full disk cut off the last line

    def note_start(self, job: tuple[int, int], *, recovering: bool) -> None:
        """DAGMan has started; `job` is its own, (0, 0) if it is none."""
        now = time.time()
        started = jobstate.started(now, *(job if job[0] else (-1, -1)))  # stock's words for none
        self.add(started, *[jobstate.recovery_started(now)] * recovering)

    def note(
        self, dag: Dag, state: JobState, submit_text: Callable[[int], str], *, again: bool
    ) -> None:
        """Something has happened to a node; `again`: the line may be there already."""
        if self._tags is None:
            self._tags = Tags(dag, submit_text)
        line = jobstate.node_line(dag, state, self._tags.of(state.node))
        if not (again and self.history.has(line)):
            self.add(line)

    def note_recovered(self, now: float) -> None:
        """The old log has been replayed: from now on every line is new."""
        self.add(jobstate.recovery_finished(now))

    def note_end(self, now: float, code: int) -> None:
        """DAGMan ends in order."""
        self.add(jobstate.finished(now, code))

    @property
    def rests(self) -> bool:
        """Whether all lines have been written."""
        return not self._kept

    def add(self, *lines: str) -> None:
        """Add lines, newlines included."""
        self._kept += lines
        if time.monotonic() >= self._next_try_at:
            self.write()

    def write(self) -> None:
        """Try to write the lines that are kept."""
        if not self._kept:
            return
        try:
            files.append_lines(self._path, self._kept)
        except FileError as error:
            self._next_try_at = time.monotonic() + JOBSTATE_RETRY_S
            surplus = max(len(self._kept) - MAX_KEPT_LINES, 0)
            del self._kept[:surplus]
            self._dropped += surplus
            if str(error) != self._error:
                self._error = str(error)
                self._say(f"Warning: {error}; its lines are kept, to be written later")
            return
        self._next_try_at = 0.0
        self._kept.clear()
        if self._error:
            self._error = ""
            missing = f", but for {self._dropped} lines that are lost" if self._dropped else ""
            self._say(f"{self._path} can be written again, and has been{missing}")
            self._dropped = 0
