"""ENOUGH lines that are reached, for people."""

from __future__ import annotations

from collections.abc import Iterator

from condor_pydagman.features.enough.trace import EnoughSeen, ReachedEnough
from condor_pydagman.notices.known import Known
from condor_pydagman.printable import does, message, number_of, printable
from condor_pydagman.report.feature_words import Events, why
from condor_pydagman.trace.notice import Notice, Weight

EVENTS: Events = {
    "dag.enough": lambda event: printable(f"{event.data['enough']} is reached{why(event)}"),
}


def notices(known: Known) -> Iterator[Notice]:
    """Those that are reached."""
    for line, reached in EnoughSeen.of(known.run).reached.items():
        yield _reached(known, line, reached)


def _reached(known: Known, line: str, reached: ReachedEnough) -> Notice:
    names = tuple(_unneeded(known, line)) if known.may_count else ()
    left = f"; {number_of(len(names), 'node')} {does(len(names), 'be')} not needed" if names else ""
    sentence = f"{message(line)} is reached: {message(reached.record.counts)}{left}."
    evidence = reached.evidence(known.nodes_log)
    return Notice("enough.reached", Weight.NOTE, sentence, names, evidence, since=reached.time)


def _unneeded(known: Known, line: str) -> Iterator[str]:
    nodes = known.run.nodes.values()
    return (run.name for run in nodes if run.is_unneeded and line in run.why)
