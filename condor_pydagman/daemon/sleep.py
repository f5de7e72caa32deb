"""Sleep: a DAGMan that has nothing to do becomes a small program that waits until it has.

The process executes the waiter (libexec/condor_dagman.c), and the waiter executes DAGMan again:
the process stays the same for the schedd.  What DAGMan knows is kept meanwhile behind a descriptor
that has no name and that only this process has, so nothing is found out again, asked again or done
again: the engine goes on with the state that it had.  Where that can't be read, since another
version has been installed meanwhile, DAGMan starts as after any end of its process: it recovers.

DAGMan sleeps only while nothing is under way: no child, no request, no client, nothing to write.
What it waits for then is the log, the halt file, the sockets, signals and the next deadline, and
the waiter waits for the same.
"""

from __future__ import annotations

import contextlib
import copyreg
import io
import os
import signal
import sys
import time
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from condor_pydagman.adapters.control_socket import Settings as Listening
from condor_pydagman.compiled import PURE, WAITER
from condor_pydagman.daemon.initialize import Settings
from condor_pydagman.daemon.run import Beginning, OwnJob
from condor_pydagman.daemon.waiting import (
    Expected,
    Waiting,
    form,
    kept_open,
    renewal_at,
)
from condor_pydagman.engine import FORM
from condor_pydagman.engine.engine import Engine
from condor_pydagman.graph.model import Dag
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.records import banner
from condor_pydagman.records.job_description import Workflow
from condor_pydagman.records.log_lines import Header
from condor_pydagman.records.own_events import StampForm
from condor_pydagman.timers import LEAST_SLEEP_S, PARENT_CHECK_S, SLEEP_AGAIN_S
from condor_pydagman.vocabulary import EXIT_RESTART, LEAVES, ORPHANED

if TYPE_CHECKING:
    from condor_pydagman.daemon.loop import Loop

COST = 100  # seconds of sleep that pay for a second of CPU which a start takes
OFTEN = 6  # wakes in an hour; with each one more the time awake doubles
HOUR = 3600.0
SKIPPED = (6, 33, 40)  # events that can wait: image size, attribute update, file transfer


class Descriptors(NamedTuple):
    """Those that stay open; -1 and empty if there are none."""

    lock: int
    command: tuple[int, ...]  # the sockets that listen for commands
    local: int  # that for people's programs


class Memory(NamedTuple):
    """All that DAGMan goes on with."""

    descriptors: Descriptors
    lock: str  # path of the lock file
    next_parent_check_at: float  # monotonic seconds
    next_log_check_at: float
    settings: Settings
    workflow: Workflow
    job: OwnJob
    beginning: Beginning
    written_rescue: int
    stamps: StampForm
    header: Header
    verbosity: int
    tests: bool  # whether lines of category D_TEST are written
    started: float  # when DAGMan started, seconds since the epoch
    directory: str  # in which it works
    parent: int  # the process that started it
    dag: Dag
    engine: Engine
    given: Mapping[str, Any]  # what features have begun with
    epoch: float  # added to monotonic seconds: the time of the engine
    published: Mapping[str, Any]  # see Publisher.memory
    ad_age_s: float  # how old the date in DAGMan's job ad is
    schedd: list[Any]  # see ScheddAdapter.memory
    listening: Listening | None  # where commands come from
    log: tuple[int, int, os.stat_result]  # see NodesLog.position
    halted: bool  # whether the halt file was there
    wakes: tuple[float, ...]  # of the last hour, monotonic seconds
    cpu_s: float  # that the process has used


def _read_only(values: dict[Any, Any]) -> Mapping[Any, Any]:
    return MappingProxyType(values)


def _reduced(value: Mapping[Any, Any]) -> Any:
    return _read_only, (dict(value),)


copyreg.pickle(MappingProxyType, _reduced)


def packed(memory: Memory) -> bytes:
    """As bytes.

    Raises:
        Exception: something of it can't be kept.
    """
    import pickle

    return b"".join(pickle.dumps(one, pickle.HIGHEST_PROTOCOL) for one in (form(), memory))


def unpacked(kept: bytes) -> Memory | None:
    """What DAGMan goes on with; None if other modules have written it."""
    import pickle

    file = io.BytesIO(kept)
    try:
        if pickle.load(file) != form():
            return None
        memory: Memory = pickle.load(file)
    except Exception:  # whatever it is, the log has all that matters
        return None
    return memory


def close_inherited() -> None:
    """Close what has been left open for the waiter and not been adopted: Python opens nothing that
    programs inherit."""
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # that of the directory just listed
            if int(name) > 2 and os.get_inheritable(int(name)):
                os.close(int(name))


