"""The commands that bind nodes to sites: SITE_GROUP, SITE_POLICY, and SITE_MATCHED of rescue files.

They are ours.  A group of a splice is the splice's own: its name gets that of the splice before it,
as the names of nodes do.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from condor_pydagman.features.common import rows
from condor_pydagman.features.common.expression_text import Expression
from condor_pydagman.graph.apply import IN_THE_SUBMITTED_FILE, Applied
from condor_pydagman.graph.building import Building, fail
from condor_pydagman.graph.model import Dag, FeatureData
from condor_pydagman.language.commands import Command
from condor_pydagman.language.lexer import LineError, Words, name_word
from condor_pydagman.language.modifier_lines import read_time
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import ORDINARY_KINDS, NodeKind

ALL_GROUPS = "ALL_GROUPS"
NODES, SPLICE, ALL_NODES = ("NODES", "SPLICE", "ALL_NODES")
CLEAN_UP_S = 600  # that a clean-up node may take unless its line says otherwise

_ATTRIBUTE = re.compile(r"([A-Za-z_][A-Za-z_0-9]{0,99})[ \t]*=(?!=)[ \t]*(.+)")


class _Attribute(Expression):
    """An attribute of the group's ad."""

    sample = "x = 1"

    def read(self, words: Words, key: str = "", also: Collection[str] = ()) -> Any:
        text = rows.Part.read(self, words, key)
        found = _ATTRIBUTE.fullmatch(text)
        if found is None:
            hint = "expected the name of an attribute, = and a ClassAd expression"
            raise LineError(f"Invalid {key} '{text}'", words, hint=hint)
        return found[1], self.checked(found[2], words, key)

    def write(self, value: tuple[str, str]) -> str:
        return " = ".join(value)


class _CleanUp(rows.Part):
    """The node that cleans up, and how long it may take."""

    sample = "A"

    def read(self, words: Words, key: str = "", also: Collection[str] = ()) -> Any:
        node = super().read(words, key)
        return node, read_time(words, key) if words.peek() else CLEAN_UP_S

    def write(self, value: tuple[str, int]) -> str:
        return f"{name_word(value[0])} {value[1]}"


def _group(name: str, words: Words) -> str:
    if name.upper() == ALL_GROUPS or "+" in name:
        hint = f"{ALL_GROUPS} stands for all groups, and + belongs to splices"
        raise LineError(f"'{name}' can't be the name of a group", words, hint=hint)
    return name


@rows.Row(
    "SITE_GROUP",
    "Nodes that run at one site, which is chosen when the first of them is ready.",
    after="MAXJOBS",
)
class SiteGroupLine(NamedTuple):
    """SITE_GROUP: nodes that run at one site."""

    line: int
    name: str = rows.name("name of the group", check=_group, sample="g")
    members: str = rows.variants(
        {
            NODES: rows.names("nodes", "<node1> [<node2> ...]"),
            SPLICE: rows.names("name", "<splice>", 1),
            ALL_NODES: None,
        },
        empty=(),
    )
    names: tuple[str, ...] = ()


@rows.Row(
    "SITE_POLICY",
    "How the site of a group is chosen, and when the group has to leave it.",
    after="SITE_GROUP",
)
class SitePolicyLine(NamedTuple):
    """SITE_POLICY: one key of the policy of a group, and its value."""

    line: int
    group: str = rows.name("name of the group", sample="g")
    key: str = rows.variants(
        {
            "REQUIREMENTS": Expression(),
            "RANK": Expression(),
            "ATTRIBUTE": _Attribute(),
            "WAIT": rows.time(),
            "IDLE": rows.time(),
            "HELD": rows.time(),
            "GONE": rows.time(),
            "FAILURES": rows.number("number", 1),
            "REMATCH_IF": Expression(),
            "ROUNDS": rows.number("number", 1),
            "CLEAN_UP": _CleanUp("node"),
            "REMOVAL": rows.time(),
            "OLD_SITE": rows.one_of(("LAST", "NEVER")),
        },
        "<key> <value>",
    )
    value: str | int | tuple[str, str] | tuple[str, int] = ""


