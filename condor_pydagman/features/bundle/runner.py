#!/bin/sh
""":"
load='
import sys
del sys.argv[0]
lines = [*open(sys.argv[0], encoding="utf-8")]
parts = [0, *(n for n, line in enumerate(lines) if line.startswith("class ")), len(lines)]
for n, end in zip(parts, parts[1:]):
    exec(compile(chr(10) * n + "".join(lines[n:end]), sys.argv[0], "exec"))
'
for python in /usr/bin/python3 /usr/libexec/platform-python; do
    [ -x "$python" ] && exec "$python" -I -S -c "$load" "$0" "$@"
done
python=$(command -v python3) && exec "$python" -I -S -c "$load" "$0" "$@"
echo "The runner of a bundle needs Python 3.6 or newer; there is no python3 on this machine." >&2
mkdir -p out 2>/dev/null; : >> results  # they are to come home, or the job goes on hold
exit 127

The program in the job of a bundle: it runs the tasks of a list, and writes what became of each.

    runner tasks

It is one file, made of this one and `runner_tasks`, that uses the standard library only, and runs
under any Python from 3.6 on, older than what the rest of this package needs: it runs on machines
that nobody prepared.  The lines above are for /bin/sh, which finds a Python: the system's first,
since what is on PATH may be a wrapper, or lie on a slow file system.  If there is none, the exit
code is 127.  Python compiles one class after the other, which takes a megabyte less than all.

It is called in the job's working directory, with the list of tasks (lines of JSON).  `parallel`
tasks run at a time, begun in the order of the list; one that is to run `after` others begins when
all of these have succeeded, in this run or an earlier one.  Each has a process group, directory,
environment and standard streams of its own, and the default dispositions of signals.  What is left
of its group when it ends is killed.  A task that runs for longer than its `timeout` gets SIGTERM,
and SIGKILL two seconds later.

What becomes of tasks is appended to the file `results`, a line of JSON by one write: "started"
before a task begins; "ended" when it has ended and its outputs are where they belong.  If there is
such a file, tasks that have ended are not run again; whatever in it is no such line is ignored.
A task that can't be started has ended with code 126, or 127 if there is no such program, and
"error".  The code of a task that a signal has ended is that signal's number, negative.  "rss" is at
least what the runner itself has: the kernel counts the process that became the task.  "left" is how
many files and directories there are in `out/<n>/`.

If there is `release` in the first line of the list, and all that run have run for so many seconds,
"released" names the tasks that could begin, and those behind them: this job does not run them, now
or later, so that they need not wait for those that run.  What is to run after a task that runs
would wait for it anyhow: it is released when that has run for `chain` seconds.  Released is as well
what is to run after a task that has not succeeded, or was released.  Succeeded has one that ended
with code 0, in time, with all its outputs.

A job that has released tasks since others take long, and starts again where its results are not
known, must not run them: one that is or may have been transferred runs nothing, if it may release.

With `stream` in the first line all lines go to standard output as well, which HTCondor can bring
home while the job runs.  Nothing waits for that: what is not taken is offered again.

The job is transferred if the working directory is HTCondor's scratch directory, else shared.  In a
shared job a task runs in its `directory`.  In a transferred one it runs in `work/<n>/`, with links
to its inputs, or a copy of one that is named as an output, too.  What it leaves is moved to
`out/<n>/`, by the same relative name, and `work/<n>/` is removed.  Outputs that are not there, or
that HTCondor can't transfer (sockets, pipes, links to directories), are named as missing.

An input has one source, or several of which the first counts that is there.  `out/3/x` is what task
3 has left, which is copied, and `out/3-5/x` what the last of three has left.  If there is none, or
several tasks have left parts of a directory, the task is released.

SIGTERM (also SIGINT, SIGHUP) ends the run: all tasks get SIGTERM, and SIGKILL two seconds later.
Those that had ended before have their results; those that had to be stopped have none, and run
again when the runner is called again.

A task can't be kept from changing files of the user, those of other tasks and the results included:
it is a program of the same user.  An input that it changes is changed for all tasks if it is not
named as an output; by default it comes home as one.  A process that a task has put into a group of
its own lives until the job ends.

Exit codes: 0 if all tasks have ended, whatever their codes; 2 if the arguments are wrong; 20 if the
list can't be read or is damaged; 21 if results or outputs can't be stored; 22 if a signal has ended
the run; 23 if this machine lacks what the runner needs, such as room for another process; 24 if the
results of an earlier run are needed and not here.
"""

