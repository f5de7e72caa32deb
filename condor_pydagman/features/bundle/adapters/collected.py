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
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.records import own_events
from condor_pydagman.records.own_events import StampForm, event_head
from condor_pydagman.vocabulary import NO_NODE, RETURN_JOB_ABORTED, EventKind

_MAX_CODE = 1 << 31
_PASSING = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.ESTALE, errno.ETIMEDOUT)
MAX_WHY = 200  # characters, so that a record has room for names
# Why a file is none of ours: no right to read it, a link, a FIFO, a directory.
_OF_OTHERS = (*(errno.EACCES, errno.EPERM, errno.ELOOP), *(errno.EINVAL, errno.EISDIR, errno.ENXIO))
_NESTED = (ValueError, RecursionError)  # what json says of nonsense
TAKEN = "taken"  # beside `out/`, where no job can write
_END = "...\n"
State = tuple[int, ...]  # of a file
# Of what jobs have written, so that it fills no memory and takes no more than some seconds, also if
# a task writes its own into it.
MAX_LINE, MAX_BYTES, MAX_LIVE = 1 << 20, 1 << 24, 1 << 22
MAX_TASKS = 1 << 28
_CLOCKS_DIFFER_S = 2.0  # at most, of machines that have written a file and run a task
_MISSING = 1  # exit code of a task that has ended well, but for an output that is not there


class CollectOrder(NamedTuple):
    """Bring home what a bundle has come to."""

    asked: Collect
    directory: str  # of all bundles of the DAG
    names: Sequence[str]  # of its nodes, as events have them
    stamps: Sequence[bool]  # how times are written


class _Results(NamedTuple):
    """What a results file says: by number of a task, the line of its end; those that have started;
    those that the last run of the runner, or an earlier one before it, has released; and the host
    of each run."""

    ended: Mapping[int, Mapping[str, Any]]
    started: frozenset[int]
    released: frozenset[int]
    hosts: Mapping[int, str]


class Known:
    """What has been answered of a bundle whose job runs."""

    def __init__(self) -> None:
        self.state: State = ()  # that of the file that it was read from
        # tasks of which it was told how long they have taken, before their files are at home
        self.told: set[int] = set()


def collect(order: CollectOrder, known: Known) -> tuple[str, list[float]]:
    """The events of all nodes that have ended, and the record of the bundle's end; and how many
    seconds each has taken of which that was not known.

    Raises:
        OSError: a file can't be read, or put where it belongs.
    """
    home = _Home(order, RESULTS)
    text, took, robbed = home.ended(removed=order.asked.removed)
    seen = home.results if any(home.results) else _Home(order, LIVE).results
    suspects = seen.started - seen.ended.keys() - seen.released | robbed
    names = [name for name, number in home.numbers.items() if number in suspects]
    said = "" if home.results.hosts else _first_words(os.path.join(home.directory, ERRORS))
    reason = f"{order.asked.why}: {said}" if said else order.asked.why
    why = f"{' '.join(reason.split())[:MAX_WHY]}\n{' '.join(names)}"
    text += [*home.released(last=2), home.record(0, why)]
    return "".join(text), [seconds for number, seconds in took.items() if number not in known.told]


def collect_live(order: CollectOrder, known: Known) -> Collected:
    """The same of a bundle whose job runs: with a record of what it does not run any more.

    With file transfer no node has ended before its files are at home: it is only known how long it
    has taken.

    Args:
        known: what was answered last: files that have not changed are not read again, twice a
            second.

    Raises:
        OSError: a file can't be read.
    """
    directory = os.path.join(order.directory, str(order.asked.number))
    head = _first_line(os.path.join(directory, TASKS))
    name = LIVE if head.get("stream") is True else RESULTS
    state = _state(os.path.join(directory, name))
    if state and known.state == state:
        return Collected(order.asked.number, "")
    home = _Home(order, name)
    text, took = home.running() if name == LIVE else home.ended(removed=False)[:2]
    released = list(home.released(last=1))
    if text or released:
        text += released or [home.record(1, "")]
    known.state = state
    new = [seconds for number, seconds in took.items() if number not in known.told]
    if name == LIVE:
        known.told.update(took)
    return Collected(order.asked.number, "".join(text), new, not_home=len(known.told))


def _state(path: str) -> State:
    """What changes when lines are added to a file; empty if there is none.  It is opened, since a
    network file system may tell of one that is not what it was seconds ago."""
    with contextlib.suppress(FileNotFoundError), _opened(path) as file:
        found = os.fstat(file.fileno())
        return found.st_ino, found.st_size, found.st_mtime_ns
    return ()


