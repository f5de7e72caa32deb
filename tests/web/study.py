"""A DAG in memory, behind the page's own server: its nodes are in the states that a test says, and
what the page asks of its DAGMan is done at once.

So the page is tested without HTCondor, and with 100,000 nodes.
"""

from __future__ import annotations

import fnmatch
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from condor_pydagman.engine.report import GroupReport
from condor_pydagman.errors import FileError
from condor_pydagman.features.sites import shown as sites
from condor_pydagman.features.sites.shown import NO_SITE, GroupSite, GroupSites
from condor_pydagman.features.sites.states import GroupState
from condor_pydagman.follow.overview import Overview
from condor_pydagman.follow.run_model import Attempt, Carrier, Hold, NodeRun, Run, ScriptRun
from condor_pydagman.follow.shown_states import COUNTED, KEYS, LOOKS, Shown
from condor_pydagman.follow.tally import Tally
from condor_pydagman.graph.build import BuildOptions, build
from condor_pydagman.monitor.found_dag import FoundDag, found_by_ad
from condor_pydagman.names import logged_name
from condor_pydagman.web.dags_list import id_of
from condor_pydagman.web.steering import COMMANDS, Answer, Controls, Request, Steering, _effect

SUBMIT = "executable = x\noutput = $(JOB).out\nerror = $(JOB).err\nqueue\n"
_OVER = (Shown.DONE, Shown.FAILED, Shown.RETRY)
_AFTER = {"hold": "held", "release": "idle", "rerun": "ready", "done": "done", "skip": "skipped"}
_OF_AD = {
    "DAG_NodesDone": ("done",),
    "DAG_NodesPrerun": ("pre",),
    "DAG_NodesPostrun": ("post",),
    "DAG_NodesReady": ("ready",),
    "DAG_NodesUnready": ("waiting",),
    "DAG_NodesFailed": ("failed",),
    "DAG_NodesQueued": ("idle", "running", "held"),
    "DAG_JobsRunning": ("running",),
    "DAG_JobsHeld": ("held",),
}