@rows.Row(
    "SITE_MATCHED",
    "The site of a group whose work has begun there, as in a rescue file.",
    after="SITE_POLICY",
    in_rescue=True,
)
class SiteMatched(NamedTuple):
    """SITE_MATCHED: the site at which a group's work has begun, the `round`th that it is at."""

    line: int
    group: str = rows.name("name of the group", sample="g")
    site: str = rows.name("name of the site", sample="north")
    round: int = rows.number("number of the round", 1, "<round>")


ROUNDS = 5  # sites that a group is matched to before it fails, unless its policy says otherwise
REMOVAL_S = 600  # that the removal of a group's jobs may take, unless its policy says otherwise


class SitePolicy(NamedTuple):
    """The policy of a group; times are seconds, 0 for no limit."""

    requirements: str = ""  # what a site must be, a ClassAd expression; '' for anything
    rank: str = ""  # which site is preferred, a ClassAd expression: the greatest value; '' for none
    # of the group's ad, name and ClassAd expression, for the sites' Requirements
    attributes: tuple[tuple[str, str], ...] = ()
    wait: int = 0  # how long the group may wait for a site before it fails
    # how long one of its jobs may be idle before the group is taken back from its site
    idle: int = 0
    held: int = 0  # how long one may be on hold
    gone: int = 0  # how long the site's ad may be missing
    failures: int = 0  # how many runs of its nodes may fail at a site; 0: they do not count
    # the group is taken back when this ClassAd expression becomes true; '' for never
    rematch_if: str = ""
    rounds: int = ROUNDS  # how many sites it is matched to at most
    # the node that runs at the old site when the group has been taken back; '' if none
    clean_up: str = ""
    clean_up_time: int = 0  # how long it may take
    # how long the removal of jobs may take when the group leaves its site, before they are removed
    # by force: a site that is dead does not confirm it
    removal: int = REMOVAL_S
    # LAST or NEVER: whether sites that the group was taken back from are chosen again
    old_site: str = "LAST"

    def said(self, key: str, value: Any) -> SitePolicy:
        """With what a line says; `key` and `value` as in `grammar.SitePolicyLine`."""
        if key == "ATTRIBUTE":
            name = value[0].lower()
            others = (one for one in self.attributes if one[0].lower() != name)
            return self._replace(attributes=(*others, value))
        if key == "CLEAN_UP":
            return self._replace(clean_up=value[0], clean_up_time=value[1])
        return self._replace(**{key.lower(): value})

    def lines(self) -> list[tuple[str, Any]]:
        """Keys and values that give this policy, as `said` takes them."""
        found: list[tuple[str, Any]] = [("ATTRIBUTE", one) for one in self.attributes]
        if self.clean_up:
            found.append(("CLEAN_UP", (self.clean_up, self.clean_up_time)))
        for field, value in self._asdict().items():
            plain = field not in ("attributes", "clean_up", "clean_up_time")
            if plain and value != getattr(NO_POLICY, field):
                found.append((field.upper(), value))
        return found


NO_POLICY = SitePolicy()


class SiteGroup(NamedTuple):
    """A SITE_GROUP command, with what SITE_POLICY commands say of it."""

    name: str  # its full name, with those of the splices that it is in
    nodes: tuple[int, ...]  # its nodes, in DAG order
    policy: SitePolicy = NO_POLICY  # how its site is chosen
    clean_up: int = -1  # the node of the group that cleans up at an old site, -1 if there is none
    matched: str = ""  # the site at which an earlier run of the DAG had begun it, '' if none
    round: int = 0  # how many sites it had been matched to by then