class _Home:
    """The directory of a bundle, and what is in it; `results` is the name of a file."""

    def __init__(self, order: CollectOrder, results: str) -> None:
        self.order = order
        self.directory = os.path.join(order.directory, str(order.asked.number))
        with contextlib.suppress(FileNotFoundError):
            files.refuse_planted_directory(order.directory)
        self.tasks = _tasks(os.path.join(self.directory, TASKS))
        most = MAX_LIVE if results == LIVE else MAX_BYTES
        self.results = _read(os.path.join(self.directory, results), self.tasks, most)
        self.numbers = _numbers(order.names, self.tasks)
        self.form = StampForm(*order.stamps)
        self.succeeded: set[int] = set()  # tasks that have, as far as `ended` has come
        self._state_of = functools.lru_cache(_changed)  # many nodes may have one description
        # whether files have come home
        self.has_files = any(
            os.path.lexists(os.path.join(self.directory, one)) for one in (OUT, TAKEN)
        )

    def running(self) -> tuple[list[str], dict[int, float]]:
        """No events, and how long the tasks took that have ended."""
        ended = self.results.ended
        return [], {one: _took(ended[one]) for one in self.numbers.values() if one in ended}

    def ended(self, *, removed: bool) -> tuple[list[str], dict[int, float], set[int]]:
        """Events of nodes that have ended, how long their tasks took, and the tasks that were
        robbed; with `removed`, the others have ended, too."""
        order = self.order
        text: list[str] = []
        took: dict[int, float] = {}
        robbed: set[int] = set()
        retries = dict(zip(order.names, order.asked.retries))
        behind = set(order.names[len(order.names) - order.asked.behind :])
        for number, name, end in self._ends():
            left = None if end is None else self._left(number, end)
            if end is not None and left is not None:
                missing = _bring(left, self.tasks[number]) if left else ""
                self._succeeds(number, end, missing)
                took[number] = _took(end)
                limit = _whole(self.tasks[number].get("timeout")), retries[name]
                told = self.results, self.form, missing, *limit
                text.append(_events(order, number, name, end, *told))
            elif removed and (name not in behind or self._has_begun(number)):
                text.append(_removed(order, number, name, self.form))
            elif end is not None:
                robbed.add(number)
        return text, took, robbed

    def _ends(self) -> Iterator[tuple[int, str, Mapping[str, Any] | None]]:
        """Nodes in the order of their tasks, with the number and the end of the task, if that
        counts: those that it has run after must have succeeded."""
        names = {number: name for name, number in self.numbers.items()}
        is_chained = any(task.get("after") for task in self.tasks.values())
        for number in sorted({*names, *(self.results.ended if is_chained else ())}):
            end = self.results.ended.get(number)
            if end is not None and not self._counts(self.tasks[number], end):
                end = None
            if number in names:
                yield number, names[number], end
            elif end is not None:
                self._recall(number, end)

    def _counts(self, task: Mapping[str, Any], end: Mapping[str, Any]) -> bool:
        """Whether a task has begun after all that it was to, as its node's description says."""
        may_begin = self.succeeded.issuperset(_after(task))
        return may_begin and not self._is_described_anew(task, _time(end.get("begun")))

    def _is_described_anew(self, task: Mapping[str, Any], begun: float) -> bool:
        """Whether the description of a node was written since it was read, and before its task has
        begun: those that it runs after may have done so."""
        read = task.get("description")
        if not (isinstance(read, list) and read and _is_text(read[0])):
            return False  # it stands in the DAG file
        state, written = self._state_of(read[0])
        return bool(state) and state != read[1:] and written <= begun + _CLOCKS_DIFFER_S

    def _has_begun(self, number: int) -> bool:
        """Whether a task was running whose turn had come, though the log may not have that yet."""
        started = number in self.results.started
        return started and self.succeeded.issuperset(_after(self.tasks[number]))

    def _recall(self, number: int, end: Mapping[str, Any]) -> None:
        """A task has ended of which the events have been written."""
        left = self._left(number, end)
        if left is not None:
            self._succeeds(number, end, _not_brought(left, self.tasks[number]) if left else "")

    def _succeeds(self, number: int, end: Mapping[str, Any], missing: str) -> None:
        if end.get("timed_out") is not True and _value(end, missing) == 0:
            self.succeeded.add(number)

    def _left(self, number: int, end: Mapping[str, Any]) -> str | None:
        left = _whole(end.get("left"))
        if not self.has_files:
            return None if left > 0 else ""
        return _taken(self.directory, number, left)

    def released(self, last: int) -> Iterator[str]:
        """Records that name the nodes that the job has released; `last` is in the last of them, and
        more in those before."""
        numbers, results = self.numbers, self.results
        released = results.released - results.ended.keys()
        names = (name for name, number in numbers.items() if number in released)
        parts = list(filter(None, parts_of(names, MAX_NAMES)))
        for place, part in enumerate(parts, 1):
            yield self.record(last + len(parts) - place, part)

    def record(self, left: int, text: str) -> str:
        """A record about the bundle; `left` says which."""
        record = AppendJournalRecord("UNBUNDLED", NO_NODE, left, self.order.asked.number, text=text)
        return own_events.record_event(_stamp(time.time(), self.form), "", record)


