"""The PROVISIONER node: its job gets resources ready, and no other node starts before it says so.

It does so by `ProvisionerState = 2` in its job ad, which is queried at intervals; the answer is
written into the nodes log, so that a restart need not query it again (manual: "PROVISIONER node").
"""

from __future__ import annotations

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import lifecycle, rules, run_end
from condor_pydagman.engine.inputs import ProvisionerAnswer
from condor_pydagman.engine.node_states import State
from condor_pydagman.engine.state import OF_NODE, RunState
from condor_pydagman.vocabulary import PROVISIONER_READY, JournalRecord


def begin(run: RunState) -> None:
    """Start the PROVISIONER node; the others wait."""
    node = run.provisioner.node
    assert node is not None
    run.say_start("Starting provisioner node...")
    if run.nodes.states[node] == State.WAITING:
        lifecycle.start(run, node)
    else:  # a rescue file says that it has run
        run.provisioner.go_ahead()


def _plan_query(run: RunState) -> None:
    """Query its job soon while it is in the queue; not when it has ended."""
    it = run.provisioner
    if run.nodes.states[it.node or 0] != State.SUBMITTED:
        it.plan(None)
    elif it.query_at is None:
        it.plan(run.now)


def query_if_due(run: RunState) -> None:
    """Query the state of its job, if the query is due."""
    it = run.provisioner
    if it.ready:
        return
    _plan_query(run)
    if it.query_at is None or it.query_at > run.now:
        return
    assert it.node is not None
    jobs = run.job_table.by_node.get(it.node)
    it.plan(run.now + run.config.user_log_scan_interval)
    if not it.asked and jobs is not None and jobs.cluster > 0 and jobs.live():
        it.ask(jobs.cluster)
        run.emit(do.QueryProvisioner(jobs.cluster))


def on_answer(run: RunState, answer: ProvisionerAnswer) -> None:
    """Its job has answered; that of an earlier attempt may have done so late."""
    it = run.provisioner
    asked = it.answered()
    if it.ready or it.node is None or run.written.record(OF_NODE, it.node) is not None:
        return
    state = -1 if answer.state is None else answer.state
    run.say(f"Provisioner job state: <{state}>")
    present = run.nodes.states[it.node] == State.SUBMITTED and run.nodes.clusters[it.node] == asked
    if state == PROVISIONER_READY and present:
        run.journal(it.node, do.AppendJournalRecord(JournalRecord.PROVISIONED, it.node, 0, state))


def on_go_ahead(run: RunState) -> None:
    """The go-ahead has been read from the log: all other nodes may start."""
    if not run.provisioner.ready:
        run.provisioner.go_ahead()
        lifecycle.start_roots(run)


def refuse_more_procs(run: RunState, node: int, procs: int) -> None:
    """The PROVISIONER is one job."""
    if node == run.provisioner.node and procs > 1 and not run.is_over:
        name = run.dag.names[node]
        run.say(f"ERROR: Provisioner node {name} submitted more than one job", 0)
        run_end.request_end(run, rules.UNPROVISIONED)
