"""A DAG that is watched: what its files and, where these are not at hand, the schedd say of it."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import islice
from typing import Any

from condor_pydagman.adapters.files import living_holder
from condor_pydagman.engine.node_states import State
from condor_pydagman.errors import PoolError, PydagmanError
from condor_pydagman.follow.carriers import with_jobs
from condor_pydagman.follow.notices.collect import notices_of
from condor_pydagman.follow.notices.facts import Facts, Load, Nodes, Throttled, queued
from condor_pydagman.follow.notices.held_jobs import logged_holds
from condor_pydagman.follow.notices.name_lists import MAX_NAMES
from condor_pydagman.follow.overview import Dagman, Overview, Standing, shown_counts
from condor_pydagman.follow.run_model import LIVE, OVER, DagState, NodeRun, Run
from condor_pydagman.follow.tally import Tally
from condor_pydagman.graph.model import Dag
from condor_pydagman.monitor import schedd_queries
from condor_pydagman.monitor.dag_monitor import DagMonitor
from condor_pydagman.monitor.data_node_logs import data_waits
from condor_pydagman.monitor.file_facts import changed_at, shown, size_of
from condor_pydagman.monitor.found_dag import FoundDag, find_dag
from condor_pydagman.monitor.found_state import state_of_ad, state_of_files
from condor_pydagman.monitor.outside_facts import OutsideFacts
from condor_pydagman.monitor.plan import is_of_earlier_run, known_plan, read_small_plan
from condor_pydagman.vocabulary import NodeKind, NodeStatus, ScriptKind

MAX_LOG_BYTES = 32 << 20  # of a nodes log that is read whole; that takes a second
MAX_WHOLE_BYTES = 1 << 30  # the same where all nodes are wanted
TAIL_BYTES = 8 << 20  # of the end of a larger one
ASK_S = 15.0  # between questions to the schedd
MAX_DEPTH = 4  # of sub-DAGs
MAX_DAGS = 100  # with its sub-DAGs
_HAS_CLAIMS = (*LIVE, DagState.HELD, DagState.INTERRUPTED)


class WatchedDag:
    """A DAG that is looked at again and again.

    Args:
        found: the DAG.
        depth: how many levels of sub-DAGs are followed.
        followed: paths of the DAGs that are followed already, of which this one is a part.
        whole: the states of all nodes are wanted, even if it takes seconds to find them out.
        schedd: gives the ad of DAGMan's job in the queue, {} if it is not there, or raises
            PoolError; without it the schedd is asked in this thread.
        outside: what features know that is not in files of the DAG; without it they find out.
    """

    def __init__(
        self,
        found: FoundDag,
        depth: int = MAX_DEPTH,
        followed: set[str] | None = None,
        *,
        whole: bool = False,
        schedd: Callable[[int], Mapping[str, Any]] | None = None,
        outside: OutsideFacts | None = None,
    ) -> None:
        self.found = found
        self._outside = OutsideFacts() if outside is None else outside
        self._claimant = found.cluster  # by what its claims are known
        self._schedd = schedd
        self._depth = depth
        self._followed = followed if followed is not None else set()
        self._path = os.path.realpath(found.paths.primary)
        self._followed.add(self._path)
        huge = size_of(found.nodes_log) > (MAX_WHOLE_BYTES if whole else MAX_LOG_BYTES)
        self._monitor = DagMonitor(
            found,
            read_plan=lambda: known_plan(self.found) if whole else read_small_plan(self.found),
            tail_bytes=TAIL_BYTES if huge else None,
        )
        run = self._monitor.read()
        if not run.complete:
            run.begun = changed_at(found.paths.lock) or run.begun  # DAGMan makes it at its start
        self._tally = self._monitor.tally()
        self._nothing = Tally(Run())  # of a run that the logs are not about
        self.tally = self._nothing  # numbers of its run as of the last look, and the run itself
        self._state, self._note = found.state, found.schedd_problem
        self._is_past = is_of_earlier_run(found)
        self._ad: Mapping[str, Any] = found.ad
        self._asked_at = time.monotonic() if found.ad else 0.0
        self._gone = False  # neither DAGMan nor its job is there
        self._inner: dict[str, WatchedDag] = {}
        # as it was when stock was taken; None if the logs have told more since
        self._dagman: Dagman | None = None
        self._standing: Standing
        self._facts: Facts
        self._doubt = ""

    @property
    def over(self) -> bool:
        """Whether it has ended, and nothing more will come."""
        return (self._state in OVER or self._gone) and not self._monitor.more

    @property
    def exit_code(self) -> int | None:
        """condor_dagman's; None while it runs, or if it is not known."""
        if self.found.exit_code is not None:
            return self.found.exit_code
        return self._tally.run.exit_code if self._is_of_this_run() else None

    @property
    def dag(self) -> Dag | None:
        """The graph; None if the DAG files are too large, or can't be read."""
        return self._tally.dag

    def changed(self) -> Collection[NodeRun]:
        """Nodes of which something has changed since the last call, as of the last look."""
        return self._monitor.changed()

    def look(self) -> Overview:
        """How it stands now: what the logs tell is found out anew only if they tell more."""
        has_halt_file = os.path.exists(self.found.paths.halt)
        self._read(has_halt_file=has_halt_file)
        if self._state in OVER:  # the logs may have told more until it ended
            self._read(has_halt_file=has_halt_file)
        is_live, over = self._state in LIVE, self.over
        state, code = self._state.value, self.exit_code if over else None
        dagman = Dagman(state, self._note, self.found.cluster, self._ad, is_live, over, code)
        if dagman != self._dagman:
            self._take_stock(dagman)
        subdags, outside = self._subdags(), self._seen_outside()
        seen = self._standing.at(time.time(), subdags=subdags, outside=outside)
        facts = self._facts._replace(
            now=seen.now,
            has_halt_file=has_halt_file,
            of=seen.of_features,
            data_waits=data_waits(self.found, self.tally.dag, self.tally.run.in_queue.values()),
        )
        seen = seen.with_notices(notices_of(facts), moves=not is_live or self._standing.moves)
        return seen if seen.note or not self._doubt else seen._replace(note=self._doubt)

    def _take_stock(self, dagman: Dagman) -> None:
        """What the logs tell, and what follows from it whatever the time is."""
        is_of_run = not self._tally.run.starts or self._is_of_this_run()
        shows_run = is_of_run and not self._is_past
        self.tally = self._tally if shows_run else self._nothing
        self._standing = Standing(self.found.name, dagman, self.tally)
        counts = self._standing.seen.counts
        self._facts = logged_facts(self.found, self._state, self.tally, counts, self._ad)
        self._doubt = next(iter(self._monitor.doubts), "") if shows_run else ""
        self._dagman = dagman

    def _read(self, *, has_halt_file: bool) -> None:
        """The logs, and the state: by the files, and by the schedd if these do not say enough."""
        if self._monitor.read() is not self._tally.run:  # another run has begun
            self._tally = self._monitor.tally()
        if self._monitor.has_news:
            self._dagman = None
        if self._is_past:
            self._note = f"the logs are of a later run than job {self.found.cluster}"
            return
        state, cluster = DagState.UNKNOWN, 0
        holder = living_holder(self.found.paths.lock)
        if holder is not None:  # to read the end of .dagman.out each time would take long
            is_halted = has_halt_file or self._tally.run.halted
            state = DagState.HALTED if is_halted else DagState.RUNNING
            cluster, self._claimant = holder.cluster, holder.cluster or holder.pid
        elif self.found.has_files or self.found.state is DagState.NOT_STARTED:
            found = state_of_files(self.found.paths)
            state = found.state if self._is_of_this_run() else DagState.UNKNOWN
            cluster = found.cluster
        if cluster not in (0, self.found.cluster):
            self.found = self.found._replace(cluster=cluster)
        if state in LIVE and (self._tally.dag is not None or self._tally.run.counts):
            self._state, self._note, self._gone = state, "", False
            return
        if state not in OVER:
            self._ask(state)
        if self._ad and state not in (*OVER, *LIVE):
            state, code = state_of_ad(self._ad)
            self.found = self.found._replace(exit_code=code)
        elif state is DagState.UNKNOWN and self.found.submitted and not self._gone:
            state = DagState.IDLE
        self._state = state

    def _is_of_this_run(self) -> bool:
        run = self._tally.run
        newest = run.starts[-1].time if run.starts else run.begun  # of a huge log, the end was read
        ended = self.found.left_queue_at
        return newest >= int(self.found.submitted) and not (ended and newest > ended)

    def _ask(self, state: DagState) -> None:
        """If it is time to ask again."""
        if self._asked_at and time.monotonic() < self._asked_at + ASK_S:
            return
        self._asked_at = time.monotonic()
        self._note, self._gone = "", False
        try:
            ask = self._schedd or schedd_queries.queued_dagman_ad
            self._ad = ask(self.found.cluster) if self.found.cluster else {}
            # without a cluster, DAGMan may run where its lock can't be seen, or have just begun
            is_new = state is DagState.NOT_STARTED and not os.path.exists(self.found.out)
            self._gone = not self._ad and (is_new or bool(self.found.cluster))
            by_history = self._schedd is None and not self.found.has_files
            if not self._ad and self.found.cluster and by_history:
                self._ad = schedd_queries.dagman_ad(self.found.cluster)
        except PoolError as error:
            self._note = str(error)
        if self._gone and state is not DagState.NOT_STARTED:
            self._note = "no DAGMan is running it, and none is in the queue"

    def _seen_outside(self) -> dict[str, Any]:
        claimant, has_any = self._claimant or self.found.cluster, self._state in _HAS_CLAIMS
        shown: dict[str, Any] = {}
        for name in self._standing.used:
            watcher = self._outside[name]
            if watcher is not None:
                shown.update(watcher.shown(self._tally.dag, claimant, has_any=has_any))
        return shown

    def _subdags(self) -> list[Overview]:
        """Of the nodes in the queue that are DAGs."""
        dag, seen = self._tally.dag, list[Overview]()
        if dag is None or not self._depth:
            return seen
        for node, file in dag.subdags.items():
            name = dag.names[node]
            run = self._tally.run.nodes.get(name)
            if run is None or run.status is not NodeStatus.SUBMITTED:
                if name in self._inner:
                    self._inner.pop(name).forget()
                continue
            inner = self._inner_dag(name, dag.directories.get(node, ""), file)
            if inner is not None:
                seen.append(inner.look()._replace(dag=f"{name}: {file}"))
        return seen

    def _inner_dag(self, node: str, directory: str, file: str) -> WatchedDag | None:
        """None if its files are not there, or if it is followed already: it would be part of
        itself."""
        if node not in self._inner:
            try:
                found = find_dag(os.path.join(self.found.directory, directory, file), ask=False)
            except PydagmanError:
                return None
            if len(self._followed) >= MAX_DAGS:
                return None
            if os.path.realpath(found.paths.primary) in self._followed:
                return None
            self._inner[node] = WatchedDag(
                found,
                self._depth - 1,
                self._followed,
                schedd=self._schedd,
                outside=self._outside,
            )
        return self._inner[node]

    def forget(self) -> None:
        """It is followed no longer."""
        self._followed.discard(self._path)
        for inner in self._inner.values():
            inner.forget()