def _took(end: Mapping[str, Any]) -> float:
    return max(0.0, _time(end.get("time")) - _time(end.get("begun")))


def _first_line(path: str) -> Mapping[str, Any]:
    with contextlib.suppress(FileNotFoundError):
        return next(_objects(path, MAX_TASKS, MAX_TASKS), {})
    return {}


def _taken(directory: str, number: int, left: int) -> str | None:
    """Where what a task has left is from now on, so that it is known later which of it was there;
    None if less is there than it has left, which only another task can have taken away."""
    taken = os.path.join(directory, TAKEN, str(number))
    path = os.path.join(directory, OUT, str(number))
    if not os.path.lexists(taken):
        if len(_entries(path)) < left:
            return None
        with contextlib.suppress(FileNotFoundError):
            os.makedirs(os.path.dirname(taken), exist_ok=True)
            os.rename(path, taken)
    return taken


def _entries(directory: str) -> set[str]:
    is_there = os.path.isdir(directory) and not os.path.islink(directory)
    return set(os.listdir(directory)) if is_there else set()


def _first_words(path: str) -> str:
    """What a runner that could not begin has said."""
    with contextlib.suppress(FileNotFoundError), _opened(path) as file:
        return file.readline(MAX_WHY).decode("utf-8", "replace").strip()
    return ""


def _numbers(names: Sequence[str], tasks: Mapping[int, Mapping[str, Any]]) -> dict[str, int]:
    """By name of a node, the number of its task: the list of tasks tells, as nodes of a bundle may
    have been taken out of the DAG since.  Those that are not in the list have numbers behind it."""
    known = {tasks[number]["name"]: number for number in sorted(tasks)}
    others = count(max(tasks, default=0) + 1)
    return {name: known[name] if name in known else next(others) for name in names}


def forget(directory: str, number: int) -> None:
    """Delete what a bundle has left; nothing below a link that another user has put there."""
    with contextlib.suppress(OSError):
        files.refuse_planted_directory(directory)
        deleted_directories.delete_directory(os.path.join(directory, str(number)))


def _objects(path: str, longest: int, most: int) -> Iterator[dict[str, Any]]:
    """The lines that are objects, in the first `most` bytes; a line that is cut, or nonsense, is
    passed over."""
    with _opened(path) as file:
        left = most
        while left > 0:
            line = file.readline(min(longest, left))
            if not line:
                return
            left -= len(line)
            if not line.startswith(b"{"):
                continue
            with contextlib.suppress(*_NESTED):
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


def _read(path: str, tasks: Mapping[int, object], most: int) -> _Results:
    ended: dict[int, Mapping[str, Any]] = {}
    started: set[int] = set()
    hosts: dict[int, str] = {}
    doubtful: set[int] = set()  # one run has ended it twice: a task has forged a line
    released: set[int] = set()
    newest = -1
    try:
        for line in _objects(path, MAX_LINE, most):
            number, run = _whole(line.get("ended", line.get("started"))), _whole(line.get("run"))
            if number in tasks:
                if "ended" not in line:
                    started.add(number)
                elif run < newest:
                    pass  # of a machine that was lost: the newest run may be running it again
                elif ended.setdefault(number, line) is not line:
                    doubtful |= {number} if ended[number].get("run") == run else set()
            elif run >= 0 and isinstance(line.get("host"), str):
                hosts[run], newest = line["host"], run
            elif run == newest and isinstance(line.get("released"), list):
                released.update(filter(tasks.__contains__, map(_whole, line["released"])))
    except FileNotFoundError:
        pass  # the runner has not begun
    for number in doubtful:
        del ended[number]
    return _Results(ended, frozenset(started | doubtful), frozenset(released), hosts)


