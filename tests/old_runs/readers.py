"""What this version makes of the files of a run.

The only module of this folder that knows the insides of the package: when they move, its calls
move, and what it returns stays, since that is compared with what earlier versions returned.
"""

from __future__ import annotations

import calendar
import contextlib
import io
import json
import os
import re
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import htcondor2

from condor_pydagman import dag_status, read_node_status
from condor_pydagman.adapters import schedd
from condor_pydagman.adapters.joblog import NodesLog
from condor_pydagman.cli import pydagman
from condor_pydagman.config import Config, read
from condor_pydagman.daemon.clients import was_halted
from condor_pydagman.daemon.dag_input import read_dag
from condor_pydagman.dagman_job.options import DagmanOptions, parse_dagman
from condor_pydagman.data_requests.work_order import parse_work_order
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.engine import Engine
from condor_pydagman.engine.node_states import State
from condor_pydagman.engine.report import NodeReport, Report
from condor_pydagman.engine.throttles import throttles
from condor_pydagman.feature_table import Given
from condor_pydagman.features.cache.adapters.store_file import CacheFile
from condor_pydagman.features.shared_limits import limit_claims
from condor_pydagman.features.shared_limits.fair_shares import NO_LIMIT, Grant
from condor_pydagman.features.sites import helper as site_helper
from condor_pydagman.features.sites.adapters import claims_directory as claims
from condor_pydagman.language.quoted_words import parse_quoted
from condor_pydagman.monitor import notifier
from condor_pydagman.names import logged_name
from condor_pydagman.placement.rules.allocation_rules import read_ledger
from condor_pydagman.placement.rules.journal_text import read_done
from condor_pydagman.placement.rules.turn_rules import read_ticket_name
from condor_pydagman.records import own_ad, own_events, rescue
from condor_pydagman.vocabulary import (
    ALL_PROCS,
    PROVISIONER_READY,
    SHARED_CLUSTER,
    EventKind,
    NodeKind,
)
from tests.make import group_reports
from tests.old_runs.runs import DIRECTORY, lay_out, text_of
from tests.sim.invariants import validate

MAX_STEPS = 600  # that a run may take to its end
# Words for people, and files for others: the commands of `answers` show what is in them.
_UNSAID = (do.Say, do.SayStatus, do.SayDeferrals, do.SayFailed, do.JobState, do.Publish)
_SERVING = (NodeKind.PROVISIONER, NodeKind.SERVICE)
_COMMANDS = {
    "events": ("events", "t.dag"),
    "explain": ("explain", "--json", "t.dag"),
    "report": ("report", "--format", "json", "-o", "-", "t.dag"),
}


def expectations(kept: Path) -> dict[str, Any]:
    """What becomes of a run: the states of its nodes, what is done next, what is told of it."""
    with tempfile.TemporaryDirectory(prefix="old-run-") as place, _at(place):
        work = Path(place)
        lay_out(kept, work)
        told = answers(work)
        ads = json.loads(text_of(kept / "queue.json", work))
        found = {
            "answers": told,
            "files": files(work),
            "names": names(),
            "started": [started(ad) for ad in ads],
            "after": after(ads),
        }
        text = json.dumps(found).replace(place, DIRECTORY)
        text = re.sub("(can't ask the schedd: )[^\"]*", r"\1it is not there", text)
        return dict(json.loads(text))


@contextlib.contextmanager
def _at(place: str) -> Iterator[None]:
    """Work in a directory, at the clock of Greenwich, with no pool."""
    before, old = os.getcwd(), dict(os.environ)
    os.chdir(place)
    os.environ.update(TZ="UTC", CONDOR_CONFIG=os.devnull, HOME=place, COLUMNS="100")
    time.tzset()
    htcondor2.reload_config()
    try:
        yield
    finally:
        os.chdir(before)
        os.environ.clear()
        os.environ.update(old)
        time.tzset()
        htcondor2.reload_config()


