"""Starts that run nothing: -Dot writes the DOT file, -SetupOnly only prepares the run.

Neither changes the files of another run of the DAG: an existing lock file stays, and so do the
metrics and the nodes log of a run that is to be recovered.
"""

from __future__ import annotations

from condor_pydagman.adapters.outlog import OutLog
from condor_pydagman.daemon import startup
from condor_pydagman.daemon.dag_input import read_dag
from condor_pydagman.daemon.dot_writer import DotWriter
from condor_pydagman.daemon.initialize import Settings
from condor_pydagman.daemon.run import DagRun
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.graph.model import DONE
from condor_pydagman.records import jobstate, status_table
from condor_pydagman.vocabulary import NodeStatus


def draw(settings: Settings, out: OutLog) -> int:
    """-Dot: write the DOT file of the DAG as it is; returns the exit code.

    Raises:
        CannotStart: there is something wrong with the DAG.
    """
    it = startup.plan(settings, out)
    dag, _ = read_dag(settings.options, settings.config, it.paths, out)
    if dag.dot is None:
        out.say("Unable to write .dot file, no DOT filename specified")
        return 0
    out.say(f"Writing .dot file: {dag.dot.file}")
    untouched = (NodeStatus.NOT_READY, NodeStatus.DONE)
    statuses = (untouched[bool(flags & DONE)] for flags in dag.flags)
    DotWriter(dag, out).write(enumerate(statuses))
    return 0


def set_up(run: DagRun) -> int:
    """-SetupOnly: replay an old nodes log, then exit; nothing is started.

    Returns the exit code.
    """
    _handle(run, inputs.Begin(run.recovering))
    if run.recovering:
        for events in run.log.to_end():
            for event in events:
                _handle(run, event)
    run.out.say("Exiting after DAG setup (-SetupOnly).")
    for line in status_table.status_lines(run.engine.report()):
        run.out.say(line)
    run.jobstate.add(jobstate.finished(run.clock.time(), 0))
    run.jobstate.write()
    run.lock.release()
    return 0


def _handle(run: DagRun, an_input: inputs.Input) -> None:
    """Give an input to the engine, which dispatches nothing in this mode; log its messages."""
    for action in run.engine.handle(an_input, run.clock.time()):
        if isinstance(action, do.Say):
            run.out.say(action.text, action.level)
