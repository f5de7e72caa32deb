"""What the page gets about DAGs: a method for each address."""

from __future__ import annotations

import asyncio
import base64
import json
import time
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from condor_pydagman.errors import PoolError, PydagmanError
from condor_pydagman.monitor.found_dag import FoundDag
from condor_pydagman.trace.shown_states import KEYS, LOOKS, Shown
from condor_pydagman.vocabulary import STATE_WORDS
from condor_pydagman.web.access import Refused
from condor_pydagman.web.dag_files import path_of
from condor_pydagman.web.dags_list import DagsList
from condor_pydagman.web.json_answers import dumped, number_of, seconds_of
from condor_pydagman.web.live_dag import LiveDag
from condor_pydagman.web.node_details import details_of, shown_finding
from condor_pydagman.web.node_rows import NodeTable, rows_wanted
from condor_pydagman.web.picture_boxes import MAX_OPEN, PictureBoxes
from condor_pydagman.web.queue_answers import output_of
from condor_pydagman.web.steering_seam import (
    LIMITS,
    MAX_NAMED,
    Controls,
    Request,
    Steering,
    read_request,
)
from condor_pydagman.web.text_files import piece_of
from condor_pydagman.web.threads import Threads
from condor_pydagman.web.timeline import BUCKETS, MAX_BUCKETS, timeline_of

EXPLAIN_S = 60.0
FRESH_S = 10.0  # an explanation is told again
CONTROLS_S = 2.0  # whether a DAG can be steered is asked as often at most
_NAMES_IN_AD = dict(
    zip(
        LIMITS,
        ("DAGMan_MaxJobs", "DAGMan_MaxIdle", "DAGMan_MaxPreScripts", "DAGMan_MaxPostScripts"),
    )
)


class DagAnswers:
    """Answers requests.

    Args:
        steering: steers DAGs.
    """

    def __init__(self, dags: DagsList, threads: Threads, steering: Steering) -> None:
        self._dags, self._threads, self._steering = dags, threads, steering
        self._explaining = asyncio.Semaphore(2)
        self._explained: dict[str, tuple[float, Any]] = {}
        self._controls: dict[str, tuple[float, Controls]] = {}

    async def dag_of(self, request: web.Request) -> LiveDag:
        """The DAG of a request's address.

        Raises:
            Refused: there is none, or its files can't be read.
        """
        return await self._dags.live(request.match_info["id"])

    async def dags(self, request: web.Request) -> web.Response:
        """All DAGs."""
        rows = await self._dags.rows()
        return dumped({"dags": rows, "problem": self._dags.queue.problem})

    async def overview(self, request: web.Request) -> web.Response:
        """How one DAG stands."""
        return dumped(await self.overview_of(await self.dag_of(request)))

    async def overview_of(self, dag: LiveDag) -> dict[str, Any]:
        """How it stands, and what of it can be steered."""
        controls = await self._controls_of(dag)
        options, limits = dag.found.options, dag.overview["limits"]
        given = (options.max_jobs, options.max_idle, options.max_pre, options.max_post)
        shown = {
            word: limits.get(_NAMES_IN_AD[word], int(number or 0))
            for word, number in zip(LIMITS, given)
        }
        shown["priority"] = int(options.priority or 0)
        groups = {} if dag.places is None else {"groups": len(dag.places.of)}
        return {
            **dag.overview,
            **groups,
            "version": dag.ring.version,
            "problem": dag.problem,
            "controls": {
                "can": controls.can,
                "why_not": controls.why_not,
                "halted": dag.overview["state"] == "halted",
                "limits": {**shown, **controls.limits},
            },
        }

    async def _controls_of(self, dag: LiveDag) -> Controls:
        """As `steering` says, or said just now."""
        name, now = dag.found.paths.primary, time.monotonic()
        asked, controls = self._controls.get(name, (0.0, Controls(False)))
        if not asked or now > asked + CONTROLS_S:
            try:
                controls = await self._threads.with_steering(self._steering.controls, dag.found)
            except (PydagmanError, OSError) as error:
                controls = Controls(False, str(error))
            self._controls[name] = now, controls
        return controls

    async def picture(self, request: web.Request) -> web.Response:
        """Boxes and edges."""
        opened = [name for name in request.query.get("open", "").split(",") if name]
        if len(opened) > MAX_OPEN:
            raise Refused(400, f"at most {MAX_OPEN} groups can be open")
        dag = await self.dag_of(request)
        graph = dag.reader.dag
        if graph is None:
            raise Refused(404, "the DAG files can't be read, so there is no picture")
        if dag.picture is None or dag.picture.dag is not graph:
            dag.picture = PictureBoxes(graph)
        states, version, places = dag.states, dag.ring.version, dag.places
        make = dag.picture.picture
        return dumped(await self._threads.with_picture(make, opened, states, version, places))

    async def states(self, request: web.Request) -> web.Response:
        """The states of all nodes."""
        dag = await self.dag_of(request)
        coded = base64.b64encode(dag.states).decode("ascii")
        return dumped({"version": dag.ring.version, "states": coded, "legend": KEYS})

    async def nodes(self, request: web.Request) -> web.Response:
        """A page of the table of nodes."""
        wanted = rows_wanted(request.query)
        dag = await self.dag_of(request)

        def page() -> dict[str, Any]:
            if dag.table is None or dag.table.reader is not dag.reader:
                dag.table = NodeTable(dag.reader)
            return dag.table.page(wanted)

        version = dag.ring.version
        return dumped({"version": version, **await self._threads.with_files(page)})

    async def node(self, request: web.Request) -> web.Response:
        """All of one node."""
        dag = await self.dag_of(request)
        number, state = int(request.match_info["number"]), dag.overview["state"]
        return dumped(await self._threads.with_files(lambda: details_of(dag.reader, number, state)))

    async def timeline(self, request: web.Request) -> web.Response:
        """Numbers over time."""
        begin, end = (seconds_of(request.query, name) for name in ("from", "to"))
        count = number_of(request.query, "buckets", BUCKETS, 1, MAX_BUCKETS)
        dag = await self.dag_of(request)
        make = timeline_of
        return dumped(await self._threads.with_files(lambda: make(dag.reader, begin, end, count)))

    async def explain(self, request: web.Request) -> web.Response:
        """What is wrong, as `condor_pydagman explain` says, which asks the schedd as well."""
        dag = await self.dag_of(request)
        name = request.match_info["id"]
        async with self._explaining:
            asked, answer = self._explained.get(name, (0.0, None))
            if answer is None or time.monotonic() > asked + FRESH_S:
                answer = await _explained(dag.found)
                self._explained = {name: (time.monotonic(), answer), **self._explained}
                self._explained[name] = time.monotonic(), answer
        return dumped(answer)

    async def text(self, request: web.Request) -> web.Response:
        """A piece of a file."""
        what = request.query.get("file", "")
        begin = number_of(request.query, "from", 0, -(1 << 40), 1 << 62)
        dag = await self.dag_of(request)
        return dumped(
            await self._threads.with_files(lambda: piece_of(path_of(dag.reader, what), begin))
        )

    async def command(self, request: web.Request) -> web.Response:
        """Do something with the DAG."""
        try:
            wanted = read_request(json.loads(await request.read()))
        except (ValueError, RecursionError):
            raise Refused(400, "a command must be JSON") from None
        dag = await self.dag_of(request)
        if "numbers" in wanted.nodes:
            wanted = wanted._replace(nodes={"names": names_chosen(dag, wanted)})
        elif wanted.nodes.get("state") in KEYS and not _is_whole(dag, wanted.nodes["state"]):
            wanted = wanted._replace(nodes={"names": names_in_state(dag, wanted)})
        controls = await self._controls_of(dag)
        if not controls.can:
            raise Refused(409, controls.why_not or "you can't steer this DAG now")
        steer = self._steering.steer
        try:
            answer = await self._threads.with_steering(steer, dag.found, wanted)
        except Refused:
            raise
        except PydagmanError as error:
            raise Refused(409, str(error)) from None
        self._controls.pop(dag.found.paths.primary, None)
        return dumped(answer.as_json())


