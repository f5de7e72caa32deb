"""Reads what the runner of a bundle has written, puts the files of its tasks where they belong, and
makes the events of the nodes.

It can be done again at any time until the directory is deleted, and comes to the same: a file that
has been put in its place is not in `out/` any more.  The files are those of programs that may have
written anything into them: what makes no sense is passed over.

A task that has run after others has a result only if these have succeeded by what their events
say.  Otherwise it was run too early, or with files that are not what its node would have found.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any, BinaryIO

from condor_pydagman.adapters import deleted_directories, files
from condor_pydagman.engine.actions import AppendJournalRecord
from condor_pydagman.features.bundle.adapters.made import STREAMS
from condor_pydagman.features.bundle.adapters.prepared import ERRORS, LIVE, OUT, RESULTS, TASKS
from condor_pydagman.features.bundle.messages import Collect, Collected
from condor_pydagman.features.bundle.one_bundle import MAX_NAMES, parts_of
from condor_pydagman.features.bundle.runner_tasks import Told, is_success, natural
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.records import own_events
from condor_pydagman.records.own_events import StampForm, event_head
from condor_pydagman.vocabulary import NO_NODE, RETURN_JOB_ABORTED, EventKind

_PASSING = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.ESTALE, errno.ETIMEDOUT)
MAX_WHY = 200  # characters, so that a record has room for names
# Why a file is none of ours: no right to read it, a link, a FIFO, a directory.
_OF_OTHERS = (*(errno.EACCES, errno.EPERM, errno.ELOOP), *(errno.EINVAL, errno.EISDIR, errno.ENXIO))
TAKEN = "taken"  # beside `out/`, where no job can write
_END = "...\n"
State = tuple[int, ...]  # of a file
# Of what jobs have written, so that it fills no memory and takes no more than some seconds, also if
# a task writes its own into it.
MAX_LINE, MAX_BYTES, MAX_LIVE = 1 << 20, 1 << 24, 1 << 22
MAX_TASKS = 1 << 28
_CLOCKS_DIFFER_S = 2.0  # at most, of machines that have written a file and run a task
_FAILURE = 1  # exit code of a task that has ended well, but for an output that is not there


class CollectOrder(NamedTuple):
    """Bring home what a bundle has come to."""

    asked: Collect
    directory: str  # of all bundles of the DAG
    names: Sequence[str]  # of its nodes, as events have them
    stamps: Sequence[bool]  # how times are written


class Known:
    """What has been answered of a bundle whose job runs."""

    def __init__(self) -> None:
        self.state: State = ()  # that of the file that it was read from
        # tasks of which it was told how long they have taken, before their files are at home
        self.told: set[int] = set()


def collect(order: CollectOrder, known: Known) -> Collected:
    """The events of all nodes that have ended, and the record of the bundle's end; of one whose job
    runs, the record of what it does not run any more.

    With file transfer no node has ended before its files are at home: while the job runs it is only
    known how long it has taken.

    Args:
        known: what was answered last: while the job runs, files that have not changed are not read
            again, twice a second.

    Raises:
        OSError: a file can't be read, or put where it belongs.
    """
    asked, directory = order.asked, os.path.join(order.directory, str(order.asked.number))
    runs = not asked.why
    head: Mapping[str, Any] = next(_objects(os.path.join(directory, TASKS)), {}) if runs else {}
    # While the job runs its results may be in a file of their own.
    name = LIVE if head.get("stream") is True else RESULTS
    state = _state(os.path.join(directory, name)) if runs else ()
    if state and known.state == state:
        return Collected(asked.number, "")
    home = _Home(order, directory, name)
    text, took = home.bring() if name == RESULTS else ([], home.times())
    records = [*home.released(last=1 if runs else 2)]
    if not runs:
        records.append(home.events.record(0, home.why()))
    elif text and not records:
        records.append(home.events.record(1, ""))
    new = [seconds for number, seconds in took.items() if number not in known.told]
    known.state = state
    known.told.update(took if name == LIVE else ())
    return Collected(asked.number, "".join([*text, *records]), new, not_home=len(known.told))


def forget(directory: str, number: int) -> None:
    """Delete what a bundle has left; nothing below a link that another user has put there."""
    with contextlib.suppress(OSError):
        files.refuse_planted_directory(directory)
        deleted_directories.delete_directory(os.path.join(directory, str(number)))


class _Home:
    """The directory of a bundle, and what is in it; `results` is the name of a file."""

    def __init__(self, order: CollectOrder, directory: str, results: str) -> None:
        self._order, self._directory = order, directory
        with contextlib.suppress(FileNotFoundError):
            files.refuse_planted_directory(order.directory)
        self._tasks = _tasks(os.path.join(directory, TASKS))
        self._results = self._told(results)
        self._nodes = nodes_of(order, self._tasks)
        self.events = Events(order, time.time())
        self._succeeded: set[int] = set()  # tasks that have, as far as `bring` has come
        self._robbed: set[int] = set()  # tasks whose results count for nothing, so far
        self._state_of = functools.lru_cache(_changed)  # many nodes may have one description
        # whether files have come home
        paths = (os.path.join(directory, one) for one in (OUT, TAKEN))
        self._has_files = any(map(os.path.lexists, paths))

    def _told(self, name: str) -> Told:
        """What a file of results tells: nothing if the runner has not begun."""
        found, most = Told(self._tasks), MAX_LIVE if name == LIVE else MAX_BYTES
        for line in _lines(os.path.join(self._directory, name), MAX_LINE, most):
            found.take(line)
        return found

    def times(self) -> dict[int, float]:
        """How long the tasks took that have ended."""
        return {one: _took(end) for one, end in self._results.ended.items() if one in self._nodes}

    def bring(self) -> tuple[list[str], dict[int, float]]:
        """Put files where they belong; returns the events of nodes that have ended, and how long
        their tasks took.  If the bundle was removed, the others have ended, too."""
        text: list[str] = []
        took: dict[int, float] = {}
        is_chained = any(task["after"] for task in self._tasks.values())
        told_before = self._results.ended if is_chained else ()
        for number in sorted({*self._nodes, *told_before}):
            node, end = self._nodes.get(number), self._end(number)
            left = None if end is None else self._left(number, natural(end.get("left")))
            if end is not None and left is not None:
                task = self._tasks[number]
                fault = _not_brought(left, task) if node is None else _bring(left, task)
                if is_success(end) and not fault:
                    self._succeeded.add(number)
                if node is not None:
                    took[number] = _took(end)
                    host = self._results.hosts.get(natural(end.get("run")), "unknown")
                    text.append(self.events.ended(node, end, fault, host))
            elif node is not None and self._is_removed(node):
                text.append(self.events.removed(node))
            elif end is not None:
                self._robbed.add(number)
        return text, took

    def _end(self, number: int) -> Mapping[str, Any] | None:
        """The line of a task's end, if that counts: it has begun after all that it was to, as its
        node's description says."""
        end = self._results.ended.get(number)
        if end is None or not self._succeeded.issuperset(self._tasks[number]["after"]):
            return None
        return (
            None if self._is_described_anew(self._tasks[number], _time(end.get("begun"))) else end
        )

    def _is_described_anew(self, task: Mapping[str, Any], begun: float) -> bool:
        """Whether the description of a node was written since it was read, and before its task has
        begun: those that it runs after may have done so."""
        read = task.get("description")
        if not (isinstance(read, list) and read and _is_text(read[0])):
            return False  # it stands in the DAG file
        state, written = self._state_of(read[0])
        return bool(state) and state != read[1:] and written <= begun + _CLOCKS_DIFFER_S

    def _is_removed(self, node: Node) -> bool:
        """Whether the task of a node that has not ended was removed with the bundle: not if its
        turn had not come, though the log may not have yet that it had."""
        if not (self._order.asked.removed and node.is_behind):
            return self._order.asked.removed
        if node.number not in self._results.started:
            return False
        return self._succeeded.issuperset(self._tasks[node.number]["after"])

    def _left(self, number: int, left: int) -> str | None:
        """Where what a task has left is from now on, so that it is known later which of it was
        there; '' if no files have come home, None if less is there than it has left, which only
        another task can have taken away."""
        if not self._has_files:
            return None if left > 0 else ""
        taken = os.path.join(self._directory, TAKEN, str(number))
        path = os.path.join(self._directory, OUT, str(number))
        if not os.path.lexists(taken):
            if len(_entries(path)) < left:
                return None
            with contextlib.suppress(FileNotFoundError):
                os.makedirs(os.path.dirname(taken), exist_ok=True)
                os.rename(path, taken)
        return taken

    def released(self, last: int) -> Iterator[str]:
        """Records that name the nodes that the job has released; `last` is in the last of them, and
        more in those before."""
        released = self._results.released - self._results.ended.keys()
        names = (node.name for number, node in self._nodes.items() if number in released)
        parts = list(filter(None, parts_of(names, MAX_NAMES)))
        for place, part in enumerate(parts, 1):
            yield self.events.record(last + len(parts) - place, part)

    def why(self) -> str:
        """Why the bundle has ended, and which nodes were running."""
        asked, results = self._order.asked, self._results
        path = os.path.join(self._directory, ERRORS)  # what a runner that could not begin has said
        first = b"" if results.hosts else next(_lines(path, MAX_WHY, MAX_WHY), b"")
        said = first.decode("utf-8", "replace").strip()
        reason = f"{asked.why}: {said}" if said else asked.why
        if not (results.hosts or results.started or results.ended or results.released):
            results = self._told(LIVE)  # nothing has come home
        suspects = results.started - results.ended.keys() - results.released | self._robbed
        names = [node.name for number, node in self._nodes.items() if number in suspects]
        return f"{' '.join(reason.split())[:MAX_WHY]}\n{' '.join(names)}"


