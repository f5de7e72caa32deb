"""Rows of the page's table of groups that run at sites, and all of one group.

The logs tell where groups are; DAGMan, if it runs, tells more: why a group waits, and since when.
All here uses what the reader of a DAG keeps: for the thread for files only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Callable, ClassVar

from condor_pydagman.engine.report import GroupReport
from condor_pydagman.features.sites.shown import NO_SITE, GroupSite, GroupSites, why_no_site
from condor_pydagman.features.sites.states import GroupState
from condor_pydagman.follow.run_model import Run
from condor_pydagman.follow.shown_states import ENDED, FAILURES, KEYS
from condor_pydagman.graph.model import NodeGroup
from condor_pydagman.monitor.found_dag import FoundDag
from condor_pydagman.web.access import Refused
from condor_pydagman.web.dag_reader import DagReader, SitesOfGroups
from condor_pydagman.web.steering import Steering
from condor_pydagman.web.tables import Rows, natural

MAX_NODES = 50  # of a group that are named
Told = Mapping[str, GroupReport]  # by DAGMan, by name of the group


class SitesSeen:
    """Keeps the order of the sites of a DAG.

    Args:
        groups: of the DAG.
    """

    def __init__(self, groups: Sequence[NodeGroup]) -> None:
        self._groups = groups
        self._numbers: dict[str, int] = {}
        self._seen: tuple[GroupSites, int] | None = None  # what `_places` is about
        self._places = SitesOfGroups((), (), ())

    def __call__(self, run: Run) -> SitesOfGroups:
        """Where its groups are, as the logs tell."""
        seen = GroupSites.of(run)
        if self._seen != (seen, seen.moves):
            self._seen, self._places = (seen, seen.moves), self._find(seen.groups)
        return self._places

    def _find(self, found: Mapping[str, GroupSite]) -> SitesOfGroups:
        sites = [found[group.name].site if group.name in found else "" for group in self._groups]
        for name in sorted({*sites} - {"", *self._numbers}):
            self._numbers[name] = len(self._numbers) + 1
        nodes = Counter[str]()
        for group, site in zip(self._groups, sites):
            nodes[site] += len(group.nodes)
        of = [self._numbers.get(site, 0) for site in sites]
        return SitesOfGroups(tuple(self._numbers), of, [nodes[name] for name in self._numbers])


marks = SitesSeen


class GroupRows(Rows):
    """The groups of a DAG; none if its files can't be read.

    Args:
        told: by DAGMan.
    """

    UNTOLD = "DAGMan does not report why groups wait"
    STATES = tuple(state.name.lower() for state in GroupState)
    SORTS: ClassVar[Mapping[str, Callable[[GroupRows, int], Any]]] = {
        "state": lambda rows, number: rows.STATES.index(rows.state(number)),
        "site": lambda rows, number: natural(rows.row(number)["site"]),
        "round": lambda rows, number: rows.row(number)["round"],
        "since": lambda rows, number: rows.row(number)["since"] or 0.0,
        "done": lambda rows, number: rows.row(number)["done"] / max(rows.row(number)["total"], 1),
    }

    def __init__(self, reader: DagReader, told: Told) -> None:
        self.groups: Sequence[NodeGroup] = reader.dag.groups if reader.dag is not None else ()
        super().__init__(reader, reader.dag, [group.name for group in self.groups])
        self._told = told

    @staticmethod
    def asked(steering: Steering, dag: FoundDag) -> Told:
        """What DAGMan says of them."""
        return {group.name: group for group in steering.groups(dag)}

    def state(self, number: int) -> str:
        """What becomes of a group."""
        state: str = self.row(number)["state"]
        return state

    def fits(self, number: int, fits: Callable[[str], bool]) -> bool:
        """Whether its name or its site is searched for."""
        return super().fits(number, fits) or fits(self._site(self.names[number]).casefold())

    def _site(self, group: str) -> str:
        """Where it is, or was until just now."""
        logged = self._logged(group)
        return self._told[group].site if group in self._told else logged.site or logged.old

    def _logged(self, group: str) -> GroupSite:
        return GroupSites.of(self.reader.run).groups.get(group, NO_SITE)

    def _state(self, number: int) -> GroupState:
        """As the engine has it that follows the logs."""
        sites = self.reader.tally.feature("sites")
        return GroupState(sites.group_states[number]) if sites is not None else GroupState.UNMATCHED

    def row(self, number: int) -> dict[str, Any]:
        """By DAGMan's word if it has given one, else by the logs."""
        reader, group = self.reader, self.groups[number]
        logged, report = self._logged(group.name), self._told.get(group.name)
        state = self._state(number)
        states = [reader.states[node] for node in group.nodes]
        if state is GroupState.MATCHED and all(one in ENDED for one in states):
            state = GroupState.OVER  # DAGMan gives its site up, which is not in the logs
        row = {
            "number": number,
            "name": group.name,
            "state": state.name.lower(),
            "site": self._site(group.name),
            "round": logged.round,
            "since": logged.since or None,
            "total": len(group.nodes),
            "done": sum(one in ENDED and one not in FAILURES for one in states),
            "reason": logged.reason or why_no_site(GroupSites.of(reader.run), [group.name]),
        }
        if report is not None:
            before = logged.reason if logged.leaving or logged.old else ""
            row.update(state=report.state.lower(), round=report.round)
            row.update(reason=report.reason or before, since=report.since or row["since"])
        if row["state"] in ("unmatched", "over"):
            row["since"] = None  # the logs tell of the match only
        return row

    def details(self, number: int) -> dict[str, Any]:
        """A group's row, how many of its nodes are in which state, and the first of them.

        Raises:
            Refused: there is no such group.
        """
        if number >= len(self.groups):
            raise Refused(404, f"there is no group {number}: the DAG has {len(self.groups)}")
        nodes = self.groups[number].nodes
        counts = Counter(self.reader.states[node] for node in nodes)
        return {
            **self.row(number),
            "states": {KEYS[state]: count for state, count in sorted(counts.items())},
            "nodes": [self.reader.brief(node) for node in nodes[:MAX_NODES]],
        }


TABLES = {"groups": GroupRows}


def of_node(reader: DagReader, node: int) -> dict[str, Any]:
    """The row of a node's group, by the logs; {} if it is in none."""
    number = reader.dag.group_of(node) if reader.dag is not None else None
    return {} if number is None else {"group": GroupRows(reader, {}).row(number)}