_MORE_TO_COME = ("running", "idle", "held", "pre", "post", "ready", "waiting")


def facts_of(found: FoundDag, run: Run, now: float) -> Facts:
    """What is known of a DAG that was found, and of its run; `now` in seconds since the epoch."""
    return Facts(
        found.name,
        found.state,
        now,
        run,
        found.cluster,
        found.ad,
        exit_code=found.exit_code,
        out=shown(found.out),
        nodes_log=shown(found.nodes_log),
        halt_file=shown(found.paths.halt),
    )


def logged_facts(
    found: FoundDag,
    state: DagState,
    tally: Tally,
    counts: Mapping[str, int],
    ad: Mapping[str, Any],
    *,
    may_count: bool = False,
) -> Facts:
    """What is known of a DAG by its logs.

    Args:
        counts: nodes by `shown_states.COUNTED`, and their total.
        may_count: see `Facts`.
    """
    run, retries = tally.run, tally.retries()
    last = len(tally.dag.of_kind(NodeKind.FINAL)) if tally.dag is not None else 0
    ready = counts["ready"] - len(retries)
    most = None if may_count else MAX_NAMES
    return Facts(
        found.name,
        state,
        time.time(),
        run,
        found.cluster,
        ad,
        tally.dag,
        found.exit_code,
        shown(found.out),
        shown(found.nodes_log),
        shown(found.paths.halt),
        held=list(logged_holds(with_jobs(run, (*run.in_queue.values(), *run.services)))),
        held_by=shown(found.nodes_log),
        counts=counts,
        counts_hold=tally.counts_hold,
        load=_load(counts, ready, tally, most) if state in LIVE else None,
        retries=retries,
        to_start=counts["waiting"] + counts["ready"] + counts["pre"] > last,
        may_count=may_count,
        all_ended=bool(counts["total"]) and not any(map(counts.get, _MORE_TO_COME)),
    )