def names() -> dict[str, str]:
    """Names of the files beside the DAG that are there, by what they are to this version."""
    paths = parse_dagman(["-Dag", "t.dag", "-Lockfile", "t.dag.lock"]).paths()
    plain = ("condor_sub", "dagman_out", "dagman_log", "lib_out", "lib_err", "lock", "halt")
    ours = ("metrics", "grown", "cache", "sites", "placements")
    found = {name: getattr(paths, name) for name in (*plain, *ours)}
    found.update(
        rescue=paths.rescue(1), nodes_log=paths.nodes_log("."), notify=f"{paths.primary}.notify.1"
    )
    found.update(save=paths.save("t.save", "."))
    return {name: path for name, path in found.items() if os.path.exists(path)}


def started(ad: dict[str, Any]) -> list[Any]:
    """How this version takes the command line of a job."""
    program = os.path.basename(ad["Cmd"])
    raw = str(ad.get("Arguments", "")).replace('"', '""')
    words = parse_quoted(f'"{raw}"')
    return [program, _told(parse_dagman(words)) if program == "condor_dagman" else words]


def files(work: Path) -> dict[str, Any]:
    """What is read of the files that are not part of the run's own logs."""
    return {
        str(path.relative_to(work)): _told(read_file(path))
        for path in sorted(work.rglob("*"))
        for pattern, read_file in _FILES.items()
        if path.match(pattern)
    }


def _status(path: Path) -> Any:
    found = read_node_status(path)
    nodes = {name: [entry.status.name, entry.retries] for name, entry in found.nodes.items()}
    return {"status": found.status.name, "counts": list(found.counts), "nodes": nodes}


def _delivered(path: Path) -> str:
    found = notifier.lock(str(path), 1.0)
    return "" if found is None else found.id


def _site_ads(path: Path) -> list[site_helper.KnownAd]:
    read_ads = map(site_helper._read, path.read_text().splitlines())
    return [ad for ad in read_ads if ad is not None]


_FILES: dict[str, Callable[[Path], Any]] = {
    "*.status": _status,
    "*.cache": lambda path: CacheFile(str(path)).records(),
    "*.notify.[0-9]": _delivered,
    "*.dag.sites": lambda path: _site_ads(path),
    "shared/turn.*": lambda path: read_ticket_name(path.name),
    "claims/claims.*": lambda path: claims.parse(path.read_text()),
    "places/limits.*": lambda path: limit_claims.parse(path.read_bytes()),
    "shared/ledger.*.txt": lambda path: read_ledger(path.read_text()),
    "*.order": lambda path: parse_work_order(path.read_text()),
    "*.journal": lambda path: read_done(path.read_text()),
}


def answers(work: Path) -> dict[str, Any]:
    """What is told of a run by commands, and by the Python interface."""
    now = _last_time("t.dag.nodes.log")  # or what runs would have run for longer each time
    with mock.patch.object(time, "time", lambda: now):
        told: dict[str, Any] = {name: _lean(_printed(*words)) for name, words in _COMMANDS.items()}
        status = dag_status("t.dag")
    told["status"] = {
        "state": status.state.name,
        "counts": None if status.counts is None else list(status.counts),
        "cluster": status.cluster,
        "exit_code": status.exit_code,
        "rescue": status.rescue,
    }
    return told


def _lean(what: Any) -> Any:
    """Without what is empty, which is most of it."""
    if isinstance(what, dict):
        lean = {name: _lean(value) for name, value in what.items()}
        return {name: value for name, value in lean.items() if value not in (None, "", 0, [], {})}
    return [_lean(one) for one in what] if isinstance(what, list) else what


def _printed(*words: str) -> list[Any] | dict[str, Any]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        pydagman.main(list(words))
    text = out.getvalue()
    if text.startswith("{\n"):
        return dict(json.loads(text))
    return [json.loads(line) for line in text.splitlines()]


