"""The commands that bind nodes to sites: SITE_GROUP, SITE_POLICY, and SITE_MATCHED of rescue files.

They are ours.  A group of a splice is the splice's own: its name gets that of the splice before it,
as the names of nodes do.
"""

from __future__ import annotations

from collections.abc import Sequence

from condor_pydagman.dagfile import commands
from condor_pydagman.dagfile.site_lines import ALL_GROUPS, ALL_NODES, SPLICE
from condor_pydagman.graph.building import Building, fail
from condor_pydagman.graph.model import SiteGroup
from condor_pydagman.graph.site_policy import SitePolicy
from condor_pydagman.vocabulary import ORDINARY_KINDS, NodeKind


def site_group(building: Building, command: commands.SiteGroupLine) -> None:
    """SITE_GROUP."""
    dag, name = building.dag, building.text(building.scope.full(command.name))
    if name in building.site_groups:
        fail(f"There is a group {command.name} already", "give one of the two another name")
    nodes, prefix = _members(building, command)
    number = len(dag.site_groups)
    for node in nodes:
        _refuse(building, node, command.name)
        dag.group_of[node] = number
    dag.site_groups.append(SiteGroup(name, tuple(nodes)))
    building.site_groups[name] = number, prefix


def _members(building: Building, command: commands.SiteGroupLine) -> tuple[Sequence[int], str]:
    """The nodes of a group, and what stands before their names where a line names one of them."""
    scope = building.scope
    if command.members == ALL_NODES:
        return building.nodes(ALL_NODES), scope.full("")
    if command.members != SPLICE:
        named = {node for name in command.names for node in _named(building, name)}
        return sorted(named), scope.full("")
    (name,) = command.names
    splice = scope.splices.get(scope.munge + name)
    if splice is None:
        fail(f"Unknown splice {name}", "name a splice of this file", at=name)
    special = building.special
    nodes = [node for piece in splice.ranges() for node in piece if node not in special]
    if not nodes:
        fail(f"Splice {name} has no nodes", "a group needs one node at least", at=name)
    return nodes, splice.prefix


def _named(building: Building, name: str) -> Sequence[int]:
    if building.find(name) is None and (building.scope.munge + name) in building.scope.splices:
        fail(f"{name} is a splice", f"write SPLICE {name}, in a group of its own", at=name)
    return building.named(name)


def _refuse(building: Building, node: int, group: str) -> None:
    dag, name = building.dag, building.shown(node)
    kind = NodeKind(dag.kinds[node])
    if kind not in ORDINARY_KINDS:
        fail(
            f"{kind.name} node {name} can't be in a group", "it runs apart from the others", at=name
        )
    if node in dag.group_of:
        other = dag.group_of[node]
        # The group that is being read is not in the list yet.
        known = dag.site_groups[other].name if other < len(dag.site_groups) else group
        fail(f"Node {name} is in group {known} already", "a node runs at one site", at=name)


def site_policy(building: Building, command: commands.SitePolicyLine) -> None:
    """SITE_POLICY."""
    groups = building.dag.site_groups
    for number, prefix in _groups(building, command.group):
        policy = building.share(groups[number].policy.said(command.key, command.value))
        clean_up = groups[number].clean_up
        if command.key == "CLEAN_UP":
            clean_up = _clean_up(building, number, prefix, policy)
        groups[number] = groups[number]._replace(policy=policy, clean_up=clean_up)


def _clean_up(building: Building, number: int, prefix: str, policy: SitePolicy) -> int:
    dag, name = building.dag, policy.clean_up
    node = dag.ids.get(prefix + name)  # a splice's node may also be named from outside
    node = building.find(name) if node is None else node
    if node is None or dag.group_of.get(node) != number:
        fail(
            f"Node {name} is not in group {dag.site_groups[number].name}",
            "what cleans up is one of the group's own nodes: it runs at the group's site",
            at=name,
        )
    return node


def site_matched(building: Building, command: commands.SiteMatched) -> None:
    """SITE_MATCHED."""
    groups = building.dag.site_groups
    for number, _ in _groups(building, command.group):
        matched, site = command.round, building.text(command.site)
        groups[number] = groups[number]._replace(matched=site, round=matched)


def _groups(building: Building, name: str) -> list[tuple[int, str]]:
    """The group of that name, or all so far that are in sight."""
    known, scope = building.site_groups, building.scope
    found = known.get(scope.full(name))
    if found is not None:
        return [found]
    if name.upper() != ALL_GROUPS:
        import difflib  # imported late: most DAG files are right

        near = difflib.get_close_matches(scope.full(name), list(known)[:1000], 1, 0.7)
        hint = f"did you mean {near[0]}?" if near else "a SITE_GROUP line before this one names it"
        fail(f"Unknown group {name}", hint, at=name)
    groups = [one for full, one in known.items() if full.startswith(scope.prefix)]
    if not groups:
        fail("There is no group before this line", "a SITE_GROUP line makes one", at=name)
    return groups
