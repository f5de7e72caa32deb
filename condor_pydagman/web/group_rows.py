"""Rows of the page's table of groups that run at sites: searched, sorted, a page at a time.

The logs tell where groups are; DAGMan, if it runs, tells more: why a group waits, and since when.
All here uses what the reader of a DAG keeps: for the thread for files only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Callable

from condor_pydagman.engine.report import GroupReport
from condor_pydagman.features.sites.states import GroupState
from condor_pydagman.graph.model import Dag, NodeGroup
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.trace.shown_states import ENDED, FAILURES, KEYS
from condor_pydagman.web.access import Refused
from condor_pydagman.web.dag_reader import DagReader
from condor_pydagman.web.json_answers import number_of
from condor_pydagman.web.node_rows import MAX_ROWS, MAX_SEARCH, natural, search_for

MAX_NODES = 50  # of a group that are named
SORTS = ("name", "state", "site", "round", "since", "done")
STATES = tuple(state.name.lower() for state in GroupState)
Told = Mapping[str, GroupReport]  # by DAGMan, by name of the group


class GroupsWanted(NamedTuple):
    """Which rows: those whose name or site has `search` in it (or matches it, with * and ?), in the
    state `state` ('': any), from `offset` on, `limit` at most."""

    search: str = ""
    state: str = ""
    sort: str = "name"
    descending: bool = False
    offset: int = 0
    limit: int = MAX_ROWS


def groups_wanted(query: Mapping[str, str]) -> GroupsWanted:
    """What a query asks for.

    Raises:
        Refused: something of it is wrong.
    """
    sort, state = query.get("sort") or "name", query.get("state", "")
    if sort not in SORTS:
        raise Refused(400, f"sort is one of {', '.join(SORTS)}")
    if state and state not in STATES:
        raise Refused(400, f"state is one of {', '.join(STATES)}")
    if len(query.get("search", "")) > MAX_SEARCH:
        raise Refused(400, f"search has at most {MAX_SEARCH} characters")
    return GroupsWanted(
        query.get("search", ""),
        state,
        sort,
        query.get("descending", "") in ("1", "true", "yes"),
        number_of(query, "offset", 0, 0, 1 << 31),
        number_of(query, "limit", MAX_ROWS, 0, MAX_ROWS),
    )


class GroupTable:
    """The table of one DAG; the order of names is found out once.

    Attributes:
        reader: the DAG.
    """

    def __init__(self, reader: DagReader) -> None:
        self.reader = reader
        self._dag: Dag | None = None
        self._by_name: Sequence[int] = []

    def page(self, wanted: GroupsWanted, told: Told) -> dict[str, Any]:
        """The rows, and how many there are in all and of those that are wanted."""
        found = self._matching(wanted, told)
        if wanted.sort != "name":
            keys = {number: _KEYS[wanted.sort](self._row(number, told)) for number in found}
            found = sorted(found, key=keys.__getitem__, reverse=wanted.descending)
        elif wanted.descending:
            found = found[::-1]
        shown = found[wanted.offset : wanted.offset + wanted.limit]
        return {
            "total": len(groups_of(self.reader)),
            "matches": len(found),
            "rows": [self._row(number, told) for number in shown],
        }

    def _row(self, number: int, told: Told) -> dict[str, Any]:
        return row_of(self.reader, number, told)

    def _matching(self, wanted: GroupsWanted, told: Told) -> Sequence[int]:
        """In the order of names."""
        groups = groups_of(self.reader)
        if self._dag is not self.reader.dag:
            self._dag = self.reader.dag
            keys = [natural(group.name) for group in groups]
            self._by_name = sorted(range(len(keys)), key=keys.__getitem__)
        found = self._by_name
        if wanted.search:
            fits = search_for(wanted.search)
            found = [
                number
                for number in found
                if fits(groups[number].name.casefold())
                or fits(_site(self.reader, groups[number].name, told).casefold())
            ]
        if wanted.state:
            found = [one for one in found if self._row(one, told)["state"] == wanted.state]
        return found


_KEYS: Mapping[str, Callable[[dict[str, Any]], Any]] = {
    "state": lambda row: STATES.index(row["state"]),
    "site": lambda row: natural(row["site"]),
    "round": lambda row: row["round"],
    "since": lambda row: row["since"] or 0.0,
    "done": lambda row: row["done"] / max(row["total"], 1),
}


def _site(reader: DagReader, group: str, told: Told) -> str:
    """Where it is, or was until just now."""
    logged = reader.group_site(group)
    return told[group].site if group in told else logged.site or logged.old


def groups_of(reader: DagReader) -> Sequence[NodeGroup]:
    """The groups of the DAG; none if its files can't be read."""
    return reader.dag.groups if reader.dag is not None else ()


def row_of(reader: DagReader, number: int, told: Told) -> dict[str, Any]:
    """A row: by DAGMan's word if it has given one, else by the logs."""
    group = groups_of(reader)[number]
    logged, report = reader.group_site(group.name), told.get(group.name)
    state = reader.group_state(number)
    states = [reader.states[node] for node in group.nodes]
    if state is GroupState.MATCHED and all(one in ENDED for one in states):
        state = GroupState.OVER  # DAGMan gives its site up, which is not in the logs
    row = {
        "number": number,
        "name": group.name,
        "state": state.name.lower(),
        "site": _site(reader, group.name, told),
        "round": logged.round,
        "since": logged.since or None,
        "total": len(group.nodes),
        "done": sum(one in ENDED and one not in FAILURES for one in states),
        "reason": logged.reason or reader.why_no_site(group.name),
    }
    if report is not None:
        row.update(state=report.state.lower(), round=report.round)
        row.update(reason=report.reason or (logged.reason if logged.leaving or logged.old else ""))
        row.update(since=report.since or row["since"])
    if row["state"] in ("unmatched", "over"):
        row["since"] = None  # the logs tell of the match only
    return row


def details_of(reader: DagReader, number: int, told: Told) -> dict[str, Any]:
    """A group's row, how many of its nodes are in which state, and the first of them.

    Raises:
        Refused: there is no such group.
    """
    groups = groups_of(reader)
    if number >= len(groups):
        raise Refused(404, f"there is no group {number}: the DAG has {len(groups)}")
    nodes = groups[number].nodes
    counts = Counter(reader.states[node] for node in nodes)
    return {
        **row_of(reader, number, told),
        "states": {KEYS[state]: count for state, count in sorted(counts.items())},
        "nodes": list(_nodes(reader, nodes[:MAX_NODES])),
    }


def _nodes(reader: DagReader, numbers: Iterable[int]) -> Iterable[dict[str, Any]]:
    for node in numbers:
        state = KEYS[reader.states[node]]
        yield {"number": node, "name": reader.names[node], "state": state}


def group_of_node(reader: DagReader, node: int) -> dict[str, Any]:
    """The row of a node's group, by the logs; {} if it is in none."""
    number = reader.dag.group_of(node) if reader.dag is not None else None
    return {} if number is None else {"group": row_of(reader, number, {})}
