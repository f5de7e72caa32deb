"""Brings the faults of a plan into this process, which is to become our condor_dagman.

What is wrapped: the Performer's table of actions, a few methods that are the steps of a start and
of an end, `Schedd.submit` of the bindings, and the functions of `os` that the adapters write files
with.  The wrapped ones do what they did, unless a fault is due.
"""

from __future__ import annotations

import fcntl
import functools
import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import htcondor2

from condor_pydagman.adapters.files import LockFile
from condor_pydagman.adapters.joblog import NodesLog
from condor_pydagman.adapters.script_runner import ScriptRunner
from condor_pydagman.cli import dagman
from condor_pydagman.daemon import initialize, startup
from condor_pydagman.daemon.loop import Loop
from condor_pydagman.daemon.perform import Performer
from condor_pydagman.engine.actions import Ask
from condor_pydagman.features.sites.adapters.claims_directory import ClaimsDirectory
from tests.torture import faults

# Points of the processes that submit, and look for sites, for DAGMan.
_OF_HELPERS = (faults.SUBMIT_CALL, faults.SUBMIT_REPLY, faults.CLAIMING, faults.CLAIMED)
_WRITES = os.O_WRONLY | os.O_RDWR

_open, _write, _fsync, _close = os.open, os.write, os.fsync, os.close


def prepare() -> None:
    """Let what the plan of the working directory says happen to this process."""
    directory = os.getcwd()
    plan = faults.read_plan(directory)
    if plan:
        _Injector(directory, plan).wrap_all()