def _state(path: str) -> State:
    """What changes when lines are added to a file; empty if there is none.  It is opened, since a
    network file system may tell of one that is not what it was seconds ago."""
    with contextlib.suppress(FileNotFoundError), _opened(path) as file:
        found = os.fstat(file.fileno())
        return found.st_ino, found.st_size, found.st_mtime_ns
    return ()


def _took(end: Mapping[str, Any]) -> float:
    return max(0.0, _time(end.get("time")) - _time(end.get("begun")))


def _entries(directory: str) -> set[str]:
    is_there = os.path.isdir(directory) and not os.path.islink(directory)
    return set(os.listdir(directory)) if is_there else set()


class Node(NamedTuple):
    """A node of a bundle that has not ended as far as the log goes."""

    number: int  # of its task
    name: str
    retry: int  # which run of the node it is
    is_behind: bool  # whether it waits for others of the bundle, as far as the log goes
    time_limit: int = 0  # of its task, in seconds


def nodes_of(order: CollectOrder, tasks: Mapping[int, Mapping[str, Any]]) -> dict[int, Node]:
    """The nodes, by the numbers of their tasks: the list of tasks tells, as nodes of a bundle may
    have been taken out of the DAG since.  Those that are not in the list have numbers behind it."""
    known = {tasks[number]["name"]: number for number in sorted(tasks)}
    others, waiting_from = count(max(tasks, default=0) + 1), len(order.names) - order.asked.behind
    found = []
    for place, (name, retry) in enumerate(zip(order.names, order.asked.retries)):
        number = known[name] if name in known else next(others)
        limit = natural(tasks[number].get("timeout")) if number in tasks else 0
        found.append(Node(number, name, retry, place >= waiting_from, limit))
    return {node.number: node for node in sorted(found)}