def _tasks(path: str) -> dict[int, dict[str, Any]]:
    """The list of tasks, as it was written; empty if it is gone."""
    try:
        return {line["n"]: line for line in _objects(path, MAX_TASKS, MAX_TASKS) if _is_task(line)}
    except FileNotFoundError:
        return {}


def _is_task(line: Mapping[str, Any]) -> bool:
    texts = [line.get(name) for name in ("name", "directory", "output", "error")]
    remaps, outputs = line.get("remaps"), line.get("outputs")
    if isinstance(remaps, dict):
        texts += [*remaps, *remaps.values()]
    if outputs is not None:
        texts += outputs if isinstance(outputs, list) else [None]
    number = _whole(line.get("n"))
    is_placed = number > 0 and all(0 < one < number for one in _after(line))
    return is_placed and isinstance(remaps, dict) and all(map(_is_text, texts))


def _after(line: Mapping[str, Any]) -> list[int]:
    """The tasks that one runs after; something that can't be if that makes no sense."""
    after = line.get("after", [])
    return list(map(_whole, after)) if isinstance(after, list) else [-1]


def _changed(path: str) -> tuple[list[int], float]:
    """What changes when a file is written, and when that was, in seconds since the epoch; empty if
    there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return [], 0.0
    return [found.st_mtime_ns, found.st_size], found.st_mtime


def _is_text(value: object) -> bool:
    return isinstance(value, str) and "\0" not in value


def _bring(left: str, task: Mapping[str, Any]) -> str:
    """Put what a task has left in a directory where it belongs; returns what can't be, in words.

    Raises:
        OSError: what can't be now may be possible later.
    """
    why = ""
    for source, place in _left(left, task):
        try:
            _move(source, os.path.join(task["directory"], place))
        except OSError as error:
            if error.errno in _PASSING:
                raise
            why = why or f"{place}: {error.strerror}"
    return why


def _not_brought(left: str, task: Mapping[str, Any]) -> str:
    """What was not put where it belongs when that was done; '' if that is nothing."""
    paths = (source for source, _ in _left(left, task) if _has_file(source))
    return next(map(os.path.basename, paths), "")


def _has_file(path: str) -> bool:
    """Whether something is there but directories, which stay if others of that name were there."""
    if os.path.isdir(path) and not os.path.islink(path):
        return any(map(_has_file, (entry.path for entry in os.scandir(path))))
    return True


def _left(directory: str, task: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What a task has left, and where it belongs, relative to the task's directory: the machine
    that has run the job must not choose names where the author has."""
    there = _entries(directory)
    for stream, of in zip(STREAMS, ("output", "error")):
        if stream in there and task[of]:
            yield os.path.join(directory, stream), task[of]
    remaps, named = task["remaps"], task.get("outputs")
    for name in sorted(there.difference(STREAMS)) if named is None else named:
        kept = os.path.join(directory, os.path.normpath(f"/{name}").lstrip("/"))
        if os.path.lexists(kept):
            yield kept, remaps.get(name, os.path.basename(name))


def _move(source: str, place: str) -> None:
    """A directory is merged into one that is there."""
    if os.path.isdir(source) and not os.path.islink(source) and os.path.isdir(place):
        for name in os.listdir(source):
            _move(os.path.join(source, name), os.path.join(place, name))
        return
    place = _written_at(place)
    try:
        os.replace(source, place)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        shutil.move(source, place)


def _written_at(place: str) -> str:
    """Where HTCondor writes a file: what a link leads to, which stays one."""
    path = os.path.realpath(place) if os.path.islink(place) else place
    return path if os.path.isfile(path) or not os.path.lexists(path) else place


