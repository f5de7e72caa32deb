"""What the page gets about DAGs: a method for each address."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import time
from collections.abc import Awaitable, Iterable, Mapping
from functools import partial
from typing import Any, Callable, Generic, TypeVar

from aiohttp import web

from condor_pydagman import feature_table
from condor_pydagman.errors import PoolError, PydagmanError
from condor_pydagman.explain.explain_node import explain_node
from condor_pydagman.explain.last_lines import excerpt_of
from condor_pydagman.follow.failures import failure_of
from condor_pydagman.follow.notices.facts import Facts
from condor_pydagman.follow.run_model import Attempt, DagState, Run, interventions
from condor_pydagman.follow.shown_states import KEYS, LOOKS, Shown
from condor_pydagman.monitor.file_facts import shown
from condor_pydagman.monitor.watched_dag import facts_by_logs
from condor_pydagman.names import logged_name
from condor_pydagman.printable import printable
from condor_pydagman.report.spans import (
    attempts_of,
    averages,
    has_failed,
    job_parts,
    ran_s,
    spans_of,
)
from condor_pydagman.vocabulary import STATE_WORDS, NodeKind, NodeStatus
from condor_pydagman.web.access import Refused
from condor_pydagman.web.dag_reader import DagReader
from condor_pydagman.web.dags_list import DagsList
from condor_pydagman.web.ended_answers import DAYS
from condor_pydagman.web.files import files_of_node, path_of, piece_of
from condor_pydagman.web.live_dag import LiveDag
from condor_pydagman.web.node_rows import NodeRows, ended_at, row_of
from condor_pydagman.web.picture_boxes import MAX_OPEN, PictureBoxes
from condor_pydagman.web.queue_answers import output_of
from condor_pydagman.web.steering import (
    LIMITS,
    MAX_NAMED,
    Controls,
    Request,
    Steering,
    read_request,
)
from condor_pydagman.web.tables import MAX_ROWS, MAX_SEARCH, Rows, Wanted
from condor_pydagman.web.threads import Threads

MAX_NEAR = 50  # parents, and children
MAX_VALUE = 2000  # characters of a variable's value
MAX_HOLDS = 10
MAX_HOSTS = 20
MAX_ATTEMPTS = 20  # of a node that are shown


def details_of(reader: DagReader, number: int, state: str) -> dict[str, Any]:
    """A node's row, and what is beside, before and behind it.

    Args:
        state: of the DAG, in words.

    Raises:
        Refused: there is no such node.
    """
    reader.check(number)
    run, dag, last = reader.node_run(number), reader.dag, reader.last_attempt(number)
    found = {**row_of(reader, number, time.time()), "attempts": len(run.attempts) if run else 0}
    found["job"] = _job(last)
    until = reader.run.ended or time.time()
    course = spans_of(run, until)[-MAX_ATTEMPTS:] if run is not None else []
    found["course"] = [{**one._asdict(), "node": None} for one in course]
    found.update(explained(reader, number, state))
    if dag is None:
        near: dict[str, Any] = {"parents": [], "parents_count": 0}
        near.update({"children": [], "children_count": 0})
        return {**found, **near, "vars": {}, "files": [], "kind": "JOB", "submit": ""}
    files = files_of_node(reader.found, dag, number, reader.attempts(number))
    return {
        **found,
        **_near(reader, "parents", dag.parents(number)),
        **_near(reader, "children", dag.children(number)),
        **_of_features(reader, number),
        "kind": NodeKind(dag.kinds[number]).name,
        "submit": dag.submits[number] if dag.submits[number] not in dag.descriptions else "",
        "vars": {one.key: one.value[:MAX_VALUE] for one in dag.variables.get(number, ())},
        "files": [
            {"kind": kind, "path": printable(shown(path)), "exists": os.path.exists(path)}
            for kind, path in files.items()
        ],
    }


def _of_features(reader: DagReader, number: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for fields in feature_table.offered("page", "of_node"):
        found.update(fields(reader, number))
    return found


def explained(reader: DagReader, number: int, state: str) -> dict[str, Any]:
    """Why the node is in its state, and what has happened to it; by the files alone: to ask the
    schedd takes too long here."""
    facts = _facts(reader, number, state)
    found = explain_node(facts, logged_name(reader.names[number])).to_json()
    return {
        "headline": found["headline"],
        "explain": [shown_finding(finding) for finding in found["findings"]],
        "life": found["life"],
    }


def shown_finding(finding: dict[str, Any]) -> dict[str, Any]:
    """A finding of `condor_pydagman explain --json` as the page shows it."""
    return {
        "weight": finding["weight"],
        "finding": finding["sentence"],
        "evidence": [_evidence(one) for one in finding["evidence"]],
        "advice": list(finding["advice"]),
        "nodes": list(finding["nodes"]),
        "inner": [
            {
                "headline": inner["headline"],
                "findings": [shown_finding(one) for one in inner["findings"]],
            }
            for inner in finding["inner"]
        ],
    }


def _evidence(evidence: dict[str, Any]) -> str:
    text = evidence["source"] + (f": {evidence['text']}" if evidence.get("text") else "")
    return "\n".join([text, *evidence.get("lines", ())])


def _facts(reader: DagReader, number: int, state: str) -> Facts:
    found, dag, run = reader.found, reader.dag, reader.node_run(number)
    quiet = found._replace(schedd_problem="it is not asked")
    excerpts = {}
    if run is not None and run.status is NodeStatus.ERROR:
        excerpt = excerpt_of(failure_of(run, reader.run, dag), quiet, dag)
        excerpts = {run.name: excerpt} if excerpt is not None else {}
    facts = facts_by_logs(found._replace(state=DagState(state)), reader.tally)
    return facts._replace(has_halt_file=os.path.exists(found.paths.halt), excerpts=excerpts)


def _near(reader: DagReader, what: str, numbers: Iterable[int]) -> dict[str, Any]:
    """The first parents or children, and how many there are."""
    found = list(dict.fromkeys(numbers))
    return {what: [reader.brief(one) for one in found[:MAX_NEAR]], f"{what}_count": len(found)}


def _job(attempt: Attempt | None) -> dict[str, Any]:
    """Of the last attempt, or of the job that carries it; {} if there is none."""
    if attempt is None:
        return {}
    carrier, attempt = attempt.carrier, attempt.queued_as
    if not attempt.procs:
        return {}
    return {
        "job": attempt.job,
        "bundle": carrier.name.rpartition(" ")[2] if carrier is not None else "",
        "nodes": len(carrier.nodes) if carrier is not None else 1,
        "procs": attempt.procs,
        "running": attempt.running,
        "held": attempt.held,
        "ended": attempt.ended_procs,
        "submitted": attempt.submitted,
        "value": attempt.value,
        "hosts": list(attempt.hosts[-MAX_HOSTS:]),
        "evictions": attempt.evictions,
        "holds": [
            {"time": hold.time, "reason": hold.reason, "code": hold.code, "job": hold.job}
            for hold in attempt.holds[-MAX_HOLDS:]
        ],
        "cpu_s": round(attempt.cpu_s, 3),
        "usage": {name: row._asdict() for name, row in attempt.usage.items()},
        "bytes_sent": attempt.bytes_sent,
        "bytes_received": attempt.bytes_received,
    }


BUCKETS = 120
MAX_BUCKETS = 1000
MAX_LONGEST_NODES = 20
MAX_DONE = 20


def timeline_of(
    reader: DagReader, begin: float | None, end: float | None, count: int
) -> dict[str, Any]:
    """The chart: `count` equal intervals from `begin` to `end`; None is the run's own.

    `running` is the average number of attempts whose jobs run; `longest` the nodes whose last
    attempts have run longest; `done` what people and features did to the whole DAG.
    """
    run, now = reader.run, time.time()
    last = run.ended or (max(run.last, now) if run.begun else 0.0)
    first = run.begun if begin is None else begin
    until = max(last if end is None else end, first + 1.0)
    step, end_of_all = (until - first) / count, min(now, last or now)
    ran = [
        (since - first, ended - first)
        for node in run.nodes.values()
        for attempt in node.attempts
        for part, since, ended in job_parts(attempt, end_of_all)
        if part == "run"
    ]
    begins, ends = sorted(begin for begin, _ in ran), sorted(end for _, end in ran)
    columns = zip(averages(begins, ends, step, count), *_ended(run, first, step, count))
    buckets = [
        {
            "t": round(first + bucket * step, 3),
            "running": round(max(running, 0.0), 3),
            "ended": ended,
            "failed": failed,
        }
        for bucket, (running, ended, failed) in enumerate(columns)
    ]
    done = [
        {"t": one.time, "by": one.by, "what": one.what, "why": one.why}
        for one in interventions(run)
        if not one.nodes
    ]
    return {
        "buckets": buckets if run.begun else [],
        "longest": _longest(reader, now),
        "done": done[-MAX_DONE:],
    }


def _ended(run: Run, begin: float, step: float, count: int) -> tuple[list[int], list[int]]:
    """How many attempts have ended in each interval, and how many of them have failed."""
    ended, failed = [0] * count, [0] * count
    for node in run.nodes.values():
        for attempt, following in attempts_of(node):
            end = ended_at(attempt)
            bucket = int((end - begin) / step) if end is not None and end >= begin else -1
            if end is not None and bucket == count and end <= begin + count * step + 1e-6:
                bucket -= 1
            if 0 <= bucket < count:
                ended[bucket] += 1
                failed[bucket] += has_failed(node, attempt, following)
    return ended, failed


def _longest(reader: DagReader, now: float) -> list[dict[str, Any]]:
    found = []
    for name, node in reader.run.nodes.items():
        if node.attempts and node.attempts[-1].started:
            found.append((ran_s(node.attempts[-1], now), name))
    found.sort(reverse=True)
    numbers = map(reader.find, (name for _, name in found[:MAX_LONGEST_NODES]))
    return [row_of(reader, number, now) for number in numbers if number is not None]


EXPLAIN_S = 60.0
EXPLAINED_S = 10.0  # an explanation is told again
CONTROLS_S = 2.0  # whether a DAG can be steered is asked as often at most
TOLD_S = 1.0  # what DAGMan has said of rows of a table is told again
TOLD_SHARE = 10  # of the time, one part in so many at most goes into asking it
_KEPT = 32  # DAGs
_NAMES_IN_AD = dict(
    zip(
        LIMITS,
        ("DAGMan_MaxJobs", "DAGMan_MaxIdle", "DAGMan_MaxPreScripts", "DAGMan_MaxPostScripts"),
    )
)


T = TypeVar("T")


class _Recent(Generic[T]):
    """What has been found out about DAGs, and is told again for a while.

    Args:
        fresh_s: for so long.
        share: finding it out may take one part in so many of the time until the next.
    """

    def __init__(self, fresh_s: float, share: float = 0) -> None:
        self._fresh_s, self._share = fresh_s, share
        self._kept: dict[str, tuple[float, T]] = {}

    async def get(self, dag: LiveDag, find_out: Callable[[LiveDag], Awaitable[T]]) -> T:
        """What is known of a DAG, or is found out now."""
        name, begun = dag.found.paths.primary, time.monotonic()
        until, known = self._kept.pop(name, (0.0, None))
        if known is None or begun > until:
            known = await find_out(dag)
            now = time.monotonic()
            until = now + max(self._fresh_s, self._share * (now - begun))
        self._kept[name] = until, known  # at the end: it was used last
        for oldest in list(self._kept)[:-_KEPT]:
            del self._kept[oldest]
        return known

    def forget(self, dag: LiveDag) -> None:
        """Find it out anew when it is asked for."""
        self._kept.pop(dag.found.paths.primary, None)


class DagAnswers:
    """Answers requests.

    Args:
        steering: steers DAGs.
    """

    def __init__(self, dags: DagsList, threads: Threads, steering: Steering) -> None:
        self._dags, self._threads, self._steering = dags, threads, steering
        self._explaining = asyncio.Semaphore(2)
        self._explained = _Recent[Any](EXPLAINED_S)
        self._controls = _Recent[Controls](CONTROLS_S)
        self._tables: dict[str, Any] = {}
        for tables in feature_table.offered("page", "TABLES"):
            self._tables.update(tables)
        self._told = {name: _Recent[tuple[Any, str]](TOLD_S, TOLD_SHARE) for name in self._tables}

    async def dag_of(self, request: web.Request) -> LiveDag:
        """The DAG of a request's address.

        Raises:
            Refused: there is none, or its files can't be read.
        """
        return await self._dags.live(request.match_info["id"])

    async def dags(self, request: web.Request) -> web.Response:
        """All DAGs."""
        rows = await self._dags.rows()
        ended = self._dags.ended
        told = {"as_of": ended.as_of, "days": DAYS, "problem": ended.problem}
        return dumped({"dags": rows, "problem": self._dags.queue.problem, "ended": told})

    async def overview(self, request: web.Request) -> web.Response:
        """How one DAG stands."""
        return dumped(await self.overview_of(await self.dag_of(request)))

    async def overview_of(self, dag: LiveDag) -> dict[str, Any]:
        """How it stands, and what of it can be steered."""
        controls = await self._controls.get(dag, self._ask_controls)
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

    async def _ask_controls(self, dag: LiveDag) -> Controls:
        """As `steering` says."""
        try:
            return await self._threads.with_steering(self._steering.controls, dag.found)
        except (PydagmanError, OSError) as error:
            return Controls(False, str(error))

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
        wanted = wanted_rows(request.query, NodeRows)
        dag = await self.dag_of(request)
        version = dag.ring.version
        page = await self._threads.with_files(lambda: NodeRows(dag.reader).page(wanted))
        return dumped({"version": version, **page})

    async def node(self, request: web.Request) -> web.Response:
        """All of one node."""
        dag = await self.dag_of(request)
        number, state = int(request.match_info["number"]), dag.overview["state"]
        return dumped(await self._threads.with_files(lambda: details_of(dag.reader, number, state)))

    async def table(self, request: web.Request) -> web.Response:
        """A page of a table that a feature has; all of one row, if that has a number."""
        table = request.match_info["table"]
        if table not in self._tables:
            raise Refused(404, f"there is no table {table}")
        kind, number = self._tables[table], request.match_info.get("number")
        wanted = wanted_rows(request.query, kind) if number is None else Wanted()
        dag = await self.dag_of(request)
        told, problem = await self._told_of(table, dag)

        def answer() -> dict[str, Any]:
            rows = kind(dag.reader, told)
            return dict(rows.page(wanted) if number is None else rows.details(int(number)))

        return dumped({"problem": problem, **await self._threads.with_files(answer)})

    async def _told_of(self, table: str, dag: LiveDag) -> tuple[Any, str]:
        """DAGMan is asked only while somebody looks at the table; if it does not answer, the logs
        tell what they have."""
        if dag.places is None or dag.snapshot is None or dag.snapshot.over:
            return {}, ""
        return await self._told[table].get(dag, partial(self._ask, self._tables[table]))

    async def _ask(self, table: Any, dag: LiveDag) -> tuple[Any, str]:
        """What DAGMan says of the rows of a table, or why it does not."""
        try:
            asked = self._threads.with_steering(table.asked, self._steering, dag.found)
            return await asked, ""
        except (PydagmanError, OSError) as error:
            return {}, f"{table.UNTOLD}: {error}"

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
        async with self._explaining:
            return dumped(await self._explained.get(dag, _explained))

    async def runs(self, request: web.Request) -> web.Response:
        """All runs, and where two differ: `a` and `b` by their numbers, from 1 on, or instead of
        `a` the last run of the DAG `of`; without these the last two."""
        dag, elsewhere = await self.dag_of(request), request.query.get("of", "")
        other = (await self._dags.live(elsewhere)).found.paths.primary if elsewhere else ""
        numbers = (str(number_of(request.query, name, 0, 1, 1 << 31)) for name in "ab")
        words = [dag.found.paths.primary, *numbers, other]
        async with self._explaining:
            try:
                text = await output_of("condor_pydagman.web.run_answers", words, EXPLAIN_S)
                return dumped(json.loads(text))
            except PoolError as error:
                raise Refused(503, str(error)) from None

    async def text(self, request: web.Request) -> web.Response:
        """A piece of a file."""
        what = request.query.get("file", "")
        begin = number_of(request.query, "from", 0, -(1 << 40), 1 << 62)
        dag = await self.dag_of(request)
        reader = dag.reader
        ask = lambda: piece_of(path_of(reader, what), begin, reader.found.run_by)  # noqa: E731
        return dumped(await self._threads.with_files(ask))

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
        controls = await self._controls.get(dag, self._ask_controls)
        if not controls.can:
            raise Refused(409, controls.why_not or "you can't steer this DAG now")
        steer = self._steering.steer
        try:
            answer = await self._threads.with_steering(steer, dag.found, wanted)
        except Refused:
            raise
        except PydagmanError as error:
            raise Refused(409, str(error)) from None
        self._controls.forget(dag)
        return dumped(answer._asdict())


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


async def _explained(dag: LiveDag) -> Mapping[str, Any]:
    """By a process of its own: it asks the schedd, and changes its directory."""
    words = ["explain", "--json", dag.found.paths.primary]
    try:
        text = await output_of("condor_pydagman.cli.pydagman", words, EXPLAIN_S)
        answer = json.loads(text)
    except PoolError as error:
        raise Refused(503, str(error).removeprefix("condor_pydagman: ")) from None
    except ValueError:
        raise Refused(503, "the explanation can't be read") from None
    findings = [shown_finding(finding) for finding in answer["findings"]]
    return {"headline": answer["headline"], "wrong": answer["wrong"], "findings": findings}


def wanted_rows(query: Mapping[str, str], rows: type[Rows]) -> Wanted:
    """What a query asks for.

    Raises:
        Refused: something of it is wrong.
    """
    sort, state, sorts = query.get("sort") or "name", query.get("state", ""), ("name", *rows.SORTS)
    if sort not in sorts:
        raise Refused(400, f"sort is one of {', '.join(sorts)}")
    if state and state not in rows.STATES:
        raise Refused(400, f"state is one of {', '.join(rows.STATES)}")
    if len(query.get("search", "")) > MAX_SEARCH:
        raise Refused(400, f"search has at most {MAX_SEARCH} characters")
    return Wanted(
        query.get("search", ""),
        state,
        sort,
        query.get("descending", "") in ("1", "true", "yes"),
        number_of(query, "offset", 0, 0, 1 << 31),
        number_of(query, "limit", MAX_ROWS, 0, MAX_ROWS),
    )


def dumped(value: Any) -> web.Response:
    """JSON, in ASCII: names of nodes may hold bytes that are no text."""
    text = json.dumps(value, separators=(",", ":"))
    return web.Response(text=text, content_type="application/json")


def number_of(query: Mapping[str, str], name: str, default: int, least: int, most: int) -> int:
    """A whole number of a query.

    Raises:
        Refused: it is none, or out of range.
    """
    text = query.get(name, "")
    if not text:
        return default
    try:
        number = int(text) if len(text) <= 20 and text.isascii() else least - 1
    except ValueError:
        number = least - 1
    if not least <= number <= most:
        raise Refused(400, f"{name} is a number from {least} to {most}")
    return number


def seconds_of(query: Mapping[str, str], name: str) -> float | None:
    """A time of a query, seconds since the epoch; None if it has none.

    Raises:
        Refused: it is no time.
    """
    text = query.get(name, "")
    if not text:
        return None
    try:
        seconds = float(text) if len(text) <= 30 else -1.0
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < 1e11:
        raise Refused(400, f"{name} is a time in seconds since 1970")
    return seconds