class Sleeper:
    """Puts a DAGMan to sleep.

    Args:
        wakes: of the last hour, monotonic seconds, that of this process included.
        start_s: seconds of CPU that it has taken to start.
    """

    def __init__(self, wakes: tuple[float, ...], start_s: float) -> None:
        self._wakes = wakes
        self._start_s = start_s
        programs = os.access(WAITER, os.X_OK) and os.access(sys.argv[0], os.X_OK)
        self._is_possible = programs and FORM == PURE  # a compiled engine can't be kept
        self._not_before = 0.0  # monotonic seconds

    def due_at(self, loop: Loop) -> float:
        """When to call `consider`, if nothing happens until then: monotonic seconds."""
        if not self._is_possible:
            return float("inf")
        return max(self._not_before, self._quiet_until(loop))

    def _quiet_until(self, loop: Loop) -> float:
        woken_at = self._wakes[-1] if self._wakes else 0.0
        since = max(loop.fed_at, woken_at)
        lately = sum(1 for wake in self._wakes if wake > since - HOUR)
        awake_s = SLEEP_AGAIN_S
        if loop.fed_at > woken_at:
            awake_s = max(float(loop.run.config.sleep_after), COST * self._start_s)
        return since + min(awake_s * 2.0 ** max(0, lately - OFTEN), HOUR)

    def consider(self, loop: Loop) -> None:
        """Sleep, if it is time and nothing is under way: this does not return then."""
        now = loop.run.clock.monotonic()
        if now < self.due_at(loop):
            return
        self._not_before = now + SLEEP_AGAIN_S  # if it does not sleep now
        if loop.next_deadline() - now < LEAST_SLEEP_S or not loop.rests:
            return
        loop.run.schedd.rest()
        signal.pthread_sigmask(signal.SIG_SETMASK, signal.valid_signals())
        try:
            if not (_has_children() or loop.looks_again()) and _is_settled(loop):
                self._sleep(loop)
        except Exception as error:  # DAGMan goes on without sleep, whatever it is
            self._is_possible = False
            loop.run.out.say(f"Warning: DAGMan can't sleep: {type(error).__name__}: {error}", 0)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, ())

    def _sleep(self, loop: Loop) -> None:
        run: Any = loop.run
        now = run.clock.monotonic()
        wakes = tuple(wake for wake in self._wakes if wake > now - HOUR)
        memory = _memory(loop, wakes)
        if run.is_orphaned():  # what `memory` has is another parent, and would be so for ever
            return
        found, watches = memory.descriptors, loop.watches()
        run.out.say("Nothing to do: asleep until something happens", 3)
        run.out.flush()
        kept = kept_open(packed(memory))
        opened = {kept, run.out.fileno(), found.lock, *found.command, found.local, *watches} - {-1}
        _leave_open(opened)
        try:
            _waiting(loop, memory, kept).execute()
        finally:  # it has failed
            for fd in opened:
                os.set_inheritable(fd, False)
            os.close(kept)


def _memory(loop: Loop, wakes: tuple[float, ...]) -> Memory:
    run: Any = loop.run
    known = loop.memory()
    command, local = known.pop("sockets")
    return Memory(
        **known,
        descriptors=Descriptors(run.lock.fileno(), command, local),
        lock=run.lock.path,
        settings=Settings(run.options, run.config, run.helpers.admin),
        workflow=run.workflow,
        job=run.job,
        beginning=Beginning(run.resumes, run.rescue_number),
        written_rescue=run.written_rescue,
        stamps=run.stamps,
        header=run.out.header,
        verbosity=run.out.verbosity,
        tests=run.out.tests,
        started=run.process.started,
        directory=run.process.directory,
        parent=os.getppid(),
        dag=run.dag,
        engine=run.engine,
        given=run.helpers.given,
        schedd=run.schedd.memory(),
        log=run.log.position,
        wakes=wakes,
        cpu_s=time.process_time(),
    )._replace(next_log_check_at=0.0, next_parent_check_at=0.0)  # a new watch tells of no old news


def _waiting(loop: Loop, memory: Memory, kept: int) -> Waiting:
    run, engine = loop.run, memory.engine
    look_at = float("inf") if engine.look_at is None else engine.look_at - memory.epoch
    limits = list(engine.report().limits)
    return Waiting(
        words=[*_words(memory, loop), *_last_words(loop)],
        kept=kept,
        until=loop.next_deadline(looks=False),
        renew_at=renewal_at(run.clock.monotonic(), memory.ad_age_s),
        look_at=look_at,
        look_every_s=float(run.config.check_queue_interval),
        expected=Expected(run.job.cluster, memory.schedd, list(engine.expected()), limits),
        cpu_s=memory.cpu_s,
    )


def _words(memory: Memory, loop: Loop) -> list[Any]:
    """What the waiter waits for; the form is that of libexec/condor_dagman.c."""
    run, found = loop.run, memory.descriptors
    watches = loop.watches()
    look_s = PARENT_CHECK_S if min(watches) >= 0 else run.config.user_log_scan_interval
    words: list[Any] = ["look", look_s, "parent", memory.parent]
    for path in (run.lock.path, run.log.path):
        there = os.lstat(path)
        words += ["same", path, there.st_dev, there.st_ino]
    words += ["log", run.log.path, memory.log[0], "halt", run.paths.halt, int(memory.halted)]
    for number in SKIPPED:
        words += ["skip", number]
    polled = [("poll", fd) for fd in (*found.command, found.local)]
    for word, fd in (*polled, *(("watch", fd) for fd in {*watches})):
        if fd >= 0:
            words += [word, fd]
    return words


def _last_words(loop: Loop) -> list[Any]:
    """What the waiter writes into `.dagman.out` when DAGMan is to leave and be started again; none
    if that is not all that is to be written then."""
    run: Any = loop.run
    if run.out.header != Header() or run.jobstate is not None or run.dag.status_file is not None:
        return []
    words = ["out", run.out.fileno(), banner.exit_line(run.process.pid, EXIT_RESTART)]
    for number, reason in ((0, ORPHANED), *LEAVES.items()):
        words += ["leave", number, reason]
    return words


def _leave_open(wanted: set[int]) -> None:
    """Let the waiter have these, and no others but the standard ones."""
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2:
            with contextlib.suppress(OSError):  # that of the directory just listed
                os.set_inheritable(int(name), int(name) in wanted)


def _is_settled(loop: Loop) -> bool:
    """Whether nothing would wake it at once: half an event in the log, a lock file to make anew."""
    run: Any = loop.run
    return os.path.lexists(run.lock.path) and os.stat(run.log.path).st_size == run.log.position[0]


def _has_children() -> bool:
    with contextlib.suppress(ChildProcessError):
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        return True
    return False