class Study(Steering):
    """A first node, `layers` of some nodes each, and a last node.

    It is what the server reads of a DAG's files (as a `WatchedDag`), and its DAGMan.

    Args:
        more: lines of the DAG file.
        names: of the first nodes behind the first one, which a DAG file could not have.
    """

    word, note, ended = "running", "", 0.0
    exit_code: int | None = None
    can, why_not = True, ""
    refusal = ""  # what DAGMan says to each command; '' if it takes them
    problem = ""  # why the files can't be read; '' if they can

    def __init__(
        self,
        directory: Path,
        layers: Sequence[tuple[str, int]],
        *,
        file: str = "study.dag",
        more: str = "",
        names: Sequence[str] = (),
    ) -> None:
        self.directory, self.file, self.begun = directory, file, time.time() - 3600
        self.layers: dict[str, range] = {}
        text = self._dag_file(layers) + more
        self.dag = build([file], lambda _: text, BuildOptions(use_join_nodes=False))
        self.names = self.dag.names
        self.names[1 : 1 + len(names)] = names
        directory.mkdir()
        files = {file: text, "n.sub": SUBMIT, f"{file}.dagman.out": "it starts\n"}
        for path, content in files.items():
            (directory / path).write_text(content)
        self.limits = {"jobs": 100, "idle": 50, "pre": 20, "post": 20, "priority": 0}
        self.findings: list[dict[str, Any]] = []
        self.more: dict[str, Any] = {}  # of the overview
        self.requests: list[Request] = []
        self._begin()

    def _dag_file(self, layers: Sequence[tuple[str, int]]) -> str:
        parts = [["stage_in"]]
        for name, width in layers:
            first = sum(map(len, parts))
            self.layers[name] = range(first, first + width)
            parts.append([f"{name}_{n:0{len(str(width - 1))}}" for n in range(width)])
        parts.append(["merge"])
        lines = [f"JOB {name} n.sub" for part in parts for name in part]
        lines += [f"PARENT {' '.join(a)} CHILD {' '.join(b)}" for a, b in zip(parts, parts[1:])]
        return "\n".join([*lines, ""])

    def _begin(self) -> None:
        """All nodes wait."""
        self.states = bytearray(len(self.names))
        self.nodes = [NodeRun(logged_name(name)) for name in self.names]
        self._changed: list[NodeRun] = []
        self.run = Run()
        self.run.begun = self.begun
        self.run.nodes = {node.name: node for node in self.nodes}
        self.group_states = [GroupState.UNMATCHED] * len(self.dag.groups)
        self.tally = Tally(self.run)
        known = {"sites": SimpleNamespace(group_states=self.group_states)}
        self.tally.feature = known.get  # type: ignore[method-assign]
        self.found = found_by_ad(self.ad())
        self.id = id_of(self.found)

    # What tests say.

    def set(self, number: int, state: str, why: str = "") -> None:
        """A node is in another state now."""
        node, shown = self.nodes[number], Shown(KEYS.index(state))
        node.status, node.why = LOOKS[shown].status, why
        node.cached, node.told_skipped = shown is Shown.CACHED, shown is Shown.SKIPPED
        begun = Shown.READY < shown <= Shown.DONE or shown is Shown.FAILED
        node.attempts = [self._attempt(number, shown, why)] if begun else ()
        self.states[number] = shown
        self._changed.append(node)

    def _attempt(self, number: int, shown: Shown, why: str) -> Attempt:
        last = Attempt(0)
        if shown is Shown.PRE:
            last.pre = ScriptRun(self.begun)
            return last
        last.cluster, last.procs, last.reason = 5000 + number, 1, why
        last.submitted = self.begun + number % 1000
        if shown is not Shown.IDLE:
            last.started, last.hosts = last.submitted, ("slot1@node17",)
        last.running, last.held = int(shown is Shown.RUNNING), int(shown is Shown.HELD)
        if last.held:
            last.holds = [Hold(last.started, why, 34, 0, last.job)]
            last.stopped = last.started + 30
        if shown in (*_OVER, Shown.POST):
            last.ended = last.stopped = last.started + 60
            last.ended_procs, last.value = 1, int(shown in (Shown.FAILED, Shown.RETRY))
        last.over = shown in _OVER
        return last

    def carry(self, number: int, carrier: Carrier, nodes: int) -> None:
        """A node runs in a job with others."""
        carrier.nodes = list(map(str, range(nodes)))
        self.nodes[number].attempts[-1].carrier = carrier
        self._changed.append(self.nodes[number])

    def set_many(self, numbers: Sequence[int], state: str) -> None:
        """The same for several nodes."""
        for number in numbers:
            self.set(number, state)

    def state_of(self, number: int) -> str:
        """Its word."""
        return KEYS[self.states[number]]

    def at(self, group: int, site: str) -> None:
        """A group is at a site now."""
        before = GroupSites.of(self.run).groups.get(self.dag.groups[group].name, NO_SITE)
        self._told(group, GroupState.MATCHED, GroupSite(site, before.round + 1))

    def leave(self, group: int, why: str, state: GroupState = GroupState.WAITING) -> None:
        """It has none any more."""
        self._told(group, state, GroupSite(reason=why))

    def _told(self, group: int, state: GroupState, site: GroupSite) -> None:
        seen = GroupSites.put(self.run)
        seen.groups[self.dag.groups[group].name] = site._replace(since=self.begun)
        self.group_states[group] = state
        seen.moves += 1

    # As a WatchedDag.

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return bool(self.ended)

    def changed(self) -> Sequence[NodeRun]:
        """Nodes that are in other states."""
        found, self._changed = self._changed, []
        return found

    def look(self) -> Study:
        """How it stands."""
        if self.problem:
            raise FileError(self.problem)
        return self

    def counts(self) -> dict[str, int]:
        """As an Overview has them."""
        counts = dict.fromkeys(COUNTED, 0) | {"total": len(self.names)}
        for shown, look in LOOKS.items():
            counts[look.counted] += self.states.count(shown)
        return counts

    def as_json(self) -> dict[str, Any]:
        """An Overview."""
        counts, now = self.counts(), time.time()
        left, done = counts["total"] - counts["done"], counts["done"]
        about = (self.file, self.word, self.note, self.found.cluster, self.begun, self.ended, now)
        seen = Overview(*about, self.exit_code, counts, now, done / 3600)
        if done and not self.ended:
            seen = seen._replace(remaining_s=3600 * left / done)
        at = sites.overview(self.tally, {}, running=False) if self.dag.groups else {}
        return {**seen.as_json(), **at, **self.more}

    def ad(self) -> Mapping[str, Any]:
        """Of DAGMan's job."""
        counts = self.counts()
        words = {"Iwd": str(self.directory), "Arguments": f"-p 0 -f -l . -Dag {self.file}"}
        numbers = {name: sum(counts[key] for key in keys) for name, keys in _OF_AD.items()}
        numbers.update(DAG_NodesTotal=counts["total"], JobStartDate=int(self.begun))
        return {**words, **numbers, "ClusterId": 4711 + len(self.names), "JobStatus": 2}

    def runs_told(self, words: Sequence[str]) -> dict[str, Any]:
        """As the process that reads the runs prints them: of two runs."""
        _, a, b, other = words
        about = {"ended": self.begun + 60, "took_s": 60, "nodes": 9, "attempts": 10, "failed": 1}
        runs = [
            {**about, "number": n, "begun": self.begun, "exit_code": 1 - n % 2, "ran_s": 300}
            | {"state": "failed" if n == 2 else "succeeded"}
            for n in (1, 2)
        ]
        one, two = 0 if other else int(a) or 1, int(b) or 2
        name = other.rpartition("/")[2] or f"run {one}"
        rows = [
            ("", "A", "B", "B - A"),
            ("run", name, f"run {two}", ""),
            ("took", "1 s", "2 s", "+1 s"),
        ]
        rows.append((f"node {self.names[1]}", "1 s, done", "2 s, failed", "ran +1 s"))
        return {"runs": runs, "rows": rows, "a": one, "b": two}

    # As its DAGMan.

    def controls(self, dag: FoundDag) -> Controls:
        """Whether it can be steered."""
        return Controls(self.can, self.why_not, self.limits)

    def groups(self, dag: FoundDag) -> Sequence[GroupReport]:
        """Where groups are."""
        found = []
        for one, state in zip(self.dag.groups, self.group_states):
            site = GroupSites.of(self.run).groups.get(one.name, NO_SITE)
            done = sum(self.states[node] == Shown.DONE for node in one.nodes)
            about = (one.name, state.name, site.site, site.round, len(one.nodes), done)
            found.append(GroupReport(*about, site.since, site.reason))
        return found

    def steer(self, dag: FoundDag, request: Request) -> Answer:
        """Do it, or say what it would do."""
        self.requests.append(request)
        if self.refusal:
            raise FileError(self.refusal)
        if request.nodes:
            return self._of_nodes(request)
        if not request.dry:
            self._of_dag(request.command, request.options)
        return Answer(1, **_effect(request, 1))

    def _of_nodes(self, request: Request) -> Answer:
        if request.command == "rematch":
            (group,) = (
                n for n, one in enumerate(self.dag.groups) if one.name == request.nodes["group"]
            )
            if not request.dry:
                self.leave(group, "somebody wants another one", GroupState.LEAVING)
            return Answer(1, **_effect(request, 1))
        chosen, states = list(self._chosen(request.nodes)), COMMANDS[request.command].states
        able = [number for number in chosen if not states or self.state_of(number) in states]
        after = {**_AFTER, "cancel": "retry" if request.options.get("retry") else "failed"}
        if not request.dry and request.command in after:
            self.set_many(able, after[request.command])
        why = "that is not for nodes in this state"
        refused = [
            {"node": self.names[n], "state": "", "reason": why} for n in chosen if n not in able
        ]
        return Answer(len(able), refused, len(refused), **_effect(request, len(able)))

    def _chosen(self, nodes: Mapping[str, Any]) -> Iterator[int]:
        for number, name in enumerate(self.names):
            if (
                name in nodes.get("names", ())
                or nodes.get("state") == self.state_of(number)
                or fnmatch.fnmatch(name, nodes.get("pattern", ""))
            ):
                yield number

    def _of_dag(self, word: str, options: Mapping[str, Any]) -> None:
        if word in ("halt", "resume"):
            self.word = "halted" if word == "halt" else "running"
        elif word == "limits":
            self.limits = {**self.limits, **options}
        elif word == "priority":
            self.limits = {**self.limits, "priority": options["value"]}
        elif word == "cancel-all":
            self.word, self.ended, self.exit_code = "removed", time.time(), 1
            self.can, self.why_not = False, "the DAG has ended"