def _events(
    order: CollectOrder,
    number: int,
    name: str,
    end: Mapping[str, Any],
    results: _Results,
    form: StampForm,
    missing: str,
    limit: int,
    retry: int,
) -> str:
    """The life of a node's task, as HTCondor tells that of a job; with `limit`, in seconds."""
    at = order.asked.cluster, 0, number
    ended = _time(end.get("time"))
    begun = min(_time(end.get("begun"), ended), ended)
    host = results.hosts.get(_whole(end.get("run")), "unknown")
    submit = _submitted(order, number, name, _stamp(begun, form))
    execute = event_head(EventKind.EXECUTE, *at, _stamp(begun, form))
    when = _stamp(ended, form)
    if end.get("timed_out") is True:
        over = _timed_out(order, number, name, when, limit, retry)
    else:
        head = event_head(EventKind.JOB_TERMINATED, *at, when)
        usage = own_events.usage(*(int(_seconds(end.get(name))) for name in ("user", "system")))
        table = _table(end, ended - begun)
        over = f"{head} Job terminated.\n{_how(end, missing)}{usage}{table}{_END}"
        over = _why(order, name, end, missing, when, retry) + over
    return f"{submit}{execute} Job executing on host: <{_host(host)}>\n{_END}{over}"


def _submitted(order: CollectOrder, number: int, name: str, when: str) -> str:
    head = event_head(EventKind.SUBMIT, order.asked.cluster, 0, number, when)
    host = f"<bundle-{order.asked.number}>"
    return f"{head} Job submitted from host: {host}\n    DAG Node: {name}\n{_END}"


def _why(
    order: CollectOrder, name: str, end: Mapping[str, Any], missing: str, when: str, retry: int
) -> str:
    """A record that says why a task has failed, if its exit code does not."""
    what = ""
    if isinstance(end.get("error"), str):
        what = f"it can't be started: {end['error']}"
    elif _code(end) == 0 and missing:
        what = f"its output can't be stored: {missing}"
    elif _code(end) == 0 and end.get("missing"):
        what = _lacking(end["missing"])
    if not what:
        return ""
    job = order.asked.cluster, 0, " ".join(what.split())
    record = AppendJournalRecord("TASK_FAILED", NO_NODE, retry, 0, *job)
    return own_events.record_event(when, name, record)


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


def _timed_out(
    order: CollectOrder, number: int, name: str, when: str, limit: int, retry: int
) -> str:
    """As of a job that DAGMan has removed because of its node's TIMEOUT."""
    what = f"ran for {limit} s (TIMEOUT RUNNING {limit})"
    record = AppendJournalRecord(
        *("TIMED_OUT", NO_NODE, retry, RETURN_JOB_ABORTED), *(order.asked.cluster, 0, what)
    )
    reason = f"Node Timeout: DAG node {name} ({order.asked.cluster}.0.{number}) {what}"
    head = event_head(EventKind.JOB_ABORTED, order.asked.cluster, 0, number, when)
    aborted = f"{head} Job was aborted.\n\t{reason}\n{_END}"
    return own_events.record_event(when, name, record) + aborted


def _removed(order: CollectOrder, number: int, name: str, form: StampForm) -> str:
    now = _stamp(time.time(), form)
    over = event_head(EventKind.JOB_ABORTED, order.asked.cluster, 0, number, now)
    reason = f"{over} Job was aborted.\n\tits bundle was removed\n{_END}"
    return _submitted(order, number, name, now) + reason


def _time(value: object, default: float | None = None) -> float:
    if isinstance(value, (int, float)) and 0 <= value < 1e11:
        return float(value)
    return time.time() if default is None else default


def _host(text: str) -> str:
    return "".join(c if c.isascii() and c.isprintable() and c not in "<>" else "?" for c in text)[
        :200
    ]


def _how(end: Mapping[str, Any], missing: str) -> str:
    value = _value(end, missing)
    return own_events.ending(value) + "\t(0) No core file\n" * (value < 0)


def _value(end: Mapping[str, Any], missing: str) -> int:
    """What the event of a node says: `_code`, or that an output is missing.

    Args:
        missing: an output that could not be put where it belongs.
    """
    code = _code(end)
    return _MISSING if code == 0 and (missing or end.get("missing")) else code


def _code(end: Mapping[str, Any]) -> int:
    """The exit code of a task, or the number of the signal that has ended it, negative."""
    code, signal = _whole(end.get("code")), _whole(end.get("signal"))
    if signal > 0:
        return -signal
    return code if code >= 0 else _MISSING


def _whole(value: object) -> int:
    """A number of a line, from 0; -1 if it is none."""
    return value if type(value) is int and 0 <= value < _MAX_CODE else -1


def _seconds(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) and 0 <= value < 1e9 else 0.0


def _stamp(moment: float, form: StampForm) -> str:
    broken = time.gmtime(moment) if form.utc else time.localtime(moment)
    return own_events.stamp(broken, int(moment % 1 * 1000), form)
