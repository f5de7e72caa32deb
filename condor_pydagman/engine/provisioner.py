"""The PROVISIONER node: its job gets resources ready, and no other node starts before it says so.

It says so by `ProvisionerState = 2` in its job ad, which is asked for now and then; the answer is
noted in the nodes log, so that a restart need not ask again (manual: "PROVISIONER node").
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import endings
from condor_pydagman.engine.inputs import LogEvent, ProvisionerSays
from condor_pydagman.engine.node_states import State
from condor_pydagman.vocabulary import PROVISIONER_READY, NodeKind, Note

if TYPE_CHECKING:
    from condor_pydagman.engine.engine import Engine
    from condor_pydagman.graph.model import Dag


class Provisioner:
    """What is known of the PROVISIONER node.

    Attributes:
        node: the node, None if the DAG has none.
        ready: whether the other nodes may start.
        ask_at: when its job is to be asked next, seconds since the epoch; None if not at all.
    """

    def __init__(self, dag: Dag) -> None:
        nodes = dag.of_kind(NodeKind.PROVISIONER)
        self.node = nodes[0] if nodes else None
        self.ready = self.node is None
        self.ask_at: float | None = None

    def holds_back(self, node: int) -> bool:
        """Whether `node` has to wait for the go-ahead."""
        return not self.ready and node != self.node

    def gave_up(self, node: int) -> bool:
        """Whether `node` is the PROVISIONER and gave no go-ahead."""
        return node == self.node and not self.ready


def begin(engine: Engine) -> None:
    """Start the PROVISIONER node; the others wait."""
    node = engine.provisioner.node
    assert node is not None
    engine.say("Starting provisioner node...")
    if engine.nodes.states[node] == State.WAITING:
        engine.start(node)
    else:  # a rescue file says that it has run
        engine.provisioner.ready = True


def plan(engine: Engine) -> None:
    """Its job is in the queue: ask it soon.  There is nobody to ask when it has ended."""
    it = engine.provisioner
    if engine.nodes.states[it.node or 0] != State.SUBMITTED:
        it.ask_at = None
    elif it.ask_at is None:
        it.ask_at = engine.now


def ask_if_due(engine: Engine) -> None:
    """Ask its job how far it is, if the time for that has come."""
    it = engine.provisioner
    if it.ready:
        return
    plan(engine)
    if it.ask_at is None or it.ask_at > engine.now:
        return
    assert it.node is not None
    jobs = engine.book.by_node.get(it.node)
    it.ask_at = engine.now + engine.config.user_log_scan_interval
    if jobs is not None and jobs.cluster > 0 and jobs.live():
        engine.emit(do.AskProvisioner(jobs.cluster))


def on_says(engine: Engine, answer: ProvisionerSays) -> None:
    """Its job has answered."""
    it = engine.provisioner
    if it.ready or it.node is None or it.node in engine.noted:
        return
    state = -1 if answer.state is None else answer.state
    engine.say(f"Provisioner job state: <{state}>")
    if state == PROVISIONER_READY and engine.nodes.states[it.node] == State.SUBMITTED:
        engine.note(it.node, do.AppendNote(Note.PROVISIONED, it.node, 0, state))


def on_go_ahead(engine: Engine, _: LogEvent) -> None:
    """The go-ahead has been read from the log: all other nodes may start."""
    if not engine.provisioner.ready:
        engine.provisioner.ready = True
        engine.provisioner.ask_at = None
        engine.start_roots()


def fail(engine: Engine, node: int) -> None:
    """The PROVISIONER has ended well, but without its go-ahead: nothing can be run."""
    engine.fail(node, "The provisioner's job exited before it gave the go-ahead")


def on_failed(engine: Engine, node: int) -> None:
    """A node has failed; if it is the PROVISIONER without its go-ahead, no other can start."""
    if engine.provisioner.gave_up(node) and node in engine.book.by_node:
        name = engine.dag.names[node]
        engine.say(
            f"ERROR: Provisioner node {name} job exited before giving DAGMan the go ahead!", 0
        )


def refuse_more_procs(engine: Engine, node: int, procs: int) -> None:
    """The PROVISIONER is one job."""
    if node == engine.provisioner.node and procs > 1 and not endings.is_over(engine):
        name = engine.dag.names[node]
        engine.say(f"ERROR: Provisioner node {name} submitted more than one job", 0)
        endings.want(engine, endings.unprovisioned())
