"""The start of a DAGMan that has slept: it goes on with what `sleep` has kept."""

from __future__ import annotations

import os

import htcondor2

from condor_pydagman.adapters import knobs
from condor_pydagman.adapters.control_socket import ControlSocket
from condor_pydagman.adapters.files import LockFile, ProgramFiles
from condor_pydagman.adapters.joblog import NodesLog
from condor_pydagman.adapters.outlog import OutLog, log_path
from condor_pydagman.adapters.processes import own_usage
from condor_pydagman.adapters.schedd import ScheddAdapter
from condor_pydagman.adapters.schedd_process import ScheddProcess
from condor_pydagman.daemon import helpers
from condor_pydagman.daemon.contact import Contact
from condor_pydagman.daemon.loop import Loop
from condor_pydagman.daemon.run import DagRun, OwnProcess, Ports, jobstate_log
from condor_pydagman.daemon.sleep import Memory, close_inherited, unpacked
from condor_pydagman.daemon.sources import Signals, make_sources, orphaned
from condor_pydagman.daemon.waiting import read_kept
from condor_pydagman.feature_table import set_guard


def kept_memory(fd: str) -> Memory | None:
    """What is kept behind the descriptor.  None if it can't be gone on with: what has been left
    open for that is closed, and DAGMan starts as after the end of its process."""
    memory = unpacked(read_kept(fd))
    if memory is not None:
        found = memory.descriptors
        for adopted in (found.lock, *found.command, found.local):
            if adopted >= 0:
                os.set_inheritable(adopted, False)
    close_inherited()
    return memory


def open_log(memory: Memory, reason: str) -> OutLog:
    """Open `.dagman.out` again, and say why DAGMan is awake.

    Raises:
        OSError: it can't be opened.
    """
    knobs.set_subsystem("DAGMAN")
    out = OutLog(log_path(), memory.verbosity)
    out.set_header(memory.header)
    out.tests = memory.tests
    out.say(f"Awake: {reason}", 3)
    return out


def woken_loop(memory: Memory, out: OutLog, signals: Signals) -> Loop:
    """The loop of the run that goes on."""
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
        jobstate=jobstate_log(dag, out),
        contact=_contact(memory),
        stamps=memory.stamps,
    )
    process = OwnProcess(
        memory.started,
        htcondor2.version(),
        os.getpid(),
        memory.directory,
        orphaned(memory.parent),
        own_usage,
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


def _contact(memory: Memory) -> Contact:
    listening, command = memory.listening, memory.descriptors.command
    return Contact(None if listening is None else ControlSocket(listening, command), {})
