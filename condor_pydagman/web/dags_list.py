"""Which DAGs the page shows: the user's in the queue, those that were there while the server ran,
those that have ended lately, and those named on the command line."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from condor_pydagman import feature_table
from condor_pydagman.errors import PydagmanError
from condor_pydagman.follow.overview import told_apart
from condor_pydagman.follow.run_model import OVER, DagState, counts_in
from condor_pydagman.follow.shown_states import done_of
from condor_pydagman.monitor.file_facts import changed_at, size_of
from condor_pydagman.monitor.found_dag import FoundDag, counts_of, found_by_ad
from condor_pydagman.monitor.found_state import state_of_files
from condor_pydagman.monitor.queued_dags import dag_file, state_of
from condor_pydagman.vocabulary import MORE_HELD, MORE_RUNNING
from condor_pydagman.web.access import Refused
from condor_pydagman.web.ended_answers import EndedAnswers, ended_row
from condor_pydagman.web.live_dag import LiveDag
from condor_pydagman.web.queue_answers import Ad, QueueAnswers
from condor_pydagman.web.threads import Threads

MAX_LIVE = 20  # DAGs that are kept in memory
MAX_LEFT = 200  # DAGs that have left the queue, which are listed
_Glance = tuple[str, dict[str, int], int, float, Any]


class DagsList:
    """The DAGs, and those of them that somebody looks at.

    Args:
        named: on the command line; they are shown whatever the schedd says.
        threads: where files are read.
    """

    def __init__(self, named: Iterable[FoundDag], threads: Threads) -> None:
        self.queue = QueueAnswers()
        self.ended = EndedAnswers()
        self._outside = [make() for make in feature_table.offered("page", "watcher")]
        self._threads = threads
        self._named = {id_of(found): found for found in named}
        self._known: dict[str, FoundDag] = dict(self._named)
        self._live: dict[str, LiveDag] = {}
        self._glances: dict[str, tuple[tuple[float, int], _Glance]] = {}  # of those that have left
        self._version = 0

    async def rows(self) -> list[dict[str, Any]]:
        """A row for each DAG."""
        self.ended.refresh_soon()
        await self._refresh()
        known, ended = dict(self._known), self.ended.ads
        return await self._threads.with_files(self._rows, known, ended)

    async def live(self, name: str) -> LiveDag:
        """The DAG of an id, which is looked at from now on.

        Raises:
            Refused: there is none, or its files can't be read.
        """
        if name not in self._known:
            await self._refresh()
        if name not in self._known:
            await self._threads.with_files(self._find_ended, name)
        if name not in self._known:
            raise Refused(404, "this DAG does not exist any more, or is not yours")
        dag = self._live.get(name)
        if dag is None:
            await self._make_room()
            dag = self._live.get(name)  # another request may have been faster
        if dag is None:
            self._version = max([self._version, *(one.ring.version for one in self._live.values())])
            self._version += 1
            known = self._known[name]
            dag = LiveDag(known, self._threads, self.queue.ad, self._outside, self._version)
            self._live[name] = dag
        await dag.awake()
        return dag

    async def close(self) -> None:
        """Look at no DAG any more."""
        self.ended.close()
        for dag in self._live.values():
            await dag.close()

    async def _make_room(self) -> None:
        """Forget those that were asked for longest ago, unless somebody follows them."""
        idle = sorted(
            (name for name, dag in self._live.items() if not dag.clients),
            key=lambda name: self._live[name].asked,
        )
        for name in idle[: max(len(self._live) - MAX_LIVE + 1, 0)]:
            dag = self._live.pop(name)
            self._version = max(self._version, dag.ring.version)
            await dag.close()

    async def _refresh(self) -> None:
        """With the queue as it is now."""
        await self.queue.refresh()
        if self.queue.problem:
            return  # those that were known are shown on
        ads = list(self.queue.ads.values())
        self._known = await self._threads.with_files(_of_queue, ads, self._known, self._named)
        for name, found in self._known.items():
            self._known[name] = _as_it_is(found, self.queue.ads)
        for name, dag in self._live.items():
            gone = _as_it_is(dag.found, self.queue.ads)  # it has just ended
            found = self._known.setdefault(name, gone)
            if found.ad and found.cluster > dag.found.cluster:
                dag.renew(found)

    def _rows(self, known: Mapping[str, FoundDag], ended: Sequence[Ad]) -> list[dict[str, Any]]:
        """In the thread for files."""
        newest = newest_by_id(ended)
        rows = [
            {**self._row(name, found), **_of_history(found, newest.pop(name, None))}
            for name, found in known.items()
        ]
        return [*rows, *({"id": name, **_ended_row(ad)} for name, ad in newest.items())]

    def _find_ended(self, name: str) -> None:
        """In the thread for files: a DAG that is known by the history alone."""
        ad = newest_by_id(self.ended.ads).get(name)
        if ad is not None:
            with contextlib.suppress(PydagmanError, ValueError, TypeError, KeyError):
                self._known[name] = found_by_ad(ad)

    def _row(self, name: str, found: FoundDag) -> dict[str, Any]:
        row = {
            "id": name,
            "file": os.path.basename(found.paths.primary),
            "directory": found.directory,
            "cluster": found.cluster,
            "outer": int(found.ad.get("DAGManJobId") or 0),
        }
        live = self._live.get(name)
        if live is not None and live.snapshot is not None and live.is_followed:
            seen = live.overview
            counts = {word: count for word, count in seen["states"].items() if count}
            remaining = seen["remaining_s"]
            ends = seen["now"] + remaining if remaining is not None else None
            more = (seen["state"], counts, seen["counts"]["total"], seen["begun"], ends)
        else:
            more = self._at_a_glance(name, found)
        state, counts, total, begun, ends = more
        return {
            **row,
            "state": state,
            "counts": counts,
            "total": total,
            "done": done_of(counts),
            "started": begun or None,
            "ends_about": ends,
        }

    def _at_a_glance(self, name: str, found: FoundDag) -> _Glance:
        """The files of a DAG that has ended are read again only if they have changed."""
        mark = changed_at(found.out), size_of(found.out)
        before, seen = self._glances.get(name, (None, None))
        if seen is None or found.ad or before != mark:
            seen = _at_a_glance(found)
            if DagState(seen[0]) in OVER:
                self._glances[name] = mark, seen
        return seen


def _at_a_glance(found: FoundDag) -> _Glance:
    """Of a DAG that nobody looks at: state, counts, total, begin; by its job's ad or its files."""
    ad, begun = found.ad, float(found.ad.get("JobStartDate") or found.submitted or 0)
    try:
        counts = counts_of(found) if ad else {}
        if counts:
            running = int(ad.get("DAG_JobsRunning") or 0) + int(ad.get(MORE_RUNNING) or 0)
            held = int(ad.get("DAG_JobsHeld") or 0) + int(ad.get(MORE_HELD) or 0)
            return found.state.value, _shown(counts, running, held), counts["total"], begun, None
        files = state_of_files(found.paths)
    except PydagmanError:
        return found.state.value, {}, 0, begun, None
    state = found.state if ad else files.state
    return state.value, _shown(files.counts), files.counts.get("total", 0), begun, None


