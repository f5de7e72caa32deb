"""What the end of a PRE or POST script leads to, once it has been read from the nodes log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor_pydagman.engine import final_node, outcome, retries, scripts
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.node_states import Cause, State
from condor_pydagman.vocabulary import (
    RETURN_JOB_ABORTED,
    RETURN_PRE_FAILED,
    RETURN_SUBMIT_FAILED,
    ScriptKind,
)

if TYPE_CHECKING:
    from condor_pydagman.engine.engine import Engine

# What the C library calls the signals that end programs.
_SIGNALS = {
    1: "Hangup",
    2: "Interrupt",
    3: "Quit",
    4: "Illegal instruction",
    6: "Aborted",
    7: "Bus error",
    8: "Floating point exception",
    9: "Killed",
    11: "Segmentation fault",
    13: "Broken pipe",
    15: "Terminated",
}
_BEFORE_PRE_END = (State.PRE_WAIT, State.PRE_NOTED)


def want_post(engine: Engine, node: int) -> None:
    """The node's POST script is to run."""
    engine.ready.discard(node)
    engine.script_queues[ScriptKind.PRE].discard(node)
    engine.nodes.move(node, Cause.NEEDS_POST, engine.now)
    scripts.want_script(engine, node, ScriptKind.POST)


def on_pre_ended(engine: Engine, node: int, status: int) -> None:
    """A PRE script ended with `status`."""
    final_node.take_back(engine, node, Cause.NEEDS_PRE)
    if engine.nodes.states[node] not in _BEFORE_PRE_END:
        return
    _pre_is_over(engine, node)
    engine.record(node, "PRE_SCRIPT_SUCCESS" if status == 0 else "PRE_SCRIPT_FAILURE")
    engine.say(_script_end(ScriptKind.PRE, engine.dag.names[node], status))
    engine.pre_values[node] = status
    engine.check_abort(node, status, "PRE script")
    verdict = outcome.after_pre(
        status,
        pre_skip=engine.dag.pre_skips.get(node),
        has_post=engine.dag.script(node, ScriptKind.POST) is not None,
        always_post=engine.config.always_run_post,
    )
    if verdict is outcome.Next.SUBMIT:
        engine.want_submit(node, first=engine.config.submit_depth_first)
    elif verdict is outcome.Next.POST:
        engine.nodes.returned(node, RETURN_PRE_FAILED)
        want_post(engine, node)
    else:
        how = f"failed with status {status}" if status > 0 else f"died on {_signal(status)}"
        retries.fail_run(engine, node, status, f"PRE Script {how}")


def _pre_is_over(engine: Engine, node: int) -> None:
    engine.script_queues[ScriptKind.PRE].discard(node)
    engine.save_points.pop(node, None)


def on_pre_skip(engine: Engine, node: int, event: LogEvent) -> None:
    """The PRE script's exit code says that the node is done."""
    engine.last_noop = max(engine.last_noop, event.subproc)
    engine.noops.pop(event.subproc, None)
    retries.start_now(engine, node)
    final_node.take_back(engine, node, Cause.NEEDS_PRE)
    if engine.nodes.states[node] not in _BEFORE_PRE_END:
        return
    _pre_is_over(engine, node)
    name, value = engine.dag.names[node], engine.dag.pre_skips.get(node, 0)
    engine.say(_script_end(ScriptKind.PRE, name, value))
    engine.say(
        f"PRE_SKIP return value {value} indicates we are done (successfully) with node {name}"
    )
    engine.succeed(node)


