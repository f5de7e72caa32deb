"""What DAGMan does about nodes with a CACHE command: has them looked up, and kept when they have
ended well.  DAGs without them do not load it.
"""

from __future__ import annotations

import select
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from condor_pydagman.adapters import cache_outlook
from condor_pydagman.adapters.cache_file import read_records
from condor_pydagman.adapters.cache_lookup import Question
from condor_pydagman.adapters.cache_process import Answer, CacheProcess, Keep, LookUp
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.graph.model import DONE
from condor_pydagman.records.cache_facts import cached_node

if TYPE_CHECKING:
    from condor_pydagman.adapters.schedd_process import ScheddProcess
    from condor_pydagman.daemon.ports import Out
    from condor_pydagman.daemon.run import DagRun
    from condor_pydagman.graph.model import Dag

Tell = Callable[[inputs.Input], None]


class CacheDesk:
    """Hands requests over, and gives their results back as inputs."""

    def __init__(self, run: DagRun) -> None:
        self._run = run
        self._told: set[str] = set()

    def take(self, action: do.LookUpCached | do.KeepCached, tell: Tell) -> None:
        """Do what the engine asks for; `tell` is given the answer later."""
        if isinstance(action, do.KeepCached):
            self._keep(action, tell)
            return
        cached = self._run.dag.cached
        quick = [one for one in action.wanted if not cached[one.node].checksum]
        if quick:
            self._look_up(quick, tell)
        for one in action.wanted:  # others need not wait for its files to be read
            if cached[one.node].checksum:
                self._look_up([one], tell)

    def _look_up(self, wanted: Sequence[do.CachedWanted], tell: Tell) -> None:
        dag = self._run.dag
        questions = tuple(Question(cached_node(dag, one.node), *one[2:]) for one in wanted)

        def told(answer: Answer) -> None:
            self._say(answer)
            results = [
                inputs.CachedResult(one.node, one.number, *found)
                for one, found in zip(wanted, answer.found)
            ]
            tell(inputs.CachedFound(results))

        self._run.schedd.ask(LookUp(questions), told)  # type: ignore[arg-type]

    def _keep(self, action: do.KeepCached, tell: Tell) -> None:
        dag = self._run.dag
        ended = tuple((cached_node(dag, node), result) for node, result in action.kept)

        def told(answer: Answer) -> None:
            self._say(answer)
            tell(inputs.CachedKept([node for node, _ in action.kept]))

        self._run.schedd.ask(Keep(ended), told)  # type: ignore[arg-type]

    def _say(self, answer: Answer) -> None:
        """Say what is wrong, and nothing twice."""
        for line in answer.problems:
            if line not in self._told:
                self._told.add(line)
                self._run.out.say(line, 0)


def open_desk(run: DagRun, schedd: ScheddProcess) -> CacheDesk:
    """The desk of a DAG with CACHE commands, and the process that does its requests."""

    def make(epoll: select.epoll) -> CacheProcess:
        say = lambda text: run.out.say(text, 0)  # noqa: E731
        return CacheProcess(run.paths.cache, epoll, run.clock.monotonic, say)

    schedd.add_helper(LookUp, make)
    schedd.share_helper(LookUp, Keep)
    return CacheDesk(run)


def asks_at_the_start(dag: Dag) -> bool:
    """Whether results will be asked for: those of nodes that are done from the start or skipped,
    while others are looked up."""
    return bool(dag.conditions) or any(dag.flags[node] & DONE for node in dag.cached)


def known_results(path: str) -> dict[str, str]:
    """As `helpers.known_results`; nothing if the file can't be read, which is said later."""
    return {name: record.result for name, record in read_records(path).items()}


def foresee(dag: Dag, path: str, out: Out) -> None:
    """-DryRun: say which nodes would run, and why; others are taken for done."""
    found = cache_outlook.outlook(dag, path)
    for line in cache_outlook.told(dag, found):
        out.say(line)
    for node, why in found.items():
        if not why:
            dag.flags[node] |= DONE