import errno
import json
import os
import signal
import stat
import sys
import time

from condor_pydagman.features.bundle.runner_tasks import (
    LOST,
    NO_ROOM,
    OUT,
    STOPPED,
    UNFIT,
    WRONG_CALL,
    Bundle,
    Failure,
    Task,
    Told,
    Turns,
    decoded,
    encoded,
    is_success,
    places,
)

TYPE_CHECKING = False  # the standard library's `typing` takes memory, and annotations are strings
if TYPE_CHECKING:
    from collections.abc import Container, Iterator
    from typing import Any

RESULTS = "results"
MAX_RESULT_BYTES = 1 << 20  # a longer line is none of this program's
MAX_MISSING = 100  # names of outputs in a line
MAX_STREAMED = 4096  # bytes by one write to standard output
MAX_NESTED = 5000  # directories; the kernel's limit of paths allows 2,048
GRACE_S = 2.0  # between SIGTERM and SIGKILL
KILLED_S = 1.0  # before the result of a task counts that somebody has killed
REAP_S = 1.0  # until killed processes are gone; one that waits in the kernel stays
PATIENCE_S = 10.0  # for which a full disk or process table is borne
PAUSE_S = 0.25  # before what has failed is tried again
MAX_WAIT_S = 3600.0  # between two looks though nothing has happened
STOPS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
AWAITED = (signal.SIGCHLD, *STOPS)
# Python ignores some; what the job's own parent ignores is not a task's either.
TO_DEFAULT = [one for one in range(1, 32) if one not in (signal.SIGKILL, signal.SIGSTOP)]
FULL = (errno.ENOSPC, errno.EDQUOT)
SHORTAGES = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE)
WRITTEN = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
# What tells a job where its directory is.
PLACES = (b"_CONDOR_SCRATCH_DIR", b"TMPDIR", b"TMP", b"TEMP")
JOBS_DIRECTORY = b"_CONDOR_JOB_IWD"
STREAMS = (b"_stdout", b"_stderr")
NO_PROGRAM, NOT_STARTED = 127, 126  # codes of tasks, as shells have them


class Patience:
    """How long a full disk, or a full table of processes, is borne."""

    def __init__(self) -> None:
        self._until = 0.0

    def wait(self, failure: Failure) -> None:
        """Wait until it can be tried again.

        Raises:
            Failure: the one given, if it has lasted for too long; or the run is to end.
        """
        now = time.monotonic()
        self._until = self._until or now + PATIENCE_S
        if now > self._until:
            raise failure
        if signal.sigtimedwait(STOPS, PAUSE_S) is not None:
            raise stopped()


def stopped() -> Failure:
    """The end of a run by a signal."""
    return Failure(STOPPED, "a signal has ended the run before all tasks had ended")


class Stream:
    """Standard output, which is written as far as it is taken without waiting."""

    def __init__(self) -> None:
        self._left = bytearray()  # what has not been taken

    def write(self, line: bytes) -> None:
        """Add a line."""
        self._left += line
        self.flush()

    def flush(self) -> bool:
        """Offer what is left; returns whether that is all."""
        while self._left:
            try:
                os.set_blocking(1, False)
                del self._left[: os.write(1, self._left[:MAX_STREAMED])]
            except BlockingIOError:
                return False
            except OSError:  # nobody reads it
                self._left.clear()
        return True