def _lines(path: str, longest: int, most: int) -> Iterator[bytes]:
    """The lines in the first `most` bytes; none if there is no such file."""
    with contextlib.suppress(FileNotFoundError), _opened(path) as file:
        while most > 0 and (line := file.readline(min(longest, most))):
            most -= len(line)
            yield line


def _objects(path: str) -> Iterator[dict[str, Any]]:
    """The lines of a list of tasks that are objects; one that is cut, or nonsense, is passed
    over."""
    for line in _lines(path, MAX_TASKS, MAX_TASKS):
        with contextlib.suppress(ValueError, RecursionError):
            found = json.loads(line)
            if isinstance(found, dict):
                yield found


def _opened(path: str) -> BinaryIO:
    """A file that a task may have put something else in the place of."""
    try:
        return os.fdopen(files.open_own(path, os.O_RDONLY), "rb")
    except OSError as error:
        if error.errno in _OF_OTHERS:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path) from None
        raise


def _tasks(path: str) -> dict[int, dict[str, Any]]:
    """The list of tasks, as it was written, but that each has `after`; empty if it is gone."""
    lines = ({"after": [], **line} for line in _objects(path))
    return {line["n"]: line for line in lines if _is_task(line)}


def _is_task(line: Mapping[str, Any]) -> bool:
    texts = [line.get(name) for name in ("name", "directory", "output", "error")]
    remaps, outputs, after = line.get("remaps"), line.get("outputs"), line["after"]
    if isinstance(remaps, dict):
        texts += [*remaps, *remaps.values()]
    if outputs is not None:
        texts += outputs if isinstance(outputs, list) else [None]
    number = natural(line.get("n"))
    is_placed = isinstance(after, list) and all(0 < natural(one) < number for one in after)
    return number > 0 and is_placed and isinstance(remaps, dict) and all(map(_is_text, texts))