def names_chosen(dag: LiveDag, wanted: Request) -> list[str]:
    """The nodes that somebody chose by number.

    Raises:
        Refused: the numbers are of another run.
    """
    if not dag.ring.first <= wanted.seen <= dag.ring.version:
        raise Refused(
            409, "the DAG was restarted since you selected these nodes: select them again"
        )
    names = dag.names  # not the reader's: it may be at another run already
    if not all(0 <= number < len(names) for number in wanted.nodes["numbers"]):
        raise Refused(404, f"there is no such node: the DAG has {len(names)}")
    return [names[number] for number in wanted.nodes["numbers"]]


def _is_whole(dag: LiveDag, key: str) -> bool:
    """Whether DAGMan takes the same nodes for those in a state: its states are fewer."""
    counts, status = dag.counts(), LOOKS[Shown(KEYS.index(key))].status
    others = (look.key for look in LOOKS.values() if look.status is status and look.key != key)
    return key in STATE_WORDS and not any(counts.get(other) for other in others)


def names_in_state(dag: LiveDag, wanted: Request) -> list[str]:
    """The nodes in a state as the page shows it.

    Raises:
        Refused: they are too many to be named.
    """
    state = KEYS.index(wanted.nodes["state"])
    names = [name for name, one in zip(dag.names, dag.states) if one == state]
    if len(names) > MAX_NAMED:
        raise Refused(400, f"at most {MAX_NAMED} nodes can be named at once")
    return names


async def _explained(found: FoundDag) -> Mapping[str, Any]:
    """By a process of its own: it asks the schedd, and changes its directory."""
    what = found.paths.primary
    try:
        text = await output_of(
            "condor_pydagman.cli.pydagman", ["explain", "--json", what], EXPLAIN_S
        )
        answer = json.loads(text)
    except PoolError as error:
        raise Refused(503, str(error).removeprefix("condor_pydagman: ")) from None
    except ValueError:
        raise Refused(503, "the explanation can't be read") from None
    findings = [shown_finding(finding) for finding in answer["findings"]]
    return {"headline": answer["headline"], "wrong": answer["wrong"], "findings": findings}
