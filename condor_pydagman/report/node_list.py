"""The nodes of a run as a list: each by its last attempt, with what people ask of it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from fnmatch import translate
from typing import Any

from condor_pydagman.follow.carriers import carrier_of
from condor_pydagman.follow.failures import how_failed
from condor_pydagman.follow.notices.held_jobs import logged_holds
from condor_pydagman.follow.notices.put_offs import until_when
from condor_pydagman.follow.run_model import NodeRun, Run
from condor_pydagman.follow.shown_states import LOOKS, Shown, shown_state, why_done
from condor_pydagman.graph.model import Dag
from condor_pydagman.names import logged_name
from condor_pydagman.report import attempt_table
from condor_pydagman.report.spans import known_nodes
from condor_pydagman.vocabulary import NodeKind

VERSION = 1  # of the JSON form, in which fields are only added
_QUICK = ("node", "state", "attempts", "since")  # what takes no look at the attempts
FIELDS = (*_QUICK, "kind", "category", *attempt_table.FIELDS[1:])
_WILD = re.compile(r"[*?[]")


def node_rows(
    run: Run,
    dag: Dag | None,
    now: float,
    wanted: Sequence[str] = FIELDS,
    *,
    states: Collection[Shown] = (),
    names: Sequence[str] = (),
) -> Iterator[list[Any]]:
    """The values of the FIELDS that are wanted, a list for each node; None for what is not known.

    Args:
        run, dag: the run, and its DAG as far as it can be read.
        now: end of what goes on, seconds since the epoch.
        states: only nodes in one of these; none for all.
        names: only nodes with one of these names, or with one that matches a pattern of the shell;
            none for all.
    """
    exact, patterns = (
        {*map(logged_name, names)},
        "|".join(map(translate, filter(is_pattern, names))),
    )
    matches = re.compile(patterns or r"(?!)").match
    is_quick = set(wanted) <= set(_QUICK)
    for node in known_nodes(run):
        if names and not (node.name in exact or matches(node.name)):
            continue
        number = dag.find(node.name) if dag is not None else None
        state = shown_state(node)
        if not states or state in states:
            row = {} if is_quick else _of_last(node, dag, number, now)
            if not is_quick:
                row["reason"] = reason_of(node, run) or None
            row.update(node=node.name, state=LOOKS[state].key, attempts=len(node.attempts))
            row["since"] = round(node.since, 3) or None
            yield [row[name] for name in wanted]


def _of_last(node: NodeRun, dag: Dag | None, number: int | None, now: float) -> dict[str, Any]:
    """What there is of its last attempt, and what the DAG says of it."""
    *_, row = attempt_table.rows_of(node, dag, now)
    row.update(kind=None, category=None, job=row["job"] or None)
    if dag is not None and number is not None:
        row.update(kind=NodeKind(dag.kinds[number]).name, category=dag.categories.get(number))
    return row


def is_pattern(name: str) -> bool:
    """Whether it may stand for several nodes."""
    return _WILD.search(name) is not None


def reason_of(node: NodeRun, run: Run) -> str:
    """Why a node has failed, is held, or is done without having run, in which job with others it
    is, or until when its script is put off; '' if it is none of these."""
    if shown_state(node) in (Shown.FAILED, Shown.RETRY):
        return how_failed(node, run)
    carrier = carrier_of(node)
    held = [job.reason for job in logged_holds((carrier or node,))]
    off = run.put_off(node) if run.put_offs else None
    if off is not None and not (held or run.ended):
        return until_when(off)
    if held or carrier is None:
        return held[-1] if held else why_done(node)
    return f"in {carrier.name}"
