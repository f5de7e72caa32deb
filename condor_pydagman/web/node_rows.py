"""Rows of the page's table of nodes: searched, sorted, a page at a time.

All here uses what the reader of a DAG keeps: for the thread for files only.
"""

from __future__ import annotations

import fnmatch
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Callable

from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.notices.held_jobs import logged_holds
from condor_pydagman.trace.overview import failure_of
from condor_pydagman.trace.run_history import Attempt, NodeRun
from condor_pydagman.trace.shown_states import KEYS, Shown, why_done
from condor_pydagman.vocabulary import NodeStatus
from condor_pydagman.web.access import Refused
from condor_pydagman.web.dag_reader import DagReader
from condor_pydagman.web.json_answers import number_of
from condor_pydagman.words import result

MAX_ROWS = 200
MAX_SEARCH = 1000  # characters
SORTS = ("name", "state", "attempt", "runtime", "started")
_DIGITS = re.compile(r"(\d{1,18})")


class RowsWanted(NamedTuple):
    """Which rows: those whose names have `search` in them (or match it, with * and ?), in the state
    of that number (-1: any), from `offset` on, `limit` at most."""

    search: str = ""
    state: int = -1
    sort: str = "name"
    descending: bool = False
    offset: int = 0
    limit: int = MAX_ROWS


def rows_wanted(query: Mapping[str, str]) -> RowsWanted:
    """What a query asks for.

    Raises:
        Refused: something of it is wrong.
    """
    sort, state = query.get("sort") or "name", query.get("state", "")
    if sort not in SORTS:
        raise Refused(400, f"sort is one of {', '.join(SORTS)}")
    if state and state not in KEYS:
        raise Refused(400, f"state is one of {', '.join(KEYS)}")
    if len(query.get("search", "")) > MAX_SEARCH:
        raise Refused(400, f"search has at most {MAX_SEARCH} characters")
    return RowsWanted(
        query.get("search", ""),
        KEYS.index(state) if state else -1,
        sort,
        query.get("descending", "") in ("1", "true", "yes"),
        number_of(query, "offset", 0, 0, 1 << 31),
        number_of(query, "limit", MAX_ROWS, 0, MAX_ROWS),
    )


class NodeTable:
    """The table of one DAG; the order of names is found out once.

    Attributes:
        reader: the DAG.
    """

    def __init__(self, reader: DagReader) -> None:
        self.reader = reader
        self._names: Sequence[str] = []
        self._by_name: Sequence[int] = []

    def page(self, wanted: RowsWanted) -> dict[str, Any]:
        """The rows, and how many there are in all and of those that are wanted."""
        found = self._matching(wanted)
        found = self._sorted(found, wanted)
        shown = found[wanted.offset : wanted.offset + wanted.limit]
        now = time.time()
        return {
            "total": len(self.reader.names),
            "matches": len(found),
            "rows": [row_of(self.reader, number, now) for number in shown],
        }

    def _matching(self, wanted: RowsWanted) -> Sequence[int]:
        """In the order of names."""
        reader = self.reader
        if self._names is not reader.names:
            self._names = reader.names
            keys = [natural(name) for name in reader.names]
            self._by_name = sorted(range(len(keys)), key=keys.__getitem__)
        found: Iterable[int] = self._by_name
        if wanted.state >= 0:
            states, state = reader.states, wanted.state
            found = [number for number in found if states[number] == state]
        if wanted.search:
            fits = search_for(wanted.search)
            names = reader.names
            found = [number for number in found if fits(names[number].casefold())]
        return found if isinstance(found, list) else list(found)

    def _sorted(self, found: Sequence[int], wanted: RowsWanted) -> Sequence[int]:
        """Stable: of equal ones, the order of names."""
        if wanted.sort == "name":
            return found[::-1] if wanted.descending else found
        keys = self._keys(found, wanted.sort)
        places = sorted(range(len(found)), key=keys.__getitem__, reverse=wanted.descending)
        return [found[place] for place in places]

    def _keys(self, found: Sequence[int], sort: str) -> Sequence[float]:
        if sort == "state":
            return [self.reader.states[number] for number in found]
        now, runs = time.time(), map(self.reader.node_run, found)
        lasts = ((run.attempts[-1] if run is not None and run.attempts else None) for run in runs)
        if sort == "attempt":
            return [-1 if last is None else last.number for last in lasts]
        if sort == "started":
            return [0.0 if last is None else last.started or last.submitted for last in lasts]
        return [-1.0 if last is None else runtime_s(last, now) or 0.0 for last in lasts]


def natural(name: str) -> tuple[Any, ...]:
    """A key to sort by: numbers in names by their size: a9 before a10."""
    parts = _DIGITS.split(name.casefold())
    return tuple(int(part) if place % 2 else part for place, part in enumerate(parts))


def search_for(text: str) -> Callable[[str], bool]:
    """Whether a name, in small letters, has the text in it, or matches it if that has * or ?."""
    text = text.casefold()
    if "*" in text or "?" in text:
        pattern = re.compile(fnmatch.translate(_few_stars(text)))
        return lambda name: pattern.match(name) is not None
    return lambda name: text in name


def _few_stars(text: str) -> str:
    """Stars in a row mean one; a bracket is a bracket."""
    return re.sub(r"\*+", "*", text).replace("[", "[[]")


def row_of(reader: DagReader, number: int, now: float) -> dict[str, Any]:
    """A row, by the node's last attempt."""
    run = reader.node_run(number)
    last = run.attempts[-1] if run is not None and run.attempts else None
    return {
        "number": number,
        "name": reader.names[number],
        "state": KEYS[reader.states[number]],
        "attempt": last.number if last is not None else None,
        "cluster": last.cluster or None if last is not None else None,
        "site": last.site if last is not None else "",
        "started": (last.started or None) if last is not None else None,
        "ended": ended_at(last) if last is not None else None,
        "runtime_s": runtime_s(last, now) if last is not None else None,
        "reason": reason_of(reader, number),
    }


def ended_at(attempt: Attempt) -> float | None:
    """When it was over, its POST script included; None while it goes on."""
    if not attempt.over:
        return None
    ends = [script.ended for script in (attempt.pre, attempt.post) if script is not None]
    return max([attempt.ended, *ends]) or None


def runtime_s(attempt: Attempt, now: float) -> float | None:
    """Seconds that its jobs ran, so far; None if none has."""
    if not attempt.started:
        return None
    end = attempt.stopped or (attempt.ended if not attempt.in_queue else 0.0) or now
    paused = sum(again - stopped for stopped, again in attempt.pauses)
    return round(max(end - attempt.started - paused, 0.0), 3)


def reason_of(reader: DagReader, number: int) -> str:
    """Why a node has failed, is held, or is done without having run; '' if it is none of these."""
    run, is_left_out = reader.node_run(number), reader.is_left_out(number)
    if run is None:
        return why_done(NodeRun("", NodeStatus.DONE), is_left_out=is_left_out)
    if reader.states[number] in (Shown.FAILED, Shown.RETRY):
        failure = failure_of(run, reader.run)
        return result(failure.value, failure.reason)
    held = [job.reason for job in logged_holds((run,))]
    return held[-1] if held else why_done(run, is_left_out=is_left_out)
