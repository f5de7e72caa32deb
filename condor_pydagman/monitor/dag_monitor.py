"""Follows a DAG by its two logs: what has happened as events, how it stands as a `Run`.

DAGMan knows nothing of its readers: whoever follows a DAG costs it nothing.

How far both logs had been read is the position of an event; its text is the `id` of events.  It
holds across restarts of the reader: of the next run of the DAG, whose nodes log begins anew,
everything comes after it.
"""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, Union

from condor_pydagman.adapters.local_time import logged_minute
from condor_pydagman.errors import PoolError, PydagmanError, UsageError
from condor_pydagman.follow.dag_events import DagEvent
from condor_pydagman.follow.follower import Follower, Plan, is_start_of_post, order, unknown_plan
from condor_pydagman.follow.local_times import LocalTimes
from condor_pydagman.follow.nodes_log import ENDS, NodesLogEvent, log_events
from condor_pydagman.follow.run_model import NodeRun, Run
from condor_pydagman.follow.tally import Tally
from condor_pydagman.garbage import collection_off
from condor_pydagman.monitor import schedd_queries
from condor_pydagman.monitor.file_facts import size_of
from condor_pydagman.monitor.followed_file import FollowedFile
from condor_pydagman.monitor.found_dag import FoundDag
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.records.dagman_out import (
    BEGIN_OF_RUN,
    START_OF_DAGMAN,
    UNCOUNTED,
    OutKind,
    OutLine,
    out_lines,
)
from condor_pydagman.vocabulary import EXIT_RESTART, EventKind

_TEXT = re.compile(r"([0-9a-f]{8})\.(\d{1,18})-([0-9a-f]{8})\.(\d{1,18})(?:([jo])(\d{1,4}))?")
JOB_LOG, OUT_LOG = "j", "o"


class Position(NamedTuple):
    """How far the logs have been read."""

    log_mark: int = 0  # which content of the nodes log it is about; 0 if nothing has been read
    log: int = 0  # offset there, bytes
    out_mark: int = 0  # the same of `.dagman.out`
    out: int = 0
    # JOB_LOG or OUT_LOG if of the next entry of that log some events, `taken` of them, have come
    # already; '' otherwise
    taken_from: str = ""
    taken: int = 0

    def __str__(self) -> str:
        end = f"{self.taken_from}{self.taken}" if self.taken_from else ""
        return f"{self.log_mark:08x}.{self.log}-{self.out_mark:08x}.{self.out}{end}"


def parse_position(text: str) -> Position:
    """Read the `id` of an event; '' and '0' are the beginning.

    Raises:
        UsageError: it is none.
    """
    if text in ("", "0"):
        return Position()
    found = _TEXT.fullmatch(text)
    if found is None:
        raise UsageError(
            f'{text!r} is not the id of an event; give the "id" of the last event that you have,'
            " or 0 for all events"
        )
    log_mark, log, out_mark, out, taken_from, taken = found.groups()
    return Position(
        int(log_mark, 16), int(log), int(out_mark, 16), int(out), taken_from or "", int(taken or 0)
    )


ALL = 1 << 30  # more events than an entry has
BLOCK_BYTES = 4 << 20  # read of a log at a time


