"""Which nodes with a CACHE command would run now, and why; and results that a person takes as they
are.  Nothing is submitted.

It is taken that nodes which run make new results, that conditions are true, and that nobody changes
a file meanwhile.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter

from condor_pydagman.adapters.followed_files import owner_of
from condor_pydagman.errors import FileError
from condor_pydagman.features.cache.adapters.file_states import CachedFiles
from condor_pydagman.features.cache.adapters.lookup import (
    NOT_WELL,
    Found,
    Question,
    cached_node,
    look_up,
    outputs_of,
)
from condor_pydagman.features.cache.adapters.store_file import CacheFile, read_records
from condor_pydagman.features.cache.commands import cached_of
from condor_pydagman.features.cache.facts import MAX_NAMED, CachedNode, by_reason
from condor_pydagman.features.cache.result_sums import CHANGED, ResultSums
from condor_pydagman.features.cache.store import Record, taken_line, whole_text
from condor_pydagman.graph.model import DONE, USER_DONE, Dag


def outlook(dag: Dag, path: str) -> dict[int, str]:
    """Why each node with a CACHE command that is not done would run; '' for one that would not.

    Args:
        path: the file that keeps what nodes were last done with.
    """
    if not cached_of(dag):
        return {}
    try:
        return _Outlook(dag, read_records(path)).of_all()
    except CycleError:
        return {}


def take(
    dag: Dag, path: str, nodes: Collection[int], who: str, *, is_live: bool
) -> dict[int, tuple[str, str]]:
    """Take the results of nodes as they are; of each node why it would run, and why its result
    can't be taken.

    Args:
        who: a person, and when.
        is_live: whether DAGMan may write the store meanwhile.

    Raises:
        FileError: the store can't be written, or the DAG has a cycle.
    """
    store = CacheFile(path, tidies=not is_live)
    before = dict(store.records())
    made = _Outlook(dag, before, nodes, who)
    try:
        made.of_all()
    except CycleError:
        raise FileError("the DAG has a cycle") from None
    begun = _keep(store, made.taken, before) if made.taken and not store.problems else set()
    if store.problems:
        raise FileError("; ".join(store.problems))
    for node, (why, _) in made.chosen.items():
        if dag.names[node] in begun:
            made.chosen[node] = why, "a run of the DAG has begun it meanwhile"
    return made.chosen


def _keep(store: CacheFile, taken: Mapping[str, Record], before: Mapping[str, Record]) -> set[str]:
    """Keep what was taken, but of nodes that a run has begun since; returns the names of these.

    Args:
        before: what was known when it was decided.

    Raises:
        FileError: the store can't be opened or written; it is as it was.
    """
    try:
        with store.alone():
            known = store.records()
            begun = {name for name in taken if known.get(name) != before.get(name)}
            kept = {name: one for name, one in taken.items() if name not in begun}
            new = {name: one for name, one in kept.items() if name not in before}
            lines = [taken_line(*one) for one in kept.items()]
            store.append([*list(whole_text(new))[1:], *lines], kept, sync=True, needed=False)
    except OSError as error:
        raise FileError(f"{store.path}: {error.strerror}; nothing is taken") from None
    return begun


def told(dag: Dag, found: dict[int, str]) -> Iterator[str]:
    """The outlook in lines for people, one for each reason."""
    by_why = by_reason((dag.names[node], why) for node, why in found.items())
    for why, names in sorted(by_why.items()):
        some = " ".join(names[:MAX_NAMED])
        more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
        what = f"to run: {why}" if why else "done already: nothing has changed since the last run"
        yield f"CACHE: {some}{more}: {what}"


class _Outlook:
    def __init__(
        self, dag: Dag, records: dict[str, Record], nodes: Collection[int] = (), who: str = ""
    ) -> None:
        self._dag = dag
        self._cached = cached_of(dag)
        self._records = dict(records)
        self._files = CachedFiles(owner_of(dag.files[0]))
        self._found: dict[int, str] = {}
        self._nodes, self._who = nodes, who  # of these, who takes the results
        self.taken: dict[str, Record] = {}
        self.chosen: dict[int, tuple[str, str]] = {}  # see `take`

    def of_all(self) -> dict[int, str]:
        dag = self._dag
        sums = ResultSums(dag, self._result_of)
        order = TopologicalSorter({vertex: dag.predecessors(vertex) for vertex in dag.vertices()})
        for node in order.static_order():
            if node in self._cached and not dag.flags[node] & DONE:
                self._found[node] = self._why(node, sums)
        return dict(sorted(self._found.items()))

    def _why(self, node: int, sums: ResultSums) -> str:
        dag, record = self._dag, self._records.get(self._dag.names[node])
        unknown, parents = sums.of(node).unknown, f"{sums.of(node).number:032x}"
        why = f"its parent {dag.names[unknown]} {self._how(unknown)}" if unknown >= 0 else CHANGED
        question = Question(cached_node(dag, node), "" if unknown >= 0 else parents, why)
        found = look_up(question, record, self._files)
        why = "" if found.hit else found.why
        if node in self._nodes:
            refused = self._take(question.node, record, found) if why else ""
            self.chosen[node] = why, refused
            return refused
        return why

    def _take(self, node: CachedNode, record: Record | None, found: Found) -> str:
        """Take the node's result as it is; why that can't be, '' if it can."""
        if not found.facts or (record is None and not node.outputs):
            return found.why
        record = record or Record(found.result, {}, {})  # its outputs show that it has been done
        outputs, problem = outputs_of(node, self._files)
        if not problem and record.outputs is not None:
            new = Record(record.result, found.facts, outputs, self._who)
            self.taken[node.name] = self._records[node.name] = new
        return problem if record.outputs is not None else f"{NOT_WELL}, or runs now"

    def _how(self, parent: int) -> str:
        if self._found.get(parent):
            return "runs"
        return "has an unknown result" if parent in self._cached else "has no CACHE"

    def _result_of(self, node: int) -> str:
        """As `Cache.result_of`, of what does not run."""
        record = self._records.get(self._dag.names[node])
        if node not in self._cached or record is None or self._found.get(node):
            return ""
        return "" if self._dag.flags[node] & USER_DONE else record.result