def facts_by_logs(found: FoundDag, tally: Tally) -> Facts:
    """As `logged_facts`, of logs that are read once: there is time to name all nodes."""
    counts, _ = shown_counts(tally, found.ad)
    return logged_facts(found, found.state, tally, counts, found.ad, may_count=True)


def _load(counts: Mapping[str, int], ready: int, tally: Tally, most: int | None) -> Load:
    """What throttles count, with `most` names of nodes that wait."""
    run, taken, limits = tally.run, tally.taken(), tally.run.limits
    nodes = sum(counts[name] for name in ("running", "idle", "held"))
    names = islice(map(tally.name, tally.in_state(State.READY)), most) if ready > 0 else ()
    waiting = Nodes(ready, [*names])
    in_queue = with_jobs(run, run.in_queue.values()) if limits.get("DAGMan_MaxIdle") else ()
    pre, post = limits.get("DAGMan_MaxPreScripts", 0), limits.get("DAGMan_MaxPostScripts", 0)
    return Load(
        queued(nodes, taken.jobs if taken else None, waiting),
        Throttled(sum(node.attempts[-1].idle for node in in_queue), waiting),
        _scripts(ScriptKind.PRE, counts["pre"], pre, tally, most),
        _scripts(ScriptKind.POST, counts["post"], post, tally, most),
        dict(_categories(tally)) if ready > 0 else {},
    )


