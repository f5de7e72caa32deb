"""Sites in a simulated world: they have room, or none; their ads vanish and come back; at some of
them no job ever runs, and some removals are not confirmed for long.  And the claims of all DAGMans,
of which this one keeps some.

O33: a group runs at one site at a time, at the one that is kept for it.  O34: no site is over its
limit.  O35: a site is given up only when nothing of the group is in the queue.  O36: a node that is
done at the end has run at the last site of its group.

They have a random generator of their own, so that what they do changes no draw of anything else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar, Union

from condor_pydagman.engine import actions as do
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.node_states import NOT_BEGUN, State
from condor_pydagman.engine.state import RunState
from condor_pydagman.features.sites.choice import Offer, Room, choose
from condor_pydagman.features.sites.commands import GroupsOfDag, SiteGroup, SitePolicy, numbers_of
from condor_pydagman.features.sites.messages import (
    MatchSites,
    PlaceFree,
    SiteClaim,
    SitesMatched,
    SitesUnknown,
)
from condor_pydagman.features.sites.states import GroupState
from condor_pydagman.graph.model import DONE, USER_DONE, Dag
from condor_pydagman.language.description import Template
from condor_pydagman.vocabulary import ORDINARY_KINDS, EventKind, ScriptKind
from tests.oracles import require
from tests.sim.fake_jobs import Cluster
from tests.sim.parts import FakeHelper, Part
from tests.sim.truth import NO_LIMIT, Truth

if TYPE_CHECKING:
    from condor_pydagman.daemon.run import DagRun
    from tests.sim.process import Process
    from tests.sim.world import World

NAMES = ("east", "north", "south", "west")
_GONE = ("leaving", "removed", "ended")
Answer = Union[SitesMatched, SitesUnknown]


def _policy(rng: Random) -> SitePolicy:
    def some(*values: int) -> int:
        return rng.choice((0, 0, *values))

    return SitePolicy(
        wait=rng.choice((3000, 30_000)),
        idle=some(100, 400),
        held=some(100),
        gone=some(200),
        failures=some(1, 2, 4),
        rematch_if=rng.choice(("", "", "x")),
        rounds=rng.choice((1, 2, 3, 5)),
        clean_up_time=rng.choice((50, 600)),
        old_site=rng.choice(("LAST", "NEVER")),
    )


class FakeRounds(FakeHelper):
    """The rounds that one DAGMan process has made."""

    def __init__(self, process: Process) -> None:
        self._sites = FakeSites.of(process.world)
        super().__init__(process, self._sites.rng)

    def ask(self, request: MatchSites, then: Callable[[Any], None]) -> None:
        self._sites.wake = lambda: self._say(then, PlaceFree())
        super().ask(request, then)

    def _answer(self, request: MatchSites) -> Answer:
        return self._sites.round(self._process, request)

    def _say(self, then: Callable[[Any], None], unasked: PlaceFree) -> None:
        world, process = self._world, self._process
        if world.process is process and process.exit is None:
            process.requests.pending += 1
            process.requests._answer_at(world.now, then, unasked)


def _site(cluster: Cluster) -> str:
    """The site that its node's group is at, '' if it is in no group."""
    return "" if cluster.action is None else cluster.action.site


def _leaves(world: World) -> bool:
    return "has to leave site" in world.trace_text()