class Results:
    """The file of results."""

    def __init__(self, stream: "Stream | None") -> None:
        """Open it, also that of an earlier run.

        Raises:
            Failure: it can't be opened.
        """
        self.stream = stream  # where its lines go as well, if they are wanted there
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
        try:
            self._file = os.open(RESULTS, flags, 0o666)
            if not stat.S_ISREG(os.fstat(self._file).st_mode):
                raise OSError(errno.EINVAL, "it is no file", RESULTS)
        except OSError as error:
            raise Failure(NO_ROOM, f"results can't be written: {error}") from None
        self._before = b""  # what must precede the next line
        # Its path may lead elsewhere later: into the directory of another run's bundle.
        self._directory = os.open(".", os.O_RDONLY)

    def read(self, tasks: "Container[int]") -> Told:
        """What earlier runs have done of these tasks."""
        found = Told(tasks)
        with open(self._file, "rb", closefd=False) as file:
            for line in iter(lambda: file.readline(MAX_RESULT_BYTES), b""):
                if self.stream is not None:
                    self.stream.write(line)
                found.take(line)
        self._before = b"\n" if found.is_cut else b""
        return found

    def write(self, **record: "Any") -> None:
        """Append a line; a full disk is borne for a while.

        Raises:
            Failure: it is not there, or not all of it.
        """
        line = json.dumps(record).encode() + b"\n"
        self._write(line)
        if self.stream is not None:
            self.stream.write(line)

    def _write(self, line: bytes) -> None:
        patience = Patience()
        while True:
            try:
                if os.write(self._file, self._before + line) == len(self._before + line):
                    self._before = b""
                    return
                self._before = b"\n"
                reason = "the disk is full"
            except OSError as error:
                reason = str(error)
            patience.wait(Failure(NO_ROOM, f"results can't be written: {reason}"))

    def put_back(self) -> None:
        """Write the file again if a task has taken it away, or put something in its place."""
        try:
            os.fchdir(self._directory)
        except OSError as error:
            raise Failure(NO_ROOM, f"results can't be written: {error}") from None
        try:
            if os.path.samestat(os.lstat(RESULTS), os.fstat(self._file)):
                return
        except OSError:
            pass
        remove(RESULTS.encode())
        try:
            with open(RESULTS, "xb") as file, open(self._file, "rb", closefd=False) as lines:
                lines.seek(0)
                for part in iter(lambda: lines.read(MAX_RESULT_BYTES), b""):
                    file.write(part)
        except OSError as error:
            raise Failure(NO_ROOM, f"results can't be written: {error}") from None


def spawned(program: bytes, words: "list[bytes]", given: "dict[bytes, bytes]", files: "Any") -> int:
    """The process of a program, in a group of its own, with three open files as its streams.

    Raises:
        OSError: it can't be started.
    """
    if not hasattr(os, "posix_spawn"):
        return _forked(program, words, given, files)
    streams = [(os.POSIX_SPAWN_DUP2, file, number) for number, file in enumerate(files)]
    return os.posix_spawn(
        program,
        words,
        given,
        file_actions=streams,
        setpgroup=0,
        setsigmask=(),
        setsigdef=TO_DEFAULT,
    )


def _forked(program: bytes, words: "list[bytes]", given: "dict[bytes, bytes]", files: "Any") -> int:
    """`spawned` with a Python that can't: the child tells by a pipe why it could not."""
    told, tells = os.pipe()
    try:
        pid = os.fork()
        if pid == 0:
            _become(program, words, given, files, tells)
        os.close(tells)
        tells = -1
        number = int(os.read(told, 16) or b"0")
        if number:
            os.waitpid(pid, 0)
            raise OSError(number, os.strerror(number), program)
        return pid
    finally:
        os.close(told)
        if tells >= 0:
            os.close(tells)