class _Injector:
    def __init__(self, directory: str, plan: list[faults.Fault]) -> None:
        self._directory, self._plan = directory, plan
        self._fired = os.path.join(directory, faults.FIRED)
        self._note(faults.Fired(-1, time.time(), os.getpid(), faults.START))
        self._schedule = faults.FaultSchedule(plan, faults.fired(directory))
        self._files: dict[int, str] = {1: "lib.out", 2: "lib.err"}
        self._failing: dict[int, str] = {}  # descriptors whose next write fails
        self._action = self._record = ""
        self._owner = os.getpid()  # a child of ours may fork off before it becomes another program
        self._helper = 0  # a process that asks the schedd, or looks for sites, for it

    def _note(self, entry: faults.Fired) -> None:
        fd = _open(self._fired, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        _write(fd, "{} {:.3f} {} {}\n".format(*entry).encode())
        _fsync(fd)
        _close(fd)

    def at(self, point: str) -> str:
        """The process comes to a point: it dies, or goes on with what goes wrong ('' nothing)."""
        if os.getpid() != self._owner:
            return self._at_helper(point) if point in _OF_HELPERS else ""
        effect, entry = self._schedule.reach(point, time.time())
        if entry is not None:
            self._note(entry)
        if effect == faults.KILL:
            os.kill(os.getpid(), signal.SIGKILL)
        return effect

    def _at_helper(self, point: str) -> str:
        """A process that works for DAGMan comes to a point; it is DAGMan that dies there."""
        if os.getppid() != self._owner:
            return ""
        if self._helper != os.getpid():  # what was done for DAGMan's process before this one?
            self._helper = os.getpid()
            self._schedule = faults.FaultSchedule(self._plan, faults.fired(self._directory))
        effect, entry = self._schedule.reach(point, time.time())
        if entry is not None:
            self._note(entry)
        if effect == faults.KILL:
            os.kill(self._owner, signal.SIGKILL)
            time.sleep(60)  # the kernel kills this one with it
        return effect

    def fail(self, point: str, path: object = None) -> None:
        """The process comes to a point where an operation of the system may fail."""
        wrong = self.at(point)
        if wrong:
            raise faults.os_error(wrong, path)

    def wrap_all(self) -> None:
        self._wrap_actions()
        self._wrap_steps()
        self._wrap_submit()
        self._step(ClaimsDirectory, "write", before=faults.CLAIMING, after=faults.CLAIMED)
        self._wrap_scripts()
        self._wrap_descriptors()
        self._wrap_names()
        for name, fd in (("stdout", 1), ("stderr", 2)):
            raw = _Raw(self, fd, closefd=False)
            setattr(sys, name, io.TextIOWrapper(io.BufferedWriter(raw), errors="replace"))

    # What DAGMan does

    def _wrap_actions(self) -> None:
        make = Performer.__init__

        @functools.wraps(make)
        def init(performer: Performer, *words: Any, **named: Any) -> None:
            make(performer, *words, **named)
            for kind, effect in performer._do.items():
                performer._do[kind] = self._around(effect)

        _put(Performer, "__init__", init)

    def _around(self, effect: Callable[[Any], None]) -> Callable[[Any], None]:
        def do(action: Any) -> None:
            name = type(action.request if isinstance(action, Ask) else action).__name__
            record = getattr(action, "record", None)
            self._record = record if record is not None else ""
            self._step_of_group("before")
            self.at(f"before {name}")
            self._action = name
            effect(action)
            self._action = ""
            self.at(f"after {name}")
            self._step_of_group("after")

        return do

    def _step_of_group(self, when: str) -> None:
        if self._record in faults.SITE_RECORDS:
            self.at(f"{when} {self._record}")

    def _wrap_steps(self) -> None:
        self._step(initialize, "open_log", after="start: log opened")
        self._step(initialize, "configure", after="start: knobs read")
        self._step(startup, "read_dag", after="start: DAG read")
        self._step(LockFile, "acquire", after="start: lock taken")
        self._step(NodesLog, "open", after="start: nodes log opened")
        self._step(LockFile, "write", after="start: lock written")
        self._step(Loop, "run_to_end", before="start: loop begins")
        self._step(Performer, "_listed", after="start: queue asked")
        self._step(LockFile, "remove", before="end: lock about to go", after="end: lock gone")
        self._step(dagman, "main", after="end: leaving")
        whole = NodesLog.to_end

        @functools.wraps(whole)
        def to_end(log: NodesLog) -> Iterator[Any]:
            yield from whole(log)
            self.at("start: log replayed")

        _put(NodesLog, "to_end", to_end)

    def _step(self, where: Any, name: str, *, before: str = "", after: str = "") -> None:
        step = getattr(where, name)

        @functools.wraps(step)
        def do(*words: Any, **named: Any) -> Any:
            if before:
                self.at(before)
            result = step(*words, **named)
            if after:
                self.at(after)
            return result

        setattr(where, name, do)

    def _wrap_submit(self) -> None:
        submit = htcondor2.Schedd.submit

        @functools.wraps(submit)
        def do(schedd: Any, *words: Any, **named: Any) -> Any:
            if self.at(faults.SUBMIT_CALL):
                raise htcondor2.HTCondorException("Failed to connect to schedd. (torture)")
            result = submit(schedd, *words, **named)
            if self.at(faults.SUBMIT_REPLY):
                raise htcondor2.HTCondorException("The connection was closed. (torture)")
            return result

        _put(htcondor2.Schedd, "submit", do)

    def _wrap_scripts(self) -> None:
        at, ended = self.at, ScriptRunner.ended

        class Popen(subprocess.Popen):  # type: ignore[type-arg]
            def __init__(self, *words: Any, **named: Any) -> None:
                super().__init__(*words, **named)
                at("script: forked")

        @functools.wraps(ended)
        def do(runner: ScriptRunner) -> Any:
            answers = ended(runner)
            if answers:
                at("script: ended")
            return answers

        _put(subprocess, "Popen", Popen)
        _put(ScriptRunner, "ended", do)

    # Files

    def _wrap_descriptors(self) -> None:
        for name in ("close", "fdopen", "write", "pwrite", "pread", "fsync", "fdatasync"):
            setattr(os, name, functools.partial(getattr(self, f"_{name}"), getattr(os, name)))
        for where, name, operation in (
            (os, "ftruncate", "truncate"),
            (fcntl, "lockf", "lock"),
        ):
            setattr(where, name, functools.partial(self._by_fd, getattr(where, name), operation))

    def _wrap_names(self) -> None:
        os.open = functools.partial(self._open, os.open)
        os.replace = functools.partial(self._replace, os.replace)
        for name, operation in (("unlink", "unlink"), ("mkdir", "mkdir")):
            setattr(os, name, functools.partial(self._by_name, getattr(os, name), operation))

    def _open(self, real: Any, path: Any, flags: int, *rest: Any, **named: Any) -> int:
        file = ""
        if flags & _WRITES and isinstance(path, str):
            temporary = getattr(os, "O_TMPFILE", 0)
            nameless = temporary and flags & temporary == temporary
            file = "script's output" if nameless else faults.file_of(path)
        if file:
            self.fail(f"{file}: open", path)
        fd: int = real(path, flags, *rest, **named)
        self._failing.pop(fd, None)
        self._files.pop(fd, None)
        if file:
            self._files[fd] = file
        return fd

    def _close(self, real: Any, fd: int) -> None:
        self._files.pop(fd, None)
        real(fd)

    def _fdopen(self, real: Any, fd: int, mode: str = "r", *rest: Any, **named: Any) -> Any:
        if mode != "w" or fd not in self._files:
            return real(fd, mode, *rest, **named)
        return io.TextIOWrapper(io.BufferedWriter(_Raw(self, fd)), **named)

    def _write(self, real: Any, fd: int, data: Any) -> int:
        file = self._files.get(fd)
        if file is None:
            return int(real(fd, data))
        pending = self._failing.pop(fd, "")
        if pending:
            raise faults.os_error(pending)
        self.fail(f"{file}: write")
        points = [f"{file}: short", f"{file}: torn"]
        if file == "nodes log" and self._action in faults.APPENDS:
            points.append(f"half {self._action}")
            points += [f"half {self._record}"] * (self._record in faults.SITE_RECORDS)
        return self._half(real, fd, data, points)

    def _half(self, real: Any, fd: int, data: Any, points: list[str]) -> int:
        """Write, if need be only the first half: what is to die then must have written it."""
        half = bytes(data)[: len(data) // 2]
        for point in points:
            due = self._schedule.would(point, time.time())
            if due and half:
                written = int(real(fd, half))
                wrong = self.at(point)
                if point.endswith(": torn"):
                    raise faults.os_error(wrong)
                self._failing[fd] = wrong
                return written
            self.at(point)
        return int(real(fd, data))

    def _pwrite(self, real: Any, fd: int, data: Any, offset: int) -> int:
        file = self._files.get(fd)
        if file is not None:
            self.fail(f"{file}: write")
            if self._schedule.would(f"{file}: torn", time.time()):
                real(fd, data[: len(data) // 2], offset)
            self.fail(f"{file}: torn")
        return int(real(fd, data, offset))

    def _pread(self, real: Any, fd: int, *rest: Any) -> bytes:
        if self._files.get(fd) == "nodes log":
            self.fail("nodes log: read")
        return bytes(real(fd, *rest))

    def _fsync(self, real: Any, fd: int) -> None:
        self._by_fd(real, "fsync", fd)

    def _fdatasync(self, real: Any, fd: int) -> None:
        if self._files.get(fd) == "nodes log" and self._action in faults.APPENDS:
            self.at(f"unsynced {self._action}")
        self._by_fd(real, "fsync", fd)

    def _by_fd(self, real: Any, operation: str, fd: int, *rest: Any) -> Any:
        file = self._files.get(fd, "")
        if f"{file}: {operation}" in faults.POINTS:
            self.fail(f"{file}: {operation}")
        return real(fd, *rest)

    def _by_name(self, real: Any, operation: str, path: Any, *rest: Any, **named: Any) -> Any:
        file = faults.file_of(path) if isinstance(path, str) else ""
        if f"{file}: {operation}" in faults.POINTS:
            self.fail(f"{file}: {operation}", path)
        return real(path, *rest, **named)

    def _replace(self, real: Any, old: Any, new: Any, **named: Any) -> None:
        file = faults.file_of(new) if isinstance(new, str) else ""
        known = f"{file}: rename" in faults.POINTS
        if known:
            self.fail(f"{file}: rename", new)
        real(old, new, **named)
        if known:
            self.at(f"{file}: renamed")


class _Raw(io.FileIO):
    """A descriptor whose writes may fail; what is buffered above it behaves as it does then."""

    def __init__(self, injector: _Injector, fd: int, *, closefd: bool = True) -> None:
        super().__init__(fd, "wb", closefd=closefd)
        self._injector = injector

    def write(self, data: Any) -> int:
        def real(_: int, some: Any) -> int | None:
            return super(_Raw, self).write(some)

        return self._injector._write(real, self.fileno(), data)

    def close(self) -> None:
        if not self.closed:
            if self.closefd:
                self._injector._files.pop(self.fileno(), None)
            super().close()


def _put(where: Any, name: str, value: Any) -> None:
    setattr(where, name, value)