def _shown(counts: Mapping[str, int], running: int = 0, held: int = 0) -> dict[str, int]:
    """States of which there are nodes."""
    apart = told_apart(counts, running, held)
    return {word: count for word, count in apart.items() if count and word != "total"}


def _as_it_is(found: FoundDag, ads: Mapping[int, Ad]) -> FoundDag:
    """Without the ad of a job that was in the queue, and has left it."""
    if found.ad and not found.ended and found.cluster not in ads:
        return found._replace(ad={}, state=DagState.UNKNOWN)
    return found


def _of_queue(
    ads: Iterable[Ad], before: Mapping[str, FoundDag], named: Mapping[str, FoundDag]
) -> dict[str, FoundDag]:
    """Those of the queue beside those that are known anyway; of one DAG, that which runs.

    Args:
        before: those that were known; of them the newest are kept as long as their files are there.
    """
    left = [name for name, dag in before.items() if name not in named and os.path.exists(dag.out)]
    known = {**named, **{name: before[name] for name in left[-MAX_LEFT:]}}
    for ad in sorted(ads, key=lambda ad: (ad.get("JobStatus") == 2, ad.get("QDate") or 0)):
        try:
            found = found_by_ad(ad)
        except (PydagmanError, ValueError, TypeError, KeyError):
            continue
        known[id_of(found)] = found
    return known


def newest_by_id(ads: Iterable[Ad]) -> dict[str, Ad]:
    """The last run of each DAG, of ads of the history, the newest first."""
    found: dict[str, Ad] = {}
    for ad in ads:
        found.setdefault(id_of_path(dag_file(ad)), ad)
    return found


def _ended_row(ad: Ad) -> dict[str, Any]:
    """Of a DAG that is known by the history alone: no file of it is read."""
    about = {"outer": 0, "ends_about": None, "state": state_of(ad)[0].value}
    return {**ended_row(ad), **about, "counts": _shown(counts_in(ad))}


def _of_history(found: FoundDag, ad: Ad | None) -> dict[str, Any]:
    """What the history adds to the row of a DAG, if it tells of the run that the row is about."""
    if ad is None or found.cluster != ad.get("ClusterId"):
        return {}
    return _ended_row(ad)


def id_of(found: FoundDag) -> str:
    """A short name for a DAG that is safe in a URL, and the same after another start."""
    return id_of_path(os.path.join(found.directory, found.paths.primary))


@lru_cache(maxsize=4096)  # a file system that hangs is asked once, not at each look at the list
def id_of_path(path: str) -> str:
    """The same by the path of its first DAG file."""
    path = os.path.realpath(path)
    return hashlib.sha256(path.encode("utf-8", "surrogateescape")).hexdigest()[:16]
