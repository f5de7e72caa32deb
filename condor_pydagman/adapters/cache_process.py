"""The process that looks up nodes with a CACHE command, and keeps that they have ended well: large
files whose checksums are made, and a file system that hangs, hold up nothing else.

It is forked for the first request, and leaves when there has been nothing to do for a while.  If it
dies or takes too long, the nodes that it was asked for run, and no file of theirs is looked at.
"""

from __future__ import annotations

import select
from collections.abc import Callable, Sequence
from typing import Any, Union

from condor_pydagman.adapters.cache_file import CacheFile
from condor_pydagman.adapters.cache_lookup import (
    Question,
    as_question,
    look_up,
    new_result,
    outputs_of,
)
from condor_pydagman.adapters.cached_files import CachedFiles
from condor_pydagman.adapters.child_queue import ChildQueue, Serve, reason_of
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.records.cache_facts import CachedNode
from condor_pydagman.records.cache_store import Record, began_line, done_line

TIMEOUT_S = 60.0  # for a request
CHECKSUM_TIMEOUT_S = 4 * 3600.0  # for one in which files are read
STAYS_S = 600.0  # without a request


class LookUp(NamedTuple):
    """Look up nodes.  Result: an Answer, whose `found` are whether nothing has changed, the name of
    the node's result, and why it runs.

    Attributes:
        blind: why they are to run without a look at any file, '' if they are to be looked up.
    """

    questions: Sequence[Question]
    blind: str = ""


class Keep(NamedTuple):
    """Nodes have ended well; with the names of their results.  Result: an Answer."""

    ended: Sequence[tuple[CachedNode, str]]


class Answer(NamedTuple):
    """What a request has come to, and lines for people about what is wrong."""

    found: Sequence[tuple[bool, str, str]] = ()
    problems: Sequence[str] = ()


Request = Union[LookUp, Keep]


class CacheProcess(ChildQueue):
    """Hands requests over to a child; see `adapters.schedd_process.Helper`.

    Args:
        path: the file that keeps what nodes were done with.
        epoll: becomes readable when the child has answered or has ended.
        clock: monotonic seconds.
        warn: is told what is unusual.
        timeout_s: seconds that a request may take that makes no checksums.
    """

    def __init__(
        self,
        path: str,
        epoll: select.epoll,
        clock: Callable[[], float],
        warn: Callable[[str], None],
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        super().__init__(
            "look up nodes with a CACHE command",
            epoll,
            clock,
            warn,
            timeout_s=timeout_s,
            died="the process that looked at its files has died",
            late="to look at its files took too long",
        )
        self._path = path

    def _server(self) -> Serve:
        return _Server(self._path).serve

    def _time_limit(self, request: Request) -> float:
        if isinstance(request, LookUp):
            reads = not request.blind and any(one.node.checksum for one in request.questions)
        else:
            reads = any(node.checksum for node, _ in request.ended)
        return CHECKSUM_TIMEOUT_S if reads else self._timeout_s

    def _message(self, request: Request) -> tuple[Any, float]:
        return [isinstance(request, LookUp), request], STAYS_S

    def _result(self, request: Request, answer: list[Any]) -> Answer:
        found, problems = answer
        return Answer([(bool(hit), str(name), str(why)) for hit, name, why in found], problems)

    def _fail(self, reason: str) -> None:
        """The present request has come to nothing: the store is to know at least that they run."""
        request = self._waiting[0][0]
        if isinstance(request, Keep):
            self._found(Answer((), [f"Warning: CACHE: nodes are not kept: {reason}"]))
        elif request.blind:
            found = [(False, new_result(), request.blind) for _ in request.questions]
            self._found(Answer(found, [f"Warning: CACHE: {reason}"]))
        else:
            _, then = self._waiting.popleft()
            self._waiting.appendleft((request._replace(blind=reason), then))
            self._begin()


class _Server:
    """Serves in the child."""

    def __init__(self, path: str) -> None:
        self._file = CacheFile(path)
        self._files = CachedFiles()

    def serve(self, request: list[Any]) -> list[Any]:
        """Do a request; the answer is what JSON knows."""
        looks_up, (wanted, *rest) = request
        found: list[tuple[bool, str, str]] = []
        problems: list[str] = []
        try:
            if looks_up:
                found = self._look_up([as_question(one) for one in wanted], *rest)
            else:
                problems = self._keep([(CachedNode(*node), name) for node, name in wanted])
        except Exception as error:  # whatever it is, it is told
            problems = [f"Warning: CACHE: {reason_of(error)}"]
            if looks_up:
                found = [(False, new_result(), reason_of(error)) for _ in wanted]
        problems += [f"Warning: {line}" for line in self._file.problems]
        self._file.problems.clear()
        return [found, problems]

    def _look_up(self, questions: Sequence[Question], blind: str) -> list[tuple[bool, str, str]]:
        records = self._file.records()
        lines: list[str] = []
        begun: dict[str, Record] = {}
        found: list[tuple[bool, str, str]] = []
        for question in questions:
            name = question.node.name
            if blind:
                question = question._replace(parents="", why=blind)
            one = look_up(question, records.get(name), self._files)
            found.append(one[:3])
            if not one.hit:
                lines.append(began_line(name, one.result, one.facts))
                begun[name] = Record(one.result, one.facts)
        self._file.append(lines, begun, sync=True)
        return found

    def _keep(self, ended: Sequence[tuple[CachedNode, str]]) -> list[str]:
        records = self._file.records()
        lines: list[str] = []
        done: dict[str, Record] = {}
        problems: list[str] = []
        for node, result in ended:
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
