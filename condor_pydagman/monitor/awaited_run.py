"""Whether the run that a reader wants has begun, or the logs are still those of the run before."""

from __future__ import annotations

from condor_pydagman.monitor.file_facts import size_of
from condor_pydagman.monitor.followed_file import FollowedFile
from condor_pydagman.monitor.found_dag import FoundDag
from condor_pydagman.records.dagman_out import (
    BEGIN_OF_RUN,
    START_OF_DAGMAN,
    OutKind,
    OutLine,
    out_lines,
)
from condor_pydagman.trace.local_times import LocalTimes

_HEAD_BYTES = 1 << 16  # of what DAGMan writes at its start
# Then DAGMan has said whether its run begins anew or goes on, or has ended before it could.
_TOLD = (OutKind.NEW_RUN, OutKind.RECOVERY, OutKind.END)


class AwaitedRun:
    """The run that `found` is about, in its `.dagman.out`.

    Attributes:
        begun: whether the log had told of it at the last look.
        begin: offset of its first line; 0 if there is none yet.
        refused: whether DAGMan ended before it could begin the run: the nodes log is that of the
            run before.
    """

    def __init__(self, found: FoundDag, times: LocalTimes) -> None:
        self.begun = self.refused = False
        self.begin = 0
        self._out, self._is_live = found.out, found.is_live
        self._submitted = int(found.submitted)
        self._times = times
        self._size = -1

    def has_begun(self) -> bool:
        """Look again, if the log has changed."""
        size = size_of(self._out)
        if not self.begun and size != self._size:
            self._size = size
            self.begun = self._is_told()
        return self.begun

    def _is_told(self) -> bool:
        file = FollowedFile(self._out, b"\n")
        self.begin = file.line_of_last(*BEGIN_OF_RUN)
        if not self._submitted:
            return not self._is_live or self._has_last_start_told()
        if self._is_late_enough(self._lines(self.begin)):
            return True
        file.offset = self.begin
        start = file.line_of_last(START_OF_DAGMAN)
        lines = self._lines(start)
        if not self._is_late_enough(lines):
            return False
        told = next((line.what for line in lines if line.what in _TOLD), None)
        if told is OutKind.END:
            self.begin, self.refused = start, True
        return told is not None

    def _has_last_start_told(self) -> bool:
        """Whether a DAGMan that lives has said of what run the nodes log is."""
        file = FollowedFile(self._out, b"\n")
        file.skip_to_last(_HEAD_BYTES)
        start = file.line_of_last(START_OF_DAGMAN)
        lines = self._lines(start) if start >= file.offset else []
        return not lines or any(line.what in _TOLD for line in lines)

    def _is_late_enough(self, lines: list[OutLine]) -> bool:
        return bool(lines) and not 0 < lines[0].time < self._submitted

    def _lines(self, begin: int) -> list[OutLine]:
        file = FollowedFile(self._out, b"\n")
        file.offset = begin
        return list(out_lines(file.read(_HEAD_BYTES), begin, self._times.seconds))