def _become(
    program: bytes, words: "list[bytes]", given: "dict[bytes, bytes]", files: "Any", tells: int
) -> None:
    """Become the program; in the child, which never returns."""
    try:
        os.setpgid(0, 0)
        for number, file in enumerate(files):
            os.dup2(file, number)
        for one in TO_DEFAULT:
            signal.signal(one, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.execve(program, words, given)
    except OSError as error:
        os.write(tells, b"%d" % (error.errno or errno.EIO))
    finally:
        os._exit(127)


def kill(group: int, how: int) -> None:
    """Send a signal to a process group, as far as that can be done."""
    attempt(os.killpg, group, how)


def remove(path: bytes) -> None:
    """Remove a file, or a directory with all that is in it, as far as that can be done."""
    try:
        os.unlink(path)
    except OSError:
        if os.path.isdir(path) and not os.path.islink(path):
            for entry in entries(path):
                remove(entry.path)
            attempt(os.rmdir, path)


def entries(path: bytes) -> "list[os.DirEntry[bytes]]":
    """What is in a directory, which its owner may change from now on; nothing if it can't be."""
    try:
        mode = os.lstat(path).st_mode
        if not stat.S_ISDIR(mode):
            return []
        if mode & 0o700 != 0o700:
            os.chmod(path, stat.S_IMODE(mode) | 0o700)
        return list(os.scandir(path))
    except OSError:
        return []


def attempt(function: "Any", *arguments: "Any") -> None:
    """Do what may fail."""
    try:
        function(*arguments)
    except OSError:
        pass


def copy(source: bytes, target: bytes) -> None:
    """Copy a file, or a directory with all that is in it."""
    import shutil  # few tasks need it

    if os.path.isdir(source):
        shutil.copytree(source, target, symlinks=True)  # type: ignore[type-var, arg-type]
    else:
        shutil.copy2(source, target)


def link(source: bytes, target: bytes) -> None:
    """Link a file or directory.

    A file by a hard link: a script finds its neighbours by where it is, and to make and remove many
    files is slow in some file systems.
    """
    try:
        os.link(source, target)
    except OSError:
        os.symlink(source, target)


def made_fit(path: bytes, within: bytes) -> "list[bytes]":
    """Make a file or directory one that HTCondor can transfer; returns the paths of what can't be,
    which is removed.

    A link to a directory, a file that can't be read and a directory that can't be written would put
    the whole job on hold; pipes, sockets and links to nothing would not come home.

    Args:
        within: where links may lead to what will not be there any more.
    """
    mode = os.lstat(path).st_mode
    if stat.S_ISDIR(mode):
        return [one for entry in entries(path) for one in made_fit(entry.path, within)]
    if stat.S_ISREG(mode):
        if not mode & 0o400:
            os.chmod(path, stat.S_IMODE(mode) | 0o400)
        return []
    if stat.S_ISLNK(mode) and os.path.isfile(path):
        leads_to = os.path.realpath(path)
        if leads_to.startswith(within):
            os.unlink(path)
            os.link(leads_to, path)
        return []
    os.unlink(path)
    return [path]


def brought(source: bytes, work: bytes, out: bytes, kept: bytes) -> bool:
    """Whether an output that is outside of the task's directory could be copied."""
    if source == work or source.startswith(work + b"/"):
        return False
    try:
        os.makedirs(os.path.dirname(os.path.join(out, kept)), exist_ok=True)
        copy(source, os.path.join(out, kept))
    except OSError as error:
        if error.errno in FULL:
            raise
        return False
    return True


def state_of(found: os.stat_result) -> "tuple[int, ...]":
    """What tells a file that has been changed from what it was."""
    return found.st_ino, found.st_mtime_ns, found.st_size


class Sandbox:
    """The scratch directory of a transferred job: what tasks find there, and what they leave."""

    def __init__(self, path: bytes) -> None:
        self.path = path
        self._states: dict[bytes, tuple[int, ...]] = {}  # of files that tasks have links to
        for name in (b"work", b"out"):
            os.makedirs(os.path.join(path, name), exist_ok=True)

    def work(self, task: Task) -> bytes:
        """The directory of a task; in the end it becomes that of what it leaves, `out`."""
        return b"%s/work/%d" % (self.path, task.number)

    def out(self, task: Task) -> bytes:
        """The directory of what it leaves, if that is anything."""
        return b"%s/out/%d" % (self.path, task.number)

    def streams(self, task: Task) -> "tuple[bytes, bytes, bytes]":
        """The files that are its standard streams while it runs; empty for none."""
        work = self.work(task)
        output = work + STREAMS[0] if task.output else b""
        error = work + STREAMS[1] if task.error else b""
        if task.has_one_stream():
            error = output
        return os.path.basename(task.input), output, error

    def chooses(self, task: Task) -> bool:
        """Find its inputs that may be in several places; returns whether all are there."""
        for name, sources in task.choices.items():
            there = (place for source in sources for place in places(source) if self._has(place))
            found = next(there, None)
            if found is None or (self._has(found + b"/.") and next(there, None) is not None):
                return False  # of a directory others have left parts as well
            task.links[name] = found
        return True

    def _has(self, place: bytes) -> bool:
        return os.path.exists(os.path.join(self.path, place))

    def prepare(self, task: Task) -> None:
        """Make its directory, with its inputs; nothing is left of an earlier attempt."""
        work, out = self.work(task), self.out(task)
        if os.path.lexists(out):
            remove(out)
        try:
            os.mkdir(work)
        except FileExistsError:
            remove(work)
            os.mkdir(work)
        for name, source in task.links.items():
            if b"/" in name:
                os.makedirs(os.path.join(work, os.path.dirname(name)), exist_ok=True)
            path, target = os.path.join(self.path, source), os.path.join(work, name)
            if source.startswith(OUT):  # what a task has left stays as it is
                copy(path, target)
                task.copies[name] = self._state(target, runs=task.runs(name))
                continue
            if source not in self._states:
                self._states[source] = self._state(path, runs=task.runs(name))
            bring = copy if task.changes(name) else link
            bring(path, target)

    @staticmethod
    def _state(path: bytes, runs: bool) -> "tuple[int, ...]":
        """`state_of` a file; one that is a program can be run from now on."""
        try:
            found = os.stat(path)
            mode = stat.S_IMODE(found.st_mode)
            if runs and not mode & 0o100:
                os.chmod(path, mode | (mode & 0o444) >> 2 | 0o100)
            return state_of(found)
        except OSError:
            return ()  # to start the task tells why

    def collect(self, task: Task) -> "list[str]":
        """Bring what the task has left where it belongs; returns what is missing.

        Raises:
            OSError: it can't be done now.
        """
        work, out = self.work(task), self.out(task)
        outputs = {os.path.normpath(b"/" + name).lstrip(b"/"): name for name in task.outputs or ()}
        unfit: list[bytes] = []
        for path in self._sifted(work, b"", task, outputs, unfit):
            remove(path)
        try:
            os.rename(work, out + b"/")
        except (FileNotFoundError, NotADirectoryError):  # it has removed its directory
            remove(work)
            os.makedirs(out, exist_ok=True)
        streams = [path for path in self.streams(task)[1:] if path]
        for path in streams:
            if os.path.lexists(path):
                os.rename(path, out + b"/" + path[len(work) :])
        missing = [
            name
            for kept, name in outputs.items()
            if not (kept and os.path.lexists(os.path.join(out, kept)))
            and not brought(os.path.normpath(os.path.join(work, name)), work, out, kept)
        ]
        if not streams:
            attempt(os.rmdir, out)  # nothing may be left
        return [decoded(name) for name in (missing + unfit)[:MAX_MISSING]]

    def left(self, task: Task) -> int:
        """How many files and directories it has left: others may take them away."""
        try:
            return len(os.listdir(self.out(task)))
        except OSError:
            return 0

    def _sifted(
        self, path: bytes, before: bytes, task: Task, outputs: "Any", unfit: "list[bytes]"
    ) -> "list[bytes]":
        """Make what is to be kept of a directory fit to be transferred; returns all else.

        Args:
            before: what precedes the names of what is in it, in those of outputs.
            unfit: to which the names of what can't be made so are added.
        """
        rest = []
        for entry in entries(path):
            name = before + entry.name
            if self._is_kept(entry, name, task, outputs):
                gone = made_fit(entry.path, self.path)
                unfit += [before + one[len(path) + 1 :] for one in gone if one != entry.path]
            elif any(one.startswith(name + b"/") for one in outputs):
                rest += self._sifted(entry.path, name + b"/", task, outputs, unfit)
            else:
                rest.append(entry.path)
        return rest

    def _is_kept(
        self, entry: "os.DirEntry[bytes]", name: bytes, task: Task, outputs: "Any"
    ) -> bool:
        """Whether a file is an output: HTCondor's default is all that are new or changed."""
        if name in STREAMS:
            return False  # the names are taken
        if task.outputs is not None:
            return name in outputs
        source = task.links.get(name)
        if source is None:
            return entry.is_file()
        if entry.is_symlink() or not entry.is_file():
            return False
        state = state_of(entry.stat())
        if name in task.copies:
            return state != task.copies[name]
        before = self._states[source]
        if state != before and state[:1] == before[:1]:  # changed for all; this is what it is now
            made_fit(entry.path, self.path)
            copy(entry.path, entry.path + b".own")
            os.rename(entry.path + b".own", entry.path)
            self._states[source] = state
        return state != before


class Runner:
    """A run of the tasks that have no result yet."""

    def __init__(self, bundle: Bundle) -> None:
        """Read the results of earlier runs, and see what kind of run this is.

        Raises:
            Failure: results can't be written.
        """
        self.bundle = bundle
        self.results = Results(Stream() if bundle.streams else None)
        told = self.results.read(bundle.lines)
        self.last_run = told.last_run
        succeeded = {number for number, line in told.ended.items() if is_success(line)}
        over = {*told.ended, *told.doubtful, *told.released}
        self.turns = Turns(bundle, over, succeeded - told.released)
        self.running: dict[int, Task] = {}  # by process
        self.announced = 0  # the task of which "started" was written last
        self.patience = Patience()
        self.nothing = null_device()
        self.environment = dict(os.environb)
        self.number = job_starts(self.environment.get(b"_CONDOR_JOB_AD", b""))
        scratch = self.environment.get(b"_CONDOR_SCRATCH_DIR", b"")
        self.sandbox = Sandbox(os.getcwdb()) if is_here(scratch) else None
        there = [name for name in PLACES if self.sandbox and self.environment.get(name) == scratch]
        self.places = there + [JOBS_DIRECTORY] * (JOBS_DIRECTORY in self.environment)

    def run(self) -> None:
        """Run them.

        Raises:
            Failure: they have not all ended.
        """
        may_know = self.last_run == self.number - 1
        is_elsewhere = self.sandbox or self.bundle.streams  # or an earlier run was, perhaps
        if is_elsewhere and self.bundle.release_s and self.number and not may_know:
            raise Failure(LOST, "what ended before the job was started again is not known here")
        self.results.write(run=self.number, host=os.uname().nodename, time=time.time())
        try:
            self.write_released(self.turns.futile)
            while self.turns.ready or self.running:
                self.wait(self.limit() if self.start_some() else PAUSE_S)
            self.results.write(handled=len(self.bundle.lines), time=time.time())
        finally:
            self.stop()
            self.results.put_back()

    def start_some(self) -> bool:
        """Start as many as may run now; False if one can't be started yet."""
        ready = self.turns.ready
        while ready and len(self.running) < self.bundle.parallel:
            number = ready.pop()
            if not self.start(Task(self.bundle.lines[number])):
                ready.append(number)
                return False
        return True

    def start(self, task: Task) -> bool:
        """Start a task; False if this machine can't start any now.

        That it starts is written before: it may end this program.

        Raises:
            Failure: the machine could not for a while, and no task runs that would end.
        """
        if self.sandbox and not self.sandbox.chooses(task):
            self.write_released([task.number, *self.turns.without([task.number])])
            return True
        task.begin()
        if task.number != self.announced:
            self.results.write(started=task.number, run=self.number, time=task.begun)
            self.announced = task.number
        try:
            process = self.spawn(task)
        except OSError as error:
            if error.errno in SHORTAGES or (self.sandbox and error.errno in FULL):
                if not self.running:
                    self.patience.wait(Failure(UNFIT, f"no task can be started: {error}"))
                return False
            self.write_unstarted(task, error)
            return True
        self.patience = Patience()
        self.running[process] = task
        return True

    def spawn(self, task: Task) -> int:
        """The process of a task, in its directory.

        Raises:
            OSError: it can't be started.
        """
        directory, program = task.directory, task.program
        streams = task.input, task.output, task.error
        if self.sandbox:
            self.sandbox.prepare(task)
            directory = self.sandbox.work(task)
            streams = self.sandbox.streams(task)
            if task.sandboxed:
                program = os.path.join(directory, os.path.basename(program))
        os.chdir(directory)
        given = dict(self.environment)
        for name in self.places:
            given[name] = directory
        given.update(task.environment)
        files: list[int] = []
        try:
            for path, flags in zip(streams, (os.O_RDONLY, WRITTEN, WRITTEN)):
                files.append(opened(path, flags) if path else self.nothing)
                if len(files) == 2 and task.has_one_stream():
                    files.append(files[1])
                    break
            return spawned(program, [program, *task.arguments], given, files)
        finally:
            for file in {*files} - {self.nothing}:
                os.close(file)

    def limit(self) -> float:
        """Seconds until a task has run for too long, others are released, or results are offered
        again."""
        limits = [one.deadline for one in self.running.values() if one.deadline]
        limits += [at for at, _ in self.releases()]
        if self.results.stream is not None and not self.results.stream.flush():
            limits.append(time.monotonic() + PAUSE_S)
        return max(0.0, min(limits) - time.monotonic()) if limits else MAX_WAIT_S

    def wait(self, limit_s: float) -> None:
        """Wait until a task has ended, or for so long; then do what there is to do.

        All signals that mean something are blocked, and taken here: none is lost, whatever this
        program does meanwhile.

        Raises:
            Failure: the run is to end.
        """
        if not self.running and not self.turns.ready:
            return
        taken = signal.sigtimedwait(AWAITED, limit_s)
        stops = taken is not None and taken.si_signo in STOPS
        lost = False
        for one, status, usage in self.reaped():
            if self.is_lost(one, status, stops):
                lost = True
            else:
                self.write_ended(one, status, usage)
        if lost or (stops and (self.running or self.turns.ready)):
            raise stopped()
        now = time.monotonic()
        for process, one in self.running.items():
            if one.deadline and one.deadline <= now:
                kill(process, signal.SIGKILL if one.timed_out else signal.SIGTERM)
                one.deadline = 0.0 if one.timed_out else now + GRACE_S
                one.timed_out = True
        self.release(now)

    def releases(self) -> "Iterator[tuple[float, int]]":
        """When those are released that may begin (0), and those that wait for a task that runs."""
        running, bundle = self.running.values(), self.bundle
        if self.turns.ready and bundle.release_s and len(running) == bundle.parallel:
            yield max(one.since for one in running) + bundle.release_s, 0
        for one in running if bundle.chain_s else ():
            if self.turns.is_awaited(one.number):
                yield one.since + bundle.chain_s, one.number

    def release(self, now: float) -> None:
        """Release the tasks that wait, if those that run have run for long."""
        due = [number for at, number in self.releases() if at <= now]
        found = self.turns.without_ready() if 0 in due else []
        self.write_released(found + self.turns.without(due))

    def write_released(self, numbers: "list[int]") -> None:
        """Write which tasks this job does not run."""
        if numbers:
            self.results.write(released=sorted(numbers), run=self.number, time=time.time())

    def reaped(self) -> "Iterator[tuple[Task, int, Any]]":
        """The tasks that have ended, with their exit status and usage.

        Its group is killed while a task is a zombie, so that its number can't be another's.
        """
        while self.running:
            found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if found is None:
                return
            kill(found.si_pid, signal.SIGKILL)
            process, status, usage = os.wait4(found.si_pid, 0)
            one = self.running.pop(process, None)
            if one is not None:  # a wrapper that became this program may have had children
                yield one, status, usage

    @staticmethod
    def is_lost(one: Task, status: int, stops: bool) -> bool:
        """Whether a task has no result, since who has killed it ends this program as well.

        The starter does so when the machine is taken away; it may kill this program next.

        Args:
            stops: whether this program has been told to stop.
        """
        was_killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        if not was_killed or one.timed_out:
            return False
        return stops or signal.sigtimedwait(STOPS, KILLED_S) is not None

    def write_ended(self, one: Task, status: int, usage: "Any") -> None:
        """Bring in what a task has left, and write that it has ended."""
        if os.WIFSIGNALED(status):
            self._write_end(one, -os.WTERMSIG(status), os.WTERMSIG(status), usage)
        else:
            self._write_end(one, os.WEXITSTATUS(status), 0, usage)

    def write_unstarted(self, one: Task, error: OSError) -> None:
        """Write that a task could not be started."""
        words, code = str(error), NOT_STARTED
        if isinstance(error.filename, bytes):
            words = f"{decoded(error.filename)}: {error.strerror}"
            of_program = os.path.basename(error.filename) == os.path.basename(one.program)
            if error.errno in (errno.ENOENT, errno.ENOTDIR) and of_program:
                code = NO_PROGRAM
        self._write_end(one, code, 0, (0.0, 0.0, 0), error=words)

    def _write_end(self, one: Task, code: int, by: int, usage: "Any", **more: "Any") -> None:
        number, ended = one.number, one.begun + time.monotonic() - one.since
        missing = self.collected(one)
        if self.sandbox:
            more["left"] = self.sandbox.left(one)
        when = {"run": self.number, "time": ended, "begun": one.begun}
        how = {"code": code, "signal": by, "timed_out": one.timed_out, "missing": missing}
        used = dict(zip(("user", "system", "rss"), usage))
        record = {"ended": number, **when, **how, **used, **more}
        self.results.write(**record)
        if is_success(record):
            self.turns.succeeded(number)
        else:
            self.write_released(self.turns.without([number]))

    def collected(self, task: Task) -> "list[str]":
        """Bring in what a task has left; returns what is missing."""
        patience = Patience()
        while self.sandbox:
            try:
                return self.sandbox.collect(task)
            except OSError as error:
                patience.wait(Failure(NO_ROOM, f"outputs can't be stored: {error}"))
        return []

    def stop(self) -> None:
        """Stop what runs, without a result."""
        for how, seconds in ((signal.SIGTERM, GRACE_S), (signal.SIGKILL, REAP_S)):
            for process in self.running:
                kill(process, how)
            until = time.monotonic() + seconds
            while self.running and time.monotonic() < until:
                signal.sigtimedwait((signal.SIGCHLD,), max(0.0, until - time.monotonic()))
                for _ in self.reaped():
                    pass


def opened(path: bytes, flags: int) -> int:
    """A file as a stream; a pipe without anybody at its other end keeps nobody waiting."""
    file = os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY, 0o666)
    os.set_blocking(file, True)
    return file


