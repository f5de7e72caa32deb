"""Nodes with a CACHE command: they do not run if nothing has changed since they were last done.

When such a node's turn has come it is looked up, outside of the engine: its description and files,
what its parents have made, and the store of earlier runs.  What is found is written into the nodes
log and takes effect when it has been read back: the node is done, or runs, and then what it makes
has a new name.  When it has ended well the store is told, with that name.

A node that is to run anew (a person wants it, or its group has left its site) runs whatever the
store says.  Retries are of a node of which it is decided that it runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import lifecycle
from condor_pydagman.engine.cache_records import CACHED, Decided
from condor_pydagman.engine.cached_nodes import is_open, result_of
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.node_states import Cause
from condor_pydagman.engine.state import RunState
from condor_pydagman.graph.result_sums import CHANGED, ResultSums
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import JournalRecord

HELPER = "cache"
MAX_ASKED = 200  # nodes that one request has
MAX_PARENTS = 1000  # that are looked at for one to be named
MAX_NAMED = 10  # nodes of which the same is said in lines of their own, or that a line names


class CachedWanted(NamedTuple):
    """A node with a CACHE command whose turn has come.

    Attributes:
        parents: what the results of its parents come to; '' if that is not known, so that it runs.
        why: it runs if `parents` is another one than before, or ''.
        anew: it runs whatever has changed.
    """

    node: int
    number: int
    parents: str
    why: str
    anew: bool = False


class LookUpCached(NamedTuple):
    """Find out whether nodes are to run, or nothing has changed since they were last done.
    Answered by CachedFound."""

    wanted: tuple[CachedWanted, ...]


class KeepCached(NamedTuple):
    """Nodes have ended well: keep that, with the names of what they have made.  Answered by
    CachedKept."""

    kept: tuple[tuple[int, str], ...]


class CachedResult(NamedTuple):
    """What was found out about a node with a CACHE command.

    Attributes:
        hit: nothing has changed since it was last done; else it is to run.
        result: name of what it has made, or will make.
        why: it is to run.
    """

    node: int
    number: int
    hit: bool
    result: str
    why: str = ""


class CachedFound(NamedTuple):
    """Answer to LookUpCached, or to a part of it."""

    results: Sequence[CachedResult]


class CachedKept(NamedTuple):
    """Answer to KeepCached: it is kept, or can't be."""

    nodes: Sequence[int]


def work(run: RunState) -> None:
    """Look up nodes whose turn has come, and have it kept that others have ended well."""
    cache = run.cache
    if not cache.unread:  # else more is about to be told
        _tell(run, cache.pop_news())
    settings = run.steering.settings
    ended = [
        one
        for one in cache.pop_ended()
        if one[0] not in settings or not settings[one[0]].variables  # they are not the DAG's
    ]
    for begin in range(0, len(ended), MAX_ASKED):
        some = ended[begin : begin + MAX_ASKED]
        for node, _ in some:
            cache.keep(node)
        run.emit(do.Ask(HELPER, KeepCached(tuple(some))))
    if cache.due and not (run.is_over or run.starts_nothing):
        _ask(run)


def _ask(run: RunState) -> None:
    due = []
    for node in run.cache.pop_due():
        if any(is_deciding(node) for is_deciding in run.hooks.is_deciding):
            run.cache.came_up(node)  # the record that it is not needed has not been read back
        elif _is_wanted(run, node):
            due.append(node)
    for begin in range(0, len(due), MAX_ASKED):
        wanted = tuple(_wanted(run, node) for node in due[begin : begin + MAX_ASKED])
        run.emit(do.Ask(HELPER, LookUpCached(wanted)))


def under_way(run: RunState) -> bool:
    """Whether the DAG goes on because of a node that is looked up or kept, though none runs."""
    return run.cache.is_busy or any(_is_wanted(run, node) for node in run.cache.due)


def _is_wanted(run: RunState, node: int) -> bool:
    return is_open(run, node) and not run.is_closed_to(node)


# What a node is looked up with.


def _wanted(run: RunState, node: int) -> CachedWanted:
    number = run.cache.ask(node)
    settings = run.steering.settings.get(node)
    if settings is not None and settings.variables:
        return CachedWanted(node, number, "", "a person has set VARS of it")
    found = _sums(run).of(node)
    if found.unknown >= 0:
        return CachedWanted(node, number, "", _why_unknown(run, found.unknown))
    parents, anew = f"{found.number:032x}", bool(run.nodes.retries.get(node, 0))
    return CachedWanted(node, number, parents, _why_changed(run, node), anew)


def _sums(run: RunState) -> ResultSums:
    if run.cache.sums is not None:
        return run.cache.sums
    return run.cache.begin_sums(ResultSums(run.dag, lambda node: result_of(run, node)))


def _why_unknown(run: RunState, parent: int) -> str:
    name = run.dag.names[parent]
    if parent in run.cache:
        return f"what its parent {name} has made is not known"
    return f"its parent {name} has no CACHE"


def _why_changed(run: RunState, node: int) -> str:
    made, cached = run.cache.made, run.cache.cached
    parents = islice(run.dag.parents(node), MAX_PARENTS)
    ran = next((one for one in parents if one in made and one not in cached), None)
    return CHANGED if ran is None else f"its parent {run.dag.names[ran]} has run"


# The answer, and the record of it.


def on_found(run: RunState, answer: CachedFound) -> None:
    """Nodes have been looked up."""
    for node, number, hit, result, why in answer.results:
        if not run.cache.answered(node, number) or not is_open(run, node):
            continue
        if run.written.holding:
            run.cache.came_up(node)  # since what it was found by may be about to change
            continue
        retry = run.nodes.retries.get(node, 0)
        text = f"{result} {why}".rstrip()
        record = do.AppendJournalRecord(JournalRecord.CACHED, node, retry, int(hit), text=text)
        run.write(CACHED, node, record)


def on_record(run: RunState, node: int, event: LogEvent) -> None:
    """What was found of the node has been read: it is done, or starts."""
    run.written.drop(CACHED, node)
    if not is_open(run, node):
        return
    result, _, why = event.text.partition(" ")
    hit = event.value == 1
    run.cache.decided(Decided(node, hit, why), result)
    if not hit:
        lifecycle.start_all(run, [node])
        return
    run.nodes.move(node, Cause.MARKED_DONE, run.now)
    run.sites.touch(node)
    lifecycle.start_all(run, run.nodes.release_children(node))


def on_kept(run: RunState, answer: CachedKept) -> None:
    """It is kept that nodes have ended well."""
    for node in answer.nodes:
        run.cache.kept(node)


def _tell(run: RunState, news: list[Decided]) -> None:
    """Say what has been decided; once of many nodes of which the same is to be said."""
    by_why: dict[tuple[bool, str], list[str]] = {}
    for node, hit, why in news:
        by_why.setdefault((hit, why), []).append(run.dag.names[node])
    for (hit, why), names in by_why.items():
        what = "done already: nothing has changed since the last run" if hit else f"to run: {why}"
        if len(names) <= MAX_NAMED:
            for name in names:
                run.say(f"CACHE: node {name} is {what}")
        else:
            some = " ".join(names[:MAX_NAMED])
            run.say(f"CACHE: of {len(names)} nodes each is {what} ({some} ...)")


REPLIES: dict[type, Any] = {CachedFound: on_found, CachedKept: on_kept}
