"""All that there is to say of a DAG that is followed.

The module `shown` of a feature may have:

- `notices(facts)`: what the feature has to say of the DAG.
- `halted_by(facts)`: what of it has halted or ended the DAG (`HaltedBy`), None if nothing has.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import nsmallest

from condor_pydagman.feature_table import told, used_in
from condor_pydagman.follow.failures import how_failed
from condor_pydagman.follow.notice import Evidence, Notice, Weight, in_order
from condor_pydagman.follow.notices.data_waits import data_wait_notices
from condor_pydagman.follow.notices.facts import Facts, Nodes
from condor_pydagman.follow.notices.halts import halt_notices
from condor_pydagman.follow.notices.held_jobs import held_job_notices
from condor_pydagman.follow.notices.name_lists import MAX_NAMES, capitalized, some_nodes
from condor_pydagman.follow.notices.put_offs import put_off_notices
from condor_pydagman.follow.notices.throttles import throttle_notices
from condor_pydagman.follow.tally import STALLED_S, since_last_end
from condor_pydagman.graph.model import Dag
from condor_pydagman.names import logged_name
from condor_pydagman.printable import does, message, number_of
from condor_pydagman.words import duration


def notices_of(facts: Facts) -> tuple[Notice, ...]:
    """What the core of DAGMan and its features have to say, the most important first."""
    used = used_in(facts.dag, facts.run)
    of_features = (one for ask in told("shown", "notices", used) for one in ask(facts))
    return in_order(
        (
            *halt_notices(facts),
            *held_job_notices(facts),
            *throttle_notices(facts),
            *(put_off_notices(facts) if facts.run.put_offs else ()),
            *data_wait_notices(facts),
            *standstill_notices(facts),
            *of_features,
        )
    )


def standstill_notices(facts: Facts) -> Iterator[Notice]:
    """Why nothing happens though DAGMan runs."""
    if facts.retries and facts.dag is not None and facts.is_live:
        yield _retrying(facts, facts.dag)
    stalled = since_last_end(facts.run, facts.now)
    if stalled > STALLED_S and facts.is_live and not facts.is_halted:
        yield Notice(
            "dag.stalled",
            Weight.WAITING,
            f"No node has finished for {duration(stalled)}.",
            since=facts.now - stalled,
        )


def _retrying(facts: Facts, dag: Dag) -> Notice:
    most = len(facts.retries) if facts.may_count else MAX_NAMES
    first = nsmallest(most, facts.retries, key=lambda node: facts.retries[node])
    nodes = Nodes(len(facts.retries), [logged_name(dag.names[node]) for node in first])
    left = facts.retries[first[0]] - facts.now
    when = f"; the next attempt begins in {duration(left)}" if left > 0 else ""
    sentence = (
        f"{capitalized(some_nodes(nodes))} failed and {does(nodes.number, 'be')} waiting for the"
        f" delay of RETRY{when}."
    )
    return Notice(
        "node.retry",
        Weight.WAITING,
        sentence,
        tuple(nodes.names),
        tuple(_failed_attempt(nodes.names[0], facts)),
        awaited=f"the retry delay of {number_of(nodes.number, 'node')}",
    )


def _failed_attempt(first: str, facts: Facts) -> Iterator[Evidence]:
    """How the last attempt of the first of them has failed."""
    run = facts.run.nodes.get(first)
    if run is None or not run.attempts:
        return
    attempt = run.attempts[-1]
    how = message(how_failed(run, facts.run))
    text = f"attempt {attempt.number + 1} of {message(first)}: {how}"
    yield Evidence(facts.nodes_log, text, attempt.ended or run.since)