def on_post_ended(engine: Engine, node: int, event: LogEvent) -> None:
    """A POST script ended; it decides how the node does."""
    if _is_of_an_untold_failure(engine, node, event):
        _fail_untold(engine, node)
    elif event.cluster == -1:
        engine.noted_posts.add(node)
    if engine.nodes.states[node] not in (State.POST_WAIT, State.POST_NOTED):
        engine.say(f"Ignoring a second end of node {engine.dag.names[node]}'s POST script")
        return
    jobs = engine.book.by_node.get(node)
    if jobs is not None and (event.cluster, event.subproc) != (jobs.cluster, jobs.subproc):
        engine.say(f"Ignoring the POST script of an earlier run of node {engine.dag.names[node]}")
        return
    name, status = engine.dag.names[node], event.value
    engine.script_queues[ScriptKind.POST].discard(node)
    job = "-" if event.cluster == -1 else f"{event.cluster}.{event.proc}"
    engine.record(node, "POST_SCRIPT_SUCCESS" if status == 0 else "POST_SCRIPT_FAILURE", job)
    engine.say(_script_end(ScriptKind.POST, name, status))
    jobs_value = engine.nodes.values.get(node, 0)
    engine.nodes.returned(node, status)
    if engine.check_abort(node, status, "POST script"):
        engine.nodes.errors[node] = f"POST Script ended with the ABORT value {status}"
    if outcome.after_post(status) is outcome.Next.SUCCEED:
        engine.succeed(node)
    else:
        before = _before_post(jobs_value, engine.pre_values.get(node, 0))
        retries.fail_run(engine, node, status, f"{before} and POST Script {_how(status)}")


def _is_of_an_untold_failure(engine: Engine, node: int, event: LogEvent) -> bool:
    """Whether the script ran since the PRE script or the submission had failed, which a log of
    stock DAGMan's does not tell; in ours there is a note before it, and it may come twice."""
    if not engine.recovering or event.cluster != -1 or node in engine.noted_posts:
        return False
    if engine.nodes.states[node] in (State.POST_WAIT, State.POST_NOTED):
        return False
    retries.start_now(engine, node)
    has_post = engine.dag.script(node, ScriptKind.POST) is not None
    return has_post and engine.nodes.states[node] in (State.PRE_WAIT, State.READY)


def _fail_untold(engine: Engine, node: int) -> None:
    """Which of the two failed is known if a failed PRE script would not have led to a POST script;
    else the node is retried, as in stock's recovery."""
    _pre_is_over(engine, node)
    has_pre = engine.dag.script(node, ScriptKind.PRE) is not None
    if has_pre and engine.config.always_run_post:
        engine.nodes.returned(node, RETURN_PRE_FAILED)
    else:
        retries.use_up(engine, node)
        engine.nodes.returned(node, RETURN_SUBMIT_FAILED)
    want_post(engine, node)


def _before_post(value: int, pre_value: int) -> str:
    """What had come before the POST script, by the return value so far."""
    if value == RETURN_PRE_FAILED:
        return f"PRE Script {_how(pre_value)}" if pre_value else "PRE Script or submission failed"
    if value == RETURN_SUBMIT_FAILED:
        return "Job submit failed"
    if value == RETURN_JOB_ABORTED:
        return "Job was removed"
    if value < RETURN_SUBMIT_FAILED:
        return f"Job failed due to DAGMAN error {value}"
    if value < 0:
        return f"Job died on signal {-value}"
    # LSST bps takes the words in brackets, stock's, for the sign that the job itself has succeeded.
    return f"Job exited with status {value}" if value else "Job succeeded (DAGMAN error 0)"


def _how(status: int) -> str:
    return f"failed with status {status}" if status >= 0 else f"died on signal {-status}"


def _script_end(kind: ScriptKind, name: str, status: int) -> str:
    if status == 0:
        return f"{kind.value} Script of node {name} completed successfully."
    if status < 0:
        signal = _signal(status) if kind is ScriptKind.PRE else f"signal {-status}"
        return f"{kind.value} Script of node {name} died on {signal}"
    word = "Node" if kind is ScriptKind.PRE else "node"  # stock's spelling, which readers match
    return f"{kind.value} Script of {word} {name} failed with status {status}"


def _signal(status: int) -> str:
    """Stock says the name of a signal of PRE scripts only."""
    name = f" ({_SIGNALS[-status]})" if -status in _SIGNALS else ""
    return f"signal {-status}{name}"