def example(directory: Path, more: str = "") -> Study:
    """A DAG in the middle of its run, with something of everything."""
    layers = [("simulate", 40), ("reconstruct", 40), ("check", 8)]
    sample = 'VARS reconstruct_01 sample="<script>alert(1)</script>"\n'
    dag = Study(directory, layers, more=sample + more)
    simulate, reconstruct = dag.layers["simulate"], dag.layers["reconstruct"]
    dag.set_many([0, *simulate], "done")
    shares = (("done", 0.4), ("running", 0.65), ("idle", 0.8), ("ready", 0.9), ("waiting", 1.0))
    for place, number in enumerate(reconstruct):
        dag.set(number, next(state for state, most in shares if place / 40 < most))
    held = "memory usage exceeded request_memory"
    for number, state in zip(reconstruct[1::5], ("failed", "held", "retry", "post", "pre")):
        dag.set(number, state, held if state == "held" else "")
    failed = dag.names[reconstruct[1]]
    said = "Traceback: <b>no</b>\nMemoryError\n"
    (directory / f"{failed}.err").write_text(said)
    with open(dag.found.out, "a") as out:
        out.writelines(
            f"10:{n // 60:02}:{n % 60:02} Node {dag.names[n % 40]} ended\n" for n in range(3000)
        )
    evidence = {"source": f"{failed}.err", "lines": said.splitlines()}
    dag.findings = [
        finding("problem", f"1 node has failed: {failed}", evidence, nodes=[failed]),
        finding("note", "The throttle for idle jobs is full."),
    ]
    return dag


def finding(
    weight: str,
    sentence: str,
    *evidence: Any,
    advice: Sequence[str] = (),
    nodes: Sequence[str] = (),
) -> dict[str, Any]:
    """A finding, as `condor_pydagman explain --json` prints it."""
    told = {"weight": weight, "sentence": sentence, "evidence": evidence, "advice": advice}
    return {**told, "nodes": nodes, "inner": []}
