"""The list of tasks of a bundle, and whose turn it is.

This is the first part of the program `runner`, and keeps to what is said there.
"""

import json
import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping
    from typing import Any

WRONG_CALL = 2
DAMAGED = 20
NO_ROOM = 21
STOPPED = 22
UNFIT = 23
LOST = 24
OUT = b"out/"  # where is what tasks have left
MAX_NUMBER = 1 << 31


class Failure(Exception):
    """Why the run can't go on."""

    def __init__(self, code: int, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code  # the exit code of the runner


class Task:
    """A task of the list; names and words are bytes.

    Raises:
        ValueError, TypeError, KeyError, AttributeError, RecursionError: the line is damaged.
    """

    __slots__ = (
        *("after", "arguments", "begun", "choices", "copies", "deadline", "directory"),
        *("environment", "error", "input", "links", "number", "output", "outputs", "program"),
        *("sandboxed", "since", "timed_out", "timeout_s"),
    )

    def __init__(self, line: bytes) -> None:
        of = json.loads(line.decode())
        self.number: int = whole(of["n"])
        # tasks that must have succeeded before it begins
        self.after = [whole(one) for one in listed(of.get("after", []))]
        self.program = encoded(of["program"])
        self.arguments = [encoded(word) for word in listed(of["arguments"])]
        own = of["environment"]
        self.environment = {variable(encoded(name)): encoded(own[name]) for name in own}
        self.directory = encoded(of["directory"])
        self.input = encoded(of["input"])
        self.output = encoded(of["output"])
        self.error = encoded(of["error"])
        self.links: dict[bytes, bytes] = {}  # its inputs: by name, where each of them is
        # its inputs that may be in several places, the best first
        self.choices: dict[bytes, list[bytes]] = {}
        # its inputs that are copies of what others have left: by name, what tells a copy that has
        # been changed
        self.copies: dict[bytes, tuple[int, ...]] = {}
        for source, name in listed(of["inputs"]):
            self._take(below(encoded(name)), source)
        self.sandboxed = of["sandboxed"] != ""
        if self.sandboxed:
            self._take(os.path.basename(self.program), of["sandboxed"])
        outputs = of["outputs"]
        self.outputs = None if outputs is None else [encoded(name) for name in listed(outputs)]
        self.timeout_s = float(of["timeout"])
        self.timed_out = False  # whether it has run for so long

    def begin(self) -> None:
        """It is started now."""
        self.begun = time.time()
        self.since = time.monotonic()  # the other clock may jump
        # when it is to be told to end; 0.0: never
        self.deadline = self.since + self.timeout_s if self.timeout_s > 0 else 0.0

    def _take(self, name: bytes, source: "Any") -> None:
        """An input; the last of those that have the same name counts."""
        self.links.pop(name, None)
        self.choices.pop(name, None)
        if isinstance(source, list):
            self.choices[name] = [checked(encoded(one)) for one in source]
        else:
            self.links[name] = below(encoded(source))

    def runs(self, name: bytes) -> bool:
        """Whether an input is its program."""
        return self.sandboxed and name == os.path.basename(self.program)

    def has_one_stream(self) -> bool:
        """Whether its output and error are one file."""
        if not self.output or not self.error:
            return self.output == self.error
        output, error = (os.path.join(self.directory, name) for name in (self.output, self.error))
        return os.path.normpath(output) == os.path.normpath(error)

    def changes(self, name: bytes) -> bool:
        """Whether an input is, or has in it, one of the outputs that are named."""
        return any(one == name or one.startswith(name + b"/") for one in self.outputs or ())


def whole(value: "Any") -> int:
    """A positive integer of the list; ValueError if it is none."""
    if type(value) is not int or value < 1:
        raise ValueError(f"{value!r} is no positive integer")
    return value


def listed(value: "Any") -> "list[Any]":
    """A list of the list; TypeError if it is none."""
    if not isinstance(value, list):
        raise TypeError(f"{value!r} is no list")
    return value


def encoded(text: str) -> bytes:
    """As the kernel takes it, whatever the locale; ValueError if it can't."""
    found = text.encode("utf-8", "surrogateescape")
    if b"\0" in found:
        raise ValueError("a NUL in a text")
    return found


def variable(name: bytes) -> bytes:
    """The name, if it can be that of a variable of the environment; else ValueError."""
    if not name or b"=" in name:
        raise ValueError(f"{name!r} is no name of a variable")
    return name


def decoded(name: bytes) -> str:
    """As `results` have it."""
    return name.decode("utf-8", "surrogateescape")


def below(name: bytes) -> bytes:
    """The name, if it lies below a directory; else ValueError."""
    if not name or name.startswith(b"/") or b".." in name.split(b"/"):
        raise ValueError(f"{name!r} is not below the task's directory")
    return name


def checked(source: bytes) -> bytes:
    """Where an input may be, below the job's directory; else ValueError."""
    places(below(source))
    return source


def places(source: bytes) -> "list[bytes]":
    """What a source stands for, the last task first: ValueError if that is nothing."""
    tasks, _, name = source[len(OUT) :].partition(b"/")
    first, _, last = tasks.partition(b"-")
    if not (source.startswith(OUT) and last):
        return [source]
    return [b"%s%d/%s" % (OUT, one, name) for one in range(int(last), int(first) - 1, -1)]


class Bundle:
    """The list of tasks, whose numbers rise.

    Raises:
        Failure: it can't be read, or is damaged.
    """

    def __init__(self, path: str) -> None:
        self.parallel = 0  # how many run at a time
        # how long tasks run until those that wait are released; 0: they never are
        self.release_s = self.chain_s = 0.0
        self.streams = False  # whether results go to standard output as well
        self.lines: dict[int, bytes] = {}  # of the tasks, by number
        # by number of a task, those after which it runs, if there are any
        self.after: dict[int, list[int]] = {}
        self._last = 0
        at = 0
        try:
            # A task of an earlier run may have put a FIFO there.
            with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
                for line in file:
                    at += 1
                    self._take(line)
            if not self.parallel:
                raise ValueError("it is empty")
        except OSError as error:
            raise Failure(DAMAGED, f"the list of tasks can't be read: {error}") from None
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            why = f"it has no {error}" if isinstance(error, KeyError) else str(error)
            sentence = f"line {at} of the list of tasks is damaged: {why}"
            raise Failure(DAMAGED, sentence) from None

    def _take(self, line: bytes) -> None:
        if not line.endswith(b"\n"):
            raise ValueError("it is cut")
        if not self.parallel:
            self._take_head(line)
            return
        task = Task(line)
        if task.number <= self._last:
            raise ValueError(f"task {task.number} comes after task {self._last}")
        for one in task.after:
            if one not in self.lines:
                raise ValueError(f"no task {one} comes before task {task.number}")
        if task.after:
            self.after[task.number] = task.after
        self.lines[task.number] = line
        self._last = task.number

    def _take_head(self, line: bytes) -> None:
        head = json.loads(line.decode())
        if head["format"] != 1:
            raise ValueError(f"this runner does not know format {head['format']!r}")
        self.parallel = whole(head["parallel"])
        self.release_s = float(head.get("release", 0))
        # how long one runs until those behind it are released; 0: they never are
        self.chain_s = float(head.get("chain", 0))
        self.streams = head.get("stream") is True


class Told:
    """What the lines of `results` tell of tasks: the runner that goes on with them, and DAGMan.

    Tasks may have written lines of their own into the file: what makes no sense is passed over.
    """

    def __init__(self, tasks: "Container[int]") -> None:
        self._tasks = tasks
        self.ended: dict[int, dict[str, Any]] = {}  # by number of a task, the line of its end
        self.started: set[int] = set()
        self.released: set[int] = set()  # by the run that was the last one then
        self.doubtful: set[int] = set()  # one run has ended it twice: a task has forged a line
        self.hosts: dict[int, str] = {}  # by number of a run
        self.last_run = float("-inf")  # none; a line that names no run is of none
        self.is_cut = False  # whether the last line has no end

    def take(self, line: bytes) -> None:
        """The next line, or a part of one that is very long."""
        is_rest, self.is_cut = self.is_cut, not line.endswith(b"\n")
        if is_rest or not line.startswith(b"{"):
            return
        try:
            record = json.loads(line.decode())
        except (ValueError, RecursionError):
            return
        task, run = natural(record.get("ended", record.get("started"))), natural(record.get("run"))
        if task in self._tasks:
            if "ended" not in record:
                self.started.add(task)
            elif run >= self.last_run:  # else the last run may be running it again elsewhere
                self._end(task, run, record)
        elif run >= 0 and isinstance(record.get("host"), str):
            self.hosts[run], self.last_run = record["host"], run
        elif run == self.last_run and isinstance(record.get("released"), list):
            self.released.update(filter(self._tasks.__contains__, map(natural, record["released"])))

    def _end(self, task: int, run: int, record: "dict[str, Any]") -> None:
        if task in self.doubtful:
            return
        first = self.ended.setdefault(task, record)
        if first is not record and first.get("run") == run:
            del self.ended[task]
            self.doubtful.add(task)
            self.started.add(task)


def natural(value: "Any") -> int:
    """A number of a line, from 0; -1 if it is none."""
    return value if type(value) is int and 0 <= value < MAX_NUMBER else -1


def is_success(record: "Mapping[str, Any]") -> bool:
    """Whether a task that has ended has succeeded, by what its line says."""
    flaws = ("code", "signal", "timed_out", "missing", "error")
    return type(record.get("code")) is int and not any(map(record.get, flaws))


class Turns:
    """Which tasks may begin, and which of them wait for others."""

    def __init__(self, bundle: Bundle, over: "set[int]", succeeded: "set[int]") -> None:
        # the tasks that may begin, the first of them last
        self.ready = [one for one in bundle.lines if not (one in over or one in bundle.after)]
        self.ready.reverse()
        self._behind: dict[int, list[int]] = {}
        self._lacks: dict[int, set[int]] = {}  # by task that waits, those that have not succeeded
        for number in [one for one in bundle.after if one not in over]:
            self._lacks[number] = set(bundle.after[number]) - succeeded
            for one in self._lacks[number]:
                self._behind.setdefault(one, []).append(number)
            self._begins_if_it_may(number)
        # those that wait for one that will not succeed, and are not to be run
        self.futile = self.without(over - succeeded)

    def _begins_if_it_may(self, number: int) -> None:
        if not self._lacks[number]:
            del self._lacks[number]
            self.ready.append(number)
            self.ready.sort(reverse=True)

    def succeeded(self, number: int) -> None:
        """A task has: others may begin."""
        for one in self._behind.pop(number, ()):
            if one in self._lacks:
                self._lacks[one].discard(number)
                self._begins_if_it_may(one)

    def is_awaited(self, number: int) -> bool:
        """Whether there are tasks that wait for it."""
        return any(one in self._lacks for one in self._behind.get(number, ()))

    def without(self, numbers: "Iterable[int]") -> "list[int]":
        """Take out what waits for tasks, and what waits for that; returns it."""
        taken, todo = [], list(numbers)
        while todo:
            for one in self._behind.pop(todo.pop(), ()):
                if self._lacks.pop(one, None) is not None:
                    taken.append(one)
                    todo.append(one)
        return taken

    def without_ready(self) -> "list[int]":
        """Take out those that may begin, and what waits for them; returns it."""
        found = [*self.ready, *self.without(self.ready)]
        self.ready.clear()
        return found