class DagMonitor:
    """A DAG that is followed.

    A DAG that was submitted again and has not begun yet has no run here: what its logs tell of the
    run before is passed over.

    Args:
        found: the DAG and its files.
        since: the `id` of the last event that is known already; '' for the beginning of the run.
        read_plan: gives the DAG (`monitor.plan`): when it is first needed, and again when another
            run begins, which may begin with another rescue file.  Without it, states are told as
            far as the logs tell them.
        tail_bytes: begin this many bytes before the ends of the logs, for DAGs whose logs are
            huge; `run` then has what happened since, and the counts that DAGMan wrote last.

    Raises:
        UsageError: `since` is no id of an event.
    """

    def __init__(
        self,
        found: FoundDag,
        *,
        since: str = "",
        read_plan: Callable[[], Plan] = unknown_plan,
        tail_bytes: int | None = None,
    ) -> None:
        self.found = found
        # whether the last `poll` left something in the logs, so that the next need not wait
        self.more = False
        # whether it has found anything new in the logs, or one of them has gone or come back
        self.has_news = False
        self._problems: tuple[str, str] | None = None  # of both logs, at the last `poll`
        self._times = LocalTimes(logged_minute, time.localtime().tm_year)
        self._jobs = Source(
            FollowedFile(found.nodes_log, *ENDS),
            lambda data, begin: log_events(data, begin, self._times),
            lambda event: float(event.time),
        )
        self._lines = Source(
            FollowedFile(found.out, b"\n"),
            lambda data, begin: out_lines(data, begin, self._times.seconds),
            order,
        )
        self._follower = Follower(read_plan)
        self._known = self._still_valid(parse_position(since))
        self._left_out = False
        self._awaited = AwaitedRun(found, self._times)
        if self._awaited.has_begun() and tail_bytes is not None:
            self._left_out = self._jobs.file.skip_to_last(tail_bytes)
            self._lines.file.skip_to_last(tail_bytes)
        self._skip_earlier_runs()

    @property
    def run(self) -> Run:
        """How the run stands, as far as the logs have been read."""
        run = self._follower.run
        lost = bool(self._jobs.file.problem and run.counts)  # DAGMan makes it before it counts
        run.complete, run.awaited = not (self._left_out or lost), not self._awaited.begun
        return run

    def tally(self) -> Tally:
        """Numbers of the run; another one if another run has begun."""
        plan = self._follower.plan
        return Tally(self.run, None if plan.is_unknown else self._follower.engine)

    @property
    def doubts(self) -> list[str]:
        """What the nodes log tells and the DAG can't have had; see `Follower.doubts`."""
        return self._follower.doubts

    def changed(self) -> Collection[NodeRun]:
        """Nodes of which something has changed since the last call."""
        return self._follower.changed()

    @property
    def begun(self) -> bool:
        """Whether the logs tell of the run; a DAG may wait to be run again."""
        return self._awaited.begun

    @property
    def over(self) -> bool:
        """Whether DAGMan has ended, and will not be started again by the schedd."""
        run = self._follower.run
        return bool(run.ended) and run.exit_code != EXIT_RESTART

    @property
    def problems(self) -> list[str]:
        """Which of the logs can't be read, and why."""
        files = self._lines.file, self._jobs.file
        return [file.problem for file in files if file.problem]

    def no_logs(self) -> PydagmanError:
        """What is wrong with a DAG of which no event could be read."""
        reason = f"has not started, or its logs were deleted: {'; '.join(self.problems)}"
        return PydagmanError(f"{self.found.name} {reason}")

    def read(self) -> Run:
        """Read the logs to their ends without telling events, from now on, which takes a third of
        the time; returns how the run stands."""
        self._follower.wanted = False
        self.poll()
        while self.more:
            self.poll()
        return self.run

    def poll(self) -> list[DagEvent]:
        """What has happened since the last call; a block of each log at most, see `more`."""
        self.has_news = self._fill()
        if not self.has_news:
            return []
        with collection_off():
            events = self._take_all()
        self.more = self._lines.more or self._jobs.more
        self._follower.plan  # noqa: B018  (its nodes are part of the run, though nothing has happened)
        if not self.more:
            self._follower.settle()
        return events

    def blocks(self) -> Iterator[list[DagEvent]]:
        """What has happened since the last call, up to the ends of the logs, block by block."""
        yield self.poll()
        while self.more:
            yield self.poll()

    def _fill(self) -> bool:
        """Read what is new in the logs, a block of each at most; whether anything is."""
        if not self._awaited.begun:
            if not self._awaited.has_begun():
                return False
            self._skip_earlier_runs()
        # .dagman.out first: what one of its lines followed from is in the nodes log by then
        lines = self._lines.fill(BLOCK_BYTES)
        new_run = any(getattr(line, "what", None) is OutKind.NEW_RUN for line in lines)
        if new_run and self._jobs.file.offset and self._jobs.mark != self._jobs.file.mark():
            self._jobs.restart()
        events, before = self._jobs.fill(BLOCK_BYTES), self._problems
        self._problems = self._lines.file.problem, self._jobs.file.problem
        return bool(lines or events) or self.more or self._problems != before

    def _take_all(self) -> list[DagEvent]:
        """Take what has been read of the logs."""
        coming, events = self._jobs.coming, list[DagEvent]()
        self._follower.expect([event for event in coming if isinstance(event, NodesLogEvent)])
        jobs = self._jobs
        for source in in_order(self._lines, jobs):
            entry: Any = jobs.next_entry if source is jobs else None
            if entry is not None and entry.kind == EventKind.POST_SCRIPT_TERMINATED:
                for _ in range(self._lines_before(entry)):
                    self._take(self._lines, events)
            self._take(source, events)
        return events

    def _lines_before(self, end: Any) -> int:
        """How many lines come before the end of a POST script, though they stand for the end of
        their second: those to the start of that script."""
        if self._follower.knows_start_of_post(end.node):
            return 0
        return self._lines.count_to(lambda line: is_start_of_post(line, end.node), end.time + 1)

    def _take(self, source: Source, events: list[DagEvent]) -> None:
        if self._follower.wanted:
            events += self._taken(source)
        else:
            self._follower.take(source.pop())

    def _taken(self, source: Source) -> list[DagEvent]:
        """Take the next entry of a log; what has happened, unless that is known already."""
        before = self._place()
        events = self._follower.take(source.pop())
        if not events:
            return []
        letter = OUT_LOG if source is self._lines else JOB_LOG
        ids = [str(Position(*before, letter, count)) for count in range(1, len(events))]
        ids.append(str(Position(*self._place())))
        named = [event.placed(text, self.found.name) for event, text in zip(events, ids)]
        known, late = self._number_known(letter, source.taken), self._follower.late
        if not late:
            return named[known:]
        out = self._known.out
        return [
            event
            for index, event in enumerate(named)
            if (late[index] > out if index in late else index >= known)
        ]

    def _place(self) -> tuple[int, int, int, int]:
        """Behind the entries that were taken: the first fields of a Position."""
        return self._jobs.mark, self._jobs.taken, self._lines.mark, self._lines.taken

    def _number_known(self, letter: str, end: int) -> int:
        """How many events of an entry that ends there are known already."""
        known = self._known
        if end <= (known.out if letter == OUT_LOG else known.log):
            return ALL
        if known.taken_from != letter:
            return 0
        self._known = known._replace(taken_from="")
        return known.taken

    def _still_valid(self, known: Position) -> Position:
        """As far as it is about the files as they are now."""
        if known.log_mark != self._jobs.file.mark():
            known = known._replace(log_mark=0, log=0)
        if known.out_mark != self._lines.file.mark():
            known = known._replace(out_mark=0, out=0)
        return known

    def _skip_earlier_runs(self) -> None:
        """Begin with the start of DAGMan that began the last run, unless more is wanted."""
        file, begin = self._lines.file, self._awaited.begin
        if self._awaited.refused:
            self._jobs.file.skip_to_last(0)
        if not self._known.out_mark or self._known.out >= begin:
            file.offset = max(begin, file.offset)


