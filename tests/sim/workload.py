"""Random DAGs, settings and outcomes: all of a run but its faults."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Collection
from dataclasses import dataclass
from random import Random

from condor_pydagman.config import Config
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.graph.model import DONE, NOOP, USER_DONE, Abort, Dag, Tolerance
from condor_pydagman.vocabulary import ORDINARY_KINDS, NodeKind, ScriptKind
from tests.sim import workload_special
from tests.sim.kinds import PARTS

CODES = (1, 2, 3, -9, -11)
MAX_FAILURES = 12  # retries of a node after which its jobs succeed, for the run to end
MAX_NODES = 12
MAX_MORE_NODES = 20  # where nodes can be submitted together
MAX_DEFERRALS = 2  # of one script in one run of its node


class Outcomes:
    """How jobs and scripts end: a fixed table, so that a crash changes nothing about it."""

    def __init__(self, seed: int, failing: float, *, one_proc: bool = False) -> None:
        """`one_proc`: each node has one, without late materialization."""
        self._seed = seed
        self._failing = failing
        self._one_proc = one_proc

    def procs(self, node: str) -> int:
        if self._one_proc:
            return 1
        return Random(f"{self._seed} procs {node}").choice((1, 1, 1, 2, 3))

    def factory(self, node: str) -> int:
        """How many procs late materialization keeps in the queue; 0 if there is none of that."""
        if self._one_proc:
            return 0
        rng = Random(f"{self._seed} factory {node}")
        return rng.choice((0, 0, 0, 0, 0, 1, 2))

    def prepares(self, era: int, node: str) -> bool:
        """Whether the PROVISIONER's job says that all is ready, before it ends."""
        return Random(f"{self._seed} {era} prepares {node}").random() < 0.8

    def common_input(self, node: str) -> bool:
        """Whether the node's jobs have the DAG's list of common input files."""
        if Random(f"{self._seed} common input").random() >= 0.2:
            return False
        return Random(f"{self._seed} common input {node}").random() < 0.5

    def seconds(self, node: str, retry: int) -> float | None:
        """How long a job of the node runs; None leaves it to chance."""
        return None

    def job(self, era: int, node: str, retry: int, proc: int) -> int:
        """Exit code, negative for a signal."""
        if retry > MAX_FAILURES:
            return 0
        return self._draw(era, f"job {node} {retry} {proc}")

    def script(self, era: int, node: str, kind: ScriptKind, retry: int, deferred: int) -> int:
        """Exit code of a script that has been put off `deferred` times before."""
        if kind is ScriptKind.HOLD:  # which means nothing, but DEFER
            return Random(f"{self._seed} {node} {retry} {deferred}").choice((0, 1, 3))
        return self._draw(era, f"{kind.value} {node} {retry} {deferred}")

    def _draw(self, era: int, what: str) -> int:
        rng = Random(f"{self._seed} {era} {what}")
        return rng.choice(CODES) if rng.random() < self._failing / (era + 1) else 0


class Ends(Outcomes):
    """A table written by hand, for the first era: what is not in it succeeds, and all does later.

    Keys are `job NAME RETRY PROC` and `PRE NAME RETRY DEFERRED`, as Outcomes draws them, and
    `seconds NAME RETRY`.
    """

    def __init__(self, table: dict[str, int], procs: dict[str, int] | None = None) -> None:
        super().__init__(0, 0.0)
        self._table = table
        self._procs = procs or {}

    def procs(self, node: str) -> int:
        return self._procs.get(node, 1)

    def factory(self, node: str) -> int:
        return self._table.get(f"factory {node}", 0)

    def common_input(self, node: str) -> bool:
        return bool(self._table.get(f"common input {node}"))

    def prepares(self, era: int, node: str) -> bool:
        return True

    def seconds(self, node: str, retry: int) -> float | None:
        return self._table.get(f"seconds {node} {retry}")

    def _draw(self, era: int, what: str) -> int:
        return self._table.get(what, 0) if era == 0 else 0


@dataclass(frozen=True)
class Workload:
    """What is to be run: `build` makes a fresh DAG, since a rescue file changes it."""

    build: Callable[[], Dag]
    config: Config
    limits: Throttles
    outcomes: Outcomes


def draw(seed: int, rng: Random, kinds: Collection[str], *, together: bool = True) -> Workload:
    """A random workload for a world of these kinds; its nodes may be submitted together, unless
    not `together`."""
    shape = rng.getrandbits(64)
    failing = rng.choice((0.0, 0.05, 0.2, 0.5))
    config, limits = _config(rng), _limits(rng)
    chance = Random(f"{seed} together")
    most = chance.choice((1, 2, 5, 1000)) if together else 1
    config = config.but(max_nodes_in_cluster=most)
    parts = [part for part in PARTS if part.kind in kinds]
    for part in parts:
        config = part.config(config, seed)
    wide = most > 1 and chance.random() < 0.8
    more = chance.randint(1, MAX_MORE_NODES) if wide else 0
    outcomes = Outcomes(seed, failing, one_proc=wide)

    dag = _dag(Random(shape), more)
    _mark_done(dag, Random(f"{shape} done"))
    for part in parts:
        part.add(dag, Random(f"{seed} {part.stream or part.kind}"))
    drawn = pickle.dumps(dag)  # of which a copy is made in a tenth of the time
    return Workload(lambda: pickle.loads(drawn), config, limits, outcomes)