def after(ads: list[dict[str, Any]]) -> dict[str, Any]:
    """The states of the nodes when all has been read; then the actions up to the end of the DAG, in
    a world where all goes well that has not failed so far."""
    run = _Run(ads)
    events = run.read_log() if run.recovering else 0
    read = run.shown()
    world = _World(run, ads)
    world.done(run.begun)
    if run.recovering:
        world.done(run.tell(inputs.LogCaughtUp()))
    actions, end = world.play(), run.shown()
    nodes = read["nodes"].items()
    end["nodes"] = {
        name: is_now for name, is_now in end["nodes"].items() if (name, is_now) not in nodes
    }
    return {"events": events, "read": read, "actions": actions, "end": end}


class _World:
    """Jobs, scripts and helpers, which do what is asked of them at once and well."""

    def __init__(self, run: _Run, ads: list[dict[str, Any]]) -> None:
        self.run = run
        self.shown: list[Any] = []
        self.exited = False
        self._answers: deque[inputs.Input] = deque()
        self._cluster = 1000
        queued = run.queue(ads)
        self._live = {(job.cluster, job.proc): job for job in queued}
        self._growing = {ad["ClusterId"] for ad in ads if "JobMaterializeLimit" in ad}
        self._resumed = False

    def play(self) -> list[Any]:
        """Until the end; returns all actions."""
        for _ in range(MAX_STEPS):
            if self.exited or not self._step():
                return self.shown
        raise AssertionError(f"no end: {self.shown[-20:]}")

    def _step(self) -> bool:
        run = self.run
        for event in run.log.read():
            self.done(run.tell(event))
        if self._answers:
            self.done(run.tell(self._answers.popleft()))
        elif self._live:
            self._end_job(min(self._live, key=self._rank))
        elif not self._resumed and run.engine.report().halts.halted:
            self._resumed = True
            self._answers.append(inputs.Resume("it is resumed", run.halted_by_file))
        else:
            due = run.engine.next_deadline()
            if due is None:
                return False
            run.now = max(run.now, due)
            self.done(run.tell(inputs.Wake()))
        return True

    def _rank(self, job: tuple[int, int]) -> tuple[bool, tuple[int, int]]:
        """Jobs that serve others end last."""
        node = self.run.dag.ids.get(self._live[job].node)
        return node is not None and self.run.dag.kinds[node] in _SERVING, job

    def _end_job(self, job: tuple[int, int]) -> None:
        self.shown.append(["(the job of a node ends)", self._live.pop(job).node])
        self._answers.append(inputs.LogEvent(EventKind.JOB_TERMINATED, *job, 0))
        self._last_of(job[0])

    def _last_of(self, cluster: int) -> None:
        """A cluster with late materialization goes with its last job."""
        if cluster in self._growing and not any(one == cluster for one, _ in self._live):
            self._answers.append(inputs.LogEvent(EventKind.CLUSTER_REMOVE, cluster, -1, 0))

    def done(self, actions: list[do.Action]) -> None:
        """Do what is asked."""
        for action in actions:
            if not isinstance(action, _UNSAID):
                self.shown.append(self.run.plain(action))
                obey = getattr(self, f"_do_{type(action).__name__}", None)
                if obey is not None:
                    obey(action)
                text = self.run.text(action)
                if text:
                    self.run.log.append(text)

    def _do_Ask(self, action: do.Ask) -> None:
        """All that helpers may answer is beside what they are asked."""
        asked = type(action.request)
        reply = getattr(self, f"_reply_to_{asked.__name__}")
        self._tell(
            inputs.Answered(action.helper, reply(action.request, sys.modules[asked.__module__]))
        )

    def _tell(self, answer: inputs.Input) -> None:
        self._answers.append(answer)

    def _do_QueryQueue(self, _: Any) -> None:
        self._tell(inputs.QueueListed(list(self._live.values())))

    def _do_SubmitNode(self, action: do.SubmitNode) -> None:
        self._cluster += 1
        self._tell(inputs.Submitted(action.node, self._cluster, 1))
        self._submitted(action, self._cluster, 0, "")

    def _do_SubmitTogether(self, action: do.SubmitTogether) -> None:
        self._cluster += 1
        for proc, one in enumerate(action.nodes):
            self._tell(inputs.Submitted(one.node, self._cluster, 1, proc, shareable=True))
        for proc, one in enumerate(action.nodes):
            self._submitted(one, self._cluster, proc, SHARED_CLUSTER)

    def _submitted(self, action: do.SubmitNode, cluster: int, proc: int, note: str) -> None:
        name = logged_name(self.run.dag.names[action.node])
        self._tell(inputs.LogEvent(EventKind.SUBMIT, cluster, proc, 0, node=name, text=note))
        job = inputs.QueuedJob(cluster, proc, name, action.retry, shared=bool(note))
        self._live[cluster, proc] = job

    def _do_RemoveJobs(self, action: do.RemoveJobs) -> None:
        for cluster, proc in list(self._live):
            if action.cluster in (0, cluster) and action.proc in (ALL_PROCS, proc):
                del self._live[cluster, proc]
                event = inputs.LogEvent(EventKind.JOB_ABORTED, cluster, proc, 0, text=action.reason)
                self._tell(event)
                self._last_of(cluster)

    def _do_RunScript(self, action: do.RunScript) -> None:
        self._tell(inputs.ScriptEnded(action.node, action.kind, 0, held=action.held))

    def _do_QueryProvisioner(self, _: Any) -> None:
        self._tell(inputs.ProvisionerAnswer(PROVISIONER_READY))

    @staticmethod
    def _reply_to_EvaluateConditions(request: Any, home: ModuleType) -> Any:
        results = [home.ConditionResult(one.node, one.number, 1, "so") for one in request.wanted]
        return home.ConditionsEvaluated(results)

    @staticmethod
    def _reply_to_ReadResult(request: Any, home: ModuleType) -> Any:
        return home.ResultRead(request.node, request.retry, (("size", "150"),))

    @staticmethod
    def _reply_to_LookUpCached(request: Any, home: ModuleType) -> Any:
        found = [
            home.CachedResult(one.node, one.number, False, "00000000000000aa", "it is new")
            for one in request.wanted
        ]
        return home.CachedFound(found)

    @staticmethod
    def _reply_to_KeepCached(request: Any, home: ModuleType) -> Any:
        return home.CachedKept([node for node, _ in request.kept])

    @staticmethod
    def _reply_to_ReadPiece(request: Any, home: ModuleType) -> Any:
        return home.PieceRefused(request.node, "there is nothing to be read")

    @staticmethod
    def _reply_to_RunFeeder(request: Any, home: ModuleType) -> Any:
        return home.Fed(request.number, None, "there is nothing to run")

    @staticmethod
    def _reply_to_MatchSites(request: Any, home: ModuleType) -> Any:
        digests = {str(ad.values["Name"]): ad.digest for ad in _site_ads(Path("t.dag.sites"))}
        wanted = [(one.group, one.only or max(digests)) for one in request.wanted]
        kept = [home.SiteClaim(*one, digests[one[1]]) for one in wanted]
        return home.SitesMatched(kept, tuple(digests))

    @staticmethod
    def _reply_to_TakePlaces(request: Any, home: ModuleType) -> Any:
        free = Grant((NO_LIMIT,) * 4, NO_LIMIT)
        return home.PlacesGiven([free] * len(request.demands))

    def _do_WriteRescue(self, _: Any) -> None:
        self._tell(inputs.RescueWritten())

    def _do_Exit(self, _: Any) -> None:
        self.exited = True