_HEAD_BYTES = 1 << 16  # of what DAGMan writes at its start
# Then DAGMan has said whether its run begins anew or goes on, or has ended before it could.
_TOLD = (OutKind.NEW_RUN, OutKind.RECOVERY, OutKind.END)


class AwaitedRun:
    """The run that `found` is about, in its `.dagman.out`."""

    def __init__(self, found: FoundDag, times: LocalTimes) -> None:
        self.begun = False  # whether the log had told of it at the last look
        # whether DAGMan ended before it could begin it: the nodes log is that of the run before
        self.refused = False
        self.begin = 0  # offset of its first line; 0 if there is none yet
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


Entry = Union[NodesLogEvent, OutLine]
_ALL = float("inf")


class Source:
    """The entries of one log.

    Args:
        file: the log.
        parse: the whole entries of a part of it, given its bytes and offset.
        time: where an entry stands among those of both logs.
    """

    def __init__(
        self,
        file: FollowedFile,
        parse: Callable[[bytes, int], Iterable[Entry]],
        time: Callable[[Any], float],
    ) -> None:
        self.file = file
        # offset behind the last entry that was taken, of those on which ids of events rest
        self.taken = 0
        self.mark = 0  # which content of the file `taken` is about, see `FollowedFile.mark`
        self._parse = parse
        self._time = time
        self._waiting: deque[tuple[float, Entry]] = deque()
        self._newest = 0.0  # times of a log may go back a little; its order counts

    @property
    def more(self) -> bool:
        """Whether the log has something that was not taken."""
        return bool(self._waiting) or self.unread

    @property
    def unread(self) -> bool:
        """Whether the log has something that has not been read; a part of an entry does not
        count."""
        return self.file.more

    @property
    def horizon(self) -> float:
        """Entries of both logs can be taken up to this time: later ones may stand in what has not
        been read."""
        return self._newest if self.unread else _ALL

    @property
    def next_time(self) -> float:
        """When the next entry is due; infinity if there is none."""
        return self._waiting[0][0] if self._waiting else _ALL

    @property
    def coming(self) -> list[Entry]:
        """The entries that have been read and not taken."""
        return [entry for _, entry in self._waiting]

    def fill(self, block: int) -> list[Entry]:
        """Read blocks until there is an entry to be taken; returns what was read."""
        found: list[Entry] = []
        if self._waiting and self.unread:
            return found
        while not found:
            before = self.file.offset
            data = self.file.read(block)
            begin = self.file.offset - len(data)
            if begin < before:  # the file has been emptied, or replaced
                self._forget()
            if not data:
                break
            with collection_off():
                found = list(self._parse(data, begin))
        for entry in found:
            self._newest = max(self._newest, self._time(entry))
            self._waiting.append((self._newest, entry))
        return found

    def ready(self, until: float) -> Iterator[Source]:
        """Itself, once for the next entry and for each that is due before that time."""
        yield self
        waiting = self._waiting
        while waiting and waiting[0][0] < until:
            yield self

    @property
    def next_entry(self) -> Entry:
        """The next entry."""
        return self._waiting[0][1]

    def count_to(self, is_it: Callable[[Any], bool], until: float) -> int:
        """How many entries to take to have taken the first that is it, of those that are due until
        then; 0 if there is none."""
        for number, (due, entry) in enumerate(self._waiting, 1):
            if due > until:
                return 0
            if is_it(entry):
                return number
        return 0

    def pop(self) -> Entry:
        """Take the next entry."""
        _, entry = self._waiting.popleft()
        if getattr(entry, "what", None) not in UNCOUNTED:
            self.taken = entry.end
        if not self.mark:
            self.mark = self.file.mark()
        return entry

    def restart(self) -> None:
        """The log begins anew."""
        self.file.offset = 0
        self._forget()

    def _forget(self) -> None:
        self.taken = self.mark = 0
        self._waiting.clear()
        self._newest = 0.0


