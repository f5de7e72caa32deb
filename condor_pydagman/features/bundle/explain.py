"""Nodes that are in a bundle, have been in one, or wait for others to be bundled with."""

from __future__ import annotations

from collections.abc import Iterator

from condor_pydagman.explain.graph_state import GraphState
from condor_pydagman.explain.known_facts import Facts
from condor_pydagman.features.bundle.commands import line_of_nodes
from condor_pydagman.features.bundle.shown import BundleSeen, BundlesSeen, brief, bundle_of
from condor_pydagman.follow.carriers import carrier_of, in_queue, nodes_of
from condor_pydagman.follow.notice import Evidence, Notice, Weight
from condor_pydagman.follow.notices.name_lists import names_of
from condor_pydagman.follow.run_model import Attempt, NodeRun, Run
from condor_pydagman.graph.model import Dag
from condor_pydagman.printable import message, number_of
from condor_pydagman.report.spans import job_parts
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
    """Of a node that is in a bundle: in which, and what that does."""
    bundle = carrier_of(run)
    if not isinstance(bundle, BundleSeen):
        return
    sentence = f"It is in {_with_others(bundle)}{_does(bundle, facts.now)}."
    evidence = Evidence(facts.nodes_log, f"{bundle.name} was made", bundle.made)
    yield Notice("node.state", Weight.NOTE, sentence, (run.name,), (evidence,))


def _with_others(bundle: BundleSeen) -> str:
    """`bundle 17 (job 211.0) with 49 others`."""
    job = f" (job {bundle.job.job})" if bundle.job.job else ""
    return f"{bundle.name}{job} with {number_of(len(bundle.nodes) - 1, 'other')}"


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
    ran = sum(end - begin for kind, begin, end in job_parts(bundle.job, now) if kind == "run")
    return f" of the {brief(ran)} of {bundle.name}" if bundle.job.ended and ran else ""


def held_back(facts: Facts, dag: Dag, node: int) -> Iterator[Notice]:
    """A node that may be bundled waits for others, or for its turn."""
    line = line_of_nodes(dag, [node]).get(node)
    if line is None and not BundlesSeen.of(facts.run).bundles:
        return
    by = f"BUNDLE {message(line.name)}" if line is not None else "the option -bundle"
    wait = f", for at most {duration(line.wait)}" if line is not None and line.wait else ""
    sentence = (
        f"All its parents have ended. It is to run with others in one job ({by}): it waits for"
        f" these{wait}, or until the throttles permit their job; if it can't be bundled, which"
        f" {facts.out} says, it is submitted alone."
    )
    yield Notice("node.state", Weight.NOTE, sentence, (dag.names[node],))
