"""Looks up nodes with a CACHE command, and keeps that they have ended well, in a process: large
files whose checksums are made, and a file system that hangs, hold up nothing else.

If the process dies or takes too long, the nodes that it was asked for run, and no file of theirs is
looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Union

from condor_pydagman.adapters.helper_process import Helper
from condor_pydagman.adapters.processes import error_text
from condor_pydagman.daemon.helpers import Foreseen
from condor_pydagman.features.cache.adapters import outlook
from condor_pydagman.features.cache.adapters.file_states import CachedFiles
from condor_pydagman.features.cache.adapters.lookup import (
    Question,
    cached_node,
    look_up,
    new_result,
    outputs_of,
)
from condor_pydagman.features.cache.adapters.store_file import CacheFile, read_records
from condor_pydagman.features.cache.commands import cached_of
from condor_pydagman.features.cache.facts import CachedNode
from condor_pydagman.features.cache.run import (
    CachedFound,
    CachedKept,
    CachedResult,
    CachedWanted,
    KeepCached,
    LookUpCached,
)
from condor_pydagman.features.cache.store import Record, began_line, done_line
from condor_pydagman.graph.model import AFTER_ALL, DONE
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.names import DagPaths

if TYPE_CHECKING:
    from condor_pydagman.config import Config
    from condor_pydagman.daemon.helpers import Helpers
    from condor_pydagman.graph.building import BuildOptions
    from condor_pydagman.graph.model import Dag

CHECKSUM_TIMEOUT_S = 4 * 3600.0  # for an answer for which files are read


class LookUp(NamedTuple):
    """Look up nodes."""

    nodes: list[tuple[int, int]]  # each with the number of the request for it
    questions: list[Question]
    # why they are to run without a look at any file, '' if they are to be looked up
    blind: str = ""


class Keep(NamedTuple):
    """Nodes have ended well; with the names of their results."""

    nodes: list[int]
    ended: list[tuple[CachedNode, str]]


class Answer(NamedTuple):
    """Of each node that was to be looked up whether nothing has changed, the name of its result,
    and why it runs; and lines for people about what is wrong."""

    found: list[tuple[bool, str, str]]
    problems: list[str]


Order = Union[LookUp, Keep]


class CacheHelper(Helper):
    """See `Helper`.

    Args:
        path: the file that keeps what nodes were done with.
        say: is told what is wrong, nothing twice.
    """

    purpose = "look up nodes with a CACHE command"
    died = "the process that looked at its files has died"
    late = "to look at its files took too long"
    kinds = (LookUp, Question, CachedNode, Keep, Answer)
    timeout_s, stays_s = 60.0, 600.0
    is_like_new = True  # but for what has been said

    def __init__(self, dag: Dag, path: str, say: Callable[[str], None]) -> None:
        self._dag = dag
        self._say = say
        self._told: set[str] = set()
        self._file = CacheFile(path)
        self._files = CachedFiles()

    def orders(self, request: LookUpCached | KeepCached) -> Sequence[Order]:
        """One for all, but one for each node whose files are read: others need not wait."""
        dag = self._dag
        if isinstance(request, KeepCached):
            ended = [(cached_node(dag, node), result) for node, result in request.kept]
            return (Keep([node for node, _ in request.kept], ended),)
        cached = cached_of(dag)
        quick = [one for one in request.wanted if not cached[one.node].checksum]
        slow = [[one] for one in request.wanted if cached[one.node].checksum]
        return [self._look_up(some) for some in (quick, *slow) if some]

    def _look_up(self, wanted: Sequence[CachedWanted]) -> LookUp:
        questions = [Question(cached_node(self._dag, one.node), *one[2:]) for one in wanted]
        return LookUp([one[:2] for one in wanted], questions)

    def time_limit(self, order: Order, usual_s: float) -> float:
        """Much where files are read."""
        if isinstance(order, LookUp):
            reads = not order.blind and any(one.node.checksum for one in order.questions)
        else:
            reads = any(node.checksum for node, _ in order.ended)
        return CHECKSUM_TIMEOUT_S if reads else usual_s

    def reply(self, order: Order, answer: Answer) -> CachedFound | CachedKept:
        """What has been found; what is wrong is said."""
        for line in answer.problems:
            if line not in self._told:
                self._told.add(line)
                self._say(line)
        if isinstance(order, Keep):
            return CachedKept(order.nodes)
        results = [
            CachedResult(node, number, *found)
            for (node, number), found in zip(order.nodes, answer.found)
        ]
        return CachedFound(results)

    def instead(self, order: Order, reason: str) -> Sequence[Order]:
        """The store is to know at least that they run."""
        if isinstance(order, Keep) or order.blind:
            return ()
        return (order._replace(blind=reason),)

    def failed(self, order: Order, reason: str) -> CachedFound | CachedKept:
        """They run, or are not kept."""
        if isinstance(order, Keep):
            return self.reply(order, Answer([], [f"Warning: CACHE: nodes are not kept: {reason}"]))
        found = [(False, new_result(), order.blind) for _ in order.nodes]
        return self.reply(order, Answer(found, [f"Warning: CACHE: {reason}"]))

    # In the process.

    def serve(self, order: Order) -> Answer:
        """Do it, whatever happens."""
        found: list[tuple[bool, str, str]] = []
        problems: list[str] = []
        try:
            if isinstance(order, LookUp):
                found = self._found(order)
            else:
                problems = self._keep(order)
        except Exception as error:  # whatever it is, it is told
            problems = [f"Warning: CACHE: {error_text(error)}"]
            found = [(False, new_result(), error_text(error)) for _ in order.nodes]
        problems += [f"Warning: {line}" for line in self._file.problems]
        self._file.problems.clear()
        return Answer(found, problems)

    def _found(self, order: LookUp) -> list[tuple[bool, str, str]]:
        records = self._file.records()
        lines: list[str] = []
        begun: dict[str, Record] = {}
        found: list[tuple[bool, str, str]] = []
        for question in order.questions:
            name = question.node.name
            if order.blind:
                question = question._replace(parents="", why=order.blind)
            one = look_up(question, records.get(name), self._files)
            found.append(one[:3])
            if not one.hit:
                lines.append(began_line(name, one.result, one.facts))
                begun[name] = Record(one.result, one.facts)
        self._file.append(lines, begun, sync=True)
        return found

    def _keep(self, order: Keep) -> list[str]:
        records = self._file.records()
        lines: list[str] = []
        done: dict[str, Record] = {}
        problems: list[str] = []
        for node, result in order.ended:
            record = records.get(node.name)
            if record is None or record.result != result or record.outputs is not None:
                continue  # it is kept already, or the file has been deleted meanwhile
            outputs, problem = outputs_of(node, self._files)
            if problem:
                problems.append(f"Warning: CACHE: node {node.name} will run again: {problem}")
                continue
            lines.append(done_line(node.name, result, outputs))
            done[node.name] = record._replace(outputs=outputs)
        self._file.append(lines, done, sync=False)
        return problems


def open_helper(helpers: Helpers) -> CacheHelper:
    """The helper of a DAG with CACHE commands."""
    run = helpers.run
    return CacheHelper(run.dag, run.paths.cache, lambda line: run.out.say(line, 0))


def given(dag: Dag, paths: DagPaths) -> Mapping[str, str]:
    """Names of what nodes with a CACHE command have last made, by names of nodes."""
    # Those of nodes that are done from the start or skipped are wanted when others are looked up.
    done = (dag.flags[node] & DONE for node in cached_of(dag))
    if AFTER_ALL in dag.decided.values() or any(done):
        return _known_results(paths.cache)
    return _LateResults(paths.cache)


def _known_results(path: str) -> dict[str, str]:
    """Nothing if the file can't be read, which is said later."""
    return {name: record.result for name, record in read_records(path).items()}


class _LateResults(Mapping[str, str]):
    """They are read when they are first asked for, which most DAGs never do."""

    def __init__(self, path: str) -> None:
        self._path = path

    @cached_property
    def _all(self) -> Mapping[str, str]:
        return _known_results(self._path)

    def __getitem__(self, name: str) -> str:
        return self._all[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)


def foresee(dag: Dag, config: Config, how: BuildOptions, *, checks_only: bool = False) -> Foreseen:
    """Which nodes would run, and why; others are taken for done."""
    found = outlook.outlook(dag, DagPaths(dag.files[0]).cache)
    for node, why in found.items():
        if not (why or checks_only):
            dag.flags[node] |= DONE
    return Foreseen(list(outlook.told(dag, found)), {}, found)