class _Out:
    """`.dagman.out`, which nobody reads."""

    verbosity = 3

    def say(self, text: str, level: int = 3) -> None:
        pass

    say_test = say


class _Run:
    """A DAGMan that begins with the files of the working directory, and with these ads."""

    def __init__(self, ads: list[dict[str, Any]]) -> None:
        self.options = options = _options()
        self.paths = paths = options.paths()
        self.recovering = os.path.exists(paths.lock)
        self.own_ad = next((ad for ad in ads if "DAGManJobId" not in ad), {})
        config = _config()
        out: Any = _Out()
        self.dag, _ = read_dag(options, config, paths, out)
        self.engine = Engine(
            self.dag,
            config,
            throttles(
                config, **{"jobs": options.max_jobs, **own_ad.earlier_throttles(self.own_ad)}
            ),
            dag_id=int(self.own_ad.get("ClusterId", 0)),
            given=Given(self.dag, paths),
            check=validate,
        )
        self.log = NodesLog(f"{paths.primary}.nodes.log")
        self.now = _last_time(self.log.path)
        self.log.open(truncate=not self.recovering)
        self.halted_by_file = os.path.exists(paths.halt)
        if self.recovering and was_halted(self.own_ad):
            self.tell(inputs.Halt(restored=True))
        if self.halted_by_file:
            self.tell(inputs.Halt("the halt file is there", file=True))
        self.begun = self.tell(inputs.Begin(self.recovering))

    def tell(self, an_input: inputs.Input) -> list[do.Action]:
        return self.engine.handle(an_input, self.now)

    def read_log(self) -> int:
        """Read the whole log; returns the number of events."""
        number = 0
        for events in self.log.to_end():
            for event in events:
                number += 1
                self.tell(event)
        return number

    def text(self, action: do.Action) -> str:
        """What an action writes to the nodes log; '' for others."""
        stamp = own_events.stamp(time.gmtime(self.now), 0)
        node = getattr(action, "node", -1)
        name = logged_name(self.dag.names[node]) if isinstance(node, int) and node >= 0 else ""
        if isinstance(action, do.AppendJournalRecord):
            return own_events.record_event(stamp, name, action)
        if isinstance(action, do.AppendNoop):
            return own_events.noop(stamp, name, action.subproc)
        if isinstance(action, do.AppendPreSkip):
            return own_events.pre_skip(stamp, name, action.subproc)
        if isinstance(action, do.AppendPostEnded):
            job = {"cluster": action.cluster, "proc": action.proc, "subproc": action.subproc}
            return own_events.post_ended(stamp, name, action.status, **job)
        return ""

    @staticmethod
    def queue(ads: list[dict[str, Any]]) -> list[inputs.QueuedJob]:
        """The jobs of the DAG in the queue."""
        return [schedd._queued_job(ad) for ad in ads if "DAGManJobId" in ad]

    def shown(self) -> dict[str, Any]:
        """All that is known of the nodes, and of the DAG."""
        engine, states = self.engine, self.engine.run.nodes.states
        nodes = {}
        for report in engine.node_reports():
            told = _node_told(report)
            told = {key: value for key, value in told.items() if value not in (0, "", False, [])}
            nodes[report.name] = {**told, "state": State(states[report.node]).name}
        text = "".join(
            rescue.rescue_text(
                self.dag,
                engine.node_reports(),
                created=time.gmtime(self.now),
                reset_retries=False,
                lines=engine.rescue_lines(),
            )
        )
        dag = _dag_told(engine.report())
        return {
            "nodes": nodes,
            "dag": {key: value for key, value in dag.items() if value not in (0, False)},
            "groups": [_told(group) for group in group_reports(engine)],
            "rescue": [line for line in text.splitlines() if line and not line.startswith("#")],
        }

    def plain(self, action: do.Action) -> list[Any]:
        """An action as data that no renamed class changes; what a helper is asked was one."""
        what = action.request if isinstance(action, do.Ask) else action
        return [type(what).__name__, _told(what, names=self.dag.names)]