def _is_text(value: object) -> bool:
    return isinstance(value, str) and "\0" not in value


def _bring(left: str, task: Mapping[str, Any]) -> str:
    """Put what a task has left in a directory where it belongs; returns what can't be, in words.

    Raises:
        OSError: what can't be now may be possible later.
    """
    why = ""
    for source, place in _left_in(left, task):
        try:
            _move(source, os.path.join(task["directory"], place))
        except OSError as error:
            if error.errno in _PASSING:
                raise
            why = why or f"{place}: {error.strerror}"
    return why


def _not_brought(left: str, task: Mapping[str, Any]) -> str:
    """What was not put where it belongs when that was done; '' if that is nothing."""
    paths = (source for source, _ in _left_in(left, task) if _has_file(source))
    return next(map(os.path.basename, paths), "")


def _has_file(path: str) -> bool:
    """Whether something is there but directories, which stay if others of that name were there."""
    if os.path.isdir(path) and not os.path.islink(path):
        return any(map(_has_file, (entry.path for entry in os.scandir(path))))
    return True


def _left_in(directory: str, task: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What a task has left, and where it belongs, relative to the task's directory: the machine
    that has run the job must not choose names where the author has.  '': no files."""
    there = _entries(directory)
    for stream, of in zip(STREAMS, ("output", "error")):
        if stream in there and task[of]:
            yield os.path.join(directory, stream), task[of]
    remaps, named = task["remaps"], task.get("outputs")
    for name in sorted(there.difference(STREAMS)) if named is None else named * bool(directory):
        kept = os.path.join(directory, os.path.normpath(f"/{name}").lstrip("/"))
        if os.path.lexists(kept):
            yield kept, remaps.get(name, os.path.basename(name))


def _changed(path: str) -> tuple[list[int], float]:
    """What changes when a file is written, and when that was, in seconds since the epoch; empty if
    there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return [], 0.0
    return [found.st_mtime_ns, found.st_size], found.st_mtime


def _move(source: str, place: str) -> None:
    """A directory is merged into one that is there."""
    if os.path.isdir(source) and not os.path.islink(source) and os.path.isdir(place):
        for name in os.listdir(source):
            _move(os.path.join(source, name), os.path.join(place, name))
        return
    # As HTCondor writes a file: what a link leads to, which stays one.
    path = os.path.realpath(place) if os.path.islink(place) else place
    if os.path.isfile(path) or not os.path.lexists(path):
        place = path
    try:
        os.replace(source, place)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        shutil.move(source, place)


class Events:
    """Tells the lives of tasks as HTCondor tells those of jobs, and what becomes of the bundle.

    Args:
        now: seconds since the epoch.
    """

    def __init__(self, order: CollectOrder, now: float) -> None:
        self._number, self._cluster = order.asked.number, order.asked.cluster
        self._form = StampForm(*order.stamps)
        self._now = self._stamp(now)

    def ended(self, node: Node, end: Mapping[str, Any], fault: str, host: str) -> str:
        """A task that has ended; `fault` is an output that could not be put where it belongs."""
        ended = _time(end.get("time"))
        begun = min(_time(end.get("begun"), ended), ended)
        when, host = self._stamp(begun), f"<{_host(host)}>"
        execute = f"{self._head(EventKind.EXECUTE, node, when)} Job executing on host: {host}\n"
        over = self._timed_out if end.get("timed_out") is True else self._terminated
        return (
            f"{self._submitted(node, when)}{execute}{_END}{over(node, end, fault, ended - begun)}"
        )

    def removed(self, node: Node) -> str:
        """A task that has not ended."""
        aborted = self._aborted(node, self._now, "its bundle was removed")
        return self._submitted(node, self._now) + aborted

    def record(self, left: int, text: str) -> str:
        """A record about the bundle; `left` says which."""
        record = AppendJournalRecord("UNBUNDLED", NO_NODE, left, self._number, text=text)
        return own_events.record_event(self._now, "", record)

    def _submitted(self, node: Node, when: str) -> str:
        head = self._head(EventKind.SUBMIT, node, when)
        host = f"<bundle-{self._number}>"
        return f"{head} Job submitted from host: {host}\n    DAG Node: {node.name}\n{_END}"

    def _terminated(self, node: Node, end: Mapping[str, Any], fault: str, ran: float) -> str:
        """Before it a record that says why the task has failed, if its exit code does not."""
        when, code = self._stamp(_time(end.get("time"))), _code(end)
        lacks = code == 0 and (fault or end.get("missing"))
        value = _FAILURE if lacks else code
        ending = own_events.ending(value) + "\t(0) No core file\n" * (value < 0)
        usage = own_events.usage(*(int(_seconds(end.get(name))) for name in ("user", "system")))
        head = self._head(EventKind.JOB_TERMINATED, node, when)
        why = ""
        if isinstance(end.get("error"), str):
            why = f"it can't be started: {end['error']}"
        elif lacks:
            why = f"its output can't be stored: {fault}" if fault else _lacking(end["missing"])
        record = self._of_node("TASK_FAILED", node, " ".join(why.split()), when) if why else ""
        return f"{record}{head} Job terminated.\n{ending}{usage}{_table(end, ran)}{_END}"

    def _timed_out(self, node: Node, end: Mapping[str, Any], _fault: str, _ran: float) -> str:
        """As of a job that DAGMan has removed because of its node's TIMEOUT."""
        when = self._stamp(_time(end.get("time")))
        what = f"ran for {node.time_limit} s (TIMEOUT RUNNING {node.time_limit})"
        record = self._of_node("TIMED_OUT", node, what, when, RETURN_JOB_ABORTED)
        job = f"{self._cluster}.0.{node.number}"
        reason = f"Node Timeout: DAG node {node.name} ({job}) {what}"
        return record + self._aborted(node, when, reason)

    def _aborted(self, node: Node, when: str, why: str) -> str:
        head = self._head(EventKind.JOB_ABORTED, node, when)
        return f"{head} Job was aborted.\n\t{why}\n{_END}"

    def _of_node(self, kind: str, node: Node, text: str, when: str, value: int = 0) -> str:
        job = self._cluster, 0
        record = AppendJournalRecord(kind, NO_NODE, node.retry, value, *job, text)
        return own_events.record_event(when, node.name, record)

    def _head(self, kind: EventKind, node: Node, when: str) -> str:
        return event_head(kind, self._cluster, 0, node.number, when)

    def _stamp(self, moment: float) -> str:
        broken = time.gmtime(moment) if self._form.utc else time.localtime(moment)
        return own_events.stamp(broken, int(moment % 1 * 1000), self._form)


def _lacking(missing: object) -> str:
    """Which outputs are not there."""
    named = missing if isinstance(missing, list) else []
    names = [one for one in named if isinstance(one, str)]
    if len(names) > 1:
        return f"its outputs {', '.join(names)} are missing"
    return f"its output {names[0]} is missing" if names else "its output is missing"


def _table(end: Mapping[str, Any], ran: float) -> str:
    """What it has used, as HTCondor tells that: of processors on average, and megabytes."""
    cpus = sum(_seconds(end.get(name)) for name in ("user", "system")) / max(ran, 1e-3)
    rows = {"Cpus": f"{cpus:.2f}", "Memory (MB)": f"{_seconds(end.get('rss')) / 1024:.0f}"}
    lines = [f"\t   {name:<21}: {used:>8}\n" for name, used in rows.items()]
    return "".join(["\tPartitionable Resources :    Usage  Request Allocated \n", *lines])


def _time(value: object, default: float | None = None) -> float:
    if isinstance(value, (int, float)) and 0 <= value < 1e11:
        return float(value)
    return time.time() if default is None else default


def _host(text: str) -> str:
    return "".join(c if c.isascii() and c.isprintable() and c not in "<>" else "?" for c in text)[
        :200
    ]


def _code(end: Mapping[str, Any]) -> int:
    """The exit code of a task, or the number of the signal that has ended it, negative."""
    code, signal = natural(end.get("code")), natural(end.get("signal"))
    if signal > 0:
        return -signal
    return code if code >= 0 else _FAILURE


def _seconds(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) and 0 <= value < 1e9 else 0.0
