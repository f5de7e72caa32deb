"""The start of a DAGMan that has slept: it goes on with what `sleep` has kept."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import TYPE_CHECKING

import htcondor2

from condor_pydagman.adapters import knobs
from condor_pydagman.adapters.control_socket import ControlSocket
from condor_pydagman.adapters.files import LockFile, ProgramFiles
from condor_pydagman.adapters.joblog import NodesLog
from condor_pydagman.adapters.outlog import OutLog, log_path
from condor_pydagman.adapters.schedd import ScheddAdapter
from condor_pydagman.adapters.schedd_process import ScheddProcess
from condor_pydagman.daemon import helpers
from condor_pydagman.daemon.contact import Contact
from condor_pydagman.daemon.loop import Loop
from condor_pydagman.daemon.run import DagRun, OwnProcess, Ports
from condor_pydagman.daemon.sleep import REASON, WORDS, Memory, unpacked
from condor_pydagman.daemon.sources import Signals, make_sources
from condor_pydagman.feature_table import set_guard

if TYPE_CHECKING:
    from condor_pydagman.adapters.jobstate_log import JobstateLog


def kept_memory(fd: int) -> Memory | None:
    """What is kept behind the descriptor, which is closed; None if it can't be gone on with: the
    sockets and the lock are free then."""
    os.lseek(fd, 0, os.SEEK_SET)
    with open(fd, "rb") as file:
        memory = unpacked(file.read())
    return memory


def open_log(memory: Memory) -> OutLog:
    """Open `.dagman.out` again.

    Raises:
        OSError: it can't be opened.
    """
    knobs.set_subsystem("DAGMAN")
    out = OutLog(log_path(), memory.verbosity)
    out.set_header(memory.header)
    out.tests = memory.tests
    return out


def woken_loop(memory: Memory, out: OutLog, signals: Signals) -> Loop:
    """The loop of the run that goes on."""
    out.say(f"Awake: {os.environ.pop(REASON, 'for no reason')}", 3)
    os.environ.pop(WORDS, None)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    run = _run(memory, out)
    if run.dag.scripts:
        run.script_runner()
    return Loop(run, make_sources(run, signals, memory), memory)


def _run(memory: Memory, out: OutLog) -> DagRun:
    dag, engine, settings = memory.dag, memory.engine, memory.settings
    schedd = ScheddProcess(_adapter(memory, out))
    reached = Ports(
        out=out,
        log=_log(memory),
        schedd=schedd,
        scripts=None,
        lock=_lock(memory),
        jobstate=_jobstate(memory, out),
        contact=_contact(memory),
        stamps=memory.stamps,
    )
    process = OwnProcess(
        memory.started, htcondor2.version(), os.getpid(), memory.directory, _orphaned(memory.parent)
    )
    run = DagRun(
        dag, engine, settings, memory.workflow, memory.job, process, reached, memory.beginning
    )
    run.recovering = False
    run.written_rescue = memory.written_rescue
    set_guard(ProgramFiles().check)
    helpers.preload(dag, settings.admin)
    run.helpers = helpers.Helpers(run, schedd, settings.admin, memory.given)
    return run


def _adapter(memory: Memory, out: OutLog) -> ScheddAdapter:
    adapter = ScheddAdapter(memory.job.cluster, lambda text: out.say(f"Submit warning: {text}"))
    adapter.credentials = memory.settings.config.produce_job_credentials
    adapter.remember(memory.schedd)
    return adapter


def _log(memory: Memory) -> NodesLog:
    log = NodesLog(memory.workflow.nodes_log)
    log.open(truncate=False)
    log.position = memory.log
    return log


def _lock(memory: Memory) -> LockFile:
    lock = LockFile(memory.lock)
    lock.adopt(memory.descriptors.lock)
    return lock


def _jobstate(memory: Memory, out: OutLog) -> JobstateLog | None:
    path = memory.dag.jobstate_log
    if not path:
        return None
    from condor_pydagman.adapters.jobstate_log import JobstateLog

    return JobstateLog(path, lambda text: out.say(text, 0))


def _contact(memory: Memory) -> Contact:
    socket = None
    if memory.listening is not None:
        socket = ControlSocket(memory.listening, memory.descriptors.command)
    return Contact(socket, {})


def _orphaned(parent: int) -> Callable[[], bool]:
    return lambda: os.getppid() != parent