def _node_told(report: NodeReport) -> dict[str, Any]:
    """A node, in the fields that its report had when features had fields of their own."""
    told = dict(_told(report, without=("node", "name", "details", "marks", "rescue_lines")))
    told.update(skipped=report.skipped, not_needed=report.not_needed)
    begin, others = f"NODE_RESULT {report.name} ", []
    for line in report.rescue_lines:
        if line.startswith(begin):
            told["result"] = line[len(begin) :]
        else:
            others.append(line)
    return {**told, "rescue_lines": others}


# What a report has for operators, which the recordings do not have.
_OF_OPERATORS = (
    *("last_end_at", "refusals", "resubmitting", "retrying", "throttled", "retries"),
    "failed_first",
    *("idle_s", "held_s", "running_s", "wasted_s"),
)


def _dag_told(report: Report) -> dict[str, Any]:
    """The whole DAG, in the fields that its report had when features had fields of their own."""
    told = dict(_told(report, without=("deferrals", "shown", *_OF_OPERATORS)))
    for one in report.shown:
        if one.field == "Brake":
            halts = told.setdefault("halts", {})
            assert halts.pop("by_rule", False) == bool(one.value)
            halts["brake"] = one.value
        elif one.field == "Feeder":
            assert isinstance(one.answer, dict)
            told["feeder"] = {name: value for name, value in one.answer.items() if value != ""}
        elif one.field == "Enough":
            told["enough"] = str(one.value).split("; ") if one.value else []
        elif one.metric == "enough_reached":
            assert one.value == len(told["enough"])
        elif one.metric == "nodes_not_needed":
            told["not_needed"] = one.value
        elif one.value != "":  # else it is for clients alone
            told[f"shown {one.field or one.metric}"] = one.value
    return told