def _config(rng: Random) -> Config:
    def coin() -> bool:
        return rng.random() < 0.5

    return Config(
        submit_depth_first=coin(),
        retry_submit_first=coin(),
        retry_node_first=coin(),
        always_run_post=coin(),
        remove_job_list_on_failure=coin(),
        node_job_failure_tolerance=rng.choice((0, 0, 0, 1)),
        reset_retries_upon_rescue=coin(),
        max_submit_attempts=rng.choice((1, 3, 6)),
        check_queue_interval=rng.choice((60, 300)),
        max_job_holds=rng.choice((0, 1, 2, 100, 100)),
        put_failed_jobs_on_hold=rng.random() < 0.15,
        restart_pre_rate=rng.choice((0, 0, 1, 5)),
        remove_jobs_after_limit_change=coin(),
        allow_events=rng.choice((-1,) * 9 + (114,)),
        use_strict=rng.choice((0, 1)),
    )


def _limits(rng: Random) -> Throttles:
    def limit() -> int:
        return rng.choice((0, 0, 1, 2, 3))

    return Throttles(
        jobs=limit(), idle=limit(), pre=limit(), post=limit(), hold=limit(), submits=limit()
    )


def _dag(rng: Random, more: int) -> Dag:
    """A DAG, with so many `more` nodes that have nothing but a parent, perhaps."""
    dag = Dag(files=["t.dag"])
    count = rng.randint(1, MAX_NODES)
    for number in range(count):
        noop = NOOP if rng.random() < 0.1 else 0
        kind = NodeKind.SUBDAG if rng.random() < 0.1 else NodeKind.JOB
        dag.add_node(f"N{number}", "n.sub", kind, flags=noop)
    _edges(dag, rng)
    often = rng.choice((0.1, 0.3, 0.6))
    for node in range(count):
        _options(dag, node, rng, often)
    for number in range(count, count + more):
        dag.add_node(f"N{number}", "n.sub")
        if more % 2:
            dag.add_edges([0], [number])
        if number % 2:
            _options(dag, number, rng, often / 2)
    workload_special.add_nodes(dag, rng, often)
    names = sorted(set(dag.categories.values()))
    dag.category_limits = {name: rng.randint(1, 2) for name in names if rng.random() < 0.8}
    dag.finish()
    return dag


def _mark_done(dag: Dag, rng: Random) -> None:
    """Mark nodes DONE, wherever they stand: behind nodes that fail as well."""
    share = rng.choice((0.0, 0.0, 0.1, 0.3))
    for node in range(len(dag)):
        if dag.kinds[node] in ORDINARY_KINDS and rng.random() < share:
            dag.flags[node] |= DONE | USER_DONE


def _edges(dag: Dag, rng: Random) -> None:
    count = len(dag)
    for child in range(1, count):
        for _ in range(rng.choice((0, 1, 1, 2))):
            dag.add_edges([rng.randrange(child)], [child], weak=rng.random() < 0.2)
    if count >= 4 and rng.random() < 0.5:
        middle = rng.randint(2, count - 2)
        parents = sorted(rng.sample(range(middle), rng.randint(2, min(4, middle))))
        children = range(middle, count)
        some = sorted(rng.sample(children, rng.randint(2, min(4, len(children)))))
        dag.add_edges(parents, some, weak=rng.random() < 0.2)
    if count >= 2 and rng.random() < 0.02:
        dag.add_edges([count - 1], [rng.randrange(count - 1)])  # perhaps a cycle


def _options(dag: Dag, node: int, rng: Random, often: float) -> None:
    for kind in (ScriptKind.PRE, ScriptKind.POST):
        if rng.random() < often:
            dag.scripts.setdefault(node, {})[kind] = workload_special.script(rng)
    if rng.random() < often:
        dag.retries[node] = workload_special.retry(rng)
    if rng.random() < often / 3:
        dag.aborts[node] = Abort(rng.choice((*CODES, -1002)), rng.choice((None, 0, 4)))
    if rng.random() < often / 30:
        dag.aborts[node] = Abort(0, rng.choice((None, 0, 4)))
    if rng.random() < often and dag.script(node, ScriptKind.PRE):
        dag.pre_skips[node] = rng.choice((1, 2))
    if rng.random() < often:
        dag.priorities[node] = rng.randint(-5, 5)
    if rng.random() < often:
        dag.categories[node] = rng.choice(("a", "b"))
    if rng.random() < often:
        percent, fail_fast = rng.random() < 0.5, rng.choice((None, True, False))
        limit = rng.choice((0, 50, 67, 100)) if percent else rng.randint(0, 2)
        dag.tolerances[node] = Tolerance(limit, percent, fail_fast)
    workload_special.add_options(dag, node, rng, often)
