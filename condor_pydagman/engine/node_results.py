"""What nodes publish (PUBLISH) for the conditions of others: read when a node has ended well, and
in force before the node is done.

Values of a file are written into the nodes log, in as many records as they take, since the file may
change; attributes of jobs are there already, in the events 028 that HTCondor writes beside the
others.  A file that can't be read makes the node's run a failed one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from condor_pydagman.dagfile.file_macros import expanded, known_macros, unset_macros
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import lifecycle
from condor_pydagman.engine.condition_records import MAX_PARTS, RESULT, JobAttributes
from condor_pydagman.engine.conditions import HELPER
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.node_settings import variables_in_force
from condor_pydagman.engine.node_states import State
from condor_pydagman.engine.state import RunState
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import RETURN_NO_RESULT, EventKind, JournalRecord

_ROOM = 700  # bytes of a record for names and values, less those of the node's name
_MIN_ROOM = 100
FAILED, NOTHING = -1, 0  # values of records that have no part


class ReadResult(NamedTuple):
    """Read the file with what the node publishes, a small ClassAd.  Answered by ResultRead."""

    node: int
    retry: int
    file: str


class ResultRead(NamedTuple):
    """Answer to ReadResult: names and ClassAd literals, or why there are none."""

    node: int
    retry: int
    pairs: Sequence[tuple[str, str]] = ()
    error: str = ""


def read_pairs(text: str) -> list[tuple[str, str]]:
    """Names and ClassAd literals in a text that has a line for each, `name=literal`."""
    pairs = (line.partition("=") for line in text.splitlines())
    return [(name, literal) for name, sign, literal in pairs if sign]


# What is to be done.


def work(run: RunState) -> None:
    """Have files read; give up what does not come."""
    results = run.results
    for node in results.pop_fresh():
        if node not in results.until:
            continue
        file = _file(run, node)
        if file and node not in results.told:
            results.ask(node)
            run.emit(do.Ask(HELPER, ReadResult(node, run.nodes.retries.get(node, 0), file)))
    for node, until in list(results.until.items()):
        if until > run.now:
            break
        if node not in results.unread and node not in results.asked:
            name = run.dag.names[node]
            run.say(f"Warning: the nodes log has no attributes of the last job of node {name}")
            run.write(RESULT, node, _record(run, node, NOTHING, ""))


def _file(run: RunState, node: int) -> str:
    """The name of the file that this run of the node publishes, macros put in; '' if none."""
    file = run.dag.published[node].file
    if "$" not in file:
        return file
    own = run.steering.settings.get(node)
    variables = variables_in_force(run.dag.variables.get(node, ()), own.variables if own else ())
    known = known_macros(run.dag.names[node], ((one.key, one.value) for one in variables))
    return expanded(file, {**known, "retry": str(run.nodes.retries.get(node, 0))})


def next_time(run: RunState) -> float | None:
    """When something is to be given up."""
    results = run.results
    idle = (
        until
        for node, until in results.until.items()
        if node not in results.unread and node not in results.asked
    )
    return next(idle, None)


def _record(run: RunState, node: int, value: int, text: str) -> do.AppendJournalRecord:
    retry = run.nodes.retries.get(node, 0)
    return do.AppendJournalRecord(JournalRecord.NODE_RESULT, node, retry, value, text=text)


# A file has been read.


def on_read(run: RunState, answer: ResultRead) -> None:
    """The answer: what the node's file has in it is written into the log."""
    node = answer.node
    if answer.retry != run.nodes.retries.get(node, 0) or not run.results.answered(node):
        return
    if run.nodes.states[node] != State.RESULT:
        return
    error, texts = answer.error, _texts(answer.pairs, run.dag.names[node])
    if not error and len(texts) >= MAX_PARTS:
        error = f"there is too much in it: {len(answer.pairs)} values"
    if error:
        file = _file(run, node)
        unset = unset_macros(file)
        if unset:
            error = f"no VARS of the node sets $({unset[0]})"
        text = f"what it publishes can't be read: {file}: {error}"
        run.write(RESULT, node, _record(run, node, FAILED, text))
        return
    count = len(texts)
    records = [
        _record(run, node, MAX_PARTS * number + count, text)
        for number, text in enumerate(texts, start=1)
    ]
    run.write(RESULT, node, *records)


def _texts(pairs: Iterable[tuple[str, str]], name: str) -> list[str]:
    """The values in as many texts as have room in a record; at least one."""
    room = max(_ROOM - _size(name), _MIN_ROOM)
    texts, left = [""], room
    for one, literal in pairs:
        line = f"{one}={literal}\n"
        left -= _size(line)
        if left < 0 and texts[-1]:
            texts.append("")
            left = room - _size(line)
        texts[-1] += line
    return texts


def _size(text: str) -> int:
    """How many bytes a text takes in a record."""
    return len(text.encode("utf-8", "surrogateescape")) + sum(map(text.count, '\\"\n\t\r'))


# The log.


def on_record(run: RunState, node: int, event: LogEvent) -> None:
    """A record of what the node has published has been read."""
    if run.nodes.states[node] != State.RESULT:
        return
    results = run.results
    if event.value == FAILED:
        results.forget(node)
        lifecycle.fail_run(run, node, RETURN_NO_RESULT, event.text)
        return
    if event.value == NOTHING:
        results.give_up(node)
    else:
        number, parts = divmod(event.value, MAX_PARTS)
        if results.add_part(node, number, parts, event.text):
            texts = results.pop_parts(node)
            results.set_values(node, [pair for text in texts for pair in read_pairs(text)])
    _conclude_if_complete(run, node)


def on_job_ad(run: RunState, node: int, event: LogEvent) -> None:
    """Event 028: attributes of a job of the node."""
    published = run.dag.published.get(node)
    if published is None or not published.attributes:
        return
    if event.cluster != run.nodes.clusters[node] or run.nodes.states[node] == State.DONE:
        return  # of an earlier run, or too late
    final = event.value == EventKind.JOB_TERMINATED
    attributes = JobAttributes(tuple(read_pairs(event.text)), final)
    run.results.add(node, event.proc, attributes, published.attributes)
    _conclude_if_complete(run, node)


def _conclude_if_complete(run: RunState, node: int) -> None:
    if run.nodes.states[node] == State.RESULT and lifecycle.is_published(run, node):
        run.results.conclude(node)
        lifecycle.conclude(run, node)


REPLIES: dict[type, Any] = {ResultRead: on_read}