def _told(what: Any, without: tuple[str, ...] = (), names: list[str] | None = None) -> Any:
    """A named tuple as a dictionary of what is not as usual, with names of nodes."""
    if hasattr(what, "_fields"):
        usual = what._field_defaults
        told = {
            name: value
            for name, value in what._asdict().items()
            if name not in without and (name not in usual or usual[name] != value)
        }
        if names is not None:
            told.update(_named(told, names))
        return {name: _told(value, (), names) for name, value in told.items()}
    if isinstance(what, Enum):
        return what.name
    if isinstance(what, (list, tuple)):
        return [_told(one, (), names) for one in what]
    if isinstance(what, Mapping):
        # Before Python 3.11 a number of an IntEnum is its name as a text.
        texts = {key: str(int(key) if isinstance(key, int) else key) for key in what}
        return {texts[key]: _told(value, (), names) for key, value in what.items()}
    return what


def _named(told: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """The fields that are numbers of nodes."""
    found: dict[str, Any] = {}
    node = told.get("node")
    if isinstance(node, int):
        found["node"] = names[node] if node >= 0 else None
    nodes = told.get("nodes")
    if isinstance(nodes, tuple) and all(isinstance(one, int) for one in nodes):
        found["nodes"] = [names[one] for one in nodes]
    return found


def _options() -> DagmanOptions:
    """The command line that condor_submit_dag has written."""
    line = re.search(r"^arguments\s*= (.*)", Path("t.dag.condor.sub").read_text(), re.M)
    assert line is not None
    return parse_dagman(parse_quoted(line[1]))


def _config() -> Config:
    """The knobs of the DAG's CONFIG file; of HTCondor's none."""
    text = Path("t.config").read_text() if os.path.exists("t.config") else ""
    pairs = dict(line.split(" = ", 1) for line in text.splitlines())
    return read(lambda knob: pairs.get(knob.name), is_set=lambda name: name in pairs)


def _last_time(log: str) -> float:
    """A second after the last event; seconds since the epoch."""
    text = Path(log).read_text(errors="replace")
    stamps = re.findall(r"^\d{3} \([-.\d]+\) (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)", text, re.M)
    return calendar.timegm(time.strptime(max(stamps), "%Y-%m-%d %H:%M:%S")) + 1.0