class GroupsOfDag(FeatureData):
    """The groups of a DAG."""

    by_node = ("number_of",)
    place = -2

    def __init__(self) -> None:
        self.site_groups: list[SiteGroup] = []
        self.number_of: dict[int, int] = {}

    def renumber(self, new: Sequence[int]) -> None:
        """As of `FeatureData`."""
        super().renumber(new)
        self.site_groups = [
            group._replace(
                nodes=tuple(sorted(new[node] for node in group.nodes)),
                clean_up=group.clean_up if group.clean_up < 0 else new[group.clean_up],
            )
            for group in self.site_groups
        ]

    def groups(self) -> Sequence[SiteGroup]:
        """As of `FeatureData`."""
        return self.site_groups

    def group_of(self, node: int) -> int | None:
        """As of `FeatureData`."""
        return self.number_of.get(node)

    def lines(self, dag: Dag) -> Iterator[Command]:
        """As of `FeatureData`."""
        for group in self.site_groups:
            yield SiteGroupLine(
                0, group.name, NODES, tuple(dag.names[node] for node in group.nodes)
            )
            for key, value in group.policy.lines():
                said = (dag.names[group.clean_up], value[1]) if key == "CLEAN_UP" else value
                yield SitePolicyLine(0, group.name, key, said)
            if group.matched:
                yield SiteMatched(0, group.name, group.matched, group.round)


def groups_of(dag: Dag) -> Sequence[SiteGroup]:
    """The groups of a DAG."""
    return GroupsOfDag.of(dag).site_groups


def numbers_of(dag: Dag) -> Mapping[int, int]:
    """By node, the number of its group."""
    return GroupsOfDag.of(dag).number_of


def site_group(building: Building, command: SiteGroupLine) -> None:
    """SITE_GROUP."""
    data, name = GroupsOfDag.put(building.dag), building.text(building.scope.full(command.name))
    known = _known(building)
    if name in known:
        fail(f"There is a group {command.name} already", "give one of the two another name")
    nodes, prefix = _members(building, command)
    number = len(data.site_groups)
    for node in nodes:
        _refuse(building, node, command.name)
        data.number_of[node] = number
    data.site_groups.append(SiteGroup(name, tuple(nodes)))
    known[name] = number, prefix


def _known(building: Building) -> dict[str, tuple[int, str]]:
    """By the full name of a group, its number, and what its nodes' names begin with."""
    known: dict[str, tuple[int, str]] | None = building.of_features.get("sites")
    if known is None:
        groups = enumerate(groups_of(building.dag))
        known = {group.name: (number, "") for number, group in groups}
        building.of_features["sites"] = known
    return known


def _members(building: Building, command: SiteGroupLine) -> tuple[Sequence[int], str]:
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
    other, groups = dag.group_of(node), groups_of(dag)
    if other is not None:
        # The group that is being read is not in the list yet.
        known = groups[other].name if other < len(groups) else group
        fail(f"Node {name} is in group {known} already", "a node runs at one site", at=name)


def site_policy(building: Building, command: SitePolicyLine) -> None:
    """SITE_POLICY."""
    groups = GroupsOfDag.put(building.dag).site_groups
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
    if node is None or dag.group_of(node) != number:
        fail(
            f"Node {name} is not in group {groups_of(dag)[number].name}",
            "what cleans up is one of the group's own nodes: it runs at the group's site",
            at=name,
        )
    return node


def site_matched(building: Building, command: SiteMatched) -> None:
    """SITE_MATCHED."""
    groups = GroupsOfDag.put(building.dag).site_groups
    for number, _ in _groups(building, command.group):
        matched, site = command.round, building.text(command.site)
        groups[number] = groups[number]._replace(matched=site, round=matched)


def _groups(building: Building, name: str) -> list[tuple[int, str]]:
    """The group of that name, or all so far that are in sight."""
    known, scope = _known(building), building.scope
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


APPLIED = (
    Applied(SiteGroupLine, site_group, refused=IN_THE_SUBMITTED_FILE),
    Applied(SitePolicyLine, site_policy, refused=IN_THE_SUBMITTED_FILE),
    Applied(SiteMatched, site_matched, refused=IN_THE_SUBMITTED_FILE),
)
