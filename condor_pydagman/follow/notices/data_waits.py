"""DATA nodes that run and wait: for a service that has failed, for their turn, for space, for
another placement of the same file; or until a placement that has failed is tried again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from condor_pydagman.follow.notice import Evidence, Notice, Weight
from condor_pydagman.follow.notices.facts import DataWait, Facts
from condor_pydagman.follow.notices.name_lists import nodes_named
from condor_pydagman.printable import does, message
from condor_pydagman.words import duration

# As `placement/waits.py` and `attempt_lines.py` write them.
_BEGINS = re.compile(r"waits for (.*)")
_OVER = re.compile(r"has waited .*? for (.*)")
_AGAIN = re.compile(r"attempt \d+: (.*); again in [^;]+")
_SUM = re.compile(r"\d+ placements? done\b")
MAX_TEXT = 300  # characters of what is waited for


def wait_of(node: str, path: str, lines: Iterable[tuple[float, str]]) -> DataWait | None:
    """What a DATA node waits for; None if it does not, as far as its log says.

    Args:
        path: of the log, as people know it.
        lines: of the log since its worker was started, with their times.
    """
    waits: dict[str, list[float]] = {}  # several placements may say the same
    again: DataWait | None = None
    for time, line in lines:
        begins, over, tried = (one.match(line) for one in (_BEGINS, _OVER, _AGAIN))
        if _SUM.match(line):
            waits.clear()
        elif begins:
            waits.setdefault(begins[1], []).append(time)
        elif over and len(waits.get(over[1], ())) > 1:
            waits[over[1]].pop(0)
        elif over:
            waits.pop(over[1], None)
        again = DataWait(node, tried[1], time, path, is_again=True) if tried else None
    if waits:
        text, since = next(reversed(waits.items()))
        return DataWait(node, text, since[0], path)
    return again


def data_wait_notices(facts: Facts) -> Iterator[Notice]:
    """One for each thing that nodes wait for."""
    if not (facts.data_waits and facts.is_live):
        return
    alike: dict[tuple[str, bool], list[DataWait]] = {}
    for wait in facts.data_waits:
        alike.setdefault((wait.text, wait.is_again), []).append(wait)
    for (text, is_again), waits in alike.items():
        names = tuple(wait.node for wait in waits)
        first = min(waits, key=lambda wait: wait.since)
        what = message(text[:MAX_TEXT])
        nodes = f"DATA {nodes_named(names)}"
        for_s = duration(max(0.0, facts.now - first.since))
        if is_again:
            tries = "try" if len(names) > 1 else "tries"
            sentence = f"{nodes} {tries} a placement again: {what}."
        else:
            sentence = f"{nodes} {does(len(names), 'be')} waiting for {what}, for {for_s}."
        evidence = (Evidence(first.path, what, first.since),)
        notice = Notice(
            "data.waiting", Weight.WAITING, sentence, names, evidence, since=first.since
        )
        yield notice._replace(says_all=True)
