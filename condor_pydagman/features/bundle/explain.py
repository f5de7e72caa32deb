"""Nodes that are in a bundle, have been in one, or wait for others to be bundled with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from condor_pydagman.explain.graph_state import GraphState
from condor_pydagman.features.bundle.apart import alone_in, why_apart, why_unlike
from condor_pydagman.features.bundle.chains import LONG_S
from condor_pydagman.features.bundle.commands import BundleLine, line_of_nodes
from condor_pydagman.features.bundle.shown import BundleSeen, BundlesSeen, brief, bundle_of
from condor_pydagman.follow.carriers import carrier_of, in_queue, nodes_of
from condor_pydagman.follow.notice import Evidence, Notice, Weight
from condor_pydagman.follow.notices.facts import Facts
from condor_pydagman.follow.notices.name_lists import names_of
from condor_pydagman.follow.run_model import Attempt, NodeRun, Run
from condor_pydagman.graph.model import Dag
from condor_pydagman.names import logged_name
from condor_pydagman.printable import message, number_of
from condor_pydagman.report.spans import ran_s
from condor_pydagman.vocabulary import NodeStatus
from condor_pydagman.words import duration

MAX_EVIDENCE = 3  # bundles


def findings(facts: Facts, _state: GraphState | None) -> Iterator[Notice]:
    """The bundles that run."""
    running = [one for one in in_queue(facts.run) if one.job.running]
    if not running or not facts.is_live:
        return
    running.sort(key=lambda one: one.job.started)
    nodes = [name for one in running for name in nodes_of(facts.run, one.name)]
    hosts = list(dict.fromkeys(host for one in running for host in one.job.hosts[-1:] if host))
    age = duration(facts.now - running[0].job.started)
    longest = f", the longest for {age}" if len(running) > 1 else f", for {age}"
    where = f" on {names_of(hosts)}" if hosts else ""
    sentence = (
        f"{number_of(len(nodes), 'node')} {'run' if len(nodes) > 1 else 'runs'} in"
        f" {number_of(len(running), 'bundle')}{where}{longest}."
    )
    evidence = tuple(
        Evidence(facts.nodes_log, _in_words(one), one.job.started) for one in running[:MAX_EVIDENCE]
    )
    yield Notice("job.running", Weight.NOTE, sentence, tuple(nodes), evidence)


def _in_words(bundle: NodeRun) -> str:
    job = bundle.attempts[-1]
    host = f" on {message(job.hosts[-1])}" if job.hosts and job.hosts[-1] else ""
    return f"{bundle.name} (job {job.job}){host}"


def of_node(facts: Facts, run: NodeRun) -> Iterator[Notice]:
    """Of a node that is in a bundle: in which, and what that does; or behind which others of it."""
    bundle = facts.run.carried.get(run.name)
    if not isinstance(bundle, BundleSeen):
        return
    if carrier_of(run) is bundle:
        stands = f"is in {_with_others(bundle)}"
    else:
        before = _nodes_before(facts, run, bundle)
        if not before:
            return
        stands = f"is to run behind {names_of(before)} in {_in_job(bundle)}"
    sentence = f"It {stands}{_does(bundle, facts.now)}."
    evidence = Evidence(facts.nodes_log, f"{bundle.name} was made", bundle.made)
    yield Notice("node.state", Weight.NOTE, sentence, (run.name,), (evidence,))


def _with_others(bundle: BundleSeen) -> str:
    """`bundle 17 (job 211.0) with 49 others`."""
    return f"{_in_job(bundle)} with {number_of(len(bundle.nodes) - 1, 'other')}"


def _in_job(bundle: BundleSeen) -> str:
    return bundle.name + (f" (job {bundle.job.job})" if bundle.job.job else "")


def _does(bundle: BundleSeen, now: float) -> str:
    job = bundle.job
    if job.held:
        return ", which is held"
    if not job.in_queue:
        return ", of which the job has ended: what its nodes have come to is being brought home"
    if not job.running:
        return f", which has been waiting in the queue for {duration(now - job.submitted)}"
    host = f" on {message(job.hosts[-1])}" if job.hosts and job.hosts[-1] else ""
    return f", which runs{host}, for {duration(now - job.started)}"


def moments(run: Run, attempt: Attempt) -> Iterator[tuple[float, str]]:
    """When the node has gone into its bundle, and how long it has run there."""
    bundle = bundle_of(attempt)
    if bundle is None:
        return
    yield bundle.made, f"in {_with_others(bundle)}"
    if attempt.started and attempt.ended:
        took = brief(attempt.ended - attempt.started)
        yield attempt.ended, f"ran for {took}{_of_all(bundle, run.last)}"


def _of_all(bundle: BundleSeen, now: float) -> str:
    """Of how much that is a part, if it is known."""
    ran = ran_s(bundle.job, now)
    return f" of the {brief(ran)} of {bundle.name}" if bundle.job.ended and ran else ""


def held_back(facts: Facts, dag: Dag, node: int) -> Iterator[Notice]:
    """A node that may be bundled waits for others, or for its turn."""
    lines = line_of_nodes(dag, range(len(dag)))
    line = lines.get(node)
    if line is None and not BundlesSeen.of(facts.run).bundles:
        return
    by = f"BUNDLE {message(line.name)}" if line is not None else "the option -bundle"
    wait = f", for at most {duration(line.wait)}" if line is not None and line.wait else ""
    sentence = (
        f"All its parents have ended. It is to run with others in one job ({by}): it waits for"
        f" these{wait}, or until the throttles permit their job; if it can't be bundled, which"
        f" {facts.out} says, it is submitted alone."
    )
    if line is not None and line.chains:
        sentence += _why_not_behind(facts, dag, lines, node)
    yield Notice("node.state", Weight.NOTE, sentence, (dag.names[node],))


# Behind others of a bundle: a record says who is in it; who of them waits for whom, the DAG does.


def _nodes_before(facts: Facts, run: NodeRun, bundle: BundleSeen) -> list[str]:
    """The names of the nodes of a bundle that another waits for, which was given to that, too, and
    runs behind them; none if it waits, or one of them does, for any that the bundle does not run.
    """
    dag, seen = facts.dag, {run.name: run}
    if dag is None or not _waits_in(facts, run, bundle):
        return []
    todo = [run]
    while todo:
        for parent in _not_done(facts, dag, todo.pop()):
            if parent.name not in seen and carrier_of(parent) is not bundle:
                if not _waits_in(facts, parent, bundle):
                    return []
                seen[parent.name] = parent
                todo.append(parent)
    return [one.name for one in _not_done(facts, dag, run)]


def _waits_in(facts: Facts, run: NodeRun, bundle: BundleSeen) -> bool:
    is_given = facts.run.carried.get(run.name) is bundle
    return is_given and run.status is NodeStatus.NOT_READY


def _not_done(facts: Facts, dag: Dag, run: NodeRun) -> Iterator[NodeRun]:
    number = dag.find(run.name)
    for parent in dict.fromkeys(dag.parents(number)) if number is not None else ():
        found = _run_of(facts, dag, parent)
        if found.status is not NodeStatus.DONE:
            yield found


def _why_not_behind(facts: Facts, dag: Dag, lines: Mapping[int, BundleLine], node: int) -> str:
    """Why a node whose turn has come did not run behind a node before it, in the bundle of that: a
    sentence; '' if none of these was in a bundle, or it has run."""
    own = _run_of(facts, dag, node)
    if own.attempts:
        return ""
    for parent in dag.parents(node):
        bundle = _last_bundle(facts, dag, parent)
        if bundle is not None:
            behind = f"behind {message(dag.names[parent])} in {bundle.name}"
            if own.name in bundle.nodes:
                return f" It was to run {behind}, which has not run it."
            why = why_apart(dag, node) or alone_in(dag, lines).get(node)
            why = why or why_unlike(dag, lines, parent, node) or _guess(facts, dag, parent, node)
            return f" It did not run {behind}: {message(why)}."
    return ""


def _guess(facts: Facts, dag: Dag, parent: int, node: int) -> str:
    bundles = {_last_bundle(facts, dag, one) for one in dag.parents(node)}
    siblings = set(dag.children(parent)) - {node}
    reasons = ["its job asks for something else", "there was no room for it"]
    reasons.append(f"such nodes take longer than {duration(LONG_S)}")
    reasons += ["others that it waits for ran elsewhere"] * (len(bundles) > 1)
    reasons += ["free slots were to run it sooner"] * bool(siblings)
    return ", or ".join(reasons)


def _last_bundle(facts: Facts, dag: Dag, node: int) -> BundleSeen | None:
    attempts = _run_of(facts, dag, node).attempts
    return bundle_of(attempts[-1]) if attempts else None


def _run_of(facts: Facts, dag: Dag, node: int) -> NodeRun:
    name = logged_name(dag.names[node])
    return facts.run.nodes.get(name) or NodeRun(name)