def null_device() -> int:
    """An open /dev/null that is none of the three standard streams, which are open then, too."""
    file = os.open(os.devnull, os.O_RDWR)
    while file <= 2:
        file = os.open(os.devnull, os.O_RDWR)
    return file


def is_here(path: bytes) -> bool:
    """Whether a directory is the working directory."""
    try:
        return os.path.samestat(os.stat(path), os.stat("."))
    except OSError:
        return False


def job_starts(path: bytes) -> int:
    """How often HTCondor has started the job, as the job's ad tells; 0 if it doesn't."""
    try:
        with open(path, "rb") as file:
            for line in file:
                name, _, value = line.partition(b"=")
                if name.strip().lower() == b"numjobstarts":
                    return int(value)
    except (OSError, ValueError):
        pass
    return 0


def main(words: "list[str]") -> int:
    """Run the tasks of a list; returns the exit code."""
    try:
        if len(words) != 1:
            raise Failure(WRONG_CALL, "usage: runner LIST_OF_TASKS")
        if not hasattr(signal, "sigtimedwait"):
            raise Failure(UNFIT, "this system has no sigtimedwait()")
        signal.pthread_sigmask(signal.SIG_BLOCK, AWAITED)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # ignored, it would lose exit codes
        sys.setrecursionlimit(MAX_NESTED)
        Runner(Bundle(words[0])).run()
    except Failure as failure:
        # At once: what can't be written is no other exit code.
        attempt(os.write, 2, encoded(f"The runner of a bundle: {failure}\n"))
        return failure.code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