def in_order(one: Source, other: Source) -> Iterator[Source]:
    """The log whose entry comes next, as long as that is sure; the caller takes it."""
    until = min(one.horizon, other.horizon)
    while True:
        first, second = (one, other) if one.next_time <= other.next_time else (other, one)
        if first.next_time > until or first.next_time == _ALL:
            return
        yield from first.ready(min(until, second.next_time))


INTERVAL_S = 0.5  # between looks at the logs, which cost two calls of the system each
ASK_S = 15.0  # between questions whether a job that has not started is still in the queue


def follow(
    monitor: DagMonitor, sleep: Callable[[float], object], interval: float = INTERVAL_S
) -> Iterator[list[DagEvent]]:
    """What happens, until DAGMan has ended; nothing that is empty.

    Args:
        sleep: waits for so many seconds.
        interval: between looks at the logs, seconds.

    Raises:
        PoolError: DAGMan's job has left the queue before it started.
    """
    waited, gone = 0.0, False
    while True:
        events = monitor.poll()
        if events:
            yield events
        if monitor.more:
            continue
        if monitor.over:
            return
        if gone and not monitor.begun:
            raise PoolError(
                f"DAGMan's job {monitor.found.cluster} has left the queue before it started",
                transient=False,
            )
        sleep(interval)
        waited += interval
        if waited >= ASK_S and not monitor.begun:
            waited, gone = 0.0, _has_left(monitor.found.cluster)


def _has_left(cluster: int) -> bool:
    """Whether the queue has no such job; not if the schedd does not answer."""
    try:
        return not schedd_queries.queued_dagman_ad(cluster)
    except PoolError:
        return False
