"""DAGs of the torture test of sites: groups whose fate is known before they run, and their jobs.

Every job writes a line at its begin and at its end into one ledger of all DAGs, in the order in
which that happens.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

SURE, DOOMED, OPEN = "sure", "doomed", "open"

JOB = """\
#!/bin/sh
# at.sh NODE GROUP RETRY SITE OWNER CLUSTER STEPS FAILS: a job at a site.
head="$1 $2 $3 $4 $5 $6" steps=$7
note() { echo "$1 $head $(date +%s.%N)" >> LEDGER; }
trap 'note gone; exit 1' TERM
note start
if [ "$4" = pit ] || [ "$3" -lt "$8" ]; then note fail; exit 1; fi
while [ "$steps" -gt 0 ]; do
    if [ -e "DEAD/$4" ]; then
        while [ -e "DEAD/$4" ]; do sleep 0.4; done
        note fail
        exit 1
    fi
    sleep 0.4
    steps=$((steps - 1))
done
note done
"""
SCRIPT = """\
#!/bin/sh
# at-script.sh WHAT NODE GROUP RETRY OWNER: a script of a node at a site.
echo "$1 $2 $3 $4 ${MATCH_Name:-none} $5 0 $(date +%s.%N)" >> LEDGER
"""
# A site that never runs jobs has them as vanilla jobs, another one has them on hold.
AT_A_SITE = """\
universe = $(MATCH_Universe)
executable = at.sh
arguments = "$(JOB) $(group) $(RETRY) $(MATCH_Name) $(DAGManJobId) $(CLUSTER) $(steps) $(fails)"
requirements = $(MATCH_Runs)
hold = $(MATCH_Holds)
queue
"""
NOWHERE = """\
universe = scheduler
executable = at.sh
arguments = "$(JOB) none $(RETRY) none $(DAGManJobId) $(CLUSTER) $(steps) 0"
queue
"""
SPLICED = """\
JOB a at.sub
JOB b at.sub
PARENT a CHILD b
VARS a group="{group}" steps="2" fails="0"
VARS b group="{group}" steps="1" fails="0"
"""
RANKS = ("TARGET.Quality", "-TARGET.CurMatches * 1.0 / TARGET.MaxMatches")
PATIENCE = ("IDLE 3", "HELD 3", "GONE 3")  # with bad sites; the jobs take less time at good ones


class Group(NamedTuple):
    """Nodes that run at one site.

    Attributes:
        fate: SURE: all its nodes get done; DOOMED: not all of them can; OPEN: that depends.
        clean_up: the node that cleans up; '' if none does.
    """

    name: str
    nodes: tuple[str, ...]
    fate: str
    clean_up: str
    policy: tuple[str, ...]
    splice: str = ""


class SiteDag(NamedTuple):
    """A DAG.

    Attributes:
        parents: by node, in the order of the nodes.
        retries: by node that has any.
        fails: nodes whose first run fails at every site.
        scripted: nodes with a PRE script.
    """

    groups: tuple[Group, ...]
    parents: dict[str, tuple[str, ...]]
    retries: dict[str, int]
    fails: frozenset[str]
    scripted: frozenset[str]

    @property
    def group_of(self) -> dict[str, Group]:
        """The group of each node that is in one."""
        return {node: group for group in self.groups for node in group.nodes}

    @property
    def fates(self) -> set[str]:
        """The fates of its groups."""
        return {group.fate for group in self.groups}


def draw(name: str, random: Random, count: int) -> SiteDag:
    """A DAG with so many groups; names of groups begin with its name."""
    parents: dict[str, tuple[str, ...]] = {"first": ()}
    groups: list[Group] = []
    retries: dict[str, int] = {}
    fails: set[str] = set()
    for number in range(count):
        group, inner, again = _group(f"{name}g{number}", random)
        sure = [node for one in groups if one.fate == SURE for node in one.nodes]
        above = random.choice(sure) if sure and random.random() < 0.3 else "first"
        parents.update({node: up or (above,) for node, up in inner.items()})
        if again:
            retries.update(dict.fromkeys(group.nodes, 2))
            fails.add(random.choice(group.nodes))
        groups.append(group)
    last = tuple(one.nodes[-1] for one in groups if one.fate == SURE)
    parents["last"] = last or ("first",)
    plain = [node for one in groups if not one.splice for node in one.nodes]
    scripted = frozenset(random.sample(plain, len(plain) // 4))
    return SiteDag(tuple(groups), parents, retries, frozenset(fails), scripted)


def _group(name: str, random: Random) -> tuple[Group, dict[str, tuple[str, ...]], bool]:
    """A group, the parents of its nodes within it, and whether they are tried again."""
    draw = random.random()
    policy: tuple[str, ...]
    nodes: tuple[str, ...]
    if draw < 0.08:
        nodes = (f"{name}s+a", f"{name}s+b")
        policy = (*PATIENCE, "FAILURES 1", "ROUNDS 500")
        return Group(name, nodes, SURE, "", policy, f"{name}s"), dict(_chain(nodes)), False
    size = random.choice((2, 2, 3, 4))
    nodes = tuple(f"{name}{letter}" for letter in "abcd"[:size])
    inner = _diamond(nodes) if size == 4 and draw < 0.6 else dict(_chain(nodes))
    if draw < 0.14:
        policy = ('REQUIREMENTS TARGET.Name == "nowhere"', "WAIT 4")
        return Group(name, nodes, DOOMED, "", policy), inner, False
    clean_up = random.choice(nodes) if random.random() < 0.5 else ""
    more: tuple[str, ...] = (
        f"RANK {random.choice(RANKS)}",
        *[f"CLEAN_UP {clean_up} 5"] * bool(clean_up),
    )
    if draw < 0.2:
        policy = ('REQUIREMENTS TARGET.Name == "pit"', "FAILURES 1", "ROUNDS 2", *PATIENCE)
        return Group(name, nodes, DOOMED, clean_up, (*policy, *more)), inner, False
    if draw < 0.3:
        policy = ("OLD_SITE NEVER", "WAIT 6", "ROUNDS 3", "FAILURES 1", *PATIENCE)
        return Group(name, nodes, OPEN, clean_up, (*policy, *more)), inner, False
    again = draw < 0.5
    more += (f"FAILURES {3 if again else 1}", "ROUNDS 500", *PATIENCE)
    if draw > 0.85:
        more += ("REMATCH_IF TARGET.Quality < 1",)
    return Group(name, nodes, SURE, clean_up, more), inner, again


def _chain(nodes: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for before, node in zip(("", *nodes), nodes):
        yield node, (before,) if before else ()


def _diamond(nodes: Sequence[str]) -> dict[str, tuple[str, ...]]:
    top, left, right, bottom = nodes
    return {top: (), left: (top,), right: (top,), bottom: (left, right)}


def write(dag: SiteDag, work: Path, random: Random, ledger: Path, dead: Path) -> None:
    """Write `t.dag` and what its nodes need."""
    texts = {
        "t.dag": "\n".join(_lines(dag, random)) + "\n",
        "at.sh": JOB,
        "at-script.sh": SCRIPT,
        "at.sub": AT_A_SITE,
        "nowhere.sub": NOWHERE,
    }
    for group in dag.groups:
        if group.splice:
            texts[f"{group.splice}.dag"] = SPLICED.format(group=group.name)
    for name, text in texts.items():
        (work / name).write_text(text.replace("LEDGER", str(ledger)).replace("DEAD", str(dead)))
        (work / name).chmod(0o755)


def _lines(dag: SiteDag, random: Random) -> Iterator[str]:
    group_of = dag.group_of
    for node in dag.parents:
        group = group_of.get(node)
        if group is None or not group.splice:
            yield f"JOB {node} {'at' if group else 'nowhere'}.sub"
            steps, fails = random.choice((0, 1, 2, 3)), int(node in dag.fails)
            name = group.name if group else "none"
            yield f'VARS {node} group="{name}" steps="{steps}" fails="{fails}"'
        if node in dag.scripted:
            yield f"SCRIPT PRE {node} at-script.sh pre $NODE {name} $RETRY $DAGID"
    yield from (f"RETRY {node} {count}" for node, count in dag.retries.items())
    for group in dag.groups:
        yield from _group_lines(group)
    for node, parents in dag.parents.items():
        if not any(group_of.get(one) is group_of.get(node) is not None for one in parents) or (
            not _is_spliced(group_of.get(node))
        ):
            child = _in_dag(node, group_of.get(node))
            above = " ".join(dict.fromkeys(_in_dag(one, group_of.get(one)) for one in parents))
            yield from [f"PARENT {above} CHILD {child}"] * bool(above)


def _group_lines(group: Group) -> Iterator[str]:
    if group.splice:
        yield f"SPLICE {group.splice} {group.splice}.dag"
        yield f"SITE_GROUP {group.name} SPLICE {group.splice}"
    else:
        yield f"SITE_GROUP {group.name} NODES {' '.join(group.nodes)}"
    yield from (f"SITE_POLICY {group.name} {line}" for line in group.policy)


def _is_spliced(group: Group | None) -> bool:
    return group is not None and bool(group.splice)


def _in_dag(node: str, group: Group | None) -> str:
    """What a PARENT line of the DAG file calls it: nodes of a splice are reached by the splice."""
    return group.splice if group is not None and group.splice else node
