"""Throttles that are full, of the whole DAG and of categories, and the nodes that wait for them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from condor_pydagman.follow.notice import Evidence, Notice, Weight
from condor_pydagman.follow.notices.facts import Facts, Nodes, Throttled
from condor_pydagman.follow.notices.name_lists import some_nodes
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import does, message, number_of

_KNOB = re.compile(r"\bMAX_JOBS_[A-Z_]+")


class Throttle(NamedTuple):
    """A throttle of the whole DAG."""

    attribute: str  # its name in DAGMan's job ad
    option: str  # of condor_submit_dag
    counted: str  # what it limits, for a sentence


_JOBS = Throttle("DAGMan_MaxJobs", "-MaxJobs", "node{s} with jobs in the queue")
_IDLE = Throttle("DAGMan_MaxIdle", "-MaxIdle", "job{s} idle")
_PRE = Throttle("DAGMan_MaxPreScripts", "-MaxPre", "PRE script{s} running")
_POST = Throttle("DAGMan_MaxPostScripts", "-MaxPost", "POST script{s} running")


def throttle_notices(facts: Facts) -> Iterator[Notice]:
    """One for each throttle that keeps nodes from going on."""
    load = facts.load
    if load is None or facts.run.halted:
        return
    of_all = (_PRE, load.pre), (_POST, load.post), (_JOBS, load.nodes), (_IDLE, load.idle)
    for throttle, counted in of_all:
        if counted.waiting.number:
            yield from _full(throttle, counted, facts)
    if facts.run.queue_full and load.nodes.waiting.number:
        yield _full_queue(load.nodes, facts)
    limits = facts.dag.category_limits if facts.dag is not None else {}
    for category, limit in limits.items():
        counted = load.categories.get(category, Throttled())
        if counted.active >= limit and counted.waiting.number:
            yield _full_category(category, limit, counted, facts)


def _full(throttle: Throttle, counted: Throttled, facts: Facts) -> Iterator[Notice]:
    limit = _limit_of(throttle, facts)
    if not limit or counted.active < limit:
        return
    what = f"{counted.active:,} {throttle.counted.format(s='' if counted.active == 1 else 's')}"
    if counted.nodes:
        what = f"{number_of(counted.active, 'job')} of {number_of(counted.nodes, 'node')} queued"
    sentence = (
        f"{throttle.option[1:]} is reached: {what}, the limit is {limit}; {_wait(counted.waiting)}"
    )
    place = facts.limit_places.get(throttle.attribute, "")
    evidence = Evidence(place or f"{throttle.attribute} of DAGMan's job", str(limit))
    command = f"condor_submit_dag {throttle.option} N"
    advice = f"To set another limit, submit with: {command}"
    if facts.cluster:
        command = f"condor_qedit {facts.cluster} {throttle.attribute} N"
        advice = f"To change the limit now: {command}"
    yield _notice(sentence, counted, evidence)._replace(advice=(advice,), command=command)


def _full_queue(counted: Throttled, facts: Facts) -> Notice:
    knob = _KNOB.search(facts.run.queue_full)
    limit = f" ({knob[0]}; DAGMan's own job counts)" if knob else ""
    sentence = f"The schedd's queue is full{limit}; {_wait(counted.waiting)}"
    notice = _notice(sentence, counted, Evidence(facts.out, message(facts.run.queue_full)))
    command = "condor_q -allusers -totals"
    advice = f"DAGMan tries again when jobs have left it. To see how many there are: {command}"
    return notice._replace(advice=(advice,), command=command)


def _full_category(category: str, limit: int, counted: Throttled, facts: Facts) -> Notice:
    line, what = f"MAXJOBS {message(category)} {limit}", number_of(counted.active, "node")
    if counted.nodes:
        places = number_of(counted.active, "place")
        what = f"{places} taken by {number_of(counted.nodes, 'node')}"
    sentence = (
        f"Category {message(category)} is full: {what} of it in the queue, {line} in the DAG file;"
        f" {_wait(counted.waiting)}"
    )
    return _notice(sentence, counted, Evidence(facts.name, line))


def _notice(sentence: str, counted: Throttled, evidence: Evidence) -> Notice:
    names = tuple(counted.waiting.names)
    return Notice("throttle.full", Weight.WAITING, sentence, names, (evidence,), says_all=True)


def _wait(waiting: Nodes) -> str:
    return f"{some_nodes(waiting)} {does(waiting.number, 'be')} waiting because of that."


def _limit_of(throttle: Throttle, facts: Facts) -> int:
    """Its value now, 0 for none."""
    value = facts.ad.get(throttle.attribute, facts.run.limits.get(throttle.attribute, 0))
    return value if isinstance(value, int) else 0