def _scripts(
    kind: ScriptKind, number: int, limit: int, tally: Tally, most: int | None
) -> Throttled:
    """DAGMan runs as many as it may: the others wait, but those that were put off."""
    run = tally.run
    off = run.scripts_off() if run.put_offs else {}
    number -= sum(one.kind is kind for one in off.values())
    if not 0 < limit < number:
        return Throttled(number)
    at = State.PRE_WAIT if kind is ScriptKind.PRE else State.POST_WAIT
    nodes = (run.nodes[tally.name(node)] for node in tally.in_state(at))
    starting = (node for node in nodes if not (node.script_since(kind) or node.name in off))
    waiting = (node.name for node in starting)
    return Throttled(limit, Nodes(number - limit, [*islice(waiting, most)][: number - limit]))


def _categories(tally: Tally) -> Iterator[tuple[str, Throttled]]:
    """Those with a MAXJOBS line."""
    dag, taken = tally.dag, tally.taken()
    if dag is None or not dag.category_limits:
        return
    submitted = Counter(dag.category_of(name) for name in tally.run.in_queue)
    waiting: dict[str, list[str]] = {}
    for node in tally.in_state(State.READY):
        waiting.setdefault(dag.categories.get(node, ""), []).append(tally.name(node))
    for category in dag.category_limits:
        places = taken.categories.get(category, 0) if taken else None
        names = waiting.get(category, [])
        yield category, queued(submitted[category], places, Nodes(len(names), names))