class FakeSites(Part):
    """All sites; what a DAGMan has done is `FakeRounds`.

    Attributes:
        claims: group and site that are kept for the present DAGMan job.
        trouble: why no round can be made, '' if one can.
        last_site: at which each node has last been submitted.
        by_hand: nodes that are done because a person says so.
        wake: tells the DAGMan that looks for sites that others have given up places.
    """

    kind = "matched"
    meaning = "groups of nodes run at sites"
    place = 2
    stream = "groups"
    crashed: ClassVar = ((5, _leaves), (22, _leaves))
    helpers: ClassVar = {"sites": FakeRounds}
    undoes = True
    at_once = ("SITE_LEFT", "SITE_CLEANED")

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.rng = rng = Random(f"sites {world.seed}")
        self.most = {name: rng.choice((0, 1, 1, 2, 5)) for name in NAMES}
        self.most[rng.choice(NAMES)] = 3
        self.others = {name: rng.randint(0, most) for name, most in self.most.items()}
        self.dead = {name for name in NAMES if rng.random() < 0.2}
        self.missing: set[str] = set()
        self.claims: dict[int, str] = {}
        self.trouble = ""
        self.last_site: dict[str, str] = {}
        self.by_hand: set[str] = set()
        self._by_file: set[str] = set()  # called DONE by the DAG file, not run; no clean-ups
        self.wake: Callable[[], None] = lambda: None
        if self.is_on:
            world.every(30.0, self._change)

    @classmethod
    def add(cls, dag: Dag, rng: Random) -> None:
        """Put some nodes of the DAG into groups."""
        nodes = [node for node in range(len(dag)) if dag.kinds[node] in ORDINARY_KINDS]
        rng.shuffle(nodes)
        while nodes and rng.random() < 0.9:
            size = rng.choice((1, 2, 2, 3, 5))
            members, nodes = tuple(sorted(nodes[:size])), nodes[size:]
            data = GroupsOfDag.put(dag)
            number = len(data.site_groups)
            data.number_of.update(dict.fromkeys(members, number))
            clean_up = rng.choice(members) if rng.random() < 0.4 else -1
            data.site_groups.append(SiteGroup(f"g{number}", members, _policy(rng), clean_up))

    def prepare(self, run: DagRun) -> None:
        if run.dag.groups:
            run.extras = FakeValues()

    def given_up(self) -> None:
        self.claims.clear()

    def new_era(self) -> None:
        for name in set[str]().union(*(part.not_run() for part in self.world.parts)):
            self.last_site.pop(name, None)  # its rescue DAG does not tell that it has not run

    def started(self, process: Process, *, recovering: bool) -> None:
        if not recovering:
            dag, both = process.dag, DONE | USER_DONE
            done = {node for node, flags in enumerate(dag.flags) if flags & both == both}
            for node in done:  # it ran in a run before, at that one's site
                self.last_site.pop(dag.names[node], None)
            done -= {group.clean_up for group in GroupsOfDag.of(dag).site_groups}
            self._by_file = {dag.names[node] for node in done}

    def runs_anew(self, name: str) -> None:
        self._by_file.discard(name)

    def _change(self) -> None:
        """Ads come and go; others take places and give them up; at the end all is well."""
        if self.world.now >= self.world.faults.until:
            self.missing.clear()
            self.dead.clear()
            self.others = dict.fromkeys(NAMES, 0)
            return
        name = self.rng.choice(NAMES)
        if self.rng.random() < 0.3:
            self.missing ^= {name}
        taken = Counter(self.claims.values())[name]
        self.others[name], before = (
            self.rng.randint(0, max(0, self.most[name] - taken)),
            self.others[name],
        )
        if self.others[name] < before:
            self.wake()

    def never_runs(self, cluster: Cluster) -> bool:
        return _site(cluster) in self.dead

    def is_deaf(self, cluster: Cluster) -> bool:
        return _site(cluster) in self.dead and not cluster.number % 3

    def action_asked(self, process: Process, action: do.Action) -> None:
        if isinstance(action, do.RunScript) and action.site and action.kind is not ScriptKind.HOLD:
            self.last_site[process.dag.names[action.node]] = action.site

    def cluster_taken(self, process: Process, cluster: Cluster) -> None:
        if self.world.ever_garbled:
            return
        dag, site = process.dag, _site(cluster)
        group = dag.group_of(dag.ids[cluster.node])
        if group is None:
            require(not site, f"O33: {cluster.node} has a site and is in no group")
            return
        kept = self.claims.get(group, "")
        where = f"{cluster.node} runs at {site!r}, and {kept!r} is kept for its group"
        require(site and site == kept, f"O33: {where}")
        for other in self._live(dag, group):
            there = _site(other)
            require(there == kept, f"O33: {other.node} is still at {there!r}, {where}")
        self.last_site[cluster.node] = site

    def round(self, process: Process, action: MatchSites) -> Answer:
        """What a round of matchmaking does."""
        for group, site in self.claims.items():
            if (group, site) not in action.claims and not self.world.ever_garbled:
                left = [one.node for one in self._live(process.dag, group)]
                require(not left, f"O35: {site} is given up, but {left} are in the queue")
        if self.rng.random() < 0.1 and self.world.now < self.world.faults.until:
            return SitesUnknown("the collector does not answer")
        if self.trouble:
            return SitesUnknown(self.trouble)
        kept = dict(action.claims)
        there = [name for name in NAMES if name not in self.missing]
        taken = Counter(kept.values())
        rooms = {name: Room(self.most[name], self.others[name] + taken[name]) for name in there}
        kinds = {one.kind for one in action.wanted}
        offers = {kind: [*map(Offer, there)] for kind in kinds}
        chosen = choose(action.wanted, offers, rooms, action.limits.of(there))
        self.claims = {**kept, **dict(chosen)}
        for name, count in Counter(site for _, site in chosen).items():
            over = self.others[name] + taken[name] + count > self.most[name]
            require(not over, f"O34: {name} is over its limit")
        unfit = [group for group, _ in action.watched if self.rng.random() < 0.05]
        if self.rng.random() < 0.1 and self.world.now < self.world.faults.until:
            return SitesUnknown("the process has died")  # the claims have been written
        return SitesMatched(
            [SiteClaim(group, site, f"ad-{site}") for group, site in chosen],
            there,
            [(kind, f"{len(there)} sites are full") for kind in kinds],
            unfit,
        )

    def rescue_written(self, process: Process, text: str) -> None:
        """It may call a node done that failed when it had no site, for its weak children."""
        self._note_log()
        for line in text.splitlines():
            if line.startswith("DONE ") and line[5:] not in self.world.oracles.truth.done:
                self.last_site.pop(line[5:], None)

    def _note_log(self) -> None:
        """Look in the nodes log of a run which nodes are done because a person says so."""
        for event in (entry.event for entry in self.world.log.entries):
            if event.kind == EventKind.SUBMIT:
                self.by_hand.discard(event.node)
            if event.record == "STEERED" and event.text.endswith((" done", " skip")):
                self.by_hand.add(event.node)

    def ended_well(self, process: Process) -> None:
        self._note_log()
        dag, done = process.dag, self.world.oracles.truth.done - process.unneeded()
        for part in self.world.parts:
            done -= part.not_run()
        matched: dict[int, str] = {}
        for entry in self.world.log.entries:
            event = entry.event
            if event.record is not None and event.record == "SITE_MATCHED":
                matched[numbers_of(dag)[dag.ids[event.node]]] = event.text.partition(" ")[2]
        for node, group in numbers_of(dag).items():
            name = dag.names[node]
            if name in done - self.by_hand and name in self.last_site and group in matched:
                where = f"{name} has run at {self.last_site[name]}, not at {matched[group]}"
                require(self.last_site[name] == matched[group], f"O36: {where}")

    def learn(self, truth: Truth, event: LogEvent, cluster: Cluster | None) -> None:
        """Nothing of a group of nodes runs at its old site, and what they have done counts no
        more, unless the DAG file says that they are done; the event names one of them."""
        if event.record == "SITE_LEFT":
            for name in _note_group(truth, event.node):
                if name not in self._by_file:
                    truth.run_anew(name, NO_LIMIT)
        elif event.record in ("NO_SITE", "SITE_CLEANED"):
            _note_group(truth, event.node)
        elif event.record == "CONDITION" and not event.value:
            self.last_site.pop(event.node, None)  # what ran there was its clean-up at most

    def allows(self, run: RunState, parent: int, child: int) -> bool:
        """The child may have used what its parent did at a site before."""
        sites = run.features.get("sites")
        group = sites.group(parent) if sites else None
        if group is None or group == sites.group(child):
            return False
        return bool(sites.taken_back.get(group)) or sites.group_states[group] == GroupState.LEAVING

    def differs(self, want: State, have: State, other: RunState, node: int) -> bool:
        """A node that has not begun leaves with its group, when it is next asked whether all
        have."""
        sites = other.features.get("sites")
        group = sites.group(node) if sites else None
        leaves = group is not None and sites.group_states[group] == GroupState.LEAVING
        return leaves and want in (State.WAITING, State.FUTILE) and have in NOT_BEGUN

    def blurs(self, dag: Dag) -> bool:
        return bool(dag.groups)

    def _live(self, dag: Dag, group: int) -> list[Cluster]:
        """Clusters of a group with jobs in the queue that nobody has removed."""
        names = {dag.names[node] for node in dag.groups[group].nodes}
        jobs = self.world.schedd.queue.values()
        return [
            job.cluster
            for job in jobs
            if job.cluster.era == self.world.era
            and job.cluster.node in names
            and job.status not in _GONE
            and not job.cluster.removed
        ]


class FakeValues:
    """Sites that give nothing to nodes."""

    def template(self, template: Template, action: do.SubmitNode) -> Template:
        return template

    def macros(self, action: do.SubmitNode) -> Mapping[str, str]:
        return {}

    def environment(self, action: do.SubmitNode | do.RunScript) -> Mapping[str, str]:
        return {}


def _note_group(truth: Truth, first: str) -> list[str]:
    """The names of a group's nodes; `first` is one of them."""
    dag = truth.dag
    number = dag.group_of(dag.ids[first])
    assert number is not None, first
    names = [dag.names[node] for node in dag.groups[number].nodes]
    for name in names:
        truth.changed |= {name, *truth.descendants(name)}
    return names


PART = FakeSites
